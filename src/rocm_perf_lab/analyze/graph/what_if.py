"""End to end time with a kernel made faster, by replaying the graph.

Only kernels on the chosen critical path need a replay: that path stays as it is when any other
kernel gets faster, so the makespan cannot fall below it, and it cannot rise.

With x the factor on a kernel's durations the makespan is the largest of many straight lines in
x, hence convex. So if taking the kernel out (x = 0) saves all of its time on the critical path,
every x between saves its part of it, and no further replay is needed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rocm_perf_lab.analyze.graph.edges import ORIGIN, Confidence, Ints
from rocm_perf_lab.analyze.graph.finding import WhatIf
from rocm_perf_lab.analyze.graph.graph import Graph
from rocm_perf_lab.analyze.graph.solve import Solver, faster

SPEEDUPS: tuple[float | None, ...] = (1.25, 2.0, None)  # the last: taken out
BUDGET = 1_000_000_000  # edge visits spent on what-ifs: a few seconds


def pinned(graph: Graph) -> Graph:
    """The same graph with every unexplained wait tied to the clock instead of to an operation."""
    loose = graph.edges.confidence == Confidence.LOW
    e = replace(
        graph.edges,
        src=np.where(loose, ORIGIN, graph.edges.src),
        after_start=graph.edges.after_start & ~loose,
    )
    return replace(graph, edges=e, lag=np.where(loose, graph.nodes.start[e.dst], graph.lag))


def unchanged(makespan_ns: int) -> tuple[WhatIf, ...]:
    return tuple(WhatIf(s, makespan_ns, makespan_ns, makespan_ns) for s in SPEEDUPS)


class Scenarios:
    """What-ifs of one graph, within a budget of work."""

    def __init__(self, solver: Solver, node_name: Ints, makespan_ns: int) -> None:
        e = solver.graph.edges
        self._solvers = [solver]
        if bool(((e.confidence == Confidence.LOW) & (e.src != ORIGIN)).any()):
            self._solvers.append(Solver(pinned(solver.graph), node_name))
        self._end = makespan_ns
        self._budget = BUDGET

    def bound(self, path_durations: Ints) -> tuple[WhatIf, ...]:
        """Amdahl's: the kernel's time on the critical path shrinks and nothing else binds."""
        result = []
        for speedup in SPEEDUPS:
            least = self._end - int((path_durations - faster(path_durations, speedup)).sum())
            result.append(WhatIf(speedup, least, self._end, least))
        return tuple(result)

    def replay(self, name: int, path_durations: Ints) -> tuple[WhatIf, ...] | None:
        """None where the budget is spent. `path_durations`: of its dispatches on the path."""
        if self._budget <= 0:
            return None
        least = [w.amdahl_ns for w in self.bound(path_durations)]
        model, still = (self._curve(s, name, least) for s in (self._solvers[0], self._solvers[-1]))
        return tuple(WhatIf(*row) for row in zip(SPEEDUPS, model, still, least, strict=True))

    def _curve(self, solver: Solver, name: int, least: list[int]) -> list[int]:
        without = self._run(solver, name, SPEEDUPS[-1:])
        if without == [self._end]:
            return without * len(SPEEDUPS)
        if without == least[-1:]:
            return least
        return [*self._run(solver, name, SPEEDUPS[:-1]), *without]

    def _run(self, solver: Solver, name: int, speedups: tuple[float | None, ...]) -> list[int]:
        self._budget -= len(solver.graph.edges) * len(speedups)
        return solver.makespans_if(name, speedups)
