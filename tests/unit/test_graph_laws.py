"""Laws that hold of every trace, however odd, checked against the simplest longest path."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_perf_lab.analyze.graph import DagFinding, build_and_solve, what_if
from rocm_perf_lab.analyze.graph.clock import aligned
from rocm_perf_lab.analyze.graph.columns import NONE, TimeIndex, Union, latest_in_group
from rocm_perf_lab.analyze.graph.edges import Kind
from rocm_perf_lab.analyze.graph.graph import Graph, build
from rocm_perf_lab.analyze.graph.operations import Operations, operations
from rocm_perf_lab.analyze.graph.solve import Solver, critical_path, faster, slack
from rocm_perf_lab.analyze.graph.what_if import SPEEDUPS
from rocm_perf_lab.trace.trace import Trace
from support.traces import TraceBuilder

CALLS = (
    "hipLaunchKernel",
    "hipEventRecord",
    "hipStreamWaitEvent",
    "hipStreamSynchronize",
    "hipEventSynchronize",
    "hipDeviceSynchronize",
    "hipMemcpy",
    "hipMemcpyAsync",
    "hipGraphLaunch",
    "hipStreamCreateWithFlags",
    "hipFree",
)
times = st.integers(0, 300).map(lambda t: t * 500)  # few, so that many coincide
lengths = st.one_of(st.just(0), st.integers(0, 400).map(lambda t: t * 300))
small = st.integers(0, 2)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Anything a recorder could write down, sensible or not."""
    builder = TraceBuilder()
    for _ in range(draw(st.integers(1, 14))):
        start = draw(times)
        end = start + draw(lengths)
        stream, correlation = draw(small), draw(st.integers(-1, 8))
        if draw(st.integers(0, 4)) == 0:
            builder.copy("H2D", start, end, stream=stream, correlation=correlation)
        else:
            builder.dispatch(
                draw(st.sampled_from("abc")),
                start,
                end,
                stream=stream,
                queue=draw(small),
                correlation=correlation,
            )
    for correlation in range(draw(st.integers(0, 9))):
        start = draw(times)
        builder.call(
            draw(st.sampled_from(CALLS)),
            start,
            start + draw(lengths),
            correlation=correlation,
            thread=draw(small),
            stream=draw(st.sampled_from([None, 0, 2, 0x10, 0x20])),
            event=draw(st.sampled_from([None, 0x100])),
            flags=draw(st.sampled_from([None, 0, 1])),
        )
    return builder.build()


def graph_of(trace: Trace) -> tuple[Graph, Operations, Solver]:
    trace, _ = aligned(trace)
    ops = operations(trace)
    graph = build(trace, ops)
    name = np.full(len(graph), -1, np.int64)
    name[graph.node_of_operation] = ops.name
    return graph, ops, Solver(graph, name)


def longest_paths(graph: Graph, duration: list[int]) -> list[int]:
    """Relax every edge until nothing moves: Bellman and Ford, no order assumed."""
    start = [0] * len(graph)
    edges = list(
        zip(
            graph.edges.src.tolist(),
            graph.edges.dst.tolist(),
            graph.edges.after_start.tolist(),
            graph.lag.tolist(),
            strict=True,
        )
    )
    moved = True
    while moved:
        moved = False
        for src, dst, after_start, lag in edges:
            earliest = start[src] + max(0, lag + (0 if after_start else duration[src]))
            if earliest > start[dst]:
                start[dst], moved = earliest, True
    return start


@given(traces())
@settings(max_examples=150, deadline=None)
def test_replaying_unchanged_durations_gives_the_recorded_times(trace: Trace) -> None:
    graph, _, solver = graph_of(trace)
    assert solver.forward().tolist() == graph.nodes.start.tolist()
    assert longest_paths(graph, graph.nodes.duration.tolist()) == graph.nodes.start.tolist()


