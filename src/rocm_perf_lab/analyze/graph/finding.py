"""What the dispatch graph says, as plain values. Every share names its denominator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocm_perf_lab.analyze.graph.edges import Ints


@dataclass(frozen=True)
class EdgeCount:
    kind: str
    count: int
    confidence: Mapping[str, int]  # high, medium, low -> edges
    on_path: int  # edges of this kind on the critical path
    path_ns: int  # time the critical path spends waiting on them


@dataclass(frozen=True)
class PathRun:
    """Consecutive operations of one name on the critical path."""

    name: str | None  # None: `operations` in the middle, left out for length
    is_copy: bool
    operations: int
    operation_ns: int
    waiting_ns: Mapping[str, int]  # cause -> ns waited before these operations
    entered_by: Mapping[str, int]  # edge kind -> how many of them were bound by it


@dataclass(frozen=True)
class WhatIf:
    """End to end time were every dispatch of a kernel this much faster."""

    speedup: float | None  # None: infinitely
    makespan_ns: int
    pinned_makespan_ns: int  # the same if unexplained gaps keep their observed times
    amdahl_ns: int  # lower bound: the critical path's share of the kernel shrinks, all else stays


@dataclass(frozen=True)
class KernelOnGraph:
    name: str
    is_copy: bool
    dispatches: int
    total_ns: int
    dispatches_on_path: int
    path_ns: int
    critical_path_score: float | None  # path_ns / critical_path_ns
    makespan_share: float | None  # path_ns / makespan_ns
    slack_ns: int  # smallest over its dispatches
    drag_ns: int | None
    what_if: tuple[WhatIf, ...]
    what_if_method: str  # "replay" | "unchanged" | "bound"
    gap_before_ns: Mapping[str, int]  # cause -> idle time of the device ended by its dispatches
    launch_share: float | None  # (launch + host gaps) / (launch + host gaps + total_ns)
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DeviceTime:
    """Where the makespan went on the device. idle_ns = makespan_ns - kernel_busy_ns."""

    kernel_sum_ns: int
    kernel_busy_ns: int  # at least one kernel running
    copy_sum_ns: int
    copy_busy_ns: int
    busy_ns: int  # at least one kernel or copy running
    overlap_ns: int  # kernel_sum_ns + copy_sum_ns - busy_ns
    idle_ns: int  # no kernel running
    idle_by_cause_ns: Mapping[str, int]


@dataclass(frozen=True)
class HostOperator:
    """A framework's operator and the host time of the critical path spent in it, callees aside."""

    name: str
    path_ns: int
    share: float  # of the makespan


@dataclass(frozen=True)
class Blocks:
    """Rows by start. `name` is that of the largest part of a block; `count` how many it holds."""

    start: Ints
    duration: Ints  # from the first start to the last end
    busy: Ints  # sum of the durations inside
    name: Ints
    count: Ints
    on_path: Ints  # how many of them are on the critical path


@dataclass(frozen=True)
class Lane:
    label: str
    is_copy: bool
    operations: int
    busy_ns: int
    blocks: Blocks
    is_host: bool = False  # a thread's HIP calls


@dataclass(frozen=True)
class Timeline:
    span_ns: int
    names: tuple[str, ...]  # kernels, kinds of copy, causes of waiting, HIP calls
    kernel_names: int
    copy_names: int
    lanes: tuple[Lane, ...]
    lanes_left_out: int
    path: Blocks  # operations and, between them, what was waited for
    merged_below_ns: int  # operations shorter than this may be merged with their neighbours
    call_names: int = 0


@dataclass(frozen=True)
class DagFinding:
    scope: str  # "host-and-device" | "device-only" | "serialised" | "empty"
    nodes: int
    makespan_ns: int
    critical_path_ns: int
    replay_ns: int
    replay_error: float | None  # |replay_ns - makespan_ns| / makespan_ns
    coverage: float | None  # critical_path_ns / makespan_ns
    path_by_cause_ns: Mapping[str, int]
    edges: tuple[EdgeCount, ...]
    path: tuple[PathRun, ...]
    path_operations: int
    kernels: tuple[KernelOnGraph, ...]  # by path_ns, then total_ns
    device: DeviceTime
    reasons: Mapping[str, str]
    notes: tuple[str, ...]
    host_operators: tuple[HostOperator, ...] = ()  # where operators are recorded, longest first
    timeline: Timeline | None = field(default=None, compare=False)  # a document of its own
