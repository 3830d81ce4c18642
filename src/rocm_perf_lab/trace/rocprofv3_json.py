"""rocprofv3's JSON output (`-f json`): one `Trace` per process recorded in the file.

Records are objects of nested ids. What is absent is "not recorded"; what has the wrong type where
a time or a kernel must stand makes that row unusable, and a note says how many there were.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace import handles
from rocm_perf_lab.trace.assemble import Columns, Measured, Raw, assemble
from rocm_perf_lab.trace.columns import MISSING, as_integer, as_real, ordinary_text, positions
from rocm_perf_lab.trace.describe import (
    agent_properties,
    fractions,
    kernel_name,
    kernel_symbol,
    number,
    symbol_name,
    unknown_kernel,
)
from rocm_perf_lab.trace.trace import Agent, IntColumn, KernelSymbol, Process, Source, Trace

ROOT = "rocprofiler-sdk-tool"
_KINDS = {1: "CPU", 2: "GPU", 3: "NIC"}
_NOT_CALLS = frozenset(
    "kernel_dispatch memory_copy memory_allocation scratch_memory graph_launch hip_event "
    "pc_sample_host_trap pc_sample_stochastic".split()
)

Object = dict[str, Any]


def read_rocprofv3(root: Object, path: Path) -> list[Trace]:
    tools = root.get(ROOT)
    if isinstance(tools, dict):
        tools = [tools]
    if not isinstance(tools, list) or not tools or not all(isinstance(t, dict) for t in tools):
        raise BadInput(
            f"{path} is JSON but not rocprofv3's (no {ROOT!r} list) nor PyTorch's profiler's "
            "(no 'traceEvents').",
            "Record with rocprofv3 -f rocpd or -f json, or with torch.profiler.",
        )
    return [_read_process(tool, path) for tool in tools]


def _read_process(tool: Object, path: Path) -> Trace:
    notes: list[str] = []
    buffers = _object(tool, "buffer_records")
    agents = _Agents(_objects(tool.get("agents")))
    kernels = _Kernels(tool, agents)
    strings = _Strings(tool)

    collected = _objects(_object(tool, "callback_records").get("counter_collection"))
    launched = _objects(buffers.get("kernel_dispatch"))
    if not launched:
        launched = [_as_dispatch(record) for record in collected]
    dispatches = _dispatches(launched, agents, kernels, notes)
    copies = _copies(_objects(buffers.get("memory_copy")), agents, strings)
    calls = list(
        chain.from_iterable(
            _objects(records) for name, records in buffers.items() if name not in _NOT_CALLS
        )
    )
    regions = _regions(calls, strings)
    if not launched and not calls and not len(copies["start_ns"]):
        notes.append("The file holds no kernel dispatch, copy or API call.")
    return assemble(
        Raw(
            sources=(Source(path, "", "rocprofv3-json", None),),
            processes=(_process(tool),),
            agents=tuple(agents.items),
            kernels=kernels.items,
            strings=strings.items,
            dispatches=dispatches,
            copies=copies,
            regions=regions,
            measured=_measured(tool, collected, dispatches["dispatch_id"]),
            virtual=_object(tool, "metadata").get("virtual") is True,
            detailed=fractions(_object(_object(tool, "metadata"), "detailed_fraction")),
            sampling_error=fractions(
                _object(_object(tool, "metadata"), "sampling_error"), most=float("inf")
            ),
            notes=notes,
        )
    )


def _process(tool: Object) -> Process:
    metadata = _object(tool, "metadata")
    node = _object(metadata, "node")
    command = metadata.get("command")
    if isinstance(command, list):
        command = " ".join(str(word) for word in command)
    return Process(
        pid=number(metadata.get("pid")),
        parent_pid=number(metadata.get("ppid")),
        command=ordinary_text(command),
        hostname=ordinary_text(node.get("hostname")),
        machine_id=ordinary_text(node.get("machine_id")),
        start_ns=number(metadata.get("init_time")) or None,
        end_ns=number(metadata.get("fini_time")) or None,
    )


class _Agents:
    def __init__(self, records: list[Object]) -> None:
        self.ids = np.array([_handle(r, "id") for r in records], dtype=np.int64)
        self.items = [
            Agent(
                process=0,
                kind=_KINDS.get(as_integer(r.get("type")), ordinary_text(r.get("type")) or ""),
                architecture=ordinary_text(r.get("name")) or "",
                model_name=ordinary_text(r.get("model_name")) or "",
                product_name=ordinary_text(r.get("product_name")) or "",
                handle=number(_handle(r, "id")),
                index=number(r.get("node_id")),
                properties=agent_properties(r),
            )
            for r in records
        ]

    def index(self, handles_: IntColumn) -> IntColumn:
        return positions(self.ids, handles_)

    def architecture(self, handle: int) -> str:
        at = int(self.index(np.array([handle], dtype=np.int64))[0])
        if at >= 0:
            return self.items[at].architecture
        only = {agent.architecture for agent in self.items if agent.kind == "GPU"}
        return only.pop() if len(only) == 1 else ""


class _Kernels:
    def __init__(self, tool: Object, agents: _Agents) -> None:
        code_objects = {
            as_integer(r.get("code_object_id")): _handle(r, "agent_id")
            for r in _objects(tool.get("code_objects"))
        }
        # The first symbol of the list is a placeholder with id 0.
        records = [
            r
            for r in _objects(tool.get("kernel_symbols"))
            if as_integer(r.get("kernel_id")) > 0 or r.get("kernel_name")
        ]
        never = not any(as_integer(r.get("accum_vgpr_count")) > 0 for r in records)
        self.ids = np.array([as_integer(r.get("kernel_id")) for r in records], dtype=np.int64)
        known: dict[int, str] = {}
        self.items: list[KernelSymbol] = []
        for record in records:
            code_object = as_integer(record.get("code_object_id"))
            if code_object not in known:
                known[code_object] = agents.architecture(code_objects.get(code_object, MISSING))
            name = kernel_name(
                record.get("formatted_kernel_name"),
                record.get("demangled_kernel_name"),
                record.get("kernel_name"),
            )
            self.items.append(
                kernel_symbol(
                    process=0,
                    name=name or f"<unnamed kernel {as_integer(record.get('kernel_id'))}>",
                    mangled=symbol_name(record.get("kernel_name")),
                    code_object_id=number(code_object),
                    architecture=known[code_object],
                    sgprs=number(record.get("sgpr_count")),
                    arch_vgprs=number(record.get("arch_vgpr_count")),
                    accum_vgprs=number(record.get("accum_vgpr_count")),
                    lds=number(record.get("group_segment_size")),
                    scratch=number(record.get("private_segment_size")),
                    accum_never_seen=never,
                )
            )

    def index(self, ids: IntColumn, notes: list[str]) -> IntColumn:
        at = positions(self.ids, ids)
        lost = np.unique(ids[at < 0])
        if not len(lost):
            return at
        notes.append(
            f"{np.count_nonzero(at < 0)} dispatches name {len(lost)} kernels that are not in "
            "kernel_symbols."
        )
        first = len(self.items)
        self.items += [unknown_kernel(int(i)) for i in lost]
        return np.where(at < 0, first + np.searchsorted(lost, ids), at)


class _Strings:
    """Names of (kind, operation) pairs, as the file's own tables give them."""

    def __init__(self, tool: Object) -> None:
        self._tables = _objects(_object(tool, "strings").get("buffer_records"))
        self._known: dict[tuple[int, int], tuple[int, int]] = {}
        self._place: dict[str, int] = {}

    @property
    def items(self) -> list[str]:
        return list(self._place)

    def named(self, record: Object) -> tuple[int, int]:
        """String numbers of a record's operation and of its kind."""
        kind, operation = record.get("kind"), record.get("operation")
        if isinstance(operation, str):  # some converters write names
            return self._number(operation), self._number(kind) if isinstance(kind, str) else -1
        key = (as_integer(kind), as_integer(operation))
        if key not in self._known:
            table = self._tables[key[0]] if 0 <= key[0] < len(self._tables) else {}
            operations = table.get("operations")
            name = None
            if isinstance(operations, list) and 0 <= key[1] < len(operations):
                name = ordinary_text(operations[key[1]])
            kind_name = ordinary_text(table.get("kind"))
            self._known[key] = (
                self._number(name or f"<unknown operation {key[0]}.{key[1]}>"),
                self._number(kind_name) if kind_name else -1,
            )
        return self._known[key]

    def _number(self, text: str) -> int:
        return self._place.setdefault(ordinary_text(text) or "", len(self._place))


