"""Idle time of the device, and the time on the critical path, by what was being waited for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rocm_perf_lab.analyze.graph.columns import Union
from rocm_perf_lab.analyze.graph.edges import NEVER, ORIGIN, Confidence, Index, Ints, Kind
from rocm_perf_lab.analyze.graph.graph import Graph
from rocm_perf_lab.analyze.graph.operations import Operations

COPIES, HOST, LAUNCH, SYNC, DEPENDENCY, UNKNOWN = (
    "copies",  # a copy was running, or the host was inside the call that makes it
    "host",  # host code between two calls, or inside a call that did not wait
    "launch",  # from the launch call to the kernel's start
    "sync",  # from the end of the awaited work to the return of the call that waited
    "dependency",  # from the end of the awaited operation to the start of the next
    "unknown",  # no recorded constraint explains it
)
CAUSES = (COPIES, HOST, LAUNCH, SYNC, DEPENDENCY, UNKNOWN)
# Waits behind each other inside one gap; the time before the last of so many is the host's.
DEEPEST_GAP = 256


@dataclass(frozen=True)
class Gaps:
    """Time without a kernel: stretches, each ended by a dispatch, and the pieces of them."""

    low: Ints  # per gap
    high: Ints
    ender: Ints  # the operation that ended it, -1 for what follows the last kernel
    of: Ints  # per piece: the gap it is of
    cause: Ints  # -> CAUSES
    start: Ints
    end: Ints
    length: Ints  # without the time a copy ran meanwhile, which is a piece of its own
    running: Union  # kernels
    copying: Union
    busy: Union  # either

    def by_cause(self, which: Ints | slice = slice(None)) -> dict[str, int]:
        """How long, over these pieces, each cause lasted."""
        total = np.zeros(len(CAUSES), np.int64)
        np.add.at(total, self.cause[which], self.length[which])
        return dict(zip(CAUSES, total.tolist(), strict=True))


def split(graph: Graph, edge: Ints, low: Ints, high: Ints) -> Iterator[tuple[str, Ints, Ints]]:
    """Cut each interval that ends where edge's dst begins into (cause, from, to) pieces."""
    e, nodes = graph.edges, graph.nodes
    kind, src, dst = e.kind[edge], e.src[edge], e.dst[edge]
    sure = e.confidence[edge] > Confidence.LOW
    # From the anchor's return the host ran; before it, the sync was still coming back.
    back = np.clip(nodes.start[src], low, high)
    call = np.clip(np.maximum(nodes.call_enter[dst], back), low, high)
    launch = (kind == Kind.HOST_LAUNCH) & sure
    order = (kind == Kind.HOST_ORDER) & sure
    sync = kind == Kind.HOST_SYNC
    device = sure & ~launch & ~order & ~sync
    # Whatever held the host back, an operation was not to be had before it was asked for, nor
    # before the call that asked returned.
    known = nodes.call_enter[dst] > NEVER
    asked = np.where(known, np.clip(nodes.call_enter[dst], low, high), low)
    answered = np.where(known, np.clip(nodes.call_leave[dst], asked, high), low)
    # A blocking copy is its call's from beginning to end: staging and pinning are part of it.
    copy = nodes.is_copy[dst]
    own_copy = nodes.is_copy[src] & (nodes.call[src] >= 0) & (nodes.call[src] == nodes.call[dst])
    for cause, where, begin, end in (
        (SYNC, launch, low, back),
        (HOST, launch, back, call),
        (LAUNCH, launch & ~copy, call, high),
        (COPIES, launch & copy, call, high),
        (HOST, order, low, high),
        (SYNC, sync & ~own_copy, low, high),
        (COPIES, sync & own_copy, low, high),
        (DEPENDENCY, device, low, high),
        (HOST, ~sure, low, asked),
        (LAUNCH, ~sure, asked, answered),
        (UNKNOWN, ~sure, answered, high),
    ):
        if where.any():
            yield cause, np.where(where, begin, high), np.where(where, end, high)


def gaps(graph: Graph, ops: Operations) -> Gaps:
    end = ops.end
    kernels = np.flatnonzero(~ops.is_copy)
    copies = np.flatnonzero(ops.is_copy)
    running = Union.of(ops.start[kernels], end[kernels])
    copying = Union.of(ops.start[copies], end[copies])
    low = np.append(0, running.end)
    high = np.append(running.start, ops.span_ns)
    ender = kernels[running.row]
    pieces = _Pieces()
    number = np.arange(len(low))
    pieces.add(COPIES, number, low, high, copying.within(low, high))
    if len(ops):
        # What follows the last kernel ends with the operation that ends last, a copy.
        until = np.append(ender, np.argmax(end))
        top = np.append(high[:-1], np.clip(ops.start[until[-1]], low[-1], high[-1]))
        for cause, which, begin, stop in _chains(graph, graph.node_of_operation[until], low, top):
            pieces.add(cause, which, begin, stop, stop - begin - copying.within(begin, stop))
    return Gaps(
        low=low,
        high=high,
        ender=np.append(ender, -1).astype(np.int64),
        **pieces.columns(),
        running=running,
        copying=copying,
        busy=Union.of(ops.start, end),
    )


class _Pieces:
    def __init__(self) -> None:
        self._rows: list[tuple[Ints, ...]] = []

    def add(self, cause: str, of: Ints, start: Ints, end: Ints, length: Ints) -> None:
        kept = length > 0
        causes = np.full(int(kept.sum()), CAUSES.index(cause), np.int64)
        self._rows.append((of[kept], causes, start[kept], end[kept], length[kept]))

    def columns(self) -> dict[str, Ints]:
        columns = zip(*self._rows, strict=True)
        names = ("of", "cause", "start", "end", "length")
        return {name: np.concatenate(c) for name, c in zip(names, columns, strict=True)}


def _chains(
    graph: Graph, node: Index, low: Ints, high: Ints
) -> Iterator[tuple[str, Ints, Ints, Ints]]:
    """Each gap from its end backwards, by what each node in it waited for: (cause, gap, from,
    to). What the host did between two waits is told from the waits."""
    nodes, src_of = graph.nodes, graph.edges.src
    number = np.arange(len(node))
    top = high
    for _ in range(DEEPEST_GAP):
        if not len(number):
            return
        edge = graph.binding[node]
        src = src_of[edge]
        floor = np.clip(nodes.start[src] + nodes.duration[src], low, top)
        for cause, begin, stop in split(graph, edge, floor, top):
            yield cause, number, begin, stop
        top = np.clip(nodes.start[src], low, floor)
        more = np.flatnonzero((top > low) & (src != ORIGIN))
        number, node, low, top = number[more], src[more], low[more], top[more]
    yield HOST, number, low, top
