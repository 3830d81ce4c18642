"""Measure one configuration: build it, run it, verify it, read its time.

Everything here is plain data in and out, so that a measurement can travel to another process.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from rocm_perf_lab import scratch
from rocm_perf_lab.autotune import code_object, gpu_lock, profile_worker
from rocm_perf_lab.autotune.evaluation import Measurement
from rocm_perf_lab.autotune.metric import Metric
from rocm_perf_lab.autotune.space import Configuration
from rocm_perf_lab.autotune.template import Template
from rocm_perf_lab.collect import process
from rocm_perf_lab.collect.standard_input import nothing
from rocm_perf_lab.collect.worker import GuardedWorker, NoAnswer, WorkerDied
from rocm_perf_lab.device import discover
from rocm_perf_lab.errors import BadInput, MissingTool, TimedOut

_OUT_OF_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")

# What HIP, HSA and the compiler say when a configuration asks for more than the GPU has.
_OUT_OF_RESOURCES = re.compile(
    r"out of (?:memory|resources)|OutOfMemory|OutOfResources|OUT_OF_RESOURCES|"
    r"LaunchOutOfResources|invalid configuration argument|hipErrorInvalidConfiguration|"
    r"exceeds (?:the )?(?:limit|maximum|available)|(?:lds|local memory|shared memory)[^\n]*exceed|"
    r"ran out of registers",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Task:
    parameters: Configuration
    verify: bool = True  # re-measurements need no second proof


OnStart = Callable[[int], None]
Measuring = Callable[[Task], Measurement]


@dataclass(frozen=True)
class Recipe:
    """How every configuration is built, run, verified and timed."""

    command: Template
    metric: Metric
    build: Template | None = None
    verify: Template | None = None
    timeout_s: float = 300.0
    repeats: int = 1
    device: str = "auto"
    environment: Mapping[str, str] = field(default_factory=dict)  # more for the program
    kernel: str | None = None  # whose counters are meant; None: the dominant one's

    @contextlib.contextmanager
    def opened(self, gpu: str | None, on_start: OnStart = lambda _: None) -> Iterator[Measuring]:
        """For a while of measuring on one GPU. Nothing is kept in between."""
        yield lambda task: measure(task, self, gpu, on_start)

    def files(self, parameters: Configuration) -> dict[str, str]:
        """Hashes of the files the commands name: a rebuilt program is another program."""
        values: dict[str, Any] = {**parameters, "workdir": "", "log": "", "gpu": "0"}
        templates = [self.command, self.build, self.verify, self.metric.command]
        found = {}
        for template in templates:
            for argument in template.fill(values) if template else ():
                path = Path(argument)
                if len(argument) < 4096 and "\0" not in argument and path.is_file():
                    stat = path.stat()
                    found[argument] = _hash(str(path.absolute()), stat.st_mtime_ns, stat.st_size)
        return found


class Stop(Exception):
    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


def measure(
    task: Task, recipe: Recipe, gpu: str | None = None, on_start: OnStart = lambda _: None
) -> Measurement:
    """Never raises for what the user's programs do: a failure is a result.

    `gpu`: which one to make visible; None: the environment is left alone.
    """
    try:
        with scratch.folder("rocm-perf-tune-") as folder:
            return _measure(task, recipe, gpu, folder, on_start)
    except Stop as stop:
        return Measurement(stop.status, reason=stop.reason)
    except OSError as error:
        if error.errno not in _OUT_OF_DISK:
            raise
        where = error.filename or tempfile.gettempdir()
        raise BadInput(f"{where}: {error.strerror}", hint="make room, or set TMPDIR") from None


@dataclass(frozen=True)
class _Place:
    """Where one configuration's commands run, and with what."""

    recipe: Recipe
    values: Mapping[str, Any]
    folder: Path
    log: Path  # the program's own output
    environment: Mapping[str, str]
    on_start: OnStart


def _measure(
    task: Task, recipe: Recipe, gpu: str | None, folder: Path, on_start: OnStart
) -> Measurement:
    log = folder / "output.txt"
    values: dict[str, Any] = {
        **task.parameters,
        "workdir": folder,
        "log": log,
        "gpu": gpu if gpu is not None else "0",
    }
    environment = {**gpu_environment(gpu), **recipe.environment}
    chosen = None if recipe.metric.profiled else plain_device(recipe.device)
    if chosen is not None and chosen.kind == "virtual":
        whole = discover.environment_for(chosen, recipe.device)
        environment |= {k: v for k, v in whole.items() if os.environ.get(k) != v}
    place = _Place(recipe, values, folder, log, environment, on_start)
    static: dict[str, Any] = {}
    if recipe.build is not None:
        done = _run(place, recipe.build, folder / "build.txt")
        if not done.ok:
            raise _stop(done, "build_failed", "the build", recipe.timeout_s)
        static = code_object.resources(folder)

    samples: list[float] = []
    features: dict[str, Any] = {}
    device: dict[str, Any] = {}
    if chosen is not None:
        device = described(chosen)
    with gpu_lock.hold(gpu if gpu is not None else visible_gpus()) as held:
        lock = (held,)
        for repeat in range(recipe.repeats):
            if recipe.metric.profiled:
                found = _profiled(place, lock)
                assert found.value is not None
                samples.append(found.value)
                features, device = found.features, found.device
            else:
                done = _plain(place, lock)
                if recipe.metric.command is None:
                    samples.append(done.wall_ms)
            if repeat == 0 and task.verify and recipe.verify is not None:
                _verify(place)
            if recipe.metric.command is not None:
                samples.append(_metric(place))
    return Measurement("ok", tuple(samples), None, features, static, device)


