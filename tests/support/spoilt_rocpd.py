"""A rocpd database with something in every table, and ways to spoil it."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

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
