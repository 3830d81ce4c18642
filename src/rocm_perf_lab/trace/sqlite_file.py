"""A user's SQLite file, opened so that nothing is ever written to it or beside it.

Files come from crashed profilers, other machines and strangers. Everything SQLite can say about
such a file becomes one `BadInput` sentence, and no query runs without bounds.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.columns import int_column, ordinary_text
from rocm_perf_lab.trace.model import IntColumn

MAGIC = b"SQLite format 3\0"
_BATCH = 16384
_STEPS_PER_CALL = 1_000_000
_LOCK_WAIT_S = 2.0


@dataclass(frozen=True)
class Table:
    """A table or view of the file; `columns` as PRAGMA table_info lists them."""

    name: str
    columns: frozenset[str]


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
        rows = self.rows("SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')")
        result = []
        for name, kind in rows:
            if isinstance(name, bytes) and isinstance(kind, bytes):
                with contextlib.suppress(UnicodeDecodeError):
                    result.append((name.decode(), kind.decode()))
        return result

    def table(self, name: str) -> Table:
        rows = self.rows(f"PRAGMA table_xinfo({quoted(name)})")
        return Table(name, frozenset((ordinary_text(row[1]) or "").lower() for row in rows))

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

    def integers(
        self, columns: Sequence[str], rest: str, parameters: Sequence[object] = ()
    ) -> tuple[list[IntColumn], list[int]]:
        """SELECT columns as int64, and per column how many values were no integer."""
        parts: list[list[IntColumn]] = [[] for _ in columns]
        odd = [0] * len(columns)
        for batch in self.batches(f"SELECT {', '.join(columns)} {rest}", parameters):
            for i, values in enumerate(zip(*batch, strict=True)):
                column, bad = int_column(values)
                parts[i].append(column)
                odd[i] += bad
        return [_joined(part) for part in parts], odd


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
    beside = path.with_name(path.name + suffix)
    try:
        return beside.stat().st_size
    except OSError:
        return 0


def _joined(parts: list[IntColumn]) -> IntColumn:
    if not parts:
        return np.zeros(0, dtype=np.int64)
    column = np.concatenate(parts)
    parts.clear()
    return column
