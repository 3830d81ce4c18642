"""Programs built once and profiled on the virtual GPU, through the commands a user types."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rocm_perf_lab.virtual import native
from support.cli import rocm_perf
from support.hip_build import REPOSITORY, hipcc, need_virtual_gpu

PROGRAMS = REPOSITORY / "tests" / "integration" / "programs"


def need_profiler() -> None:
    need_virtual_gpu()
    if not (native.library_dir() / "librocm_perf_record.so").exists():
        pytest.skip("the recorder is not built: make native")


def build(source: Path, folder: Path, *flags: str) -> Path:
    need_profiler()
    target = folder / source.stem
    hipcc("-O2", *flags, source, "-o", target)
    return target


def standin(
    *arguments: str | Path, cwd: Path, env: dict[str, str] | None = None, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """The stand-in as its own program."""
    done = subprocess.run(
        [sys.executable, "-m", "rocm_perf_lab.virtual.rocprofv3", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def databases(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*_results.db"))


def query(path: Path, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        return connection.execute(sql, parameters).fetchall()


def profile(program: Path, cwd: Path, *options: str, args: Sequence[str] = ()) -> Path:
    """`rocm-perf profile` on the virtual MI300X; the run's folder."""
    words = ("profile", str(program), "--device", "virtual", "--runs", "1", "--json", *options)
    done = rocm_perf(*words, *(("--", *args) if args else ()), cwd=cwd)
    assert done.returncode == 0, done.stderr
    return (cwd / ".rocpd_profile" / "latest").resolve()


def document(folder: Path, name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / name).read_text())
    return loaded
