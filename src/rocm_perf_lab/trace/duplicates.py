"""The same recording given twice: as a copy, a link, another format, or a part of another file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rocm_perf_lab.trace.trace import IntColumn, Trace

# A trace this much of which stands in another is the same recording.
_SAME_SHARE = 0.5


def once(traces: Sequence[Trace]) -> tuple[list[Trace], list[str]]:
    """Each recording once, the fullest form of it, and a sentence about each that was left out."""
    kept, notes = list(traces), list[str]()
    if len(kept) < 2:
        return kept, notes
    ranked = sorted(range(len(kept)), key=lambda i: _worth(kept[i]), reverse=True)
    dropped: set[int] = set()
    seen: dict[int, list[int]] = {}  # number of a dispatch -> the traces that have it
    for i in ranked:
        rows = _rows(kept[i])
        others = Counter(
            other
            for row in rows
            for other in seen.get(row, ())
            if _may_be_one(kept[i], kept[other])
        )
        most = others.most_common(1)
        if rows and most and most[0][1] >= _SAME_SHARE * len(rows):
            dropped.add(i)
            notes.append(_sentence(kept[i], kept[most[0][0]]))
            continue
        for row in rows:
            seen.setdefault(row, []).append(i)
    return [trace for i, trace in enumerate(kept) if i not in dropped], notes


def by_content(traces: Sequence[Trace]) -> list[Trace]:
    """Files with the same bytes once; the trace that stays notes the ones that went."""
    kept: dict[int, Trace] = {}
    first: dict[str, tuple[str, int]] = {}  # content -> its first file, and the trace of it
    for i, trace in enumerate(traces):
        source = trace.sources[0]
        path, home = first.setdefault(source.sha256, (str(source.path), i))
        if path == str(source.path):
            kept[i] = trace
            continue
        note = f"{source.path} has the same content as {path}; counted once."
        if note not in kept[home].notes:
            kept[home] = replace(kept[home], notes=(*kept[home].notes, note))
    return list(kept.values())


def _may_be_one(a: Trace, b: Trace) -> bool:
    """Whether two traces can be of the same process, as far as they say which it was."""
    for fact in ("pid", "machine_id"):
        told = [{getattr(p, fact) for p in t.processes} - {None} for t in (a, b)]
        if all(told) and not told[0] & told[1]:
            return False
    return True


def _worth(trace: Trace) -> tuple[int, int, int]:
    """Counters tell more than a plain trace of the same run, host calls more than none."""
    calls = len(trace.regions) + len(trace.copies)
    return (len(trace.counters), calls, len(trace.dispatches))


def _rows(trace: Trace) -> list[int]:
    """A number for each dispatch by its id and times; tables without times have none."""
    d = trace.dispatches
    timed = np.flatnonzero(d.end_ns > d.start_ns)
    mixed: list[int] = _mix(d.start_ns[timed], d.end_ns[timed], d.dispatch_id[timed]).tolist()
    return mixed


def _mix(*columns: IntColumn) -> IntColumn:
    result = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        result ^= column.astype(np.uint64)
        result *= np.uint64(0x9E3779B97F4A7C15)
        result ^= result >> np.uint64(29)
    return result.astype(np.int64)


def _sentence(left_out: Trace, kept: Trace) -> str:
    names = (", ".join(sorted({str(s.path) for s in trace.sources})) for trace in (left_out, kept))
    gone, stays = names
    if kept.counters and not left_out.counters:
        return (
            f"{gone} holds the same dispatches as {stays}, which were counted: their times are no "
            "timing run's."
        )
    return f"{gone} holds the same dispatches as {stays}; counted once."
