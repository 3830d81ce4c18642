"""Build the native test programs and their device code, or skip with the reason."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rocm_perf_lab.device.toolchain import Toolchain, find_toolchain
from rocm_perf_lab.errors import MissingTool
from support import machine

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCES = REPOSITORY / "tests" / "native"


def programs(
    tree: str = "native", options: Sequence[str] = (), target: str = "native_tests"
) -> Path:
    """The folder with the built test programs."""
    if importlib.util.find_spec("scikit_build_core") is None:
        pytest.skip("scikit-build-core is not installed: make setup")
    folder = REPOSITORY / "build" / tree
    backend = REPOSITORY / "native" / "build_backend.py"
    command = [sys.executable, str(backend), "--build-dir", str(folder)]
    command += ["-DRPL_NATIVE_TESTS=ON", *options, "--target", target]
    # By the compiler that built the libraries: with another, all would be built anew.
    env = {**os.environ, "PATH": machine.path()}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=1800, env=env
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return folder / "tests"


def device_compiler() -> Toolchain:
    try:
        return find_toolchain()
    except MissingTool as error:
        pytest.skip(f"{error.message}: {error.hint}")


def code_object(folder: Path, arch: str = "gfx942", version: int = 5, dwarf: int = 5) -> Path:
    """tests/native/kernels.c for one architecture and code object version."""
    toolchain = device_compiler()
    target = folder / f"kernels_{arch}_v{version}_d{dwarf}.co"
    obj = target.with_suffix(".o")
    compile_ = [
        *toolchain.clang, "-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", "-nogpulib", "-O2",
        f"-gdwarf-{dwarf}", f"-mcode-object-version={version}", "-ffreestanding", "-Wno-everything",
        "-c", "kernels.c", "-o", str(obj),
    ]  # fmt: skip
    link = [*toolchain.lld, "-shared", str(obj), "-o", str(target)]
    for command in (compile_, link):
        done = subprocess.run(command, cwd=SOURCES, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return target
