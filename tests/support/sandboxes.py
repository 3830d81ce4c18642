"""Each way to be confined, for tests of what it holds."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

import pytest

from rocm_perf_lab.optimize.sandbox import Ended, Kind, Limits, Sandbox
from support import machine

SMALL = Limits(
    wall_s=30, processes=40, memory_bytes=400 << 20, output_bytes=1 << 20, disk_bytes=96 << 20
)
# Each mechanism alone; Landlock with what namespaces can add, and with none.
MECHANISMS: dict[str, tuple[Kind, bool]] = {
    "bubblewrap": ("bubblewrap", True),
    "landlock": ("landlock", True),
    "landlock only": ("landlock", False),
}


@functools.lru_cache(maxsize=3)
def works(kind: Kind, namespaces: bool) -> bool:
    try:
        command = [sys.executable, "-c", ""]  # wherever PATH leads
        words = Sandbox(kind, Path(sys.prefix), namespaces=namespaces).wrap(command)
        return os.spawnvp(os.P_WAIT, words[0], words) == 0
    except OSError:
        return False


@pytest.fixture(params=list(MECHANISMS))
def box(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    kind, namespaces = MECHANISMS[request.param]
    # The tests' own folder of programs is not among those that a sandbox shows.
    monkeypatch.setenv("PATH", os.environ.get(machine.SHOWN, os.environ["PATH"]))
    if not works(kind, namespaces):
        pytest.skip(f"{kind} does not work on this machine")
    work = tmp_path / "work"
    work.mkdir()
    return Sandbox(kind, work, limits=SMALL, namespaces=namespaces)


def python(box: Sandbox, code: str) -> Ended:
    return box.run([sys.executable, "-c", code])
