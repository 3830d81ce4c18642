"""Write rocpd databases as rocprofv3 does: for the virtual GPU, the demo, benchmarks and tests.

    with RocpdWriter(path, level="3.0.2") as db:
        db.process(pid=4711, command="./app", start=1, end=10_000)
        gpu = db.agent(4, "GPU", "gfx942", product="AMD Instinct MI300X", extdata={…})
        db.code_object(1, gpu)
        db.kernel(11, "gemm(float*)", code_object=1, arch_vgprs=64)
        db.calls([Call("hipLaunchKernel", 10, 15, tid=4711, correlation=1, args=(…,))])
        db.dispatches([Dispatch(kernel=11, agent=gpu, start=20, end=90, …)])

The records may be generators: a million of them are written in batches. The file appears under
its name only when the block ends without an error.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from rocm_perf_lab.trace import rocpd_schema
from rocm_perf_lab.trace.rocpd import VIRTUAL_TAG
from rocm_perf_lab.trace.rocpd_records import (
    Allocation,
    Argument,
    Call,
    Copy,
    Dispatch,
    Value,
)

T = TypeVar("T")
_BATCH = 20_000

__all__ = ["Allocation", "Argument", "Call", "Copy", "Dispatch", "RocpdWriter", "Value"]


class RocpdWriter:
    def __init__(
        self,
        path: Path,
        *,
        level: str = "3.0.0",
        guid: str | None = None,
        suffixed: bool = True,
        virtual: bool = False,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        self.path = path
        self.level = level
        self.guid = guid or str(uuid.uuid4())
        suffix = "_" + self.guid.replace("-", "_")
        self._suffix = suffix if suffixed else ""
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
        self._temporary.unlink(missing_ok=True)
        self._strings: dict[str, int] = {}
        self._tracks: dict[tuple[int, int], int] = {}
        self._threads: dict[int, None] = {}
        self._pairs: dict[str, dict[int, None]] = {"queue": {}, "stream": {}}
        self._counters: dict[tuple[str, int], int] = {}
        self._ids = dict.fromkeys(("event", "dispatch", "region"), 0)
        self._pid = 0
        self._has = {
            name: {column.split()[0] for column in columns.split(", ")}
            for name, columns in rocpd_schema.tables(level).items()
        }
        self._db = sqlite3.connect(self._temporary, isolation_level=None)
        # Nobody sees the file before it is whole, so a crash need not be survived.
        self._db.execute("PRAGMA journal_mode=OFF")
        self._db.execute("PRAGMA synchronous=OFF")
        self._db.execute("BEGIN")
        for statement in rocpd_schema.statements(level, self.guid, self._suffix):
            self._db.execute(statement)
        tags = {"schema_version": "3", "uuid": suffix, "guid": self.guid, **(metadata or {})}
        if virtual:
            tags[VIRTUAL_TAG] = "true"
        self._insert("metadata", ("tag", "value"), tags.items())
        self.string("")

    def __enter__(self) -> RocpdWriter:
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        try:
            if failed is None:
                self._finish()
                self._db.execute("COMMIT")
            self._db.close()
            if failed is None:
                self._temporary.replace(self.path)
        finally:
            with contextlib.suppress(sqlite3.Error):
                self._db.close()
            self._temporary.unlink(missing_ok=True)

    def _finish(self) -> None:
        self._insert("string", ("id", "string"), ((i, s) for s, i in self._strings.items()))
        owner = (1, self._pid)
        self._insert(
            "info_thread",
            ("id", "nid", "pid", "tid", "name"),
            ((tid, *owner, tid, f"Thread {tid}") for tid in self._threads),
        )
        for kind, numbers in self._pairs.items():
            self._insert(
                f"info_{kind}",
                ("id", "nid", "pid", "name"),
                ((i, *owner, f"{kind.title()} {i}") for i in numbers),
            )
        self._insert(
            "track",
            ("id", "nid", "pid", "tid", "name_id"),
            ((i, *owner, tid, name) for (tid, name), i in self._tracks.items()),
        )

    def _insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        names = ", ".join(f'"{c}"' for c in columns)
        marks = ", ".join("?" * len(columns))
        self._db.executemany(
            f'INSERT INTO "rocpd_{table}{self._suffix}" ({names}) VALUES ({marks})', rows
        )

    def _add(self, table: str, **row: Any) -> None:
        self._insert(table, tuple(row), [tuple(row.values())])

    def _add_owned(self, table: str, number: int, **row: Any) -> None:
        self._add(table, id=number, nid=1, pid=self._pid, **row)

    def string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings) + 1)

    def process(
        self,
        *,
        pid: int = 1,
        parent: int = 0,
        command: str = "",
        start: int | None = None,
        end: int | None = None,
        hostname: str = "localhost",
        machine_id: str = "0" * 32,
        extdata: Mapping[str, Any] | None = None,
    ) -> None:
        """The recorded process; comes first. Its environment is never written."""
        self._pid = pid
        self._add(
            "info_node",
            id=1,
            hash=0,
            machine_id=machine_id,
            system_name="Linux",
            hostname=hostname,
        )
        self._add_owned(
            "info_process",
            pid,
            ppid=parent,
            init=start,
            fini=end,
            start=start,
            end=end,
            command=command,
            extdata=_json(extdata),
        )

    def agent(
        self,
        number: int,
        kind: str,
        name: str,
        *,
        model: str = "",
        product: str = "",
        vendor: str = "AMD",
        type_index: int = 0,
        device_id: int = 0,
        extdata: Mapping[str, Any] | None = None,
    ) -> int:
        self._add_owned(
            "info_agent",
            number,
            type=kind,
            absolute_index=number,
            logical_index=number,
            type_index=type_index,
            uuid=device_id,
            name=name,
            model_name=model,
            vendor_name=vendor,
            product_name=product,
            user_name=product,
            extdata=_json(extdata),
        )
        return number

    def code_object(
        self, number: int, agent: int, *, uri: str = "", base: int = 0, size: int = 0
    ) -> int:
        self._add_owned(
            "info_code_object",
            number,
            agent_id=agent,
            uri=uri,
            load_base=base,
            load_size=size,
            load_delta=base,
            storage_type="FILE",
        )
        return number

    def kernel(
        self,
        number: int,
        name: str,
        *,
        code_object: int = 1,
        mangled: str | None = None,
        sgprs: int = 16,
        arch_vgprs: int = 8,
        accum_vgprs: int = 0,
        lds: int = 0,
        scratch: int = 0,
        kernarg: int = 0,
    ) -> int:
        self._add_owned(
            "info_kernel_symbol",
            number,
            code_object_id=code_object,
            kernel_name=(mangled if mangled is not None else name) + ".kd",
            display_name=name,
            kernel_object=0,
            kernarg_segment_size=kernarg,
            kernarg_segment_alignment=8,
            group_segment_size=lds,
            private_segment_size=scratch,
            sgpr_count=sgprs,
            arch_vgpr_count=arch_vgprs,
            accum_vgpr_count=accum_vgprs,
            extdata=_json({"kernel_id": number, "demangled_kernel_name": name}),
        )
        return number

    def counter(
        self,
        name: str,
        agent: int,
        *,
        block: str = "",
        description: str = "",
        derived: bool = False,
    ) -> int:
        """Declare a counter of an agent; `dispatches` declares those it meets undeclared."""
        key = (name, agent)
        if key not in self._counters:
            self._counters[key] = number = len(self._counters) + 1
            self._add_owned(
                "info_pmc",
                number,
                agent_id=agent,
                target_arch="GPU",
                name=name,
                symbol=name,
                description=description,
                component="rocm",
                value_type="ABS",
                block=block,
                expression="",
                is_constant=0,
                is_derived=int(derived),
            )
        return self._counters[key]

    def dispatches(self, records: Iterable[Dispatch]) -> None:
        category = self.string("KERNEL_DISPATCH")
        unnamed = self.string("")
        graphs = "graph_exec_id" in self._has["kernel_dispatch"]
        columns = (
            "id nid pid tid agent_id kernel_id dispatch_id queue_id stream_id start end "
            "private_segment_size group_segment_size workgroup_size_x workgroup_size_y "
            "workgroup_size_z grid_size_x grid_size_y grid_size_z region_name_id event_id"
        ).split()
        if graphs:
            columns += ["graph_exec_id", "graph_node_id"]
        owner = (1, self._pid)
        for batch in _batches(records):
            rows, values = [], []
            events = self._events((category, r.correlation) for r in batch)
            for record, event in zip(batch, events, strict=True):
                number = record.dispatch_id
                if number is None:
                    number = self._ids["dispatch"] + 1
                self._ids["dispatch"] = max(self._ids["dispatch"], number)
                self._see(record.tid, record.queue, record.stream)
                row = (
                    number,
                    *owner,
                    record.tid,
                    record.agent,
                    record.kernel,
                    number,
                    record.queue,
                    record.stream,
                    record.start,
                    record.end,
                    record.scratch,
                    record.lds,
                    *record.workgroup,
                    *record.grid,
                    unnamed,
                    event,
                )
                rows.append((*row, record.graph_exec, record.graph_node) if graphs else row)
                for value in record.values:
                    counter = self.counter(value.counter, record.agent)
                    values.append((event, counter, *value[1:]))
            self._insert("kernel_dispatch", columns, rows)
            self._insert_values(values)

    def _insert_values(self, rows: list[tuple[Any, ...]]) -> None:
        columns: tuple[str, ...] = ("event_id", "pmc_id", "value")
        if "xcc" in self._has["pmc_event"]:
            columns += ("xcc", "shader_engine", "instance")
        width = len(columns)
        self._insert("pmc_event", columns, (row[:width] for row in rows))

    def calls(self, records: Iterable[Call]) -> None:
        owner = (1, self._pid)
        for batch in _batches(records):
            regions, samples, args = [], [], []
            events = self._events((self.string(r.category), r.correlation) for r in batch)
            for record, event in zip(batch, events, strict=True):
                self._threads.setdefault(record.tid)
                self._ids["region"] = number = self._ids["region"] + 1
                if record.start != record.end:
                    name = self.string(record.name)
                    regions.append(
                        (number, *owner, record.tid, record.start, record.end, name, event)
                    )
                else:
                    track = self._track(record.tid, self.string(record.category))
                    samples.append((number, track, record.start, event))
                args += [(event, i, *argument) for i, argument in enumerate(record.args)]
            self._insert(
                "region",
                ("id", "nid", "pid", "tid", "start", "end", "name_id", "event_id"),
                regions,
            )
            self._insert("sample", ("id", "track_id", "timestamp", "event_id"), samples)
            self._insert("arg", ("event_id", "position", "type", "name", "value"), args)

    def copies(self, records: Iterable[Copy]) -> None:
        category = self.string("MEMORY_COPY")
        for batch in _batches(records):
            rows = []
            events = self._events((category, r.correlation) for r in batch)
            for r, event in zip(batch, events, strict=True):
                self._see(r.tid, None, r.stream)
                where = (r.target, r.target_address, r.source, r.source_address)
                name = self.string(r.kind)
                rows.append(
                    (1, self._pid, r.tid, r.start, r.end, name, *where, r.size, r.stream, event)
                )
            self._insert(
                "memory_copy",
                "nid pid tid start end name_id dst_agent_id dst_address src_agent_id "
                "src_address size stream_id event_id".split(),
                rows,
            )

    def allocations(self, records: Iterable[Allocation]) -> None:
        category = self.string("MEMORY_ALLOCATION")
        for batch in _batches(records):
            rows = []
            events = self._events((category, r.correlation) for r in batch)
            for r, event in zip(batch, events, strict=True):
                self._threads.setdefault(r.tid)
                what = (r.agent, r.type, r.level)
                rows.append((1, self._pid, r.tid, *what, r.start, r.end, r.address, r.size, event))
            self._insert(
                "memory_allocate",
                "nid pid tid agent_id type level start end address size event_id".split(),
                rows,
            )

    def _events(self, categories_and_correlations: Iterable[tuple[int, int]]) -> range:
        first = self._ids["event"] + 1
        rows = [
            (first + i, category, correlation, correlation, 0)
            for i, (category, correlation) in enumerate(categories_and_correlations)
        ]
        self._insert(
            "event",
            ("id", "category_id", "stack_id", "parent_stack_id", "correlation_id"),
            rows,
        )
        self._ids["event"] += len(rows)
        return range(first, first + len(rows))

    def _track(self, tid: int, name: int) -> int:
        return self._tracks.setdefault((tid, name), len(self._tracks) + 1)

    def _see(self, tid: int, queue: int | None, stream: int | None) -> None:
        self._threads.setdefault(tid)
        if queue is not None:
            self._pairs["queue"].setdefault(queue)
        if stream is not None:
            self._pairs["stream"].setdefault(stream)


def _batches(records: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(records)
    while batch := list(islice(iterator, _BATCH)):
        yield batch


def _json(value: Mapping[str, Any] | None) -> str:
    return json.dumps(value or {}, sort_keys=True)
