"""Several traces as one: the processes of one run, side by side in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from rocm_perf_lab.trace.trace import (
    Agent,
    Copies,
    Counter,
    Dispatches,
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

Table = TypeVar("Table", Dispatches, Copies, Regions)
Nested = TypeVar("Nested", Operators, Frames)


def merge(traces: Sequence[Trace]) -> Trace:
    """All rows of all traces, indices renumbered, rows in the order of a `Trace`.

    Traces of different machines keep their own clocks: nothing here can align them.
    """
    if not traces:
        raise ValueError("merge needs at least one trace")
    if len(traces) == 1:
        return traces[0]
    sources: dict[Source, int] = {}
    for trace in traces:
        for source in trace.sources:
            sources.setdefault(source, len(sources))
    strings = sorted({text for trace in traces for text in trace.strings})
    place = {text: i for i, text in enumerate(strings)}

    processes: list[Process] = []
    agents: list[Agent] = []
    kernels: list[KernelSymbol] = []
    dispatches, copies, regions = [], [], []
    queues = streams = threads = 0
    for trace in traces:
        process, agent, kernel = len(processes), len(agents), len(kernels)
        processes += [replace(p, source=sources[trace.sources[p.source]]) for p in trace.processes]
        agents += [replace(a, process=a.process + process) for a in trace.agents]
        kernels += [replace(k, process=k.process + process) for k in trace.kernels]
        renamed = np.array([place[text] for text in trace.strings] + [-1], dtype=np.int32)
        moves: dict[str, Callable[[IndexColumn], IndexColumn]] = {
            "process": _shift(process),
            "agent": _shift(agent),
            "src_agent": _shift(agent),
            "dst_agent": _shift(agent),
            "kernel": _shift(kernel),
            "queue": _shift(queues),
            "stream": _shift(streams),
            "thread": _shift(threads),
            "kind": renamed.__getitem__,
            "name": renamed.__getitem__,
            "category": renamed.__getitem__,
        }
        dispatches.append(_moved(trace.dispatches, moves))
        copies.append(_moved(trace.copies, moves))
        regions.append(_moved(trace.regions, moves))
        queues += _count(trace.dispatches.queue)
        streams += _count(trace.dispatches.stream, trace.copies.stream)
        threads += _threads(trace)

    merged, order = _joined(dispatches, "start_ns", "end_ns", "process", "dispatch_id")
    notes = [note for trace in traces for note in trace.notes]
    if len({trace.virtual for trace in traces}) > 1:
        notes.append("Some of the merged traces come from a virtual GPU and some do not.")
    versions = {trace.rocm_version for trace in traces}
    return Trace(
        sources=tuple(sources),
        processes=tuple(processes),
        agents=tuple(agents),
        kernels=tuple(kernels),
        strings=tuple(strings),
        dispatches=merged,
        copies=_joined(copies, "start_ns", "end_ns", "process", "correlation")[0],
        regions=_joined(regions, "start_ns", "end_ns", "process", "correlation")[0],
        counters=_counters(traces, order),
        virtual=any(trace.virtual for trace in traces),
        operators=_operators(traces),
        frames=_frames(traces),
        allocated_bytes=max(
            (t.allocated_bytes for t in traces if t.allocated_bytes is not None), default=None
        ),
        detailed={name: part for trace in traces for name, part in trace.detailed.items()},
        sampling_error={n: share for trace in traces for n, share in trace.sampling_error.items()},
        rocm_version=versions.pop() if len(versions) == 1 else None,
        notes=tuple(dict.fromkeys(notes)),
    )


def _operators(traces: Sequence[Trace]) -> Operators | None:
    parts = _nested(traces, [t.operators for t in traces])
    rows = 0
    for i, part in enumerate(parts):
        parts[i] = replace(part, launch_operator=_shift(rows)(part.launch_operator))
        rows += len(part)
    return _together(parts)


def _frames(traces: Sequence[Trace]) -> Frames | None:
    return _together(_nested(traces, [t.frames for t in traces]))


def _nested(traces: Sequence[Trace], tables: Sequence[Nested | None]) -> list[Nested]:
    """Tables of named stretches of threads, with the numbers and names of the whole."""
    names = sorted({name for found in tables if found is not None for name in found.names})
    place = {name: i for i, name in enumerate(names)}
    parts: list[Nested] = []
    processes = threads = 0
    for trace, found in zip(traces, tables, strict=True):
        if found is not None:
            renamed = np.array([place[name] for name in found.names] + [-1], dtype=np.int32)
            changed: dict[str, Any] = {
                "names": tuple(names),
                "process": _shift(processes)(found.process),
                "thread": np.where(found.thread >= 0, found.thread + threads, -1),
                "name": renamed[found.name],
            }
            if isinstance(found, Operators):
                changed["launch_process"] = _shift(processes)(found.launch_process)
            parts.append(replace(found, **changed))
        processes += len(trace.processes)
        threads += _threads(trace)
    return parts


def _together(parts: Sequence[Nested]) -> Nested | None:
    if not parts:
        return None
    columns = [f.name for f in fields(parts[0]) if f.name != "names"]
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(p, name) for p in parts]) for name in columns
    }
    return replace(parts[0], **joined)


def _threads(trace: Trace) -> int:
    d, c, r = trace.dispatches, trace.copies, trace.regions
    nested = [t.thread for t in (trace.operators, trace.frames) if t is not None]
    return _count(d.thread, c.thread, r.thread, *nested)


def _shift(by: int) -> Callable[[IndexColumn], IndexColumn]:
    return lambda column: np.where(column >= 0, column + by, -1).astype(np.int32)


def _moved(table: Table, moves: dict[str, Callable[[IndexColumn], IndexColumn]]) -> Table:
    names = [f.name for f in fields(table)]
    changed: dict[str, Any] = {n: moves[n](getattr(table, n)) for n in names if n in moves}
    return replace(table, **changed)


def _count(*columns: IndexColumn | IntColumn) -> int:
    """How many dense numbers the columns use."""
    return max(int(column.max(initial=-1)) for column in columns) + 1


def _joined(tables: Sequence[Table], *keys: str) -> tuple[Table, Any]:
    columns: dict[str, Any] = {
        f.name: np.concatenate([getattr(table, f.name) for table in tables])
        for f in fields(tables[0])
    }
    order = np.lexsort([columns[key] for key in reversed(keys)])
    return type(tables[0])(**{name: column[order] for name, column in columns.items()}), order


def _counters(traces: Sequence[Trace], order: Any) -> dict[str, Counter]:
    result = {}
    for name in sorted({name for trace in traces for name in trace.counters}):
        parts = [trace.counters.get(name) or _absent(len(trace.dispatches)) for trace in traces]
        result[name] = Counter(
            total=np.concatenate([p.total for p in parts])[order],
            maximum=np.concatenate([p.maximum for p in parts])[order],
            instances=np.concatenate([p.instances for p in parts])[order],
        )
    return result


def _absent(count: int) -> Counter:
    nothing = np.full(count, np.nan)
    return Counter(total=nothing, maximum=nothing, instances=np.zeros(count, dtype=np.int32))
