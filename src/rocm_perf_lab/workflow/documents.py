"""Findings put together into the files a user gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rocm_perf_lab.analyze.evidence import KernelAnalysis
from rocm_perf_lab.analyze.graph import DagFinding, KernelOnGraph
from rocm_perf_lab.analyze.roofline import KernelRoofline, RooflineFinding
from rocm_perf_lab.analyze.runtime import KernelTimes, Runtime, Stability
from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding
from rocm_perf_lab.arch.model import Gpu
from rocm_perf_lab.collect.run_folder import write_file
from rocm_perf_lab.schema import analysis, dag, profile, roofline, thread_trace
from rocm_perf_lab.schema.common import Document, Provenance, to_json
from rocm_perf_lab.trace.model import Agent
from rocm_perf_lab.workflow.provenance import gpu_name

SERIALISED = "only counter runs were given, and counting serialises dispatches"


@dataclass(frozen=True)
class Findings:
    times: Runtime
    gpu: Gpu | None
    agent: Agent | None
    roofline: RooflineFinding
    dag: DagFinding
    kernels: tuple[KernelAnalysis, ...]
    att: tuple[ThreadTraceFinding, ...]
    att_of: Mapping[str, ThreadTraceFinding]  # by kernel name
    serialised: bool  # times come from counter runs
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Documents:
    profile: profile.ProfileDocument
    roofline: roofline.RooflineDocument | None = None
    dag: dag.DagDocument | None = None
    analysis: analysis.AnalysisDocument | None = None
    thread_trace: thread_trace.ThreadTraceDocument | None = None

    def files(self) -> Mapping[str, Document]:
        named = {
            "profile.json": self.profile,
            "roofline.json": self.roofline,
            "dag.json": self.dag,
            "analysis.json": self.analysis,
            "thread_trace.json": self.thread_trace,
        }
        return {name: document for name, document in named.items() if document is not None}


def write_documents(documents: Documents, folder: Path) -> None:
    for name, document in documents.files().items():
        write_file(folder / name, to_json(document))


def to_documents(findings: Findings, provenance: Provenance) -> Documents:
    on_graph = {kernel.name: kernel for kernel in findings.dag.kernels if not kernel.is_copy}
    scores = {
        name: None if findings.serialised else kernel.critical_path_score
        for name, kernel in on_graph.items()
    }
    return Documents(
        profile=_profile(findings, on_graph, provenance),
        roofline=roofline.to_document(findings.roofline, provenance),
        dag=dag.to_document(findings.dag, provenance),
        analysis=analysis.to_document(
            findings.kernels,
            provenance,
            scores,
            {name: thread_trace.to_summary(att) for name, att in findings.att_of.items()},
            findings.notes,
        ),
        thread_trace=(thread_trace.to_document(findings.att, provenance) if findings.att else None),
    )


def host_timed_document(wall: Stability, provenance: Provenance) -> Documents:
    """Without a profiler only the host's clock speaks; whatever needs a trace is null."""
    why = "no trace: --no-rocprof"
    fields = (
        "kernel runtime_ms stability resources occupancy roofline critical_path bottleneck timeline"
    )
    return Documents(
        profile.ProfileDocument(
            provenance=provenance,
            kernel=None,
            kernel_selection=why,
            gpu=profile.GpuInfo(
                architecture=None,
                name=None,
                wave_size=None,
                compute_units=None,
                theoretical_peak_flops=None,
            ),
            runtime_ms=None,
            runtime_source=why,
            host_wall_ms=wall.median_ms,
            host_wall_stability=_stability(wall),
            stability=None,
            resources=None,
            occupancy=None,
            roofline=None,
            critical_path=None,
            bottleneck=None,
            timeline=None,
            kernels=[],
            reasons=dict.fromkeys(fields.split(), why),
            notes=["Host time includes process start, initialisation and copies."],
        )
    )


def _profile(
    findings: Findings, on_graph: Mapping[str, KernelOnGraph], provenance: Provenance
) -> profile.ProfileDocument:
    times, gpu, agent = findings.times, findings.gpu, findings.agent
    assert times.dominant is not None
    roofs: dict[str, KernelRoofline] = {}
    for roof in findings.roofline.kernels:  # longest first: a name's main shape is met first
        roofs.setdefault(roof.key.name, roof)
    judged = {kernel.name: kernel for kernel in findings.kernels}
    kernels = [
        _kernel(k, judged.get(k.name), roofs.get(k.name), on_graph.get(k.name), findings.serialised)
        for k in times.kernels
    ]
    dominant = kernels[times.dominant]
    reasons = {}
    if findings.serialised:
        reasons["timeline"] = SERIALISED
    return profile.ProfileDocument(
        provenance=provenance,
        kernel=dominant.kernel,
        kernel_selection=times.selection,
        gpu=profile.GpuInfo(
            architecture=agent.architecture if agent else None,
            name=gpu_name(agent, gpu),
            wave_size=gpu.wave_size if gpu else None,
            compute_units=gpu.cu_count if gpu else None,
            theoretical_peak_flops=gpu.theoretical_peak_flops if gpu else None,
        ),
        runtime_ms=times.runtime_ms,
        runtime_source=(
            "dispatch timestamps of counter runs (serialised)"
            if findings.serialised
            else "dispatch timestamps"
        ),
        stability=_stability(times.stability) if times.stability else None,
        resources=dominant.resources,
        occupancy=dominant.occupancy,
        roofline=dominant.roofline,
        critical_path=dominant.critical_path,
        bottleneck=dominant.bottleneck,
        timeline=None if findings.serialised else _timeline(findings.dag),
        thread_trace=_thread_trace(findings, dominant.kernel.name),
        kernels=kernels,
        reasons=reasons,
        notes=list(findings.notes),
    )


