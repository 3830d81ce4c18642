"""The graph itself: nodes in time order, constraints with lags, and which one bound each node.

Every edge gets the smallest lag it is known to have; the one that a node was really waiting for
gets the lag that was observed. So replaying unchanged durations gives the observed times, and
replaying shorter ones moves work forward only as far as the other constraints allow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.analyze.graph.calls import Calls
from rocm_perf_lab.analyze.graph.calls import calls as host_calls
from rocm_perf_lab.analyze.graph.columns import NONE, Timeline, stable_order
from rocm_perf_lab.analyze.graph.device_order import (
    Frontier,
    event_waits,
    graph_boundaries,
    legacy_default_stream,
    queue_order,
    stream_order,
)
from rocm_perf_lab.analyze.graph.host_order import anchors, syncs
from rocm_perf_lab.analyze.graph.model import (
    LATENCIES,
    LOW_QUANTILE,
    ORIGIN,
    SEAM_NS,
    Bools,
    Confidence,
    Edges,
    Ints,
    Kind,
    edges,
    join,
)
from rocm_perf_lab.analyze.graph.operations import Operations
from rocm_perf_lab.trace.model import Trace

DEVICE_KINDS = (Kind.STREAM, Kind.QUEUE, Kind.EVENT, Kind.LEGACY_DEFAULT_STREAM, Kind.GRAPH)
STRICT_KINDS = (Kind.EVENT, Kind.LEGACY_DEFAULT_STREAM)
NEVER = -(1 << 62)
# How much earlier the rest must have been ready, where it is not a launch's latency.
_MARGINS = {
    Kind.HOST_LAUNCH: 0,  # a launch takes longer to arrive than a dependency to resolve
    Kind.HOST_SYNC: 0,  # likewise a wait to return than a call to be made
    Kind.HOST_ORDER: LATENCIES[Kind.HOST_SYNC].ceiling,
}


@dataclass(frozen=True)
class Graph:
    """Node 0 is the origin; the rest are operations and returns of waiting calls, by time."""

    start: Ints
    duration: Ints
    operation: Ints  # per node: row of Operations, NONE for the host
    node_of_operation: Ints
    first: Ints  # CSR: the edges into node v are first[v]:first[v + 1]
    edges: Edges  # sorted by dst
    lag: Ints
    binding: Ints  # per node: the edge it waited for, NONE for the origin
    call_enter: Ints  # per operation: when its launch call began, NEVER unknown
    has_host: bool
    contradicted: int  # constraints the timestamps refute, left out
    truncated: bool

    def __len__(self) -> int:
        return len(self.start)

    def weight(self, duration: Ints) -> Ints:
        """Per edge, how long after src's start dst may begin, for these durations."""
        return self.weights(slice(None), duration[self.edges.src])

    def weights(self, which: Ints | slice, src_duration: Ints) -> Ints:
        """The same of some edges, given their sources' durations."""
        waited = np.where(self.edges.after_start[which], 0, src_duration)
        return np.maximum(waited + self.lag[which], 0)


