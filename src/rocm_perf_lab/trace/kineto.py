"""Traces of PyTorch's profiler (kineto's Chrome JSON) as one `Trace`.

Device events (kernel, gpu_memcpy, gpu_memset) carry the correlation id of the runtime call that
launched them and the external id of the operator that made the call. Times are microseconds as
decimals. A device's number in the file is the driver's node, not the index of deviceProperties.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.assemble import Raw, assemble
from rocm_perf_lab.trace.columns import MISSING, as_integer, as_real, ordinary_text
from rocm_perf_lab.trace.describe import kernel_name, number
from rocm_perf_lab.trace.kineto_agent import agent_of
from rocm_perf_lab.trace.trace import (
    Frames,
    IntColumn,
    KernelSymbol,
    Operators,
    Process,
    Source,
    Trace,
)

Object = dict[str, Any]

# Categories of several torch versions; the older ones are capitalised.
_KERNEL = frozenset({"kernel"})
_COPY = frozenset({"gpu_memcpy", "gpu_memset", "memcpy", "memset"})
_CALL = frozenset({"cuda_runtime", "hip_runtime", "cuda_driver", "hip_driver", "runtime"})
_OPERATOR = frozenset({"cpu_op", "operator"})
_FRAME = frozenset({"python_function", "user_annotation"})
CATEGORY = "HIP_RUNTIME_API"
# These give the grid in work-items; every other launch in workgroups.
_IN_ITEMS = frozenset({"hipExtModuleLaunchKernel", "hipHccModuleLaunchKernel"})
_COPY_KINDS = {
    "htod": "MEMORY_COPY_HOST_TO_DEVICE",
    "dtoh": "MEMORY_COPY_DEVICE_TO_HOST",
    "dtod": "MEMORY_COPY_DEVICE_TO_DEVICE",
    "htoh": "MEMORY_COPY_HOST_TO_HOST",
    "ptop": "MEMORY_COPY_DEVICE_TO_DEVICE",
}


def looks_like_kineto(root: object) -> bool:
    events = root.get("traceEvents") if isinstance(root, dict) else root
    return isinstance(events, list) and (
        isinstance(root, dict) or any(isinstance(e, dict) and "ph" in e for e in events[:100])
    )


def read_kineto(root: Any, path: Path) -> list[Trace]:
    facts: Object = root if isinstance(root, dict) else {}
    events = facts.get("traceEvents") if isinstance(root, dict) else root
    sorted_out = _sort_out(events if isinstance(events, list) else [])
    if not sorted_out.kernels and not sorted_out.copies:
        raise BadInput(
            f"{path} is a Chrome trace without one GPU kernel or copy.",
            "Record with torch.profiler and ProfilerActivity.CUDA (which is HIP on AMD).",
        )
    return [_trace(sorted_out, facts, path)]


@dataclass
class _Events:
    kernels: list[Object] = field(default_factory=list)
    copies: list[Object] = field(default_factory=list)
    calls: list[Object] = field(default_factory=list)
    operators: list[Object] = field(default_factory=list)
    frames: list[Object] = field(default_factory=list)
    peak_bytes: int = 0


def _sort_out(events: list[Any]) -> _Events:
    found = _Events()
    tables = {
        **dict.fromkeys(_KERNEL, found.kernels),
        **dict.fromkeys(_COPY, found.copies),
        **dict.fromkeys(_CALL, found.calls),
        **dict.fromkeys(_OPERATOR, found.operators),
        **dict.fromkeys(_FRAME, found.frames),
    }
    for event in events:
        if not isinstance(event, dict):
            continue
        category = event.get("cat")
        if not isinstance(category, str):
            continue
        if event.get("ph") == "X":
            table = tables.get(category.lower())
            if table is not None:
                table.append(event)
        elif event.get("name") == "[memory]":
            total = as_real(_args(event).get("Total Allocated"))
            if total > found.peak_bytes:
                found.peak_bytes = int(total)
    return found


def _trace(events: _Events, facts: Object, path: Path) -> Trace:
    notes = ["A PyTorch profiler trace: it holds no hardware counters and no kernel resources."]
    if not events.calls:
        notes.append("No runtime calls are recorded, so gaps of the device have no known cause.")
    for table, what in (
        (events.kernels, "kernels"),
        (events.copies, "copies"),
        (events.calls, "runtime calls"),
        (events.operators, "operators"),
    ):
        doubled = _drop_doubled(table)
        if doubled:
            notes.append(f"{doubled:,} {what} are recorded twice; each is counted once.")
    devices = sorted({_device(e) for e in (*events.kernels, *events.copies)})
    place = {device: i for i, device in enumerate(devices)}
    called = {_correlation(c): c for c in events.calls}
    called.pop(MISSING, None)
    kernels, strings = _Numbers(), _Numbers()
    dispatches = _dispatches(events.kernels, called, place, kernels)
    copies = _copies(events.copies, place, strings)
    streams = {*dispatches["stream"].tolist(), *copies["stream"].tolist()}
    pids = {as_integer(e.get("pid")) for e in events.calls} - {MISSING}
    return assemble(
        Raw(
            sources=(Source(path, "", "kineto", None),),
            processes=(
                Process(
                    pid=number(min(pids)) if pids else None,
                    parent_pid=None,
                    guid=ordinary_text(facts.get("trace_id")),
                    command=None,
                    hostname=None,
                    machine_id=None,
                    start_ns=None,
                    end_ns=None,
                    source=0,
                ),
            ),
            agents=tuple(agent_of(device, facts.get("deviceProperties")) for device in devices),
            kernels=[
                KernelSymbol(0, name, None, None, None, None, None, None, None, None)
                for name in kernels
            ],
            dispatches=dispatches,
            copies=copies,
            regions=_calls(events.calls, streams, strings),
            strings=list(strings),
            operators=_operators(events, called),
            frames=_frames(events.frames),
            allocated_bytes=events.peak_bytes or None,
            rocm_version=_rocm(facts),
            notes=notes,
        )
    )


def _drop_doubled(events: list[Object]) -> int:
    """Leaves each row once and says how many went: no stream and no thread does the same thing
    twice at once. What takes no time, and operators that call themselves, have ids."""
    start, end = _times(events)
    order = np.lexsort((end, start))
    same = (np.diff(start[order]) == 0) & (np.diff(end[order]) == 0)
    if not same.any():
        return 0
    suspects = np.zeros(len(events), np.bool_)
    suspects[order[1:][same]] = suspects[order[:-1][same]] = True
    seen: set[tuple[object, ...]] = set()
    kept = []
    for event, suspect in zip(events, suspects.tolist(), strict=True):
        if suspect:
            own = _correlation(event) if not event.get("dur") else MISSING
            operator = _external(event) if _category(event) in _OPERATOR else MISSING
            place = (event.get("pid"), event.get("tid"), _device(event), _stream(event))
            key = (str(event.get("name")), event["ts"], event.get("dur"), *place, own, operator)
            if key in seen:
                continue
            seen.add(key)
        kept.append(event)
    dropped = len(events) - len(kept)
    events[:] = kept
    return dropped


def _category(event: Object) -> str:
    return str(event.get("cat")).lower()


class _Numbers(dict[str, int]):
    """Texts, numbered as they are first met."""

    def of(self, text: str) -> int:
        return self.setdefault(text, len(self))


def _dispatches(
    events: list[Object],
    called: Mapping[int, Object],
    place: Mapping[int, int],
    kernels: _Numbers,
) -> dict[str, IntColumn]:
    launchers = [str(called.get(_correlation(e), {}).get("name", "")) for e in events]
    shapes = [_shape(e, launcher) for e, launcher in zip(events, launchers, strict=True)]
    sizes = {
        f"{what}_{axis}": _column(shape[which][i] for shape in shapes)
        for which, what in enumerate(("grid", "workgroup"))
        for i, axis in enumerate("xyz")
    }
    names = (kernel_name(e.get("name")) or "<unnamed kernel>" for e in events)
    start, end = _times(events)
    return {
        **sizes,
        "process": np.zeros(len(events), np.int64),
        "kernel": _column(kernels.of(name) for name in names),
        "agent": _column(place[_device(e)] for e in events),
        "queue": _column(as_integer(_args(e).get("queue", _stream(e))) for e in events),
        "stream": _column(_stream(e) for e in events),
        "correlation": _column(_correlation(e) for e in events),
        "graph_exec": _column(
            _correlation(e) if "GraphLaunch" in launcher else MISSING
            for e, launcher in zip(events, launchers, strict=True)
        ),
        "lds_bytes": _column(as_integer(_args(e).get("shared memory")) for e in events),
        "start_ns": start,
        "end_ns": end,
    }


def _shape(event: Object, launcher: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Grid, in work items, and workgroup."""
    grid, block = _triple(_args(event).get("grid")), _triple(_args(event).get("block"))
    if grid is not None and block is not None and launcher not in _IN_ITEMS:
        grid = tuple(g * b for g, b in zip(grid, block, strict=True))
    return grid or (MISSING,) * 3, block or (MISSING,) * 3


