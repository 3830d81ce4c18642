"""Run one program to its end, its output kept in a log, all it starts under control (`guard`)."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, BinaryIO

from rocm_perf_lab.collect import guard

LOG_BYTES = 64 << 20  # of a program's output are kept, and its last 64 KiB
_GRACE_S = 5.0  # between asking a group to end and killing it
_LOOK_S = 0.05


@dataclass(frozen=True)
class Ended:
    exit_code: int | None  # None: it had to be killed for running past a limit
    wall_ms: float
    log: Path
    cut_bytes: int = 0  # of its output, not in the log
    log_errno: int = 0  # why the log is not whole
    objection: str | None = None  # why it was stopped before its time

    @property
    def ok(self) -> bool:
        return self.exit_code == 0

    def sentence(self, timeout_s: float | None) -> str:
        """How it ended, as the second half of a sentence."""
        if self.exit_code is None:
            return f"was still running after {timeout_s:g} s and was stopped"
        if self.exit_code < 0:
            with contextlib.suppress(ValueError):
                return f"was killed by {signal.Signals(-self.exit_code).name}"
        return f"exited with code {self.exit_code}"

    def tail(self, lines: int = 8) -> str:
        """The last lines it wrote, for an error message."""
        with self.log.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 16384))
            text = file.read().decode("utf-8", "replace")
        clean = ("".join(c for c in line if c.isprintable()) for line in text.splitlines())
        return "\n  ".join(line[:200] for line in list(clean)[-lines:])


def run(
    command: Sequence[str],
    log: Path,
    environment: Mapping[str, str],
    timeout_s: float | None = None,
    stdin: BinaryIO | None = None,
    keep_open: Sequence[int] = (),
    on_start: Callable[[int], None] = lambda _: None,
    *,
    alone: bool = False,
    cwd: Path | None = None,
    errors: Path | None = None,
    log_bytes: int = LOG_BYTES,
    object_to: Callable[[int], str | None] | None = None,
) -> Ended:
    """Run `command` without a shell. Every process it leaves behind ends with it.

    `stdin`: an open file; without one there is nothing to read. `keep_open`: file descriptors the
    program inherits. `on_start` is told the group's id. `alone`: `environment` is all of it.
    `errors`: takes stderr, which the log does otherwise. `object_to` is asked again and again, with
    the process that all are below: what it says against them ends them, without a warning.
    """
    with contextlib.ExitStack() as pipes:
        output = pipes.enter_context(log.open("wb"))
        second = output if errors is None else pipes.enter_context(errors.open("wb"))
        control, hold, answer, status = (
            pipes.enter_context(os.fdopen(end, mode, buffering=0))
            for ends in (os.pipe(), os.pipe())
            for end, mode in zip(ends, ("rb", "wb"), strict=True)
        )
        descriptors = tuple(each.fileno() for each in (control, status, output, second))
        process = subprocess.Popen(
            [
                *(sys.executable, "-I", "-S", guard.__file__),
                *map(str, (*descriptors, log_bytes)),
                *command,
            ],
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**({} if alone else os.environ), **environment},
            cwd=cwd,
            start_new_session=True,
            pass_fds=(*descriptors, *keep_open),
        )
        # From here on the guard alone holds its ends: its death shows as the end of the file.
        control.close()
        status.close()
        objection = None
        try:
            on_start(process.pid)
            objection = _wait(process, timeout_s, object_to)
        finally:
            # Also on Ctrl-C: the group has its own session, so the terminal does not reach it.
            late = process.poll() is None
            _end_group(process, hold, ask=object_to is None)
        ended = _outcome(answer.read().decode().split(), process, late, log)
        return ended if objection is None else replace(ended, exit_code=None, objection=objection)


def python(module: str) -> list[str]:
    """A command that runs a module's `main` with this process's sys.path: the working directory
    must not provide modules."""
    start = f"import sys; sys.path[:] = {sys.path!r}; from {module} import main; main()"
    return [sys.executable, "-c", start]


def end(group: int) -> None:
    """All that a run of this or another process started; `group` as `on_start` was told.

    Not by killing the group: that would leave those who left it.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(group, signal.SIGUSR1)


def _wait(
    process: subprocess.Popen[bytes],
    timeout_s: float | None,
    object_to: Callable[[int], str | None] | None,
) -> str | None:
    """Until it ends, or its time does, or somebody objects."""
    deadline = math.inf if timeout_s is None else time.monotonic() + timeout_s
    while (left := deadline - time.monotonic()) > 0:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_wait_s(left, object_to is not None))
            return None
        if object_to is not None and (objection := object_to(process.pid)):
            return objection
    return None


def _wait_s(left: float, looking: bool) -> float | None:
    if looking:
        return min(left, _LOOK_S)
    return None if left == math.inf else left


def _end_group(process: subprocess.Popen[bytes], hold: IO[bytes], ask: bool) -> None:
    """Ask, wait, end: the guard ends everything once nobody holds its pipe."""
    if ask and process.poll() is None:
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
    hold.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_S)
    if process.poll() is None:  # stopped, or killed in its sleep
        _signal(process, signal.SIGKILL)
        process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _outcome(words: list[str], process: subprocess.Popen[bytes], late: bool, log: Path) -> Ended:
    if words[:1] == ["error"]:
        raise OSError(int(words[1]), os.strerror(int(words[1])))
    if len(words) != 4:  # the guard was killed too, and can end nothing any more
        _signal(process, signal.SIGKILL)
        return Ended(None if late else process.returncode, 0.0, log)
    code, nanoseconds, cut, failed = map(int, words)
    return Ended(None if late else code, nanoseconds / 1e6, log, cut, failed)
