"""Traces of PyTorch's profiler (kineto's Chrome JSON) as one `Trace`.

Device events (kernel, gpu_memcpy, gpu_memset) carry the correlation id of the runtime call that
launched them and the external id of the operator that made the call. Times are microseconds as
decimals. A device's number in the file is the driver's node, not the index of deviceProperties.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.assemble import Raw, assemble
from rocm_perf_lab.trace.columns import MISSING, as_integer, ordinary_text, positions
from rocm_perf_lab.trace.describe import kernel_name, number
from rocm_perf_lab.trace.kineto_agent import agent_of
from rocm_perf_lab.trace.kineto_events import (
    CALLS,
    COPIES,
    FRAMES,
    KERNELS,
    OPERATORS,
    Events,
    Object,
    Table,
)
from rocm_perf_lab.trace.trace import (
    Frames,
    IndexColumn,
    IntColumn,
    KernelSymbol,
    Operators,
    Process,
    Source,
    Trace,
)

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
_ONLY_STREAM = 16  # a handle, where none is recorded and one is enough


def looks_like_kineto(root: object) -> bool:
    events = root.get("traceEvents") if isinstance(root, dict) else root
    return isinstance(events, list) and (
        isinstance(root, dict) or any(isinstance(e, dict) and "ph" in e for e in events[:100])
    )


def read_kineto(events: Events, path: Path) -> list[Trace]:
    if not len(events.tables[KERNELS]) and not len(events.tables[COPIES]):
        raise BadInput(
            f"{path} is a Chrome trace without one GPU kernel or copy.",
            "Record with torch.profiler and ProfilerActivity.CUDA (which is HIP on AMD).",
        )
    return [_trace(events, path)]


def _trace(events: Events, path: Path) -> Trace:
    kernels, copies, calls = (events.tables[t] for t in (KERNELS, COPIES, CALLS))
    facts = events.facts
    notes = ["A PyTorch profiler trace: it holds no hardware counters and no kernel resources."]
    if not len(calls):
        notes.append("No runtime calls are recorded, so gaps of the device have no known cause.")
    for what in (KERNELS, COPIES, CALLS, OPERATORS):
        doubled = _drop_doubled(events.tables[what])
        if doubled:
            notes.append(f"{doubled:,} {what} are recorded twice; each is counted once.")
    devices = np.unique(np.concatenate([kernels["device"], copies["device"]]))
    symbols, strings = _Numbers(), _Numbers()
    dispatches = _dispatches(kernels, calls, devices, symbols)
    copied = _copies(copies, devices, strings)
    streams = np.unique(np.concatenate([kernels["stream"], copies["stream"]]))
    pids = calls["pid"][calls["pid"] != MISSING]
    return assemble(
        Raw(
            sources=(Source(path, "", "kineto", None),),
            processes=(
                Process(
                    pid=number(int(pids.min())) if len(pids) else None,
                    guid=ordinary_text(facts.get("trace_id")),
                ),
            ),
            agents=tuple(agent_of(d, facts.get("deviceProperties")) for d in devices.tolist()),
            kernels=[KernelSymbol(0, name) for name in symbols],
            dispatches=dispatches,
            copies=copied,
            regions=_calls(calls, int(np.count_nonzero(streams != MISSING)) == 1, strings),
            strings=list(strings),
            operators=_operators(events),
            frames=_frames(events.tables[FRAMES]),
            allocated_bytes=events.peak_bytes or None,
            rocm_version=_rocm(facts),
            notes=notes,
        )
    )


def _drop_doubled(table: Table) -> int:
    """Leaves each row once and says how many went: no stream and no thread does the same thing
    twice at once. What takes no time, and operators that call themselves, have ids."""
    start, end = _times(table)
    order = np.lexsort((end, start))
    same = (np.diff(start[order]) == 0) & (np.diff(end[order]) == 0)
    if not same.any():
        return 0
    suspects = np.zeros(len(table), np.bool_)
    suspects[order[1:][same]] = suspects[order[:-1][same]] = True
    rows = np.flatnonzero(suspects)
    length = np.nan_to_num(table.length_us[rows], nan=-1.0)
    unknown = np.full(len(rows), MISSING)
    own = table["correlation"][rows] if "correlation" in table.fields else unknown
    key = zip(
        table.name[rows].tolist(),
        np.nan_to_num(table.start_us[rows], nan=-1.0).tolist(),
        length.tolist(),
        *(table[place][rows].tolist() for place in ("pid", "tid", "device", "stream")),
        np.where(length <= 0, own, MISSING).tolist(),
        (unknown if own is not unknown else table["external"][rows]).tolist(),
        strict=True,
    )
    seen: set[tuple[object, ...]] = set()
    kept = np.ones(len(table), np.bool_)
    for row, what in zip(rows.tolist(), key, strict=True):
        kept[row] = what not in seen
        seen.add(what)
    table.take(np.flatnonzero(kept))
    return int(np.count_nonzero(~kept))


class _Numbers(dict[str, int]):
    """Texts, numbered as they are first met."""

    def of(self, text: str) -> int:
        return self.setdefault(text, len(self))

    def column(self, table: Table, meant: list[str], absent: str) -> IntColumn:
        """Of a table's names, each of which means one of these texts."""
        number = np.full(len(table.names) + 1, MISSING, np.int64)
        used = np.unique(table.name, return_index=True)
        for code in used[0][np.argsort(used[1])].tolist():
            number[code] = self.of(meant[code] if code >= 0 else absent)
        return number[table.name]


