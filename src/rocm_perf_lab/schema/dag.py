"""dag.json: the dispatch graph, its critical path, and what faster kernels would bring."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm_perf_lab.analyze.graph import DagFinding
from rocm_perf_lab.analyze.graph.finding import (
    DeviceTime,
    EdgeCount,
    HostOperator,
    KernelOnGraph,
    PathRun,
)
from rocm_perf_lab.arch.modelled_error import ModelledError
from rocm_perf_lab.schema.common import Document, Provenance


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
    modelled_error: ModelledError | None = Field(
        default=None,
        description="of the kernels' time, as in profile.json, null on hardware; what calls and "
        "gaps take is assumed",
    )


def to_document(
    finding: DagFinding, provenance: Provenance, error: ModelledError | None = None
) -> DagDocument:
    unknown = ("makespan_ns", "critical_path_ns", "replay_ns")
    nulls = dict.fromkeys(unknown) if finding.scope == "serialised" else {}
    return DagDocument.of(finding, provenance=provenance, modelled_error=error, **nulls)
