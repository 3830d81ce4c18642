"""Lags: what each constraint costs, which one each node waited for, and what is left over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rocm_perf_lab.analyze.graph.columns import NONE, TimeIndex
from rocm_perf_lab.analyze.graph.edges import (
    LATENCIES,
    LOW_QUANTILE,
    NEVER,
    ORIGIN,
    Bools,
    Confidence,
    Edges,
    Index,
    Ints,
    Kind,
    edges,
)

DEVICE_KINDS = (Kind.STREAM, Kind.QUEUE, Kind.EVENT, Kind.LEGACY_DEFAULT_STREAM, Kind.GRAPH)
# How much earlier the rest must have been ready for an edge to count as an example, where that
# is not a launch's latency.
MARGINS = {
    Kind.HOST_LAUNCH: 0,  # a launch takes longer to arrive than a dependency to resolve
    Kind.HOST_SYNC: 0,  # likewise a wait to return than a call to be made
    Kind.HOST_ORDER: LATENCIES[Kind.HOST_SYNC].ceiling,
}


@dataclass(frozen=True)
class Nodes:
    """The origin, then operations and returns of waiting calls, by time."""

    start: Ints
    duration: Ints
    operation: Index  # row of Operations, NONE for the host
    process: Index  # NONE for the host
    is_copy: Bools
    call_enter: Ints  # of the call that launched it or returns here, NEVER unknown
    call_leave: Ints
    call: Index  # that call's row of the trace's regions, NONE unknown

    def __len__(self) -> int:
        return len(self.start)


def estimate(nodes: Nodes, known: Edges) -> tuple[Ints, Ints, Ints]:
    """Per edge the smallest lag it is known to have and the lag observed; per node the edge
    that was ready last. Edges are sorted by dst."""
    reference = nodes.start[known.src] + np.where(known.after_start, 0, nodes.duration[known.src])
    observed = nodes.start[known.dst] - reference
    natural = known.rigid + _latencies(nodes, known, reference, observed)
    best = _latest(known, reference + natural, len(nodes))
    return natural, observed, best


def _latencies(nodes: Nodes, known: Edges, reference: Ints, observed: Ints) -> Ints:
    """Per edge the latency its kind is known to have: a low quantile over examples of it."""
    device_ready = np.full(len(nodes), NEVER, np.int64)
    awaited = known.of_kind(*DEVICE_KINDS, Kind.HOST_SYNC) & ~known.after_start
    _running_max(device_ready, known.dst[awaited], reference[awaited])
    # An example of a kind's latency is an edge that nothing else can have outlasted: the host
    # came after the device for HOST_LAUNCH and HOST_ORDER, well before it for the others.
    margin = np.array([MARGINS.get(k, LATENCIES[Kind.HOST_LAUNCH].ceiling) for k in Kind])
    by_host = known.of_kind(Kind.HOST_LAUNCH, Kind.HOST_ORDER)
    last = np.flatnonzero(~by_host & ~known.after_start)
    last = last[reference[last] == device_ready[known.dst[last]]]
    ahead = reference[last] - nodes.call_enter[known.dst[last]]
    after = np.flatnonzero(by_host)
    behind = nodes.call_enter[known.dst[after]] - device_ready[known.dst[after]]
    examples = np.concatenate(
        [last[ahead >= margin[known.kind[last]]], after[behind >= margin[known.kind[after]]]]
    )
    del last, ahead, after, behind, by_host
    group = known.kind * np.int8(2) + nodes.is_copy[known.dst]
    table = np.zeros(2 * len(Kind), np.int64)
    waited, group_of = observed[examples] - known.rigid[examples], group[examples]
    for kind, expected in LATENCIES.items():
        for copy in (0, 1):
            samples = waited[group_of == 2 * kind + copy]
            seen = expected.typical
            if len(samples):
                seen = int(np.quantile(samples, LOW_QUANTILE, method="lower"))
            table[2 * kind + copy] = min(seen, expected.ceiling)
    return np.where(known.after_start, 0, table[group])


def _running_max(target: Ints, index: Index, value: Ints) -> None:
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


def inferred(nodes: Nodes, known: Edges, best: Ints) -> Edges:
    """Operations that began later than any known constraint explains: after the operation of
    their process that finished last before, at the lag observed."""
    jitter = np.array([LATENCIES[k].jitter for k in Kind], np.int64)
    unexplained = best < 0
    bound = np.flatnonzero((best >= 0) & (nodes.operation >= 0))
    edge = best[bound]
    src, kind = known.src[edge], known.kind[edge]
    ready = nodes.start[src] + np.where(known.after_start[edge], 0, nodes.duration[src])
    ready += known.rigid[edge]
    # A launch call that itself takes long (a first launch loads code) explains the wait.
    called = np.where(kind == Kind.HOST_LAUNCH, nodes.call_leave[bound], NEVER)
    unexplained[bound] = nodes.start[bound] - np.maximum(ready, called) > jitter[kind]
    unexplained[ORIGIN] = False
    asked = np.flatnonzero(unexplained)

    candidates = np.flatnonzero(nodes.operation >= 0)
    end = nodes.start + nodes.duration
    line = TimeIndex.of(nodes.process[candidates], end[candidates])
    row = line.last_before(nodes.process[asked], nodes.start[asked])
    later = (row >= 0) & (candidates[row] >= asked)
    row[later] = line.last_before(
        nodes.process[asked[later]], nodes.start[asked[later]], strictly=True
    )
    src = np.where(row >= 0, candidates[row], ORIGIN)
    lag = nodes.start[asked] - np.where(row >= 0, end[src], 0)
    return edges(src, asked, Kind.INFERRED, Confidence.LOW, rigid=lag)
