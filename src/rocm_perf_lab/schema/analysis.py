"""analysis.json: a verdict for each kernel, with the numbers it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from rocm_perf_lab.analyze.evidence import KernelAnalysis
from rocm_perf_lab.analyze.gain import Gain
from rocm_perf_lab.analyze.kernel_class import KernelClass, kernel_class
from rocm_perf_lab.analyze.rules import Confidence, Label
from rocm_perf_lab.analyze.thread_trace.finding import ThreadTraceSummary
from rocm_perf_lab.arch.modelled_error import ModelledError
from rocm_perf_lab.arch.occupancy import Occupancy
from rocm_perf_lab.schema.common import Document, Model, Provenance
from rocm_perf_lab.schema.profile import KernelProfile

NO_SIZE = "the trace holds no launch size that is possible"


class EvidenceItem(Model):
    metric: str
    words: str = Field(description="what the metric is called in a sentence")
    text: str = Field(description="the whole as a sentence")
    value: float | None
    unit: str
    relation: Literal["<", "<=", ">", ">="]
    threshold: float
    holds: bool | None = Field(description="null: the value is not known")
    source: str
    reason: str | None = Field(description="why the value is null")


class KernelVerdict(Model):
    kernel: str
    kind: KernelClass
    grid: tuple[int, int, int] | None = Field(
        description="work-items, of the shape that was judged; null: no possible size recorded"
    )
    block: tuple[int, int, int] | None
    dispatches: int = Field(description="per run, as in profile.json")
    time_ms: float = Field(description="sum over its dispatches, all shapes, as in profile.json")
    bottleneck: Label
    rule: str | None = Field(description="`rocm-perf explain RULE` says what it means")
    confidence: Confidence
    meaning: str
    evidence: list[EvidenceItem]
    next_steps: list[str]
    also: list[str] = Field(description="other rules that hold as well")
    missing: list[str] = Field(description="what was not measured and would tell more")
    doubts: list[str] = Field(
        default=[], description="why the thread trace may not stand for the kernel"
    )
    gain: Gain | None = Field(default=None, description="of mending it, at most")
    remarks: list[str] = Field(
        default=[], description="what else was seen: costly loads, lines that waves are idle before"
    )

    operational_intensity: float | None
    roofline_position: Literal["memory_bound", "compute_bound"] | None
    fraction_of_roof: float | None
    occupancy_theoretical: float | None
    occupancy_limiter: str | None
    occupancy: Occupancy
    detailed_fraction: float | None = Field(
        default=None,
        description="of a modelled kernel, how much was simulated; the rest is extrapolated",
    )
    modelled_error: ModelledError | None = Field(
        default=None, description="of a launch's time, as in profile.json; null on hardware"
    )
    critical_path_score: float | None
    thread_trace: ThreadTraceSummary | None
    reasons: dict[str, str] = Field(description="field -> why it is null")


class AnalysisDocument(Document):
    kernels: list[KernelVerdict]
    notes: list[str]


def to_document(
    analyses: Sequence[KernelAnalysis],
    provenance: Provenance,
    profiled: Mapping[str, KernelProfile],
    traced: Mapping[str, ThreadTraceSummary],
    notes: Sequence[str] = (),
) -> AnalysisDocument:
    """`profiled` and `traced` are by kernel name."""
    return AnalysisDocument(
        provenance=provenance,
        kernels=[
            _kernel(a, profiled[a.name], traced.get(a.name)) for a in analyses if a.name in profiled
        ],
        notes=list(notes),
    )


def _kernel(
    a: KernelAnalysis, profiled: KernelProfile, traced: ThreadTraceSummary | None
) -> KernelVerdict:
    path, grid = profiled.critical_path, profiled.kernel.grid
    reasons = {}
    if a.roofline is not None and a.roofline.reason:
        reasons["roofline_position"] = a.roofline.reason
    if a.occupancy.reason:
        reasons["occupancy_theoretical"] = a.occupancy.reason
    if path.critical_path_score is None and path.reason:
        reasons["critical_path_score"] = path.reason
    if traced is None:
        reasons["thread_trace"] = "no thread trace of this kernel"
    if grid is None:
        reasons["grid"] = NO_SIZE
    intensity = a.roofline.operational_intensity if a.roofline else None
    if intensity is None and a.roofline is not None:
        fabric = a.roofline.levels.get("fabric")
        counted = fabric.reason if fabric else None
        why = a.roofline.reasons.get("flops") or counted or a.roofline.reason
        reasons["operational_intensity"] = why or "not counted"
    return KernelVerdict.of(
        a.verdict,
        bottleneck=a.verdict.label,
        evidence=[EvidenceItem.of(e, text=str(e)) for e in a.verdict.evidence],
        remarks=a.remarks,
        gain=a.gain,
        kernel=a.name,
        kind=kernel_class(a.name),
        grid=grid,
        block=profiled.kernel.block,
        dispatches=profiled.dispatches,
        time_ms=profiled.total_ms,
        operational_intensity=intensity,
        roofline_position=a.roofline.roofline_position if a.roofline else None,
        fraction_of_roof=a.roofline.fraction_of_roof if a.roofline else None,
        occupancy_theoretical=a.occupancy.theoretical,
        occupancy_limiter=a.occupancy.limiter,
        occupancy=a.occupancy,
        detailed_fraction=profiled.detailed_fraction,
        modelled_error=profiled.modelled_error,
        critical_path_score=path.critical_path_score,
        thread_trace=traced,
        reasons=reasons,
    )
