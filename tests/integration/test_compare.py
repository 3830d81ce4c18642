"""`rocm-perf compare` through the real command line: runs, databases, timings, gates, formats."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from support.cli import complaint, rocm_perf
from support.databases import write_database


def timings(path: Path, *lists: list[float], command: str = "./app") -> Path:
    results = [{"command": f"{command} {i}", "times": times} for i, times in enumerate(lists)]
    path.write_text(json.dumps({"results": results}))
    return path


def around(mean: float, count: int, seed: int) -> list[float]:
    rng = random.Random(seed)
    return [mean * (1 + rng.gauss(0, 0.01)) for _ in range(count)]


def launches(mean_ns: int, count: int, seed: int) -> list[int]:
    return [round(x) for x in around(mean_ns, count, seed)]


def test_timings_pass_and_fail_a_gate(tmp_path: Path) -> None:
    timings(tmp_path / "a.json", around(0.1, 30, 1))
    timings(tmp_path / "b.json", around(0.12, 30, 2))
    gate = ("--fail-on", "runtime>5%")
    slower = rocm_perf("compare", "a.json", "b.json", *gate, cwd=tmp_path)
    assert slower.returncode == 1, slower.stderr
    assert "slower" in slower.stdout and "runtime>5%: FAILED" in slower.stdout
    faster = rocm_perf("compare", "b.json", "a.json", *gate, cwd=tmp_path)
    assert faster.returncode == 0 and "faster" in faster.stdout


def test_databases_kernel_by_kernel(tmp_path: Path) -> None:
    write_database(
        tmp_path / "a.db", {"gemm": launches(50_000, 30, 1), "copy": launches(10_000, 30, 2)}
    )
    write_database(
        tmp_path / "b.db",
        {"gemm": launches(40_000, 30, 3), "copy": launches(10_000, 30, 4), "new": [9_000] * 3},
        vgprs=96,
    )
    done = rocm_perf("compare", "a.db", "b.db", "--json", "--fail-on", "vgprs>0", cwd=tmp_path)
    assert done.returncode == 1
    document = json.loads(done.stdout)
    rows = {k["kernel"]: k for k in document["kernels"]}
    assert rows["gemm"]["time"]["verdict"] == "faster"
    assert rows["gemm"]["time"]["speedup"] == pytest.approx(1.25, rel=0.02)
    assert rows["copy"]["time"]["verdict"] == "same"
    assert rows["new"]["present"] == "b" and rows["new"]["time"] is None
    changes = {c["name"]: (c["a"], c["b"]) for c in rows["gemm"]["changes"]}
    assert changes["VGPRs"] == (32, 96)
    assert "occupancy" in changes
    assert document["gates"][0]["outcome"] == "failed"


def test_runs_are_found_by_name_and_as_latest(tmp_path: Path) -> None:
    for name, mean in (("one.db", 50_000), ("two.db", 60_000)):
        write_database(tmp_path / name, {"gemm": launches(mean, 30, mean)})
        assert rocm_perf("analyze", name, "--quiet", cwd=tmp_path).returncode == 0
    first = sorted((tmp_path / ".rocpd_profile").glob("2*"))[0].name
    done = rocm_perf("compare", first, "latest", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runtime"]["verdict"] == "slower"


def test_the_same_database_is_the_same(tmp_path: Path) -> None:
    write_database(tmp_path / "a.db", {"gemm": [5000, 5100, 5200]})
    refused = complaint(rocm_perf("compare", "a.db", "a.db", "--fail-on", "runtime<5%"), 2)
    assert "holds of two runs that are the same" in refused
    done = rocm_perf("compare", "a.db", "a.db", "--fail-on", "kernel>0%", cwd=tmp_path)
    assert done.returncode == 0 and "as fast as A" in done.stdout


def test_markdown_and_annotations_carry_names_as_text(tmp_path: Path) -> None:
    evil = "k<script>|`x`\n::error::boo"
    write_database(tmp_path / "a.db", {evil: launches(50_000, 30, 1)})
    write_database(tmp_path / "b.db", {evil: launches(60_000, 30, 2)})
    done = rocm_perf("compare", "a.db", "b.db", "--format", "markdown", cwd=tmp_path)
    row = next(line for line in done.stdout.splitlines() if "script" in line)
    assert row.startswith("| `k<script>\\|'x'?::error::boo`")
    github = rocm_perf(
        *("compare", "a.db", "b.db", "--format", "github", "--fail-on", "kernel>5%"),
        cwd=tmp_path,
        env={"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")},
    )
    assert github.returncode == 1
    assert [line.split(" ")[0] for line in github.stdout.splitlines()] == ["::error", "::notice"]
    assert "| kernel |" in (tmp_path / "summary.md").read_text()


def test_an_undecided_gate_warns_and_fails_only_when_strict(tmp_path: Path) -> None:
    timings(tmp_path / "a.json", around(0.1, 30, 1))
    timings(tmp_path / "b.json", around(0.105, 30, 2))
    gate = ("--fail-on", "runtime>5%")
    done = rocm_perf("compare", "a.json", "b.json", *gate, cwd=tmp_path)
    assert done.returncode == 0 and "undecided" in done.stdout
    assert rocm_perf("compare", "a.json", "b.json", *gate, "--strict", cwd=tmp_path).returncode == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "neither"),
        ('{"results": []}', "holds no timings"),
        ('{"results": [{"times": []}]}', "has no times"),
        ('{"results": [{"times": [-1]}]}', "not a time in seconds"),
        ('{"results": [{"times": ["1"]}]}', "not a time in seconds"),
        ('{"results": [{"times": [1e999]}]}', "not a time in seconds"),
    ],
)
def test_timings_that_are_none(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "bad.json").write_text(content)
    said = complaint(rocm_perf("compare", "bad.json", "bad.json", cwd=tmp_path), 3)
    assert says in said or "JSON" in said


def test_what_is_not_there_is_said_with_what_to_do(tmp_path: Path) -> None:
    assert "no run" in complaint(rocm_perf("compare", "x", "y", cwd=tmp_path), 3)
    timings(tmp_path / "a.json", [0.1] * 3)
    write_database(tmp_path / "a.db", {"gemm": [5000]})
    said = complaint(rocm_perf("compare", "a.json", "a.db", cwd=tmp_path), 3)
    assert "do not compare" in said
