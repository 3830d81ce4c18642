"""thread_trace.json, and the shorter section of it that analysis.json carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from pydantic import Field

from rocm_perf_lab.analyze.thread_trace.classes import CLASSES
from rocm_perf_lab.analyze.thread_trace.finding import (
    ThreadTraceFinding,
    ThreadTraceSummary,
    Totals,
)
from rocm_perf_lab.analyze.thread_trace.residency import EngineOccupancy
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


@dataclass(frozen=True, kw_only=True)
class ThreadTraceDetail(ThreadTraceSummary):
    occupancy: tuple[EngineOccupancy, ...]
    source_lines: tuple[Totals, ...]
    instructions: list[Instruction]
    modelled_error: ModelledError | None = field(
        default=None,
        metadata={"description": "of the kernel's time, as in profile.json; null on hardware"},
    )


class ThreadTraceDocument(Document):
    """One entry per traced dispatch."""

    traces: list[ThreadTraceDetail]


class _Section(Model):
    """Made of a finding: its numbers become plain ones, and what only it has is left out."""

    trace: ThreadTraceSummary


def to_summary(finding: ThreadTraceFinding) -> ThreadTraceSummary:
    """The section of analysis.json."""
    return _Section(trace=finding).trace


def to_document(
    findings: Sequence[ThreadTraceFinding],
    provenance: Provenance,
    errors: Mapping[str, ModelledError | None] | None = None,
) -> ThreadTraceDocument:
    """`errors` are by kernel name."""
    traces = [_detail(found, (errors or {}).get(found.kernel or "")) for found in findings]
    return ThreadTraceDocument(provenance=provenance, traces=traces)


def _detail(found: ThreadTraceFinding, error: ModelledError | None) -> ThreadTraceDetail:
    shown = {field.name: getattr(found, field.name) for field in fields(ThreadTraceSummary)}
    return ThreadTraceDetail(
        **shown,
        occupancy=found.occupancy,
        source_lines=found.source_lines,
        instructions=_instructions(found),
        modelled_error=error,
    )


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
