"""The documentation says what the code does: help texts, schemas, links, one page per command.

Wording of help and layout of schemas differ a little between versions of typer and pydantic, so
options and fields are compared here; `python docs/generate.py --check` compares every byte.
"""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from rocm_perf_lab.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
assert _spec is not None and _spec.loader is not None
generate: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(generate)


def options(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text))


@pytest.mark.parametrize("command", ["", *sorted(COMMANDS)])
def test_every_command_has_a_page_with_its_help(command: str) -> None:
    text = (ROOT / "docs" / f"{command or 'commands'}.md").read_text("utf-8")
    blocks = {match["command"]: match[0] for match in generate.BLOCK.finditer(text)}
    live = generate.help_of(command)
    assert options(blocks[command]) >= options(live), "run python docs/generate.py"
    if not command:
        assert all(f"  {name} " in blocks[command] for name in COMMANDS)


def fields(schema: dict[str, Any]) -> dict[str, list[str]]:
    models = {**schema.get("$defs", {}), "": schema}
    return {name: sorted(model.get("properties", {})) for name, model in models.items()}


def test_the_published_schemas_have_the_fields_of_the_models() -> None:
    published = {p.name for p in (ROOT / "docs" / "schema").iterdir()}
    live = generate.schemas()
    assert {Path(name).name for name in live} == published, "run python docs/generate.py"
    for name, text in live.items():
        shown = json.loads((ROOT / "docs" / name).read_text("utf-8"))
        assert fields(shown) == fields(json.loads(text)), f"{name}: run python docs/generate.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    without_code = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", without_code):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