def _kernel(
    times: KernelTimes,
    judged: KernelAnalysis | None,
    roof: KernelRoofline | None,
    on_graph: KernelOnGraph | None,
    serialised: bool,
) -> profile.KernelProfile:
    return profile.KernelProfile(
        kernel=profile.KernelIdentity(name=times.name, grid=times.grid, block=times.workgroup),
        launch_shapes=times.launch_shapes,
        helper=times.helper,
        dispatches=times.dispatches,
        runtime_ms=times.total_ms,
        total_ms=times.total_ms,
        share=times.share,
        dispatch=profile.DispatchStatistics(
            min_ms=times.min_ms,
            median_ms=times.median_ms,
            mean_ms=times.mean_ms,
            max_ms=times.max_ms,
            stddev_ms=times.stddev_ms,
        ),
        stability=_stability(times.stability),
        resources=_resources(times),
        occupancy=_occupancy(times, judged),
        roofline=_roofline(roof),
        critical_path=_critical_path(on_graph, serialised),
        bottleneck=_bottleneck(judged),
    )


def _thread_trace(findings: Findings, dominant: str) -> thread_trace.ThreadTraceSummary | None:
    found = findings.att_of.get(dominant) or next(iter(findings.att), None)
    return thread_trace.to_summary(found) if found else None


def _stability(stability: Stability) -> profile.Stability:
    return profile.Stability.model_validate(asdict(stability))


def _resources(times: KernelTimes) -> profile.Resources:
    symbol = times.symbol
    return profile.Resources(
        vgpr_per_thread=symbol.arch_vgprs,
        agpr_per_thread=symbol.accum_vgprs,
        total_vgpr_per_thread=symbol.total_vgprs,
        sgpr_per_wave=symbol.sgprs,
        lds_bytes=times.lds_bytes if times.lds_bytes >= 0 else symbol.static_lds_bytes,
        scratch_bytes=times.scratch_bytes if times.scratch_bytes >= 0 else symbol.scratch_bytes,
        notes=list(symbol.corrections),
    )


def _occupancy(times: KernelTimes, judged: KernelAnalysis | None) -> profile.Occupancy:
    threads = times.workgroup[0] * times.workgroup[1] * times.workgroup[2]
    if judged is None:
        return profile.Occupancy(
            theoretical=None,
            limiter=None,
            waves_per_simd=None,
            threads_per_block=threads,
            wave_size=None,
            reason="this kernel did not run in the run that was analysed",
        )
    found = judged.occupancy
    return profile.Occupancy(
        theoretical=found.theoretical,
        limiter=found.limiter,
        waves_per_simd=found.waves_per_simd,
        threads_per_block=found.threads_per_block or threads,
        wave_size=found.wave_size,
        reason=found.reason,
    )


def _roofline(roof: KernelRoofline | None) -> profile.RooflineSummary:
    return profile.RooflineSummary(
        operational_intensity=roof.operational_intensity if roof else None,
        achieved_gflops=roof.achieved_gflops if roof else None,
        achieved_bandwidth_gbps=roof.achieved_bandwidth_gbps if roof else None,
        roofline_position=roof.roofline_position if roof else None,
        fraction_of_roof=roof.fraction_of_roof if roof else None,
        reason=roof.reason if roof else "this kernel was not counted",
    )


def _critical_path(kernel: KernelOnGraph | None, serialised: bool) -> profile.CriticalPathSummary:
    if kernel is None or serialised:
        return profile.CriticalPathSummary(
            critical_path_score=None,
            slack_ns=None,
            drag_ns=None,
            reason=SERIALISED if serialised else "this kernel is not on the dispatch graph",
        )
    return profile.CriticalPathSummary(
        critical_path_score=kernel.critical_path_score,
        slack_ns=kernel.slack_ns,
        drag_ns=kernel.drag_ns,
        reason="; ".join(kernel.reasons.values()) or None,
    )


def _bottleneck(judged: KernelAnalysis | None) -> profile.BottleneckSummary:
    if judged is None:
        return profile.BottleneckSummary(
            bottleneck="unknown", confidence="none", evidence=[], next_steps=[]
        )
    verdict = judged.verdict
    return profile.BottleneckSummary(
        bottleneck=verdict.label,
        confidence=verdict.confidence,
        evidence=[str(item) for item in verdict.evidence if item.holds]
        if verdict.rule
        else [verdict.meaning, *_missing(verdict.missing)],
        next_steps=list(verdict.next_steps),
    )


def _missing(sentences: Sequence[str]) -> list[str]:
    """`metric: why` sentences, the metrics with the same reason in one."""
    reasons: dict[str, list[str]] = {}
    for sentence in sentences:
        metric, _, why = sentence.partition(": ")
        reasons.setdefault(why, []).append(metric)
    return [f"{', '.join(metrics)} not known: {why}" for why, metrics in reasons.items()]


def _timeline(found: DagFinding) -> profile.TimelineSummary:
    return profile.TimelineSummary(
        makespan_ms=found.makespan_ns / 1e6,
        critical_path_ms=found.critical_path_ns / 1e6,
        busy_ms=found.device.busy_ns / 1e6,
        coverage=found.coverage,
        replay_error=found.replay_error,
        device_only=found.scope == "device-only",
    )
