"""AMD's Python bindings of HIP on the virtual GPU."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from rocm_perf_lab.virtual.native import find_library_dir
from support.cli import rocm_perf

PROGRAM = Path(__file__).parent / "hip_python_programs" / "examples.py"


@pytest.fixture(autouse=True)
def need_hip_python() -> None:
    if importlib.util.find_spec("hip") is None:
        pytest.skip("needs hip-python: pip install hip-python")
    if find_library_dir() is None:
        pytest.skip("the virtual GPU is not built (make native)")


def test_what_its_documentation_shows_runs(tmp_path: Path) -> None:
    done = rocm_perf("run", "--device", "virtual", sys.executable, PROGRAM, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert done.stdout.count("ok ") == 4


def test_a_launch_is_captured_and_replayed(tmp_path: Path) -> None:
    words = ["capture", "--device", "virtual", "--kernel", "^scale$", "--out", "scale", "--"]
    done = rocm_perf(*words, sys.executable, PROGRAM, cwd=tmp_path)
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr[-2000:]
    replayed = rocm_perf("replay", "full-vm", "scale", "--iterations", "2", cwd=tmp_path)
    assert "bit for bit as captured (4 kB compared)" in replayed.stdout, replayed.stderr
