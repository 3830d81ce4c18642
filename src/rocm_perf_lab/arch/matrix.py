"""How long a matrix instruction keeps the matrix core busy, by its name."""

from __future__ import annotations

from functools import cache
from importlib import resources

from rocm_perf_lab.arch.load import parse


@cache
def _table() -> dict[str, int]:
    path = resources.files("rocm_perf_lab.arch") / "data" / "virtual" / "parameters.toml"
    by_architecture = parse(path.read_text(encoding="utf-8"))["matrix_cycles"]
    # gfx90a and gfx942 spell the names differently, so one table serves both.
    return {name: int(c) for cycles in by_architecture.values() for name, c in cycles.items()}


def matrix_cycles(mnemonic: str) -> int | None:
    """None for an instruction whose cycles are not known."""
    return _table().get(mnemonic)
