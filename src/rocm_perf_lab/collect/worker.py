"""A process of ours that answers: started, asked, ended. Its side of the line: `worker_line.py`.

`Worker` is a bare process on two pipes. `GuardedWorker` runs somebody's program: all it starts is
under control (`process.run`), and its standard input and output are that program's.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from rocm_perf_lab.collect import process

Tell = Callable[[str], None]
_END_S = 10.0
_MOST_BYTES = 256 << 20  # of an answer


class NoAnswer(Exception):
    """None came within the time."""


class WorkerDied(Exception):
    """It ended, or stopped listening, before it answered."""


class Answers:
    """The asking end of a line."""

    def __init__(self, into: int, out: int, tell: Tell = lambda _: None) -> None:
        self._into, self._out, self._buffer = into, out, b""
        self._ours: tuple[int, ...] = (into, out)  # until they are closed
        self.tell = tell

    def ask(self, message: object, timeout_s: float | None = None) -> Any:
        data = memoryview(json.dumps(message).encode("ascii") + b"\n")
        try:
            while data:
                data = data[os.write(self._into, data) :]
        except OSError:
            raise WorkerDied from None
        limit = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            answer = json.loads(self._line(limit))
            if not isinstance(answer, dict) or "tell" not in answer:
                return answer
            self.tell(answer["tell"])

    def take(self, size: int, timeout_s: float | None = None) -> bytes:
        """So many bytes that follow an answer."""
        limit = None if timeout_s is None else time.monotonic() + timeout_s
        parts, self._buffer = [self._buffer[:size]], self._buffer[size:]
        left = size - len(parts[0])
        while left:
            parts.append(self._more(limit, left))
            left -= len(parts[-1])
        return b"".join(parts)

    def close(self) -> None:
        ours, self._ours = self._ours, ()
        for descriptor in ours:
            os.close(descriptor)

    def _line(self, limit: float | None) -> bytes:
        while b"\n" not in self._buffer:
            if len(self._buffer) > _MOST_BYTES:
                raise WorkerDied
            self._buffer += self._more(limit)
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _more(self, limit: float | None, most: int = 1 << 20) -> bytes:
        left = None if limit is None else max(0.0, limit - time.monotonic())
        if not select.select([self._out], [], [], left)[0]:
            raise NoAnswer
        part = os.read(self._out, min(most, 1 << 20))
        if not part:
            raise WorkerDied
        return part


class Worker(Answers):
    """A bare process: `command` as `process.python` makes it, perhaps confined."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        asked, into = os.pipe()
        out, answered = os.pipe()
        try:
            self.popen = subprocess.Popen(
                command, stdin=asked, stdout=answered, stderr=self._errors, env=dict(environment)
            )
        except BaseException:
            for descriptor in (into, out):
                os.close(descriptor)
            self._errors.close()
            raise
        finally:
            for descriptor in (asked, answered):
                os.close(descriptor)
        super().__init__(into, out)

    def last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return "\n  ".join(lines[-12:])

    def end(self) -> None:
        """Ends by itself when its input does; a hung one is killed."""
        self.close()
        try:
            self.popen.wait(_END_S)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
        self._errors.close()


class GuardedWorker(Answers):
    """`command`: of the numbers of its two pipes, the one to read first."""

    def __init__(
        self,
        command: Callable[[int, int], Sequence[str]],
        log: Path,
        environment: Mapping[str, str],
        stdin: BinaryIO | None = None,
        keep_open: Sequence[int] = (),
        on_start: Callable[[int], None] = lambda _: None,
        *,
        alone: bool = False,
        cwd: Path | None = None,
    ) -> None:
        """The rest as `process.run` takes it."""
        self.log = log
        self.group: int | None = None
        self._outcome: process.Ended | OSError | ValueError | None = None
        self._on_start = on_start
        asked, into = os.pipe()
        out, answered = os.pipe()
        super().__init__(into, out)
        self._theirs: tuple[int, ...] = (asked, answered)
        self._started = threading.Event()
        run = functools.partial(
            process.run, command(asked, answered), log, environment, None, stdin,
            (*self._theirs, *keep_open), self._begun, alone=alone, cwd=cwd,
        )  # fmt: skip
        self._thread = threading.Thread(target=self._run, args=(run,), daemon=True)
        self._thread.start()
        self._started.wait()

    def _run(self, run: Callable[[], process.Ended]) -> None:
        try:
            self._outcome = run()
        except (OSError, ValueError) as error:
            self._outcome = error
        finally:
            self._let_go()

    def _begun(self, group: int) -> None:
        self.group = group
        self._let_go()
        self._on_start(group)

    def _let_go(self) -> None:
        """The process alone holds its ends now: when it dies, that shows."""
        for descriptor in self._theirs:
            os.close(descriptor)
        self._theirs = ()
        self._started.set()

    def ended(self) -> process.Ended | OSError | ValueError:
        """How, once an answer failed to come; ends what still runs."""
        self._thread.join(_END_S / 2)
        self.end()
        assert self._outcome is not None
        return self._outcome

    def end(self) -> None:
        if self.group is not None and self._thread.is_alive():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.group, signal.SIGTERM)
            self._thread.join(_END_S / 2)
            process.end(self.group)
        self._thread.join()
        self.close()
