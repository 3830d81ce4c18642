"""Build the programs of this folder, and run them on a virtual GPU."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from rocm_perf_lab.errors import MissingTool, PerfLabError


def build(name: str, folder: Path) -> Path:
    """`name`.hip as a program in `folder`."""
    target = folder / name
    source = str(resources.files("rocm_perf_lab.validate") / f"{name}.hip")
    command = [sys.executable, "-m", "rocm_perf_lab", "hipcc", "-O3", source, "-o", str(target)]
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
