"""Measure one configuration: build it, run it, verify it, read its time.

Everything here is plain data in and out, so that a measurement can travel to another process.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocm_perf_lab import scratch
from rocm_perf_lab.autotune import code_object, gpu_lock
from rocm_perf_lab.autotune.evaluation import Measurement
from rocm_perf_lab.autotune.space import Configuration
from rocm_perf_lab.autotune.template import Template
from rocm_perf_lab.collect import process
from rocm_perf_lab.device import discover
from rocm_perf_lab.errors import BadInput, MissingTool

METRICS = ("runtime", "wall")
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
class Recipe:
    """How every configuration is built, run, verified and timed."""

    command: Template
    metric: str | Template  # runtime, wall, or a command that prints milliseconds
    build: Template | None = None
    verify: Template | None = None
    timeout_s: float = 300.0
    repeats: int = 1
    device: str = "auto"


@dataclass(frozen=True)
class Task:
    parameters: Configuration
    recipe: Recipe
    gpu: str | None = None  # which GPU to make visible; None: leave the environment alone
    verify: bool = True  # re-measurements need no second proof
    keep_in: Path | None = None


class _Stop(Exception):
    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


OnStart = Callable[[int], None]


def measure(task: Task, on_start: OnStart = lambda _: None) -> Measurement:
    """Never raises for what the user's programs do: a failure is a result."""
    try:
        with scratch.folder("rocm-perf-tune-", task.keep_in) as folder:
            return _measure(task, folder, on_start)
    except _Stop as stop:
        return Measurement(stop.status, reason=stop.reason)
    except OSError as error:
        if error.errno not in _OUT_OF_DISK:
            raise
        where = error.filename or tempfile.gettempdir()
        raise BadInput(f"{where}: {error.strerror}", hint="make room, or set TMPDIR") from None


def _measure(task: Task, folder: Path, on_start: OnStart) -> Measurement:
    recipe = task.recipe
    log = folder / "output.txt"
    values: dict[str, Any] = {
        **task.parameters,
        "workdir": folder,
        "log": log,
        "gpu": task.gpu if task.gpu is not None else "0",
    }
    environment = _environment(task.gpu)
    chosen = None if recipe.metric == "runtime" else plain_device(recipe.device)
    if chosen is not None and chosen.kind == "virtual":
        whole = discover.environment_for(chosen, recipe.device)
        environment |= {k: v for k, v in whole.items() if os.environ.get(k) != v}
    static: dict[str, Any] = {}
    if recipe.build is not None:
        build_log = folder / "build.txt"
        done = _run(recipe.build, values, build_log, environment, recipe.timeout_s, on_start)
        if not done.ok:
            raise _stop(done, "build_failed", "the build", recipe.timeout_s)
        static = code_object.resources(folder)

    samples: list[float] = []
    features: dict[str, Any] = {}
    device: dict[str, Any] = {}
    if chosen is not None:
        device = {
            "kind": chosen.kind,
            "name": chosen.product,
            "architecture": chosen.architecture,
        }
    name = task.gpu if task.gpu is not None else visible_gpus()
    with gpu_lock.hold(name) as held:

        def started(group: int) -> None:
            held.note_group(group)
            on_start(group)

        lock = (held.descriptor,)
        for repeat in range(recipe.repeats):
            if recipe.metric == "runtime":
                found = _profiled(task, values, folder, environment, started, lock)
                samples += found["samples"]
                features, device = found["features"], found["device"]
            else:
                done = _plain(task, values, log, environment, started, lock)
                if recipe.metric == "wall":
                    samples.append(done.wall_ms)
            if repeat == 0 and task.verify and recipe.verify is not None:
                _verify(recipe, values, folder, log, environment, started)
            if isinstance(recipe.metric, Template):
                samples.append(_metric(recipe, values, folder, log, environment, started))
    return Measurement("ok", tuple(samples), None, features, static, device)


def _plain(
    task: Task,
    values: Mapping[str, Any],
    log: Path,
    environment: Mapping[str, str],
    on_start: OnStart,
    lock: tuple[int, ...],
) -> process.Outcome:
    recipe = task.recipe
    done = _run(recipe.command, values, log, environment, recipe.timeout_s, on_start, lock)
    if not done.ok:
        raise _stop(done, "failed", "the program", recipe.timeout_s)
    return done


def _verify(
    recipe: Recipe,
    values: Mapping[str, Any],
    folder: Path,
    log: Path,
    environment: Mapping[str, str],
    on_start: OnStart,
) -> None:
    assert recipe.verify is not None
    done = _run(
        recipe.verify, values, folder / "verify.txt", environment, recipe.timeout_s, on_start,
        stdin=log,
    )  # fmt: skip
    if not done.ok:
        raise _Stop("wrong", f"--verify {done.sentence(recipe.timeout_s)}: {_last(done)}")