def _as_dispatch(record: Object) -> Object:
    """A counter record tells of its dispatch what a dispatch record would."""
    data = _object(record, "dispatch_data")
    return {**data, "thread_id": record.get("thread_id"), "stream_id": record.get("stream_id")}


def _dispatches(
    records: list[Object], agents: _Agents, kernels: _Kernels, notes: list[str]
) -> Columns:
    infos = [_object(r, "dispatch_info") for r in records]
    graph = _column(_handle(r, "graph_exec_id") for r in records)
    columns = {
        "process": np.zeros(len(records), dtype=np.int64),
        "kernel": kernels.index(_field(infos, "kernel_id"), notes),
        "agent": agents.index(_column(_handle(i, "agent_id") for i in infos)),
        "queue": _column(_handle(i, "queue_id") for i in infos),
        "stream": _column(_handle(r, "stream_id") for r in records),
        "thread": _field(records, "thread_id"),
        "dispatch_id": _field(infos, "dispatch_id"),
        "correlation": _correlations(records),
        "start_ns": _field(records, "start_timestamp"),
        "end_ns": _field(records, "end_timestamp"),
        "lds_bytes": _field(infos, "group_segment_size"),
        "scratch_bytes": _field(infos, "private_segment_size"),
        "graph_exec": np.where(graph > 0, graph, MISSING),
        "graph_node": np.where(
            graph > 0, _column(_handle(r, "graph_node_id") for r in records), MISSING
        ),
    }
    for kind in ("workgroup", "grid"):
        sizes = [_object(i, f"{kind}_size") for i in infos]
        columns |= {f"{kind}_{axis}": _field(sizes, axis) for axis in "xyz"}
    return columns


