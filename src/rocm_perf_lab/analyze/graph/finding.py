"""What the dispatch graph says, as plain values. Every share names its denominator.

Parts that the files show as they are stand in the schema as these very classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rocm_perf_lab.analyze.graph.anatomy import Anatomy
from rocm_perf_lab.analyze.graph.edges import EdgeKind, Ints

WhatIfMethod = Literal["replay", "unchanged", "bound"]


@dataclass(frozen=True)
class EdgeCount:
    kind: EdgeKind
    count: int
    confidence: Mapping[Literal["high", "medium", "low"], int]
    on_path: int = field(metadata={"description": "edges of this kind on the critical path"})
    path_ns: int = field(metadata={"description": "time the critical path waits on them"})


@dataclass(frozen=True)
class PathRun:
    """Consecutive operations of one name on the critical path."""

    name: str | None = field(metadata={"description": "null: the middle of a long path, summed up"})
    is_copy: bool
    operations: int
    operation_ns: int
    waiting_ns: Mapping[str, int] = field(
        metadata={"description": "cause -> ns waited before these operations"}
    )
    entered_by: Mapping[EdgeKind, int] = field(
        metadata={"description": "which edges bound them, counted"}
    )


@dataclass(frozen=True)
class WhatIf:
    """End-to-end time were every dispatch of this kernel `speedup` times as fast."""

    speedup: float | None = field(metadata={"description": "null: infinitely"})
    makespan_ns: int
    pinned_makespan_ns: int = field(
        metadata={"description": "the same if waits of unknown cause stay at their observed times"}
    )
    amdahl_ns: int = field(
        metadata={"description": "no model can promise less: only the path's share shrinks"}
    )


@dataclass(frozen=True)
class KernelOnGraph:
    name: str
    is_copy: bool
    dispatches: int
    total_ns: int
    dispatches_on_path: int
    path_ns: int = field(metadata={"description": "time the critical path spends in it"})
    critical_path_score: float | None = field(
        metadata={"description": "path_ns / critical_path_ns"}
    )
    makespan_share: float | None = field(metadata={"description": "path_ns / makespan_ns"})
    slack_ns: int = field(metadata={"description": "smallest over its dispatches"})
    drag_ns: int | None = field(
        metadata={"description": "how much the makespan shrinks if it took no time"}
    )
    what_if: tuple[WhatIf, ...]
    what_if_method: WhatIfMethod
    gap_before_ns: Mapping[str, int] = field(
        metadata={"description": "cause -> time without a kernel that its dispatches ended"}
    )
    launch_share: float | None = field(
        metadata={"description": "(launch + host gaps) / (launch + host gaps + total_ns)"}
    )
    reasons: Mapping[str, str] = field(metadata={"description": "field -> why it is null"})


@dataclass(frozen=True)
class DeviceTime:
    """Where the makespan went on the device."""

    kernel_sum_ns: int
    kernel_busy_ns: int = field(metadata={"description": "at least one kernel running"})
    copy_sum_ns: int
    copy_busy_ns: int
    busy_ns: int = field(metadata={"description": "at least one kernel or copy running"})
    overlap_ns: int = field(metadata={"description": "kernel_sum_ns + copy_sum_ns - busy_ns"})
    idle_ns: int = field(metadata={"description": "makespan_ns - kernel_busy_ns"})
    idle_by_cause_ns: Mapping[str, int] = field(metadata={"description": "adds up to idle_ns"})


@dataclass(frozen=True)
class HostOperator:
    """A framework's operator and the host time of the critical path spent in it, callees aside."""

    name: str
    path_ns: int
    share: float = field(metadata={"description": "of the makespan"})


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
    heard: tuple[str, ...] = ()  # those of them that concern the recording, not the graph
    host_operators: tuple[HostOperator, ...] = ()  # where operators are recorded, longest first
    timeline: Timeline | None = field(default=None, compare=False)  # a document of its own
    anatomy: Anatomy | None = field(default=None, compare=False)  # for the run's verdict
