"""Each thing that can be wrong with a database, and the sentence or note it gets."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.read import read_traces
from rocm_perf_lab.trace.rocpd_writer import Call, Dispatch, RocpdWriter, Value
from rocm_perf_lab.trace.trace import Trace
from rocm_perf_lab.trace.vgpr import true_counts
from support.analysis import documents

GUID = "0000aaaa-0000-0000-0000-000000000001"
SUFFIX = "_" + GUID.replace("-", "_")


def database(path: Path, guid: str = GUID, suffixed: bool = True, kernel: str = "k") -> Path:
    with RocpdWriter(path, guid=guid, suffixed=suffixed) as db:
        db.process(pid=7, command="./app", start=1, end=1000)
        db.agent(4, "GPU", "gfx942")
        db.code_object(1, 4)
        db.kernel(1, kernel)
        db.calls([Call("hipLaunchKernel", 10, 20, 7, 1)])
        db.dispatches(
            Dispatch(1, 4, 100 * i, 100 * i + 50, tid=7, values=[Value("SQ_WAVES", 1.0)])
            for i in range(1, 4)
        )
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return database(tmp_path / "7_results.db")


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        yield db


def change(path: Path, *statements: str) -> None:
    with opened(path) as db:
        db.execute("PRAGMA writable_schema=ON")
        db.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL,', ',')")
    with opened(path) as db:
        for statement in statements:
            db.execute(statement.replace("@", SUFFIX))


def drop_views(db: sqlite3.Connection) -> None:
    for (view,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
        db.execute(f'DROP VIEW "{view}"')


def one(path: Path) -> Trace:
    (trace,) = read_traces([path])
    return trace


def refused(path: Path, *words: str) -> str:
    with pytest.raises(BadInput) as caught:
        read_traces([path])
    message = caught.value.message
    assert str(path) in message
    for word in words:
        assert word in message + (caught.value.hint or "")
    return message


def test_files_that_are_no_trace(tmp_path: Path) -> None:
    refused(tmp_path / "absent.db", "does not exist")
    refused(tmp_path, "directory")
    empty = tmp_path / "empty.db"
    empty.touch()
    refused(empty, "0 bytes")
    text = tmp_path / "text.db"
    text.write_text("hello")
    refused(text, "neither")
    fifo = tmp_path / "fifo.db"
    os.mkfifo(fifo)
    refused(fifo, "regular file")


@pytest.mark.parametrize("name", ["a b?mode=rw#1%20.db", "été.db", "-x.db", "'q\".db"])
def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    path = database(tmp_path / name)
    assert len(one(path).dispatches) == 3
    link = tmp_path / "link.db"
    link.symlink_to(path)
    assert len(one(link).dispatches) == 3
    assert {p.name for p in tmp_path.iterdir()} == {name, "link.db"}


def test_sqlite_files_that_are_no_trace(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with opened(other) as db:
        db.execute("CREATE TABLE t (a)")
    refused(other, "rocpd")
    with opened(other) as db:
        db.execute("DROP TABLE t")
    refused(other, "empty")
    with opened(other) as db:
        db.execute("CREATE TABLE rocpd_op (a)")
    refused(other, "rocmProfileData")


def test_unreadable_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.chmod(0)
    if os.access(path, os.R_OK):  # root reads everything
        monkeypatch.setattr(os, "access", lambda *_: False)
    refused(path, "permission denied")


def test_truncated_file(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    refused(path, "damaged")
    path.write_bytes(data[:60])
    refused(path, "damaged")


def test_locked_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocm_perf_lab.trace.sqlite_file._LOCK_WAIT_S", 0.01)
    with opened(path) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        refused(path, "locked")


def test_unfinished_write_ahead_log(path: Path) -> None:
    with opened(path) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE more (a)")
        before = sorted(p.name for p in path.parent.iterdir())
        refused(path, "write-ahead log")
        assert sorted(p.name for p in path.parent.iterdir()) == before


def test_a_closed_wal_database_is_read_and_gets_no_log(path: Path) -> None:
    with opened(path) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
    assert len(one(path).dispatches) == 3
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_rollback_journal_of_a_killed_writer(path: Path) -> None:
    path.with_name(path.name + "-journal").write_bytes(b"\xd9\xd5\x05\xf9 journal")
    refused(path, "journal")


def test_unknown_schema_version(path: Path) -> None:
    change(path, "UPDATE rocpd_metadata@ SET value = '9' WHERE tag = 'schema_version'")
    refused(path, "schema version '9'")


@pytest.mark.parametrize("table", ["kernel_dispatch", "info_kernel_symbol", "info_agent"])
def test_without_this_table_reading_ends(path: Path, table: str) -> None:
    change(path, f"DROP TABLE rocpd_{table}@")
    refused(path, f"rocpd_{table}")


@pytest.mark.parametrize("column", ["start", "end", "kernel_id", "grid_size_x"])
def test_without_this_column_reading_ends(path: Path, column: str) -> None:
    with opened(path) as db:
        drop_views(db)
        db.execute(f"ALTER TABLE rocpd_kernel_dispatch{SUFFIX} DROP COLUMN {column}")
    refused(path, "rocpd_kernel_dispatch", repr(column))


@pytest.mark.parametrize(
    "table", ["string", "event", "region", "arg", "memory_copy", "info_process", "pmc_event"]
)
def test_without_this_table_a_part_is_missing_and_noted(path: Path, table: str) -> None:
    change(path, f"DROP TABLE rocpd_{table}@")
    trace = one(path)
    assert len(trace.dispatches) == 3
    assert any(f"rocpd_{table}" in note for note in trace.notes)


@pytest.mark.parametrize("how", ["DROP TABLE rocpd_string@", "DELETE FROM rocpd_string@"])
def test_without_strings_kernels_have_names_and_what_cannot_be_known_is_said(
    path: Path, how: str
) -> None:
    change(path, how)
    trace = one(path)
    assert [kernel.name for kernel in trace.kernels] == ["k"] and len(trace.regions) == 1
    assert any("names of host calls and kinds of copies" in note for note in trace.notes)
    timing = replace(trace, counters={})
    found = documents(timing).profile.where_the_time_goes
    assert found is not None and "copies" in found.reasons
    assert any("names of the host calls" in m for m in found.verdict.missing)


def test_strings_only_names_the_bug_of_the_profiler(tmp_path: Path) -> None:
    path = tmp_path / "7_results.db"
    with RocpdWriter(path) as db:
        db.string("KERNEL_DISPATCH")
    refused(path, "only strings", "command line", "script")


def test_tables_without_rows(path: Path) -> None:
    with opened(path) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            db.execute(f'DELETE FROM "{name}"')
    refused(path, "not one row")


def test_a_process_without_kernels_is_a_trace_without_rows(tmp_path: Path) -> None:
    path = tmp_path / "7_results.db"
    with RocpdWriter(path) as db:
        db.process(pid=7, start=5, end=9)
    trace = one(path)
    assert len(trace.dispatches) == 0
    assert (trace.processes[0].start_ns, trace.processes[0].end_ns) == (5, 9)


def test_times_that_make_no_sense(path: Path) -> None:
    change(
        path,
        "UPDATE rocpd_kernel_dispatch@ SET start = NULL WHERE id = 1",
        "UPDATE rocpd_kernel_dispatch@ SET end = start - 1 WHERE id = 2",
    )
    trace = one(path)
    assert trace.dispatches.dispatch_id.tolist() == [3]
    assert trace.counters["SQ_WAVES"].total.tolist() == [1.0]
    assert any("1 of 3 kernel dispatches have no start or end" in note for note in trace.notes)
    assert any("1 of 3 kernel dispatches end before" in note for note in trace.notes)


def test_overlapping_and_empty_dispatches_are_kept(path: Path) -> None:
    change(
        path,
        "UPDATE rocpd_kernel_dispatch@ SET end = 900 WHERE id = 1",
        "UPDATE rocpd_kernel_dispatch@ SET end = start WHERE id = 2",
    )
    assert len(one(path).dispatches) == 3
    assert not any("left out" in note for note in one(path).notes)


def test_ids_that_point_nowhere(path: Path) -> None:
    change(
        path,
        "UPDATE rocpd_kernel_dispatch@ SET kernel_id = 99, agent_id = 55 WHERE id = 1",
        "UPDATE rocpd_pmc_event@ SET event_id = 12345 WHERE id = 2",
        "UPDATE rocpd_pmc_event@ SET pmc_id = 12345 WHERE id = 3",
    )
    trace = one(path)
    assert trace.kernels[trace.dispatches.kernel[0]].name == "<unknown kernel 99>"
    assert trace.dispatches.agent.tolist() == [-1, 0, 0]
    assert np.isnan(trace.counters["SQ_WAVES"].total).tolist() == [False, True, True]
    assert any("1 dispatches name 1 kernels" in note for note in trace.notes)
    assert any("2 of 3 counter values" in note for note in trace.notes)


def test_integers_as_text_real_and_blob(path: Path) -> None:
    with opened(path) as db:
        drop_views(db)
    change(
        path,
        "CREATE TABLE loose AS SELECT * FROM rocpd_kernel_dispatch@",
        "UPDATE loose SET start = CAST(start AS TEXT), end = CAST(end AS REAL) WHERE id = 1",
        "UPDATE loose SET group_segment_size = x'00' WHERE id = 2",
        "UPDATE loose SET group_segment_size = 1e300 WHERE id = 3",
        "DROP TABLE rocpd_kernel_dispatch@",
        "ALTER TABLE loose RENAME TO rocpd_kernel_dispatch@",
    )
    trace = one(path)
    assert trace.dispatches.start_ns.tolist() == [100, 200, 300]
    assert trace.dispatches.end_ns.tolist() == [150, 250, 350]
    assert trace.dispatches.lds_bytes.tolist() == [0, -1, -1]
    assert any("2 values of rocpd_kernel_dispatch.group_segment_size" in n for n in trace.notes)


def test_names_that_are_no_utf8_survive_as_text(path: Path) -> None:
    change(
        path,
        "UPDATE rocpd_info_kernel_symbol@ SET display_name = CAST(x'6bff7a' AS TEXT)",
    )
    assert one(path).kernels[0].name == "k\\xffz"


def test_demangled_name_of_extdata_where_no_display_name_is(path: Path) -> None:
    change(
        path,
        "UPDATE rocpd_info_kernel_symbol@ SET display_name = NULL, "
        """extdata = '{"demangled_kernel_name": "f(int).kd"}'""",
    )
    assert one(path).kernels[0].name == "f(int)"


def test_two_guids_in_one_file_are_two_traces(tmp_path: Path) -> None:
    first = database(tmp_path / "a.db", suffixed=False, kernel="one")
    other = "0000bbbb-0000-0000-0000-000000000002"
    second = database(tmp_path / "b.db", guid=other, suffixed=False, kernel="two")
    with opened(first) as db:
        drop_views(db)
        db.execute("ATTACH ? AS other", (str(second),))
        tables = db.execute("SELECT name FROM other.sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in tables:
            if name.startswith("rocpd_"):
                db.execute(f"CREATE TABLE both AS SELECT * FROM {name}")
                db.execute(f"INSERT INTO both SELECT * FROM other.{name}")
                db.execute(f"DROP TABLE {name}")
                db.execute(f"ALTER TABLE both RENAME TO {name}")
    traces = read_traces([first])
    assert [t.kernels[0].name for t in traces] == ["one", "two"]
    assert [t.processes[0].guid for t in traces] == [GUID, other]
    for trace in traces:
        assert len(trace.dispatches) == 3
        assert trace.counters["SQ_WAVES"].total.tolist() == [1.0] * 3


def test_the_environment_is_never_read(path: Path) -> None:
    change(path, """UPDATE rocpd_info_process@ SET environment = '{"TOKEN": "s3cret"}'""")
    assert "s3cret" not in repr(one(path))


def test_virtual_gpu_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "7_results.db"
    with RocpdWriter(path, virtual=True) as db:
        db.process(pid=7, start=5, end=9)
    assert one(path).virtual


@pytest.mark.parametrize(
    ("architecture", "arch", "accum", "never", "expected"),
    [
        ("gfx942", 64, 8, False, (64, 8, 72)),
        ("gfx942", 128, 384, False, (256, 256, 512)),  # recorded; the code object says 256 + 256
        ("gfx90a", 100, 156, False, (None, None, 256)),
        ("gfx90a", 64, 0, True, (64, 0, 64)),
        ("gfx950", 92, 0, True, (None, None, 184)),
        ("gfx950", 92, 4, False, (92, None, 96)),
        ("gfx950", 92, 12, False, (92, 12, 104)),
        ("gfx942", 4, 4, False, (4, None, 8)),  # a granule is 8: no sign of AGPRs
        ("gfx908", 4, 4, False, (4, 4, 8)),
        ("gfx1100", 96, 0, True, (96, 0, 96)),
        ("gfx942", 0, 0, True, (None, None, None)),
    ],
)
def test_vgpr_counts_as_the_sdk_reports_them(
    architecture: str,
    arch: int,
    accum: int,
    never: bool,
    expected: tuple[int | None, int | None, int | None],
) -> None:
    counts = true_counts(architecture, arch, accum, never)
    assert (counts.arch, counts.accum, counts.total) == expected
    assert bool(counts.corrections) == (expected[:2] != (arch, accum) and expected[2] is not None)
