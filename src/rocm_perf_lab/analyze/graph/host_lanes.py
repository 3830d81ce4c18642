"""What the host did meanwhile: each thread's HIP calls, within the time the device was at work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rocm_perf_lab.analyze.graph.columns import grouped
from rocm_perf_lab.analyze.graph.edges import Ints
from rocm_perf_lab.analyze.graph.operations import Operations
from rocm_perf_lab.trace.columns import ranks
from rocm_perf_lab.trace.trace import Trace

MOST_THREADS = 8
# HSA's own calls lie inside these; PyTorch built for CUDA has the others' names.
_PREFIXES = ("hip", "cuda")


@dataclass(frozen=True)
class HostLane:
    """By start; times are ns after the operations' origin, cut to their span."""

    label: str
    start: Ints
    duration: Ints
    name: Ints  # -> HostCalls.names


@dataclass(frozen=True)
class HostCalls:
    names: tuple[str, ...]
    lanes: tuple[HostLane, ...]  # of the threads that spent most time in calls
    left_out: int = 0  # threads


def host_calls(run: Trace, ops: Operations) -> HostCalls:
    r = run.regions
    wanted = np.array([*(s.startswith(_PREFIXES) for s in run.strings), False], np.bool_)
    start = np.maximum(r.start_ns - ops.origin_ns, 0)
    end = np.minimum(r.end_ns - ops.origin_ns, ops.span_ns)
    rows = np.flatnonzero(wanted[r.name] & (end > start))
    if not len(rows):
        return HostCalls((), ())
    used, name = ranks(r.name[rows].astype(np.int64))
    threads, of_row = grouped(r.process[rows], r.thread[rows])
    took = (end - start)[rows]
    busy = np.bincount(of_row, took)
    kept = np.sort(np.argsort(-busy, kind="stable")[:MOST_THREADS])
    several = len(run.processes) > 1
    lanes = []
    for number, thread in enumerate(kept.tolist(), 1):
        own = np.flatnonzero(of_row == thread)
        index = int(r.process[rows[threads[thread]]])
        process = run.processes[index].pid or index
        words = [f"process {process}"] if several else []
        words.append("host calls" if len(kept) == 1 else f"host thread {number}")
        lanes.append(HostLane(" · ".join(words), start[rows][own], took[own], name[own]))
    names = tuple(run.strings[i] for i in used.tolist())
    return HostCalls(names, tuple(lanes), len(threads) - len(kept))
