"""Intervals, paired ratios and the gate: every statistic that decides something, said once.

The gate compares two builds of a kernel by interleaved pairs of samples. It has to withstand what
real timers do: heavy tails, drift, clocks that jump, ticks as coarse as the difference looked for,
and being asked again after every new sample. `centre_interval` gives an interval that is valid at
every sample count at once, so looking often costs nothing; docs/optimize.md has the argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.float64]
Interval = tuple[float, float]

DEFAULT_CONFIDENCE = 0.95
DEFAULT_MIN_SPEEDUP = 1.02
# Pairs after which the gate is asked. No recorded experiment is longer than the last, so nothing
# here says that noise averages out beyond it.
LOOKS = (12, 16, 24, 32, 40, 50, 60)

# Two-sided 95 % points of Student's t for 1..30 degrees of freedom.
_T95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
_NORMAL_95 = 1.959964


def student_t95(degrees: int) -> float:
    """Beyond the table Fisher's expansion is exact to four digits."""
    if degrees <= len(_T95):
        return _T95[degrees - 1]
    z = _NORMAL_95
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / degrees + second / degrees**2


def mean_and_deviation(samples: Sequence[float] | Column) -> tuple[float, float]:
    """Of at least two samples. Equal ones deviate by nothing, not by what rounding leaves."""
    values = np.asarray(samples, dtype=np.float64)
    if (values == values[0]).all():
        return float(values[0]), 0.0
    return float(values.mean()), float(values.std(ddof=1))


def mean_interval95(samples: Sequence[float] | Column) -> Interval | None:
    """95 % confidence interval of the mean; None below two samples."""
    values = np.asarray(samples, dtype=np.float64)
    if len(values) < 2:
        return None
    mean, deviation = mean_and_deviation(values)
    half = student_t95(len(values) - 1) * deviation / math.sqrt(len(values))
    return mean - half, mean + half


def coefficient_of_variation(samples: Sequence[float] | Column) -> float | None:
    """stddev / mean; None below two samples or where the mean is not positive."""
    values = np.asarray(samples, dtype=np.float64)
    if len(values) < 2 or values.mean() <= 0:
        return None
    mean, deviation = mean_and_deviation(values)
    return deviation / mean


def median(samples: Sequence[float] | Column) -> float:
    return float(np.median(np.asarray(samples, dtype=np.float64)))


