"""Tables of dispatches and counters as CSV, from rocprofv3 and rocprof-compute.

Three shapes, told apart by the header: long (one row per dispatch and counter), wide (one row per
dispatch, a column per counter) and a plain kernel trace (no counters). A column NAME[i] is one
hardware instance of counter NAME. One `Trace` per pass: a dump of several passes repeats each
dispatch id with other times.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.assemble import Columns, Measured, Raw, assemble
from rocm_perf_lab.trace.columns import MISSING, as_integer, as_real
from rocm_perf_lab.trace.describe import kernel_name, kernel_symbol, number
from rocm_perf_lab.trace.sqlite_file import reason
from rocm_perf_lab.trace.trace import Agent, IntColumn, KernelSymbol, Process, Source, Trace

_ALIASES = {
    "dispatch_id": "dispatch index",
    "kernel_name": "kernelname",
    "kernel_id": "",
    "agent": "gpu_id agent_id",
    "queue": "queue_id",
    "stream": "stream_id",
    "process": "pid process_id",
    "thread": "tid thread_id",
    "grid": "grid_size grd",
    "grid_x": "grid_size_x",
    "grid_y": "grid_size_y",
    "grid_z": "grid_size_z",
    "workgroup": "workgroup_size wgr",
    "workgroup_x": "workgroup_size_x",
    "workgroup_y": "workgroup_size_y",
    "workgroup_z": "workgroup_size_z",
    "lds_bytes": "lds_per_workgroup lds_block_size lds_block_size_v lds",
    "scratch_bytes": "scratch_per_workitem scratch_size scr",
    "arch_vgprs": "arch_vgpr vgpr_count arch_vgpr_count",
    "accum_vgprs": "accum_vgpr accum_vgpr_count",
    "sgprs": "sgpr sgpr_count",
    "start_ns": "start_timestamp beginns start",
    "end_ns": "end_timestamp endns end",
    "correlation": "correlation_id",
    "counter_name": "",
    "counter_value": "value",
}
_KNOWN = {alias: name for name, aliases in _ALIASES.items() for alias in (name, *aliases.split())}
_OTHER = frozenset(
    "kind wave_size xcc_index xcc_id queue_index node_id sig obj dispatchns completens".split()
)
_INSTANCE = re.compile(r"^(.+)\[(\d+)\]$")
_REPEATED = re.compile(r"_\d+$")
_COUNTER = re.compile(r"^[A-Za-z][A-Za-z0-9_]*(\[\d+\])?$")
_LARGEST = 1 << 30


@dataclass
class _Dispatch:
    row: dict[str, str]
    values: list[tuple[str, float]] = field(default_factory=list)


def looks_like_table(head: bytes) -> bool:
    """Whether a file's first line is the header of one of these tables."""
    line = head.decode("utf-8-sig", "replace").splitlines()[:1]
    names = {_canonical(cell) for row in csv.reader(line) for cell in row}
    return "kernel_name" in names and bool(names & {"dispatch_id", "start_ns"})


def read_csv(path: Path) -> list[Trace]:
    try:
        if path.stat().st_size > _LARGEST:
            raise BadInput(f"{path} is larger than 1 GiB.", "Record it with -f rocpd.")
        text = path.read_bytes().decode("utf-8-sig", "backslashreplace")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}.") from error
    notes: list[str] = []
    try:
        dispatches = _dispatches(text, path, notes)
    except csv.Error as error:
        raise BadInput(f"{path} is no proper CSV: {error}.") from error
    if not dispatches:
        raise BadInput(f"{path} has a header but not one dispatch.")
    facts = _sysinfo(path)
    devices = _agent_info(path)
    return [_trace(part, path, facts, devices, notes) for part in _passes(dispatches)]


def _canonical(header: str) -> str:
    name = re.sub(r"[\s\-]+", "_", header.strip()).lower()
    return _KNOWN.get(name, name)


def _dispatches(text: str, path: Path, notes: list[str]) -> list[_Dispatch]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header = next(reader, [])
    names = [_canonical(cell) for cell in header]
    for needed in ("kernel_name", "dispatch_id"):
        if needed not in names:
            raise BadInput(f"{path} has no column for {needed}: it is no table of dispatches.")
    long = "counter_name" in names and "counter_value" in names
    counters = [] if long else _counter_columns(header, names)
    if not counters and not long and not {"start_ns", "end_ns"} <= set(names):
        raise BadInput(f"{path} has neither counters nor times.")
    fixed = [(i, name) for i, name in enumerate(names) if name in _ALIASES]
    found: dict[tuple[str, ...], _Dispatch] = {}
    ragged = 0
    for cells in reader:
        if not cells:
            continue
        if len(cells) != len(header):
            ragged += 1
            continue
        row = {name: cells[i] for i, name in reversed(fixed)}  # the first of equal names wins
        key = tuple(row.get(k, "") for k in ("process", "agent", "dispatch_id", "start_ns"))
        dispatch = found.setdefault(key, _Dispatch(row))
        if long:
            dispatch.values.append((row["counter_name"].strip(), as_real(row["counter_value"])))
        else:
            for i, name in counters:
                if cells[i].strip():
                    dispatch.values.append((name, as_real(cells[i])))
    if ragged:
        notes.append(f"{ragged} rows have another number of cells than the header; left out.")
    return list(found.values())


