"""Colour and progress: only where a person looks on, and not where they asked for none."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from rocm_perf_lab.cli import main as cli
from rocm_perf_lab.cli import progress
from rocm_perf_lab.cli.main import COMMANDS
from rocm_perf_lab.trace.rocpd_writer import Dispatch, RocpdWriter
from support.cli import complaint, rocm_perf

# One call of each command that is quick: its result, or the sentence that it cannot be done.
CALLS = {
    "profile": "profile ./absent",
    "analyze": "analyze x_results.db --out kept --details",
    "report": "report x_results.db",
    "show": "show --runs kept --kernels",
    "runs": "runs --runs kept",
    "export": "export x_results.db --format csv",
    "compare": "compare x_results.db x_results.db",
    "arch": "arch show gfx942",
    "explain": "explain latency_bound",
    "doctor": "doctor",
    "mcp": "mcp --root absent",
    "skill": "skill",
    "run": "run ./absent",
    "device": "device list",
    "capture": "capture --kernel k ./absent",
    "replay": "replay info absent",
    "autotune": "autotune --simulate absent.json",
    "optimize": "optimize ./absent",
    "prompt": "prompt ./absent",
    "ledger": "ledger show absent",
    "hipcc": "hipcc --help",
    "disasm": "disasm x_results.db",
    "check": "check ./no-such-program",
}
COLOUR = re.compile(rb"\x1b\[(?:\d+;)*(?:3\d|4\d|9\d|10\d)(?:;\d+)*m")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    with RocpdWriter(folder / "x_results.db", guid="00000000-0000-0000-0000-000000000001") as db:
        db.process(pid=7, command="./app", hostname="node")
        db.agent(4, "GPU", "gfx942", product="AMD Instinct MI300X")
        db.code_object(1, 4)
        db.kernel(1, "k", arch_vgprs=32)
        db.dispatches(Dispatch(1, 4, 1000 * i, 1000 * i + 500) for i in range(4))
    return folder


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch, **environment: str) -> Iterator[bytearray]:
    """Standard output and error of this process are a terminal; what it got, when it is over."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "CI"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm-256color", **environment}.items():
        monkeypatch.setenv(name, value)
    ours, theirs = os.openpty()
    got = bytearray()

    def drain() -> None:
        with suppress(OSError):  # Linux's way to say that nobody can write any more
            while chunk := os.read(ours, 1 << 16):
                got.extend(chunk)

    reader = threading.Thread(target=drain)
    reader.start()
    with monkeypatch.context() as patch, os.fdopen(theirs, "w", buffering=1) as stream:
        patch.setattr(sys, "stdout", stream)
        patch.setattr(sys, "stderr", stream)
        yield got
    reader.join()
    os.close(ours)


def call(words: str) -> None:
    with pytest.raises(SystemExit):
        cli.main(words.split())


def test_every_command_is_tried_here() -> None:
    assert CALLS.keys() == COMMANDS.keys()


def test_a_terminal_gets_colour(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the tests below could fail."""
    monkeypatch.chdir(place)
    with terminal(monkeypatch) as said:
        call("doctor")
    assert COLOUR.search(said)


@pytest.mark.parametrize("name", CALLS)
def test_no_colour_where_NO_COLOR_is_set(  # noqa: N802
    name: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    for words in (CALLS[name], f"{name} --help"):
        with terminal(monkeypatch, NO_COLOR="1") as said:
            call(words)
        assert said and not COLOUR.search(said)


@pytest.mark.parametrize("name", CALLS)
def test_a_pipe_gets_text_alone(
    name: str, place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    for words in (CALLS[name], f"{name} --help"):
        call(words)
        out, err = capfd.readouterr()
        assert out + err and "\x1b" not in out + err and "\r" not in out + err


class Watch:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_time_left_follows_from_the_steps_before() -> None:
    watch = Watch()
    clock = progress.Clock(watch)
    clock.begin("warm-up")
    watch.now = 1.9
    assert clock.text() == ""
    watch.now = 3.0
    assert clock.text() == "  0:03"
    clock.begin("timing run 1 of 3")
    watch.now = 13.0
    assert clock.text() == "  0:13"  # nothing to judge by
    clock.begin("timing run 2 of 3")
    assert clock.text() == "  0:13, about 0:20 left"
    watch.now = 18.0
    assert clock.text() == "  0:18, about 0:15 left"
    watch.now = 60.0
    assert clock.text() == "  1:00, about 0:00 left"
    clock.begin("counter pass 1 of 4")
    assert clock.text() == "  1:00"


def test_bytes_count_as_done_when_they_are_told() -> None:
    watch = Watch()
    clock = progress.Clock(watch)
    clock.begin("restoring 0.0 of 4.0 GB")
    watch.now = 3.0
    clock.begin("restoring 1.0 of 4.0 GB")
    assert clock.text() == "  0:03, about 0:09 left"
    clock.begin("restoring 0.0 of 4.0 GB")  # another time
    assert clock.text() == "  0:03"


def test_a_terminal_sees_a_line_that_is_gone_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_SHOWN_AFTER_S", 0.0)
    with terminal(monkeypatch) as said, progress.progress() as tell:
        tell("counter pass 1 of 2")
        tell("counter pass 2 of 2")
        until = time.monotonic() + 30
        while b"counter pass 2" not in said and time.monotonic() < until:
            time.sleep(0.05)  # it is drawn several times a second
    assert re.search(rb"counter pass 2 of 2  0:\d\d, about 0:\d\d left", said)
    assert said.rstrip().endswith(b"\x1b[2K")


def test_the_line_moves_while_a_step_lasts() -> None:
    line = progress._Line()
    watch = Watch()
    line._clock = progress.Clock(watch)
    line.tell("reading 1 input")
    shown = []
    for watch.now in (1.0, 5.0, 65.0):
        shown.append(str(line.__rich__()))
    assert shown == ["reading 1 input", "reading 1 input  0:05", "reading 1 input  1:05"]


@pytest.mark.parametrize(
    "words", [("optimize", "./nothing"), ("autotune", "--space", "no.json", "--cmd-template", "x")]
)
def test_a_command_that_gives_programs_no_input_says_so_if_there_was_some(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "input").write_text("numbers")
    with (tmp_path / "input").open("rb") as file:
        given = complaint(rocm_perf(*words, cwd=tmp_path, stdin=file), 3)
    assert f"{words[0]} gives programs no standard input" in given
    assert "standard input" not in complaint(rocm_perf(*words, cwd=tmp_path), 3)
