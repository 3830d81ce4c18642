"""Exports opened by readers that are not ours."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rocm_perf_lab.report.exports.slices import Slice, without_overlap
from support.cli import complaint, rocm_perf
from support.databases import write_database


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("export")
    write_database(found / "a.db", {"gemm": [50_000] * 5, "copy<x>": [10_000] * 5}, streams=2)
    return found


def exported(folder: Path, kind: str) -> Path:
    done = rocm_perf("export", "a.db", "--format", kind, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.strip()


def test_chrome_events_are_whole_and_the_path_has_arrows(folder: Path) -> None:
    events = json.loads(exported(folder, "chrome").read_text())["traceEvents"]
    kinds = Counter(e["ph"] for e in events)
    assert sum(e["ph"] == "X" and e["cat"] == "kernel" for e in events) == 10
    assert kinds["s"] == kinds["f"] >= 2
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    for end in (e for e in events if e["ph"] == "f"):
        assert starts[end["id"]]["ts"] <= end["ts"]


def test_perfettos_own_definition_reads_the_trace(folder: Path) -> None:
    """PyPI's `perfetto` brings the format's descriptor; its trace processor is a download, so the
    packets are read by protobuf itself."""
    descriptor = pytest.importorskip(
        "perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="perfetto is not installed"
    )
    trace: Any = descriptor.Trace()
    trace.ParseFromString(exported(folder, "perfetto").read_bytes())
    events = [p for p in trace.packet if p.HasField("track_event")]
    begins = [p.track_event for p in events if p.track_event.type == 1]
    assert Counter(e.name for e in begins if "kernel" in e.categories) == {"gemm": 5, "copy<x>": 5}
    assert len(begins) * 2 == len(events)
    times = [p.timestamp for p in events]
    assert times == sorted(times)
    leaving = [f for e in begins for f in e.flow_ids]
    assert leaving and sorted(leaving) == sorted(f for e in begins for f in e.terminating_flow_ids)
    tracks = {p.track_descriptor.uuid for p in trace.packet if p.HasField("track_descriptor")}
    assert {e.track_uuid for e in begins} <= tracks


def test_csv_has_every_dispatch(folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(folder, "csv").read_text())))
    assert Counter(r["name"] for r in rows) == {"gemm": 5, "copy<x>": 5}
    assert sum(int(r["duration_ns"]) for r in rows) == 300_000


def test_parquet_is_read_by_arrow(folder: Path) -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    table = parquet.read_table(exported(folder, "parquet"))
    assert table.num_rows == 10 and "duration_ns" in table.column_names


def test_stacks_need_a_thread_trace(folder: Path) -> None:
    done = rocm_perf("export", "a.db", "--format", "speedscope", cwd=folder)
    assert "thread trace" in complaint(done, 3)


def test_slices_that_overlap_go_to_tracks_of_their_own() -> None:
    rows = [(0, 10, "a"), (5, 10, "b"), (6, 2, "c"), (15, 5, "d")]
    placed = without_overlap(Slice(s, d, n, "stream", "kernel") for s, d, n in rows)
    assert {s.name: s.track for s in placed} == {
        "a": "stream",
        "b": "stream (2)",
        "c": "stream",
        "d": "stream",
    }
