"""Hit, latency, stall and idle per code line, by the profiler's rule, and checked against it.

Per wave, with `prev` starting at the wave's begin, every instruction adds 1 to its line's Hit,
its duration to Latency, its stall to Stall and max(time - prev, 0) to Idle; then
prev = max(prev, time + duration). An instruction without an address (line 0, where line 0 is
no instruction) is passed over altogether.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.trace.att_trace import NOT_RECORDED, AttTrace, Code, StatsCsv
from rocm_perf_lab.trace.trace import IntColumn

_NEVER = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Sums:
    """Four equally long columns: per code line, or per class."""

    hit: IntColumn
    latency: IntColumn
    stall: IntColumn
    idle: IntColumn

    def columns(self) -> tuple[IntColumn, IntColumn, IntColumn, IntColumn]:
        return self.hit, self.latency, self.stall, self.idle


@dataclass(frozen=True)
class Placed:
    """Executed instructions with their code row and idle time."""

    row: IntColumn  # into Code; -1 where the line is unknown
    counted: npt.NDArray[np.bool_]  # False: no address, passed over
    idle: IntColumn


@dataclass(frozen=True)
class Agreement:
    """How our sums compare with the profiler's: lines equal in all four columns."""

    source: str  # file name
    lines_compared: int
    lines_equal: int
    hit_difference: int  # ours minus theirs, summed
    latency_difference: int
    stall_difference: int
    idle_difference: int

    @property
    def whole(self) -> bool:
        return self.lines_equal == self.lines_compared


def rows_of_lines(code: Code, line: npt.NDArray[np.int32]) -> IntColumn:
    """The code row of each line number; -1 for numbers no instruction has.

    Where two rows have the same number the first is taken.
    """
    numbers = code.line[~code.label]
    rows = np.flatnonzero(~code.label)
    if not len(rows):
        return np.full(len(line), -1, dtype=np.int64)
    unique, first = np.unique(numbers, return_index=True)
    at = np.minimum(np.searchsorted(unique, line), len(unique) - 1)
    return np.where(unique[at] == line, rows[first[at]], -1)


def place(trace: AttTrace) -> Placed:
    executed, waves = trace.instructions, trace.waves
    row = rows_of_lines(trace.code, executed.line)
    counted = (row >= 0) | (executed.line != 0)
    done = np.where(counted, executed.time + executed.duration, _NEVER)
    before = np.repeat(waves.begin, np.diff(waves.first))
    for start, stop in zip(waves.first[:-1].tolist(), waves.first[1:].tolist(), strict=True):
        if stop - start > 1:
            np.maximum(
                before[start + 1 : stop],
                np.maximum.accumulate(done[start : stop - 1]),
                out=before[start + 1 : stop],
            )
    return Placed(row=row, counted=counted, idle=np.maximum(executed.time - before, 0))


def grouped(trace: AttTrace, placed: Placed, group: npt.NDArray[np.integer], size: int) -> Sums:
    """Sums over instructions by `group`; negative groups are left out."""
    executed = trace.instructions
    kept = group >= 0
    index = group[kept]
    return Sums(
        hit=np.bincount(index, minlength=size).astype(np.int64),
        latency=add_up(index, executed.duration[kept], size),
        stall=add_up(index, executed.stall[kept], size),
        idle=add_up(index, placed.idle[kept], size),
    )


def add_up(index: npt.NDArray[np.integer], values: npt.NDArray[np.integer], size: int) -> IntColumn:
    """Exact integer sums by index."""
    if np.abs(values, dtype=np.float64).sum() < 2**53:  # exact in bincount's doubles
        return np.bincount(index, weights=values, minlength=size).astype(np.int64)
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, index, values)
    return sums


def recorded(code: Code) -> Sums | None:
    """The sums code.json came with, if it has them."""
    sums = Sums(code.hit, code.latency, code.stall, code.idle)
    if any((column == NOT_RECORDED).any() for column in sums.columns()):
        return None
    return sums


def compare_code(code: Code, ours: Sums, name: str) -> Agreement | None:
    theirs = recorded(code)
    rows = np.flatnonzero(~code.label)
    if theirs is None or not len(rows):
        return None
    return _compare(name, [c[rows] for c in ours.columns()], [c[rows] for c in theirs.columns()])


def compare_stats(code: Code, ours: Sums, stats: StatsCsv, name: str) -> Agreement | None:
    """Lines are matched by code object and address."""
    rows = {
        key: row
        for row, key in enumerate(zip(code.codeobj.tolist(), code.vaddr.tolist(), strict=True))
        if not code.label[row]
    }
    keys = zip(stats.codeobj.tolist(), stats.vaddr.tolist(), strict=True)
    at = np.array([rows.get(key, -1) for key in keys], dtype=np.int64)
    if not len(at):
        return None
    mine = [np.append(column, 0)[at] for column in ours.columns()]  # -1: not in code.json, 0
    return _compare(name, mine, [stats.hit, stats.latency, stats.stall, stats.idle])


def _compare(name: str, ours: list[IntColumn], theirs: list[IntColumn]) -> Agreement:
    differences = [int(a.sum()) - int(b.sum()) for a, b in zip(ours, theirs, strict=True)]
    equal = np.logical_and.reduce([a == b for a, b in zip(ours, theirs, strict=True)])
    return Agreement(name, len(equal), int(equal.sum()), *differences)
