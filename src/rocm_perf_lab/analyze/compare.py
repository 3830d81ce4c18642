"""Two measurements of the same thing: how much faster is the second, and how sure is that?

Samples are times of single dispatches (or of whole commands), one column per run. Where both sides
have equally many they pair up by position: the n-th launch of a kernel does the same work in both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rocm_perf_lab.arch.modelled_error import model_errors
from rocm_perf_lab.statistics import (
    DEFAULT_CONFIDENCE,
    DEFAULT_MIN_SPEEDUP,
    Column,
    GateResult,
    Interval,
    Ratio,
    Verdict,
    gate,
    judge,
    modelled_gate,
    share_interval,
    unpaired_ratio,
)


@dataclass(frozen=True)
class Samples:
    """Times in ms of one kernel or command, run by run."""

    runs: tuple[Column, ...]
    modelled: bool = False
    shapes: int = 1  # launch shapes among them

    @property
    def count(self) -> int:
        return sum(map(len, self.runs))

    @property
    def calls(self) -> int:
        return len(self.runs[0])

    @property
    def total_ms(self) -> float:
        return float(np.median([run.sum() for run in self.runs]))


@dataclass(frozen=True)
class Comparison:
    """Of B against A. The speed-up is time of A over time of B, per call."""

    verdict: Verdict
    speedup: float | None
    interval: Interval | None  # None: too few samples for one
    pairs: int
    method: str
    reason: str
    modelled: bool = False


EXACT = Ratio(1.0, 1.0, 1.0, 1)


@dataclass(frozen=True)
class Part:
    """A kernel's part in the runtime: its total on each side (0: not there) and its comparison."""

    a_ms: float
    b_ms: float
    comparison: Comparison | None  # None: it is on one side only
    own: Ratio = EXACT  # its time there, as multiples of its total


def compare(
    a: Samples,
    b: Samples,
    min_speedup: float = DEFAULT_MIN_SPEEDUP,
    confidence: float = DEFAULT_CONFIDENCE,
) -> Comparison:
    if _equal(a, b):
        one = (1.0, 1.0)
        return Comparison("same", 1.0, one, a.count, "equal", "every sample is equal", a.modelled)
    if a.modelled and b.modelled:
        a_ms, b_ms = (s.total_ms / max(s.calls, 1) for s in (a, b))
        if min(a_ms, b_ms) <= 0:
            return _unknown("a modelled time is zero")
        return _from_gate(modelled_gate(a_ms, b_ms, model_errors().worst, min_speedup), "modelled")
    if a.modelled or b.modelled:
        return _unknown("one side was measured, the other modelled: they do not compare")
    paired = [len(run) for run in a.runs] == [len(run) for run in b.runs]
    if not paired and max(a.shapes, b.shapes) > 1 and a.calls != b.calls:
        return _unknown("launched differently often in several shapes: calls do not correspond")
    first, second = np.concatenate(a.runs), np.concatenate(b.runs)
    if paired:
        timed = (first > 0) & (second > 0)
        first, second = first[timed], second[timed]
    else:
        first, second = first[first > 0], second[second > 0]
    if not len(first) or not len(second):
        return _unknown("no call took any time in the trace")
    if paired and len(first) > 1:
        found = gate(first, second, min_speedup, confidence)
        ratio = Ratio(found.speedup, *found.interval, found.pairs)
    else:
        ratio = unpaired_ratio(first, second, confidence)
    widened = _with_run_spread(ratio, a, b)
    verdict = judge(widened, min_speedup, confidence)
    return _from_gate(verdict, "pairs" if paired else "unpaired")


def whole(
    parts: Sequence[Part],
    modelled: tuple[bool, bool],
    min_speedup: float = DEFAULT_MIN_SPEEDUP,
    confidence: float = DEFAULT_CONFIDENCE,
) -> Comparison:
    """All kernels together: each at the worst and at the best end of its interval. `modelled`:
    whether the times of A are, and those of B."""
    if modelled[0] != modelled[1]:
        return _unknown("one side was measured, the other modelled: they do not compare")
    total_a, total_b = sum(p.a_ms for p in parts), sum(p.b_ms for p in parts)
    if total_a <= 0 or total_b <= 0:
        return _unknown("no kernel took any time")
    if all(modelled):
        return _from_gate(
            modelled_gate(total_a, total_b, model_errors().worst, min_speedup), "modelled"
        )
    least, most = total_a, total_a
    low = high = 0.0  # of B's time
    pairs: list[int] = []
    for p in parts:
        c = p.comparison
        if c is None or 0 in (p.a_ms, p.b_ms):
            least, most = least + p.a_ms * (p.own.low - 1), most + p.a_ms * (p.own.high - 1)
            low, high = low + p.b_ms * p.own.low, high + p.b_ms * p.own.high
            pairs.append(p.own.pairs)
        elif c.interval is None or c.speedup is None:
            high = math.inf
        else:
            low += p.b_ms * c.speedup / c.interval[1] if c.interval[1] else 0.0
            high += p.b_ms * c.speedup / c.interval[0] if c.interval[0] else math.inf
            pairs.append(c.pairs)
    at_best = most / low if low else math.inf
    ratio = Ratio(total_a / total_b, least / high, at_best, min(pairs, default=0))
    if all(p.comparison is not None and p.comparison.method == "equal" for p in parts):
        one = (1.0, 1.0)
        return Comparison("same", 1.0, one, min(pairs, default=0), "equal", "every sample is equal")
    return _from_gate(judge(ratio, min_speedup, confidence), "sum of the kernels' intervals")


def own(samples: Samples, confidence: float = DEFAULT_CONFIDENCE) -> Ratio:
    """Of a kernel that nothing stands against: its time, as multiples of its total."""
    times = np.concatenate(samples.runs)
    times = times[times > 0]
    if samples.modelled or not len(times):
        return EXACT
    low, high = share_interval(times, confidence)
    totals = [float(run.sum()) / samples.total_ms for run in samples.runs if run.sum() > 0]
    return Ratio(1.0, min(low, *totals), max(high, *totals), len(times))


def _equal(a: Samples, b: Samples) -> bool:
    return len(a.runs) == len(b.runs) and all(
        np.array_equal(x, y) for x, y in zip(a.runs, b.runs, strict=True)
    )


def _with_run_spread(ratio: Ratio, a: Samples, b: Samples) -> Ratio:
    """What differs from run to run by chance is in no single run: the interval holds the ratio of
    every run of A to every run of B."""
    middles = [[float(np.median(run)) for run in s.runs if len(run)] for s in (a, b)]
    between = [x / y for x in middles[0] for y in middles[1] if x > 0 and y > 0]
    if len(between) < 2:
        return ratio
    return Ratio(ratio.ratio, min(ratio.low, *between), max(ratio.high, *between), ratio.pairs)


def _from_gate(found: GateResult, method: str) -> Comparison:
    low, high = found.interval
    known = low > 0 or math.isfinite(high)
    return Comparison(
        found.verdict,
        found.speedup,
        found.interval if known else None,
        found.pairs,
        method,
        found.reason if known else f"too few samples for an interval ({found.pairs})",
        found.modelled,
    )


def _unknown(why: str) -> Comparison:
    return Comparison("inconclusive", None, None, 0, "none", why)
