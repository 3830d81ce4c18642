"""What killed processes left is removed by the next one, and nothing else is."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocm_perf_lab import scratch


@pytest.fixture
def dead() -> int:
    """The id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_removes_what_dead_writers_of_it_left(tmp_path: Path, dead: int) -> None:
    ours = tmp_path / f".k.cpp.{dead}-abc"
    others = [
        f".k.cpp.{os.getpid()}-abc",  # of somebody who lives
        f".other.cpp.{dead}-abc",  # of another file
        ".k.cpp.swp",  # an editor's
        ".k.cpp.abcdefgh",
    ]
    for name in (ours.name, *others):
        (tmp_path / name).write_text("half")
    with scratch.replacing(tmp_path / "k.cpp") as file:
        assert len(names(tmp_path)) == len(others) + 1
        file.write(b"whole")
    assert names(tmp_path) == sorted(["k.cpp", *others])
    assert (tmp_path / "k.cpp").read_text() == "whole"


def test_what_another_machine_holds_is_left(tmp_path: Path, dead: int) -> None:
    """Its process id says nothing here; its lock does, on a file system that both share."""
    held = tmp_path / f".k.cpp.{dead}-abc"
    with held.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        scratch.sweep(".k.cpp.", tmp_path)
        assert held.exists()
    scratch.sweep(".k.cpp.", tmp_path)
    assert not held.exists()


def test_folders_and_links_go_and_nothing_is_followed(tmp_path: Path, dead: int) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    (tmp_path / f".partial-{dead}-link").symlink_to(kept)
    (tmp_path / f".partial-{dead}-run").mkdir()
    (tmp_path / f".partial-{dead}-run" / "into").symlink_to(kept)
    with scratch.folder(".partial-", tmp_path) as made:
        assert names(tmp_path) == [made.name, "kept"]
    assert names(tmp_path) == ["kept"] and (kept / "file").read_text() == "x"


def test_a_file_that_was_not_finished_takes_no_place(tmp_path: Path) -> None:
    target = tmp_path / "k.cpp"
    target.write_text("before")
    with pytest.raises(KeyboardInterrupt), scratch.replacing(target, 0o644) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert names(tmp_path) == ["k.cpp"] and target.read_text() == "before"
    with scratch.replacing(target, 0o640) as file:
        file.write(b"after")
    assert target.read_text() == "after" and target.stat().st_mode & 0o777 == 0o640


def test_a_number_that_another_process_has_by_now_protects_nothing(tmp_path: Path) -> None:
    """In a container numbers start anew: ours may be that of a run killed in the last one."""
    left = tmp_path / f".k.cpp.{os.getpid()}-abc"
    left.write_text("half")
    scratch.sweep(".k.cpp.", tmp_path)
    assert left.exists()
    os.utime(left, (1e9, 1e9))
    scratch.sweep(".k.cpp.", tmp_path)
    assert not left.exists()
