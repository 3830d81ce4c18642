"""The critical path as columns."""

from __future__ import annotations

from dataclasses import dataclass

from rocm_perf_lab.analyze.graph.edges import Ints


@dataclass(frozen=True)
class Path:
    nodes: Ints
    edge: Ints  # the binding edge into each
    node_ns: Ints  # time the path spends in each: until its end or its successor's start
    edge_ns: Ints  # time it waits before each
    waiting: Ints  # (nodes, causes): edge_ns split by cause
