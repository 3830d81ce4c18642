"""The page reader gives what SQLite gives, or stands back."""

from __future__ import annotations

import dataclasses
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from rocm_perf_lab import loops
from rocm_perf_lab.errors import BadInput, MissingTool
from rocm_perf_lab.trace import pages, sqlite_file
from rocm_perf_lab.trace.read import read_traces
from rocm_perf_lab.trace.rocpd_writer import Call, Dispatch, RocpdWriter, Value
from rocm_perf_lab.trace.trace import Trace
from support.spoilt_rocpd import damaged, loosened, sample, statements, survives, tables


def read(path: Path, fast: bool, monkeypatch: pytest.MonkeyPatch) -> list[Trace] | str:
    monkeypatch.setattr(sqlite_file, "FAST_FROM_BYTES", 0 if fast else 1 << 60)
    try:
        return read_traces([path])
    except BadInput as error:
        return error.message


def alike(a: object, b: object) -> bool:
    """Equality through dataclasses and arrays, NaN equal to NaN."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if dataclasses.is_dataclass(a) and dataclasses.is_dataclass(b):
        return type(a) is type(b) and alike(vars(a), vars(b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(alike, a, b))
    return a == b


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many batches the page reader gave."""
    counts: list[int] = []
    batches = pages.Pages.batches

    def counted(self: pages.Pages, root: int, request: pages.Request) -> Iterator[pages.PageBatch]:
        for batch in batches(self, root, request):
            counts.append(batch.count)
            yield batch

    monkeypatch.setattr(pages.Pages, "batches", counted)
    return counts


@pytest.mark.parametrize("page_size", [512, 4096, 65536])
def test_many_rows_on_many_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decoded: list[int], page_size: int
) -> None:
    path = tmp_path / "1_results.db"
    with RocpdWriter(path, level="3.0.3") as db:
        db.process(pid=300, start=1, end=1 << 50)
        db.agent(4, "GPU", "gfx942")
        db.code_object(1, 4)
        db.kernel(1, "k" * 3000)
        db.calls(Call("hipInit", 7 * i, 7 * i + i % 5, 300, i) for i in range(3000))
        db.dispatches(
            Dispatch(
                1,
                4,
                (i << (i % 40)) + 1,
                (i << (i % 40)) + 2,
                tid=300,
                correlation=i,
                lds=(1 << (i % 31)) - 1,
                values=[Value("C", v) for v in (float(i), -0.5 * i, 1e18 + i)][: i % 4],
            )
            for i in range(4000)
        )
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"PRAGMA page_size={page_size}")
        db.execute("VACUUM")
    plain = read(path, False, monkeypatch)
    assert not decoded
    assert alike(read(path, True, monkeypatch), plain)
    assert sum(decoded) > 10_000


def test_every_odd_content_gives_the_same_by_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decoded: list[int]
) -> None:
    whole = sample(tmp_path / "whole.db")
    loose = loosened(whole, tmp_path / "loose.db")
    path = tmp_path / "x_results.db"
    differing = []
    for base in (whole, loose):
        with closing(sqlite3.connect(base)) as db:
            todo = [change for table in tables(db) for change in statements(db, table)]
        for sql, values in todo[:: 60 if base is whole else 25]:
            path.write_bytes(base.read_bytes())
            with closing(sqlite3.connect(path, isolation_level=None)) as db:
                db.execute("PRAGMA synchronous=OFF")
                try:
                    db.execute(sql, values)
                except sqlite3.Error:
                    continue
            if not alike(read(path, True, monkeypatch), read(path, False, monkeypatch)):
                differing.append((base.name, sql, values))
    assert differing == []
    assert len(decoded) > 100  # it did read, and not only stand back


def test_damage_is_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = sample(tmp_path / "whole.db").read_bytes()
    monkeypatch.setattr(sqlite_file, "FAST_FROM_BYTES", 0)
    path = tmp_path / "x_results.db"
    random_ = random.Random(99)
    for _ in range(200):
        path.write_bytes(damaged(data, random_))
        survives(path)


def test_without_the_compiled_library_one_sentence_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCM_PERF_NATIVE_LIB", str(tmp_path))
    with pytest.raises(MissingTool, match=r"librocm_perf_loops\.so is not built"):
        loops.library.__wrapped__()


def page(*cells: bytes) -> bytes:
    """A leaf page of 512 bytes with these cells."""
    ends = [512]
    for cell in cells:
        ends.append(ends[-1] - len(cell))
    pointers = b"".join(end.to_bytes(2, "big") for end in ends[1:])
    head = b"\x0d\0\0" + len(cells).to_bytes(2, "big") + ends[-1].to_bytes(2, "big") + b"\0"
    body = b"".join(reversed(cells))
    return (head + pointers).ljust(512 - len(body), b"\0") + body


def batch(data: bytes, kinds: list[int]) -> pages.PageBatch:
    wanted = np.array(kinds, dtype=np.int64)
    request = pages.Request(wanted, np.zeros_like(wanted), -1, (kinds.count(pages.INTEGER), 0, 0))
    start = np.zeros(1, dtype=np.int64)
    return pages.PageBatch(np.frombuffer(data, np.uint8), start, start, 512, request)


def test_sizes_of_skipped_values_cannot_add_up_past_the_record() -> None:
    whole = b"\x03\x01\x02\x01\x2a"  # 3 bytes, row 1: a header of 2, a type, the value 42
    assert batch(page(whole), [pages.INTEGER]).integers[0].tolist() == [42]
    huge = b"\xbf" + b"\xff" * 8  # a text of nearly 2^62 bytes: twice that, and sums turn negative
    header = bytes([1 + 2 * len(huge) + 1]) + huge + huge + b"\x01"
    record = header + bytes(64)
    with pytest.raises(pages.UnusualTableError):
        batch(page(bytes([len(record), 1]) + record), [pages.SKIP, pages.SKIP, pages.INTEGER])
