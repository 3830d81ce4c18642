"""From a trace to the finding: build the graph, replay it, and say what it shows."""

from __future__ import annotations

import numpy as np

from rocm_perf_lab.analyze.graph.anatomy import anatomy
from rocm_perf_lab.analyze.graph.clock import aligned
from rocm_perf_lab.analyze.graph.columns import stable_order
from rocm_perf_lab.analyze.graph.edges import KINDS, Confidence, Index, Ints, Kind
from rocm_perf_lab.analyze.graph.finding import (
    DagFinding,
    DeviceTime,
    EdgeCount,
    HostOperator,
    KernelOnGraph,
    WhatIf,
    WhatIfMethod,
)
from rocm_perf_lab.analyze.graph.gaps import CAUSES, HOST, LAUNCH, UNKNOWN, Gaps, gaps
from rocm_perf_lab.analyze.graph.graph import Graph, build
from rocm_perf_lab.analyze.graph.operations import Operations, operations
from rocm_perf_lab.analyze.graph.path import host_intervals, runs, walk
from rocm_perf_lab.analyze.graph.path_columns import Path
from rocm_perf_lab.analyze.graph.solve import Solver, critical_path, slack
from rocm_perf_lab.analyze.graph.timeline import timeline
from rocm_perf_lab.analyze.graph.what_if import Scenarios, unchanged
from rocm_perf_lab.analyze.operators import NO_OPERATOR, launched_earlier, self_times
from rocm_perf_lab.trace.trace import Trace

TOP_OPERATORS = 20
NOT_REPLAYED = "not replayed, for its small part of the path; the what-if is Amdahl's bound"
DEVICE_ONLY = "device-only graph: no host calls were recorded, so gaps have no known cause"


def build_and_solve(run: Trace) -> DagFinding:
    """The dispatch graph of one run and everything dag.json says about it."""
    run, heard = aligned(run)
    ops = operations(run)
    heard = (*heard, *_earlier(run), *_unrecorded(run, ops))
    graph = build(run, ops)
    path = walk(graph, critical_path(graph))
    idle = gaps(graph, ops)
    node_name = np.full(len(graph), -1, np.int64)
    node_name[graph.node_of_operation] = ops.name
    solver = Solver(graph, node_name)
    span = ops.span_ns
    replayed = solver.makespan()
    scenarios = Scenarios(solver, node_name, span)
    node_slack = slack(solver, span)
    waited = path.waiting.sum(axis=0)
    explained = span - int(waited[CAUSES.index(UNKNOWN)])
    by_cause = dict(zip(CAUSES, waited.tolist(), strict=True))
    busy = graph.nodes.operation[path.nodes]
    copying = (busy >= 0) & ops.is_copy[busy] if len(ops) else np.zeros(len(busy), np.bool_)
    by_cause["copies"] += int(path.node_ns[copying].sum())
    by_cause["kernels"] = int(path.node_ns[~copying].sum())
    kernels = _kernels(graph, ops, path, node_slack, scenarios, idle, explained)
    del solver, scenarios, node_name, node_slack  # before more is taken
    reasons: dict[str, str] = {}
    if span == 0:
        why = "the trace spans no time" if len(ops) else "the trace holds no device operation"
        reasons = {"replay_error": why, "coverage": why}
    return DagFinding(
        scope="empty" if not len(ops) else "host-and-device" if graph.has_host else "device-only",
        nodes=len(graph) - 1,
        makespan_ns=span,
        critical_path_ns=explained,
        replay_ns=replayed,
        replay_error=abs(replayed - span) / span if span else None,
        coverage=explained / span if span else None,
        path_by_cause_ns=by_cause,
        edges=_edge_counts(graph, path),
        path=runs(graph, ops, path),
        path_operations=int((busy >= 0).sum()),
        kernels=kernels,
        device=_device_time(ops, idle),
        reasons=reasons,
        notes=(*_notes(run, graph, ops), *heard),
        heard=heard,
        host_operators=_host_operators(run, graph, ops, path),
        timeline=timeline(run, graph, ops, path) if len(ops) else None,
        anatomy=anatomy(run, graph, ops, path, idle),
    )