def bootstrap_median_interval(
    values: Column, confidence: float = DEFAULT_CONFIDENCE, rounds: int = 1000, seed: int = 0
) -> Interval:
    """Percentile bootstrap of the median over moving blocks, which keep dependence in time."""
    n = len(values)
    length = max(1, round(n ** (1 / 3)))
    starts = np.random.default_rng(seed).integers(
        0, n - length + 1, size=(rounds, math.ceil(n / length))
    )
    rows = (starts[:, :, None] + np.arange(length)).reshape(rounds, -1)[:, :n]
    medians = np.median(values[rows], axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(medians, (tail, 1 - tail))
    return float(low), float(high)


# The bets of `centre_interval`, as shares of one scale. Small ones find small differences in many
# samples, large ones large differences in few; a mixture is as valid as each.
_STAKES = np.array([0.25, 0.5, 1.0])
_CLIP = 2.0  # scales: what an outlier can cost
_SCALED_AFTER = 3  # values before the first scale; until then only the sign counts
# What each end may err, of 1 - confidence: 1 in 100 at 95 %. A false win costs more than a few more
# samples, and the rest is a reserve for noise that depends on itself.
_SHARE_OF_ERROR = 0.2


def centre_interval(values: Column, confidence: float = DEFAULT_CONFIDENCE) -> Interval:
    """Where the centre of symmetry of the values lies, valid at every length at once.

    Testing by betting. If the centre is d, the sign of value - d is a fair coin whatever its size,
    so a gambler who stakes on it and multiplies the capital by 2 / (1 + exp(-2 * stake * size))
    never expects to gain; by Ville's inequality the capital ever reaches 1/alpha with probability
    at most alpha. The interval holds every d against which no such fortune was made. Nothing is
    assumed of tails, variance or its change; stakes follow the spread of earlier values only.
    """
    scale = _earlier_scale(values)
    goal = -math.log(_SHARE_OF_ERROR * (1 - confidence))
    return _lower(values, scale, goal), -_lower(-values, scale, goal)


def _earlier_scale(values: Column) -> Column:
    scale = np.zeros(len(values))
    for i in range(_SCALED_AFTER, len(values)):
        earlier = values[:i]
        scale[i] = 1.4826 * np.median(np.abs(earlier - np.median(earlier)))
    return scale


def _log_capital(values: Column, scale: Column, centre: float) -> float:
    distance = values - centre
    safe = np.where(scale > 0, scale, 1.0)
    size = np.where(scale > 0, np.clip(distance / safe, -_CLIP, _CLIP), np.sign(distance))
    gains = math.log(2) - np.logaddexp(0, -2 * _STAKES[:, None] * size[None, :])
    return float(np.logaddexp.reduce(gains.sum(axis=1)) - math.log(len(_STAKES)))


def _lower(values: Column, scale: Column, goal: float) -> float:
    """The largest centre that the bets on "it is higher" have ruined; capital falls with it."""
    low, high = float(values.min()) - 1, float(values.max()) + 1
    if _log_capital(values, scale, low) < goal:
        return -math.inf
    for _ in range(36):
        middle = (low + high) / 2
        if _log_capital(values, scale, middle) >= goal:
            low = middle
        else:
            high = middle
    return low


@dataclass(frozen=True)
class Ratio:
    """Time of A over time of B: above 1, B is faster."""

    ratio: float
    low: float  # 0: not known yet
    high: float  # inf: not known yet
    pairs: int


def paired_ratio(
    a: Sequence[float] | Column, b: Sequence[float] | Column, confidence: float = DEFAULT_CONFIDENCE
) -> Ratio:
    """Ratio of two builds from interleaved pairs: a[i] and b[i] ran next to each other.

    Two neighbouring pairs (A B, B A) make one value, the mean of their log ratios: a drift and
    an advantage of running first cancel in it. The ratio is the median of these values; the
    interval the wider of `centre_interval` and the bootstrap, at each end.
    """
    logs = _log_ratios(a, b)
    values = (logs[0::2] + logs[1::2]) / 2
    low, high = _wider_interval(values, confidence)
    return Ratio(math.exp(float(np.median(values))), math.exp(low), math.exp(high), len(logs))


def unpaired_ratio(
    a: Sequence[float] | Column, b: Sequence[float] | Column, confidence: float = DEFAULT_CONFIDENCE
) -> Ratio:
    """Ratio of two sets of times that do not pair up: each side's centre by itself, the error
    shared between them. Wider than pairs, since a drift between the sides cannot cancel.
    """
    sides = [np.log(_positive(side)) for side in (a, b)]
    each = 1 - (1 - confidence) / 2
    (a_low, a_high), (b_low, b_high) = (_wider_interval(values, each) for values in sides)
    middle = float(np.median(sides[0]) - np.median(sides[1]))
    return Ratio(
        math.exp(middle),
        math.exp(a_low - b_high),
        math.exp(a_high - b_low),
        min(len(sides[0]), len(sides[1])),
    )


def share_interval(
    samples: Sequence[float] | Column, confidence: float = DEFAULT_CONFIDENCE
) -> Interval:
    """Where the centre of a set of times lies, as multiples of their median."""
    values = np.log(_positive(samples))
    low, high = (end - float(np.median(values)) for end in _wider_interval(values, confidence))
    return math.exp(low), math.exp(high)


def _wider_interval(values: Column, confidence: float) -> Interval:
    low, high = centre_interval(values, confidence)
    if len(values) > 1:
        other_low, other_high = bootstrap_median_interval(values, confidence)
        low, high = min(low, other_low), max(high, other_high)
    return low, high


def _positive(samples: Sequence[float] | Column) -> Column:
    values = np.asarray(samples, dtype=np.float64)
    if not len(values):
        raise ValueError("at least one time is needed")
    if not np.all(np.isfinite(values)) or values.min() <= 0:
        raise ValueError("times must be positive and finite")
    return values


def _log_ratios(a: Sequence[float] | Column, b: Sequence[float] | Column) -> Column:
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if len(first) != len(second) or len(first) < 2:
        raise ValueError(f"at least two whole pairs are needed, not {len(first)} and {len(second)}")
    both = np.concatenate([first, second])
    if not np.all(np.isfinite(both)) or both.min() <= 0:
        raise ValueError("times must be positive and finite")
    even = len(first) // 2 * 2  # an unpartnered last pair waits for the next
    logs: Column = np.log(first[:even]) - np.log(second[:even])
    return logs


Verdict = Literal["faster", "slower", "same", "inconclusive"]


@dataclass(frozen=True)
class GateResult:
    verdict: Verdict  # of B against A
    speedup: float
    interval: Interval  # of the speed-up; infinite ends: not known yet
    pairs: int
    reason: str
    modelled: bool = False


def gate(
    a: Sequence[float] | Column,
    b: Sequence[float] | Column,
    min_speedup: float = DEFAULT_MIN_SPEEDUP,
    confidence: float = DEFAULT_CONFIDENCE,
) -> GateResult:
    """Is B faster than A by more than `min_speedup`? Ask after any number of pairs, and stop on an
    answer: the chance of a wrong one stays below 1 - confidence over all the asking.

    faster: the whole interval is above min_speedup; slower: below its reciprocal; same: between.
    """
    return judge(paired_ratio(a, b, confidence), min_speedup, confidence)


def judge(
    found: Ratio,
    min_speedup: float = DEFAULT_MIN_SPEEDUP,
    confidence: float = DEFAULT_CONFIDENCE,
) -> GateResult:
    """The verdict that a ratio with its interval allows."""
    verdict = _verdict(found.low, found.high, min_speedup)
    sure = f"{confidence:.0%} interval {_text(found.low)} to {_text(found.high)}"
    bar = f"{min_speedup:g}x"
    reason = {
        "faster": f"{sure} lies above {bar}",
        "slower": f"{sure} lies below 1/{bar}",
        "same": f"{sure} lies within {bar} either way",
        "inconclusive": f"{sure} leaves it open after {found.pairs} pairs",
    }[verdict]
    return GateResult(verdict, found.ratio, (found.low, found.high), found.pairs, reason)


def gate_until_decided(
    take_pairs: Callable[[int], tuple[Sequence[float], Sequence[float]]],
    min_speedup: float = DEFAULT_MIN_SPEEDUP,
    confidence: float = DEFAULT_CONFIDENCE,
    looks: Sequence[int] = LOOKS,
) -> tuple[GateResult, list[float], list[float]]:
    """Take pairs until the gate answers; fewer than asked for means there are no more."""
    a: list[float] = []
    b: list[float] = []
    for look in looks:
        wanted = look - len(a)
        more_a, more_b = take_pairs(wanted)
        a += more_a
        b += more_b
        result = gate(a, b, min_speedup, confidence)
        if result.verdict != "inconclusive" or len(more_a) < wanted:
            break
    return result, a, b


def modelled_gate(
    a: float, b: float, model_error: float, min_speedup: float = DEFAULT_MIN_SPEEDUP
) -> GateResult:
    """The gate where time is computed, not measured: no noise, but a model that errs.

    `model_error` is the published relative error of the model for this kind of change; the
    interval is what it allows. Repeating would only repeat it.
    """
    if not (0 < a < math.inf and 0 < b < math.inf):
        raise ValueError("times must be positive and finite")
    ratio = a / b
    if ratio == 1:
        # The same work gives the same time, whatever the model's error.
        return GateResult("same", 1.0, (1.0, 1.0), 1, "the modelled times are equal", True)
    low, high = ratio / (1 + model_error), ratio * (1 + model_error)
    verdict = _verdict(low, high, min_speedup)
    error = f"the model's error of {model_error:.0%}"
    sure = f"modelled {ratio:.3f}x, {low:.3f} to {high:.3f} with {error}"
    reason = {
        "faster": f"{sure}: above {min_speedup:g}x",
        "slower": f"{sure}: below 1/{min_speedup:g}x",
        "same": f"{sure}: within {min_speedup:g}x either way",
        "inconclusive": f"{sure}: leaves it open",
    }[verdict]
    return GateResult(verdict, ratio, (low, high), 1, reason, True)


def _verdict(low: float, high: float, min_speedup: float) -> Verdict:
    if low > min_speedup:
        return "faster"
    if high < 1 / min_speedup:
        return "slower"
    if low > 1 / min_speedup and high < min_speedup:
        return "same"
    return "inconclusive"


def _text(bound: float) -> str:
    return f"{bound:.3f}" if 0 < bound < math.inf else "unknown"
