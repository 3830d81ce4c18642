"""AMD's Python bindings of HIP on the virtual GPU."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from rocm_perf_lab.virtual.native import find_library_dir
from support.cli import rocm_perf

PROGRAM = Path(__file__).parent / "hip_python_programs" / "examples.py"


def test_what_its_documentation_shows_runs(tmp_path: Path) -> None:
    if importlib.util.find_spec("hip") is None:
        pytest.skip("needs hip-python: pip install hip-python")
    if find_library_dir() is None:
        pytest.skip("the virtual GPU is not built (make native)")
    done = rocm_perf("run", "--device", "virtual", sys.executable, PROGRAM, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert done.stdout.count("ok ") == 4