def _copies(records: list[Object], agents: _Agents, strings: _Strings) -> Columns:
    return {
        "process": np.zeros(len(records), dtype=np.int64),
        "kind": _column(strings.named(r)[0] for r in records),
        "stream": _column(_handle(r, "stream_id") for r in records),
        "thread": _field(records, "thread_id"),
        "src_agent": agents.index(_column(_handle(r, "src_agent_id") for r in records)),
        "dst_agent": agents.index(_column(_handle(r, "dst_agent_id") for r in records)),
        "correlation": _correlations(records),
        "start_ns": _field(records, "start_timestamp"),
        "end_ns": _field(records, "end_timestamp"),
        "size_bytes": _field(records, "bytes"),
    }


def _regions(records: list[Object], strings: _Strings) -> Columns:
    named = [strings.named(r) for r in records]
    arguments = {role: np.full(len(records), MISSING, dtype=np.int64) for role in handles.ROLES}
    for row, record in enumerate(records):
        for type_name, name, value in _arguments(record.get("args")):
            role = handles.role(type_name, name)
            if role is not None and arguments[role][row] == MISSING:
                arguments[role][row] = handles.value(value)
    return {
        "process": np.zeros(len(records), dtype=np.int64),
        "thread": _field(records, "thread_id"),
        "name": _column(name for name, _ in named),
        "category": _column(kind for _, kind in named),
        "correlation": _correlations(records),
        "start_ns": _field(records, "start_timestamp"),
        "end_ns": _field(records, "end_timestamp"),
        **arguments,
    }


def _arguments(args: object) -> Iterable[tuple[str, str, str]]:
    if isinstance(args, dict):
        return [("", str(name), str(value)) for name, value in args.items()]
    return [
        (str(a.get("type", "")), str(a.get("name", "")), str(a.get("value", "")))
        for a in _objects(args)
    ]


def _measured(tool: Object, collected: list[Object], dispatch_id: IntColumn) -> Measured:
    named = {
        _handle(c, "id"): ordinary_text(c.get("name")) or "" for c in _objects(tool.get("counters"))
    }
    names = sorted(set(named.values()) - {""})
    place = {name: i for i, name in enumerate(names)}
    numbers = {handle: place.get(name, -1) for handle, name in named.items()}
    owners, counters, values = [], [], []
    for record in collected:
        info = _object(_object(record, "dispatch_data"), "dispatch_info")
        owner = as_integer(info.get("dispatch_id"))
        for value in _objects(record.get("records")):
            owners.append(owner)
            counters.append(numbers.get(_handle(value, "counter_id"), -1))
            values.append(as_real(value.get("value", value.get("counter_value"))))
    if not values:
        return Measured()
    return Measured(
        names=tuple(names),
        dispatch=positions(dispatch_id, np.array(owners, dtype=np.int64)),
        counter=np.array(counters, dtype=np.int64),
        value=np.array(values, dtype=np.float64),
    )


def _object(record: Object, key: str) -> Object:
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[Object]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _handle(record: Object, key: str) -> int:
    """An id, written as a number or as {"handle": number}."""
    value = record.get(key)
    return as_integer(value.get("handle") if isinstance(value, dict) else value)


def _column(values: Iterable[int]) -> IntColumn:
    return np.fromiter(values, dtype=np.int64)


def _field(records: list[Object], key: str) -> IntColumn:
    return _column(as_integer(r.get(key)) for r in records)


def _correlations(records: list[Object]) -> IntColumn:
    return _column(as_integer(_object(r, "correlation_id").get("internal")) for r in records)