def _host_operators(
    run: Trace, graph: Graph, ops: Operations, path: Path
) -> tuple[HostOperator, ...]:
    span = ops.span_ns
    if run.operators is None or not span:
        return ()
    host = host_intervals(graph, path)
    own = self_times(run.operators, ops.origin_ns)
    spent = np.zeros(len(run.operators.names), np.int64)
    np.add.at(spent, own.name, host.within(own.start, own.end))
    rest = host.total - int(spent.sum())
    found = [
        HostOperator(name, ns, ns / span)
        for name, ns in zip(run.operators.names, spent.tolist(), strict=True)
        if ns
    ]
    found.sort(key=lambda o: (-o.path_ns, o.name))
    left = [HostOperator(NO_OPERATOR, rest, rest / span)] if rest > 0 else []
    return (*found[:TOP_OPERATORS], *left)


def serialised(why: str) -> DagFinding:
    """The finding where only counter runs were given: there is no path, and this is why."""
    null = (
        *("makespan_ns", "critical_path_ns", "replay_ns", "replay_error", "coverage"),
        "critical_path_score",
    )
    return DagFinding(
        scope="serialised",
        nodes=0,
        makespan_ns=0,
        critical_path_ns=0,
        replay_ns=0,
        replay_error=None,
        coverage=None,
        path_by_cause_ns={},
        edges=(),
        path=(),
        path_operations=0,
        kernels=(),
        device=DeviceTime(0, 0, 0, 0, 0, 0, 0, {}),
        reasons=dict.fromkeys(null, why),
        notes=(why,),
    )


def _edge_counts(graph: Graph, path: Path) -> tuple[EdgeCount, ...]:
    e = graph.edges
    table = np.zeros((len(Kind), len(Confidence)), np.int64)
    np.add.at(table, (e.kind.astype(np.int64), e.confidence.astype(np.int64)), 1)
    kind = e.kind[path.edge]
    return tuple(
        EdgeCount(
            kind=KINDS[k],
            count=int(table[k].sum()),
            confidence={
                "high": int(table[k, Confidence.HIGH]),
                "medium": int(table[k, Confidence.MEDIUM]),
                "low": int(table[k, Confidence.LOW]),
            },
            on_path=int((kind == k).sum()),
            path_ns=int(path.edge_ns[kind == k].sum()),
        )
        for k in Kind
    )


def _device_time(ops: Operations, idle: Gaps) -> DeviceTime:
    kernels = int(ops.duration[~ops.is_copy].sum())
    copies = int(ops.duration[ops.is_copy].sum())
    return DeviceTime(
        kernel_sum_ns=kernels,
        kernel_busy_ns=idle.running.total,
        copy_sum_ns=copies,
        copy_busy_ns=idle.copying.total,
        busy_ns=idle.busy.total,
        overlap_ns=kernels + copies - idle.busy.total,
        idle_ns=ops.span_ns - idle.running.total,
        idle_by_cause_ns=idle.by_cause(),
    )


