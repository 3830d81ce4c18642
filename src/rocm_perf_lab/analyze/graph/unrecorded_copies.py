"""Copies of which only the call was recorded: a blocking copy call is a copy all the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rocm_perf_lab.analyze.graph.columns import NONE, TimeIndex
from rocm_perf_lab.analyze.graph.edges import Ints
from rocm_perf_lab.trace.trace import Trace

# An asynchronous call that took this long copied, or waited for the copy, before it returned:
# its memory is pageable.
_STAGED_NS = 50_000
ONLY_THE_CALL = "(only the call was recorded)"


@dataclass(frozen=True)
class CallCopies:
    """By the call that made each; times are the recording's."""

    region: Ints  # -> rows of the trace's regions
    start: Ints  # the call's, or the end of what it waited for first
    end: Ints
    stream: Ints  # of the work before it, else after it


def blocking_copy(name: str) -> bool:
    """Whether a call returns only when its copy is done."""
    return _copy_call(name) and "Async" not in name


def _copy_call(name: str) -> bool:
    return name.startswith(("hipMemcpy", "cudaMemcpy"))


def call_copies(trace: Trace) -> CallCopies:
    r, d, c = trace.regions, trace.dispatches, trace.copies
    blocking = np.array([*map(blocking_copy, trace.strings), False], np.bool_)
    any_copy = np.array([*map(_copy_call, trace.strings), False], np.bool_)
    calls = blocking[r.name] & (r.end_ns > r.start_ns)
    if not len(c):
        calls |= any_copy[r.name] & (r.end_ns - r.start_ns >= _STAGED_NS)
    rows = np.flatnonzero(calls)
    if not len(rows):
        return CallCopies(rows, rows, rows, rows)
    process = np.concatenate([d.process, c.process]).astype(np.int64)
    correlation = np.concatenate([d.correlation, c.correlation])
    known = np.unique(process[correlation >= 0] * (1 << 40) + correlation[correlation >= 0])
    own = r.process[rows].astype(np.int64) * (1 << 40) + r.correlation[rows]
    rows = rows[(r.correlation[rows] < 0) | ~np.isin(own, known)]
    start, end = r.start_ns[rows], r.end_ns[rows]
    ends = np.concatenate([d.end_ns, c.end_ns])
    stream = np.concatenate([d.stream, c.stream]).astype(np.int64)
    by_end = TimeIndex.of(process, ends)
    mine = r.process[rows].astype(np.int64)
    before = by_end.last_before(mine, end)
    waited = (before >= 0) & (ends[before] > start) if len(ends) else before >= 0
    start = np.where(waited, ends[before], start) if len(ends) else start
    at = np.where(before >= 0, before, by_end.first_after(mine, end))
    of_stream = np.where(at >= 0, stream[at], NONE) if len(ends) else at
    kept = end > start
    return CallCopies(rows[kept], start[kept], end[kept], of_stream[kept])


def copies_known(trace: Trace) -> bool:
    """Whether a trace without copies means that there were none: calls and names are there."""
    return bool(len(trace.copies) or (trace.regions.name >= 0).any())
