"""thread_trace.json, and the shorter section of it that analysis.json carries."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from rocm_perf_lab.analyze.thread_trace.classes import CLASSES
from rocm_perf_lab.analyze.thread_trace.finding import ThreadTraceFinding
from rocm_perf_lab.schema.common import Document, Model, Provenance


class Totals(Model):
    name: str
    hit: int
    latency: int = Field(description="cycles from first attempt to issue until done")
    stall: int
    idle: int = Field(description="cycles between the end of the instruction before and this one")


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


class Agreement(Model):
    """Our sums over the waves against the profiler's own."""

    source: str
    lines_compared: int
    lines_equal: int
    hit_difference: int
    latency_difference: int
    stall_difference: int
    idle_difference: int


class WaitsFor(Model):
    number: int
    isa: str
    source: str | None
    kind: str
    cycles: float
    share: float
    inferred: bool


class StallSite(Model):
    number: int
    vaddr: int
    isa: str
    source: str | None
    kind: str
    reason: str
    hit: int
    cycles: int
    share: float
    waits_for: list[WaitsFor]


class ExposedLatency(Model):
    number: int
    isa: str
    source: str | None
    kind: str
    hit: int
    cycles: float
    cycles_per_hit: float
    share: float


class Access(Model):
    """A vector memory instruction worth a remark."""

    number: int
    isa: str
    source: str | None
    bytes_per_lane: int
    kinds: list[str] = Field(description="narrow, uncoalesced, repeated")
    remark: str
    hit: int
    cycles: float = Field(description="lost issuing it, and at waits for it")
    share: float


class Cause(Model):
    name: str = Field(description="a field of fractions")
    words: str
    share: float


class Fractions(Model):
    """Shares of all cycles of traced waves; docs/thread-trace.md defines each."""

    wait_vmem: float
    wait_lds: float
    wait_smem: float
    wait_other: float
    wait_unresolved: float
    barrier: float
    delay: float
    end_of_wave: float
    stall_mfma: float
    stall_valu: float
    stall_vmem: float
    stall_lds: float
    stall_smem: float
    stall_salu: float
    stall_other: float
    issue: float
    between: float
    exec_state: float | None
    wait_state: float | None
    stall_state: float | None
    idle_state: float | None


class WaveDurations(Model):
    waves: int
    total_cycles: int
    min_cycles: int
    median_cycles: float
    mean_cycles: float
    max_cycles: int


class EngineOccupancy(Model):
    se: int
    begin: int
    end: int
    waves_started: int
    simds_seen: int
    mean_waves: float
    peak_waves: int
    mean_waves_per_simd: float
    peak_waves_per_simd: int
    curve: list[tuple[int, float]] = Field(description="start of a stretch, mean waves in it")


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
    waves: WaveDurations | None
    waves_missing: int
    state_cycles: dict[str, int] | None
    fractions: Fractions | None
    causes: list[Cause] = Field(description="of lost time, the largest first")
    stall_sites: list[StallSite]
    accesses: list[Access] = Field(description="narrow, uncoalesced and repeated loads")
    exposed_latency: list[ExposedLatency]
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


class ThreadTraceDocument(Document):
    """One entry per traced dispatch."""

    traces: list[ThreadTraceDetail]


def to_summary(finding: ThreadTraceFinding) -> ThreadTraceSummary:
    """The section of analysis.json."""
    return ThreadTraceSummary.of(finding)


def to_document(
    findings: Sequence[ThreadTraceFinding], provenance: Provenance
) -> ThreadTraceDocument:
    traces = [ThreadTraceDetail.of(f, instructions=_instructions(f)) for f in findings]
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
