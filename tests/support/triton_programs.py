"""Running Triton programs in the tests: their own process, one cache of compiled kernels."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocm_perf_lab.virtual.native import find_library_dir

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "integration" / "triton_programs"
EXAMPLES = ROOT / "examples" / "triton"


def need_triton() -> None:
    if importlib.util.find_spec("triton") is None:
        pytest.skip("needs Triton: make triton")
    if find_library_dir() is None:
        pytest.skip("the virtual GPU is not built (make native)")


def run_python(
    cache: Path, *words: str | Path, code: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """`python -W ignore WORDS` on the virtual MI300X; kernels are compiled into `cache`."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *map(str, words)],
        env={**os.environ, "ROCM_PERF_DEVICE": "virtual:mi300x", "TRITON_CACHE_DIR": str(cache),
             **environment},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout[-3000:] + done.stderr[-3000:]
    return done
