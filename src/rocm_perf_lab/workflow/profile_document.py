"""profile.json: the summary of everything found out, and what is left of it without a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rocm_perf_lab.analyze.bottleneck import Verdict
from rocm_perf_lab.analyze.evidence import KernelAnalysis, TraceAnalysis
from rocm_perf_lab.analyze.gain import Gain
from rocm_perf_lab.analyze.graph import DagFinding, KernelOnGraph
from rocm_perf_lab.analyze.keys import possible
from rocm_perf_lab.analyze.occupancy import grid_waves_per_simd
from rocm_perf_lab.analyze.roofline import KernelRoofline
from rocm_perf_lab.analyze.runtime import KernelTimes, Stability
from rocm_perf_lab.analyze.thread_trace.finding import ThreadTraceSummary
from rocm_perf_lab.arch.gpu import Gpu
from rocm_perf_lab.arch.modelled_error import ErrorClass, ModelledError, model_errors
from rocm_perf_lab.arch.occupancy import Occupancy, unknown_occupancy
from rocm_perf_lab.schema import analysis, profile, roofline, thread_trace
from rocm_perf_lab.schema.common import Provenance
from rocm_perf_lab.trace.trace import Agent
from rocm_perf_lab.workflow.findings import NOT_RUN, SERIALISED, Findings
from rocm_perf_lab.workflow.provenance import gpu_name
from rocm_perf_lab.workflow.run_document import where_document


def profile_document(
    findings: Findings,
    on_graph: Mapping[str, KernelOnGraph],
    provenance: Provenance,
) -> profile.ProfileDocument:
    times, gpu, agent = findings.times, findings.gpu, findings.agent
    assert times.dominant is not None
    roofs: dict[str, KernelRoofline] = {}
    for roof in findings.roofline.kernels:  # longest first: a name's main shape is met first
        roofs.setdefault(roof.key.name, roof)
    judged = {kernel.name: kernel for kernel in findings.kernels}
    kernels = [
        _kernel(k, judged.get(k.name), roofs.get(k.name), on_graph.get(k.name), findings)
        for k in times.kernels
    ]
    dominant = kernels[times.dominant]
    main_roof = roofs.get(dominant.kernel.name)
    reasons = {}
    if findings.serialised:
        reasons = dict.fromkeys(("timeline", "where_the_time_goes"), SERIALISED)
    elif findings.run_time is None:
        reasons["where_the_time_goes"] = "the trace spans no time"
    shown = _thread_trace(findings, dominant.kernel.name)
    if shown is None and findings.att:
        reasons["thread_trace"] = "none of the thread traces given belongs to a kernel of this run"
    return profile.ProfileDocument(
        provenance=provenance,
        kernel=dominant.kernel,
        kernel_selection=times.selection,
        gpu=_gpu(gpu, agent, main_roof),
        runtime_ms=times.runtime_ms,
        runtime_source=(
            "dispatch timestamps of counter runs (serialised)"
            if findings.serialised
            else "dispatch timestamps"
        ),
        modelled_error=_error(
            findings, dominant.kernel.name, findings.errors.run if findings.errors else None
        ),
        stability=_stability(times.stability, bool(findings.errors)) if times.stability else None,
        resources=dominant.resources,
        occupancy=dominant.occupancy,
        roofline=dominant.roofline,
        critical_path=dominant.critical_path,
        bottleneck=dominant.bottleneck,
        where_the_time_goes=where_document(findings.run_time) if findings.run_time else None,
        timeline=None if findings.serialised else _timeline(findings.dag),
        thread_trace=shown,
        metrics=roofline.metric_rows(findings.tables.get(main_roof.key, ())) if main_roof else [],
        operators=[
            profile.OperatorShare.of(o, device_ms=o.device_ns / 1e6) for o in findings.operators
        ],
        kernels=kernels,
        reasons=reasons,
        notes=list(findings.notes),
    )


def _gpu(gpu: Gpu | None, agent: Agent | None, roof: KernelRoofline | None) -> profile.GpuInfo:
    pipe = (roof.compute_roof_pipe if roof else None) or "valu_f32"
    peak = gpu.datasheet.get(pipe) if gpu else None
    return profile.GpuInfo(
        architecture=(agent.architecture if agent else None) or (gpu.architecture if gpu else None),
        name=gpu_name(agent, gpu),
        wave_size=gpu.wave_size if gpu else None,
        compute_units=gpu.cu_count if gpu else None,
        theoretical_peak_flops=peak.value * 1e9 if peak else None,
        theoretical_peak_type=pipe if peak else None,
    )


def _kernel(
    times: KernelTimes,
    judged: KernelAnalysis | None,
    roof: KernelRoofline | None,
    on_graph: KernelOnGraph | None,
    findings: Findings,
) -> profile.KernelProfile:
    grid: tuple[int, int, int] | None = times.grid
    block: tuple[int, int, int] | None = times.workgroup
    reasons = {}
    if not possible(times.grid, times.workgroup):
        grid = block = None
        reasons = dict.fromkeys(("grid", "block"), analysis.NO_SIZE)
    return profile.KernelProfile.of(
        times,
        kernel=profile.KernelIdentity(name=times.name, grid=grid, block=block),
        helper=times.kind == "runtime",
        runtime_ms=times.total_ms,
        dispatch=profile.DispatchStatistics.of(times),
        stability=_stability(times.stability, bool(findings.errors)),
        resources=_resources(times),
        occupancy=_occupancy(times, judged),
        grid_waves_per_simd=grid_waves_per_simd(findings.gpu, times.grid, times.workgroup),
        roofline=_roofline(roof, findings),
        critical_path=_critical_path(on_graph, findings.serialised),
        bottleneck=_bottleneck(judged),
        detailed_fraction=findings.detailed.get(times.name),
        modelled_error=_error(
            findings, times.name, findings.errors.kernels[times.name] if findings.errors else None
        ),
        reasons=reasons,
    )


def _error(findings: Findings, kernel: str, kind: ErrorClass | None) -> ModelledError | None:
    if kind is None:
        return None
    product = findings.gpu.product if findings.gpu else None
    sampling = findings.sampling_error.get(kernel)
    return replace(model_errors().of(kind, product), sampling=sampling)


def _thread_trace(findings: Findings, dominant: str) -> ThreadTraceSummary | None:
    """The dominant kernel's; else that of the traced kernel with the most time."""
    names = [dominant, *(kernel.name for kernel in findings.times.kernels)]
    traced = [findings.att_of[name] for name in names if name in findings.att_of]
    found = next(iter((*traced, *findings.att)), None)
    return thread_trace.to_summary(found) if found else None


