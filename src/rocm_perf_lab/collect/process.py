"""Run one program to its end, its output kept in a log, all it starts under control (`guard`)."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from rocm_perf_lab.collect import guard

LOG_BYTES = 64 << 20  # of a program's output are kept, and its last 64 KiB
_GRACE_S = 5.0  # between asking a group to end and killing it


@dataclass(frozen=True)
class Ended:
    exit_code: int | None  # None: it had to be killed for running past the limit
    wall_ms: float
    log: Path
    cut_bytes: int = 0  # of its output, not in the log
    log_errno: int = 0  # why the log is not whole

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
) -> Ended:
    """Run `command` without a shell. Every process it leaves behind ends with it.

    `stdin`: an open file; without one there is nothing to read. `keep_open`: file descriptors the
    program inherits. `on_start` is told the group's id.
    """
    with (
        log.open("wb") as output,
        contextlib.ExitStack() as pipes,
    ):
        control, hold, answer, status = (
            pipes.enter_context(os.fdopen(end, mode, buffering=0))
            for ends in (os.pipe(), os.pipe())
            for end, mode in zip(ends, ("rb", "wb"), strict=True)
        )
        descriptors = (control.fileno(), status.fileno(), output.fileno())
        process = subprocess.Popen(
            [
                *(sys.executable, "-I", "-S", guard.__file__),
                *map(str, (*descriptors, LOG_BYTES)),
                *command,
            ],
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            start_new_session=True,
            pass_fds=(*descriptors, *keep_open),
        )
        # From here on the guard alone holds its ends: its death shows as the end of the file.
        control.close()
        status.close()
        try:
            on_start(process.pid)
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            pass
        finally:
            # Also on Ctrl-C: the group has its own session, so the terminal does not reach it.
            late = process.poll() is None
            _end_group(process, hold)
        return _outcome(answer.read().decode().split(), process.returncode, late, log)


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


def _end_group(process: subprocess.Popen[bytes], hold: IO[bytes]) -> None:
    """Ask, wait, end: the guard ends everything once nobody holds its pipe."""
    if process.poll() is None:
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


def _outcome(words: list[str], guard_code: int, late: bool, log: Path) -> Ended:
    if words[:1] == ["error"]:
        raise OSError(int(words[1]), os.strerror(int(words[1])))
    if len(words) != 4:  # the guard was killed too
        return Ended(None if late else guard_code, 0.0, log)
    code, nanoseconds, cut, failed = map(int, words)
    return Ended(None if late else code, nanoseconds / 1e6, log, cut, failed)
