"""Time two builds against each other on a captured dispatch, and say whether to believe it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from rocm_perf_lab.arch.gpu import Gpu
from rocm_perf_lab.arch.modelled_error import ErrorClass, model_errors
from rocm_perf_lab.replay.session import RunResult, abba
from rocm_perf_lab.statistics import (
    GateResult,
    gate_until_decided,
    median,
    modelled_gate,
)

# What a modelled speed-up must exceed beyond --min-speedup, by kind of change: how far modelled
# times of such kernels are from published ones at worst. The classes of whole-GPU rates are not
# among them, for their error is the clock's, nor is memory_large: both builds have those alike.
INSTRUCTIONS, MEMORY = "instructions", "memory access"
CLASSES: Mapping[str, tuple[ErrorClass, ...]] = {
    INSTRUCTIONS: ("latency",),
    MEMORY: ("launch_bound", "memory"),
}
# Which a change is, by the rule that made it; what no rule vouches for counts as the worse.
KIND_OF_RULE = dict.fromkeys(
    ("unroll", "launch_bounds", "restrict", "padding", "accumulators", "reciprocal"),
    INSTRUCTIONS,
)


CLOCK_CHANGE = 0.10  # of the original's own time, between the halves of a measurement


def error_of_kind(kind: str) -> float:
    """In whole percent, rounded up."""
    published = [model_errors().classes[each].worst for each in CLASSES[kind]]
    return math.ceil(round(100 * max(worst for worst in published if worst is not None), 6)) / 100


def error_of(rule: str | None) -> float:
    """Of several rules at once (`restrict+unroll`) the largest."""
    return max(error_of_kind(KIND_OF_RULE.get(part, MEMORY)) for part in (rule or "").split("+"))


class Timed(Protocol):
    """What of a replay session a measurement needs."""

    timing: Literal["modelled", "measured"]

    def run(self, order: Sequence[int], *, flush: bool = ..., compare: bool = ...) -> RunResult: ...


@dataclass(frozen=True)
class Bar:
    """What a speed-up must exceed, and how surely."""

    min_speedup: float
    confidence: float


@dataclass(frozen=True)
class Measured:
    gate: GateResult
    a_ns: tuple[float, ...]
    b_ns: tuple[float, ...]
    cold_a_ns: tuple[float, ...] = ()
    cold_b_ns: tuple[float, ...] = ()
    implausible: str | None = None

    @property
    def a_median_ns(self) -> float:
        return median(self.a_ns)

    @property
    def b_median_ns(self) -> float:
        return median(self.b_ns)


def measure(
    session: Timed, a: int, b: int, bar: Bar, rule: str | None, floor_ns: float = 0.0
) -> Measured:
    """A and B interleaved until the gate decides; then once more with cold caches, where B may
    not lose what it won."""
    session.run([a, b], compare=False)  # the first dispatch of a build finds its code cold
    if session.timing == "modelled":
        # No noise, but caches remember: A B B A, so that both follow both.
        a_ns, b_ns = _pairs(session, a, b, 2)
        judged = modelled_gate(median(a_ns), median(b_ns), error_of(rule), bar.min_speedup)
        found = Measured(judged, tuple(a_ns), tuple(b_ns))
    else:
        judged, a_ns, b_ns = gate_until_decided(
            lambda count: _pairs(session, a, b, count), bar.min_speedup, bar.confidence
        )
        found = Measured(judged, tuple(a_ns), tuple(b_ns))
    if judged.verdict != "faster":
        return found
    cold_a, cold_b = _pairs(session, a, b, 1 if judged.modelled else 8, flush=True)
    found = replace(found, cold_a_ns=tuple(cold_a), cold_b_ns=tuple(cold_b))
    return replace(found, implausible=_implausible(found, floor_ns))


def _pairs(
    session: Timed, a: int, b: int, count: int, flush: bool = False
) -> tuple[list[float], list[float]]:
    result = session.run(abba(a, b, count), compare=False, flush=flush)
    return result.gpu_ns(a), result.gpu_ns(b)


def _implausible(found: Measured, floor_ns: float) -> str | None:
    fastest = min(found.b_ns)
    if fastest < floor_ns:
        return (
            f"{fastest / 1e3:.2f} us is less than the {floor_ns / 1e3:.2f} us in which its results "
            "can be written at all"
        )
    half = len(found.a_ns) // 2
    if half and not found.gate.modelled:
        drift = median(found.a_ns[half:]) / median(found.a_ns[:half])
        if abs(math.log(drift)) > math.log(1 + CLOCK_CHANGE):
            return (
                f"the original's own time changed {drift:.2f}-fold while it was measured: the "
                "clock moved"
            )
    cold = median(found.cold_a_ns) / median(found.cold_b_ns)
    if cold < 1:
        return f"it is {1 / cold:.2f}x slower with cold caches: the gain is of the warm cache"
    return None


def write_floor_ns(gpu: Gpu | None, written_bytes: int) -> float:
    """The least time in which so many bytes can leave the compute units, by the fastest memory
    that can hold them. Reads are not counted: a better kernel may need fewer."""
    if gpu is None:
        return 0.0
    rates = [
        gpu.datasheet[level].value for level in ("l2", "mall", "hbm") if level in gpu.datasheet
    ]
    return written_bytes / max(rates) if rates else 0.0  # GB/s are bytes per ns
