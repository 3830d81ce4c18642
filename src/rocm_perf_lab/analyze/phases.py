"""What a run pays once, told from what it does again and again.

Start-up is what lies before the first kernel of the program, long copies after a few kernels that
are not made again, and every stretch without a kernel
that ends with the first launch of one and is much longer than those before its later launches, or
that the host spends loading code or allocating. Where the first round of the work takes far longer
than the later ones, all until its end is warm-up, and so are a few operations between such
stretches. What follows the last kernel is the run's end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rocm_perf_lab.analyze.culprits import Culprit, Witness
from rocm_perf_lab.analyze.graph.anatomy import Anatomy
from rocm_perf_lab.analyze.graph.columns import Union, stable_order
from rocm_perf_lab.analyze.graph.edges import Bools, Ints
from rocm_perf_lab.analyze.graph.gaps import CAUSES, COPIES
from rocm_perf_lab.analyze.graph.operations import Operations
from rocm_perf_lab.analyze.kernel_class import is_helper
from rocm_perf_lab.analyze.rules import rule_set

PhaseKind = Literal[
    "before_first_kernel", "first_copies", "first_use", "warm_up", "after_last_kernel"
]
# Calls whose cost is paid once, by how their names begin.
_SET_UP = (
    "ModuleLoad LibraryLoad Malloc HostMalloc MallocHost HostAlloc HostRegister MemCreate "
    "MemPoolCreate StreamCreate EventCreate GraphInstantiate Init SetDevice DeviceReset"
).split()
ONE_TIME_CALLS = (*(f"{api}{name}" for api in ("hip", "cuda") for name in _SET_UP), "hiprtcCompile")
_MOST_CANDIDATES = 200
_FEWEST_ROUNDS = 5


@dataclass(frozen=True)
class OneTime:
    """A stretch of the run that is paid once."""

    kind: PhaseKind
    start_ns: int
    end_ns: int
    copies_ns: int  # of it, a copy running or its call
    culprit: Culprit | None
    later_ns: int | None = None  # first use: the median wait before the later launches
    calls: tuple[tuple[str, int, int], ...] = ()  # before and after all kernels: see calls_in

    @property
    def ns(self) -> int:
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class Phases:
    one_time: tuple[OneTime, ...]  # by time, disjoint
    rest: Union  # what is left of the run
    rounds: tuple[int, int, int] | None = None  # where the first is longer: see first_round

    @property
    def one_time_ns(self) -> int:
        return sum(stretch.ns for stretch in self.one_time)

    def within_rest(self, time: Ints) -> Bools:
        """Which of these moments lie in the rest."""
        at = np.searchsorted(self.rest.start, time, side="right") - 1
        return (
            (at >= 0) & (time < self.rest.end[np.maximum(at, 0)])
            if len(self.rest.start)
            else (np.zeros(len(time), np.bool_))
        )


def phases(anatomy: Anatomy, witness: Witness) -> Phases:
    ops, span = anatomy.ops, anatomy.ops.span_ns
    own = np.array([not is_helper(name) for name in ops.names])[ops.name] & ~ops.is_copy
    mine = np.flatnonzero(own)
    if not len(mine):
        return Phases((), Union(np.array([0]), np.array([span]), np.array([0])))
    first, last = int(ops.start[mine].min()), int(ops.end[mine].max())
    found = []
    least = rule_set().run.one_time_share * span
    ends: tuple[tuple[PhaseKind, int, int], ...] = (
        ("before_first_kernel", 0, first),
        ("after_last_kernel", last, span),
    )
    for kind, low, high in ends:
        if high - low >= least and not _repeats(anatomy, low, high, first, last):
            cause = "copies" if 2 * _copying(anatomy, low, high) >= high - low else "unknown"
            culprit = witness.stretch(low, high, cause)
            copies = _copying(anatomy, low, high)
            calls = witness.calls_in(low, high)
            found.append(OneTime(kind, low, high, copies, culprit, calls=calls))
    found += _first_copies(anatomy, witness, mine, last)
    found += _first_uses(anatomy, witness, first, last)
    found.sort(key=lambda stretch: stretch.start_ns)
    rounds = first_round(ops, mine)
    found = _warm_up(found, first, rounds, ops)
    return Phases(tuple(found), _rest(found, span), rounds)


def _copying(anatomy: Anatomy, low: int, high: int) -> int:
    return int(anatomy.gaps.copying.within(np.array([low]), np.array([high]))[0])


def _repeats(anatomy: Anatomy, low: int, high: int, first: int, last: int) -> bool:
    """Whether most of a stretch is copies of a kind that the run makes again between its kernels:
    a step's input, and not the program's."""
    ops = anatomy.ops
    copies = np.flatnonzero(ops.is_copy)
    inside = copies[(ops.start[copies] >= low) & (ops.end[copies] <= high)]
    between = copies[(ops.start[copies] >= first) & (ops.end[copies] <= last)]
    again = np.zeros(len(ops.names), np.int64)
    np.maximum.at(again, ops.name[between], ops.duration[between])
    repeated = inside[2 * again[ops.name[inside]] >= ops.duration[inside]]
    return 2 * int(ops.duration[repeated].sum()) >= high - low


def _first_copies(anatomy: Anatomy, witness: Witness, kernels: Ints, last: int) -> list[OneTime]:
    """Long copies that follow a few kernels and are not made again once the work has begun."""
    rules = rule_set().run
    few = int(rules.steady_operations)
    if len(kernels) <= few:
        return []
    ops, gaps = anatomy.ops, anatomy.gaps
    first, begun = int(ops.start[kernels[0]]), int(ops.start[kernels[few]])
    copies = np.zeros(len(gaps.low), np.int64)
    copying = gaps.cause == CAUSES.index(COPIES)
    np.add.at(copies, gaps.of[copying], gaps.length[copying])
    later = int(copies[(gaps.low >= begun) & (gaps.high <= last)].max(initial=0))
    length = gaps.high - gaps.low
    early = (gaps.low >= first) & (gaps.high <= begun) & (length >= rules.one_time_us * 1e3)
    found = np.flatnonzero(early & (2 * copies >= length) & (copies > 2 * later))
    return [
        OneTime(
            "first_copies",
            int(gaps.low[row]),
            int(gaps.high[row]),
            int(copies[row]),
            witness.gap(row),
        )
        for row in found.tolist()
    ]


def _first_uses(anatomy: Anatomy, witness: Witness, first: int, last: int) -> list[OneTime]:
    rules = rule_set().run
    ops, gaps = anatomy.ops, anatomy.gaps
    rows = np.flatnonzero((gaps.ender >= 0) & (gaps.low >= first) & (gaps.high <= last))
    if not len(rows):
        return []
    length = gaps.high[rows] - gaps.low[rows]
    name = ops.name[gaps.ender[rows]].astype(np.int64)
    kernels = np.flatnonzero(~ops.is_copy)
    first_of = np.full(len(ops.names), -1, np.int64)
    first_of[ops.name[kernels[::-1]]] = kernels[::-1]  # the last write, the first launch, stays
    launches = np.bincount(ops.name[kernels], minlength=len(ops.names))
    is_first = first_of[name] == gaps.ender[rows]
    usual = float(np.median(length[~is_first])) if (~is_first).any() else 0.0
    long = length >= max(rules.one_time_us * 1e3, rules.one_time_ratio * usual)
    asked = np.flatnonzero(long)
    asked = asked[np.argsort(-length[asked], kind="stable")[:_MOST_CANDIDATES]]
    found = []
    for i in asked.tolist():
        later = length[(name == name[i]) & (np.arange(len(rows)) != i)]
        # Launches that no gap precedes waited for nothing.
        count = int(launches[name[i]]) - 1
        wait = np.sort(np.append(later, np.zeros(max(count - len(later), 0))))
        median = int(wait[len(wait) // 2]) if len(wait) else None
        culprit = witness.gap(int(rows[i]))
        loads = culprit.call is not None and culprit.call.startswith(ONE_TIME_CALLS)
        slow = is_first[i] and _slow_launch(anatomy, int(gaps.ender[rows[i]]), int(length[i]))
        again = is_first[i] and median is not None and length[i] >= rules.one_time_ratio * median
        if loads or slow or again:
            low, high = int(gaps.low[rows[i]]), int(gaps.high[rows[i]])
            copies = gaps.by_cause(np.flatnonzero(gaps.of == rows[i]))["copies"]
            if 2 * copies >= high - low and not loads:
                continue  # the program's data
            found.append(
                OneTime("first_use", low, high, copies, culprit, median if again else None)
            )
    return found


def _slow_launch(anatomy: Anatomy, operation: int, gap: int) -> bool:
    """Whether the launch call itself fills half of the gap, and is no usual one."""
    r, call = anatomy.run.regions, anatomy.call
    if call[operation] < 0:
        return False
    took = r.end_ns[call[call >= 0]] - r.start_ns[call[call >= 0]]
    own = int(r.end_ns[call[operation]] - r.start_ns[call[operation]])
    return 2 * own >= gap and own >= rule_set().run.one_time_ratio * float(np.median(took))


def first_round(ops: Operations, kernels: Ints) -> tuple[int, int, int] | None:
    """The end of the first round of the work, its length and that of the usual one.

    Kernels launched equally often, as most are, are launched once a round. None where the first
    round is like the others.
    """
    rules = rule_set().run
    launches = np.bincount(ops.name[kernels], minlength=len(ops.names))
    often = launches[launches >= _FEWEST_ROUNDS]
    if not len(often):
        return None
    once_a_round = np.flatnonzero(launches == np.bincount(often).argmax())
    by_name = kernels[stable_order(ops.name[kernels])]  # and by start
    begins = np.append(0, np.cumsum(launches))
    seen = []
    for name in once_a_round.tolist():
        start = ops.start[by_name[begins[name] : begins[name + 1]]]
        length = np.diff(start)
        usual = float(np.median(length[1:]))
        if length[0] >= max(rules.round_ratio * usual, float(np.quantile(length[1:], 0.9))):
            seen.append((int(start[1]), int(length[0]), int(usual)))
    return min(seen) if 2 * len(seen) > len(once_a_round) else None


def _warm_up(
    found: list[OneTime], first: int, rounds: tuple[int, int, int] | None, ops: Operations
) -> list[OneTime]:
    """The first round of the work, where it differs, and the few operations between one-time
    stretches before it."""
    now = first
    until = rounds[0] if rounds is not None else first
    for stretch in found:
        inside = (ops.start >= max(now, until)) & (ops.start < stretch.start_ns)
        if int(inside.sum()) >= rule_set().run.steady_operations:
            break
        if stretch.kind != "after_last_kernel":
            now = max(now, stretch.end_ns)
    until = max(until, now)
    between: list[OneTime] = []
    now = first
    for stretch in found:
        if now < stretch.start_ns and stretch.start_ns < until:
            between.append(OneTime("warm_up", now, stretch.start_ns, 0, None))
        now = max(now, stretch.end_ns)
        if now >= until:
            break
    if now < until:
        between.append(OneTime("warm_up", now, until, 0, None))
    return sorted([*found, *between], key=lambda stretch: stretch.start_ns)


def _rest(found: list[OneTime], span: int) -> Union:
    low = np.array([0, *(s.end_ns for s in found)], np.int64)
    high = np.array([*(s.start_ns for s in found), span], np.int64)
    kept = high > low
    return Union(low[kept], high[kept], np.flatnonzero(kept))
