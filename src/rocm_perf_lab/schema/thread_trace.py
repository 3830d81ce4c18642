"""thread_trace.json, and the shorter section of it that analysis.json carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from rocm_perf_lab.analyze.thread_trace.classes import CLASSES
from rocm_perf_lab.analyze.thread_trace.finding import (
    Access,
    Cause,
    ExposedLatency,
    Fractions,
    StallSite,
    ThreadTraceFinding,
    Totals,
)
from rocm_perf_lab.analyze.thread_trace.residency import EngineOccupancy, WaveDurations
from rocm_perf_lab.analyze.thread_trace.sums import Agreement
from rocm_perf_lab.analyze.thread_trace.traffic import Traffic
from rocm_perf_lab.arch.modelled_error import ModelledError
from rocm_perf_lab.schema.common import Document, Model, Provenance


class Instruction(Model):
    number: int = Field(description="the profiler's line number")
    codeobj: int
    vaddr: int
    isa: str
    source: str | None
    kernel: int | None = Field(description="index into kernels")
    kind: str
    hit: int
    latency: int
    stall: int
    idle: int


class ThreadTraceSummary(Model):
    folder: str
    kernel: str | None = Field(description="the kernel it was recorded for")
    symbols: list[str] = Field(description="labels of the code that was executed")
    agent_handle: int | None
    dispatch_id: int | None
    gfxip: int | None
    usable: bool
    reason: str | None
    hint: str | None
    duration_means: str
    sums_from: str
    kernels: list[Totals]
    classes: list[Totals]
    without_line: Totals
    agreement: list[Agreement]
    lines_of_kernel: int | None = Field(
        default=None, description="instructions of the kernel it was recorded for"
    )
    lines_executed: int | None = Field(
        default=None, description="of them, those that a traced wave ran"
    )
    span_cycles: int | None = Field(
        default=None, description="from the first begin of a traced wave to the last end"
    )
    waves: WaveDurations | None
    waves_missing: int
    state_cycles: dict[str, int] | None
    fractions: Fractions | None
    causes: list[Cause] = Field(description="of lost time, the largest first")
    stall_sites: list[StallSite]
    accesses: list[Access] = Field(description="narrow, uncoalesced and repeated loads")
    exposed_latency: list[ExposedLatency]
    traffic: Traffic | None = Field(
        default=None, description="what the executed loads and stores asked for, per lane"
    )
    fetch_of_between: float | None = Field(
        default=None,
        description="of the time between instructions, that before entering another 64 B of code",
    )
    waits_recorded_share: float | None
    waits_inferred_share: float | None
    issue_utilisation: float | None
    valu_issue_utilisation: float | None
    mfma_issue_utilisation: float | None
    mfma_pipe_utilisation: float | None = Field(
        description="estimate: matrix instructions x cycles of each, over the traced SIMDs' time"
    )
    mean_waves_per_simd: float | None
    peak_waves_per_simd: int | None
    shader_mhz: float | None
    reasons: dict[str, str]
    notes: list[str]


class ThreadTraceDetail(ThreadTraceSummary):
    occupancy: list[EngineOccupancy]
    source_lines: list[Totals]
    instructions: list[Instruction]
    modelled_error: ModelledError | None = Field(
        default=None, description="of the kernel's time, as in profile.json; null on hardware"
    )


class ThreadTraceDocument(Document):
    """One entry per traced dispatch."""

    traces: list[ThreadTraceDetail]


def to_summary(finding: ThreadTraceFinding) -> ThreadTraceSummary:
    """The section of analysis.json."""
    return ThreadTraceSummary.of(finding)


def to_document(
    findings: Sequence[ThreadTraceFinding],
    provenance: Provenance,
    errors: Mapping[str, ModelledError | None] | None = None,
) -> ThreadTraceDocument:
    """`errors` are by kernel name."""
    traces = [
        ThreadTraceDetail.of(
            f, instructions=_instructions(f), modelled_error=(errors or {}).get(f.kernel or "")
        )
        for f in findings
    ]
    return ThreadTraceDocument(provenance=provenance, traces=traces)


def _instructions(finding: ThreadTraceFinding) -> list[Instruction]:
    lines = finding.lines
    columns = (lines.number, lines.codeobj, lines.vaddr, lines.kernel, lines.kind)
    return [
        Instruction(
            number=number,
            codeobj=codeobj,
            vaddr=vaddr,
            isa=isa,
            source=source or None,
            kernel=kernel if kernel >= 0 else None,
            kind=CLASSES[kind],
            hit=hit,
            latency=latency,
            stall=stall,
            idle=idle,
        )
        for isa, source, number, codeobj, vaddr, kernel, kind, hit, latency, stall, idle in zip(
            lines.isa,
            lines.source,
            *(column.tolist() for column in (*columns, *lines.sums.columns())),
            strict=True,
        )
    ]
