"""HIP programs and the soak, with the virtual GPU built for a sanitizer: `make sanitize`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from support.hip_build import REPOSITORY, hipcc, need_virtual_gpu
from support.sanitizers import SANITIZERS, command
from support.soak import build

PROGRAMS = REPOSITORY / "tests" / "native" / "hip"
ROUNDS = 100

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_virtual_gpu()
    return tmp_path_factory.mktemp("sanitized")


def sanitized(name: str, *words: str | Path) -> None:
    sanitizer = SANITIZERS[name]
    sanitizer.built("all")
    done = subprocess.run(
        command(*words),
        env={**os.environ, **sanitizer.preloaded()},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-8000:]
    assert "Sanitizer" not in done.stderr, done.stderr[-8000:]


@pytest.mark.parametrize("name", SANITIZERS)
@pytest.mark.parametrize("program", ["streams", "graphs", "memory"])
def test_hip_programs_under_the_sanitizers(folder: Path, name: str, program: str) -> None:
    target = folder / program
    if not target.exists():
        hipcc("-O2", "-g", "-I", PROGRAMS, PROGRAMS / f"{program}.hip", "-o", target)
    sanitized(name, target)


@pytest.mark.parametrize("name", SANITIZERS)
def test_the_soak_under_the_sanitizers(folder: Path, name: str) -> None:
    program, module = build(folder)
    sanitized(name, program, str(ROUNDS), "4", module)
