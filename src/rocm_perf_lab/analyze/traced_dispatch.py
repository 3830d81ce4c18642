"""The dispatch that a thread trace was recorded of, among the calls of its kernel in a run.

A dispatch is the traced one if its kernel is the one the trace names, and number, agent and, where
the trace's files tell it, process agree. Numbers alone prove nothing: another process has the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.analyze.keys import KernelKey, kernel_keys
from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding
from rocm_perf_lab.trace.trace import Trace

_AS_USUAL = 0.02  # of the median duration


@dataclass(frozen=True)
class TracedDispatch:
    """`key` is None where the kernel ran in several shapes and the traced call is not known."""

    key: KernelKey | None
    calls: int  # of the kernel in that shape
    median_ns: float  # of those calls
    duration_ns: int | None = None  # of the traced call; None: it is not in this run
    place: int | None = None  # of the traced call among those calls, the first is 1

    @property
    def ratio(self) -> float | None:
        """Of the traced call's duration to the median."""
        if self.duration_ns is None or self.median_ns <= 0:
            return None
        return self.duration_ns / self.median_ns


def traced_dispatch(run: Trace, kernel: str, att: ThreadTraceFinding) -> TracedDispatch | None:
    """None if the kernel did not run in this run."""
    d = run.dispatches
    keys, key_of = kernel_keys(run)
    own = [number for number, key in enumerate(keys) if key.name == kernel]
    calls = np.flatnonzero(np.isin(key_of, own))
    if not len(calls):
        return None
    row = _row(run, calls, att)
    index = int(key_of[row]) if row is not None else own[0] if len(own) == 1 else None
    if index is not None:
        calls = calls[key_of[calls] == index]
    durations = d.end_ns[calls] - d.start_ns[calls]
    return TracedDispatch(
        key=keys[index] if index is not None else None,
        calls=len(calls),
        median_ns=float(np.median(durations)),
        duration_ns=int(d.end_ns[row] - d.start_ns[row]) if row is not None else None,
        place=int(np.searchsorted(calls, row)) + 1 if row is not None else None,
    )


def usual_call(run: Trace, kernel: str) -> int | None:
    """Which launch of the kernel to trace, from 1: an early one that takes as long as most do.

    Of its launches in the process that has the most, in the size that takes the most time; the
    first, which pays for cold caches and loaded code, only if nothing else is as usual.
    """
    d = run.dispatches
    keys, key_of = kernel_keys(run)
    calls = np.flatnonzero(np.isin(key_of, [n for n, key in enumerate(keys) if key.name == kernel]))
    if not len(calls):
        return None
    calls = calls[d.process[calls] == np.bincount(d.process[calls]).argmax()]
    duration = d.end_ns[calls] - d.start_ns[calls]
    size = np.bincount(key_of[calls], weights=duration).argmax()
    mine = np.flatnonzero(key_of[calls] == size)
    off = np.abs(duration[mine] - np.median(duration[mine]))
    usual = mine[off <= max(off.min(), _AS_USUAL * float(np.median(duration[mine])))]
    return int(next((n for n in usual if n > 0), usual[0])) + 1


def _row(run: Trace, calls: npt.NDArray[np.int64], att: ThreadTraceFinding) -> int | None:
    d = run.dispatches
    found = calls[d.dispatch_id[calls] == att.dispatch_id].tolist()
    if att.agent_handle is not None:
        handles = {i: agent.handle for i, agent in enumerate(run.agents)}
        found = [r for r in found if handles.get(int(d.agent[r])) in (None, att.agent_handle)]
    if att.process_ids:
        pids = {i: process.pid for i, process in enumerate(run.processes)}
        found = [r for r in found if pids.get(int(d.process[r])) in (None, *att.process_ids)]
    return found[0] if len(found) == 1 else None
