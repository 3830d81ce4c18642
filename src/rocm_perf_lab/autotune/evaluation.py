"""What became of one configuration, and the statistics of repeated measurement."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from rocm_perf_lab.autotune.space import Configuration
from rocm_perf_lab.statistics import coefficient_of_variation, mean_interval95, median

UNSTABLE_CV = 0.10
STATUSES = (
    "ok", "invalid", "build_failed", "failed", "timeout", "wrong", "out_of_resources", "ruled_out",
)  # fmt: skip


@dataclass(frozen=True)
class Measurement:
    """One attempt: samples of the metric, or why there are none."""

    status: str  # one of STATUSES
    samples: tuple[float, ...] = ()
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
        return self.measurement.status == "ok" and bool(self.measurement.samples)

    @property
    def value(self) -> float | None:
        """The median: one disturbed run does not move it."""
        return median(self.measurement.samples) if self.ok else None

    @property
    def cv(self) -> float | None:
        return coefficient_of_variation(self.measurement.samples)

    @property
    def stable(self) -> bool | None:
        """None: measured once, nothing is known about its spread."""
        return None if self.cv is None else self.cv <= UNSTABLE_CV

    def interval95(self) -> tuple[float, float] | None:
        """95 % confidence interval of the mean."""
        return mean_interval95(self.measurement.samples)

    def with_more(self, more: Measurement) -> Evaluation:
        """After re-measurement. A leader that now fails has failed."""
        if more.status != "ok":
            return replace(self, measurement=replace(more, samples=()))
        samples = self.measurement.samples + more.samples
        return replace(self, measurement=replace(self.measurement, samples=samples))


def best_of(evaluations: list[Evaluation]) -> Evaluation | None:
    """The fastest that is not known to be unstable; an unstable one only if there is no other."""
    working = [e for e in evaluations if e.ok]
    steady = [e for e in working if e.stable is not False]
    return min(steady or working, key=lambda e: (e.value, e.row), default=None)


def contenders(evaluations: list[Evaluation], most: int, margin: float) -> list[Evaluation]:
    """Those that could still be the best: within the margin, and intervals that overlap."""
    best = best_of(evaluations)
    if best is None or best.value is None:
        return []
    limit = best.interval95()
    found = []
    for e in sorted((e for e in evaluations if e.ok), key=lambda e: (e.value, e.row)):
        assert e.value is not None
        own = e.interval95()
        if e is not best and limit and own and own[0] > limit[1]:
            continue
        if e.value <= best.value * (1 + margin):
            found.append(e)
    return found[:most]
