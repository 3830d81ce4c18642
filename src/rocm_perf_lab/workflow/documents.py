"""Findings put together into the files a user gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab.analyze.evidence import analyze_traces_alone
from rocm_perf_lab.analyze.runtime import Stability
from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding
from rocm_perf_lab.arch.gpu import Gpu
from rocm_perf_lab.collect.run_folder import DOCUMENTS, write_file
from rocm_perf_lab.schema import analysis, dag, profile, roofline, thread_trace, timeline
from rocm_perf_lab.schema.common import Document, Provenance, to_json
from rocm_perf_lab.workflow.findings import Findings
from rocm_perf_lab.workflow.profile_document import (
    profile_document,
    profile_without_runs,
    profile_without_trace,
)
from rocm_perf_lab.workflow.provenance import provenance


@dataclass(frozen=True)
class Documents:
    profile: profile.ProfileDocument
    roofline: roofline.RooflineDocument | None = None
    dag: dag.DagDocument | None = None
    analysis: analysis.AnalysisDocument | None = None
    thread_trace: thread_trace.ThreadTraceDocument | None = None
    timeline: timeline.TimelineDocument | None = None

    def files(self) -> Mapping[str, Document]:
        found = {name: getattr(self, field) for field, name in DOCUMENTS.items()}
        return {name: document for name, document in found.items() if document is not None}


def write_documents(documents: Documents, folder: Path) -> None:
    for name, document in documents.files().items():
        write_file(folder / name, to_json(document))


def to_documents(findings: Findings, provenance: Provenance) -> Documents:
    on_graph = {kernel.name: kernel for kernel in findings.dag.kernels if not kernel.is_copy}
    shown = profile_document(findings, on_graph, provenance)
    summaries = {name: thread_trace.to_summary(att) for name, att in findings.att_of.items()}
    profiled = {kernel.kernel.name: kernel for kernel in shown.kernels}
    errors = {name: kernel.modelled_error for name, kernel in profiled.items()}
    return Documents(
        profile=shown,
        roofline=roofline.to_document(findings.roofline, provenance, findings.tables, errors),
        dag=dag.to_document(findings.dag, provenance, shown.modelled_error),
        analysis=analysis.to_document(
            findings.kernels, provenance, profiled, summaries, findings.notes
        ),
        thread_trace=(
            thread_trace.to_document(findings.att, provenance, errors) if findings.att else None
        ),
        timeline=(
            timeline.to_document(findings.dag.timeline, provenance, shown.modelled_error)
            if findings.dag.timeline is not None and not findings.serialised
            else None
        ),
    )


def host_timed_document(wall: Stability, made: Provenance, notes: Sequence[str] = ()) -> Documents:
    return Documents(profile_without_trace(wall, made, notes))


def thread_trace_documents(att: Sequence[ThreadTraceFinding], gpu: Gpu | None) -> Documents:
    """Thread traces alone: what they say of their kernels, and nothing of times."""
    made = provenance([], None, gpu)
    return Documents(
        profile=profile_without_runs(analyze_traces_alone(att, gpu), gpu, made),
        thread_trace=thread_trace.to_document(att, made),
    )
