"""What became of one configuration, and the statistics of repeated measurement."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field, replace
from typing import Any

from rocm_perf_lab.autotune.space import Configuration

# Two-sided 95 % points of Student's t, by degrees of freedom.
_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086)  # fmt: skip
UNSTABLE_CV = 0.10


@dataclass(frozen=True)
class Measurement:
    """One attempt: samples, or why there are none."""

    status: str  # ok, invalid, build_failed, failed, timeout, wrong, out_of_resources
    samples_ms: tuple[float, ...] = ()
    reason: str | None = None
    runtime_features: dict[str, Any] = field(default_factory=dict)
    static_features: dict[str, Any] = field(default_factory=dict)
    device: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Evaluation:
    row: int
    parameters: Configuration
    phase: str
    member: str
    measurement: Measurement
    cached: bool = False

    @property
    def ok(self) -> bool:
        return self.measurement.status == "ok" and bool(self.measurement.samples_ms)

    @property
    def time_ms(self) -> float | None:
        """The median: one disturbed run does not move it."""
        return statistics.median(self.measurement.samples_ms) if self.ok else None

    @property
    def cv(self) -> float | None:
        samples = self.measurement.samples_ms
        if len(samples) < 2:
            return None
        return statistics.stdev(samples) / statistics.fmean(samples)

    @property
    def stable(self) -> bool | None:
        """None: measured once, nothing is known about its spread."""
        return None if self.cv is None else self.cv <= UNSTABLE_CV

    def interval_ms(self) -> tuple[float, float] | None:
        """95 % confidence interval of the mean."""
        samples = self.measurement.samples_ms
        if len(samples) < 2:
            return None
        mean, deviation = statistics.fmean(samples), statistics.stdev(samples)
        t = _T95[min(len(samples) - 2, len(_T95) - 1)]
        half = t * deviation / math.sqrt(len(samples))
        return mean - half, mean + half

    def with_more(self, more: Measurement) -> Evaluation:
        """After re-measurement. A leader that now fails has failed."""
        if more.status != "ok":
            return replace(self, measurement=replace(more, samples_ms=()))
        samples = self.measurement.samples_ms + more.samples_ms
        return replace(self, measurement=replace(self.measurement, samples_ms=samples))


def best_of(evaluations: list[Evaluation]) -> Evaluation | None:
    """The fastest that is not known to be unstable; an unstable one only if there is no other."""
    working = [e for e in evaluations if e.ok]
    steady = [e for e in working if e.stable is not False]
    return min(steady or working, key=lambda e: (e.time_ms, e.row), default=None)


def contenders(evaluations: list[Evaluation], most: int, margin: float) -> list[Evaluation]:
    """Those that could still be the best: within the margin, and intervals that overlap."""
    best = best_of(evaluations)
    if best is None or best.time_ms is None:
        return []
    limit = best.interval_ms()
    found = []
    for e in sorted((e for e in evaluations if e.ok), key=lambda e: (e.time_ms, e.row)):
        assert e.time_ms is not None
        own = e.interval_ms()
        if e is not best and limit and own and own[0] > limit[1]:
            continue
        if e.time_ms <= best.time_ms * (1 + margin):
            found.append(e)
    return found[:most]
