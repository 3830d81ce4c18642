"""rocpd, the SQLite trace rocprofv3 writes: one `Trace` per guid in the file.

Base tables are read as they are and joined here on (id, guid); AMD's views differ between
releases and are never used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace import handles, rocpd_info
from rocm_perf_lab.trace.assemble import Columns, Measured, Raw, assemble
from rocm_perf_lab.trace.columns import MISSING, int_column, ordinary_text, positions, ranks
from rocm_perf_lab.trace.describe import fractions, json_object
from rocm_perf_lab.trace.rocpd_dataset import PREFIX, Dataset, datasets, joined
from rocm_perf_lab.trace.sqlite_file import Batch, SqliteFile
from rocm_perf_lab.trace.trace import Agent, FloatColumn, IntColumn, Source, Trace

VIRTUAL_TAG = "virtual"
DETAILED_TAG = "detailed_fraction"  # of modelled kernels: name -> how much was simulated
SAMPLING_TAG = "sampling_error"  # and the standard error of their time from that
"""rocpd_metadata tag by which a virtual GPU marks its recordings (value "true")."""

REQUIRED = {
    "kernel_dispatch": (
        "kernel_id agent_id start end workgroup_size_x workgroup_size_y workgroup_size_z "
        "grid_size_x grid_size_y grid_size_z"
    ).split(),
    "info_kernel_symbol": ["id"],
    "info_agent": ["id", "name"],
}
"""Without these no dispatch has a name, a device, a shape and a time: reading ends."""

_NAMES = "names of host calls and kinds of copies, and so what waited, copied or loaded,"
PARTS = {
    "string": _NAMES,
    "event": "counters and the links from API calls to kernels",
    "region": "host API calls",
    "arg": "streams and events of API calls",
    "memory_copy": "memory copies",
    "info_process": "the process",
    "pmc_event": "counters",
    "info_pmc": "counters",
}
"""Without one of these a part of the analysis is missing, and a note says which."""

_ARGV_BUG_HINT = (
    "rocprofv3 stops like this when the program's command line holds ';' or quotes (as Python's "
    "multiprocessing does; rocm-systems #1655). Put the command into a script and profile that, "
    "or use a newer ROCm."
)


def read_rocpd(path: Path) -> list[Trace]:
    with SqliteFile(path) as file:
        return [assemble(_read_dataset(dataset, path)) for dataset in datasets(file)]


@dataclass(frozen=True)
class _Named:
    """What the tables of operations refer to by id."""

    processes: rocpd_info.Processes
    agents: rocpd_info.Lookup[Agent]
    kernels: rocpd_info.Kernels
    strings: rocpd_info.Lookup[str]
    events: Columns

    def correlation(self, event_id: IntColumn) -> IntColumn:
        return _pick(self.events["stack_id"], positions(self.events["id"], event_id))


def _read_dataset(data: Dataset, path: Path) -> Raw:
    metadata = _metadata(data)
    version = _schema_version(data, metadata, path)
    _check_tables(data, path)
    dispatches = data.integers(
        "kernel_dispatch",
        *"id pid tid agent_id kernel_id dispatch_id queue_id stream_id start end".split(),
        *"private_segment_size group_segment_size event_id graph_exec_id graph_node_id".split(),
        *(f"{kind}_size_{axis}" for kind in ("workgroup", "grid") for axis in "xyz"),
    )
    processes = rocpd_info.processes(data, 0)
    _check_recorded(data, len(dispatches["start"]), len(processes.items), path)
    agents = rocpd_info.agents(data, processes)
    named = _Named(
        processes,
        agents,
        rocpd_info.kernels(data, processes, agents),
        rocpd_info.strings(data),
        data.integers("event", "id", "category_id", "stack_id"),
    )
    raw_dispatches = _dispatches(dispatches, named, data.notes)
    copies, calls = _copies(data, named), _calls(data, named)
    if data.has("string"):
        _note_nameless(data, copies["kind"], calls["name"])
    measured = _measured(data, dispatches["event_id"], named.events["id"])
    del dispatches  # a run of millions of launches is held once
    flag = metadata.get(VIRTUAL_TAG, "").strip().lower()
    return Raw(
        sources=(Source(path, "", "rocpd", version),),
        processes=tuple(processes.items),
        agents=tuple(agents.items),
        kernels=named.kernels.items,
        strings=named.strings.items,
        dispatches=raw_dispatches,
        copies=copies,
        regions=calls,
        measured=measured,
        virtual=flag in ("true", "1", "yes"),
        allocated_bytes=_allocated(
            data, lambda ids: [i >= 0 and agents.items[i].kind == "GPU" for i in agents.index(ids)]
        ),
        detailed=fractions(json_object(metadata.get(DETAILED_TAG))),
        sampling_error=fractions(json_object(metadata.get(SAMPLING_TAG)), most=float("inf")),
        rocm_version=metadata.get("rocm_version"),
        notes=data.notes,
    )


def _dispatches(read: Columns, named: _Named, notes: list[str]) -> Columns:
    numbered = read["dispatch_id"]
    return {
        "process": named.processes.index(read["pid"]),
        "kernel": named.kernels.index(read["kernel_id"], notes),
        "agent": named.agents.index(read["agent_id"]),
        "queue": read["queue_id"],
        "stream": read["stream_id"],
        "thread": read["tid"],
        "dispatch_id": np.where(numbered == MISSING, read["id"], numbered),
        "correlation": named.correlation(read["event_id"]),
        "start_ns": read["start"],
        "end_ns": read["end"],
        "lds_bytes": read["group_segment_size"],
        "scratch_bytes": read["private_segment_size"],
        **_graph(read),
        **{
            f"{kind}_{axis}": read[f"{kind}_size_{axis}"]
            for kind in ("workgroup", "grid")
            for axis in "xyz"
        },
    }


def _note_nameless(data: Dataset, *names: IntColumn) -> None:
    lost = sum(int(np.count_nonzero(column < 0)) for column in names)
    if lost:
        count = sum(len(column) for column in names)
        data.notes.append(
            f"{lost:,} of {count:,} host calls and copies name a string that is not in "
            f"{PREFIX}string: their {_NAMES} cannot be known."
        )


def _copies(data: Dataset, named: _Named) -> Columns:
    read = data.integers(
        "memory_copy",
        *"pid tid start end name_id dst_agent_id src_agent_id size stream_id event_id".split(),
    )
    return {
        "process": named.processes.index(read["pid"]),
        "kind": named.strings.index(read["name_id"]),
        "stream": read["stream_id"],
        "thread": read["tid"],
        "src_agent": named.agents.index(read["src_agent_id"]),
        "dst_agent": named.agents.index(read["dst_agent_id"]),
        "correlation": named.correlation(read["event_id"]),
        "start_ns": read["start"],
        "end_ns": read["end"],
        "size_bytes": read["size"],
    }


def _calls(data: Dataset, named: _Named) -> Columns:
    read = _regions(data)
    event = positions(named.events["id"], read["event_id"])
    return {
        "process": named.processes.index(read["pid"]),
        "thread": read["tid"],
        "name": named.strings.index(read["name_id"]),
        "category": named.strings.index(_pick(named.events["category_id"], event)),
        "correlation": _pick(named.events["stack_id"], event),
        "start_ns": read["start"],
        "end_ns": read["end"],
        **_arguments(data, read["event_id"]),
    }


def _allocated(data: Dataset, on_gpu: Callable[[IntColumn], Sequence[bool]]) -> int | None:
    """The most memory held on GPUs at once, where allocations were traced."""
    needed = ("start", "address", "size", "agent_id")
    if not data.has("memory_allocate", *needed) or not data.has("memory_allocate", "type"):
        return None
    columns = data.integers("memory_allocate", *needed)
    kinds = [ordinary_text(row[0]) or "" for row in data.rows("memory_allocate", "type")]
    if len(kinds) != len(columns["start"]):
        return None
    gpu = on_gpu(columns["agent_id"])
    held: dict[int, int] = {}
    now = most = 0
    for row in columns["start"].argsort(kind="stable").tolist():
        address, size = int(columns["address"][row]), int(columns["size"][row])
        if kinds[row] == "ALLOC" and gpu[row] and size > 0:
            now += size - held.get(address, 0)
            held[address] = size
            most = max(most, now)
        elif kinds[row] == "FREE":
            now -= held.pop(address, 0)
    return most or None


def _metadata(data: Dataset) -> dict[str, str]:
    rows = data.rows("metadata", "tag", "value")
    return {ordinary_text(tag) or "": ordinary_text(value) or "" for tag, value in rows}


def _schema_version(data: Dataset, metadata: dict[str, str], path: Path) -> str:
    """The level by what is there; the recorded version stays "3" for all of them."""
    recorded = metadata.get("schema_version", "").strip()
    if recorded and recorded.split(".")[0] != "3":
        raise BadInput(
            f"{path} has rocpd schema version {recorded[:40]!r}, and only version 3 is known.",
            "A newer rocm-perf-lab may read it.",
        )
    levels = (
        ("3.0.5", data.has("pmc_event", "shader_array")),
        ("3.0.4", data.has("hip_event")),
        ("3.0.3", data.has("pmc_event", "sample_id")),
        ("3.0.2", data.has("kernel_dispatch", "graph_exec_id") or data.has("graph_launch")),
        ("3.0.1", any(row[0] == b"NIC" for row in data.rows("info_agent", "type"))),
    )
    return next((level for level, there in levels if there), "3.0.0")


def _check_tables(data: Dataset, path: Path) -> None:
    for table, columns in REQUIRED.items():
        if table not in data.tables:
            raise BadInput(f"{path} has no table {PREFIX}{table}: it is no complete rocpd trace.")
        for column in columns:
            if not data.has(table, column):
                raise BadInput(
                    f"{path} has no column {column!r} in table {PREFIX}{table}: "
                    "it is no rocpd trace of schema 3."
                )
    for table, part in PARTS.items():
        if table not in data.tables:
            data.notes.append(f"Table {PREFIX}{table} is missing: {part} cannot be known.")


def _check_recorded(data: Dataset, dispatches: int, processes: int, path: Path) -> None:
    if dispatches or processes:
        return
    rest, parameters = data.source("string") if data.has("string") else ("", ())
    if rest and data.file.rows(f"SELECT 1 {rest} LIMIT 1", parameters):
        raise BadInput(
            f"{path} holds only strings, no process and no kernel: rocprofv3 aborted writing it.",
            _ARGV_BUG_HINT,
        )
    raise BadInput(f"{path} has the tables of a rocpd trace but not one row in them.")


def _pick(column: IntColumn, at: IntColumn) -> IntColumn:
    """column[at], MISSING where at is -1."""
    return np.append(column, MISSING)[at]


def _graph(dispatches: Columns) -> Columns:
    """The writer puts 0 where a dispatch was not launched by a graph."""
    graph = dispatches["graph_exec_id"]
    launched = graph > 0
    return {
        "graph_exec": np.where(launched, graph, MISSING),
        "graph_node": np.where(launched, dispatches["graph_node_id"], MISSING),
    }


def _regions(data: Dataset) -> Columns:
    """API calls: rocpd_region, and those of no length, which are samples on a thread's track."""
    wanted = ("pid", "tid", "start", "end", "name_id", "event_id")
    regions = data.integers("region", *wanted)
    if not data.has("sample", "timestamp", "track_id"):
        return regions
    samples = data.integers("sample", "id", "track_id", "timestamp", "event_id")
    if not len(samples["id"]):
        return regions
    tracks = data.integers("track", "id", "pid", "tid", "name_id")
    keep = np.ones(len(samples["id"]), dtype=bool)
    if data.has("pmc_event", "sample_id"):
        counters = data.integers("pmc_event", "sample_id")["sample_id"]
        keep = positions(np.unique(counters[counters != MISSING]), samples["id"]) < 0
    at = positions(tracks["id"], samples["track_id"][keep])
    data.notes.append(
        f"{len(at)} host calls took no measurable time; rocprofv3 records those under the name of "
        "their category."
    )
    instant = {
        "start": samples["timestamp"][keep],
        "end": samples["timestamp"][keep],
        "event_id": samples["event_id"][keep],
        **{name: _pick(tracks[name], at) for name in ("pid", "tid", "name_id")},
    }
    return {name: np.concatenate([regions[name], instant[name]]) for name in wanted}