def _last(ids: IntColumn, wanted: IntColumn) -> IntColumn:
    """The last row with each wanted id, -1 without."""
    rows = np.flatnonzero(ids != MISSING)[::-1]
    at = positions(ids[rows], wanted)
    return np.where(at >= 0, np.append(rows, -1)[at], -1)


def _dispatches(
    table: Table, calls: Table, devices: IntColumn, symbols: _Numbers
) -> dict[str, IntColumn]:
    launcher = np.append(calls.name, -1)[_last(calls["correlation"], table["correlation"])]
    in_items = np.array([*(name in _IN_ITEMS for name in calls.names), False])[launcher]
    by_graph = np.array([*("GraphLaunch" in name for name in calls.names), False])[launcher]
    grid, block = (
        np.stack([table[f"{what}_{axis}"] for axis in "xyz"]) for what in ("grid", "block")
    )
    in_groups = (grid[0] != MISSING) & (block[0] != MISSING) & ~in_items
    with np.errstate(over="ignore"):
        items = grid * block
    fits = np.all(grid.astype(np.float64) * block < MOST_ITEMS, axis=0)
    grid = np.where(in_groups, np.where(fits, items, MISSING), grid)
    named = [kernel_name(name) or "" for name in table.names]
    start, end = _times(table)
    return {
        **{f"grid_{axis}": grid[i] for i, axis in enumerate("xyz")},
        **{f"workgroup_{axis}": block[i] for i, axis in enumerate("xyz")},
        "process": np.zeros(len(table), np.int64),
        "kernel": symbols.column(table, [n or _UNNAMED for n in named], _UNNAMED),
        "agent": np.searchsorted(devices, table["device"]),
        "queue": table["queue"],
        "stream": table["stream"],
        "correlation": table["correlation"],
        "graph_exec": np.where(by_graph, table["correlation"], MISSING),
        "lds_bytes": table["lds"],
        "start_ns": start,
        "end_ns": end,
    }


MOST_ITEMS = 2.0**62
_UNNAMED = "<unnamed kernel>"


def _copies(table: Table, devices: IntColumn, strings: _Numbers) -> dict[str, IntColumn]:
    start, end = _times(table)
    names, kinds = [*table.names, ""], [*table.kinds, ""]
    pair = table.kind.astype(np.int64) * len(names) + table.name
    distinct, which = np.unique(pair, return_inverse=True)
    rows = np.zeros(len(distinct), np.int64)
    rows[which] = np.arange(len(pair))
    meant = [strings.of(_copy_kind(kinds[table.kind[r]], names[table.name[r]])) for r in rows]
    return {
        "process": np.zeros(len(table), np.int64),
        "kind": np.array(meant, np.int64)[which],
        "stream": table["stream"],
        "dst_agent": np.searchsorted(devices, table["device"]),
        "correlation": table["correlation"],
        "start_ns": start,
        "end_ns": end,
        "size_bytes": table["bytes"],
    }


