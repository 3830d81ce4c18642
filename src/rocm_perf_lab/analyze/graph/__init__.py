"""The dispatch graph: what constrained what, the critical path, and what a speed-up would bring."""

from rocm_perf_lab.analyze.graph.finding import (
    DagFinding,
    DeviceTime,
    EdgeCount,
    KernelOnGraph,
    PathRun,
    WhatIf,
)
from rocm_perf_lab.analyze.graph.judge import build_and_solve, serialised

__all__ = [
    "DagFinding",
    "DeviceTime",
    "EdgeCount",
    "KernelOnGraph",
    "PathRun",
    "WhatIf",
    "build_and_solve",
    "serialised",
]
