"""Idle time of the device, and the time on the critical path, by what was being waited for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rocm_perf_lab.analyze.graph.columns import Union
from rocm_perf_lab.analyze.graph.edges import Confidence, Index, Ints, Kind
from rocm_perf_lab.analyze.graph.graph import Graph
from rocm_perf_lab.analyze.graph.operations import Operations

COPIES, HOST, LAUNCH, SYNC, DEPENDENCY, UNKNOWN = (
    "copies",  # a copy was running
    "host",  # host code between two calls, or inside a call that did not wait
    "launch",  # from the launch call to the kernel's start
    "sync",  # from the end of the awaited work to the return of the call that waited
    "dependency",  # from the end of the awaited operation to the start of the next
    "unknown",  # no recorded constraint explains it
)
CAUSES = (COPIES, HOST, LAUNCH, SYNC, DEPENDENCY, UNKNOWN)


@dataclass(frozen=True)
class Gaps:
    """One row per gap between kernels: its cause, length, and the dispatch that ended it."""

    cause: Ints  # -> CAUSES
    length: Ints
    name: Index  # of the ending dispatch, -1 for the gap after the last
    kernel_busy_ns: int
    copy_busy_ns: int
    busy_ns: int


def split(graph: Graph, edge: Ints, low: Ints, high: Ints) -> Iterator[tuple[str, Ints, Ints]]:
    """Cut each interval that ends where edge's dst begins into (cause, from, to) pieces."""
    e = graph.edges
    kind, src, dst = e.kind[edge], e.src[edge], e.dst[edge]
    sure = e.confidence[edge] > Confidence.LOW
    # From the anchor's return the host ran; before it, the sync was still coming back.
    back = np.clip(graph.nodes.start[src], low, high)
    call = np.clip(np.maximum(graph.nodes.call_enter[dst], back), low, high)
    launch = (kind == Kind.HOST_LAUNCH) & sure
    order = (kind == Kind.HOST_ORDER) & sure
    sync = kind == Kind.HOST_SYNC
    device = sure & ~launch & ~order & ~sync
    for cause, where, begin, end in (
        (SYNC, launch, low, back),
        (HOST, launch, back, call),
        (LAUNCH, launch, call, high),
        (HOST, order, low, high),
        (SYNC, sync, low, high),
        (DEPENDENCY, device, low, high),
        (UNKNOWN, ~sure, low, high),
    ):
        if where.any():
            yield cause, np.where(where, begin, high), np.where(where, end, high)


def gaps(graph: Graph, ops: Operations) -> Gaps:
    end = ops.end
    kernels = np.flatnonzero(~ops.is_copy)
    copies = np.flatnonzero(ops.is_copy)
    running = Union.of(ops.start[kernels], end[kernels])
    copying = Union.of(ops.start[copies], end[copies])
    busy = Union.of(ops.start, end)
    low = np.append(0, running.end)
    high = np.append(running.start, ops.span_ns)
    ender = kernels[running.row]
    edge = graph.binding[graph.node_of_operation[ender]]
    name = ops.name[ender]

    causes, lengths, names = [], [], []

    def add(cause: str, length: Ints, of: Index) -> None:
        kept = length > 0
        causes.append(np.full(int(kept.sum()), CAUSES.index(cause), np.int64))
        lengths.append(length[kept])
        names.append(of[kept])

    add(COPIES, copying.within(low, high), np.append(name, -1))
    for cause, begin, stop in split(graph, edge, low[:-1], high[:-1]):
        add(cause, stop - begin - copying.within(begin, stop), name)
    tail = high[-1:] - low[-1:] - copying.within(low[-1:], high[-1:])
    add(UNKNOWN, tail, np.array([-1], np.int32))
    return Gaps(
        cause=np.concatenate(causes),
        length=np.concatenate(lengths),
        name=np.concatenate(names),
        kernel_busy_ns=running.total,
        copy_busy_ns=copying.total,
        busy_ns=busy.total,
    )
