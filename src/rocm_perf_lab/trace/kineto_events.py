"""The events of a PyTorch trace as columns: of parsed objects, or straight from the file.

The compiled reader (native/loops/kineto.cpp) takes the file piece by piece and keeps the columns
only. It knows what the profiler writes; of anything else it says so, and the file is parsed into
objects, which takes many times the memory. Both give the same columns.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.loops import address, library
from rocm_perf_lab.trace.columns import MISSING, as_integer, as_real, ordinary_text
from rocm_perf_lab.trace.trace import FloatColumn, IndexColumn, IntColumn

Object = dict[str, Any]

KERNELS, COPIES, CALLS, OPERATORS, FRAMES = TABLES = (
    *("kernels", "copies", "runtime calls", "operators", "frames"),
)
# Categories of several torch versions; the older ones are capitalised.
_CATEGORIES = {
    "kernel": KERNELS,
    **dict.fromkeys(("gpu_memcpy", "gpu_memset", "memcpy", "memset"), COPIES),
    **dict.fromkeys(("cuda_runtime", "hip_runtime", "cuda_driver", "hip_driver", "runtime"), CALLS),
    **dict.fromkeys(("cpu_op", "operator"), OPERATORS),
    **dict.fromkeys(("python_function", "user_annotation"), FRAMES),
}
# A device's number is its process in the file and a stream's its thread, where nothing else is
# given; a handle is the stream that a call names.
_FIELDS = (
    *"pid tid device stream queue correlation external lds bytes handle".split(),
    *(f"{what}_{axis}" for what in ("grid", "block") for axis in "xyz"),
)
_PLACE = ("pid", "tid", "device", "stream", "external")
_KEPT = {
    KERNELS: (*_PLACE, "correlation", "queue", "lds", *_FIELDS[-6:]),
    COPIES: (*_PLACE, "correlation", "bytes"),
    CALLS: (*_PLACE, "correlation", "handle"),
    OPERATORS: _PLACE,
    FRAMES: ("tid",),
}
_LONGEST_EVENT = 32 << 20  # bytes; beyond, the file is no profiler's


@dataclass
class Table:
    """Events of one kind, in the order of the file."""

    name: IndexColumn  # -> names, -1 without
    names: list[str]
    start_us: FloatColumn  # NaN: no number
    length_us: FloatColumn
    fields: dict[str, IntColumn]  # those of _KEPT; MISSING: not given
    kind: IndexColumn  # of copies, -> kinds, -1 without
    kinds: list[str]

    def __len__(self) -> int:
        return len(self.name)

    def __getitem__(self, name: str) -> IntColumn:
        return self.fields[name]

    def take(self, rows: IntColumn) -> None:
        self.name, self.start_us = self.name[rows], self.start_us[rows]
        self.length_us = self.length_us[rows]
        self.fields = {name: column[rows] for name, column in self.fields.items()}
        self.kind = self.kind[rows] if len(self.kind) else self.kind


@dataclass
class Events:
    tables: dict[str, Table]
    peak_bytes: int = 0  # of device memory
    facts: Object = field(default_factory=dict)  # what the file says beside its events


class _Numbers(dict[str, int]):
    def of(self, text: str | None) -> int:
        return -1 if text is None else self.setdefault(text, len(self))


def of_objects(root: Any) -> Events:
    facts: Object = root if isinstance(root, dict) else {}
    events = facts.get("traceEvents") if isinstance(root, dict) else root
    sorted_out: dict[str, list[Object]] = {table: [] for table in TABLES}
    peak = 0
    for event in events if isinstance(events, list) else []:
        category = event.get("cat") if isinstance(event, dict) else None
        if not isinstance(category, str):
            continue
        if event.get("ph") == "X":
            table = _CATEGORIES.get(category.lower())
            if table is not None:
                sorted_out[table].append(event)
        elif event.get("name") == "[memory]":
            total = as_real(_args(event).get("Total Allocated"))
            if total > peak:
                peak = int(total)
    return Events({t: _table(sorted_out[t], _KEPT[t]) for t in TABLES}, peak, facts)


def _table(events: list[Object], kept: tuple[str, ...]) -> Table:
    names, kinds = _Numbers(), _Numbers()
    copies = "bytes" in kept
    return Table(
        name=_index(names.of(ordinary_text(e.get("name"))) for e in events),
        start_us=np.fromiter((as_real(e.get("ts")) for e in events), np.float64, len(events)),
        length_us=np.fromiter((as_real(e.get("dur")) for e in events), np.float64, len(events)),
        fields={
            name: np.fromiter(map(_OF_OBJECT[name], events), np.int64, len(events)) for name in kept
        },
        kind=_index(kinds.of(ordinary_text(_args(e).get("kind"))) for e in events if copies),
        names=list(names),
        kinds=list(kinds),
    )


def _index(values: Iterable[int]) -> IndexColumn:
    return np.fromiter(values, np.int32)


def _args(event: Object) -> Object:
    args = event.get("args")
    return args if isinstance(args, dict) else {}


def _stream(event: Object) -> object:
    return _args(event).get("stream", event.get("tid"))


def _external(event: Object) -> object:
    args = _args(event)
    return args.get("External id", args.get("external id"))


def _size(what: str, axis: int) -> Callable[[Object], int]:
    def size(event: Object) -> int:
        sizes = _args(event).get(what)
        if not isinstance(sizes, list) or len(sizes) != 3:
            return MISSING
        known = [as_integer(s) for s in sizes]
        return known[axis] if min(known) > 0 else MISSING

    return size


_OF_OBJECT: dict[str, Callable[[Object], int]] = {
    "pid": lambda e: as_integer(e.get("pid")),
    "tid": lambda e: as_integer(e.get("tid")),
    "device": lambda e: as_integer(_args(e).get("device", e.get("pid"))),
    "stream": lambda e: as_integer(_stream(e)),
    "queue": lambda e: as_integer(_args(e).get("queue", _stream(e))),
    "correlation": lambda e: as_integer(_args(e).get("correlation")),
    "external": lambda e: as_integer(_external(e)),
    "lds": lambda e: as_integer(_args(e).get("shared memory")),
    "bytes": lambda e: as_integer(_args(e).get("bytes")),
    "handle": lambda e: as_integer(_args(e).get("stream")),
    **{f"{w}_{a}": _size(w, i) for w in ("grid", "block") for i, a in enumerate("xyz")},
}


def scanned(pieces: Iterator[bytes]) -> Events | None:
    """None for a file that has to be parsed into objects."""
    loops = library()
    reader = loops.rpl_kineto_open()
    if not reader:
        return None
    try:
        left = b""
        for piece in pieces:
            left += piece
            taken = loops.rpl_kineto_feed(reader, left, len(left), 0)
            if taken < 0 or len(left) - taken > _LONGEST_EVENT:
                return None
            left = left[taken:]
        if loops.rpl_kineto_feed(reader, left, len(left), 1) < 0:
            return None
        return Events(
            {table: _handed_over(loops, reader, table) for table in TABLES},
            int(loops.rpl_kineto_most_allocated(reader)),
            json.loads("{" + _text(loops.rpl_kineto_facts, reader) + "}"),
        )
    finally:
        loops.rpl_kineto_close(reader)


def _handed_over(loops: ctypes.CDLL, reader: int, table: str) -> Table:
    number = TABLES.index(table)
    count = loops.rpl_kineto_rows(reader, number)
    name, kind = np.empty(count, np.int32), np.empty(count if table == COPIES else 0, np.int32)
    start, length = np.empty((2, count))
    fields = {field: np.empty(count, np.int64) for field in _KEPT[table]}
    loops.rpl_kineto_names(reader, number, address(name))
    loops.rpl_kineto_kinds(reader, number, address(kind))
    loops.rpl_kineto_times(reader, number, address(start), address(length))
    for field_name, column in fields.items():
        kept = loops.rpl_kineto_field(reader, number, _FIELDS.index(field_name), address(column))
        assert kept, f"{table} have no {field_name}"
    name, names = _decoded(name, _text(loops.rpl_kineto_texts, reader, number))
    kind, kinds = _decoded(kind, _text(loops.rpl_kineto_texts, reader, len(TABLES)))
    return Table(name, names, start, length, fields, kind, kinds)


def _text(of: Callable[..., int], reader: int, *more: int) -> str:
    size = ctypes.c_size_t()
    at = of(reader, *more, ctypes.byref(size))
    # Some recorded strings are not UTF-8.
    return ctypes.string_at(at, size.value).decode("utf-8", "replace")


def _decoded(codes: IndexColumn, lines: str) -> tuple[IndexColumn, list[str]]:
    """Texts as they are meant; two spellings of one get one number."""
    texts = _Numbers()
    number: npt.NDArray[np.int32] = np.array(
        [
            *(
                texts.of(ordinary_text(json.loads(f'"{line}"') if "\\" in line else line))
                for line in lines.split("\n")[:-1]
            ),
            -1,  # of no name
        ],
        np.int32,
    )
    return number[codes], list(texts)
