"""profile.json: what `profile --json` and `analyze --json` print. Enough for a script."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm_perf_lab.analyze.gain import Gain
from rocm_perf_lab.analyze.kernel_class import KernelClass
from rocm_perf_lab.analyze.phases import PhaseKind
from rocm_perf_lab.analyze.rules import RunLabel
from rocm_perf_lab.analyze.run_verdict import RunScope
from rocm_perf_lab.analyze.runtime import Stability
from rocm_perf_lab.analyze.thread_trace.finding import ThreadTraceSummary
from rocm_perf_lab.arch.modelled_error import ModelledError
from rocm_perf_lab.arch.occupancy import Occupancy
from rocm_perf_lab.schema.common import Document, Model
from rocm_perf_lab.schema.roofline import MetricRow


class KernelIdentity(Model):
    name: str
    grid: tuple[int, int, int] | None = Field(
        description="work-items, not workgroups; null: the trace has no possible size"
    )
    block: tuple[int, int, int] | None


class GpuInfo(Model):
    architecture: str | None
    name: str | None
    wave_size: int | None
    compute_units: int | None
    theoretical_peak_flops: float | None = Field(
        description="FLOP/s by datasheet, of the type and unit the dominant kernel uses most"
    )
    theoretical_peak_type: str | None = Field(
        default=None, description="that type and unit; valu_f32 (vector FP32) where not counted"
    )


class DispatchStatistics(Model):
    """Of single launches, over every dispatch of every run."""

    min_ms: float
    median_ms: float
    mean_ms: float
    max_ms: float
    stddev_ms: float | None


class Resources(Model):
    vgpr_per_thread: int | None = Field(description="architectural VGPRs, as allocated")
    agpr_per_thread: int | None = Field(
        description="accumulation VGPRs, as allocated; null: not told from the rest of a granule"
    )
    total_vgpr_per_thread: int | None = Field(description="allocated, both kinds together")
    sgpr_per_wave: int | None
    lds_bytes: int | None
    scratch_bytes: int | None
    notes: list[str]


class RooflineSummary(Model):
    operational_intensity: float | None
    achieved_gflops: float | None
    achieved_bandwidth_gbps: float | None = Field(description="between L2 and fabric")
    roofline_position: Literal["memory_bound", "compute_bound"] | None
    fraction_of_roof: float | None
    bound_by: str | None = Field(
        default=None, description="the resource of the longest roof time: hbm, mall or compute"
    )
    compute_roof_gflops: float | None = Field(default=None)
    compute_roof_type: str | None = Field(
        default=None, description="type and unit the kernel uses most, e.g. mfma_bf16"
    )
    bandwidth_ceilings_gbps: dict[str, float] = Field(
        default={}, description="of what lies behind L2: hbm, and mall where there is one"
    )
    roof_of_the_model: bool = Field(
        default=False,
        description="the roof is a number the virtual GPU is built with: the share of it "
        "compares the model with itself",
    )
    reason: str | None


class CriticalPathSummary(Model):
    critical_path_score: float | None = Field(
        description="share of the critical path's time that this kernel takes"
    )
    slack_ns: int | None
    drag_ns: int | None
    reason: str | None


class TimelineSummary(Model):
    """Of one run, first operation to last; dag.json has the whole of it."""

    makespan_ms: float
    critical_path_ms: float
    busy_ms: float = Field(description="time with at least one kernel or copy running")
    coverage: float | None = Field(description="share of the makespan that recorded causes explain")
    replay_error: float | None
    device_only: bool = Field(description="no host calls were recorded")


class TimePart(Model):
    name: str = Field(
        description="kernels, copies, launch_gaps, host, synchronisation or unexplained"
    )
    words: str
    ms: float | None = Field(description="null: not recorded, see reasons")
    share: float | None = Field(description="of the whole; those that are known add up to 1")


class HostCall(Model):
    name: str
    calls: int
    total_ms: float


class Gap(Model):
    """A stretch without a kernel, and what the host did in it as far as it was recorded."""

    start_ms: float = Field(description="after the run's first operation")
    ms: float
    cause: str = Field(description="the largest part of it: copies, host, launch, sync, ...")
    ended_by: str | None = Field(description="the kernel that ended it")
    call: str | None = Field(description="the runtime call that fills half of it or more")
    calls: int = Field(description="how many of that call")
    operator: str | None = Field(
        description="the framework's operator that ran, or its module, or an annotated range"
    )
    frame: str | None = Field(description="the innermost Python function that ran")
    own_frame: str | None = Field(
        description="the innermost that belongs to neither Python nor the framework"
    )


class OneTimeStretch(Model):
    """A part of the run that is paid once."""

    kind: PhaseKind
    words: str
    start_ms: float = Field(description="after the run's first operation")
    ms: float
    share: float = Field(description="of the run")
    copies_ms: float
    gap: Gap | None


class RunVerdict(Model):
    """What limits the run itself; kernel_bound: its kernels."""

    bottleneck: RunLabel
    confidence: str
    scope: RunScope = Field(
        default="run", description="what it speaks of: the run, or what is left without one_time"
    )
    meaning: str
    evidence: list[str]
    next_steps: list[str]
    missing: list[str]


class PartOfRun(Model):
    """The run, or what is left of it; times are from its first to its last device operation."""

    makespan_ms: float
    parts: list[TimePart]
    kernel_busy_share: float = Field(description="of the makespan, a kernel running")
    device_idle_share: float = Field(description="of the makespan, neither kernel nor copy running")
    host_calls: list[HostCall] = Field(description="inside it, those that took longest in all")
    gaps: list[Gap] = Field(default=[], description="inside it, the longest without a kernel")


class WhereTheTimeGoes(PartOfRun):
    """One run from its first to its last device operation: what the device did or waited for."""

    runtime_kernel_share: float | None = Field(
        description="of the kernels' time, that of the runtime's own (__amd_rocclr_*)"
    )
    collective_share: float | None = Field(description="of the kernels' time, that of collectives")
    one_time: list[OneTimeStretch] = Field(default=[], description="what is paid once, by time")
    first_round_ms: float | None = Field(
        default=None, description="where the first round of the work takes far longer than others"
    )
    usual_round_ms: float | None = None
    steady: PartOfRun | None = Field(
        default=None, description="the run without that; null where nothing or too little is left"
    )
    reasons: dict[str, str] = Field(default={}, description="part -> why it is not known")
    verdict: RunVerdict


class OperatorShare(Model):
    """A framework's operator and the device work it launched itself (not its callees')."""

    name: str
    calls: int
    launches: int
    device_ms: float
    share: float = Field(description="of all device time with a known operator or without")


class BottleneckSummary(Model):
    bottleneck: str
    confidence: str
    meaning: str = ""
    evidence: list[str]
    next_steps: list[str]
    missing: list[str] = Field(default=[], description="what was not measured and would tell more")
    doubts: list[str] = Field(
        default=[], description="why the thread trace may not stand for the kernel"
    )
    gain: Gain | None = Field(default=None, description="of mending it, at most")


class KernelProfile(Model):
    kernel: KernelIdentity
    kind: KernelClass = Field(description="user, runtime (__amd_rocclr_*) or collective")
    launch_shapes: int = Field(description="distinct (grid, block, LDS) this kernel ran with")
    helper: bool = Field(description="a runtime helper (__amd_rocclr_*), not the user's kernel")
    dispatches: int = Field(description="per run")
    runtime_ms: float = Field(description="sum of (end - start) over its dispatches, per run")
    total_ms: float = Field(description="the same as runtime_ms")
    share: float | None = Field(description="of the time of all kernels listed; adds up to 1")
    dispatch: DispatchStatistics
    stability: Stability
    resources: Resources
    occupancy: Occupancy
    grid_waves_per_simd: float | None = Field(
        default=None,
        description="waves the launch brings to each SIMD of the device; fewer than fit: the grid "
        "limits residency, not the kernel's resources",
    )
    roofline: RooflineSummary
    critical_path: CriticalPathSummary
    bottleneck: BottleneckSummary
    detailed_fraction: float | None = Field(
        default=None,
        description="of a modelled kernel, how much was simulated; the rest is extrapolated",
    )
    modelled_error: ModelledError | None = Field(
        default=None, description="of a launch's time; null on hardware"
    )
    reasons: dict[str, str] = Field(default={}, description="field -> why it is null")


class ProfileDocument(Document):
    kernel: KernelIdentity | None = Field(description="the dominant kernel")
    kernel_selection: str = Field(description="why this kernel is the dominant one")
    gpu: GpuInfo
    runtime_ms: float | None = Field(
        description="sum of (end - start) over the user's kernels, median over runs"
    )
    runtime_source: str
    modelled_error: ModelledError | None = Field(
        default=None,
        description="of runtime_ms: the dominant kernel's, or that of many launches; "
        "null on hardware",
    )
    host_wall_ms: float | None = Field(
        default=None, description="only with --no-rocprof: host time of the whole program"
    )
    host_wall_stability: Stability | None = None
    stability: Stability | None
    resources: Resources | None
    occupancy: Occupancy | None
    roofline: RooflineSummary | None
    critical_path: CriticalPathSummary | None
    bottleneck: BottleneckSummary | None
    where_the_time_goes: WhereTheTimeGoes | None = None
    timeline: TimelineSummary | None
    thread_trace: ThreadTraceSummary | None = Field(
        default=None, description="of the dominant kernel, else of another: its `kernel` says which"
    )
    metrics: list[MetricRow] = Field(
        default=[], description="of the dominant kernel; roofline.json has every kernel's"
    )
    operators: list[OperatorShare] = Field(
        default=[], description="share per operator, where the trace records them"
    )
    kernels: list[KernelProfile]
    reasons: dict[str, str] = Field(description="field -> why it is null")
    notes: list[str]
