"""`rocm-perf analyze` through the real command line: right numbers, and bad input told well."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rocm_perf_lab.trace.rocpd_writer import Argument, Call, Copy, Dispatch, RocpdWriter, Value
from support.cli import complaint, rocm_perf
from support.fake_rocprofv3 import MI300X

GUID = "00000000-0000-0000-0000-000000000001"

# One batched bf16 GEMM as MI300X counts it, per dispatch.
M, N, K, BATCH = 128, 512, 128, 128


@pytest.fixture
def analyze(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    return lambda *arguments: rocm_perf("analyze", *arguments, cwd=tmp_path)


def start(db: RocpdWriter) -> None:
    db.process(pid=7, command="./app", hostname="node")
    db.agent(4, "GPU", "gfx942", product="AMD Instinct MI300X", extdata=MI300X)
    db.code_object(1, 4)


def gemm(path: Path, *, counters: bool = False) -> Path:
    with RocpdWriter(path, guid=GUID if not counters else GUID[:-1] + "2") as db:
        start(db)
        db.kernel(1, "bmm(bf16*, bf16*, float*)", arch_vgprs=128, accum_vgprs=128)
        db.kernel(2, "__amd_rocclr_fillBufferAligned")
        values = {
            "SQ_INSTS_VALU_MFMA_MOPS_BF16": 2 * M * N * K * BATCH / 512,
            "TCC_EA0_WRREQ_sum": 262144,
            "TCC_EA0_WRREQ_64B_sum": 262144,
        }
        counted = [Value(name, value) for name, value in values.items()] if counters else []
        stream = [Argument("hipStream_t", "stream", "0x0")]
        db.calls(
            [
                Call("hipLaunchKernel", 1_000, 2_000, correlation=1, args=stream),
                Call("hipLaunchKernel", 2_100, 3_000, correlation=2, args=stream),
                Call("hipDeviceSynchronize", 3_100, 60_000, correlation=3),
            ]
        )
        db.dispatches(
            [
                Dispatch(2, 4, 5_000, 9_000, correlation=1, values=counted),
                Dispatch(
                    1,
                    4,
                    10_000,
                    50_000,
                    correlation=2,
                    values=counted,
                    grid=(65536, 4, 1),
                    lds=32768,
                ),
            ]
        )
        db.copies([Copy("MEMORY_COPY_DEVICE_TO_HOST", 51_000, 55_000, 4096)])
    return path


def result(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    assert done.returncode == 0, done.stderr
    document: dict[str, object] = json.loads(done.stdout)
    return document


def latest(tmp_path: Path, name: str) -> dict[str, list[dict[str, object]]]:
    document: dict[str, list[dict[str, object]]] = json.loads(
        (tmp_path / ".rocpd_profile" / "latest" / name).read_text()
    )
    return document


def test_one_database_gives_times_occupancy_and_the_critical_path(
    analyze: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    document = result(analyze(gemm(tmp_path / "1_results.db"), "--json"))
    assert document["kernel"] == {
        "name": "bmm(bf16*, bf16*, float*)",
        "grid": [65536, 4, 1],
        "block": [256, 1, 1],
    }
    assert document["runtime_ms"] == pytest.approx(0.040)
    occupancy = document["occupancy"]
    assert isinstance(occupancy, dict)
    assert (occupancy["limiter"], occupancy["waves_per_simd"]) == ("vgpr", 2.0)
    assert document["timeline"] is not None


def test_flops_and_bytes_are_exact(
    analyze: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    gemm(tmp_path / "1_results.db")
    gemm(tmp_path / "2_results.db", counters=True)
    result(analyze(tmp_path, "--json"))
    kernels = {str(k["kernel"]): k for k in latest(tmp_path, "roofline.json")["kernels"]}
    flops = kernels["bmm(bf16*, bf16*, float*)"]["flops_by_type"]
    assert isinstance(flops, dict)
    assert flops["mfma_bf16"]["value"] == 2 * M * N * K * BATCH
    levels = kernels["__amd_rocclr_fillBufferAligned"]["bytes_by_level"]
    assert isinstance(levels, dict)
    assert levels["fabric"]["write_bytes"] == 16_777_216


def test_the_same_input_gives_the_same_bytes(
    analyze: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    database = gemm(tmp_path / "1_results.db")
    first = analyze(database, "--json")
    files = {p.name: p.read_bytes() for p in (tmp_path / ".rocpd_profile/latest/").iterdir()}
    second = analyze(database, "--json")
    assert first.stdout == second.stdout
    again = {p.name: p.read_bytes() for p in (tmp_path / ".rocpd_profile/latest/").iterdir()}
    assert files == again
    assert set(files) == {
        "profile.json",
        "roofline.json",
        "dag.json",
        "analysis.json",
        "timeline.json",
    }


def test_the_input_is_left_alone(
    analyze: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    database = gemm(data / "1_results.db")
    before = (database.read_bytes(), database.stat().st_mtime_ns)
    assert analyze(database).returncode == 0
    assert (database.read_bytes(), database.stat().st_mtime_ns) == before
    assert [p.name for p in data.iterdir()] == ["1_results.db"]


def test_a_pattern_the_shell_left_alone_is_expanded(
    analyze: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    folder = tmp_path / "out" / "node"
    folder.mkdir(parents=True)
    gemm(folder / "1_results.db")
    assert analyze("out/**/*_results.db", "--quiet").stdout == "0.04\n"
    assert "no file matches" in complaint(analyze("none/**/*_results.db"), 3)


def edit(path: Path, *statements: str) -> Path:
    with sqlite3.connect(path) as db:
        for statement in statements:
            db.execute(statement.replace("GUID", GUID.replace("-", "_")))
    db.close()
    return path


BAD: dict[str, Callable[[Path], object]] = {
    "missing": lambda p: None,
    "folder without traces": lambda p: p.mkdir(),
    "zero bytes": lambda p: p.touch(),
    "text": lambda p: p.write_text("hello world\n"),
    "other SQLite": lambda p: edit(p, "CREATE TABLE t (x)"),
    "truncated": lambda p: p.write_bytes(gemm(p).read_bytes()[:9000]),
    "no dispatch table": lambda p: edit(
        gemm(p), "DROP VIEW rocpd_kernel_dispatch", "DROP TABLE rocpd_kernel_dispatch_GUID"
    ),
    "no dispatch": lambda p: edit(gemm(p), "DELETE FROM rocpd_kernel_dispatch_GUID"),
    "all timestamps backwards": lambda p: edit(
        gemm(p), "UPDATE rocpd_kernel_dispatch_GUID SET start = end + 1"
    ),
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_bad_input_is_one_sentence_and_exit_code_3(
    analyze: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, case: str
) -> None:
    path = tmp_path / "x_results.db"
    BAD[case](path)
    assert path.name in complaint(analyze(path, "--json"), 3)
    assert not (tmp_path / ".rocpd_profile" / "latest").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file(
    analyze: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = gemm(tmp_path / "1_results.db")
    path.chmod(0)
    assert "cannot be read" in complaint(analyze(path), 3)


def test_a_locked_database_is_told_or_read(
    analyze: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = gemm(tmp_path / "1_results.db")
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        assert "lock" in complaint(analyze(path, "--json"), 3)
    finally:
        holder.close()


def test_hostile_kernel_names_do_not_reach_the_terminal(
    analyze: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "1_results.db"
    with RocpdWriter(path, guid=GUID) as db:
        start(db)
        db.kernel(1, "evil\x1b[2J\x07[bold]name\n")
        db.dispatches([Dispatch(1, 4, 0, 1000)])
    done = analyze(path)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout and "\x07" not in done.stdout
    assert "[bold]name" in done.stdout


def test_an_empty_thread_trace_is_explained(
    analyze: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    database = gemm(tmp_path / "1_results.db")
    ui = tmp_path / "ui_output_agent_5600_dispatch_2"
    ui.mkdir()
    (ui / "code.json").write_text('{"code": null, "version": "3"}')
    done = analyze(database, "--att", tmp_path, "--json")
    result(done)
    (trace,) = latest(tmp_path, "thread_trace.json")["traces"]
    assert trace["usable"] is False
    assert trace["reason"]


def test_a_typo_in_an_option(
    analyze: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    done = analyze(gemm(tmp_path / "1_results.db"), "--jsn")
    assert done.returncode == 2
    assert "--json" in done.stderr