def _copies(
    events: list[Object], place: Mapping[int, int], strings: _Numbers
) -> dict[str, IntColumn]:
    start, end = _times(events)
    return {
        "process": np.zeros(len(events), np.int64),
        "kind": _column(strings.of(_copy_kind(e)) for e in events),
        "stream": _column(_stream(e) for e in events),
        "dst_agent": _column(place[_device(e)] for e in events),
        "correlation": _column(_correlation(e) for e in events),
        "start_ns": start,
        "end_ns": end,
        "size_bytes": _column(as_integer(_args(e).get("bytes")) for e in events),
    }


def _calls(events: list[Object], streams: set[int], strings: _Numbers) -> dict[str, IntColumn]:
    start, end = _times(events)
    return {
        "process": np.zeros(len(events), np.int64),
        "thread": _column(_thread(e) for e in events),
        "name": _column(strings.of(ordinary_text(e.get("name")) or "") for e in events),
        "category": _column(strings.of(CATEGORY) for _ in events),
        "correlation": _column(_correlation(e) for e in events),
        "stream_handle": _stream_handles(events, streams),
        "start_ns": start,
        "end_ns": end,
    }


def _device(event: Object) -> int:
    return as_integer(_args(event).get("device", event.get("pid")))


def _stream(event: Object) -> int:
    return as_integer(_args(event).get("stream", event.get("tid")))


