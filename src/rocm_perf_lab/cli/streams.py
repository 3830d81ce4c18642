"""Standard streams in any condition: closed, full, or of an encoding that lacks a letter."""

from __future__ import annotations

import array
import codecs
import contextlib
import fcntl
import io
import json
import os
import sys
import termios

from rocm_perf_lab.errors import plain

_DEGRADING = "rocm-perf-degrade"
# What a terminal that is not Unicode shows instead.
_PLAIN = {"…": "~", "─": "-", "│": "|", "×": "x", "µ": "u", "–": "-", "→": "->"}


def prepare() -> None:
    """Before anything is opened or printed."""
    # The next file would take the number of a closed stream, and programs would print into it.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    codecs.register_error(_DEGRADING, _degrade)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_DEGRADING)


def _degrade(error: UnicodeError) -> tuple[str, int]:
    """Signs by their nearest in ASCII; letters spelled out, in a way that JSON reads back."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    bad = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or json.dumps(c)[1:-1] for c in bad), error.end


def say(*lines: str) -> None:
    """On stderr, if anybody can read it there."""
    try:
        for line in lines:
            print(line, file=sys.stderr)
        sys.stderr.flush()
    except OSError:
        give_up(sys.stderr)


def announce(text: str) -> None:
    """A line of ours on stderr, among what else is written there."""
    say(f"rocm-perf: {plain(text)}")


def input_is_not_given_on(command: str) -> None:
    """Said where something waits on standard input that the programs of a command will not see."""
    waiting = array.array("i", [0])
    with contextlib.suppress(OSError):
        if not os.isatty(0):
            fcntl.ioctl(0, termios.FIONREAD, waiting)
    if waiting[0]:
        announce(f"{command} gives programs no standard input: let them read a file by its name")


def give_up(stream: io.TextIOBase | object) -> None:
    """What the stream still holds goes nowhere: it must not fail again when the process ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())  # type: ignore[union-attr]
        os.close(null)