def _metric(
    recipe: Recipe,
    values: Mapping[str, Any],
    folder: Path,
    log: Path,
    environment: Mapping[str, str],
    on_start: OnStart,
) -> float:
    assert isinstance(recipe.metric, Template)
    done = _run(
        recipe.metric, values, folder / "metric.txt", environment, recipe.timeout_s, on_start,
        stdin=log,
    )  # fmt: skip
    if not done.ok:
        raise _stop(done, "failed", "the metric command", recipe.timeout_s)
    numbers = _NUMBER.findall(done.tail(1))
    value = float(numbers[-1]) if numbers else 0.0
    if not 0 < value < float("inf"):
        raise _Stop("failed", f"the metric command printed no positive number: {done.tail(1)!r}")
    return value


def _profiled(
    task: Task,
    values: Mapping[str, Any],
    folder: Path,
    environment: Mapping[str, str],
    on_start: OnStart,
    lock: tuple[int, ...],
) -> dict[str, Any]:
    """One `rocm-perf profile` in a process of its own: it can be limited, killed and placed."""
    recipe = task.recipe
    program, *arguments = recipe.command.fill(values)
    out = Path(tempfile.mkdtemp(prefix="profile-", dir=folder))
    command = [
        sys.executable, "-m", "rocm_perf_lab", "profile", program, "--json", "--runs", "1",
        "--no-counters", "--timeout", str(recipe.timeout_s), "--device", recipe.device,
        "--out", str(out / "runs"), "--", *arguments,
    ]  # fmt: skip
    log = out / "profile.txt"
    # A warm-up and a timing run, each with the limit, and the profiler's own start.
    limit = 2 * recipe.timeout_s + 30
    try:
        done = process.run(command, log, environment, limit, keep_open=lock, on_start=on_start)
    except OSError as error:
        raise _Stop("failed", f"cannot run rocm-perf profile: {error.strerror}") from None
    text = log.read_text("utf-8", "replace")
    for said in out.glob("runs/*/logs/warm-up.txt"):
        shutil.copyfile(said, Path(values["log"]))  # the program's own output, for --verify
    if done.exit_code == MissingTool.exit_code:
        # No profiler or no device: no configuration could be measured.
        raise MissingTool(
            f"--metric runtime cannot be measured here: {_last(done)}",
            hint="use --metric wall, or a command that prints milliseconds",
        )
    if not done.ok:
        status = "timeout" if "was still running after" in text else "failed"
        raise _stop(done, status, "the profile", limit)
    try:
        document = json.loads(text[text.index("\n{") + 1 if not text.startswith("{") else 0 :
                                   text.rindex("\n}") + 2])  # fmt: skip
        milliseconds = float(document["runtime_ms"])
    except (ValueError, KeyError, TypeError):
        raise _Stop("failed", f"the profile gave no runtime: {done.tail(2)}") from None
    occupancy, resources = document.get("occupancy") or {}, document.get("resources") or {}
    features = {
        "vgpr_per_thread": resources.get("vgpr_per_thread"),
        "lds_bytes": resources.get("lds_bytes"),
        "scratch_bytes": resources.get("scratch_bytes"),
        "occupancy": occupancy.get("theoretical"),
    }
    provenance = document.get("provenance") or {}
    device = {**(provenance.get("device") or {}), "rocm": provenance.get("rocm")}
    return {"samples": [milliseconds], "features": features, "device": device}


def _run(
    template: Template,
    values: Mapping[str, Any],
    log: Path,
    environment: Mapping[str, str],
    timeout_s: float,
    on_start: OnStart,
    lock: tuple[int, ...] = (),
    stdin: Path | None = None,
) -> process.Outcome:
    command = template.fill(values)
    try:
        return process.run(
            command,
            log,
            environment,
            timeout_s,
            stdin=stdin if stdin is not None and stdin.exists() else None,
            keep_open=lock,
            on_start=on_start,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise _Stop("failed", f"cannot run {command[0]}: {reason}") from None


def _stop(done: process.Outcome, status: str, what: str, timeout_s: float) -> _Stop:
    tail = done.tail(40)
    if done.exit_code is None:
        status = "timeout"
    elif _OUT_OF_RESOURCES.search(tail):
        status = "out_of_resources"
    return _Stop(status, f"{what} {done.sentence(timeout_s)}: {_last(done)}".rstrip(": "))


def _last(done: process.Outcome) -> str:
    return done.tail(2).replace("\n", " ")[:300]


def plain_device(name: str) -> discover.Device | None:
    """Where a program runs that is not profiled; None where there is no device at all."""
    try:
        return discover.choose(name)
    except MissingTool:
        return None


def visible_gpus() -> str:
    for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"):
        if os.environ.get(name):
            return os.environ[name]
    return "0"


def _environment(gpu: str | None) -> dict[str, str]:
    # ROCR_VISIBLE_DEVICES renumbers what HIP sees, so HIP's own list is then always its first.
    return {} if gpu is None else {"ROCR_VISIBLE_DEVICES": gpu, "HIP_VISIBLE_DEVICES": "0"}
