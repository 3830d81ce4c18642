"""Which memory instructions a wait waits for, and how many cycles that cost.

The profiler records, per executed wait, the lines it found outstanding. Where it does not (other
writers leave the list empty; some instructions it does not know), the wait's own operands tell:
counters go up when a memory instruction issues and down as they complete, so `vmcnt(n)` waits
for all but the n newest. A counter holding scalar loads or flat accesses completes out of
order, and then only a wait for zero says what it waits for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.analyze.thread_trace import classes
from rocm_perf_lab.analyze.thread_trace.sums import Placed, rows_of_lines
from rocm_perf_lab.trace.att_trace import AttTrace
from rocm_perf_lab.trace.trace import IntColumn

_COUNTERS = {
    9: ("vmcnt", "lgkmcnt", "expcnt"),
    10: ("vmcnt", "vscnt", "lgkmcnt", "expcnt"),
    12: ("loadcnt", "storecnt", "samplecnt", "bvhcnt", "dscnt", "kmcnt", "expcnt"),
}
_NAMED = re.compile(
    r"\b(vmcnt|vscnt|lgkmcnt|expcnt|loadcnt|storecnt|samplecnt|bvhcnt|dscnt|kmcnt)"
    r"\s*\(?\s*(0x[0-9a-f]+|\d+)"
)
_NUMBER = re.compile(r"(?<![\w.])(0x[0-9a-f]+|\d+)\s*$")
# (shift, bits) pieces of a bare s_waitcnt immediate, low piece first.
_FIELDS: dict[int, dict[str, tuple[tuple[int, int], ...]]] = {
    9: {"vmcnt": ((0, 4), (14, 2)), "expcnt": ((4, 3),), "lgkmcnt": ((8, 4),)},
    10: {"vmcnt": ((0, 4), (14, 2)), "expcnt": ((4, 3),), "lgkmcnt": ((8, 6),)},
    11: {"expcnt": ((0, 3),), "lgkmcnt": ((4, 6),), "vmcnt": ((10, 6),)},
}


@dataclass(frozen=True)
class Effect:
    """What a line does to the counters of its wave."""

    raises: tuple[str, ...] = ()
    unordered: bool = False
    waits: tuple[tuple[str, int], ...] = ()


def generation(gfxip: int | None) -> int:
    return 12 if (gfxip or 9) >= 12 else 10 if (gfxip or 9) >= 10 else 9


def effect(isa: str, gfxip: int | None) -> Effect | None:
    """None for an instruction no counter cares about."""
    kind = classes.of_text(isa)
    text = isa.lower()
    if kind == "WAITCNT":
        return Effect(waits=_operands(text, gfxip))
    raises = _raises(kind, text, generation(gfxip))
    if not raises:
        return None
    return Effect(raises=raises, unordered=kind in ("SMEM", "FLAT"))


def _operands(text: str, gfxip: int | None) -> tuple[tuple[str, int], ...]:
    word, _, rest = text.partition(" ")
    known = _COUNTERS[generation(gfxip)]
    if word == "s_wait_idle":
        return tuple((name, 0) for name in known)
    named = [(name, int(number, 0)) for name, number in _NAMED.findall(rest)]
    if named:
        return tuple((name, number) for name, number in named if name in known)
    number = _NUMBER.search(rest)
    if number is None:
        return ()
    value = int(number[1], 0)
    in_word = [name for name in known if name in word]
    if len(in_word) == 2 and "dscnt" in in_word:  # s_wait_loadcnt_dscnt: both in one immediate
        other = next(name for name in in_word if name != "dscnt")
        return ((other, value >> 8 & 0x3F), ("dscnt", value & 0x3F))
    if in_word:
        return tuple((name, value) for name in in_word)
    fields = _FIELDS.get(gfxip or 9, {})
    return tuple((name, _bits(value, pieces)) for name, pieces in fields.items())


def _bits(value: int, pieces: Sequence[tuple[int, int]]) -> int:
    result = taken = 0
    for shift, bits in pieces:
        result |= (value >> shift & ((1 << bits) - 1)) << taken
        taken += bits
    return result


def _raises(kind: str | None, text: str, gen: int) -> tuple[str, ...]:
    scalar = {9: "lgkmcnt", 10: "lgkmcnt", 12: "kmcnt"}[gen]
    shared = {9: "lgkmcnt", 10: "lgkmcnt", 12: "dscnt"}[gen]
    load = {9: "vmcnt", 10: "vmcnt", 12: "loadcnt"}[gen]
    store = {9: "vmcnt", 10: "vscnt", 12: "storecnt"}[gen]
    if kind == "LDS":
        direct = gen == 12 and ("param_load" in text or "ds_direct" in text)
        return ("expcnt",) if direct else (shared,)
    if kind == "SMEM":
        return () if text.startswith(("s_dcache", "s_gl1", "s_prefetch")) else (scalar,)
    if kind == "MESSAGE":
        if not text.startswith("s_sendmsg"):
            return ()
        return (scalar, scalar) if gen > 9 and text.startswith("s_sendmsg_rtn") else (scalar,)
    if kind == "EXPORT":
        return ("expcnt",)
    if kind == "BVH":
        return ("bvhcnt",) if gen == 12 else (load,)
    if kind == "FLAT":
        return (store if is_store(text) else load, shared)
    if kind in classes.VMEM:
        if gen == 12 and ("image_sample" in text or "image_gather" in text):
            return ("samplecnt",)
        return (store if is_store(text) else load,)
    return ()


def is_store(text: str) -> bool:
    if "atomic" in text:
        return not ("glc" in text or "_return" in text or " sc0" in text)
    return "store" in text or text.startswith("global_wb")


# --- one wave ----------------------------------------------------------------------------

Dependencies = tuple[int, ...]
Recorded = Sequence[tuple[int, Dependencies]]


@dataclass
class _Outstanding:
    lines: list[int] = field(default_factory=list)
    unordered: bool = False

    def wait(self, allowed: int) -> list[int]:
        if allowed == 0:
            self.unordered = False
        if self.unordered:
            return []
        done = max(len(self.lines) - allowed, 0)
        waited, self.lines = self.lines[:done], self.lines[done:]
        return waited


def infer(stream: Sequence[tuple[int, Effect]]) -> list[Dependencies]:
    """Per wait of the stream, in order, the lines it waits for by counting."""
    counters: dict[str, _Outstanding] = {}
    found: list[Dependencies] = []
    for line, does in stream:
        for name in does.raises:
            counter = counters.setdefault(name, _Outstanding())
            counter.lines.append(line)
            counter.unordered |= does.unordered
        if not does.raises:
            waited = [
                dependency
                for name, allowed in does.waits
                if name in counters
                for dependency in counters[name].wait(allowed)
            ]
            found.append(tuple(dict.fromkeys(waited)))
    return found


def align(
    stream: Sequence[tuple[int, Effect]], recorded: Recorded, inferred: Sequence[Dependencies]
) -> list[Dependencies]:
    """Per wait of the stream, the recorded lines; () where none is recorded for it.

    Entries stand in execution order but waits that found nothing have none. Where counting
    arrives at the very entries recorded, it also tells whose they are; otherwise an entry goes
    to the next wait of its line at which all it names is outstanding.
    """
    followed = _follow(stream, recorded, inferred)
    if followed is not None:
        return followed
    strict, left = _align(stream, recorded, check=True)
    return strict if not left else _align(stream, recorded, check=False)[0]


def _follow(
    stream: Sequence[tuple[int, Effect]], recorded: Recorded, inferred: Sequence[Dependencies]
) -> list[Dependencies] | None:
    found: list[Dependencies] = []
    at = 0
    waits = (line for line, does in stream if not does.raises)
    for line, expected in zip(waits, inferred, strict=True):
        waited: list[int] = []
        while at < len(recorded) and recorded[at][0] == line and set(waited) != set(expected):
            waited.extend(recorded[at][1])
            at += 1
        if set(waited) != set(expected):
            return None
        found.append(tuple(dict.fromkeys(waited)))
    return found if at == len(recorded) else None


def _align(
    stream: Sequence[tuple[int, Effect]], recorded: Recorded, *, check: bool
) -> tuple[list[Dependencies], int]:
    issued: Counter[int] = Counter()
    found: list[Dependencies] = []
    at = 0
    for line, does in stream:
        if does.raises:
            issued[line] += len(does.raises)
            continue
        waited: list[int] = []
        for _ in range(max(len(does.waits), 1)):
            if at == len(recorded) or recorded[at][0] != line:
                break
            dependencies = recorded[at][1]
            if check and not all(issued[d] > 0 for d in dependencies):
                break
            issued.subtract(dependencies)
            waited.extend(dependencies)
            at += 1
        found.append(tuple(dict.fromkeys(waited)))
    return found, len(recorded) - at


# --- the whole trace ---------------------------------------------------------------------


@dataclass(frozen=True)
class Attribution:
    """Cycles of waiting by (row of the wait, row waited for); -1: nothing known outstanding."""

    recorded: dict[tuple[int, int], float]
    inferred: dict[tuple[int, int], float]
    unresolved: dict[int, float]


@dataclass
class _Group:
    """Waves that executed the same memory instructions and waits in the same order."""

    lines: npt.NDArray[np.int32]
    recorded: Recorded
    cycles: npt.NDArray[np.int64]  # per wait, summed over the waves


def attribute(trace: AttTrace, placed: Placed, cycles: IntColumn) -> Attribution:
    """`cycles` is what each executed instruction lost; a wait's is shared by what it waits for."""
    effects = {
        int(trace.code.line[row]): does
        for row, isa in enumerate(trace.code.isa)
        if not trace.code.label[row] and (does := effect(isa, trace.gfxip)) is not None
    }
    result = Attribution({}, {}, {})
    for group in _groups(trace, placed, cycles, effects):
        stream = [(line, effects[line]) for line in group.lines.tolist()]
        inferred = infer(stream)
        recorded = align(stream, group.recorded, inferred) if group.recorded else []
        waits = [line for line, does in stream if not does.raises]
        for at, (line, lost) in enumerate(zip(waits, group.cycles.tolist(), strict=True)):
            if recorded and recorded[at]:
                into, dependencies = result.recorded, recorded[at]
            elif inferred[at]:
                into, dependencies = result.inferred, inferred[at]
            else:
                result.unresolved[line] = result.unresolved.get(line, 0.0) + lost
                continue
            for dependency in dependencies:
                pair = (line, dependency)
                into[pair] = into.get(pair, 0.0) + lost / len(dependencies)
    return _by_row(trace, result)