def _arguments(data: Dataset, event_id: IntColumn) -> Columns:
    result = {role: np.full(len(event_id), MISSING, dtype=np.int64) for role in handles.ROLES}
    if not len(event_id) or not data.has("arg", "event_id", "type", "name", "value"):
        return result
    named = ", ".join(f"'{name}'" for name in handles.NAMES)
    typed = ", ".join(f"'{name}'" for name in handles.TYPES)
    event, role, value = data.scan(
        "arg",
        _collect_arguments,
        integers=["event_id"],
        texts=["type", "name", "value"],
        prefilter=f"name IN ({named}) OR type IN ({typed})",
    )
    region = positions(event_id, event)
    for number, column in enumerate(handles.ROLES):
        mine = np.flatnonzero((role == number) & (region >= 0))[::-1]
        result[column][region[mine]] = value[mine]  # reversed: the first argument wins
    return result


def _collect_arguments(batches: Iterable[Batch]) -> tuple[IntColumn, IntColumn, IntColumn]:
    """Event, role (of handles.ROLES) and value of the arguments that have a role."""
    none = np.zeros(0, np.int64)
    events, roles, values = [none], [none], [none]
    types = [name.encode() for name in handles.TYPES]
    named = [name.encode() for name in handles.NAMES]
    for batch in batches:
        likely = np.flatnonzero(batch.matching(0, types) | batch.matching(1, named))
        if not len(likely):
            continue
        kind, kinds = batch.text(0, likely)
        name, names = batch.text(1, likely)
        pairs, pair = ranks(kind * len(names) + name)
        both = (divmod(p, len(names)) for p in pairs.tolist())
        role = np.array([_role(kinds[k], names[n]) for k, n in both], dtype=np.int64)[pair]
        mine = likely[role >= 0]
        value, distinct = batch.text(2, mine)
        known = np.array([*map(_value, distinct), MISSING], dtype=np.int64)
        events.append(batch.integers[0][mine])
        roles.append(role[role >= 0])
        values.append(known[value])
    return np.concatenate(events), np.concatenate(roles), np.concatenate(values)


