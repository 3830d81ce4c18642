"""Who measures: the replay of a recording, the GPUs of this machine, or a Dask cluster.

Each takes tasks up to its capacity and gives back (id, Measurement) as they come.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, Protocol, TypeVar

from rocm_perf_lab.autotune.evaluation import Measurement
from rocm_perf_lab.autotune.measure import Recipe, Task, visible_gpus
from rocm_perf_lab.autotune.recorded import RecordedSpace
from rocm_perf_lab.autotune.triton import TritonRecipe
from rocm_perf_lab.collect import process
from rocm_perf_lab.errors import MissingTool, UsageError

Done = tuple[int, Measurement]
_CANCEL_GRACE_S = 3.0
_CONNECT_S = 30
T = TypeVar("T")


class Executor(Protocol):
    @property
    def capacity(self) -> int: ...

    def submit(self, row: int, task: Task) -> None: ...

    def wait(self, timeout_s: float) -> list[Done]:
        """At least one result, unless the time passes without any."""
        ...

    def close(self) -> None:
        """Ends what is still running."""
        ...


def _arrived(results: queue.SimpleQueue[T], timeout_s: float) -> list[T]:
    """All that is there; one that comes within the time, if nothing is."""
    try:
        found = [results.get(timeout=timeout_s)]
    except queue.Empty:
        return []
    while not results.empty():
        found.append(results.get())
    return found


class Replay:
    """Answers from a recording, at once. No re-measurement: a recording has said all it knows."""

    capacity = 1

    def __init__(self, recorded: RecordedSpace) -> None:
        self._recorded = recorded
        self._done: list[Done] = []

    def submit(self, row: int, task: Task) -> None:
        record = self._recorded.records[row]
        samples = () if record.time_ms is None else (record.time_ms,)
        reason = None if record.status == "ok" else "recorded as failed"
        self._done.append((row, Measurement(record.status, samples, reason)))

    def wait(self, timeout_s: float) -> list[Done]:
        done, self._done = self._done, []
        return done

    def close(self) -> None:
        pass


class LocalGpus:
    """One thread per GPU; each measured program sees only its own."""

    def __init__(self, recipe: Recipe | TritonRecipe, gpus: Sequence[str | None]) -> None:
        self._recipe = recipe
        self._tasks: queue.SimpleQueue[tuple[int, Task] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Done | BaseException] = queue.SimpleQueue()
        self._groups: set[int] = set()
        self._closing = False
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._work, args=(gpu,), daemon=True) for gpu in gpus
        ]
        for thread in self._threads:
            thread.start()

    @property
    def capacity(self) -> int:
        return len(self._threads)

    def submit(self, row: int, task: Task) -> None:
        self._tasks.put((row, task))

    def wait(self, timeout_s: float) -> list[Done]:
        found = _arrived(self._results, timeout_s)
        done = []
        for result in found:
            if isinstance(result, BaseException):
                raise result
            done.append(result)
        return done

    def close(self) -> None:
        with self._lock:
            self._closing = True
        for _ in self._threads:
            self._tasks.put(None)
        # Interrupt first: a profiler among them ends its own program then.
        for stop in (_interrupt, process.end):
            with self._lock:
                groups = set(self._groups)
            for group in groups:
                stop(group)
            end = time.monotonic() + _CANCEL_GRACE_S
            for thread in self._threads:
                thread.join(max(0.0, end - time.monotonic()))

    def _work(self, gpu: str | None) -> None:
        current: list[int] = []

        def started(group: int) -> None:
            with self._lock:
                self._groups.difference_update(current)
                current[:] = [group]
                self._groups.add(group)
                closing = self._closing
            if closing:
                process.end(group)

        try:
            with self._recipe.opened(gpu, started) as measure:
                while (item := self._tasks.get()) is not None and not self._closing:
                    row, task = item
                    self._results.put((row, measure(task)))
                    with self._lock:
                        self._groups.difference_update(current)
        except BaseException as error:
            self._results.put(error)


def _interrupt(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGINT)


class DaskCluster:
    """One task in flight per worker. A task whose worker dies is run again elsewhere by Dask."""

    def __init__(self, recipe: Recipe | TritonRecipe, address: str) -> None:
        self._recipe = recipe
        try:
            import distributed
        except ImportError:
            raise MissingTool(
                "--scheduler needs Dask", hint="pip install 'rocm-perf-lab[dask]'"
            ) from None
        try:
            connect: Any = distributed.Client
            self._client: Any = connect(address, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise MissingTool(f"no Dask scheduler answers at {address}: {error}") from None
        self._results: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._futures: dict[int, Any] = {}
        self._address = address
        self._run = 0

    @property
    def capacity(self) -> int:
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        return max(1, len(workers))

    def submit(self, row: int, task: Task) -> None:
        self._run += 1
        future = self._client.submit(
            _on_worker,
            self._recipe,
            task,
            str(Path.cwd()),
            key=f"rocm-perf-{os.getpid()}-{self._run}-{row}",
            pure=False,
        )
        self._futures[row] = future
        future.add_done_callback(lambda done, row=row: self._results.put((row, done)))

    def wait(self, timeout_s: float) -> list[Done]:
        arrived = _arrived(self._results, timeout_s)
        return [(row, self._take(row, future)) for row, future in arrived]

    def close(self) -> None:
        self._client.cancel(list(self._futures.values()))
        self._client.close(timeout=5)

    def _take(self, row: int, future: Any) -> Measurement:
        # A result stays on its worker until it is fetched. A worker that dies in between takes it
        # along; fetching then waits until Dask has run the task elsewhere.
        self._futures.pop(row, None)
        try:
            result = future.result()
        except CancelledError:  # Dask cancels what it waits for when the scheduler goes
            raise MissingTool(f"the Dask scheduler at {self._address} was lost") from None
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                return Measurement("failed", reason="the workers that measured it died")
            raise
        assert isinstance(result, Measurement)
        return result


def _on_worker(recipe: Recipe | TritonRecipe, task: Task, folder: str) -> Measurement:
    # Relative paths in a command mean the same as where it was given; file systems are shared.
    with contextlib.suppress(OSError):
        os.chdir(folder)
    with recipe.opened(None) as measure:
        return measure(task)


def local_gpus(workers: int) -> list[str | None]:
    """Names for `workers` GPUs: those the environment shows, else the first ones."""
    if workers == 1:
        return [None]
    shown = visible_gpus().split(",")
    if len(shown) > 1 or os.environ.get("ROCR_VISIBLE_DEVICES"):
        if workers > len(shown):
            raise UsageError(f"--workers {workers}, but only {len(shown)} GPUs are visible")
        return list(shown[:workers])
    return [str(i) for i in range(workers)]
