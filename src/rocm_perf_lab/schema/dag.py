"""dag.json: the dispatch graph, its critical path, and what faster kernels would bring."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm_perf_lab.analyze.graph import DagFinding
from rocm_perf_lab.schema.common import Document, Model, Provenance

EdgeKind = Literal[
    "STREAM",
    "QUEUE",
    "EVENT",
    "HOST_LAUNCH",
    "HOST_SYNC",
    "HOST_ORDER",
    "LEGACY_DEFAULT_STREAM",
    "GRAPH",
    "INFERRED",
]


class EdgeCount(Model):
    kind: EdgeKind
    count: int
    confidence: dict[Literal["high", "medium", "low"], int]
    on_path: int = Field(description="edges of this kind on the critical path")
    path_ns: int = Field(description="time the critical path waits on them")


class PathRun(Model):
    """Consecutive operations of one name on the critical path."""

    name: str | None = Field(description="null: the middle of a long path, summed up")
    is_copy: bool
    operations: int
    operation_ns: int
    waiting_ns: dict[str, int] = Field(description="cause -> ns waited before these operations")
    entered_by: dict[EdgeKind, int] = Field(description="which edges bound them, counted")


class WhatIf(Model):
    """End-to-end time were every dispatch of this kernel `speedup` times as fast."""

    speedup: float | None = Field(description="null: infinitely")
    makespan_ns: int
    pinned_makespan_ns: int = Field(
        description="the same if waits of unknown cause stay at their observed times"
    )
    amdahl_ns: int = Field(description="no model can promise less: only the path's share shrinks")


class KernelOnGraph(Model):
    name: str
    is_copy: bool
    dispatches: int
    total_ns: int
    dispatches_on_path: int
    path_ns: int = Field(description="time the critical path spends in it")
    critical_path_score: float | None = Field(description="path_ns / critical_path_ns")
    makespan_share: float | None = Field(description="path_ns / makespan_ns")
    slack_ns: int = Field(description="smallest over its dispatches")
    drag_ns: int | None = Field(description="how much the makespan shrinks if it took no time")
    what_if: list[WhatIf]
    what_if_method: Literal["replay", "unchanged", "bound"]
    gap_before_ns: dict[str, int] = Field(
        description="cause -> time without a kernel that its dispatches ended"
    )
    launch_share: float | None = Field(
        description="(launch + host gaps) / (launch + host gaps + total_ns)"
    )
    reasons: dict[str, str] = Field(description="field -> why it is null")


class DeviceTime(Model):
    kernel_sum_ns: int
    kernel_busy_ns: int = Field(description="at least one kernel running")
    copy_sum_ns: int
    copy_busy_ns: int
    busy_ns: int = Field(description="at least one kernel or copy running")
    overlap_ns: int = Field(description="kernel_sum_ns + copy_sum_ns - busy_ns")
    idle_ns: int = Field(description="makespan_ns - kernel_busy_ns")
    idle_by_cause_ns: dict[str, int] = Field(description="adds up to idle_ns")


class HostOperator(Model):
    """A framework's operator and the host time of the critical path spent in it itself."""

    name: str
    path_ns: int
    share: float = Field(description="of the makespan")


class DagDocument(Document):
    scope: Literal["host-and-device", "device-only", "serialised", "empty"] = Field(
        description="serialised: only counter runs were given, whose order is not the program's"
    )
    nodes: int = Field(description="kernels, copies, and returns of host calls that waited")
    makespan_ns: int | None = Field(description="first start to last end of a kernel or copy")
    critical_path_ns: int | None = Field(
        description="the part of the makespan that the path explains; the rest is of unknown cause"
    )
    replay_ns: int | None
    replay_error: float | None = Field(description="|replay_ns - makespan_ns| / makespan_ns")
    coverage: float | None = Field(description="critical_path_ns / makespan_ns")
    path_by_cause_ns: dict[str, int] = Field(description="adds up to makespan_ns")
    edges: list[EdgeCount]
    path: list[PathRun]
    path_operations: int
    kernels: list[KernelOnGraph]
    device: DeviceTime
    reasons: dict[str, str] = Field(description="field -> why it is null")
    notes: list[str]
    host_operators: list[HostOperator] = Field(
        default=[], description="host time on the critical path, where operators are recorded"
    )


def to_document(finding: DagFinding, provenance: Provenance) -> DagDocument:
    unknown = ("makespan_ns", "critical_path_ns", "replay_ns")
    nulls = dict.fromkeys(unknown) if finding.scope == "serialised" else {}
    return DagDocument.of(finding, provenance=provenance, **nulls)