def build(trace: Trace, ops: Operations) -> Graph:
    calls = host_calls(trace, ops) if len(trace.regions) and len(ops) else None
    between = [stream_order(ops, calls), queue_order(ops)]
    frontier = None
    if calls is not None:
        frontier = Frontier(ops, calls)
        between += [
            event_waits(ops, calls, frontier),
            graph_boundaries(ops, calls, frontier),
            legacy_default_stream(ops, calls),
        ]
    host = _Host.of(ops, calls, frontier)

    times = np.concatenate([[0], host.leave, ops.start])
    order = np.argsort(times, kind="stable")
    node = np.empty(len(order), np.int64)
    node[order] = np.arange(len(order))
    returns, node_of_op = node[1 : 1 + len(host.leave)], node[1 + len(host.leave) :]
    operation = np.full(len(order), NONE, np.int64)
    operation[node_of_op] = np.arange(len(ops))
    duration = np.zeros(len(order), np.int64)
    duration[node_of_op] = ops.duration
    start = times[order]

    known = join(between)
    known = Edges(
        node_of_op[known.src],
        node_of_op[known.dst],
        known.kind,
        known.confidence,
        known.after_start,
        known.rigid,
    )
    known = join([known, *host.edges(calls, returns, node_of_op)])
    possible = known.src < known.dst
    overlap = start[known.src] + duration[known.src] - start[known.dst]
    possible &= ~(np.isin(known.kind, STRICT_KINDS) & (overlap > SEAM_NS))
    contradicted = host.contradicted + int(len(known) - possible.sum())
    known = known.take(possible)
    known = known.take(stable_order(known.dst))

    enter = np.full(len(ops), NEVER, np.int64)
    leave = np.full(len(ops), NEVER, np.int64)
    if calls is not None:
        launched = calls.of_operation >= 0
        enter[launched] = calls.enter[calls.of_operation[launched]]
        leave[launched] = calls.leave[calls.of_operation[launched]]
    per_node_leave = np.full(len(order), NEVER, np.int64)
    per_node_leave[node_of_op] = leave
    per_node_enter = np.full(len(order), NEVER, np.int64)
    per_node_enter[node_of_op] = enter
    per_node_enter[returns] = host.enter
    is_copy = np.zeros(len(order), np.bool_)
    is_copy[node_of_op] = ops.is_copy

    reference = start[known.src] + np.where(known.after_start, 0, duration[known.src])
    observed = start[known.dst] - reference
    latency = _latencies(known, reference, observed, per_node_enter, is_copy, start)
    ready = reference + known.rigid + latency
    best = _latest(known, ready, len(order))

    inferred = _inferred(ops, known, best, start, operation, node_of_op, per_node_leave)
    all_edges = join([known, inferred])
    lag = np.concatenate([np.minimum(known.rigid + latency, observed), inferred.rigid])
    binding = best
    binding[inferred.dst] = len(known) + np.arange(len(inferred))
    bound = binding[1:]
    lag[bound[bound < len(known)]] = observed[bound[bound < len(known)]]
    resort = stable_order(all_edges.dst)
    position = np.empty(len(resort), np.int64)
    position[resort] = np.arange(len(resort))
    binding[1:] = position[bound]
    all_edges = all_edges.take(resort)
    first = np.zeros(len(order) + 1, np.int64)
    np.cumsum(np.bincount(all_edges.dst, minlength=len(order)), out=first[1:])
    return Graph(
        start=start,
        duration=duration,
        operation=operation,
        node_of_operation=node_of_op,
        first=first,
        edges=all_edges,
        lag=lag[resort],
        binding=binding,
        call_enter=enter,
        has_host=calls is not None and bool((calls.of_operation >= 0).any()),
        contradicted=contradicted,
        truncated=frontier is not None and frontier.truncated,
    )


@dataclass(frozen=True)
class _Host:
    """Returns of waiting calls as future nodes, and what they and the launches hang on."""

    rows: Ints  # into Calls: the calls that become nodes
    enter: Ints
    leave: Ints
    sync_return: Ints  # per sync pair: which of `rows`
    sync_operation: Ints
    contradicted: int

    @staticmethod
    def of(ops: Operations, calls: Calls | None, frontier: Frontier | None) -> _Host:
        empty = np.empty(0, np.int64)
        if calls is None or frontier is None:
            return _Host(empty, empty, empty, empty, empty, 0)
        waits = syncs(ops, calls, frontier)
        # A return after the last operation holds nothing back.
        live = calls.leave[waits.call] <= ops.span_ns
        live &= calls.leave[waits.call] > 0
        rows, which = np.unique(waits.call[live], return_inverse=True)
        rows_by_leave = np.argsort(calls.leave[rows], kind="stable")
        place = np.empty(len(rows), np.int64)
        place[rows_by_leave] = np.arange(len(rows))
        rows = rows[rows_by_leave]
        return _Host(
            rows,
            calls.enter[rows],
            calls.leave[rows],
            place[which],
            waits.operation[live],
            waits.contradicted,
        )

    def edges(self, calls: Calls | None, returns: Ints, node_of_op: Ints) -> list[Edges]:
        if calls is None:
            return []
        launched = np.flatnonzero(calls.of_operation >= 0)
        launcher = calls.of_operation[launched]
        asked = np.concatenate([launcher, self.rows])
        anchor = anchors(calls, self.rows, asked)
        hangs = anchor.row >= 0
        src = np.full(len(asked), ORIGIN, np.int64)
        src[hangs] = returns[anchor.row[hangs]]
        since = np.zeros(len(asked), np.int64)
        since[hangs] = self.leave[anchor.row[hangs]]
        rigid = calls.enter[asked] - since
        sure = np.where(anchor.guessed, Confidence.LOW, Confidence.HIGH).astype(np.int8)
        n = len(launched)
        return [
            edges(src[:n], node_of_op[launched], Kind.HOST_LAUNCH, sure[:n], rigid=rigid[:n]),
            edges(src[n:], returns, Kind.HOST_ORDER, sure[n:], rigid=rigid[n:]),
            edges(
                node_of_op[self.sync_operation],
                returns[self.sync_return],
                Kind.HOST_SYNC,
                Confidence.HIGH,
            ),
        ]