def _correlation(event: Object) -> int:
    return as_integer(_args(event).get("correlation"))


def _operators(events: _Events, called: Mapping[int, Object]) -> Operators | None:
    """Operators, and which of them launched the work of each correlation id."""
    if not events.operators:
        return None
    names: dict[str, int] = {}
    row_of: dict[int, int] = {}
    for row, event in enumerate(events.operators):
        row_of[_external(event)] = row
    row_of.pop(MISSING, None)
    links: dict[int, int] = {}
    for event in (*events.kernels, *events.copies):
        correlation = as_integer(_args(event).get("correlation"))
        external = _external(event)
        call = called.get(correlation)
        if external not in row_of and call is not None:
            external = _external(call)
        if correlation != MISSING and external in row_of:
            links[correlation] = row_of[external]
    start, end = _times(events.operators)
    index = [
        names.setdefault(ordinary_text(e.get("name")) or "", len(names)) for e in events.operators
    ]
    return Operators(
        names=tuple(names),
        process=np.zeros(len(index), np.int32),
        thread=_column(_thread(e) for e in events.operators),
        name=np.array(index, np.int32),
        start_ns=start,
        end_ns=end,
        launch_process=np.zeros(len(links), np.int32),
        launch_correlation=_column(links.keys()),
        launch_operator=np.array(list(links.values()), np.int32),
    )


def _frames(events: list[Object]) -> Frames | None:
    start, end = _times(events)
    rows = np.flatnonzero(end > start)
    if not len(rows):
        return None
    names = _Numbers()
    index = _column(names.of(ordinary_text(e.get("name")) or "") for e in events)
    return Frames(
        names=tuple(names),
        process=np.zeros(len(rows), np.int32),
        thread=_column(_thread(e) for e in events)[rows],
        name=index[rows].astype(np.int32),
        start_ns=start[rows],
        end_ns=end[rows],
    )


def _external(event: Object) -> int:
    args = _args(event)
    return as_integer(args.get("External id", args.get("external id")))


def _args(event: Object) -> Object:
    args = event.get("args")
    return args if isinstance(args, dict) else {}


def _column(values: Iterable[int]) -> IntColumn:
    return np.fromiter(values, dtype=np.int64)


def _times(events: list[Object]) -> tuple[IntColumn, IntColumn]:
    """Start and end in ns; MISSING where there is no number."""
    start = np.fromiter((as_real(e.get("ts")) for e in events), np.float64, len(events))
    length = np.fromiter((as_real(e.get("dur")) for e in events), np.float64, len(events))
    good = np.isfinite(start) & np.isfinite(length) & (np.abs(start) < 4e15) & (length < 4e15)
    start, length = np.where(good, start, 0), np.where(good, length, 0)
    begin = np.round(start * 1000).astype(np.int64)
    end = begin + np.round(length * 1000).astype(np.int64)
    return np.where(good, begin, MISSING), np.where(good, end, MISSING)


def _thread(event: Object) -> int:
    return as_integer(event.get("tid"))


def _triple(value: object) -> tuple[int, ...] | None:
    if not isinstance(value, list) or len(value) != 3:
        return None
    sizes = tuple(as_integer(v) for v in value)
    return sizes if all(s > 0 for s in sizes) else None


def _copy_kind(event: Object) -> str:
    kind = str(_args(event).get("kind", "")).lower()
    if "memset" in str(event.get("name", "")).lower():
        return "MEMORY_SET"
    name = re.sub(r"[^a-z]", "", str(event.get("name", "")).lower())
    for key, text in _COPY_KINDS.items():
        if key in kind or f"memcpy{key}" in name:
            return text
    return "MEMORY_COPY"


def _stream_handles(calls: list[Object], streams: set[int]) -> IntColumn:
    """Handles are not recorded; where all work ran on one stream, every call means that one."""
    only = len(streams - {MISSING}) == 1
    found = []
    for call in calls:
        name = str(call.get("name", ""))
        told = as_integer(_args(call).get("stream"))
        synchronises = "StreamSynchronize" in name
        found.append(told if told > 0 else 16 if only and synchronises else MISSING)
    if only:
        found = [
            16 if "Launch" in str(c.get("name", "")) or "Memcpy" in str(c.get("name", "")) else h
            for c, h in zip(calls, found, strict=True)
        ]
    return _column(found)


def _rocm(facts: Object) -> str | None:
    """60443483 is HIP 6.4.43483."""
    version = as_integer(facts.get("hip_runtime_version"))
    if version < 10_000_000:
        return None
    return f"{version // 10_000_000}.{version // 100_000 % 100}"
