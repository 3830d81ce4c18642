"""The worker of a replay as its parent sees it: started, asked, ended, its errors made ours."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from rocm_perf_lab import errors
from rocm_perf_lab.collect.process import python
from rocm_perf_lab.errors import GateFailed, PerfLabError

Tell = Callable[[str], None]
ATTEMPTS = 8  # processes, each with another address layout, before an address counts as taken


class Confinement(Protocol):
    """A sandbox for the worker: how its command line and environment become confined ones."""

    @property
    def work(self) -> Path: ...  # a folder both sides see

    def wrap(self, command: Sequence[str]) -> list[str]: ...

    def environment(self, extra: Mapping[str, str]) -> dict[str, str]: ...


class ReplayFailed(GateFailed):
    """A step on the device failed."""


class AddressTaken(ReplayFailed):
    """A captured address is not to be had in this process, or was moved by HSA."""

    exit_code = 2


@dataclass
class WorkerProcess:
    """A worker that holds the captured addresses."""

    popen: subprocess.Popen[bytes]
    errors: Any  # a temporary file with what it wrote to stderr
    buffer: bytes = b""
    tell: Tell = field(default=lambda _: None)

    def ask(self, message: object, timeout_s: float | None = None) -> Any:
        assert self.popen.stdin is not None
        try:
            self.popen.stdin.write(json.dumps(message).encode("ascii") + b"\n")
            self.popen.stdin.flush()
        except (BrokenPipeError, OSError):
            raise self._died() from None
        limit = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            answer = json.loads(self._line(limit))
            if "tell" not in answer:
                return answer
            self.tell(answer["tell"])

    def take(self, size: int, timeout_s: float | None = None) -> bytes:
        """So many bytes that follow an answer."""
        limit = None if timeout_s is None else time.monotonic() + timeout_s
        parts, self.buffer = [self.buffer[:size]], self.buffer[size:]
        left = size - len(parts[0])
        while left:
            parts.append(self._more(limit, left))
            left -= len(parts[-1])
        return b"".join(parts)

    def _line(self, limit: float | None) -> bytes:
        while b"\n" not in self.buffer:
            self.buffer += self._more(limit)
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def _more(self, limit: float | None, most: int = 1 << 20) -> bytes:
        assert self.popen.stdout is not None
        descriptor = self.popen.stdout.fileno()
        left = None if limit is None else max(0.0, limit - time.monotonic())
        if not select.select([descriptor], [], [], left)[0]:
            self.popen.kill()
            self.end()
            raise ReplayFailed(
                "the replay did not end in time", hint="--timeout sets the limit in seconds"
            )
        part = os.read(descriptor, min(most, 1 << 20))
        if not part:
            raise self._died()
        return part

    def _died(self) -> ReplayFailed:
        code = self.popen.wait()
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        return ReplayFailed(f"the replay {how}", hint=self.last_words() or None)

    def last_words(self) -> str:
        self.errors.seek(0)
        lines = self.errors.read().decode("utf-8", "replace").strip().splitlines()
        return "\n  ".join(lines[-12:])

    def end(self) -> None:
        """Ends by itself when its input does; a hung one is killed."""
        assert self.popen.stdin is not None
        with contextlib.suppress(OSError):
            self.popen.stdin.close()
        try:
            self.popen.wait(10)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
        assert self.popen.stdout is not None
        self.popen.stdout.close()
        self.errors.close()


def start(
    ranges: Sequence[tuple[int, int]],
    environment: Mapping[str, str],
    confinement: Confinement | None = None,
) -> WorkerProcess:
    """A worker that holds every range; several are tried, for each gets another layout."""
    taken: tuple[int, int] = (0, 0)
    command = python("rocm_perf_lab.replay.worker")
    if confinement is not None:
        command = confinement.wrap(command)
        environment = confinement.environment(environment)
    for _ in range(ATTEMPTS):
        log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        popen = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=dict(environment),
        )
        process = WorkerProcess(popen, log)
        answer = process.ask({"ranges": list(ranges)})
        if "held" in answer:
            return process
        taken = (answer["taken"][0], answer["taken"][1])
        process.end()
    raise AddressTaken(
        f"the pages at {taken[0]:#x} ({taken[1]} bytes){_of_region(ranges, taken)} are taken in "
        f"{ATTEMPTS} of {ATTEMPTS} processes",
        hint="something maps memory there in every process: a preloaded library, a sanitizer",
    )


def _of_region(ranges: Sequence[tuple[int, int]], span: Sequence[int]) -> str:
    """Which captured region lies on a span, in words."""
    inside = [base for base, size in ranges if base < span[0] + span[1] and base + size > span[0]]
    return f" of region {inside[0]:#x}" if inside else ""


def result(answer: Any, ranges: Sequence[tuple[int, int]], process: WorkerProcess) -> Any:
    if "ok" in answer:
        return answer["ok"]
    error = answer["error"]
    kind, message = error["kind"], error["message"]
    if kind == "relocated":
        place = _of_region(ranges, error["span"])
        got = f"; HSA offered {error['got']:#x}" if error["got"] else ""
        raise AddressTaken(f"the pages at {error['span'][0]:#x}{place} could not be had{got}")
    if kind == "map_failed":
        place = _of_region(ranges, error["span"])
        size = error["span"][1]
        raise ReplayFailed(f"the {size} bytes at {error['span'][0]:#x}{place}: {message}")
    if kind == "fault":
        raise ReplayFailed(f"the kernel failed: {message}", hint=process.last_words() or None)
    found: type[PerfLabError] = getattr(errors, kind, ReplayFailed)
    raise found(message, hint=error.get("hint") or process.last_words() or None)
