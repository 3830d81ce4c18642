"""Every run of a program reads the same standard input, however often it is run."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from rocm_perf_lab.collect.standard_input import Given, given
from rocm_perf_lab.errors import BadInput

DATA = bytes(range(256)) * 1024  # more than a pipe holds


@contextmanager
def piped(data: bytes, close: bool = True) -> Iterator[int]:
    """The end to read of a pipe that somebody writes to, and closes in the end or never."""
    outlet, inlet = os.pipe()
    over = threading.Event()

    def write() -> None:
        with suppress(BrokenPipeError), os.fdopen(inlet, "wb", buffering=0) as file:
            for at in range(0, len(data), 5000):
                file.write(data[at : at + 5000])
            if not close:
                over.wait()

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        yield outlet
    finally:
        over.set()
        os.close(outlet)
        writer.join()


def read(stdin: Given, count: int = -1) -> bytes:
    with stdin.for_a_run() as handle:
        assert handle is not None
        return b"".join(iter(lambda: handle.read(1000), b"")) if count < 0 else handle.read(count)


def test_what_came_through_a_pipe_is_read_by_every_run() -> None:
    with piped(DATA) as pipe, given(pipe) as stdin:
        assert [read(stdin) for _ in range(3)] == [DATA] * 3


def test_a_run_may_read_less_or_more_than_the_one_before() -> None:
    with piped(DATA) as pipe, given(pipe) as stdin:
        assert [len(read(stdin, n)) for n in (10, 0, 100_000, 500)] == [10, 0, 100_000, 500]
        assert read(stdin) == DATA


def test_a_pipe_that_nobody_closes_holds_up_no_run_that_does_not_wait_for_its_end() -> None:
    with piped(b"a line\n", close=False) as pipe, given(pipe) as stdin:
        assert [read(stdin, 7) for _ in range(2)] == [b"a line\n"] * 2
    with piped(b"", close=False) as pipe, given(pipe) as stdin, stdin.for_a_run():
        pass


def test_an_endless_pipe_ends_in_one_sentence() -> None:
    with piped(DATA * 8) as pipe, TemporaryFile() as kept:
        stdin = Given(pipe, kept, most_bytes=1 << 20)
        with pytest.raises(BadInput, match="more than 1 MiB of its standard input"):
            read(stdin)


def test_a_file_is_read_by_each_run_from_where_it_stood_and_stays_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(DATA)
    with (tmp_path / "file").open("rb", buffering=0) as file:
        file.seek(100)
        with given(file.fileno()) as stdin:
            assert read(stdin, 50) == DATA[100:150]
            assert read(stdin) == DATA[100:]
        assert file.tell() == 100


def test_a_file_nobody_may_open_again_is_read_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(DATA)
    with (tmp_path / "file").open("rb", buffering=0) as file, given(file.fileno()) as stdin:
        (tmp_path / "file").unlink()
        assert read(stdin) == DATA


def test_nothing_is_given_on_of_a_terminal_a_folder_or_nothing(tmp_path: Path) -> None:
    files = [os.open(path, os.O_RDONLY) for path in (os.devnull, tmp_path)]
    for descriptor in (*os.openpty(), *files):
        with given(descriptor) as stdin, stdin.for_a_run() as handle:
            assert handle is None
    os.close(descriptor)
    with given(descriptor) as stdin, stdin.for_a_run() as handle:
        assert handle is None