def _calls(table: Table, one_stream: bool, strings: _Numbers) -> dict[str, IntColumn]:
    start, end = _times(table)
    return {
        "process": np.zeros(len(table), np.int64),
        "thread": table["tid"],
        "name": strings.column(table, table.names, ""),
        "category": np.full(len(table), strings.of(CATEGORY)),
        "correlation": table["correlation"],
        "stream_handle": _stream_handles(table, one_stream),
        "start_ns": start,
        "end_ns": end,
    }


def _operators(events: Events) -> Operators | None:
    """Operators, and which of them launched the work of each correlation id."""
    table, calls = events.tables[OPERATORS], events.tables[CALLS]
    if not len(table):
        return None
    work = [events.tables[t] for t in (KERNELS, COPIES)]
    correlation = np.concatenate([t["correlation"] for t in work])
    row = _last(table["external"], np.concatenate([t["external"] for t in work]))
    call = _last(calls["correlation"], correlation)
    of_call = _last(table["external"], np.append(calls["external"], MISSING)[call])
    row = np.where(row >= 0, row, of_call)
    known = np.flatnonzero((correlation != MISSING) & (row >= 0))
    distinct, first, which = np.unique(correlation[known], return_index=True, return_inverse=True)
    launcher = np.zeros(len(distinct), np.int64)
    launcher[which] = row[known]  # the last one stays
    order = np.argsort(first)
    start, end = _times(table)
    name, names = _present(table)
    return Operators(
        names=names,
        process=np.zeros(len(table), np.int32),
        thread=table["tid"],
        name=name,
        start_ns=start,
        end_ns=end,
        launch_process=np.zeros(len(distinct), np.int32),
        launch_correlation=distinct[order],
        launch_operator=launcher[order].astype(np.int32),
    )


def _frames(table: Table) -> Frames | None:
    start, end = _times(table)
    rows = np.flatnonzero(end > start)
    if not len(rows):
        return None
    name, names = _present(table)
    return Frames(
        names=names,
        process=np.zeros(len(rows), np.int32),
        thread=table["tid"][rows],
        name=name[rows],
        start_ns=start[rows],
        end_ns=end[rows],
    )


def _present(table: Table) -> tuple[IndexColumn, tuple[str, ...]]:
    """Names, of which an absent one is empty."""
    names = _Numbers()
    column = names.column(table, table.names, "").astype(np.int32)
    return column, tuple(names)


def _times(table: Table) -> tuple[IntColumn, IntColumn]:
    """Start and end in ns; MISSING where there is no number."""
    start, length = table.start_us, table.length_us
    good = (np.abs(start) < 4e15) & (np.abs(length) < 4e15)  # NaN is not
    start, length = np.where(good, start, 0), np.where(good, length, 0)
    begin = np.round(start * 1000).astype(np.int64)
    end = begin + np.round(length * 1000).astype(np.int64)
    return np.where(good, begin, MISSING), np.where(good, end, MISSING)


def _copy_kind(kind: str, name: str) -> str:
    if "memset" in name.lower():
        return "MEMORY_SET"
    letters = re.sub(r"[^a-z]", "", name.lower())
    for key, text in _COPY_KINDS.items():
        if key in kind.lower() or f"memcpy{key}" in letters:
            return text
    return "MEMORY_COPY"


def _stream_handles(calls: Table, one_stream: bool) -> IntColumn:
    """Handles are not recorded; where all work ran on one stream, every call means that one."""
    told = np.where(calls["handle"] > 0, calls["handle"], MISSING)
    if not one_stream:
        return told

    def named(*parts: str) -> npt.NDArray[np.bool_]:
        return np.array([*(any(p in n for p in parts) for n in calls.names), False])[calls.name]

    told = np.where((told == MISSING) & named("StreamSynchronize"), _ONLY_STREAM, told)
    return np.where(named("Launch", "Memcpy"), _ONLY_STREAM, told)


def _rocm(facts: Object) -> str | None:
    """60443483 is HIP 6.4.43483."""
    version = as_integer(facts.get("hip_runtime_version"))
    if version < 10_000_000:
        return None
    return f"{version // 10_000_000}.{version // 100_000 % 100}"
