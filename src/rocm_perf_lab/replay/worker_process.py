"""The worker of a replay as its parent sees it: started, asked, ended, its errors made ours."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from rocm_perf_lab import errors
from rocm_perf_lab.collect.process import python
from rocm_perf_lab.collect.worker import NoAnswer, Worker, WorkerDied
from rocm_perf_lab.errors import GateFailed, PerfLabError

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


class WorkerProcess(Worker):
    """A worker that holds the captured addresses."""

    def ask(self, message: object, timeout_s: float | None = None) -> Any:
        with self._failures():
            return super().ask(message, timeout_s)

    def take(self, size: int, timeout_s: float | None = None) -> bytes:
        with self._failures():
            return super().take(size, timeout_s)

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except NoAnswer:
            self.popen.kill()
            self.end()
            raise ReplayFailed(
                "the replay did not end in time", hint="--timeout sets the limit in seconds"
            ) from None
        except WorkerDied:
            code = self.popen.wait()
            how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
            raise ReplayFailed(f"the replay {how}", hint=self.last_words() or None) from None


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
        process = WorkerProcess(command, environment)
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
