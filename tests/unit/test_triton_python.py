"""Which Python `autotune --triton` runs a program with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rocm_perf_lab.autotune import triton
from rocm_perf_lab.errors import MissingTool


def stand_in(folder: Path, name: str, has_triton: bool) -> Path:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\nexit {0 if has_triton else 1}\n")
    program.chmod(0o755)
    return program


def test_it_is_the_first_with_triton(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    users = stand_in(tmp_path / "users", "python", True)
    bare = stand_in(tmp_path / "bare", "python", False)
    other = stand_in(tmp_path / "bare", "python3", True)
    own = stand_in(tmp_path / "own", "python", True)
    monkeypatch.setattr(sys, "executable", str(own))
    for path, chosen in ((users, users), (bare, other), (tmp_path / "x", own)):
        monkeypatch.setenv("PATH", str(path.parent))
        assert triton.python() == str(chosen)
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    monkeypatch.setattr(sys, "executable", str(bare))
    with pytest.raises(MissingTool, match="no Python with Triton"):
        triton.python()
