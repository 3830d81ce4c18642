"""Counters of several passes joined to the dispatches of the timing run.

A counter pass is a run of its own. Its dispatch belongs to the timing run's dispatch of the same
number in the same process, and only if kernel name, grid, workgroup and LDS agree. Values per
kernel are means over the dispatches that have them; times are the same dispatches' times in the
timing run, because counting serialises and slows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from rocm_perf_lab.analyze.align import BoolColumn, align
from rocm_perf_lab.analyze.keys import KernelKey, kernel_keys
from rocm_perf_lab.arch.counters import base_name, block_of
from rocm_perf_lab.trace.trace import IndexColumn, Trace

# Counters no dispatch leaves at zero: where one does, its block was not counting.
NEVER_ZERO = frozenset(
    {
        "GRBM_COUNT",
        "GRBM_GUI_ACTIVE",
        "SQ_BUSY_CU_CYCLES",
        "SQ_BUSY_CYCLES",
        "SQ_INSTS",
        "SQ_WAVES",
        "SQ_WAVE_CYCLES",
    }
)
# Two passes may differ by this much on the same counter before it is worth a word.
SAME_WITHIN = 0.02


@dataclass(frozen=True)
class Reading:
    """One counter of one kernel in one pass: means per dispatch over its instances."""

    total: float
    maximum: float
    instances: float


@dataclass(frozen=True)
class PassReadings:
    index: int  # which of the passes
    dispatches: int
    mean_ns: float  # of those dispatches in this pass, serialised
    readings: Mapping[str, Reading]  # by counter, `_sum` left off


@dataclass(frozen=True)
class KernelCounters:
    key: KernelKey
    dispatches: int  # in the timing run
    covered: int  # of them, those that counters and time are taken from
    mean_ns: float
    total_ns: int  # of all dispatches
    agent: int  # where it ran first
    passes: tuple[PassReadings, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)  # counter or "counters" -> sentence
    notes: tuple[str, ...] = ()

    @property
    def counters(self) -> frozenset[str]:
        return frozenset(name for p in self.passes for name in p.readings)


@dataclass(frozen=True)
class JoinedCounters:
    """Per kernel key, longest total time first, and per dispatch by way of `aligned`."""

    kernels: tuple[KernelCounters, ...]
    kernel_of: IndexColumn  # timing dispatch -> kernels
    timed_by: Literal["timing run", "counter run"]
    passes: tuple[Trace, ...]
    aligned: tuple[IndexColumn, ...]  # per pass: timing dispatch -> its dispatch there, or -1
    notes: tuple[str, ...] = ()


def join(timing: Trace | None, passes: Sequence[Trace]) -> JoinedCounters:
    """Join counter passes to a timing run; without one, the first pass times the kernels."""
    notes: list[str] = []
    timed_by: Literal["timing run", "counter run"] = "timing run"
    if timing is None or not len(timing.dispatches):
        with_dispatches = [p for p in passes if len(p.dispatches)]
        if not with_dispatches:
            empty = np.zeros(0, np.int32)
            return JoinedCounters((), empty, timed_by, (), (), ("no dispatch was recorded",))
        timing = with_dispatches[0]
        timed_by = "counter run"
        notes.append(
            "no timing run: times are those of a counter run, serialised under counter collection"
        )
    keys, key_of = kernel_keys(timing)
    index_of = {key: i for i, key in enumerate(keys)}
    joins = [_PassJoin.of(i, timing, keys, key_of, index_of, p) for i, p in enumerate(passes)]
    for one in joins:
        notes.extend(one.notes)
    duration = (timing.dispatches.end_ns - timing.dispatches.start_ns).astype(np.float64)
    count = np.bincount(key_of, minlength=len(keys))
    total = np.bincount(key_of, weights=duration, minlength=len(keys))
    common = np.ones(len(key_of), bool)
    for one in joins:
        common &= one.has | ~one.key_has[key_of]
    common_count = np.bincount(key_of[common], minlength=len(keys))
    # Passes that counted different dispatches have none in common: each then keeps its own.
    disjoint = common_count == 0
    used = common | disjoint[key_of]
    used_count = np.bincount(key_of[used], minlength=len(keys))
    used_total = np.bincount(key_of[used], weights=duration[used], minlength=len(keys))
    first_dispatch = np.empty(len(keys), np.int64)
    first_dispatch[key_of[::-1]] = np.arange(len(key_of))[::-1]
    readings = [one.readings(len(keys), used) for one in joins]
    order = sorted(range(len(keys)), key=lambda k: (-total[k], keys[k]))
    kernels = tuple(
        _kernel(
            keys[k],
            int(count[k]),
            int(used_count[k]),
            float(used_total[k] / used_count[k]),
            int(total[k]),
            int(timing.dispatches.agent[first_dispatch[k]]),
            [(one, readings[i].get(k)) for i, one in enumerate(joins)],
            k,
            bool(disjoint[k]) and bool(joins),
        )
        for k in order
    )
    rank = np.empty(len(keys), np.int32)
    rank[order] = np.arange(len(keys), dtype=np.int32)
    return JoinedCounters(
        kernels,
        rank[key_of],
        timed_by,
        tuple(passes),
        tuple(one.rows for one in joins),
        tuple(dict.fromkeys(notes)),
    )


@dataclass(frozen=True)
class _PassJoin:
    index: int
    trace: Trace
    rows: IndexColumn  # timing dispatch -> dispatch of the pass, or -1
    key_of: IndexColumn  # dispatch of the pass -> key of the timing run, or -1
    averaged: BoolColumn  # per key: the order differs but not the number
    partial: BoolColumn  # per key: only some dispatches could be matched
    reasons: Mapping[int, str]  # per key without counters: why
    has: BoolColumn  # timing dispatch has counters here
    key_has: BoolColumn
    silent: bool  # every counter of every dispatch is zero
    notes: tuple[str, ...]

    @staticmethod
    def of(
        index: int,
        timing: Trace,
        keys: list[KernelKey],
        key_of_timing: IndexColumn,
        index_of: Mapping[KernelKey, int],
        trace: Trace,
    ) -> _PassJoin:
        pass_keys, local = kernel_keys(trace)
        loose = _by_totals(index_of)
        found = [index_of.get(k, loose.get(_totals(k), -1)) for k in pass_keys]
        to_timing = np.array(found or [-1], np.int32)
        key_of = to_timing[local] if len(local) else local
        notes = []
        strangers = sum(1 for index in found if index < 0)
        reshaped = sum(1 for k, i in zip(pass_keys, found, strict=True) if i >= 0 and keys[i] != k)
        if reshaped:
            notes.append(
                f"counter pass {index + 1} writes the sizes of {reshaped} kernel shapes in another "
                "way than the timing run: joined by name and total"
            )
        if strangers:
            notes.append(
                f"counter pass {index + 1} ran {strangers} kernel shapes that the timing run did "
                "not: their counters are left out"
            )
        counted = np.zeros(len(local), bool)
        for counter in trace.counters.values():
            counted |= ~np.isnan(counter.total)
        if trace is timing:
            rows = np.where(counted, np.arange(len(local), dtype=np.int32), np.int32(-1))
        else:
            rows, note = align(timing, trace, key_of_timing, key_of, counted)
            notes += [f"counter pass {index + 1}: {note}"] if note else []
        n = len(keys)
        key_of = np.where(counted, key_of, np.int32(-1))
        ours = key_of >= 0
        in_pass = np.bincount(key_of[ours], minlength=n)
        in_timing = np.bincount(key_of_timing, minlength=n)
        matched = np.bincount(key_of_timing[rows >= 0], minlength=n)
        misplaced = matched < in_pass
        averaged = misplaced & (in_pass == in_timing)
        reasons = {}
        for k in np.flatnonzero((in_pass > 0) & (matched == 0) & ~averaged):
            reasons[int(k)] = (
                f"counter pass {index + 1} ran this kernel {in_pass[k]} times in other places, the "
                f"timing run {in_timing[k]} times: which belong together cannot be known"
            )
        has = (rows >= 0) | averaged[key_of_timing]
        key_has = (matched > 0) | averaged
        partial = misplaced & ~averaged & (matched > 0)
        silent = not any(bool(np.nansum(c.total)) for c in trace.counters.values())
        return _PassJoin(
            index,
            trace,
            rows,
            key_of,
            averaged,
            partial,
            reasons,
            has,
            key_has,
            silent,
            tuple(notes),
        )

    def readings(
        self, n: int, used: BoolColumn
    ) -> dict[int, tuple[int, float, dict[str, Reading]]]:
        """Per key: dispatches counted, their mean time here, means of each counter."""
        take = np.zeros(len(self.key_of), bool)
        take[self.rows[(self.rows >= 0) & used]] = True
        take |= (self.key_of >= 0) & self.averaged[self.key_of]
        rows = np.flatnonzero(take)
        if not len(rows):
            return {}
        keys = self.key_of[rows]
        d = self.trace.dispatches
        duration = (d.end_ns - d.start_ns)[rows].astype(np.float64)
        counts = np.bincount(keys, minlength=n)
        time = np.bincount(keys, weights=duration, minlength=n)
        found: dict[int, tuple[int, float, dict[str, Reading]]] = {
            int(k): (int(counts[k]), float(time[k] / counts[k]), {}) for k in np.flatnonzero(counts)
        }
        for name in sorted(self.trace.counters):
            counter = self.trace.counters[name]
            known = ~np.isnan(counter.total[rows])
            where, at = keys[known], rows[known]
            known_count = np.bincount(where, minlength=n)
            sums = [
                np.bincount(where, weights=column[at].astype(np.float64), minlength=n)
                for column in (counter.total, counter.maximum, counter.instances)
            ]
            for k in np.flatnonzero(known_count):
                mean = [float(s[k] / known_count[k]) for s in sums]
                found[int(k)][2][base_name(name)] = Reading(*mean)
        return found


_Totals = tuple[str, int, int]


def _totals(key: KernelKey) -> _Totals:
    """What stays the same when a table writes a launch as totals: the name and both products."""
    grid, workgroup = ([max(n, 1) for n in sizes] for sizes in (key.grid, key.workgroup))
    return (
        key.name,
        int(np.prod(np.array(grid, dtype=object))),
        int(np.prod(np.array(workgroup, dtype=object))),
    )


def _by_totals(index_of: Mapping[KernelKey, int]) -> dict[_Totals, int]:
    """Keys by their totals, where those tell them apart."""
    found: dict[_Totals, list[int]] = {}
    for key, index in index_of.items():
        found.setdefault(_totals(key), []).append(index)
    return {totals: indices[0] for totals, indices in found.items() if len(indices) == 1}


def _kernel(
    key: KernelKey,
    dispatches: int,
    covered: int,
    mean_ns: float,
    total_ns: int,
    agent: int,
    parts: list[tuple[_PassJoin, tuple[int, float, dict[str, Reading]] | None]],
    index: int,
    disjoint: bool,
) -> KernelCounters:
    reasons: dict[str, str] = {}
    notes: list[str] = []
    found: list[PassReadings] = []
    for one, part in parts:
        if index in one.reasons:
            reasons[f"pass {one.index + 1}"] = one.reasons[index]
        if part is None:
            continue
        number = one.index + 1
        if one.averaged[index]:
            notes.append(
                f"counter pass {number} ran the kernels in another order: means over all "
                f"{part[0]} dispatches"
            )
        if one.partial[index]:
            notes.append(
                f"counter pass {number}: only {part[0]} dispatches of this kernel could be matched"
            )
        alive, dead = _alive(part[2], one.silent)
        for name, why in dead.items():
            reasons.setdefault(name, f"{why} in counter pass {number}")
        if alive:
            found.append(PassReadings(one.index, part[0], part[1], alive))
    # A counter that was silent in one pass and counted in another is known: it needs no reason.
    living = {name for p in found for name in p.readings}
    reasons = {name: why for name, why in reasons.items() if name not in living}
    if not parts:
        reasons["counters"] = "no counters were collected"
    elif not found and not reasons:
        reasons["counters"] = "no counter pass has this kernel in this shape"
    if found and covered < dispatches:
        notes.append(f"counters for {covered} of {dispatches} dispatches")
    if disjoint and found:
        notes.append("the passes counted different dispatches of this kernel")
    notes += _disagreements(found)
    return KernelCounters(
        key, dispatches, covered, mean_ns, total_ns, agent, tuple(found), reasons, tuple(notes)
    )


def _alive(
    readings: dict[str, Reading], silent_pass: bool
) -> tuple[dict[str, Reading], dict[str, str]]:
    """Readings of blocks that counted, and why the others are left out."""
    if silent_pass:
        return {}, dict.fromkeys(readings, "every counter of every dispatch reads zero")
    zero = {block_of(n): n for n in sorted(readings) if n in NEVER_ZERO and not readings[n].total}
    alive = {n: r for n, r in readings.items() if block_of(n) not in zero}
    dead = {
        n: f"{zero[block_of(n)]} reads zero, so its block was not counting"
        for n in readings
        if block_of(n) in zero
    }
    return alive, dead


def _disagreements(passes: list[PassReadings]) -> list[str]:
    """Counters of work done must repeat; those of cycles need not."""
    notes = []
    for name in sorted({n for p in passes for n in p.readings}):
        if "CYCLES" in name or "WAIT" in name or "LEVEL" in name or name.startswith("GRBM"):
            continue
        values = [p.readings[name].total for p in passes if name in p.readings]
        if len(values) > 1 and max(values) - min(values) > SAME_WITHIN * max(values):
            listed = ", ".join(f"{v:g}" for v in values)
            notes.append(f"{name} differs between passes ({listed}); the first is used")
    return notes
