"""The graph itself: nodes in time order, constraints with lags, and which one bound each node.

Every edge gets the smallest lag it is known to have; the one that a node was really waiting for
gets the lag that was observed. So replaying unchanged durations gives the observed times, and
replaying shorter ones moves work forward only as far as the other constraints allow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rocm_perf_lab.analyze.graph.calls import calls as host_calls
from rocm_perf_lab.analyze.graph.columns import NONE, stable_order
from rocm_perf_lab.analyze.graph.device_order import (
    Frontier,
    event_waits,
    graph_boundaries,
    legacy_default_stream,
    queue_order,
    stream_order,
)
from rocm_perf_lab.analyze.graph.edges import NEVER, SEAM_NS, Edges, Index, Ints, Kind, join
from rocm_perf_lab.analyze.graph.host_order import Returns
from rocm_perf_lab.analyze.graph.lags import Nodes, estimate, inferred
from rocm_perf_lab.analyze.graph.operations import Operations
from rocm_perf_lab.trace.trace import Trace

STRICT_KINDS = (Kind.EVENT, Kind.LEGACY_DEFAULT_STREAM)


@dataclass(frozen=True)
class Graph:
    """Node 0 is the origin; the rest are operations and returns of waiting calls, by time."""

    nodes: Nodes
    node_of_operation: Index
    first: Ints  # CSR: the edges into node v are first[v]:first[v + 1]
    edges: Edges  # sorted by dst
    lag: Ints
    binding: Ints  # per node: the edge it waited for, NONE for the origin
    has_host: bool
    contradicted: int  # constraints the timestamps refute, left out
    truncated: bool

    def __len__(self) -> int:
        return len(self.nodes)

    def weights(self, which: Ints | slice, src_duration: Ints) -> Ints:
        """Per edge, how long after src's start dst may begin, given src's duration."""
        waited = np.where(self.edges.after_start[which], 0, src_duration)
        return np.maximum(waited + self.lag[which], 0)


def build(trace: Trace, ops: Operations) -> Graph:
    nodes, node_of_op, known, contradicted, truncated = _constraints(trace, ops)
    possible = known.src < known.dst
    overlap = nodes.start[known.src] + nodes.duration[known.src] - nodes.start[known.dst]
    possible &= ~(known.of_kind(*STRICT_KINDS) & (overlap > SEAM_NS))
    contradicted += int(len(known) - possible.sum())
    del overlap
    order = stable_order(known.dst)
    known = known.take(order[possible[order]])
    del order, possible  # a trace of millions of launches is held as few times as can be

    natural, observed, binding = estimate(nodes, known)
    guesses = inferred(nodes, known, binding)
    lag = np.concatenate([np.minimum(natural, observed), guesses.rigid])
    binding[guesses.dst] = len(known) + np.arange(len(guesses))
    bound = binding[1:][binding[1:] < len(known)]
    lag[bound] = observed[bound]
    del natural, observed
    every = join([known, guesses])
    del known, guesses
    order = stable_order(every.dst)
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    binding[1:] = position[binding[1:]]
    del position
    every = every.take(order)
    first = np.zeros(len(nodes) + 1, np.int64)
    np.cumsum(np.bincount(every.dst, minlength=len(nodes)), out=first[1:])
    return Graph(
        nodes=nodes,
        node_of_operation=node_of_op,
        first=first,
        edges=every,
        lag=lag[order],
        binding=binding,
        has_host=bool(every.of_kind(Kind.HOST_LAUNCH).any()),
        contradicted=contradicted,
        truncated=truncated,
    )


def _constraints(trace: Trace, ops: Operations) -> tuple[Nodes, Index, Edges, int, bool]:
    """Nodes, the node of each operation, everything known to order them, and how much of that
    was left out: refuted by the times, or too much."""
    calls = host_calls(trace, ops) if len(trace.regions) and len(ops) else None
    calls = calls if calls is not None and len(calls) else None  # none that orders anything
    between = [stream_order(ops, calls), queue_order(ops)]
    frontier = None
    if calls is not None:
        frontier = Frontier(ops, calls)
        between += [
            event_waits(ops, calls, frontier),
            graph_boundaries(ops, calls, frontier),
            legacy_default_stream(ops, calls),
        ]
    host = Returns.of(ops, calls, frontier)

    # Returns before operations of the same instant, which may have been launched after them.
    times = np.concatenate([[0], host.leave, ops.start])
    order = np.argsort(times, kind="stable")
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    returns, node_of_op = place[1 : 1 + len(host.leave)], place[1 + len(host.leave) :]
    operation = np.full(len(order), NONE, np.int32)
    operation[node_of_op] = np.arange(len(ops))
    process = np.full(len(order), NONE, np.int32)
    process[node_of_op] = ops.process
    duration = np.zeros(len(order), np.int64)
    duration[node_of_op] = ops.duration
    is_copy = np.zeros(len(order), np.bool_)
    is_copy[node_of_op] = ops.is_copy
    enter, leave = np.full((2, len(order)), NEVER, np.int64)
    enter[returns], leave[returns] = host.enter, host.leave
    call = np.full(len(order), NONE, np.int32)
    if calls is not None:
        call[returns] = calls.region[host.rows]
        launched = np.flatnonzero(calls.of_operation >= 0)
        launcher = calls.of_operation[launched]
        enter[node_of_op[launched]] = calls.enter[launcher]
        leave[node_of_op[launched]] = calls.leave[launcher]
        call[node_of_op[launched]] = calls.region[launcher]
    nodes = Nodes(times[order], duration, operation, process, is_copy, enter, leave, call)

    on_device = join(between)
    del between, times, order, place, enter, leave
    on_device = replace(on_device, src=node_of_op[on_device.src], dst=node_of_op[on_device.dst])
    known = join([on_device, *host.edges(calls, returns, node_of_op)])
    truncated = frontier is not None and frontier.truncated
    return nodes, node_of_op, known, host.contradicted, truncated
