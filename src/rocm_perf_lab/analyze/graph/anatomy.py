"""One run piece by piece, as the verdict on the run looks at it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rocm_perf_lab.analyze.graph.calls import Role, role
from rocm_perf_lab.analyze.graph.edges import Bools, Ints, Kind
from rocm_perf_lab.analyze.graph.gaps import Gaps
from rocm_perf_lab.analyze.graph.graph import Graph
from rocm_perf_lab.analyze.graph.operations import Operations
from rocm_perf_lab.analyze.graph.path_columns import Path
from rocm_perf_lab.trace.trace import Trace

_WAITS = (Role.DEVICE_SYNC, Role.STREAM_SYNC, Role.EVENT_SYNC, Role.COPY, Role.COPY_ASYNC)


@dataclass(frozen=True)
class Anatomy:
    """Times are ns after the first operation's start, on the device's clock."""

    run: Trace  # its host's clock moved onto the device's
    ops: Operations
    gaps: Gaps
    call: Ints  # per operation: the row of regions that enqueued it, -1 unknown
    path_start: Ints  # per node of the critical path
    path_ns: Ints  # time the path spends in it
    path_kernel: Bools  # a kernel
    path_operation: Bools  # a kernel or a copy
    path_wait: Bools  # the return of a call that waited for the device


def anatomy(run: Trace, graph: Graph, ops: Operations, path: Path, idle: Gaps) -> Anatomy:
    nodes, kind = graph.nodes, graph.edges.kind
    waits = np.array([*(role(s) in _WAITS for s in run.strings), False], np.bool_)
    named = np.append(run.regions.name, -1)[nodes.call[path.nodes]]
    operation = nodes.operation[path.nodes] >= 0
    return Anatomy(
        run=run,
        ops=ops,
        gaps=idle,
        call=nodes.call[graph.node_of_operation].astype(np.int64),
        path_start=nodes.start[path.nodes],
        path_ns=path.node_ns,
        path_kernel=operation & ~nodes.is_copy[path.nodes],
        path_operation=operation,
        path_wait=~operation & (kind[path.edge] == Kind.HOST_SYNC) & waits[named],
    )
