"""The small tables of a rocpd database: processes, agents, kernel symbols, strings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from rocm_perf_lab.trace.columns import MISSING, as_integer, int_column, ordinary_text, positions
from rocm_perf_lab.trace.describe import (
    agent_properties,
    json_object,
    kernel_name,
    kernel_symbol,
    number,
    symbol_name,
    unknown_kernel,
)
from rocm_perf_lab.trace.rocpd_dataset import Dataset
from rocm_perf_lab.trace.trace import Agent, IntColumn, KernelSymbol, Process

T = TypeVar("T")


@dataclass
class Lookup(Generic[T]):
    """Things by their recorded id."""

    ids: IntColumn
    items: list[T]
    _places: dict[int, int] | None = None

    def index(self, ids: IntColumn) -> IntColumn:
        return positions(self.ids, ids)

    def at(self, own_id: object) -> int:
        """As `index`, of one id as recorded."""
        if self._places is None:
            first = zip(reversed(self.ids.tolist()), range(len(self.ids) - 1, -1, -1), strict=True)
            self._places = dict(first)
        number = as_integer(own_id)
        return self._places.get(number, -1) if number != MISSING else -1


class Processes(Lookup[Process]):
    """Rows naming an unlisted process belong to the only one there is, or to the first."""

    def index(self, ids: IntColumn) -> IntColumn:
        return np.maximum(super().index(ids), 0)


class Kernels(Lookup[KernelSymbol]):
    def index(self, ids: IntColumn, notes: list[str] | None = None) -> IntColumn:
        """As Lookup.index; ids without a symbol get one that says so."""
        at = super().index(ids)
        lost = np.unique(ids[at < 0])
        if not len(lost):
            return at
        if notes is not None:
            notes.append(
                f"{np.count_nonzero(at < 0)} dispatches name {len(lost)} kernels that are not in "
                "rocpd_info_kernel_symbol."
            )
        first = len(self.items)
        self.items += [unknown_kernel(int(i)) for i in lost]
        return np.where(at < 0, first + np.searchsorted(lost, ids), at)


def strings(data: Dataset) -> Lookup[str]:
    rows = data.rows("string", "id", "string")
    ids, _ = int_column([row[0] for row in rows])
    return Lookup(ids, [ordinary_text(row[1]) or "" for row in rows])


def processes(data: Dataset, source: int) -> Processes:
    nodes = {
        as_integer(row[0]): (ordinary_text(row[1]), ordinary_text(row[2]))
        for row in data.rows("info_node", "id", "machine_id", "hostname")
    }
    # The environment column is never read: it holds secrets.
    rows = data.rows("info_process", *"id nid pid ppid start init end fini command".split())
    found = []
    for _, nid, pid, ppid, start, init, end, fini, command in rows:
        machine_id, hostname = nodes.get(as_integer(nid), (None, None))
        begin, finish = _time(init, start), _time(fini, end)
        if begin is not None and finish is not None and finish < begin:
            begin = finish = None
        found.append(
            Process(
                pid=number(pid),
                parent_pid=number(ppid),
                guid=data.guid,
                command=ordinary_text(command),
                hostname=hostname,
                machine_id=machine_id,
                start_ns=begin,
                end_ns=finish,
                source=source,
            )
        )
    ids, _ = int_column([row[0] for row in rows])
    if not found and _any_dispatch(data):
        machine_id, hostname = next(iter(nodes.values()), (None, None))
        found = [Process(guid=data.guid, hostname=hostname, machine_id=machine_id, source=source)]
        ids = np.array([MISSING], dtype=np.int64)
    return Processes(ids, found)


def _any_dispatch(data: Dataset) -> bool:
    rest, parameters = data.source("kernel_dispatch")
    return bool(data.file.rows(f"SELECT 1 {rest} LIMIT 1", parameters))


def agents(data: Dataset, owners: Processes) -> Lookup[Agent]:
    rows = data.rows(
        "info_agent",
        *"id pid type name model_name product_name absolute_index extdata".split(),
    )
    found = []
    for own_id, pid, kind, name, model, product, index, extdata in rows:
        facts = json_object(extdata)
        handle = facts.get("id")
        absolute = number(index)
        found.append(
            Agent(
                process=max(owners.at(pid), 0),
                kind=ordinary_text(kind) or "",
                architecture=ordinary_text(name) or "",
                model_name=ordinary_text(model) or "",
                product_name=ordinary_text(product) or "",
                handle=number(handle.get("handle") if isinstance(handle, dict) else handle),
                index=absolute if absolute is not None else number(own_id),
                properties=agent_properties(facts),
            )
        )
    ids, _ = int_column([row[0] for row in rows])
    return Lookup(ids, found)


def kernels(data: Dataset, owners: Processes, devices: Lookup[Agent]) -> Kernels:
    code_objects = {
        as_integer(i): agent for i, agent in data.rows("info_code_object", "id", "agent_id")
    }
    only = {agent.architecture for agent in devices.items if agent.kind == "GPU"}
    rows = data.rows(
        "info_kernel_symbol",
        *"id pid code_object_id kernel_name display_name sgpr_count arch_vgpr_count".split(),
        *"accum_vgpr_count group_segment_size private_segment_size extdata".split(),
    )
    accum_never_seen = not any(as_integer(row[7]) > 0 for row in rows)
    found = []
    for own_id, pid, code_object, mangled, display, sgprs, arch, accum, lds, scratch, extra in rows:
        name = kernel_name(display)
        if name is None:
            facts = json_object(extra)
            name = kernel_name(
                facts.get("demangled_kernel_name"), facts.get("formatted_kernel_name"), mangled
            )
        device = devices.at(code_objects.get(as_integer(code_object)))
        if device >= 0:
            architecture = devices.items[device].architecture
        else:
            architecture = next(iter(only)) if len(only) == 1 else ""
        found.append(
            kernel_symbol(
                process=max(owners.at(pid), 0),
                name=name or f"<unnamed kernel {as_integer(own_id)}>",
                mangled=symbol_name(mangled),
                code_object_id=number(code_object),
                architecture=architecture,
                sgprs=number(sgprs),
                arch_vgprs=number(arch),
                accum_vgprs=number(accum),
                lds=number(lds),
                scratch=number(scratch),
                accum_never_seen=accum_never_seen,
            )
        )
    ids, _ = int_column([row[0] for row in rows])
    return Kernels(ids, found)


def _time(*candidates: object) -> int | None:
    """The first recorded time; 0 is how "not recorded" is written."""
    return next((t for t in map(as_integer, candidates) if 0 < t < 1 << 62), None)
