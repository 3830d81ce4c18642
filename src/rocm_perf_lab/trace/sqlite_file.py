"""A user's SQLite file, opened so that nothing is ever written to it or beside it.

Files come from crashed profilers, other machines and strangers. Everything SQLite can say about
such a file becomes one `BadInput` sentence, and no query runs without bounds.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.columns import MISSING, int_column, ordinary_text, real_column
from rocm_perf_lab.trace.pages import Pages, UnusualTableError, request_for
from rocm_perf_lab.trace.trace import FloatColumn, IntColumn

MAGIC = b"SQLite format 3\0"
_BATCH = 16384
_STEPS_PER_CALL = 1_000_000
_LOCK_WAIT_S = 2.0
FAST_FROM_BYTES = 1 << 20
"""Below this, nothing is gained by not asking SQLite."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Table:
    """A table or view of the file; columns in order, as PRAGMA table_xinfo lists them."""

    name: str
    columns: tuple[str, ...]
    root: int = 0  # page of a table that can be read without SQL
    rowid: str | None = None  # the column that is the rowid
    filled: frozenset[str] = frozenset()  # columns declared NOT NULL


class Batch(Protocol):
    """Some rows of a table as columns, in the order they were asked for."""

    @property
    def count(self) -> int: ...
    @property
    def integers(self) -> Sequence[IntColumn]: ...
    @property
    def odd(self) -> Sequence[int]: ...  # per integer column, how many values were no integer
    @property
    def reals(self) -> Sequence[FloatColumn]: ...
    def matching(self, slot: int, wanted: Sequence[bytes]) -> npt.NDArray[np.bool_]:
        """Which values of a text column are among those wanted."""

    def text(self, slot: int, rows: IntColumn | None = None) -> tuple[IntColumn, Sequence[object]]:
        """A column of all or some rows as numbers into the distinct values among them."""


class RowBatch:
    """Rows as SQL gives them, taken apart into columns: integers, then reals, then texts."""

    def __init__(self, rows: list[tuple[object, ...]], integers: int, reals: int) -> None:
        columns = list(zip(*rows, strict=True))
        self.count = len(rows)
        pairs = [int_column(values) for values in columns[:integers]]
        self.integers = [column for column, _ in pairs]
        self.odd = [odd for _, odd in pairs]
        self.reals = [real_column(values) for values in columns[integers : integers + reals]]
        self._texts = columns[integers + reals :]

    def matching(self, slot: int, wanted: Sequence[bytes]) -> npt.NDArray[np.bool_]:
        return np.fromiter(map(set(wanted).__contains__, self._texts[slot]), bool, self.count)

    def text(self, slot: int, rows: IntColumn | None = None) -> tuple[IntColumn, list[object]]:
        values = self._texts[slot]
        if rows is not None:
            values = tuple(values[i] for i in rows.tolist())
        distinct = list(dict.fromkeys(values))
        place = {value: code for code, value in enumerate(distinct)}
        codes = np.fromiter(map(place.__getitem__, values), dtype=np.int64, count=len(values))
        return codes, distinct


