"""Longest-path passes over the graph's edges; nodes are in time order, which is topological.

The three loops are plain Python over lists, or compiled by numba where it is installed and the
graph is large enough to be worth its import.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from rocm_perf_lab.analyze.graph.graph import Graph
from rocm_perf_lab.analyze.graph.model import ORIGIN, Ints

WORTH_COMPILING = 2_000_000  # edge visits


def _forward(first: Any, src: Any, weight: Any, start: Any) -> None:
    edge = first[1]
    for node in range(1, len(start)):
        latest = 0
        stop = first[node + 1]
        while edge < stop:
            time = start[src[edge]] + weight[edge]
            if time > latest:
                latest = time
            edge += 1
        start[node] = latest


def _backward(first: Any, src: Any, weight: Any, latest: Any) -> None:
    edge = first[len(latest)] - 1
    for node in range(len(latest) - 1, 0, -1):
        here = latest[node]
        stop = first[node]
        while edge >= stop:
            time = here - weight[edge]
            before = src[edge]
            if time < latest[before]:
                latest[before] = time
            edge -= 1


@cache
def _compiled() -> tuple[Callable[..., None], Callable[..., None]] | None:
    try:
        numba = importlib.import_module("numba")
    except ImportError:
        return None
    jit = numba.njit(cache=True, nogil=True)
    return jit(_forward), jit(_backward)


class Solver:
    """Passes over one graph. `visits` is the work expected of it, in edges."""

    def __init__(self, graph: Graph, passes: int) -> None:
        self.graph, self.passes = graph, passes
        self._loops = None
        if len(graph.edges) * passes >= WORTH_COMPILING:
            self._loops = _compiled()
        self.compiled = self._loops is not None
        if self.compiled:
            self._first: Any = graph.first
            self._src: Any = graph.edges.src.astype(np.int32)
        else:
            self._first = graph.first.tolist()
            self._src = graph.edges.src.tolist()

    def forward(self, weight: Ints) -> Ints:
        """Earliest start of every node."""
        if self._loops is not None:
            start = np.zeros(len(self.graph), np.int64)
            self._loops[0](self._first, self._src, weight, start)
            return start
        plain = [0] * len(self.graph)
        _forward(self._first, self._src, weight.tolist(), plain)
        return np.array(plain, np.int64)

    def backward(self, weight: Ints, deadline: Ints) -> Ints:
        """Latest start of every node that keeps each within its deadline."""
        if self._loops is not None:
            latest: Ints = deadline.copy()
            self._loops[1](self._first, self._src, weight, latest)
            return latest
        plain = deadline.tolist()
        _backward(self._first, self._src, weight.tolist(), plain)
        return np.array(plain, np.int64)


def makespan(graph: Graph, start: Ints, duration: Ints) -> int:
    nodes = graph.node_of_operation
    return int((start[nodes] + duration[nodes]).max(initial=0))


def slack(solver: Solver, end_ns: int) -> Ints:
    """Per node, how much later it may begin without moving the end."""
    graph = solver.graph
    deadline = end_ns - graph.duration
    latest = solver.backward(graph.weight(graph.duration), deadline)
    return latest - graph.start


def critical_path(graph: Graph) -> Ints:
    """Nodes from the first after the origin to the one that ends last, by binding edges."""
    nodes = graph.node_of_operation
    if not len(nodes):
        return np.empty(0, np.int64)
    end = graph.start[nodes] + graph.duration[nodes]
    node = int(nodes[np.flatnonzero(end == end.max())[-1]])
    before = np.where(graph.binding >= 0, graph.edges.src[graph.binding], ORIGIN).tolist()
    path = []
    while node != ORIGIN:
        path.append(node)
        node = before[node]
    return np.array(path[::-1], np.int64)
