"""How long a matrix instruction keeps the matrix core busy, by its name.

Of gfx90a and gfx942, AMD's matrix instruction calculator lists every instruction. What gfx950 has
beyond them follows from its peak rates (operations per CU and clock in its architecture file):
operations of the instruction over what a SIMD does in a clock. Shapes it has in common with gfx942
take as long as there, FP64 twice as long, since its rate is half.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from rocm_perf_lab.arch.load import files, parse

_SHAPE = re.compile(r"v_(s?mfma)c?_(?:scale_)?[fi]\d+_(4|16|32)x(\2)x(\d+)_(?:(\d+)b_)?(\w+)")
_PIPES = {"f64": "mfma_f64", "f32": "mfma_f32", "f16": "mfma_f16", "bf16": "mfma_bf16"}
_PIPES |= {"i8": "mfma_i8", "fp8": "mfma_f8", "bf8": "mfma_f8"}
# Formats of f8f6f4 by cbsz (of A) and blgp (of B): 0 and 1 are 8 bits wide, 2 and 3 six, 4 four.
_FORMAT = re.compile(r"\b(cbsz|blgp):(\d)")
_SIMDS = 4


@cache
def _listed() -> dict[str, dict[str, int]]:
    path = resources.files("rocm_perf_lab.arch") / "data" / "virtual" / "parameters.toml"
    found: dict[str, dict[str, int]] = parse(path.read_text(encoding="utf-8"))["matrix_cycles"]
    return found


def matrix_cycles(isa: str, architecture: str | None = None) -> int | None:
    """Of an instruction as disassembled; None where its cycles are not known.

    Without an architecture it is taken for the oldest that has an instruction of that name.
    """
    name = isa.split(None, 1)[0].lower() if isa.strip() else ""
    # gfx90a and gfx942 spell the names differently, so one table serves both.
    known = next((cycles[name] for cycles in _listed().values() if name in cycles), None)
    if known is not None and architecture != "gfx950":
        return known
    found = _SHAPE.fullmatch(name)
    if found is None:
        return known
    kind, m, n, k, blocks, types = found.groups()
    pipe = _pipe(types, isa)
    rate = _rate("gfx950", pipe)
    if known is not None:
        before = _rate("gfx942", pipe)
        return known * max(before // rate if rate else 1, 1)
    if not rate or (architecture or "gfx950") != "gfx950":
        return None
    operations = 2 * int(m) * int(n) * int(k) * int(blocks or 1)
    sparse = 2 if kind == "smfma" else 1
    return operations * _SIMDS // (rate * sparse)


def _pipe(types: str, isa: str) -> str:
    if types == "f8f6f4":
        formats = {which: int(number) for which, number in _FORMAT.findall(isa.lower())}
        small = all(formats.get(which, 0) >= 2 for which in ("cbsz", "blgp"))
        return "mfma_f6f4" if small else "mfma_f8"
    return _PIPES.get(types.split("_")[0], "")


def _rate(architecture: str, pipe: str) -> int:
    """Operations per CU and clock; 0 where not known."""
    rates = files()[architecture].get("ops_per_cu_clock", {})
    return int(rates[pipe]["value"]) if pipe in rates else 0
