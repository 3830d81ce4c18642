"""However a database is mutated, reading it gives a valid trace or one `BadInput` sentence.

Nothing else may escape, no memory may be asked for beyond what a file can hold, and the file's
folder stays as it was.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.read import read_traces
from rocm_perf_lab.trace.rocpd_writer import (
    Allocation,
    Argument,
    Call,
    Copy,
    Dispatch,
    RocpdWriter,
    Value,
)
from support.traces import check_trace

ODD = [
    None,
    "abc",
    "",
    " 12 ",
    b"\xff\xfe\x00",
    b"12",
    1.5,
    7.0,
    1e300,
    float("inf"),
    -1,
    0,
    2**63 - 1,
    -(2**63),
    2**62,
    "9" * 30,
    "0x7f",
    "{" * 2000,
    '{"id": {"handle": []}, "caches": [1], "cu_count": 1e999, "x": "\\ud800"}',
    "na\udcffme".encode("utf-8", "surrogateescape"),
]


def sample(path: Path, level: str = "3.0.5") -> Path:
    with RocpdWriter(path, level=level, guid="0000aaaa-0000-0000-0000-000000000001") as db:
        db.process(pid=77, parent=3, command="./a.out", start=5, end=9000)
        db.agent(0, "CPU", "cpu")
        db.agent(4, "GPU", "gfx942", extdata={"id": {"handle": 56}, "cu_count": 304})
        db.code_object(1, 4)
        db.kernel(1, "gemm(float*)", mangled="_Z4gemmPf")
        db.kernel(2, "fill", arch_vgprs=128, accum_vgprs=128)
        stream = Argument("ihipStream_t*", "stream", "0x10")
        event = Argument("ihipEvent_t*", "event", "nullptr")
        db.calls(
            Call("hipLaunchKernel", 10 * i, 10 * i + i % 3, 77, i, args=(stream, event))
            for i in range(1, 20)
        )
        db.dispatches(
            Dispatch(
                1 + i % 2,
                4,
                100 * i,
                100 * i + 50,
                stream=i % 3,
                tid=77,
                correlation=i,
                values=[Value("SQ_WAVES", 4.0, x) for x in range(2)],
            )
            for i in range(1, 20)
        )
        db.copies(
            Copy("MEMORY_COPY_HOST_TO_DEVICE", 50 * i, 50 * i + 9, 64, 77, i, 1, 0, 4)
            for i in range(1, 5)
        )
        db.allocations([Allocation("ALLOC", "REAL", 1, 2, 64, agent=4, tid=77)])
    return path


def survives(path: Path) -> bool:
    """Read; True for a trace (checked), False for a refusal in one sentence."""
    before = {p.name for p in path.parent.iterdir()}
    try:
        traces = read_traces([path])
    except BadInput as error:
        assert str(path) in error.message
        assert "\n" not in error.message
        assert error.message.endswith(".")
        return False
    finally:
        assert {p.name for p in path.parent.iterdir()} == before
    for trace in traces:
        check_trace(trace)
    return True


def tables(db: sqlite3.Connection) -> list[str]:
    names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return sorted(name for (name,) in names if name.startswith("rocpd_"))


def columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample(tmp_path_factory.mktemp("whole") / "1_results.db")


@pytest.fixture(scope="module")
def loose(whole: Path) -> Path:
    """The same rows in tables without types and constraints, so that anything fits in."""
    return loosened(whole, whole.with_name("loose_results.db"))


def loosened(whole: Path, path: Path) -> Path:
    path.write_bytes(whole.read_bytes())
    with closing(sqlite3.connect(path)) as db:
        for view in db.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
            db.execute(f'DROP VIEW "{view[0]}"')
        for table in tables(db):
            db.execute(f'CREATE TABLE copied AS SELECT * FROM "{table}"')
            db.execute(f'DROP TABLE "{table}"')
            db.execute(f'ALTER TABLE copied RENAME TO "{table}"')
        db.commit()
        db.execute("VACUUM")
    return path


def test_the_unmutated_ones_are_read(whole: Path, loose: Path) -> None:
    assert survives(whole)
    assert survives(loose)


def damaged(data: bytes, random_: random.Random) -> bytes:
    """Bytes flipped, pages swapped, zeroed or repeated, or the end cut off."""
    page = 4096
    changed = bytearray(data)
    kind = random_.choice(("flip", "flip", "flip", "burst", "swap", "cut", "zero", "repeat"))
    if kind == "flip":
        for _ in range(random_.choice((1, 1, 2, 8, 64))):
            changed[random_.randrange(len(changed))] = random_.randrange(256)
    elif kind == "burst":
        at = random_.randrange(len(changed) - 16)
        changed[at : at + 16] = random_.randbytes(16)
    elif kind == "cut":
        del changed[random_.randrange(len(changed)) :]
    else:
        a, b = (page * random_.randrange(len(changed) // page) for _ in range(2))
        first, second = changed[a : a + page], changed[b : b + page]
        changed[a : a + page] = bytes(page) if kind == "zero" else second
        if kind == "swap":
            changed[b : b + page] = first
    return bytes(changed)


def survive_damage(whole: Path, folder: Path, seed: int, rounds: int) -> None:
    data = whole.read_bytes()
    random_ = random.Random(seed)
    path = folder / "x_results.db"
    for _ in range(rounds):
        path.write_bytes(damaged(data, random_))
        survives(path)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_and_pages(whole: Path, tmp_path: Path, seed: int) -> None:
    survive_damage(whole, tmp_path, seed, 300)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_damaged_bytes_and_pages_at_length(whole: Path, tmp_path: Path, seed: int) -> None:
    survive_damage(whole, tmp_path, seed, 2000)


def statements(db: sqlite3.Connection, table: str) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield f'DELETE FROM "{table}"', ()
    yield f'DELETE FROM "{table}" WHERE rowid % 2', ()
    yield f'INSERT INTO "{table}" SELECT * FROM "{table}"', ()
    yield f'DROP TABLE "{table}"', ()
    yield f'ALTER TABLE "{table}" RENAME TO other', ()
    for column in columns(db, table):
        yield f'ALTER TABLE "{table}" DROP COLUMN "{column}"', ()
        for value in ODD:
            yield f'UPDATE "{table}" SET "{column}" = ? WHERE rowid % 3 = 1', (value,)
            if value is None or isinstance(value, int):
                yield f'UPDATE "{table}" SET "{column}" = ?', (value,)


@pytest.mark.parametrize("share", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_every_table_and_column_holding_anything(loose: Path, tmp_path: Path, share: int) -> None:
    """Every change under `slow`, every sixth otherwise."""
    data = loose.read_bytes()
    path = tmp_path / "x_results.db"
    read = refused = 0
    with closing(sqlite3.connect(loose)) as db:
        todo = [change for table in tables(db) for change in statements(db, table)]
    for sql, values in todo[::share]:
        path.write_bytes(data)
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("PRAGMA synchronous=OFF")
            db.execute("PRAGMA journal_mode=OFF")
            try:
                db.execute(sql, values)
            except sqlite3.OperationalError:
                continue  # e.g. the only column cannot be dropped
        if survives(path):
            read += 1
        else:
            refused += 1
    assert share * read > 3000 and share * refused > 100


HOSTILE = [
    "CREATE VIEW rocpd_kernel_dispatch AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
    "FROM n) SELECT i AS id, 'g' AS guid, 1 AS kernel_id, 4 AS agent_id, i AS start, i AS end, "
    "1 AS workgroup_size_x, 1 AS workgroup_size_y, 1 AS workgroup_size_z, 1 AS grid_size_x, "
    "1 AS grid_size_y, 1 AS grid_size_z FROM n",
    "CREATE VIEW rocpd_kernel_dispatch AS SELECT * FROM rocpd_kernel_dispatch",
    "CREATE VIEW rocpd_kernel_dispatch AS SELECT zeroblob(1 << 40) AS guid, 1 AS id",
    "CREATE VIEW rocpd_kernel_dispatch AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
    "FROM n) SELECT i AS id, 'g' AS guid FROM n WHERE i < 0",
]


@pytest.mark.parametrize("view", HOSTILE)
def test_a_view_that_never_ends_is_stopped(tmp_path: Path, view: str) -> None:
    path = tmp_path / "x_results.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE VIEW rocpd_info_kernel_symbol AS SELECT 1 AS id, 'k' AS display_name")
        db.execute("CREATE VIEW rocpd_info_agent AS SELECT 4 AS id, 'gfx942' AS name")
        db.execute("CREATE VIEW rocpd_string AS SELECT 1 AS id, 's' AS string")
        db.execute(view)
        db.commit()
    assert not survives(path)
