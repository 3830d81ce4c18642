"""analysis.json: a verdict for each kernel, with the numbers it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from rocm_perf_lab.analyze.bottleneck import Evidence
from rocm_perf_lab.analyze.evidence import KernelAnalysis
from rocm_perf_lab.analyze.rules import Confidence, Label
from rocm_perf_lab.schema.common import Document, Model, Provenance
from rocm_perf_lab.schema.thread_trace import ThreadTraceSummary


class EvidenceItem(Model):
    metric: str
    value: float | None
    unit: str
    relation: Literal["<", "<=", ">", ">="]
    threshold: float
    holds: bool | None = Field(description="null: the value is not known")
    source: str
    reason: str | None = Field(description="why the value is null")


class KernelVerdict(Model):
    kernel: str
    grid: tuple[int, int, int] = Field(description="work-items, of the shape that was judged")
    block: tuple[int, int, int]
    dispatches: int
    time_ms: float = Field(description="sum over its dispatches, all shapes")
    bottleneck: Label
    rule: str | None = Field(description="`rocm-perf explain RULE` says what it means")
    confidence: Confidence
    meaning: str
    evidence: list[EvidenceItem]
    next_steps: list[str]
    also: list[str] = Field(description="other rules that hold as well")
    missing: list[str] = Field(description="for unknown: what would have been needed")

    operational_intensity: float | None
    roofline_position: Literal["memory_bound", "compute_bound"] | None
    fraction_of_roof: float | None
    occupancy_theoretical: float | None
    occupancy_limiter: str | None
    critical_path_score: float | None
    thread_trace: ThreadTraceSummary | None
    reasons: dict[str, str] = Field(description="field -> why it is null")


class AnalysisDocument(Document):
    kernels: list[KernelVerdict]
    notes: list[str]


def to_document(
    analyses: Sequence[KernelAnalysis],
    provenance: Provenance,
    critical_path_scores: Mapping[str, float | None] | None = None,
    thread_traces: Mapping[str, ThreadTraceSummary] | None = None,
    notes: Sequence[str] = (),
) -> AnalysisDocument:
    """`critical_path_scores` and `thread_traces` are by kernel name."""
    scores, traces = critical_path_scores or {}, thread_traces or {}
    return AnalysisDocument(
        provenance=provenance,
        kernels=[_kernel(a, scores.get(a.name), traces.get(a.name)) for a in analyses],
        notes=list(notes),
    )


def _kernel(
    a: KernelAnalysis, score: float | None, thread_trace: ThreadTraceSummary | None
) -> KernelVerdict:
    reasons = {}
    if a.roofline is not None and a.roofline.reason:
        reasons["roofline_position"] = a.roofline.reason
    if a.occupancy.reason:
        reasons["occupancy_theoretical"] = a.occupancy.reason
    if score is None:
        reasons["critical_path_score"] = "not on the dispatch graph"
    if thread_trace is None:
        reasons["thread_trace"] = "no thread trace of this kernel"
    intensity = a.roofline.operational_intensity if a.roofline else None
    if intensity is None and a.roofline is not None:
        hbm = a.roofline.levels.get("hbm")
        why = a.roofline.reasons.get("flops") or (hbm.reason if hbm else None) or a.roofline.reason
        reasons["operational_intensity"] = why or "not counted"
    return KernelVerdict(
        bottleneck=a.verdict.label,
        rule=a.verdict.rule,
        confidence=a.verdict.confidence,
        meaning=a.verdict.meaning,
        evidence=[_evidence(e) for e in a.verdict.evidence],
        next_steps=list(a.verdict.next_steps),
        also=list(a.verdict.also),
        missing=list(a.verdict.missing),
        kernel=a.name,
        grid=a.key.grid,
        block=a.key.workgroup,
        dispatches=a.launch.dispatches,
        time_ms=a.launch.total_ns / 1e6,
        operational_intensity=intensity,
        roofline_position=a.roofline.roofline_position if a.roofline else None,
        fraction_of_roof=a.roofline.fraction_of_roof if a.roofline else None,
        occupancy_theoretical=a.occupancy.theoretical,
        occupancy_limiter=a.occupancy.limiter,
        critical_path_score=score,
        thread_trace=thread_trace,
        reasons=reasons,
    )


def _evidence(e: Evidence) -> EvidenceItem:
    return EvidenceItem.model_validate(
        {
            "metric": e.metric,
            "value": e.value,
            "unit": e.unit,
            "relation": e.relation,
            "threshold": e.threshold,
            "holds": e.holds,
            "source": e.source,
            "reason": e.reason,
        }
    )
