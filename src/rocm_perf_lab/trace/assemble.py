"""From a reader's raw columns to a `Trace`: what is common to every format, in one place.

A reader resolves its own ids (process, kernel, agent, strings) to indices and leaves queue,
stream and thread ids as it found them. Here rows without a usable time are dropped, those ids
are numbered densely, rows are sorted, counters are summed per dispatch, and unused kernels and
strings are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.trace.columns import MISSING, dense
from rocm_perf_lab.trace.trace import (
    Agent,
    Copies,
    Counter,
    Dispatches,
    FloatColumn,
    Frames,
    IndexColumn,
    IntColumn,
    KernelSymbol,
    Operators,
    Process,
    Regions,
    Source,
    Trace,
)

LATEST_NS = 1 << 62
"""Beyond any clock; keeps differences and sums of two times inside 64 bits."""

Columns = dict[str, IntColumn]
Kind = TypeVar("Kind", Dispatches, Copies, Regions)

_TRIPLES = ("workgroup", "grid")  # of one column per axis


@dataclass
class Measured:
    """Counter values as recorded: one row per dispatch, counter and hardware instance."""

    names: tuple[str, ...] = ()
    dispatch: IntColumn = field(default_factory=lambda: np.zeros(0, np.int64))  # row of the table
    counter: IntColumn = field(default_factory=lambda: np.zeros(0, np.int64))  # -> names
    value: FloatColumn = field(default_factory=lambda: np.zeros(0, np.float64))


def no_rows() -> Columns:
    empty = np.zeros(0, dtype=np.int64)
    return {"start_ns": empty, "end_ns": empty}


@dataclass
class Raw:
    """A reader's result. Column names are the model's; a missing column means "not recorded"."""

    sources: tuple[Source, ...]
    processes: tuple[Process, ...]
    agents: tuple[Agent, ...]
    kernels: Sequence[KernelSymbol]
    strings: Sequence[str]
    dispatches: Columns
    copies: Columns = field(default_factory=no_rows)
    regions: Columns = field(default_factory=no_rows)
    measured: Measured = field(default_factory=Measured)
    virtual: bool = False
    operators: Operators | None = None  # its threads as recorded, as those of frames
    frames: Frames | None = None
    allocated_bytes: int | None = None
    detailed: Mapping[str, float] = field(default_factory=dict)
    sampling_error: Mapping[str, float] = field(default_factory=dict)
    rocm_version: str | None = None
    notes: list[str] = field(default_factory=list)


def assemble(raw: Raw) -> Trace:
    notes = list(raw.notes)
    recorded = len(raw.dispatches["start_ns"])
    dispatches, dispatch_rows = _usable(raw.dispatches, Dispatches, "kernel dispatches", notes)
    copies, _ = _usable(raw.copies, Copies, "memory copies", notes)
    regions, _ = _usable(raw.regions, Regions, "host API calls", notes)
    dispatch_rows = _once(dispatches, dispatch_rows, notes)
    # Columns are let go as soon as they are converted: a large trace fits only once.
    for table in (raw.dispatches, raw.copies, raw.regions):
        table.clear()

    dispatches["stream"], copies["stream"] = dense(
        (t["process"], t["stream"]) for t in (dispatches, copies)
    )
    operators, frames = raw.operators, raw.frames
    nested = [t for t in (operators, frames) if t is not None]
    dispatches["thread"], copies["thread"], regions["thread"], *threads = dense(
        [
            *((t["process"], t["thread"]) for t in (dispatches, copies, regions)),
            *((t.process.astype(np.int64), t.thread) for t in nested),
        ]
    )
    if operators is not None:
        operators = replace(operators, thread=threads[0])
    if frames is not None:
        frames = replace(frames, thread=threads[-1])
    (dispatches["queue"],) = dense([(dispatches["process"], dispatches["queue"])])

    order = _order(dispatches, "start_ns", "end_ns", "process", "dispatch_id")
    if order is not None:
        dispatch_rows = dispatch_rows[order]
        _take(dispatches, order)
    for table, keys in (
        (copies, ("start_ns", "end_ns", "process", "correlation", "kind", "size_bytes")),
        (regions, ("start_ns", "end_ns", "process", "correlation", "name")),
    ):
        order = _order(table, *keys)
        if order is not None:
            _take(table, order)

    kernels, dispatches["kernel"] = _used(raw.kernels, dispatches["kernel"])
    strings = _intern(raw.strings, copies, regions)
    processes = _with_window(raw.processes, dispatches, copies, regions)
    counters = _counters(raw.measured, dispatch_rows, recorded, notes)
    return Trace(
        sources=raw.sources,
        processes=processes,
        agents=raw.agents,
        kernels=tuple(kernels),
        strings=strings,
        dispatches=_table(Dispatches, dispatches),
        copies=_table(Copies, copies),
        regions=_table(Regions, regions),
        counters=counters,
        virtual=raw.virtual,
        operators=operators,
        frames=frames,
        allocated_bytes=raw.allocated_bytes,
        detailed=dict(raw.detailed),
        sampling_error=dict(raw.sampling_error),
        rocm_version=raw.rocm_version,
        notes=tuple(dict.fromkeys(notes)),
    )


def _table(kind: type[Kind], columns: Columns) -> Kind:
    """Columns as the fields of the table declare them, each let go when it is converted."""

    def column(name: str, declared: str) -> npt.NDArray[Any]:
        if name in _TRIPLES:
            return _triples([column(f"{name}_{axis}", declared) for axis in "xyz"])
        given = columns.pop(name)
        if name in ("start_ns", "end_ns"):
            return given
        return (
            _index(given) if declared in ("IndexColumn", "npt.NDArray[np.int32]") else _known(given)
        )

    return kind(**{f.name: column(f.name, str(f.type)) for f in fields(kind)})


def _usable(
    given: Columns, kind: type[Kind], what: str, notes: list[str]
) -> tuple[Columns, IntColumn]:
    """The columns of the rows whose times make sense, and which rows those are."""
    count = len(given["start_ns"])
    absent = np.full(count, MISSING, dtype=np.int64)
    wanted = [
        name
        for f in fields(kind)
        for name in ([f"{f.name}_{axis}" for axis in "xyz"] if f.name in _TRIPLES else [f.name])
    ]
    table = {name: given.get(name, absent) for name in wanted}
    start, end = table["start_ns"], table["end_ns"]
    missing = (start == MISSING) | (end == MISSING)
    beyond = ~missing & ((start < 0) | (end < 0) | (start >= LATEST_NS) | (end >= LATEST_NS))
    backwards = ~missing & ~beyond & (end < start)
    for mask, why in (
        (missing, "have no start or end time"),
        (beyond, "have a time no clock can show"),
        (backwards, "end before they start"),
    ):
        dropped = int(np.count_nonzero(mask))
        if dropped:
            notes.append(f"{dropped} of {count} {what} {why} and were left out.")
    bad = missing | beyond | backwards
    rows = np.arange(count, dtype=np.int64)
    if bad.any():
        rows = rows[~bad]
        _take(table, rows)
    return table, rows


def _once(table: Columns, rows: IntColumn, notes: list[str]) -> IntColumn:
    """Dispatches recorded twice (same process, agent, number and times) are left in once."""
    keys = [table[k] for k in ("start_ns", "end_ns", "dispatch_id", "agent", "process")]
    start, number = keys[0], keys[2]
    if len(start) < 2 or bool(np.all(start[1:] > start[:-1])):
        return rows
    order = np.lexsort(keys)
    same = np.ones(len(order) - 1, dtype=bool)
    for key in keys:
        same &= key[order][1:] == key[order][:-1]
    same &= number[order][1:] >= 0
    if not same.any():
        return rows
    kept = np.ones(len(order), dtype=bool)
    kept[order[1:][same]] = False
    notes.append(f"{int(same.sum())} dispatches are recorded twice; each is counted once.")
    at = np.flatnonzero(kept)
    _take(table, at)
    return rows[at]


def _order(table: Columns, *keys: str) -> IntColumn | None:
    """The permutation that sorts by the keys, or None where the rows are in order already."""
    first = table[keys[0]]
    if len(first) < 2 or bool(np.all(first[1:] > first[:-1])):
        return None
    return np.lexsort([table[key] for key in reversed(keys)])


def _take(table: Columns, rows: IntColumn) -> None:
    for name, column in table.items():
        table[name] = column[rows]


def _known(column: IntColumn) -> IntColumn:
    """MISSING and negative values become -1: no id, size or handle is negative."""
    if not len(column):
        return column
    low, high = int(column.min()), int(column.max())
    if low == high:
        return _same(np.int64(max(low, -1)), len(column))
    return column if low >= -1 else np.maximum(column, -1)


def _index(column: IntColumn) -> IndexColumn:
    """A column of small numbers as int32; what does not fit is not known (-1)."""
    if not len(column):
        return column.astype(np.int32)
    low, high = int(column.min()), int(column.max())
    most = np.iinfo(np.int32).max
    if low == high:
        return _same(np.int32(low if -1 <= low <= most else -1), len(column))
    if low >= -1 and high <= most:
        return column.astype(np.int32)
    return np.where((column >= -1) & (column <= most), column, -1).astype(np.int32)


def _same(value: np.integer, count: int) -> npt.NDArray[Any]:
    """A column with one value in every row, which takes the room of one."""
    return np.broadcast_to(value, count)


def _triples(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    if len(columns[0]) and all(column.strides == (0,) for column in columns):
        return np.broadcast_to([column[0] for column in columns], (len(columns[0]), 3))
    return np.stack(columns, axis=1)


def _used(
    kernels: Sequence[KernelSymbol], column: IntColumn
) -> tuple[list[KernelSymbol], IntColumn]:
    seen = np.zeros(len(kernels), dtype=bool)
    seen[column] = True
    number = np.cumsum(seen, dtype=np.int64) - 1
    return [kernels[i] for i in np.flatnonzero(seen).tolist()], (
        number[column] if len(column) else column
    )


def _intern(strings: Sequence[str], copies: Columns, regions: Columns) -> tuple[str, ...]:
    """Sort the strings in use, each once, and renumber the columns that name them."""
    columns = ((copies, "kind"), (regions, "name"), (regions, "category"))
    seen = np.zeros(len(strings), dtype=bool)
    for table, name in columns:
        column = table[name]
        seen[column[column >= 0]] = True
    used: list[int] = np.flatnonzero(seen).tolist()
    distinct = sorted({strings[i] for i in used})
    place = {text: i for i, text in enumerate(distinct)}
    number = np.full(len(strings) + 1, -1, dtype=np.int64)  # the last one serves index -1
    for i in used:
        number[i] = place[strings[i]]
    for table, name in columns:
        table[name] = number[np.maximum(table[name], -1)]
    return tuple(distinct)


def _counters(
    measured: Measured, rows: IntColumn, recorded: int, notes: list[str]
) -> dict[str, Counter]:
    if not measured.names:
        return {}
    at = np.full(recorded + 1, -1, dtype=np.int64)
    at[rows] = np.arange(len(rows))
    dispatch = at[measured.dispatch]
    good = (dispatch >= 0) & (measured.counter >= 0) & np.isfinite(measured.value)
    lost = int(np.count_nonzero(~good))
    if lost:
        notes.append(
            f"{lost} of {len(good)} counter values have no number, no counter name or no "
            "dispatch and were left out."
        )
    count = len(rows)
    key = measured.counter[good] * max(count, 1) + dispatch[good]
    value = measured.value[good]
    if len(key) > 1 and not bool(np.all(key[1:] >= key[:-1])):
        order = np.argsort(key, kind="stable")
        key, value = key[order], value[order]
    first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if len(key) else np.zeros(0, int)
    result = {}
    cell = key[first]
    totals = np.add.reduceat(value, first) if len(first) else value
    maxima = np.maximum.reduceat(value, first) if len(first) else value
    instances = np.diff(np.r_[first, len(key)])
    bounds = np.searchsorted(cell, np.arange(len(measured.names) + 1) * max(count, 1))
    for i, name in enumerate(measured.names):
        part = slice(int(bounds[i]), int(bounds[i + 1]))
        where = cell[part] - i * max(count, 1)
        if not len(where):
            continue
        total = np.full(count, np.nan)
        maximum = np.full(count, np.nan)
        number = np.zeros(count, dtype=np.int32)
        total[where], maximum[where] = totals[part], maxima[part]
        number[where] = instances[part]
        result[name] = Counter(total=total, maximum=maximum, instances=number)
    return dict(sorted(result.items()))


def _with_window(processes: tuple[Process, ...], *tables: Columns) -> tuple[Process, ...]:
    """A process spans at least its records; a recorded span apart from them is another clock's."""
    result = []
    for i, process in enumerate(processes):
        spans = []
        for table in tables:
            mine = table["process"] == i if len(processes) > 1 else slice(None)
            starts, ends = table["start_ns"][mine], table["end_ns"][mine]
            if len(starts):
                spans.append((int(starts.min()), int(ends.max())))
        start, end = process.start_ns, process.end_ns
        if spans:
            first, last = min(s for s, _ in spans), max(e for _, e in spans)
            apart = (start is not None and start > last) or (end is not None and end < first)
            start = first if start is None or apart else min(start, first)
            end = last if end is None or apart else max(end, last)
        result.append(replace(process, start_ns=start, end_ns=end))
    return tuple(result)
