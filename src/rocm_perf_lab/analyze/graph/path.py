"""The critical path in words: time by cause, runs of kernels, time per kernel."""

from __future__ import annotations

import numpy as np

from rocm_perf_lab.analyze.graph.columns import Union
from rocm_perf_lab.analyze.graph.edges import KINDS, Ints, Kind
from rocm_perf_lab.analyze.graph.finding import PathRun
from rocm_perf_lab.analyze.graph.gaps import CAUSES, HOST, split
from rocm_perf_lab.analyze.graph.graph import Graph
from rocm_perf_lab.analyze.graph.operations import Operations
from rocm_perf_lab.analyze.graph.path_columns import Path

SHOWN_RUNS = 100  # at each end of a path that has more than twice as many


def walk(graph: Graph, nodes: Ints) -> Path:
    start = graph.nodes.start[nodes]
    end = start + graph.nodes.duration[nodes]
    leaves = np.minimum(end, np.append(start[1:], end[-1:]))
    came_from = np.append(0, leaves[:-1])[: len(nodes)]
    edge = graph.binding[nodes]
    waiting = np.zeros((len(nodes), len(CAUSES)), np.int64)
    for cause, begin, stop in split(graph, edge, came_from, start):
        waiting[:, CAUSES.index(cause)] += stop - begin
    return Path(nodes, edge, leaves - start, start - came_from, waiting)


def host_intervals(graph: Graph, path: Path) -> Union:
    """When the path ran through host code, on the graph's clock."""
    start = graph.nodes.start[path.nodes]
    came_from = start - path.edge_ns
    found = [
        (begin[stop > begin], stop[stop > begin])
        for cause, begin, stop in split(graph, path.edge, came_from, start)
        if cause == HOST
    ]
    begin = np.concatenate([np.empty(0, np.int64), *(b for b, _ in found)])
    stop = np.concatenate([np.empty(0, np.int64), *(s for _, s in found)])
    order = np.argsort(begin, kind="stable")
    return Union.of(begin[order], stop[order])


def runs(graph: Graph, ops: Operations, path: Path) -> tuple[PathRun, ...]:
    """Consecutive operations of one name; host waits count for the operation they precede."""
    op = graph.nodes.operation[path.nodes]
    is_op = op >= 0
    if not is_op.any():
        return ()
    # Each node belongs to the next operation on the path; the path ends with one.
    ordinal: Ints = np.cumsum(is_op) - is_op
    name = ops.name[op[is_op]]
    run_of_op = np.cumsum(np.append(False, name[1:] != name[:-1]))
    run = run_of_op[ordinal]
    n = int(run_of_op[-1]) + 1
    operations = np.bincount(run_of_op, minlength=n)
    operation_ns = _sum(run, path.node_ns, n)
    waiting = np.stack([_sum(run, path.waiting[:, c], n) for c in range(len(CAUSES))], axis=1)
    kind = graph.edges.kind[path.edge].astype(np.int64)
    entered = np.zeros((n, len(Kind)), np.int64)
    np.add.at(entered, (run_of_op, kind[is_op]), 1)
    first_op = op[is_op][np.flatnonzero(np.append(True, name[1:] != name[:-1]))]

    def row(which: Ints, label: str | None, is_copy: bool) -> PathRun:
        waits = waiting[which].sum(axis=0).tolist()
        kinds = entered[which].sum(axis=0).tolist()
        return PathRun(
            name=label,
            is_copy=is_copy,
            operations=int(operations[which].sum()),
            operation_ns=int(operation_ns[which].sum()),
            waiting_ns={c: ns for c, ns in zip(CAUSES, waits, strict=True) if ns},
            entered_by={k: count for k, count in zip(KINDS, kinds, strict=True) if count},
        )

    def rows(low: int, high: int) -> list[PathRun]:
        return [
            row(np.array([i]), ops.names[ops.name[first_op[i]]], bool(ops.is_copy[first_op[i]]))
            for i in range(low, high)
        ]

    if n <= 2 * SHOWN_RUNS:
        return tuple(rows(0, n))
    middle = row(np.arange(SHOWN_RUNS, n - SHOWN_RUNS), None, False)
    return (*rows(0, SHOWN_RUNS), middle, *rows(n - SHOWN_RUNS, n))


def _sum(group: Ints, value: Ints, n: int) -> Ints:
    total = np.zeros(n, np.int64)
    np.add.at(total, group, value)
    return total
