"""Loads and stores that translated code does itself (memory.h), and what their checks share.

Accesses of a block with the same lanes' offsets, and nothing between them that changes these, are
checked at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from rocm_perf_lab.virtual.isa.op import WIDTH
from rocm_perf_lab.virtual.translate.request import Instruction, Kind

EXEC = 126


@dataclass(frozen=True)
class Access:
    space: str  # "global" or "lds"
    write: bool
    row: int  # of the lanes' offsets
    base: int | None  # the scalar registers with an address; None: lanes have whole ones
    parts: tuple[tuple[int, int, int], ...]  # byte offset, first register, registers

    @property
    def key(self) -> tuple[str, bool, int, int | None]:
        return self.space, self.write and self.space == "global", self.row, self.base

    @property
    def span(self) -> tuple[int, int]:
        return min(at for at, _, _ in self.parts), max(at + 4 * n for at, _, n in self.parts)


@dataclass
class Check:
    """One place for the accesses that share it."""

    name: str
    low: int
    end: int
    shared: int = 1  # by so many


def access(i: Instruction) -> Access | None:
    kind, p = i.op.kind, i.op.params
    a, b, c = i.src
    if p.get("element", "u32") != "u32" or a.kind != Kind.VECTOR:
        return None
    regs = int(p.get("regs", "1"))
    if kind in ("load", "store") and i.op.encoding == "GLOBAL":
        base = c.code if c.kind == Kind.SCALAR else None
        register = i.dst if kind == "load" else b.code
        return Access("global", kind == "store", a.code, base, ((i.imm, register, regs),))
    pitch = int(p.get("stride", "0"))
    first, second = (i.imm & 255) * pitch, ((i.imm >> 8) & 255) * pitch
    if kind == "ds_read":
        return Access("lds", False, a.code, None, ((i.imm & 0xFFFF, i.dst, regs),))
    if kind == "ds_write":
        return Access("lds", True, a.code, None, ((i.imm & 0xFFFF, b.code, regs),))
    if kind == "ds_read2" and not i.dst <= a.code < i.dst + regs:
        parts = ((first, i.dst, regs), (second, i.dst + regs, regs))
        return Access("lds", False, a.code, None, parts)
    if kind == "ds_write2":
        return Access("lds", True, a.code, None, ((first, b.code, regs), (second, c.code, regs)))
    return None


def checks(instructions: tuple[Instruction, ...]) -> dict[int, tuple[Check, bool]]:
    """By instruction: the check it rests on, and whether it is the first to."""
    found: dict[int, tuple[Check, bool]] = {}
    open_: dict[tuple[str, bool, int, int | None], Check] = {}
    for i in instructions:
        told = access(i)
        if told is not None:
            low, end = told.span
            known = open_.get(told.key)
            if known is None:
                known = open_[told.key] = Check(f"p{len(found)}", low, end)
                found[i.at] = known, True
            else:
                known.low, known.end = min(known.low, low), max(known.end, end)
                known.shared += 1
                found[i.at] = known, False
        rows, scalars, everything = _written(i)
        for key in list(open_):
            space, _, row, base = key
            used = {row, row + 1} if space == "global" and base is None else {row}
            moved = base is not None and scalars & {base, base + 1}
            if everything or used & rows or moved or scalars & {EXEC, EXEC + 1}:
                del open_[key]
    return found


def _written(i: Instruction) -> tuple[set[int], set[int], bool]:
    """Rows, scalars, and whether it could be anything."""
    kind, op = i.op.kind, i.op
    if kind in ("nothing", "waitcnt", "branch", "store", "ds_write", "ds_write2"):
        return set(), set(), False
    width = WIDTH.get(op.dst, 0)
    if kind == "salu":
        changed = {i.dst, i.dst + 1} if op.dst else set[int]()
        return set(), changed | ({EXEC} if "w.exec =" in op.body else set()), False
    if kind in ("readfirstlane", "readlane"):
        return set(), {i.sdst}, False
    if kind == "sload":
        return set(), set(range(i.dst, i.dst + max(width, 1))), False
    if kind in ("cmp", "cmpx"):
        return set(), {i.sdst, i.sdst + 1, *([EXEC] if kind == "cmpx" else [])}, False
    vector = ("valu", "carry_out", "carry_in", "cndmask", "div_scale", "div_fmas", "mbcnt_lo",
              "mbcnt_hi", "pk_mov", "load", "ds_read", "ds_read2", "ds_bpermute")  # fmt: skip
    if kind in vector:
        count = max(width, int(op.params.get("regs", "1")) * (2 if kind == "ds_read2" else 1))
        flags = {i.sdst, i.sdst + 1} if kind in ("carry_out", "carry_in", "div_scale") else set()
        return set(range(i.dst, i.dst + count)), flags, False
    return set(), set(), True