def _plain(place: _Place, lock: tuple[int, ...]) -> process.Ended:
    done = _run(place, place.recipe.command, place.log, lock)
    if not done.ok:
        raise _stop(done, "failed", "the program", place.recipe.timeout_s)
    return done


def _verify(place: _Place) -> None:
    assert place.recipe.verify is not None
    done = _run(place, place.recipe.verify, place.folder / "verify.txt", stdin=place.log)
    if not done.ok:
        said = done.sentence(place.recipe.timeout_s)
        raise Stop("wrong", f"--verify {said}: {_last(done)}")


def _metric(place: _Place) -> float:
    reader = place.recipe.metric.command
    assert reader is not None
    done = _run(place, reader, place.folder / "metric.txt", stdin=place.log)
    if not done.ok:
        raise _stop(done, "failed", "the metric command", place.recipe.timeout_s)
    numbers = _NUMBER.findall(done.tail(1))
    value = float(numbers[-1]) if numbers else 0.0
    if not 0 < value < float("inf"):
        raise Stop("failed", f"the metric command printed no positive number: {done.tail(1)!r}")
    return value


def _profiled(place: _Place, lock: tuple[int, ...]) -> profile_worker.Answer:
    recipe = place.recipe
    out = Path(tempfile.mkdtemp(prefix="profile-", dir=place.folder))
    metric = recipe.metric
    request = profile_worker.WorkerRequest(
        recipe.command.fill(place.values),
        metric.text,
        list(metric.counters),
        recipe.timeout_s,
        recipe.device,
        recipe.kernel and rf"^{recipe.kernel}\b",
    )
    # A warm-up, a timing run and a counter pass, each with the limit, and the profiler's own start.
    limit = (3 if metric.counters else 2) * recipe.timeout_s + 30
    worker = GuardedWorker(
        lambda into, out_pipe: profile_worker.command(into, out_pipe, out),
        out / "worker.txt",
        place.environment,
        keep_open=lock,
        on_start=place.on_start,
    )
    try:
        answer = answered(worker, asdict(request), limit, "the profile")
    finally:
        worker.end()
        said = out / profile_worker.RUN / "logs" / "warm-up.txt"
        if said.exists():
            shutil.copyfile(said, place.log)  # for --verify
    found = profile_worker.Answer(**answer)
    if found.error == MissingTool.__name__:
        # No profiler or no device: no configuration could be measured.
        raise MissingTool(
            f"--metric {metric.text} cannot be measured here: {found.message}",
            hint="use --metric wall, or a command that prints milliseconds",
        )
    if found.error is not None:
        status = "timeout" if found.error == TimedOut.__name__ else "failed"
        if status == "failed" and _OUT_OF_RESOURCES.search(found.hint):
            status = "out_of_resources"
        last = " ".join(found.hint.split())[-200:]
        raise Stop(status, f"{found.message}: {last}"[:400])
    return found


def _run(
    place: _Place,
    template: Template,
    log: Path,
    lock: tuple[int, ...] = (),
    stdin: Path | None = None,
) -> process.Ended:
    command = template.fill(place.values)
    try:
        with stdin.open("rb") if stdin is not None and stdin.exists() else nothing() as given:
            return process.run(
                command,
                log,
                place.environment,
                place.recipe.timeout_s,
                stdin=given,
                keep_open=lock,
                on_start=place.on_start,
            )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Stop("failed", f"cannot run {command[0]}: {reason}") from None


def answered(worker: GuardedWorker, message: object, limit_s: float | None, what: str) -> Any:
    """A worker's answer; Stop where none came."""
    try:
        return worker.ask(message, limit_s)
    except NoAnswer:
        said = f"{what} was still running after {limit_s:g} s and was stopped"
        raise Stop("timeout", said) from None
    except WorkerDied:
        ended = worker.ended()
        if isinstance(ended, process.Ended):
            raise _stop(ended, "failed", what, limit_s) from None
        raise Stop("failed", f"{what} cannot be started: {ended}") from None


def _stop(done: process.Ended, status: str, what: str, timeout_s: float | None) -> Stop:
    tail = done.tail(40)
    if done.exit_code is None:
        status = "timeout"
    elif _OUT_OF_RESOURCES.search(tail):
        status = "out_of_resources"
    return Stop(status, f"{what} {done.sentence(timeout_s)}: {_last(done)}".rstrip(": "))


def _last(done: process.Ended) -> str:
    return done.tail(2).replace("\n", " ")[:300]


def plain_device(name: str) -> discover.Device | None:
    """Where a program runs that is not profiled; None where there is no device at all."""
    try:
        return discover.choose(name)
    except MissingTool:
        return None


def described(device: discover.Device) -> dict[str, Any]:
    return {"kind": device.kind, "name": device.product, "architecture": device.architecture}


def visible_gpus() -> str:
    for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"):
        if os.environ.get(name):
            return os.environ[name]
    return "0"


def gpu_environment(gpu: str | None) -> dict[str, str]:
    # ROCR_VISIBLE_DEVICES renumbers what HIP sees, so HIP's own list is then always its first.
    return {} if gpu is None else {"ROCR_VISIBLE_DEVICES": gpu, "HIP_VISIBLE_DEVICES": "0"}


@lru_cache(maxsize=4096)
def _hash(path: str, mtime_ns: int, size: int) -> str:
    with Path(path).open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