def _counter_columns(header: list[str], names: list[str]) -> list[tuple[int, str]]:
    """Columns that are no known fact, nor a joined file's repeat of one (Kernel_ID_3)."""
    result = []
    for i, (cell, name) in enumerate(zip(header, names, strict=True)):
        stem = _canonical(_REPEATED.sub("", cell.strip()))
        if name in _ALIASES or name in _OTHER or stem in _ALIASES or stem in _OTHER:
            continue
        if _COUNTER.match(cell.strip()):
            result.append((i, cell.strip()))
    return result


def _passes(dispatches: list[_Dispatch]) -> Iterator[list[_Dispatch]]:
    """Split where dispatch ids repeat: the n-th time an id comes belongs to the n-th pass."""
    repeats: dict[tuple[str, ...], list[_Dispatch]] = {}
    for dispatch in dispatches:
        key = tuple(dispatch.row.get(k, "") for k in ("process", "agent", "dispatch_id"))
        repeats.setdefault(key, []).append(dispatch)
    passes: dict[int, list[_Dispatch]] = {}
    for same in repeats.values():
        same.sort(key=lambda d: _integer(d.row.get("start_ns", "")))
        for number_, dispatch in enumerate(same):
            passes.setdefault(number_, []).append(dispatch)
    yield from passes.values()


def _trace(
    part: list[_Dispatch],
    path: Path,
    facts: dict[str, str],
    described: dict[int, Agent],
    notes: list[str],
) -> Trace:
    rows = [dispatch.row for dispatch in part]
    notes = list(notes)
    if any("e" in row.get("start_ns", "").lower() for row in rows):
        notes.append("Times are written as rounded powers of ten: durations are not known.")
    architecture = facts.get("gpu_arch", "")
    gpus = [agent for agent in described.values() if agent.kind == "GPU"]
    if not architecture and len({agent.architecture for agent in gpus}) == 1:
        architecture = gpus[0].architecture
    columns = _columns(rows, notes)
    pids = sorted({row.get("process", "") for row in rows})
    devices = sorted({row.get("agent", "") for row in rows})
    columns["process"] = np.array([pids.index(r.get("process", "")) for r in rows], np.int64)
    columns["agent"] = np.array([devices.index(r.get("agent", "")) for r in rows], np.int64)
    columns["kernel"], kernels = _kernels(rows, architecture)
    return assemble(
        Raw(
            sources=(Source(path, "", "csv", None),),
            processes=tuple(
                Process(
                    pid=number(pid),
                    command=facts.get("command"),
                    hostname=facts.get("hostname"),
                )
                for pid in pids
            ),
            agents=tuple(_agent(device, architecture, facts, described) for device in devices),
            kernels=kernels,
            strings=[],
            dispatches=columns,
            measured=_measured(part),
            rocm_version=facts.get("rocm_version"),
            notes=notes,
        )
    )


def _columns(rows: list[dict[str, str]], notes: list[str]) -> Columns:
    """Times, resources and shapes; what they do not say is added to the notes."""
    columns: Columns = {
        name: _column(rows, name)
        for name in (
            "queue stream thread dispatch_id correlation start_ns end_ns lds_bytes scratch_bytes"
        ).split()
    }
    if bool(np.all(columns["start_ns"] == MISSING)):
        notes.append("The table has no times; its rows stand in the order of their ids.")
        columns["start_ns"] = columns["end_ns"] = np.arange(len(rows), dtype=np.int64)
    for kind in ("workgroup", "grid"):
        total = _column(rows, kind)
        for axis in "xyz":
            sizes = _column(rows, f"{kind}_{axis}")
            whole = total if axis == "x" else np.where(total == MISSING, MISSING, 1)
            columns[f"{kind}_{axis}"] = np.where(sizes == MISSING, whole, sizes)
    if rows and "grid" in rows[0] and "grid_x" not in rows[0]:
        notes.append(
            "The table gives grid and workgroup sizes as totals, taken as one-dimensional."
        )
    return columns