class SqliteFile:
    """Read-only access to one file. Use as a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        size = check_regular(path)
        header = _read_header(path)
        if size == 0:
            raise BadInput(f"{path} is empty (0 bytes): the recording was never written to it.")
        if not header.startswith(MAGIC):
            raise BadInput(f"{path} is not an SQLite database.", "Give rocprofv3's *_results.db.")
        immutable = ""
        if header[18:20] == b"\2\2":
            if _size(path, "-wal"):
                raise BadInput(
                    f"{path} has a write-ahead log beside it that is not merged into it.",
                    "Close the program that has it open, or merge the log with "
                    "sqlite3 FILE 'PRAGMA journal_mode=DELETE'.",
                )
            # Without a log the file is whole; opened any other way SQLite would create one.
            immutable = "&immutable=1"
        elif _size(path, "-journal"):
            raise BadInput(
                f"{path} was left half-written: a rollback journal lies beside it.",
                "Wait until the profiler has finished, or roll back with sqlite3 FILE 'VACUUM'.",
            )
        # A row takes some bytes and some steps: a file cannot need more than this, a view can.
        self._calls_left = 20 + size // 5000
        self._row_limit = max(size, 1 << 16)
        self._roots: dict[str, int] = {}
        # Closing any handle of a file drops this process's locks on it: this one closes last.
        self._raw = path.open("rb")
        self._pages: Pages | None = None
        if size >= FAST_FROM_BYTES:
            with contextlib.suppress(UnusualTableError):
                self._pages = Pages(self._raw, header)
        with self.errors():
            self._db = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro{immutable}",
                uri=True,
                timeout=_LOCK_WAIT_S,
                isolation_level=None,
            )
            self._db.text_factory = bytes
            self._db.set_progress_handler(self._out_of_steps, _STEPS_PER_CALL)
            for pragma in ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON"):
                self._db.execute(f"PRAGMA {pragma}")
            self._db.execute("BEGIN")

    def _out_of_steps(self) -> bool:
        self._calls_left -= 1
        return self._calls_left < 0

    def __enter__(self) -> SqliteFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()
        self._raw.close()

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        try:
            yield
        except UnicodeDecodeError as error:  # of sqlite3's own message about a broken schema
            raise BadInput(f"{self.path} is damaged: its schema is no text.") from error
        except sqlite3.Error as error:
            raise self._sentence(error) from error

    def _sentence(self, error: sqlite3.Error) -> BadInput:
        text = ascii(str(error))[1:-1]
        if "locked" in text or "busy" in text:
            return BadInput(
                f"{self.path} is locked by another program.", "Wait until its writer has finished."
            )
        if "interrupted" in text:
            return BadInput(f"{self.path} asks for more work than a file of its size can hold.")
        if "malformed" in text or "not a database" in text or "disk I/O" in text:
            return BadInput(f"{self.path} is damaged or cut short: {text}.")
        if "unable to open" in text:
            return BadInput(f"{self.path} cannot be opened: {text}.")
        return BadInput(f"{self.path} cannot be read as a trace: {text}.")

    def names(self) -> list[tuple[str, str]]:
        """(name, "table" or "view") of everything in the file."""
        rows = self.rows(
            "SELECT name, type, rootpage, sql FROM sqlite_master WHERE type IN ('table', 'view')"
        )
        result = []
        for name, kind, root, sql in rows:
            if isinstance(name, bytes) and isinstance(kind, bytes):
                with contextlib.suppress(UnicodeDecodeError):
                    result.append((name.decode(), kind.decode()))
                    words = (ordinary_text(sql) or "").upper().split()
                    plain = isinstance(root, int) and "WITHOUT" not in words and "DESC" not in words
                    self._roots[name.decode()] = root if plain and isinstance(root, int) else 0
        return result

    def table(self, name: str) -> Table:
        rows = self.rows(f"PRAGMA table_xinfo({quoted(name)})")
        columns = tuple((ordinary_text(row[1]) or "").lower() for row in rows)
        keys = [
            (column, (ordinary_text(row[2]) or "").upper())
            for column, row in zip(columns, rows, strict=True)
            if row[5]
        ]
        rowid = keys[0][0] if len(keys) == 1 and keys[0][1] == "INTEGER" else None
        ordinary = all(row[6] == 0 for row in rows) and len(set(columns)) == len(columns)
        filled = frozenset(c for c, row in zip(columns, rows, strict=True) if row[3])
        root = self._roots.get(name, 0) if ordinary else 0
        return Table(name, columns, root, rowid, filled)

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        return [row for batch in self.batches(sql, parameters) for row in batch]

    def batches(self, sql: str, parameters: Sequence[object]) -> Iterator[list[tuple[object, ...]]]:
        with self.errors():
            cursor = self._db.execute(sql, parameters)
            left = self._row_limit
            while batch := cursor.fetchmany(_BATCH):
                left -= len(batch)
                if left < 0:
                    raise BadInput(
                        f"{self.path} yields more rows than a file of its size can hold."
                    )
                yield batch

    def holds_only(self, table: Table, column: str, texts: Sequence[bytes]) -> bool:
        """Whether a column surely holds none but these texts; False where only SQL can tell."""
        if self._pages is None or not table.root or not texts:
            return False
        with contextlib.suppress(UnusualTableError):
            listed = [(name, name == table.rowid) for name in table.columns]
            batches = self._pages.batches(table.root, request_for(listed, (), (), (column,)))
            return all(bool(batch.matching(0, texts).all()) for batch in batches)
        return False

    def scan(
        self,
        table: Table,
        collect: Callable[[Iterable[Batch]], Result],
        *,
        integers: Sequence[str],
        reals: Sequence[str] = (),
        texts: Sequence[str] = (),
        where: str = "",
        parameters: Sequence[object] = (),
        prefilter: str = "",
    ) -> Result:
        """What `collect` makes of a table's columns, by the fastest reader that can read them.

        `where` restricts the rows; `prefilter` only says which ones `collect` will drop anyway.
        `collect` may be called twice: it must keep nothing between the calls.
        """
        if self._pages is not None and table.root and not where:
            listed = [(name, name == table.rowid) for name in table.columns]
            with contextlib.suppress(UnusualTableError):
                request = request_for(listed, integers, reals, texts)
                return collect(self._pages.batches(table.root, request))
        # Of integers without NULL an array is made at once: where there may be NULLs, SQLite
        # answers MISSING in their place.
        chosen = [
            quoted(name) if name in table.filled else f"ifnull({quoted(name)}, {MISSING})"
            for name in integers
        ]
        chosen += [quoted(name) for name in (*reals, *texts)]
        conditions = " AND ".join(f"({c})" for c in (where, prefilter) if c)
        sql = f"SELECT {', '.join(chosen)} FROM {quoted(table.name)}"
        if conditions:
            sql += f" WHERE {conditions}"
        rows = self.batches(sql, parameters)
        return collect(RowBatch(batch, len(integers), len(reals)) for batch in rows)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def check_regular(path: Path) -> int:
    """The size of a file we may read, or the sentence that says why not."""
    try:
        info = path.stat()
    except FileNotFoundError:
        raise BadInput(f"{path} does not exist.") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}.") from error
    if stat.S_ISDIR(info.st_mode):
        raise BadInput(f"{path} is a directory.", "Give the files in it, e.g. DIR/**/*_results.db.")
    if not stat.S_ISREG(info.st_mode):
        raise BadInput(f"{path} is not a regular file.")
    if not os.access(path, os.R_OK):
        raise BadInput(f"{path} cannot be read: permission denied.")
    return info.st_size


def reason(error: OSError | ValueError) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def _read_header(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(100)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}.") from error


def _size(path: Path, suffix: str) -> int:
    try:
        whole = path.resolve()  # a link's journal lies beside the file it points to
        return whole.with_name(whole.name + suffix).stat().st_size
    except OSError:
        return 0