def _stability(stability: Stability, modelled: bool = False) -> Stability:
    # A deterministic model repeats itself: its spread is no evidence of steadiness.
    if modelled and stability.stddev_ms == 0:
        why = "a deterministic model repeats exactly"
        return replace(stability, classification=None, reason=why, repeats_exactly=True)
    return stability


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


def _occupancy(times: KernelTimes, judged: KernelAnalysis | None) -> Occupancy:
    if judged is None:
        return unknown_occupancy(NOT_RUN)
    return judged.occupancy


def _roofline(roof: KernelRoofline | None, findings: Findings) -> profile.RooflineSummary:
    if roof is None:
        return profile.RooflineSummary.unknown(reason="this kernel was not counted")
    fabric = roof.levels.get("fabric")
    return profile.RooflineSummary.of(
        roof,
        compute_roof_type=roof.compute_roof_pipe,
        bandwidth_ceilings_gbps=fabric.ceilings if fabric else {},
        roof_of_the_model=roof.bound_by in findings.roofs_of_the_model,
    )


def _critical_path(kernel: KernelOnGraph | None, serialised: bool) -> profile.CriticalPathSummary:
    if kernel is None or serialised:
        return profile.CriticalPathSummary.unknown(
            reason=SERIALISED if serialised else "this kernel is not on the dispatch graph",
        )
    return profile.CriticalPathSummary.of(kernel, reason="; ".join(kernel.reasons.values()) or None)


