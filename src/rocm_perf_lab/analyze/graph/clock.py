"""The host's clock and the device's: what one recording shows of the difference between them.

No operation begins before the call that asks for it, and no blocking copy ends after its call
returned. Where the recorded times say otherwise, by microseconds, the clocks disagree, and the
host's times are moved by as little as makes them possible.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rocm_perf_lab.analyze.graph.edges import Ints
from rocm_perf_lab.analyze.graph.unrecorded_copies import blocking_copy
from rocm_perf_lab.trace.columns import positions
from rocm_perf_lab.trace.trace import Regions, Trace

# Clocks are matched to microseconds; what contradicts by more is no clock's fault.
_LARGEST_NS = 100_000
# How many of the rows must be possible after the move: single rows are odd for other reasons.
_MOST = 0.99
# A copy on the device itself is not waited for by its call.
_NOT_WAITED_FOR = "DEVICE_TO_DEVICE"


def aligned(run: Trace) -> tuple[Trace, tuple[str, ...]]:
    """The run with its host's clock moved onto the device's, and a sentence where it was."""
    offsets = [_offset(run, process) for process in range(len(run.processes))]
    if not any(offsets):
        return run, ()
    by = np.array(offsets, np.int64)

    def moved(process: np.ndarray, *times: Ints) -> list[Ints]:
        return [np.maximum(time + by[process], 0) for time in times]

    r = run.regions
    start, end = moved(r.process, r.start_ns, r.end_ns)
    regions: Regions = replace(r, start_ns=start, end_ns=end)
    tables = {}
    for name in ("operators", "frames"):
        table = getattr(run, name)
        if table is not None:
            start, end = moved(table.process, table.start_ns, table.end_ns)
            tables[name] = replace(table, start_ns=start, end_ns=end)
    largest = max(offsets, key=abs) / 1e3
    note = (
        f"The clocks of host and device disagree by {abs(largest):.3g} us: calls were moved "
        f"{'later' if largest > 0 else 'earlier'} by that."
    )
    return replace(run, regions=regions, **tables), (note,)


def _offset(run: Trace, process: int) -> int:
    """How much to add to the host's times of a process."""
    r = run.regions
    mine = np.flatnonzero((r.process == process) & (r.correlation >= 0))
    early, late = [], []  # limits: at most, at least
    for table, copies in ((run.dispatches, False), (run.copies, True)):
        rows = np.flatnonzero((table.process == process) & (table.correlation >= 0))
        at = positions(r.correlation[mine], table.correlation[rows])
        rows, call = rows[at >= 0], mine[at[at >= 0]]
        early.append(table.start_ns[rows] - r.start_ns[call])
        if copies:
            waited = np.array([*map(blocking_copy, run.strings), False])[r.name[call]]
            kind = np.array([*(_NOT_WAITED_FOR not in s for s in run.strings), True])
            waited &= kind[run.copies.kind[rows]]
            late.append(table.end_ns[rows[waited]] - r.end_ns[call[waited]])
    most, least = _limit(-np.concatenate(early)), _limit(np.concatenate(late))
    if most is not None and least is not None and most > 0 and least > 0:
        return 0  # no single offset makes both possible
    if most is not None and most > 0:
        return -most
    return least if least is not None and least > 0 else 0


def _limit(violated_by: Ints) -> int | None:
    """By how much nearly all of the rows are impossible at most, as far as clocks may be off."""
    rows = violated_by[violated_by <= _LARGEST_NS]
    return int(np.quantile(rows, _MOST, method="higher")) if len(rows) else None
