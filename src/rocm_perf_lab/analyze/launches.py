"""How a kernel's launches lie in time: how long, what idle time before, what ran beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.analyze.graph.columns import Union
from rocm_perf_lab.analyze.kernel_class import kernel_class
from rocm_perf_lab.trace.trace import IndexColumn, Trace


@dataclass(frozen=True)
class LaunchFacts:
    """One kernel's launches in a run: how many, how long, and the device's idle time before."""

    dispatches: int
    total_ns: int
    median_ns: float
    median_gap_ns: float | None  # None: no dispatch had one before it
    overlap_share: float | None  # of its time, that with other kernels running beside it
    exposed_share: float | None = None  # of a collective's time, that with no other work beside it

    @property
    def gap_share(self) -> float | None:
        if self.median_gap_ns is None or self.median_gap_ns + self.median_ns <= 0:
            return None
        return self.median_gap_ns / (self.median_gap_ns + self.median_ns)


def launch_facts(trace: Trace) -> dict[str, LaunchFacts]:
    """Per kernel name. A gap is device time with neither kernel nor copy before a dispatch."""
    d = trace.dispatches
    if not len(d):
        return {}
    gap, overlap = _gaps(trace), _overlaps(trace)
    names: dict[str, int] = {}
    by_kernel = np.array([names.setdefault(k.name, len(names)) for k in trace.kernels] or [0])
    name_of = by_kernel[np.maximum(d.kernel, 0)]
    collective = np.array([kernel_class(name) == "collective" for name in names])
    hidden = _beside_computation(trace, collective[name_of])
    duration = (d.end_ns - d.start_ns).astype(np.float64)
    # numpy sorts 16-bit integers in linear time.
    narrow = name_of.astype(np.int16 if len(names) < 2**15 else np.int64)
    order = np.argsort(narrow, kind="stable")
    bounds = np.searchsorted(narrow[order], np.arange(len(names) + 1))
    gap, overlap, hidden, duration = (c[order] for c in (gap, overlap, hidden, duration))
    facts = {}
    for name, index in names.items():
        rows = slice(bounds[index], bounds[index + 1])
        if bounds[index] == bounds[index + 1]:
            continue
        gaps = gap[rows][~np.isnan(gap[rows])]
        total = duration[rows].sum()
        facts[name] = LaunchFacts(
            dispatches=int(bounds[index + 1] - bounds[index]),
            total_ns=int(total),
            median_ns=float(np.median(duration[rows])),
            median_gap_ns=float(np.median(gaps)) if len(gaps) else None,
            overlap_share=float(overlap[rows].sum() / total) if total else None,
            exposed_share=(
                1 - float(hidden[rows].sum() / total) if total and collective[index] else None
            ),
        )
    return facts


def _beside_computation(trace: Trace, collective: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """How long each collective ran while a kernel that is none ran on the same agent."""
    d = trace.dispatches
    found = np.zeros(len(d))
    if not collective.any():
        return found
    for rows in _groups(d.agent):
        others, own = rows[~collective[rows]], rows[collective[rows]]
        computing = Union.of(d.start_ns[others], d.end_ns[others])
        found[own] = computing.within(d.start_ns[own], d.end_ns[own])
    return found


def _groups(*columns: IndexColumn) -> Iterator[npt.NDArray[np.int64]]:
    """Rows that agree in these columns of few values, group by group."""
    groups = [np.arange(len(columns[0]))]
    for column in columns:
        low, high = int(column.min()), int(column.max())
        if low != high:
            groups = [rows[column[rows] == v] for rows in groups for v in range(low, high + 1)]
    return (rows for rows in groups if len(rows))


def _overlaps(trace: Trace) -> npt.NDArray[np.float64]:
    """How long each dispatch ran while another did on the same agent."""
    d = trace.dispatches
    overlap = np.zeros(len(d))
    for rows in _groups(d.agent):
        start, end = d.start_ns[rows], d.end_ns[rows]
        order = np.argsort(start, kind="stable")
        if not np.any(start[order][1:] < np.maximum.accumulate(end[order])[:-1]):
            continue
        times = np.concatenate([start, end])
        by_time = np.argsort(times, kind="stable")
        running = np.cumsum(np.where(by_time < len(rows), 1, -1))
        at = times[by_time]
        # Time up to each event with at least two running; within a dispatch, one is itself.
        shared = np.concatenate([[0], np.cumsum(np.diff(at) * (running[:-1] >= 2))])
        overlap[rows] = np.interp(end, at, shared) - np.interp(start, at, shared)
    return overlap


def _gaps(trace: Trace) -> npt.NDArray[np.float64]:
    """Idle time of the device before each dispatch, per process and agent; NaN for the first."""
    d, c = trace.dispatches, trace.copies
    gap = np.full(len(d), np.nan)
    for rows in _groups(d.process, d.agent):
        copies = np.flatnonzero(c.process == d.process[rows[0]])
        start = np.concatenate([d.start_ns[rows], c.start_ns[copies]])
        end = np.concatenate([d.end_ns[rows], c.end_ns[copies]])
        order = np.argsort(start, kind="stable")
        busy_until = np.maximum.accumulate(end[order])
        before = np.full(len(order), np.nan)
        before[1:] = np.maximum(start[order][1:] - busy_until[:-1], 0)
        own = order < len(rows)
        gap[rows[order[own]]] = before[own]
    return gap