def _latencies(
    known: Edges,
    reference: Ints,
    observed: Ints,
    enter: Ints,
    is_copy: Bools,
    start: Ints,
) -> Ints:
    """Per edge the latency its kind is known to have: a low quantile over examples of it."""
    result = np.zeros(len(known), np.int64)
    if not len(known):
        return result
    waiting = observed - known.rigid
    device_ready = np.full(len(start), NEVER, np.int64)
    on_device = np.isin(known.kind, DEVICE_KINDS) & ~known.after_start
    _running_max(device_ready, known.dst[on_device], reference[on_device])
    sync = known.kind == Kind.HOST_SYNC
    _running_max(device_ready, known.dst[sync], reference[sync])
    # An example of a kind's latency is an edge that nothing else can have outlasted: the host
    # came after the device for HOST_LAUNCH and HOST_ORDER, well before it for the others.
    call, ready = enter[known.dst], device_ready[known.dst]
    margin = np.array([_MARGINS.get(k, LATENCIES[Kind.HOST_LAUNCH].ceiling) for k in Kind])
    clear = margin[known.kind]
    example = np.where(
        np.isin(known.kind, (Kind.HOST_LAUNCH, Kind.HOST_ORDER)),
        ready + clear <= call,
        (reference == ready) & (call + clear <= reference),
    )
    for kind, expected in LATENCIES.items():
        for copy in (False, True):
            mine = (known.kind == kind) & (is_copy[known.dst] == copy) & ~known.after_start
            if not mine.any():
                continue
            samples = waiting[mine & example]
            estimate = expected.typical
            if len(samples):
                estimate = int(np.quantile(samples, LOW_QUANTILE, method="lower"))
            result[mine] = min(estimate, expected.ceiling)
    return result


def _running_max(target: Ints, index: Ints, value: Ints) -> None:
    """target[index] = max(target[index], value), index sorted."""
    if not len(index):
        return
    first = np.flatnonzero(np.append(True, index[1:] != index[:-1]))
    where = index[first]
    target[where] = np.maximum(target[where], np.maximum.reduceat(value, first))


def _latest(known: Edges, ready: Ints, n_nodes: int) -> Ints:
    """Per node the edge that was ready last, NONE without edges."""
    result = np.full(n_nodes, NONE, np.int64)
    latest = np.full(n_nodes, NEVER, np.int64)
    _running_max(latest, known.dst, ready)
    winners = np.flatnonzero(ready == latest[known.dst])[::-1]
    result[known.dst[winners]] = winners
    return result


def _inferred(
    ops: Operations,
    known: Edges,
    best: Ints,
    start: Ints,
    operation: Ints,
    node_of_op: Ints,
    leave: Ints,
) -> Edges:
    """Operations that began later than any known constraint explains: after the operation of
    their process that finished last before, at the lag observed."""
    jitter = np.array([LATENCIES[k].jitter for k in Kind], np.int64)
    nodes: npt.NDArray[np.int64] = np.flatnonzero(operation >= 0)
    bound = best[nodes]
    has_edge = bound >= 0
    safe = np.where(has_edge, bound, 0)
    if len(known):
        src = known.src[safe]
        end = start[src] + ops.duration[operation[src]] * (operation[src] >= 0)
        reference = np.where(known.after_start[safe], start[src], end) + known.rigid[safe]
        # A launch call that itself takes long (a first launch loads code) explains the wait.
        reference = np.maximum(
            reference, np.where(known.kind[safe] == Kind.HOST_LAUNCH, leave[nodes], NEVER)
        )
        late = start[nodes] - reference > jitter[known.kind[safe]]
    else:
        late = np.ones(len(nodes), np.bool_)
    asked = nodes[late | ~has_edge]
    rows = operation[asked]
    line = Timeline.of(ops.process, ops.start + ops.duration)
    before = line.last_before(ops.process[rows], ops.start[rows])
    wrong = (before < 0) | (node_of_op[before] >= asked)
    strict = line.last_before(ops.process[rows], ops.start[rows], strictly=True)
    before = np.where(wrong, strict, before)
    src = np.where(before >= 0, node_of_op[before], ORIGIN)
    end = np.where(before >= 0, ops.start[before] + ops.duration[before], 0)
    lag = start[asked] - end
    return edges(src, asked, Kind.INFERRED, Confidence.LOW, rigid=lag)
