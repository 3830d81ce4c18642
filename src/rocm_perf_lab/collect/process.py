"""Run one program to its end, its output kept in a log, its whole process group under control."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_GRACE_S = 5.0  # between asking a group to end and killing it


@dataclass(frozen=True)
class Outcome:
    exit_code: int | None  # None: it had to be killed for running past the limit
    wall_ms: float
    log: Path

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
    stdin: Path | None = None,
    keep_open: Sequence[int] = (),
    on_start: Callable[[int], None] = lambda _: None,
) -> Outcome:
    """Run `command` without a shell. Every process it leaves in its group ends with it.

    `keep_open`: file descriptors the program inherits. `on_start` is told the group's id.
    """
    started = time.perf_counter()
    with log.open("wb") as output, (stdin or Path(os.devnull)).open("rb") as given:
        process = subprocess.Popen(
            list(command),
            stdin=given,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            start_new_session=True,
            pass_fds=tuple(keep_open),
        )
        try:
            on_start(process.pid)
            code: int | None = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            # Also on Ctrl-C: the group has its own session, so the terminal does not reach it.
            wall_ms = (time.perf_counter() - started) * 1e3
            _end_group(process)
    return Outcome(code, wall_ms, log)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    running = process.poll() is None
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM if running else signal.SIGKILL)
    if running:
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