def _groups(
    trace: AttTrace, placed: Placed, cycles: IntColumn, effects: dict[int, Effect]
) -> list[_Group]:
    executed, waves, waits = trace.instructions, trace.waves, trace.waits
    does_something = np.isin(executed.line, list(effects)) & (placed.row >= 0)
    is_wait = np.isin(executed.line, [n for n, does in effects.items() if not does.raises])
    groups: dict[tuple[bytes, bytes, bytes], _Group] = {}
    for wave in range(len(waves)):
        span = slice(waves.first[wave], waves.first[wave + 1])
        kept = np.flatnonzero(does_something[span]) + span.start
        lines = executed.line[kept]
        lost = cycles[kept[is_wait[kept]]].astype(np.int64)
        entries = slice(waves.first_wait[wave], waves.first_wait[wave + 1])
        bounds = waits.first[entries.start : entries.stop + 1]
        flat = waits.dependency[bounds[0] : bounds[-1]] if len(bounds) else waits.dependency[:0]
        entry_lines = waits.line[entries]
        key = (lines.tobytes(), entry_lines.tobytes(), flat.tobytes())
        group = groups.get(key)
        if group is not None:
            group.cycles += lost
            continue
        offsets = (bounds - bounds[0]).tolist()
        named = flat.tolist()
        recorded = [
            (line, tuple(named[start:stop]))
            for line, start, stop in zip(
                entry_lines.tolist(), offsets[:-1], offsets[1:], strict=True
            )
        ]
        groups[key] = _Group(lines, recorded, lost)
    return list(groups.values())


def _by_row(trace: AttTrace, by_line: Attribution) -> Attribution:
    numbers = sorted(
        {n for pairs in (by_line.recorded, by_line.inferred) for pair in pairs for n in pair}
        | by_line.unresolved.keys()
    )
    rows = rows_of_lines(trace.code, np.array(numbers, dtype=np.int32)).tolist()
    row = dict(zip(numbers, rows, strict=True))
    return Attribution(
        recorded={(row[a], row[b]): n for (a, b), n in by_line.recorded.items()},
        inferred={(row[a], row[b]): n for (a, b), n in by_line.inferred.items()},
        unresolved={row[a]: n for a, n in by_line.unresolved.items()},
    )