@given(traces())
@settings(max_examples=100, deadline=None)
def test_slack_is_never_negative_and_nought_along_the_critical_path(trace: Trace) -> None:
    graph, ops, solver = graph_of(trace)
    room = slack(solver, ops.span_ns)
    assert (room >= 0).all()
    path = critical_path(graph)
    assert (room[path] == 0).all()
    assert (np.diff(path) > 0).all()
    # Slack is what the simplest method says: delay one node alone and see when the end moves.
    nodes = graph.node_of_operation
    node = int(nodes[np.argmax(room[nodes])])
    for delay, moves in ((int(room[node]), False), (int(room[node]) + 1, True)):
        delayed = _delayed(graph, node, delay)
        end = int((np.array(delayed) + graph.nodes.duration)[nodes].max())
        assert (end > ops.span_ns) == moves


def _delayed(graph: Graph, node: int, delay: int) -> list[int]:
    start = list(graph.nodes.start.tolist())
    start[node] += delay
    for v in range(1, len(graph)):
        for e in range(int(graph.first[v]), int(graph.first[v + 1])):
            src = int(graph.edges.src[e])
            duration = 0 if graph.edges.after_start[e] else int(graph.nodes.duration[src])
            start[v] = max(start[v], start[src] + max(0, duration + int(graph.lag[e])))
    return start


@given(traces())
@settings(max_examples=100, deadline=None)
def test_what_ifs_are_replays_and_faster_never_ends_later(trace: Trace) -> None:
    finding = build_and_solve(trace)
    graph, ops, _ = graph_of(trace)
    for kernel in finding.kernels:
        ends = [w.makespan_ns for w in kernel.what_if]
        assert finding.makespan_ns >= ends[0] >= ends[1] >= ends[2] >= 0
        chosen = np.zeros(len(graph), np.bool_)
        chosen[graph.node_of_operation[ops.name == ops.names.index(kernel.name)]] = True
        for w in kernel.what_if:
            quick = faster(graph.nodes.duration, w.speedup)
            duration = np.where(chosen, quick, graph.nodes.duration)
            start = np.array(longest_paths(graph, duration.tolist()))
            truth = int((start + duration)[graph.node_of_operation].max())
            # The shortcut for convex curves may differ by a rounded nanosecond per dispatch.
            assert abs(w.makespan_ns - truth) <= kernel.dispatches
            assert w.amdahl_ns <= w.makespan_ns <= w.pinned_makespan_ns <= finding.makespan_ns
        assert kernel.drag_ns == finding.makespan_ns - ends[2]


@given(traces())
@settings(max_examples=100, deadline=None)
def test_every_nanosecond_is_accounted_for_once(trace: Trace) -> None:
    finding = build_and_solve(trace)
    d = finding.device
    assert finding.replay_error in (0.0, None)
    assert 0 <= finding.critical_path_ns <= finding.makespan_ns
    assert sum(finding.path_by_cause_ns.values()) == finding.makespan_ns
    assert all(ns >= 0 for ns in finding.path_by_cause_ns.values())
    on_edges = sum(e.path_ns for e in finding.edges)
    on_operations = sum(k.path_ns for k in finding.kernels)
    assert on_edges + on_operations == finding.makespan_ns
    assert d.idle_ns + d.kernel_busy_ns == finding.makespan_ns
    assert sum(d.idle_by_cause_ns.values()) == d.idle_ns
    assert all(ns >= 0 for ns in d.idle_by_cause_ns.values())
    assert d.overlap_ns >= 0
    assert sum(run.operations for run in finding.path) == finding.path_operations
    scores = [k.critical_path_score for k in finding.kernels if k.critical_path_score is not None]
    assert sum(scores) <= 1 + 1e-9


@given(traces())
@settings(max_examples=60, deadline=None)
def test_binding_edges_carry_the_observed_lag_and_others_no_more(trace: Trace) -> None:
    graph, _, _ = graph_of(trace)
    n, e = graph.nodes, graph.edges
    assert (e.src < e.dst).all()
    observed = n.start[e.dst] - n.start[e.src] - np.where(e.after_start, 0, n.duration[e.src])
    assert (graph.lag <= observed).all()
    bound = graph.binding[1:]
    assert (graph.lag[bound] == observed[bound]).all()
    assert (e.dst[bound] == np.arange(1, len(graph))).all()


