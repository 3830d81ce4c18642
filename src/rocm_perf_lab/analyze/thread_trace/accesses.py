"""Vector memory accesses worth a remark: narrow ones, neighbours loaded apart, and repeats.

All of it is read from the instructions: how many bytes a lane moves is in the mnemonic, and two
accesses with the same address registers, not written in between, differ by their offsets only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rocm_perf_lab.analyze.thread_trace import classes

NARROW_BYTES = 4
# First match wins: the pattern, and bytes; 0 where the pattern's number says how many bits.
_WIDTH = (
    (re.compile(r"dwordx4"), 16),
    (re.compile(r"dwordx3"), 12),
    (re.compile(r"dwordx2"), 8),
    (re.compile(r"dword"), 4),
    (re.compile(r"(ubyte|sbyte|byte)"), 1),
    (re.compile(r"(ushort|sshort|short)"), 2),
    (re.compile(r"_(?:d16_)?(?:hi_)?[biu](8|16|32|64|96|128)\b"), 0),
    (re.compile(r"_d16_"), 2),
)
_REGISTER = re.compile(r"\b([vsa])(?:(\d+)|\[(\d+):(\d+)\])")
_OFFSET = re.compile(r"\boffset:(-?(?:0x[0-9a-f]+|\d+))")
# Beyond these, nothing is known of what registers hold.
_ENDS_BLOCK = ("BRANCH", "END")

Registers = frozenset[tuple[str, int]]


@dataclass(frozen=True)
class Remark:
    row: int  # of the code
    bytes_per_lane: int
    kinds: tuple[str, ...]  # "narrow", "uncoalesced", "repeated"
    text: str


def bytes_per_lane(isa: str) -> int | None:
    """What one lane of a vector memory instruction moves; None where the name does not tell."""
    word = classes.mnemonic(isa)
    if classes.of_text(isa) not in classes.VMEM or "atomic" in word:
        return None
    for pattern, width in _WIDTH:
        if match := pattern.search(word):
            return width or int(match[1]) // 8
    return None


_LDS_READ = re.compile(r"ds_read(2(?:st64)?)?_.*?[biu](8|16|32|64|96|128)\b")


def bytes_read(isa: str) -> int | None:
    """What one lane of a load from memory or LDS brings; None for everything else."""
    if match := _LDS_READ.match(classes.mnemonic(isa).replace("_d16", "").removesuffix("_hi")):
        return int(match[2]) // 8 * (2 if match[1] else 1)
    return bytes_per_lane(isa) if classes.of_text(isa) in ("VMEM_LOAD", "FLAT") else None


@dataclass(frozen=True)
class _Load:
    row: int
    width: int
    address: tuple[str, ...]  # operands as written
    registers: Registers
    offset: int


def remarks(isa: Sequence[str], label: Sequence[bool], line: Sequence[int]) -> dict[int, Remark]:
    """By row of the code; `line` are the numbers that texts name."""
    found: dict[int, Remark] = {}
    live: list[_Load] = []

    def close(group: list[_Load]) -> None:
        for row, remark in _neighbours(group, line).items():
            found.setdefault(row, remark)

    for row, text in enumerate(isa):
        kind = classes.of_text(text) if not label[row] else "BRANCH"
        if kind in _ENDS_BLOCK or label[row]:
            close(live)
            live = []
            continue
        load = _load(row, text) if kind in ("VMEM_LOAD", "FLAT") else None
        if load is not None:
            again = next((o for o in live if _same(o, load)), None)
            if again is not None:
                found[row] = Remark(
                    row,
                    load.width,
                    ("repeated",),
                    f"the {load.width} bytes a lane of line {line[again.row]}, loaded again",
                )
            else:
                live.append(load)
        if kind in ("VMEM_STORE", "VMEM_ATOMIC", "BARRIER"):
            close(live)
            live = []
            continue
        changed = written(text, kind)
        if any(o.registers & changed for o in live):
            close(live)
            live = [o for o in live if not o.registers & changed]
    close(live)
    for row, text in enumerate(isa):
        width = None if label[row] else bytes_per_lane(text)
        is_load = not label[row] and classes.of_text(text) in ("VMEM_LOAD", "FLAT")
        if width is not None and width < NARROW_BYTES and is_load:
            before = found.get(row)
            narrow = f"{width} byte{'s' * (width > 1)} a lane"
            found[row] = Remark(
                row,
                width,
                ("narrow", *(before.kinds if before else ())),
                f"{narrow}; {before.text}" if before else f"{narrow}: {16 // width} fit one load",
            )
    return found


def _load(row: int, text: str) -> _Load | None:
    width = bytes_per_lane(text)
    lowered = text.lower()
    if width is None or "lds" in lowered.split():
        return None
    operands = [o.strip() for o in lowered.partition(" ")[2].split(",")]
    address = tuple(o.split()[0] for o in operands[1:] if o)
    offset = _OFFSET.search(lowered)
    return _Load(
        row,
        width,
        address,
        registers(" ".join(address)),
        int(offset[1], 0) if offset else 0,
    )


def address_of(text: str) -> Registers:
    """Registers that a vector memory load takes its address from."""
    operands = [o.strip() for o in text.lower().partition(" ")[2].split(",")]
    return registers(" ".join(o.split()[0] for o in operands[1:] if o))


def _same(a: _Load, b: _Load) -> bool:
    return (a.address, a.offset, a.width) == (b.address, b.offset, b.width)


def _neighbours(loads: Sequence[_Load], line: Sequence[int]) -> dict[int, Remark]:
    """Loads of pieces that lie side by side for one lane, and so apart for neighbouring lanes."""
    by_address: dict[tuple[tuple[str, ...], int], list[_Load]] = {}
    for load in loads:
        if load.registers:
            by_address.setdefault((load.address, load.width), []).append(load)
    found: dict[int, Remark] = {}
    for (_, width), same in by_address.items():
        run: list[_Load] = []
        ends: list[_Load | None] = [*sorted(same, key=lambda o: o.offset), None]
        for end in ends:
            if end is not None and run and end.offset == run[-1].offset + width:
                run.append(end)
                continue
            if len(run) > 1 and width < 16:
                whole = len(run) * width
                rows = ", ".join(str(line[o.row]) for o in run)
                text = (
                    f"{len(run)} loads of neighbouring {width}-byte pieces (lines {rows}): "
                    f"{whole} bytes a lane that one wider load would bring; lanes lie at least "
                    f"{whole} bytes apart, so each of these accesses is uncoalesced"
                )
                for one in run:
                    found[one.row] = Remark(one.row, width, ("uncoalesced",), text)
            run = [end] if end is not None else []
    return found


def registers(text: str) -> Registers:
    found: set[tuple[str, int]] = set()
    for kind, one, low, high in _REGISTER.findall(text):
        first = int(one or low)
        last = int(one or high)
        found.update((kind, n) for n in range(first, min(last, first + 32) + 1))
    return frozenset(found)


def written(text: str, kind: str | None) -> Registers:
    """Registers an instruction writes: its first operand, stores and branches aside."""
    if kind in ("VMEM_STORE", "WAITCNT", "NOP", "BRANCH", "SLEEP", "MESSAGE", None):
        return frozenset()
    first = text.partition(" ")[2].split(",", 1)[0]
    return registers(first)
