"""profile.json: what `profile --json` and `analyze --json` print. Enough for a script."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm_perf_lab.schema.common import Document, Model
from rocm_perf_lab.schema.thread_trace import ThreadTraceSummary


class KernelIdentity(Model):
    name: str
    grid: tuple[int, int, int] = Field(description="work-items, not workgroups")
    block: tuple[int, int, int]


class GpuInfo(Model):
    architecture: str | None
    name: str | None
    wave_size: int | None
    compute_units: int | None
    theoretical_peak_flops: float | None = Field(description="vector FP32, FLOP/s")


class Stability(Model):
    """Of the runtime, over runs."""

    runs: int
    mean_ms: float
    median_ms: float
    stddev_ms: float | None
    cv: float | None
    ci95_ms: tuple[float, float] | None
    classification: Literal["stable", "moderate", "unstable"] | None
    reason: str | None = None


class DispatchStatistics(Model):
    """Of single launches, over every dispatch of every run."""

    min_ms: float
    median_ms: float
    mean_ms: float
    max_ms: float
    stddev_ms: float | None


class Resources(Model):
    vgpr_per_thread: int | None = Field(description="architectural VGPRs")
    agpr_per_thread: int | None
    total_vgpr_per_thread: int | None = Field(description="allocated, both kinds together")
    sgpr_per_wave: int | None
    lds_bytes: int | None
    scratch_bytes: int | None
    notes: list[str]


class Occupancy(Model):
    theoretical: float | None
    limiter: str | None
    waves_per_simd: float | None
    threads_per_block: int
    wave_size: int | None
    reason: str | None = None


class RooflineSummary(Model):
    operational_intensity: float | None
    achieved_gflops: float | None
    achieved_bandwidth_gbps: float | None
    roofline_position: Literal["memory_bound", "compute_bound"] | None
    fraction_of_roof: float | None
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


class BottleneckSummary(Model):
    bottleneck: str
    confidence: str
    evidence: list[str]
    next_steps: list[str]


class KernelProfile(Model):
    kernel: KernelIdentity
    launch_shapes: int = Field(description="distinct (grid, block, LDS) this kernel ran with")
    helper: bool = Field(description="a runtime helper (__amd_rocclr_*), not the user's kernel")
    dispatches: int = Field(description="per run")
    runtime_ms: float = Field(description="sum of (end - start) over its dispatches, per run")
    total_ms: float = Field(description="the same as runtime_ms")
    share: float | None = Field(description="of the kernel time of one run")
    dispatch: DispatchStatistics
    stability: Stability
    resources: Resources
    occupancy: Occupancy
    roofline: RooflineSummary
    critical_path: CriticalPathSummary
    bottleneck: BottleneckSummary


class ProfileDocument(Document):
    kernel: KernelIdentity | None = Field(description="the dominant kernel")
    kernel_selection: str = Field(description="why this kernel is the dominant one")
    gpu: GpuInfo
    runtime_ms: float | None = Field(
        description="sum of (end - start) over the user's kernels, median over runs"
    )
    runtime_source: str
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
    timeline: TimelineSummary | None
    thread_trace: ThreadTraceSummary | None = Field(
        default=None, description="of the dominant kernel, else of another that was traced"
    )
    kernels: list[KernelProfile]
    reasons: dict[str, str] = Field(description="field -> why it is null")
    notes: list[str]
