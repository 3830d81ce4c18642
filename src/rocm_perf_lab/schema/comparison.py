"""comparison.json: two measurements side by side, and the gates they passed or failed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm_perf_lab.schema.common import DeviceInfo, Document, Model

Verdict = Literal["faster", "slower", "same", "inconclusive"]


class Side(Model):
    name: str = Field(description="as given on the command line")
    kind: Literal["run", "traces", "timings"]
    device: DeviceInfo
    runs: int
    runtime_ms: float | None


class Compared(Model):
    """B against A. speedup is time of A over time of B, per call: above 1, B is faster."""

    verdict: Verdict
    speedup: float | None
    speedup_interval: tuple[float | None, float | None] | None = Field(
        description="null: too few samples for one; a null end: not known yet"
    )
    pairs: int = Field(description="samples of the shorter side")
    method: str = Field(description="pairs, unpaired, modelled, equal, or why there is none")
    modelled: bool = Field(description="computed by the virtual GPU's model, not measured")
    reason: str


class Change(Model):
    name: str
    a: float | str | None
    b: float | str | None


class KernelCompared(Model):
    kernel: str
    present: Literal["both", "a", "b"] = Field(description="a: it is gone; b: it is new")
    calls_a: int
    calls_b: int
    total_ms_a: float = Field(description="per run, median over runs")
    total_ms_b: float
    time: Compared | None
    changes: list[Change] = Field(description="resources, occupancy, roofline, verdict: what moved")


class GateOutcome(Model):
    rule: str
    outcome: Literal["passed", "failed", "undecided"]
    reason: str


class ComparisonDocument(Document):
    a: Side
    b: Side
    min_speedup: float = Field(description="differences below it count as none")
    confidence: float
    runtime: Compared
    kernels: list[KernelCompared] = Field(description="largest total time first")
    gates: list[GateOutcome]
    notes: list[str]
