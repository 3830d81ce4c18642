"""Run a HIP program on the virtual GPU with every dispatch profiled by the models."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rocm_perf_lab.virtual.native import find_library_dir
from support.compilers import native_cxx

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Dispatch:
    kernel: str
    duration_ns: int
    cycles: int
    detailed_fraction: float
    sampling_error: float
    instructions: int
    counters: dict[str, float]  # summed over the hardware instances
    instances: dict[str, int]
    waves: list[dict[str, Any]]
    occupancy: int


def build_probe(folder: Path) -> Path:
    """tests/native/model_probe.cpp as a tools library, or a skip where nothing can build it."""
    compiler = native_cxx()
    if compiler is None:
        pytest.skip("no host C++ compiler for the probe: make native")
    target = folder / "libmodel_probe.so"
    source = REPOSITORY / "tests" / "native" / "model_probe.cpp"
    include = REPOSITORY / "native" / "gpu"
    flags = ["-std=c++20", "-O1", "-fno-sanitize=undefined", "-shared", "-fPIC", f"-I{include}"]
    subprocess.run([*compiler, *flags, str(source), "-o", str(target), "-ldl"], check=True)
    return target


def run(program: Path, *args: str, **settings: str) -> str:
    """What the program printed. `settings` become environment variables."""
    library = find_library_dir()
    assert library is not None
    kept = {k: v for k, v in os.environ.items() if k != "HSA_TOOLS_LIB"}
    done = subprocess.run(
        [str(program), *args],
        env={**kept, "LD_LIBRARY_PATH": str(library), **settings},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def profile_text(probe: Path, program: Path, *args: str, **settings: str) -> str:
    """What the probe wrote, as it is."""
    out = probe.parent / "probe.jsonl"
    run(program, *args, HSA_TOOLS_LIB=str(probe), MODEL_PROBE_OUT=str(out), **settings)
    return out.read_text()


def profile(probe: Path, program: Path, *args: str, **settings: str) -> list[Dispatch]:
    rows = [json.loads(s) for s in profile_text(probe, program, *args, **settings).splitlines()]
    assert rows, "no dispatch was profiled"
    return [
        Dispatch(
            kernel=row["kernel"],
            duration_ns=row["duration_ns"],
            cycles=row["cycles"],
            detailed_fraction=row["detailed_fraction"],
            sampling_error=row["sampling_error"],
            instructions=row["instructions"],
            counters={name: value for name, (value, _) in row["counters"].items()},
            instances={name: count for name, (_, count) in row["counters"].items()},
            waves=row["waves"],
            occupancy=row["occupancy"],
        )
        for row in rows
    ]