def _kernels(
    graph: Graph,
    ops: Operations,
    path: Path,
    node_slack: Ints,
    scenarios: Scenarios,
    idle: Gaps,
    explained: int,
) -> tuple[KernelOnGraph, ...]:
    n = len(ops.names)
    span = ops.span_ns

    def per_name(name: Index, value: Ints) -> Ints:
        total = np.zeros(n, np.int64)
        np.add.at(total, name, value)
        return total

    count = np.bincount(ops.name, minlength=n)
    total = per_name(ops.name, ops.duration)
    smallest = np.full(n, np.iinfo(np.int64).max)
    np.minimum.at(smallest, ops.name, node_slack[graph.node_of_operation])
    op = graph.nodes.operation[path.nodes]
    path_ops, node_ns = op[op >= 0], path.node_ns[op >= 0]
    path_count = np.bincount(ops.name[path_ops], minlength=n)
    path_ns = per_name(ops.name[path_ops], node_ns)
    path_order = stable_order(ops.name[path_ops])
    path_slices = [0, *np.cumsum(path_count).tolist()]
    gap_table = np.zeros((n, len(CAUSES)), np.int64)
    ender = idle.ender[idle.of]
    ended = ender >= 0
    np.add.at(gap_table, (ops.name[ender[ended]], idle.cause[ended]), idle.length[ended])

    order = np.lexsort((np.arange(n), -total, -path_ns))
    result = []
    for i in order[count[order] > 0].tolist():
        mine = path_ops[path_order[path_slices[i] : path_slices[i + 1]]]
        method, what_if = _what_if(scenarios, i, ops.duration[mine], span)
        gap = {c: int(ns) for c, ns in zip(CAUSES, gap_table[i].tolist(), strict=True) if ns}
        is_copy = i >= ops.kernel_names
        launched = gap.get(LAUNCH, 0) + gap.get(HOST, 0)
        whole = launched + int(total[i])
        no_launch_share = (
            "gaps are counted between kernels" if is_copy
            else DEVICE_ONLY if not graph.has_host
            else "its dispatches took no time and no gap precedes them" if not whole
            else None
        )  # fmt: skip
        reasons = {
            "drag_ns": NOT_REPLAYED if method == "bound" else None,
            "launch_share": no_launch_share,
            "critical_path_score": None if explained else "the critical path has no explained time",
            "makespan_share": None if span else "the trace spans no time",
        }
        result.append(
            KernelOnGraph(
                name=ops.names[i],
                is_copy=is_copy,
                dispatches=int(count[i]),
                total_ns=int(total[i]),
                dispatches_on_path=int(path_count[i]),
                path_ns=int(path_ns[i]),
                critical_path_score=int(path_ns[i]) / explained if explained else None,
                makespan_share=int(path_ns[i]) / span if span else None,
                slack_ns=int(smallest[i]),
                drag_ns=span - what_if[-1].makespan_ns if method != "bound" else None,
                what_if=what_if,
                what_if_method=method,
                gap_before_ns=gap,
                launch_share=launched / whole if no_launch_share is None else None,
                reasons={field: why for field, why in reasons.items() if why is not None},
            )
        )
    return tuple(result)


def _what_if(
    scenarios: Scenarios, name: int, on_path: Ints, span: int
) -> tuple[WhatIfMethod, tuple[WhatIf, ...]]:
    """`on_path`: durations of its dispatches on the critical path."""
    if not on_path.any():
        return "unchanged", unchanged(span)
    replayed = scenarios.replay(name, on_path)
    return ("replay", replayed) if replayed is not None else ("bound", scenarios.bound(on_path))


def _earlier(run: Trace) -> tuple[str, ...]:
    count = sum(int(launched_earlier(run, t).sum()) for t in (run.dispatches, run.copies))
    if not count:
        return ()
    were = f"{count:,} operations were" if count > 1 else "1 operation was"
    return (
        f"{were} launched before the recording began: what the host did for them is not in it.",
    )


def _unrecorded(run: Trace, ops: Operations) -> tuple[str, ...]:
    count = int((ops.call >= 0).sum())
    if not count:
        return ()
    which = "No copies were recorded" if not len(run.copies) else "Some copies were not recorded"
    calls = f"{count:,} blocking copy calls count" if count > 1 else "1 blocking copy call counts"
    return (f"{which}: {calls} as copies, from the call to its return.",)


def _notes(run: Trace, graph: Graph, ops: Operations) -> tuple[str, ...]:
    notes = []
    if len(ops) and not graph.has_host:
        notes.append(DEVICE_ONLY + "; what-ifs assume each gap follows the operation before it.")
    if graph.contradicted:
        notes.append(
            f"{graph.contradicted} constraints contradict the recorded times and were left out."
        )
    if graph.edges.of_kind(Kind.GRAPH).any():
        notes.append(
            "Dependencies inside a graph launch are not recorded; its operations are ordered by "
            "the streams they ran on."
        )
    if graph.truncated:
        notes.append("Event waits fan out too far; some of their sources were left out.")
    if len(run.processes) > 1:
        notes.append(
            f"{len(run.processes)} processes: no constraint between them is known, so each keeps "
            "its own start."
        )
    return tuple(notes)
