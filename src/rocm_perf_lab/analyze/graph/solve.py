"""Longest-path passes over the graph's edges; nodes are in time order, which is topological."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rocm_perf_lab.analyze.graph.columns import stable_order
from rocm_perf_lab.analyze.graph.edges import NEVER, ORIGIN, Ints
from rocm_perf_lab.analyze.graph.graph import Graph
from rocm_perf_lab.loops import address, library


class Solver:
    """Passes over one graph."""

    def __init__(self, graph: Graph, node_name: Ints) -> None:
        """`node_name`: the kernel or kind of copy of every node, -1 for the host."""
        self.graph = graph
        self._loops = library()
        weight = graph.weights(slice(None), graph.nodes.duration[graph.edges.src])
        self._first = np.ascontiguousarray(graph.first, np.int64)
        self._src = np.ascontiguousarray(graph.edges.src, np.int32)
        self._weight = np.ascontiguousarray(weight, np.int64)
        self._finish = np.where(graph.nodes.operation >= 0, graph.nodes.duration, NEVER)
        # A kernel's edges (those out of its dispatches) and nodes, as slices of an order.
        edge_name = node_name[graph.edges.src]
        names = int(node_name.max()) + 1
        self._edges, self._edge_slices = _grouped(edge_name, names)
        self._nodes, self._node_slices = _grouped(node_name, names)

    def forward(self) -> Ints:
        """Earliest start of every node."""
        start = np.zeros(len(self.graph), np.int64)
        self._loops.rpl_forward(len(start), *self._addresses(), address(start))
        return start

    def backward(self, deadline: Ints) -> Ints:
        """Latest start of every node that keeps each within its deadline."""
        latest: Ints = deadline.copy()
        self._loops.rpl_backward(len(latest), *self._addresses(), address(latest))
        return latest

    def _addresses(self) -> tuple[int, int, int]:
        return address(self._first), address(self._src), address(self._weight)

    def makespan(self) -> int:
        return int((self.forward() + self._finish).max(initial=0))

    def makespans_if(self, name: int, speedups: Sequence[float | None]) -> list[int]:
        """Makespans with every operation of that name that much faster."""
        graph = self.graph
        edges = self._edges[slice(*self._edge_slices[name : name + 2])]
        nodes = self._nodes[slice(*self._node_slices[name : name + 2])]
        source = graph.nodes.duration[graph.edges.src[edges]]
        own = graph.nodes.duration[nodes]
        results = []
        for speedup in speedups:
            self._weight[edges] = graph.weights(edges, faster(source, speedup))
            self._finish[nodes] = faster(own, speedup)
            results.append(self.makespan())
        self._weight[edges] = graph.weights(edges, source)
        self._finish[nodes] = own
        return results


def _grouped(name: Ints, names: int) -> tuple[Ints, list[int]]:
    """Rows ordered by name, host rows left out, and where each name's rows begin."""
    order = stable_order(name)
    order = order[np.searchsorted(name[order], 0) :]
    counts = np.bincount(name[order], minlength=names)
    return order, [0, *np.cumsum(counts).tolist()]


def faster(duration: Ints, speedup: float | None) -> Ints:
    if speedup is None:
        return np.zeros_like(duration)
    return np.ceil(duration / speedup).astype(np.int64)


def slack(solver: Solver, end_ns: int) -> Ints:
    """Per node, how much later it may begin without moving the end of the last operation."""
    nodes = solver.graph.nodes
    deadline = np.where(nodes.operation >= 0, end_ns - nodes.duration, -NEVER)
    return solver.backward(deadline) - nodes.start


def critical_path(graph: Graph) -> Ints:
    """Nodes from the first after the origin to the one that ends last, by binding edges."""
    nodes = graph.node_of_operation
    if not len(nodes):
        return np.empty(0, np.int64)
    end = graph.nodes.start[nodes] + graph.nodes.duration[nodes]
    node = int(nodes[np.flatnonzero(end == end.max())[-1]])
    before = np.where(graph.binding >= 0, graph.edges.src[graph.binding], ORIGIN).tolist()
    path = []
    while node != ORIGIN:
        path.append(node)
        node = before[node]
    return np.array(path[::-1], np.int64)