def _kernels(rows: list[dict[str, str]], architecture: str) -> tuple[IntColumn, list[KernelSymbol]]:
    """Which kernel each row is, and the kernels: one name with other registers is another."""
    never = not any(_integer(row.get("accum_vgprs", "")) > 0 for row in rows)
    names = "kernel_name arch_vgprs accum_vgprs sgprs".split()
    shapes: dict[tuple[str, ...], int] = {}
    numbers: IntColumn = np.array(
        [shapes.setdefault(tuple(r.get(n, "") for n in names), len(shapes)) for r in rows],
        np.int64,
    )
    return numbers, [
        kernel_symbol(
            process=0,
            name=kernel_name(name) or "<unnamed kernel>",
            architecture=architecture,
            sgprs=number(sgprs),
            arch_vgprs=number(_integer(arch)),
            accum_vgprs=number(_integer(accum)),
            accum_never_seen=never,
        )
        for name, arch, accum, sgprs in shapes
    ]


def _measured(part: list[_Dispatch]) -> Measured:
    place: dict[str, int] = {}
    owners, counters, values = [], [], []
    for i, dispatch in enumerate(part):
        for name, value in dispatch.values:
            instance = _INSTANCE.match(name)
            base = instance.group(1) if instance else name
            owners.append(i)
            counters.append(place.setdefault(base, len(place)) if base else -1)
            values.append(value)
    return Measured(
        names=tuple(place),
        dispatch=np.array(owners, dtype=np.int64),
        counter=np.array(counters, dtype=np.int64),
        value=np.array(values, dtype=np.float64),
    )


def _agent(
    device: str, architecture: str, facts: dict[str, str], described: dict[int, Agent]
) -> Agent:
    """What rocprofv3's agent_info.csv, or rocprof-compute's sysinfo.csv, says about the device."""
    index = _integer(device.lower().removeprefix("agent").strip())
    gpus = [agent for agent in described.values() if agent.kind == "GPU"]
    if index in described and described[index].kind == "GPU":
        return described[index]
    if len(gpus) == 1:  # numbered in another way, but there is no other
        return gpus[0]
    known = {
        "cu_count": "cu_per_gpu",
        "simd_per_cu": "simd_per_cu",
        "num_xcc": "num_xcd",
        "wave_front_size": "wave_size",
        "max_waves_per_cu": "max_waves_per_cu",
        "max_engine_clk_fcompute": "max_sclk",
    }
    properties = {
        name: value
        for name, column in known.items()
        if (value := _integer(facts.get(column, ""))) > 0
    }
    return Agent(
        process=0,
        kind="GPU",
        architecture=architecture,
        model_name=facts.get("gpu_model", ""),
        product_name=facts.get("gpu_model", ""),
        index=number(index),
        properties=properties,
    )


def _agent_info(path: Path) -> dict[int, Agent]:
    """rocprofv3 writes <prefix>_agent_info.csv beside its tables: every device by node id."""
    prefix = re.sub(r"(kernel_trace|counter_collection)\.csv$", "", path.name)
    own = path.with_name(f"{prefix}agent_info.csv")
    beside = [own] if own.is_file() else sorted(path.parent.glob("*agent_info.csv"))
    found: dict[int, Agent] = {}
    for row in _table(beside[0]) if beside else ():
        facts = {re.sub(r"\W+", "_", k.strip()).lower(): v for k, v in row.items()}
        node = _integer(facts.get("node_id", ""))
        numbers = {k: n for k, v in facts.items() if (n := _integer(v)) >= 0}
        found[node] = Agent(
            process=0,
            kind=facts.get("agent_type", facts.get("type", "")).upper(),
            architecture=facts.get("name", ""),
            model_name=facts.get("model_name", ""),
            product_name=facts.get("product_name", ""),
            index=number(node),
            properties=dict(sorted(numbers.items())),
        )
    return found


def _sysinfo(path: Path) -> dict[str, str]:
    """rocprof-compute keeps the machine's description beside its counter tables."""
    return next(iter(_table(path.with_name("sysinfo.csv"))), {})


def _table(beside: Path) -> list[dict[str, str]]:
    """Rows of a small table beside the one read; none where it is missing or broken."""
    try:
        if not beside.is_file() or beside.stat().st_size > 1 << 20:
            return []
        text = beside.read_bytes().decode("utf-8-sig", "backslashreplace")
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
    except (OSError, csv.Error):
        return []
    return [
        {k: v for k, v in row.items() if isinstance(k, str) and isinstance(v, str)} for row in rows
    ]


def _integer(text: str) -> int:
    """Whole numbers; times averaged by rocprof-compute have a fraction, others an exponent."""
    value = as_integer(text)
    if value == MISSING:
        real = as_real(text)
        if math.isfinite(real) and abs(real) < 1 << 62:
            return round(real)
    return value


def _column(rows: list[dict[str, str]], name: str) -> IntColumn:
    return np.fromiter((_integer(r.get(name, "")) for r in rows), dtype=np.int64, count=len(rows))
