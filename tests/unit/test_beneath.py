"""Files in a folder that somebody else writes: no link is followed, no depth is too deep."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

import pytest

from rocm_perf_lab import beneath


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "kept").write_text("mine")
    (folder / "kept").write_text("mine")
    return folder


def untouched(outside: Path) -> bool:
    return sorted(str(p.relative_to(outside)) for p in outside.rglob("*")) == [
        "inner",
        "inner/kept",
        "kept",
    ]


def test_what_is_written_can_be_read_and_removed(tmp_path: Path) -> None:
    beneath.make_folder(tmp_path, "a/b")
    beneath.make_folder(tmp_path, "a/b")
    beneath.write(tmp_path, "a/b/file", b"data")
    beneath.write(tmp_path, "a/b/file", b"other")
    assert beneath.read(tmp_path, "a/b/file", 100) == b"other"
    assert beneath.is_file(tmp_path, "a/b/file") and not beneath.is_file(tmp_path, "a/b")
    assert beneath.folders(tmp_path, "a") == ["b"]
    with pytest.raises(OSError, match="more than 3 bytes"):
        beneath.read(tmp_path, "a/b/file", 3)
    beneath.remove(tmp_path, "a")
    beneath.remove(tmp_path, "a")
    assert not list(tmp_path.iterdir())


def test_a_link_on_the_way_ends_it(tmp_path: Path, outside: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "link").symlink_to(outside)
    (work / "file").symlink_to(outside / "kept")
    for act in (
        lambda: beneath.read(work, "link/kept", 100),
        lambda: beneath.read(work, "file", 100),
        lambda: beneath.write(work, "link/new", b"x"),
        lambda: beneath.make_folder(work, "link/new"),
        lambda: beneath.make_folder(work, "link"),
        lambda: beneath.folders(work, "link"),
        lambda: beneath.read(work, "../outside/kept", 100),
        lambda: beneath.write(work, "/etc/passwd", b"x"),
    ):
        with pytest.raises(OSError):
            act()
    assert not beneath.is_file(work, "file")
    beneath.remove(work, "link/inner")
    assert untouched(outside)
    beneath.write(work, "file", b"new")  # takes the link's place
    beneath.remove(work, "link")
    assert untouched(outside)
    assert (outside / "kept").read_text() == "mine"
    assert not (work / "link").is_symlink()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a plain file"):
        beneath.read(tmp_path, "pipe", 10)


def test_any_depth_is_removed(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "deep").mkdir()
    place = os.open(tmp_path / "deep", os.O_RDONLY)
    for _ in range(1200):  # more than Python recurses, or has files open
        os.mkdir("d", dir_fd=place)
        os.symlink(outside, "l", dir_fd=place)
        below = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = below
    os.close(place)
    beneath.remove(tmp_path, "deep")
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
    assert untouched(outside)


def test_folders_that_are_shut_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "shut" / "inner" / "innermost"
    folder.mkdir(parents=True)
    (folder / "file").touch()
    for path in (folder, folder.parent, folder.parent.parent):
        path.chmod(0)
    beneath.remove(tmp_path, "shut")
    assert not list(tmp_path.iterdir())


def test_a_folder_swapped_for_a_link_again_and_again(tmp_path: Path, outside: Path) -> None:
    """While it is being removed: only what was inside may be gone afterwards."""
    work = tmp_path / "work"
    tree = work / "tree"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for first, second in (("sub", "was"), ("link", "sub"), ("sub", "link"), ("was", "sub")):
                with contextlib.suppress(OSError):
                    (tree / first).rename(tree / second)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(200):
            with contextlib.suppress(OSError):
                (tree / "was" / "inner").mkdir(parents=True)
                (tree / "link").symlink_to(outside)
            beneath.remove(work, "tree/sub/inner")
            beneath.remove(work, "tree/sub")
            beneath.remove(work, "tree")
            assert untouched(outside)
    finally:
        stop.set()
        thread.join()