def _bottleneck(judged: KernelAnalysis | None) -> profile.BottleneckSummary:
    if judged is None:
        return profile.BottleneckSummary(
            bottleneck="unknown", confidence="none", evidence=[], next_steps=[], missing=[NOT_RUN]
        )
    return _verdict(judged.verdict, judged.remarks, judged.gain)


def _verdict(verdict: Verdict, remarks: Sequence[str], gain: Gain) -> profile.BottleneckSummary:
    shown = [e for e in verdict.evidence if e.holds or e.metric == verdict.just_missed]
    evidence = [str(item) for item in shown] if verdict.rule else []
    return profile.BottleneckSummary.of(
        verdict, bottleneck=verdict.label, evidence=[*evidence, *remarks], gain=gain
    )


def _timeline(found: DagFinding) -> profile.TimelineSummary:
    return profile.TimelineSummary.of(
        found,
        makespan_ms=found.makespan_ns / 1e6,
        critical_path_ms=found.critical_path_ns / 1e6,
        busy_ms=found.device.busy_ns / 1e6,
        device_only=found.scope == "device-only",
    )


# --- what is left without a trace, or without runs --------------------------------------------

_NEEDS_A_TRACE = (
    "kernel runtime_ms stability resources occupancy roofline critical_path bottleneck "
    "where_the_time_goes timeline"
).split()


def profile_without_trace(
    wall: Stability, provenance: Provenance, notes: Sequence[str] = ()
) -> profile.ProfileDocument:
    """Without a profiler only the host's clock speaks; whatever needs a trace is null."""
    why = "no trace: --no-rocprof"
    if provenance.device.kind == "virtual":
        emulated = "The program ran on a virtual GPU: this is the emulation's time, not a GPU's."
        notes = [emulated, *notes]
    return _bare(provenance, None, why, dict.fromkeys(_NEEDS_A_TRACE, why)).model_copy(
        update={
            "host_wall_ms": wall.median_ms,
            "host_wall_stability": _stability(wall),
            "notes": ["Host time includes process start, initialisation and copies.", *notes],
        }
    )


def profile_without_runs(
    judged: TraceAnalysis | None, gpu: Gpu | None, provenance: Provenance
) -> profile.ProfileDocument:
    """Thread traces alone: a verdict on the kernel traced, no times."""
    why = "only a thread trace was given"
    if judged is None:
        return _bare(provenance, gpu, why, dict.fromkeys(_NEEDS_A_TRACE, why))
    found = judged.trace
    reasons = dict.fromkeys((n for n in _NEEDS_A_TRACE if n not in ("kernel", "bottleneck")), why)
    size = "a thread trace does not record the launch size"
    return _bare(provenance, gpu, "the kernel of the thread trace", reasons).model_copy(
        update={
            "kernel": profile.KernelIdentity(name=found.kernel or "", grid=None, block=None),
            "bottleneck": _verdict(judged.verdict, judged.remarks, judged.gain),
            "thread_trace": thread_trace.to_summary(found),
            "reasons": {**reasons, "grid": size, "block": size},
            "notes": list(found.notes),
        }
    )


def _bare(
    provenance: Provenance, gpu: Gpu | None, why: str, reasons: Mapping[str, str]
) -> profile.ProfileDocument:
    device = provenance.device
    return profile.ProfileDocument(
        provenance=provenance,
        kernel=None,
        kernel_selection=why,
        gpu=profile.GpuInfo(
            architecture=device.architecture or (gpu.architecture if gpu else None),
            name=device.name or (gpu.product if gpu else None),
            wave_size=gpu.wave_size if gpu else None,
            compute_units=gpu.cu_count if gpu else None,
            theoretical_peak_flops=None,
        ),
        runtime_ms=None,
        runtime_source=why,
        stability=None,
        resources=None,
        occupancy=None,
        roofline=None,
        critical_path=None,
        bottleneck=None,
        timeline=None,
        kernels=[],
        reasons=dict(reasons),
        notes=[],
    )
