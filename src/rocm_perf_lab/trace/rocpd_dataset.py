"""The tables of a rocpd database, by guid, and their columns.

A table may carry the guid as a suffix, or several guids may share suffix-less tables in a database
merged by hand; a `Dataset` is what belongs to one guid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.assemble import Columns
from rocm_perf_lab.trace.columns import MISSING
from rocm_perf_lab.trace.sqlite_file import Batch, SqliteFile, Table, quoted
from rocm_perf_lab.trace.trace import IntColumn

Result = TypeVar("Result")

PREFIX = "rocpd_"
TABLES = (
    "metadata string info_node info_process info_thread info_agent info_queue info_stream "
    "info_pmc info_code_object info_kernel_symbol track event arg pmc_event region sample "
    "kernel_dispatch memory_copy memory_allocate graph_launch hip_event"
).split()

_MOST_GUIDS = 256


@dataclass
class Dataset:
    """The tables of one guid; `where` restricts shared tables to its rows."""

    file: SqliteFile
    tables: dict[str, Table]
    guid: str | None
    where: str = ""
    parameters: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    def has(self, table: str, *columns: str) -> bool:
        return table in self.tables and all(c in self.tables[table].columns for c in columns)

    def source(self, table: str) -> tuple[str, tuple[str, ...]]:
        """The FROM clause of a table, restricted to this guid."""
        restricted = self.where if "guid" in self.tables[table].columns else ""
        where = f" WHERE {restricted}" if restricted else ""
        clause = f"FROM {quoted(self.tables[table].name)}{where}"
        return clause, self.parameters if restricted else ()

    def scan(
        self,
        table: str,
        collect: Callable[[Iterable[Batch]], Result],
        *,
        integers: Sequence[str],
        reals: Sequence[str] = (),
        texts: Sequence[str] = (),
        prefilter: str = "",
    ) -> Result:
        """`SqliteFile.scan` of this guid's rows."""
        restricted = self.where if "guid" in self.tables[table].columns else ""
        return self.file.scan(
            self.tables[table],
            collect,
            integers=integers,
            reals=reals,
            texts=texts,
            where=restricted,
            parameters=self.parameters if restricted else (),
            prefilter=prefilter,
        )

    def integers(self, table: str, *columns: str) -> Columns:
        """Integer columns of a table; all MISSING where the table has no such column."""
        if table not in self.tables:
            return {name: np.zeros(0, np.int64) for name in columns}
        present = [name for name in columns if name in self.tables[table].columns]
        if not present:
            rest, parameters = self.source(table)
            count = len(self.file.rows(f"SELECT 1 {rest}", parameters))
            return {name: np.full(count, MISSING, dtype=np.int64) for name in columns}
        read, odd = self.scan(table, _joined_integers(len(present)), integers=present)
        for name, bad in zip(present, odd, strict=True):
            if bad:
                self.notes.append(
                    f"{bad} values of {PREFIX}{table}.{name} are no integers and were ignored."
                )
        result = dict(zip(present, read, strict=True))
        absent = np.full(len(read[0]), MISSING, dtype=np.int64)
        return {name: result.get(name, absent) for name in columns}

    def rows(self, table: str, *columns: str) -> list[tuple[object, ...]]:
        """Rows of a small table; None where the table has no such column."""
        if table not in self.tables:
            return []
        known = self.tables[table].columns
        chosen = ", ".join(quoted(c) if c in known else "NULL" for c in columns)
        rest, parameters = self.source(table)
        return self.file.rows(f"SELECT {chosen} {rest}", parameters)


def _joined_integers(
    width: int,
) -> Callable[[Iterable[Batch]], tuple[list[IntColumn], list[int]]]:
    def collect(batches: Iterable[Batch]) -> tuple[list[IntColumn], list[int]]:
        parts: list[list[IntColumn]] = [[np.zeros(0, np.int64)] for _ in range(width)]
        odd = [0] * width
        for batch in batches:
            for i, column in enumerate(batch.integers):
                parts[i].append(column)
                odd[i] += batch.odd[i]
        return [joined(part) for part in parts], odd

    return collect


def joined(parts: list[Any]) -> Any:
    """The parts as one array; they are let go at once, being as large as the result."""
    column = np.concatenate(parts)
    parts.clear()
    return column


def datasets(file: SqliteFile) -> list[Dataset]:
    groups: dict[str, dict[str, str]] = {}
    views: dict[str, str] = {}
    names = sorted(file.names())
    for name, kind in names:
        for table in TABLES:
            bare = PREFIX + table
            if name == bare and kind == "view":
                views[table] = name
            elif name == bare or (name.startswith(bare + "_") and kind == "table"):
                suffix = name[len(bare) :]
                if _is_suffix(suffix):
                    groups.setdefault(suffix, {})[table] = name
    if not groups and views:
        groups[""] = views
    if not groups:
        raise _not_rocpd(file.path, [name for name, _ in names])
    result = []
    for _, group in sorted(groups.items()):
        tables = {table: file.table(name) for table, name in group.items()}
        result += _by_guid(file, tables)
    return result


def _is_suffix(suffix: str) -> bool:
    """Empty, or a guid with underscores: rocpd_event_data is no rocpd_event of guid "data"."""
    digits = suffix.replace("_", "")
    return not suffix or (len(digits) >= 8 and all(c in "0123456789abcdefABCDEF" for c in digits))


def _not_rocpd(path: Path, names: Sequence[str]) -> BadInput:
    if not names:
        return BadInput(f"{path} is an empty SQLite database: nothing was recorded in it.")
    if "rocpd_op" in names or "rocpd_api" in names:
        return BadInput(
            f"{path} is a trace of the older rocmProfileData, which has another layout.",
            "Record it with rocprofv3.",
        )
    return BadInput(f"{path} is an SQLite database without any rocpd table.")


def _by_guid(file: SqliteFile, tables: dict[str, Table]) -> list[Dataset]:
    """Split tables shared by several guids; the usual file has one and needs no restriction."""
    whole = Dataset(file, tables, None)
    guids: dict[str, None] = {}
    strays = False
    for name in (
        "info_process",
        "info_node",
        "info_agent",
        "kernel_dispatch",
        "region",
        "memory_copy",
    ):
        if not whole.has(name, "guid"):
            continue
        if file.holds_only(tables[name], "guid", [guid.encode() for guid in guids]):
            continue
        other = f"guid IS NULL OR guid NOT IN ({', '.join('?' * len(guids))})"
        rest, _ = whole.source(name)
        found = file.rows(
            f"SELECT DISTINCT guid, typeof(guid) {rest} WHERE {other} LIMIT {_MOST_GUIDS}",
            tuple(guids),
        )
        for guid, kind in found:
            try:
                if kind != b"text" or not isinstance(guid, bytes):
                    raise ValueError("no text")
                guids.setdefault(guid.decode())
            except ValueError:
                strays = True
    if len(guids) >= _MOST_GUIDS:
        raise BadInput(f"{file.path} holds {_MOST_GUIDS} guids or more, which no recording does.")
    if len(guids) <= 1 and not strays:
        return [Dataset(file, tables, next(iter(guids), None))]
    notes = ["Rows without a guid belong to no process and were left out."] if strays else []
    if not guids:
        raise BadInput(f"{file.path} has no row with a guid: it is damaged.")
    return [Dataset(file, tables, guid, "guid = ?", (guid,), list(notes)) for guid in sorted(guids)]