def test_the_compiled_passes_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(7)
    builder = TraceBuilder()
    start = np.sort(rng.integers(0, 1_000_000, 400)).tolist()
    for i, time in enumerate(start):
        stop = time + int(rng.integers(0, 9_000))
        builder.dispatch(f"k{i % 5}", time, stop, stream=int(rng.integers(0, 4)), queue=i % 2)
    graph, _, _ = graph_of(builder.build())
    solver = Solver(graph, np.zeros(len(graph), np.int64))
    edges = graph.edges
    weight = graph.weights(slice(None), graph.nodes.duration[edges.src])
    rows = list(zip(edges.src.tolist(), edges.dst.tolist(), weight.tolist(), strict=True))
    earliest = [0] * len(graph)
    for source, to, lag in sorted(rows, key=lambda row: row[1]):
        earliest[to] = max(earliest[to], earliest[source] + lag)
    assert solver.forward().tolist() == earliest
    deadline = rng.integers(0, 2_000_000, len(graph))
    latest = deadline.tolist()
    for source, to, lag in sorted(rows, key=lambda row: row[1], reverse=True):
        latest[source] = min(latest[source], latest[to] - lag)
    assert solver.backward(deadline).tolist() == latest


def test_when_the_budget_is_spent_a_bound_is_given_and_said_to_be_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(what_if, "BUDGET", 1)
    trace = TraceBuilder().dispatch("a", 0, 1000).dispatch("b", 1100, 1200).build()
    finding: DagFinding = build_and_solve(trace)
    a, b = finding.kernels
    assert (a.what_if_method, b.what_if_method) == ("replay", "bound")
    assert b.drag_ns is None and "Amdahl" in b.reasons["drag_ns"]
    assert [w.makespan_ns for w in b.what_if] == [1180, 1150, 1100]


groups = st.lists(st.tuples(st.integers(-1, 3), st.integers(-5, 20)), min_size=1, max_size=30)


@given(groups, groups)
@settings(max_examples=100, deadline=None)
def test_lookup_by_time(rows: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    group, time = (np.array(c, np.int64) for c in zip(*rows, strict=True))
    line = TimeIndex.of(group, time)
    ask_group, ask_time = (np.array(c, np.int64) for c in zip(*asked, strict=True))
    for scale in (1, 1 << 57):  # the second overflows a packed key
        line = TimeIndex.of(group, time * scale)
        last = line.last_before(ask_group, ask_time * scale)
        after = line.first_after(ask_group, ask_time * scale)
        for i, (g, t) in enumerate(asked):
            before = [(time[r], r) for r in range(len(rows)) if group[r] == g and time[r] <= t]
            later = [(time[r], r) for r in range(len(rows)) if group[r] == g and time[r] > t]
            assert last[i] == (max(before)[1] if before and g >= 0 else NONE)
            assert after[i] == (min(later)[1] if later and g >= 0 else NONE)


@given(groups)
@settings(max_examples=60, deadline=None)
def test_the_longest_lasting_before(rows: list[tuple[int, int]]) -> None:
    group, end = (np.array(c, np.int64) for c in zip(*rows, strict=True))
    result = latest_in_group(group, end)
    for i, (g, _) in enumerate(rows):
        before = [end[r] for r in range(i) if group[r] == g]
        if g < 0 or not before:
            assert result[i] == NONE
        else:
            assert result[i] < i and group[result[i]] == g and end[result[i]] == max(before)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 10)), max_size=20))
@settings(max_examples=60, deadline=None)
def test_union_of_intervals(rows: list[tuple[int, int]]) -> None:
    rows.sort()
    start = np.array([r[0] for r in rows], np.int64)
    end = np.array([r[0] + r[1] for r in rows], np.int64)
    union = Union.of(start, end)
    covered = {t for a, n in rows for t in range(a, a + n)}
    assert union.total == len(covered)
    low, high = np.array([0, 5, 20]), np.array([60, 17, 20])
    expected = [
        len([t for t in covered if a <= t < b])
        for a, b in zip(low.tolist(), high.tolist(), strict=True)
    ]
    assert union.within(low, high).tolist() == expected


def test_speedups_end_with_taking_the_kernel_out() -> None:
    assert SPEEDUPS == (1.25, 2.0, None)
    assert [k.name for k in Kind][-1] == "INFERRED"
