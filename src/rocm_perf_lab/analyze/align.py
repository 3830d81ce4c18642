"""Which dispatch of one run is which of another: by process, number, and what was launched."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.trace.trace import IndexColumn, Trace

BoolColumn = npt.NDArray[np.bool_]


def align(
    timing: Trace,
    other: Trace,
    key_timing: IndexColumn,
    key_other: IndexColumn,
    counted: BoolColumn,
) -> tuple[IndexColumn, str | None]:
    """Timing dispatch -> the other run's dispatch of the same process, number and key; or -1."""
    rows = np.full(len(key_timing), -1, np.int32)
    pairs, note = _pair_processes(timing, other)
    a, b = timing.dispatches, other.dispatches
    for ours, theirs in pairs:
        left = np.flatnonzero(a.process == ours)
        right = np.flatnonzero((b.process == theirs) & counted)
        left = left[np.argsort(a.dispatch_id[left], kind="stable")]
        right = right[np.argsort(b.dispatch_id[right], kind="stable")]
        left_ids, right_ids = a.dispatch_id[left], b.dispatch_id[right]
        if not len(left) or not len(right):
            continue
        if not (_distinct(left_ids) and _distinct(right_ids)):
            if len(left) != len(right):
                note = "dispatches carry no number and differ in how many there are"
                continue
            left_ids = right_ids = np.arange(len(left), dtype=np.int64)
            left, right = np.sort(left), np.sort(right)
        at = np.searchsorted(right_ids, left_ids)
        at[at == len(right_ids)] = 0
        same = (right_ids[at] == left_ids) & (key_other[right[at]] == key_timing[left])
        rows[left[same]] = right[at[same]]
    return rows, note


def _distinct(ids: npt.NDArray[np.int64]) -> bool:
    return bool(ids[0] >= 0 and np.all(ids[1:] != ids[:-1]))


def _pair_processes(timing: Trace, other: Trace) -> tuple[list[tuple[int, int]], str | None]:
    """The processes that correspond: the only ones, or those of the same command in order."""
    ours, theirs = (np.unique(t.dispatches.process).tolist() for t in (timing, other))
    if len(ours) == 1 and len(theirs) == 1:
        return [(ours[0], theirs[0])], None
    note = None
    pairs: list[tuple[int, int]] = []
    by_command = [_by_command(t, ids) for t, ids in ((timing, ours), (other, theirs))]
    for command in sorted(by_command[0].keys() & by_command[1].keys()):
        left, right = by_command[0][command], by_command[1][command]
        if len(left) != len(right):
            note = (
                f"{len(right)} processes ran the command that {len(left)} ran in the timing run; "
                "their dispatches are not matched"
            )
            continue
        pairs += zip(left, right, strict=True)
    if by_command[0].keys() != by_command[1].keys():
        note = "the processes' commands differ from the timing run's"
    return pairs, note


def _by_command(trace: Trace, ids: list[int]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}

    def started(i: int) -> tuple[int, int, int]:
        p = trace.processes[i]
        return (p.start_ns or 0, p.pid or 0, i)

    for i in sorted(ids, key=started):
        groups.setdefault(trace.processes[i].command or "", []).append(i)
    return groups
