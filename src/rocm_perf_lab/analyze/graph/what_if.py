"""End to end time with a kernel made faster, by replaying the graph.

Which kernels need a replay: those on the chosen critical path. That path exists unchanged when
any other kernel gets faster, so the makespan cannot fall below it, and it cannot rise.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rocm_perf_lab.analyze.graph.finding import WhatIf
from rocm_perf_lab.analyze.graph.graph import Graph
from rocm_perf_lab.analyze.graph.model import ORIGIN, Bools, Confidence, Ints
from rocm_perf_lab.analyze.graph.solve import Solver, makespan

SPEEDUPS: tuple[float | None, ...] = (1.25, 2.0, None)
# Edge visits spent on what-ifs: about two seconds, compiled or not.
COMPILED_BUDGET, PLAIN_BUDGET = 400_000_000, 8_000_000


def scaled(duration: Ints, chosen: Bools, speedup: float | None) -> Ints:
    faster = np.zeros_like(duration) if speedup is None else np.ceil(duration / speedup)
    return np.where(chosen, faster, duration).astype(np.int64)


def pinned(graph: Graph) -> Graph:
    """The same graph with every unexplained wait tied to the clock instead of to an operation."""
    loose = graph.edges.confidence == Confidence.LOW
    e = replace(
        graph.edges,
        src=np.where(loose, ORIGIN, graph.edges.src),
        after_start=graph.edges.after_start & ~loose,
    )
    return replace(graph, edges=e, lag=np.where(loose, graph.start[e.dst], graph.lag))


class Scenarios:
    def __init__(self, graph: Graph, solver: Solver, names: Ints) -> None:
        """`names`: the kernel of every node, -1 for the host."""
        self._names = names
        self._solvers = [solver]
        if bool((graph.edges.confidence == Confidence.LOW).any()):
            self._solvers.append(Solver(pinned(graph), solver.passes))
        self._graph = graph
        self._end = makespan(graph, graph.start, graph.duration)
        budget = COMPILED_BUDGET if solver.compiled else PLAIN_BUDGET
        cost = max(1, len(graph.edges)) * len(SPEEDUPS) * len(self._solvers)
        self.kernels_affordable = max(1, budget // cost)

    def replay(self, name: int, path_duration_ns: int) -> tuple[WhatIf, ...]:
        chosen = self._names == name
        results = []
        for speedup in SPEEDUPS:
            duration = scaled(self._graph.duration, chosen, speedup)
            ends = [
                makespan(s.graph, s.forward(s.graph.weight(duration)), duration)
                for s in self._solvers
            ]
            bound = amdahl(self._end, path_duration_ns, speedup)
            results.append(WhatIf(speedup, ends[0], ends[-1], bound))
        return tuple(results)


def amdahl(makespan_ns: int, path_duration_ns: int, speedup: float | None) -> int:
    saved = path_duration_ns * (1.0 if speedup is None else 1.0 - 1.0 / speedup)
    return max(0, makespan_ns - int(saved))
