"""Build and run HIP programs on the virtual GPU, or skip with the reason."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from rocm_perf_lab.device.toolchain import find_toolchain, real_hipcc, runtime_library_dir
from rocm_perf_lab.errors import MissingTool
from support.cli import rocm_perf

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED = "ROCM_PERF_TEST_BUILDS"  # a folder that the workers of a run have in common


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
    """`rocm-perf hipcc`, as a user calls it. What is made of the repository's own files alone is
    made once in a run of the tests, for all that want it."""
    words = [str(word) for word in args]
    made = None if cwd or code else _made_once(words)
    if made is None:
        return _compiled(words, cwd, code)
    at = words.index("-o") + 1
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            words[at], target = str(made), words[at]
            done = _compiled(words, cwd, code)
            words[at] = target
        else:
            done = subprocess.CompletedProcess(words, 0, "", "")
    shutil.copy2(made, words[at])
    return done


def _compiled(words: list[str], cwd: Path | None, code: int) -> subprocess.CompletedProcess[str]:
    done = rocm_perf("hipcc", *words, cwd=cwd)
    assert done.returncode == code, f"hipcc {words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def _made_once(words: list[str]) -> Path | None:
    """Where the file that these words make is shared; None: it depends on what a test wrote."""
    if "-o" not in words or SHARED not in os.environ:
        return None
    at = words.index("-o")
    rest = words[:at] + words[at + 2 :]
    own = [word for word in rest if os.sep in word]
    if not own or not all(Path(w.removeprefix("-I")).is_relative_to(REPOSITORY) for w in own):
        return None
    told = [os.environ.get(n, "") for n in ("ROCM_PERF_TOOLCHAIN", "ROCM_PERF_DEVICE_LIB", "PATH")]
    name = hashlib.sha256("\0".join([*rest, *told]).encode()).hexdigest()[:24]
    return Path(os.environ[SHARED]) / name


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
