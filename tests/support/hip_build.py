"""Build and run HIP programs on the virtual GPU, or skip with the reason."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from rocm_perf_lab.device.toolchain import find_toolchain, real_hipcc, runtime_library_dir
from rocm_perf_lab.errors import MissingTool
from support.cli import rocm_perf

REPOSITORY = Path(__file__).resolve().parents[2]


def need_compiler() -> None:
    try:
        find_toolchain()
    except MissingTool as error:
        pytest.skip(f"{error.message}: {error.hint}")


def need_virtual_gpu() -> None:
    need_compiler()
    if runtime_library_dir() is None:
        pytest.skip("the virtual GPU's runtime is not built: make native")
    if real_hipcc() is not None:
        pytest.skip("ROCm's hipcc is installed and would be used instead")


def hipcc(
    *args: str | Path, cwd: Path | None = None, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """`rocm-perf hipcc`, as a user calls it."""
    done = rocm_perf("hipcc", *args, cwd=cwd, timeout=300)
    assert done.returncode == code, f"hipcc {args}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def build(folder: Path, text: str, flags: Sequence[str] = (), name: str = "program") -> Path:
    source, target = folder / f"{name}.cpp", folder / name
    source.write_text(text)
    hipcc("-O2", *flags, source, "-o", target)
    return target


def run(
    program: Path, *args: str, timeout: float = 300, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *args],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, **(environment or {})},
    )
