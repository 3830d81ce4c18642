"""Nothing imports upward: a room may import only the rooms listed for it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "rocm_perf_lab"

TABLE = Path(__file__).parents[2] / "docs" / "architecture.md"


def allowed() -> dict[str, set[str]]:
    """room -> rooms it may import, as docs/architecture.md has it; errors always are."""
    rows = re.findall(r"^\| `([\w/.]+?)/?` \|.*\| ([^|]+) \|$", TABLE.read_text("utf-8"), re.M)
    known = {room.removesuffix(".py"): set(re.findall(r"\w+", cell)) for room, cell in rows}
    return {room: names - {"nothing"} for room, names in known.items()}


ALLOWED = allowed()

STAND_IN = "virtual/rocprofv3"

# Rooms whose modules must not touch files, processes or the environment.
PURE = {"analyze", "expression", "statistics"}
IMPURE_MODULES = {
    "os",
    "subprocess",
    "sqlite3",
    "shutil",
    "tempfile",
    "socket",
    "sys",
    "pathlib",
    "io",
}


def rooms() -> list[str]:
    found = (p.stem for p in PACKAGE.iterdir() if p.is_dir() or p.suffix == ".py")
    return sorted([*(name for name in found if name[0] != "_"), STAND_IN])


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def calls(path: Path) -> set[str]:
    """Functions called by a bare name."""
    tree = ast.walk(ast.parse(path.read_text("utf-8")))
    return {n.func.id for n in tree if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}


def files(room: str) -> list[Path]:
    folder = PACKAGE / room
    found = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
    return [p for p in found if room == STAND_IN or PACKAGE / STAND_IN not in p.parents]


@pytest.mark.parametrize("room", [room for room in rooms() if room != "cli"])
def test_a_room_imports_only_the_rooms_below_it(room: str) -> None:
    assert room in ALLOWED, f"{room} is new: say in docs/architecture.md what it may import"
    for path in files(room):
        for name in imports(path):
            if name.startswith("rocm_perf_lab."):
                target = name.split(".")[1]
                assert target in ALLOWED[room] | {room, "errors", "__version__"}, (
                    f"{path.relative_to(PACKAGE)} imports {name}"
                )


@pytest.mark.parametrize("room", sorted(PURE))
def test_an_analysis_does_no_io(room: str) -> None:
    for path in files(room):
        bad = {name.split(".")[0] for name in imports(path)} & IMPURE_MODULES
        assert not bad, f"{path.relative_to(PACKAGE)} imports {sorted(bad)}"
        assert "open" not in calls(path), f"{path.relative_to(PACKAGE)} opens files"


def test_only_the_command_line_prints_or_exits() -> None:
    for room in rooms():
        if room == "cli":
            continue
        for path in files(room):
            if path.name in ("__main__.py", "generate.py"):
                continue
            bad = calls(path) & {"print", "exit", "quit"}
            assert not bad, f"{path.relative_to(PACKAGE)} calls {sorted(bad)}"
