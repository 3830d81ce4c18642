"""Which operations lie on the critical path, in its order."""

from __future__ import annotations

from rocm_perf_lab.analyze.graph.clock import aligned
from rocm_perf_lab.analyze.graph.edges import Ints
from rocm_perf_lab.analyze.graph.graph import build
from rocm_perf_lab.analyze.graph.operations import Operations, operations
from rocm_perf_lab.analyze.graph.solve import critical_path
from rocm_perf_lab.trace.trace import Trace


def path_operations(run: Trace) -> tuple[Operations, Ints]:
    run, _ = aligned(run)
    ops = operations(run)
    graph = build(run, ops)
    op = graph.nodes.operation[critical_path(graph)]
    on_path: Ints = op[op >= 0].astype("int64")
    return ops, on_path
