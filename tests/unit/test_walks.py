"""Walks through the code name files that exist and functions that these files define."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = (ROOT / "src" / "rocm_perf_lab", ROOT / "native", ROOT)
WALKS = (ROOT / "docs" / "architecture.md").read_text("utf-8").split("\n## Three walks\n")[1]
GUIDE = (ROOT / "docs" / "developing.md").read_text("utf-8")
PLACEHOLDERS = {"arch/data/gfxNNNN.toml", "docs/NAME.md"}
# A file or folder, and the functions named after it, until the next one.
NAMED = re.compile(
    r"`(?P<file>[\w/-]+(?:\.(?:py|cpp|h|toml|txt|md|yml|html\.j2)|/))`|`(?P<function>\w+)\(\)`"
)


def find(name: str) -> Path:
    found = [place / name for place in PLACES if (place / name).exists()]
    assert found, f"{name} does not exist"
    return found[0]


def defines(path: Path, function: str) -> bool:
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return re.search(rf"^\s*(def|class) {function}\b", text, re.M) is not None
    # A definition: its parameters end in `{`, or in a list of members to initialise.
    body = rf"\b{function}\([^;{{}}]*\)\s*(?:const\s*|noexcept\s*|override\s*)*[{{:]"
    return re.search(body, text) is not None or f"class {function} " in text


@pytest.mark.parametrize(("text", "least"), [(WALKS, 50), (GUIDE, 8)], ids=["walks", "guide"])
def test_every_file_and_function_named_exists(text: str, least: int) -> None:
    current: Path | None = None
    files = functions = 0
    for found in NAMED.finditer(text):
        if found["file"]:
            if found["file"] not in PLACEHOLDERS:
                current = find(found["file"])
                files += 1
        else:
            assert current is not None, found[0]
            assert defines(current, found["function"]), f"{current} has no {found['function']}()"
            functions += 1
    assert files > 30 and functions > least - 1


def test_a_walk_has_its_steps_in_order() -> None:
    for walk in WALKS.split("\n### ")[1:]:
        numbers = [int(n) for n in re.findall(r"^(\d+)\. ", walk, re.M)]
        assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 7