def _role(type_name: object, name: object) -> int:
    role = handles.role(ordinary_text(type_name) or "", ordinary_text(name) or "")
    return handles.ROLES.index(role) if role else -1


def _value(text: object) -> int:
    return MISSING if text is None else handles.value(ordinary_text(text) or "")


def _measured(data: Dataset, event_id: IntColumn, known_events: IntColumn) -> Measured:
    if not data.has("pmc_event", "event_id", "pmc_id", "value") or not data.has("info_pmc", "name"):
        return Measured()
    sampled = ["sample_id"] if data.has("pmc_event", "sample_id") else []
    of_event, pmc, value = data.scan(
        "pmc_event", _collect_values, integers=["event_id", "pmc_id", *sampled], reals=["value"]
    )
    if not len(value):
        return Measured()
    listed = data.rows("info_pmc", "id", "name")
    ids, _ = int_column([row[0] for row in listed])
    names = [ordinary_text(row[1]) or "" for row in listed]
    distinct = sorted(set(names) - {""})
    place = {name: i for i, name in enumerate(distinct)}
    number = np.array([place.get(name, -1) for name in names] + [-1], dtype=np.int64)
    dispatch = positions(event_id, of_event)
    # Driver events are counters too, of a host region: known events, but no dispatch's.
    mine = (dispatch >= 0) | (positions(known_events, of_event) < 0)
    return Measured(
        names=tuple(distinct),
        dispatch=dispatch[mine],
        counter=number[positions(ids, pmc[mine])],
        value=value[mine],
    )


def _collect_values(batches: Iterable[Batch]) -> tuple[IntColumn, IntColumn, FloatColumn]:
    """Event, counter and value of the rows that are no sample's."""
    events, counters = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    values = [np.zeros(0, np.float64)]
    for batch in batches:
        event, counter, *sample = batch.integers
        mine = sample[0] == MISSING if sample else np.ones(batch.count, dtype=bool)
        events.append(event[mine])
        counters.append(counter[mine])
        values.append(batch.reals[0][mine])
    return joined(events), joined(counters), joined(values)
