"""A run folder either is complete under its own name or does not look like a run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from rocm_perf_lab.collect.run_folder import LATEST, new_run, write_file
from rocm_perf_lab.errors import BadInput


def visible(root: Path) -> list[str]:
    return sorted(p.name for p in root.iterdir() if not p.name.startswith("."))


def test_a_finished_run_is_named_and_latest_points_to_it(tmp_path: Path) -> None:
    with new_run(tmp_path, "vcopy") as run:
        write_file(run.folder / "profile.json", "{}")
    (name,) = [n for n in visible(tmp_path) if n != LATEST]
    assert name.endswith("-vcopy")
    assert (tmp_path / LATEST).readlink() == Path(name)
    assert (tmp_path / LATEST / "profile.json").read_text() == "{}"


def test_a_failed_run_leaves_nothing_and_keeps_the_old_latest(tmp_path: Path) -> None:
    with new_run(tmp_path, "first"):
        pass
    before = (tmp_path / LATEST).readlink()
    with pytest.raises(RuntimeError), new_run(tmp_path, "second") as run:
        (run.folder / "half").write_text("x")
        raise RuntimeError
    assert (tmp_path / LATEST).readlink() == before
    assert len(list(tmp_path.iterdir())) == 2


def test_while_it_runs_the_folder_is_hidden(tmp_path: Path) -> None:
    with new_run(tmp_path, "app"):
        assert visible(tmp_path) == []


def test_two_runs_in_one_second_both_survive(tmp_path: Path) -> None:
    for _ in range(3):
        with new_run(tmp_path, "app"):
            pass
    assert len([n for n in visible(tmp_path) if n != LATEST]) == 3


def test_hostile_labels_cannot_leave_the_root(tmp_path: Path) -> None:
    with new_run(tmp_path / "root", "../../evil name\n"):
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["root"]


def test_a_users_own_file_called_latest_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / LATEST).write_text("mine")
    with new_run(tmp_path, "app") as run:
        (run.folder / "profile.json").write_text("{}")
    assert (tmp_path / LATEST).read_text() == "mine"
    assert run.final is not None and (run.final / "profile.json").exists()
    assert "is left as it is" in run.warnings[0]


def test_what_a_killed_run_left_goes_with_the_next(tmp_path: Path) -> None:
    process = subprocess.Popen(["true"])
    process.wait()  # a process id that nobody has
    dead = tmp_path / f".partial-{process.pid}-abc"
    living = tmp_path / f".partial-{os.getppid()}-def"
    for folder in (dead, living):
        (folder / "deep").mkdir(parents=True)
    with new_run(tmp_path, "app"):
        assert not dead.exists()
    assert living.exists()


def test_an_unwritable_root_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = pytest.raises(BadInput, match="cannot create a run folder")
    with refused, new_run(tmp_path / "file" / "sub", "app"):
        pass
