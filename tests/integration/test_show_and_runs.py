"""What is kept can be listed, shown again and removed; nothing else is ever touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocm_perf_lab.doctor import examine
from support.cli import complaint, rocm_perf
from support.databases import write_database


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    for i in range(3):
        write_database(tmp_path / "a.db", {"gemm": [5000 + i] * 3})
        assert rocm_perf("analyze", "a.db", "--quiet", cwd=tmp_path).returncode == 0
        (tmp_path / "a.db").unlink()
    return tmp_path


def test_runs_are_listed_shown_and_pruned(kept: Path) -> None:
    listed = json.loads(rocm_perf("runs", "--json", cwd=kept).stdout)["runs"]
    assert len(listed) == 3 and [r["latest"] for r in listed] == [False, False, True]
    shown = rocm_perf("show", "--kernels", "--path", cwd=kept)
    assert "gemm" in shown.stdout and "If it were faster" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80
    mine = kept / ".rocpd_profile" / "20200101T000000Z-mine"
    mine.mkdir()
    (mine / "notes.txt").write_text("not a run")
    dry = rocm_perf("runs", "prune", "--keep", "1", "--dry-run", cwd=kept)
    assert dry.stdout.count("would remove") == 2
    assert rocm_perf("runs", "prune", "--keep", "1", cwd=kept).stdout.count("removed") == 2
    assert len(json.loads(rocm_perf("runs", "--json", cwd=kept).stdout)["runs"]) == 1
    assert (mine / "notes.txt").exists()
    assert rocm_perf("show", cwd=kept).returncode == 0
    assert rocm_perf("runs", "prune", "--keep", "0", cwd=kept).returncode == 0
    assert "no run is kept" in complaint(rocm_perf("show", cwd=kept), 3)


def test_what_a_run_does_not_have_is_said(kept: Path) -> None:
    assert "no thread trace" in complaint(rocm_perf("show", "--lines", cwd=kept), 3)
    assert "say what to remove" in complaint(rocm_perf("runs", "prune", cwd=kept), 2)


def test_doctor_says_what_works_and_never_shows_a_key(tmp_path: Path) -> None:
    secret = "sk-0123456789"
    done = rocm_perf("doctor", "--json", cwd=tmp_path, env={"OPENAI_API_KEY": secret})
    document = json.loads(done.stdout)
    able = document["can"]
    runs = able["profile on an AMD GPU"] or able["profile on the virtual GPU"]
    assert done.returncode == (0 if runs else 4)
    assert secret not in done.stdout + done.stderr
    assert all(check["fix"] for check in document["checks"] if check["status"] != "ok")


def test_doctor_finds_the_decoder_where_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "librocprof-trace-decoder.so").write_text("")
    found = {c.name: c for c in examine({"ROCPROF_ATT_LIBRARY_PATH": str(tmp_path)}).checks}
    assert found["thread-trace decoder"].status == "ok"
    lost = {c.name: c for c in examine({}).checks}
    assert lost["thread-trace decoder"].status == "warning" and lost["LLM endpoint"].fix
