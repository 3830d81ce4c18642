"""A word after `show`, `report`, `export` or `compare`: which run or trace it means."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rocm_perf_lab.collect.run_folder import PROFILE
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.workflow.load import which_run
from support.cli import complaint, rocm_perf
from support.databases import write_database

ROOT = Path(".rocpd_profile")


def a_run(root: Path, name: str) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    (folder / PROFILE).write_text("{}")
    return folder


def meant(name: str, root: Path = ROOT) -> tuple[str | None, list[str]]:
    said: list[str] = []
    found = which_run(name, root, said.append)
    return (found.name if found is not None else None), said


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where the program softmax lies, profiled three times, and softmax-fast once."""
    monkeypatch.chdir(tmp_path)
    for name in (
        "20260101T000000Z-softmax",
        "20260102T000000Z-softmax",
        "20260102T000000Z.2-softmax",
        "20260103T000000Z-softmax-fast",
    ):
        a_run(ROOT, name)
    (tmp_path / "softmax").write_bytes(b"\x7fELF" + bytes(100))
    return tmp_path


def test_of_several_runs_of_a_program_the_newest_is_meant_and_said(here: Path) -> None:
    newest = "20260102T000000Z.2-softmax"
    assert meant("softmax") == (newest, [f"softmax: the newest of 3 runs, {newest}"])
    assert meant("softmax-fast") == ("20260103T000000Z-softmax-fast", [])
    assert meant("20260102T000000Z-softmax") == ("20260102T000000Z-softmax", [])
    assert meant("20260102")[0] == newest
    assert meant("latest") == ("20260103T000000Z-softmax-fast", [])


def test_the_newest_of_a_second_is_told_by_number_not_by_letters(tmp_path: Path) -> None:
    for number in (2, 9, 10):
        a_run(tmp_path, f"20260101T000000Z.{number}-app")
    assert meant("app", tmp_path)[0] == "20260101T000000Z.10-app"


def test_a_part_of_a_name_that_fits_two_programs_means_neither(here: Path) -> None:
    with pytest.raises(BadInput, match="several programs: softmax, softmax-fast"):
        meant("softm")


def test_a_typo_is_told_the_nearest_program(here: Path) -> None:
    with pytest.raises(BadInput) as told:
        meant("sotfmax")
    assert told.value.hint == "did you mean softmax?"


def test_what_can_be_read_and_what_is_a_path_is_itself(here: Path) -> None:
    assert meant("./softmax") == (None, [])
    (here / "softmax").unlink()
    write_database(here / "softmax", {"k": [10]})
    assert meant("softmax") == (None, [])
    (here / "softmax").unlink()
    (here / "softmax").write_text('{"results": [{"times": [1]}]}')
    assert meant("softmax") == (None, [])


@pytest.mark.parametrize("what", ["empty folder", "folder of sources", "pipe", "text"])
def test_anything_else_under_a_runs_name_does_not_hide_the_run(here: Path, what: str) -> None:
    place = here / "softmax"
    place.unlink()
    if what == "pipe":
        os.mkfifo(place)
    elif what == "text":
        place.write_text("notes")
    else:
        place.mkdir()
        if what == "folder of sources":
            (place / "softmax.cpp").write_text("int main() {}")
            (place / "compile_commands.json").write_text("[]")
    assert meant("softmax")[0] == "20260102T000000Z.2-softmax"


def test_a_folder_of_traces_is_itself(here: Path) -> None:
    (here / "softmax").unlink()
    (here / "softmax" / "deep").mkdir(parents=True)
    write_database(here / "softmax" / "deep" / "1_results.db", {"k": [10]})
    assert meant("softmax") == (None, [])


@pytest.fixture(scope="module")
def profiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two kept runs called `analyze`, and a program of that name beside them."""
    folder = tmp_path_factory.mktemp("profiled")
    for time in (5000, 6000):
        write_database(folder / "app.db", {"gemm": [time] * 3})
        assert rocm_perf("analyze", "app.db", "--quiet", cwd=folder).returncode == 0
    (folder / "analyze").write_bytes(b"\x7fELF" + bytes(100))
    return folder


def test_every_command_takes_the_newest_run_and_not_the_program(profiled: Path) -> None:
    newest = json.loads(rocm_perf("runs", "--json", cwd=profiled).stdout)["runs"][-1]["name"]
    for words in (
        ("show", "analyze"),
        ("show", "analyze", "--kernels"),
        ("report", "analyze", "--out", "page.html"),
        ("export", "analyze", "--format", "chrome", "--out", "trace.json"),
        ("compare", "analyze", "app.db"),
    ):
        done = rocm_perf(*words, cwd=profiled)
        assert done.returncode == 0, done.stderr
        assert f"rocm-perf: analyze: the newest of 2 runs, {newest}\n" in done.stderr
    sides = json.loads(rocm_perf("compare", "analyze", "latest", "--json", cwd=profiled).stdout)
    assert sides["a"]["name"] == newest


def test_a_program_that_was_never_profiled_is_called_one(profiled: Path) -> None:
    (profiled / "other").write_bytes(b"\x7fELF" + bytes(100))
    said = complaint(rocm_perf("show", "other", cwd=profiled), 3)
    assert "other is a program, not a trace" in said
