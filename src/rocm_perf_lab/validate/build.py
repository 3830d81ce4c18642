"""Build the programs of this folder, and run them on a virtual GPU."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from rocm_perf_lab.errors import MissingTool, PerfLabError
from rocm_perf_lab.trace.read import read_traces
from rocm_perf_lab.trace.trace import Trace
from rocm_perf_lab.virtual import device_specs, native


def architecture_of(device: str) -> str:
    (architecture,) = {spec.architecture for spec in device_specs.specs() if spec.name == device}
    return architecture


def build(
    name: str, folder: Path, device: str = device_specs.DEFAULT, source: Path | None = None
) -> Path:
    """`name`.hip, or what `source` holds, as a program for `device` in `folder`."""
    target = folder / name
    here = resources.files("rocm_perf_lab.validate")
    text = source or here / f"{name}.hip"
    target_option = f"--offload-arch={architecture_of(device)}"
    hipcc = [sys.executable, "-m", "rocm_perf_lab", "hipcc", target_option]
    command = [*hipcc, "-O3", "-I", str(here), str(text), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == MissingTool.exit_code:
        raise MissingTool(
            "the probes cannot be built: there is no compiler for HIP",
            "install clang 19 and lld; `rocm-perf doctor` says what is missing",
        )
    if done.returncode:
        raise PerfLabError(f"the probes do not compile: {done.stderr.strip()[-500:]}")
    return target


def output(command: Sequence[str | Path], environment: Mapping[str, str]) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        how = done.stderr.strip()[-500:]
        raise PerfLabError(f"{Path(words[0]).name} ended with {done.returncode}: {how}")
    return done.stdout


def recorded(
    words: Sequence[str | Path], device: str, folder: Path, counters: Sequence[str] = ()
) -> Trace:
    """What a profiler records of a program: its launches, and counters of them."""
    out = folder / "recorded"
    profiler = [sys.executable, "-m", "rocm_perf_lab.virtual.rocprofv3", "--kernel-trace"]
    counted = ["--pmc", *counters] if counters else []
    environment = native.environment(device, os.environ)
    output([*profiler, *counted, "-d", out, "-o", "run", "--", *words], environment)
    (trace,) = read_traces(out.rglob("*.db"))
    shutil.rmtree(out)
    return trace
