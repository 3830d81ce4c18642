"""Columns straight from the pages of an SQLite file, for databases of hundreds of megabytes.

SQL costs many times what decoding a table's leaf pages costs. This reader knows only the ordinary
case: a rowid table whose wanted columns hold integers, reals, texts or NULL. Whatever else it
meets (another type in a column, a broken page, a row spilled onto overflow pages before the wanted
columns end) raises `UnusualTableError`, and the caller asks SQLite instead, so both give the same
columns. The caller holds SQLite's read lock, and the file format is the documented one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.loops import address, addresses, library
from rocm_perf_lab.trace.columns import MISSING
from rocm_perf_lab.trace.trace import FloatColumn, IntColumn

Bytes = npt.NDArray[np.uint8]

SKIP, INTEGER, REAL, TEXT = range(4)
_INTERIOR, _LEAF = 5, 13
_PAGES_PER_BATCH = 1024
_MOST_GAP = 8  # read pages in between rather than seek, up to this many times the wanted ones


class UnusualTableError(Exception):
    """This table is not for this reader."""


@dataclass(frozen=True)
class Request:
    """The wanted columns: per column of the record what it is and its place among its kind."""

    kinds: IntColumn
    slots: IntColumn
    rowid: int  # the INTEGER PRIMARY KEY, which the record itself leaves NULL; -1 none
    shape: tuple[int, int, int]  # how many integers, reals and texts


class Pages:
    def __init__(self, file: BinaryIO, header: bytes) -> None:
        size = int.from_bytes(header[16:18], "big")
        self._size = 65536 if size == 1 else size
        self._usable = self._size - header[20]
        length = os.fstat(file.fileno()).st_size
        self._count = length // max(self._size, 1)
        self._file = file
        utf8 = int.from_bytes(header[56:60], "big") == 1
        whole = length == self._count * self._size
        if self._size < 512 or self._usable < 480 or not utf8 or not whole:
            raise UnusualTableError

    def leaves(self, root: int) -> IntColumn:
        """The leaf pages of a table in the order of its rows."""
        level = np.array([root], dtype=np.int64)
        seen = 0
        while True:
            seen += len(level)
            if not len(level) or seen > self._count:
                raise UnusualTableError
            if self._page(int(level[0]))[self._start(int(level[0]))] == _LEAF:
                return level
            level = np.concatenate([self._children(int(page)) for page in level])

    def _page(self, number: int) -> Bytes:
        if not 1 <= number <= self._count:
            raise UnusualTableError
        data = os.pread(self._file.fileno(), self._size, (number - 1) * self._size)
        if len(data) != self._size:
            raise UnusualTableError
        return np.frombuffer(data, dtype=np.uint8)

    @staticmethod
    def _start(number: int) -> int:
        return 100 if number == 1 else 0

    def _children(self, number: int) -> IntColumn:
        page, start = self._page(number), self._start(number)
        cells = int(page[start + 3]) << 8 | int(page[start + 4])
        end = start + 12 + 2 * cells
        if page[start] != _INTERIOR or end > self._usable:
            raise UnusualTableError
        pointers = page[start + 12 : end].view(">u2").astype(np.int64)
        if len(pointers) and int(pointers.max()) + 4 > self._usable:
            raise UnusualTableError
        at = np.append(pointers, start + 8)
        children: IntColumn = np.zeros(len(at), dtype=np.int64)
        for byte in range(4):
            children = children << 8 | page[at + byte]
        return children

    def batches(self, root: int, request: Request) -> Iterator[PageBatch]:
        leaves = self.leaves(root)
        last = MISSING
        for first in range(0, len(leaves), _PAGES_PER_BATCH):
            wanted = leaves[first : first + _PAGES_PER_BATCH]
            data, offsets = self._gather(wanted)
            starts = offsets + np.where(wanted == 1, 100, 0)
            batch = PageBatch(data, offsets, starts, self._usable, request)
            if not batch.count:
                continue
            if batch.rowids[0] <= last:
                raise UnusualTableError
            last = batch.rowids[1]
            yield batch

    def _gather(self, wanted: IntColumn) -> tuple[Bytes, IntColumn]:
        """The bytes of some pages, and where each begins in them."""
        low, high = int(wanted.min()), int(wanted.max())
        if low < 1 or high > self._count:
            raise UnusualTableError
        span = high - low + 1
        if span <= _MOST_GAP * len(wanted):
            data = os.pread(self._file.fileno(), span * self._size, (low - 1) * self._size)
            offsets = (wanted - low) * self._size
        else:
            data = b"".join(
                os.pread(self._file.fileno(), self._size, (int(page) - 1) * self._size)
                for page in wanted
            )
            offsets = np.arange(len(wanted), dtype=np.int64) * self._size
        if len(data) < int(offsets.max()) + self._size:
            raise UnusualTableError
        return np.frombuffer(data, dtype=np.uint8), offsets


class PageBatch:
    """The rows of some leaf pages, decoded."""

    def __init__(
        self,
        data: Bytes,
        offsets: IntColumn,
        starts: IntColumn,
        usable: int,
        request: Request,
    ) -> None:
        counts = data[starts + 3].astype(np.int64) << 8 | data[starts + 4]
        self.count = int(counts.sum())
        integers, reals, texts = request.shape
        # Arrays of their own, so that a column can be let go without the others.
        self.integers: list[IntColumn] = [np.empty(self.count, np.int64) for _ in range(integers)]
        self.odd = [0] * integers
        self.reals: list[FloatColumn] = [np.empty(self.count, np.float64) for _ in range(reals)]
        self._begin = [np.empty(self.count, np.int64) for _ in range(texts)]
        self._length = [np.empty(self.count, np.int64) for _ in range(texts)]
        self._data = data
        rowids = np.zeros(2, dtype=np.int64)
        places = [addresses(list(c)) for c in (self.integers, self.reals, self._begin)]
        lengths = addresses(list(self._length))
        if not library().rpl_read_pages(
            address(data),
            len(offsets),
            address(offsets),
            address(starts),
            usable,
            len(request.kinds),
            address(request.kinds),
            address(request.slots),
            request.rowid,
            *map(address, places),
            address(lengths),
            address(rowids),
        ):
            raise UnusualTableError
        self.rowids = (int(rowids[0]), int(rowids[1]))
        for column in self.reals:
            column[~np.isfinite(column)] = np.nan

    def matching(self, slot: int, wanted: Sequence[bytes]) -> npt.NDArray[np.bool_]:
        joined = np.frombuffer(b"".join(wanted), dtype=np.uint8)
        ends = np.cumsum([len(text) for text in wanted], dtype=np.int64)
        found = np.empty(self.count, dtype=np.bool_)
        library().rpl_matching(
            address(self._data),
            address(self._begin[slot]),
            address(self._length[slot]),
            self.count,
            address(joined),
            address(ends),
            len(ends),
            address(found),
        )
        return found

    def text(self, slot: int, rows: IntColumn | None = None) -> tuple[IntColumn, list[object]]:
        """A text column of all or some rows as numbers into the distinct texts among them."""
        begin, length = self._begin[slot], self._length[slot]
        if rows is not None:
            begin, length = begin[rows], length[rows]
        codes, first = np.empty((2, len(begin)), dtype=np.int64)
        found = library().rpl_distinct(
            address(self._data),
            address(begin),
            address(length),
            len(begin),
            address(codes),
            address(first),
        )
        texts: list[object] = [
            None
            if length[i] < 0
            else self._data[int(begin[i]) : int(begin[i] + length[i])].tobytes()
            for i in first[:found].tolist()
        ]
        return codes, texts


def request_for(
    columns: Sequence[tuple[str, bool]],
    integers: Sequence[str],
    reals: Sequence[str],
    texts: Sequence[str],
) -> Request:
    """What to decode of a table whose columns are given as (name, is the rowid)."""
    names = [name for name, _ in columns]
    wanted = {**dict.fromkeys(texts, TEXT), **dict.fromkeys(reals, REAL)}
    wanted |= dict.fromkeys(integers, INTEGER)
    if len(wanted) != len(integers) + len(reals) + len(texts):
        raise UnusualTableError
    last = max((i for i, name in enumerate(names) if name in wanted), default=-1)
    slots = {name: i for given in (integers, reals, texts) for i, name in enumerate(given)}
    rowid = next((i for i, (_, is_rowid) in enumerate(columns) if is_rowid), -1)
    return Request(
        kinds=np.array([wanted.get(name, SKIP) for name in names[: last + 1]], dtype=np.int64),
        slots=np.array([slots.get(name, 0) for name in names[: last + 1]], dtype=np.int64),
        rowid=rowid,
        shape=(len(integers), len(reals), len(texts)),
    )
