"""Measuring configurations of a Triton kernel: its program waits at the launch and is asked.

`rocm_perf_triton.tune` (in the folder that Python programs get on their path) is the other end. A
metric other than the kernel's time is taken of the whole program, in which the kernel is fixed to
the configuration (`rocm_perf_triton.fixed`), as of any other command (`measure.py`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rocm_perf_lab import scratch
from rocm_perf_lab.arch.load import gpu as architecture
from rocm_perf_lab.arch.occupancy import occupancy
from rocm_perf_lab.autotune import gpu_lock
from rocm_perf_lab.autotune.evaluation import Measurement
from rocm_perf_lab.autotune.measure import (
    Measuring,
    OnStart,
    Recipe,
    Stop,
    Task,
    answered,
    described,
    gpu_environment,
    measure,
    visible_gpus,
)
from rocm_perf_lab.autotune.metric import RUNTIME, Metric
from rocm_perf_lab.autotune.space import Configuration
from rocm_perf_lab.autotune.template import Template
from rocm_perf_lab.collect.standard_input import Feed, nothing
from rocm_perf_lab.collect.worker import GuardedWorker, Tell
from rocm_perf_lab.device import discover, python_programs
from rocm_perf_lab.errors import BadInput, MissingTool, TimedOut, UsageError

_THREADS = 1024
# What triton.Config takes by name; the rest are the kernel's own, in its dictionary.
_ARGUMENTS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_ABSENT = "(default)"  # where configurations of the kernel's own do not all say the same things
_HAS_TRITON = "import importlib.util, sys; sys.exit(importlib.util.find_spec('triton') is None)"


def parse_target(text: str, option: str = "--triton", what: str = "kernel") -> tuple[Path, str]:
    """`file.py:kernel`."""
    file, _, kernel = text.rpartition(":")
    if not file or not kernel.isidentifier():
        raise UsageError(f"{option} {text}: give a file and a {what}", hint=f"file.py:{what}")
    path = Path(file)
    if not path.is_file():
        raise BadInput(f"{file}: no such file")
    return path, kernel


def python() -> str:
    """The `python` on PATH, as `rocm-perf run` takes it, or this one: the first with Triton."""
    for candidate in (shutil.which("python"), shutil.which("python3"), sys.executable):
        if (
            candidate
            and subprocess.run([candidate, "-c", _HAS_TRITON], check=False).returncode == 0
        ):
            return candidate
    raise MissingTool("there is no Python with Triton", hint="pip install triton")


@dataclass(frozen=True)
class TritonRecipe:
    """How every configuration of one kernel is compiled, checked and timed."""

    program: Path
    kernel: str
    arguments: tuple[str, ...]
    python: str
    device: discover.Device
    wanted: str  # as --device has it
    verify: tuple[Path, str] | None = None  # a file and a function, instead of `reference`
    names: tuple[str, ...] = ()  # parameters that are known before the kernel's own are
    metric: Metric = RUNTIME
    reference: Configuration = field(default_factory=dict)
    timeout_s: float = 300.0
    repeats: int = 1
    stdin: Feed = nothing
    waiting: list[Session] = field(default_factory=list, compare=False)  # to be taken over

    def __reduce__(self) -> tuple[Any, ...]:
        """What goes to another machine: neither a process nor our standard input."""
        plain = [getattr(self, name) for name in self.__dataclass_fields__]
        return TritonRecipe, tuple(plain[:-2])

    @contextlib.contextmanager
    def opened(self, gpu: str | None, on_start: OnStart = lambda _: None) -> Iterator[Measuring]:
        session = next((s for s in self.waiting if s.gpu == gpu), None) or Session(self, gpu)
        session.recipe, session.on_start = self, on_start
        try:
            yield session.measure
        finally:
            session.end()

    def files(self, _: Configuration) -> dict[str, str]:
        """Triton's own hash of the kernel is part of the identity."""
        return {}

    @property
    def whole(self) -> Recipe | None:
        """The program as a command, for a metric that the launch alone does not have."""
        if self.metric == RUNTIME:
            return None
        start = (self.python, "-m", "rocm_perf_triton.fixed", "{triton.Config}")
        words = (self.kernel, str(self.program), *self.arguments)
        return Recipe(
            Template("", (*start, *(w.replace("{", "{{").replace("}", "}}") for w in words))),
            self.metric,
            timeout_s=self.timeout_s,
            repeats=self.repeats,
            device=self.wanted,
            environment=python_programs.environment(
                {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
            ),
            kernel=self.kernel,
        )

    def identity(self, made_of: Sequence[Any]) -> dict[str, object]:
        """What decides a result besides the configuration."""
        check = [self.verify[1], _hash(self.verify[0])] if self.verify else None
        whole = [_hash(self.program), *self.arguments] if self.whole else None
        return {"triton": made_of, "verify": check, "metric": self.metric.text, "program": whole}


class Session:
    """The program, waiting at the launch; started again when a configuration has ended it."""

    def __init__(self, recipe: TritonRecipe, gpu: str | None) -> None:
        self.recipe, self.gpu = recipe, gpu
        self.on_start: OnStart = lambda _: None
        self._worker: GuardedWorker | None = None
        self._kept = contextlib.ExitStack()
        self._log = Path()

    def describe(self) -> tuple[list[Configuration] | None, list[Any]]:
        """Configurations of the kernel's own, if it has some, and what identifies the launch."""
        with self._not_tuned():
            answer = self._start()
        own = answer["configurations"]
        return own and even(own), answer["made_of"]

    def compile(
        self, configurations: Sequence[Configuration], tell: Tell
    ) -> list[Measurement | None]:
        """Why each cannot run, from its code object alone; None where nothing is in its way."""
        message = {
            "do": "compile",
            "configurations": [said(each) for each in configurations],
            "workers": len(os.sched_getaffinity(0)),
        }
        with self._not_tuned():
            answer = self._answer(message, None, tell)
        return [
            why and Measurement("ruled_out", (), why, static_features=self._resources(facts))
            for why, facts in zip(answer["ruled_out"], answer["facts"], strict=True)
        ]

    def measure(self, task: Task) -> Measurement:
        """Never raises for what a configuration does: a failure is a result."""
        recipe = self.recipe
        message = {
            "do": "measure",
            "configuration": said(task.parameters),
            "reference": said(recipe.reference),
            "repeats": recipe.repeats if recipe.whole is None else 0,
            "check": task.verify,
        }
        with gpu_lock.hold(self.gpu if self.gpu is not None else visible_gpus()):
            try:
                if self._worker is None:
                    self._start()
                group = self._worker.group if self._worker is not None else None
                if group is not None:
                    self.on_start(group)
                answer = self._answer(message, recipe.timeout_s)
            except Stop as stop:
                return Measurement(stop.status, reason=stop.reason)
        if "error" in answer:
            raise BadInput(f"--verify: {answer['error']}")
        if answer.get("last"):
            self._end_worker()
        found = Measurement(
            answer["status"],
            tuple(answer["samples"]),
            answer["reason"],
            static_features=self._resources(answer["facts"]),
            device=described(recipe.device),
        )
        if found.status != "ok" or recipe.whole is None:
            return found
        given = {"triton.Config": json.dumps(said(task.parameters))}
        whole = Task({**task.parameters, **given})
        measured = measure(whole, recipe.whole, self.gpu, self.on_start)
        return replace(measured, static_features=found.static_features)

    def end(self) -> None:
        self._end_worker()
        self._kept.close()

    def _start(self) -> Any:
        recipe = self.recipe
        self._kept.close()
        folder = self._kept.enter_context(scratch.folder("rocm-perf-tune-"))
        stdin = self._kept.enter_context(recipe.stdin())
        environment = {
            **discover.environment_for(recipe.device, recipe.wanted),
            **gpu_environment(self.gpu),
            "TRITON_CACHE_AUTOTUNING": "0",
        }
        program = [recipe.kernel, str(recipe.program), *recipe.arguments]
        start = [recipe.python, "-m", "rocm_perf_triton.tune"]
        self._worker = GuardedWorker(
            lambda into, out: [*start, str(into), str(out), *program],
            folder / "output.txt",
            environment,
            stdin,
            on_start=self.on_start,
        )
        limits = architecture(recipe.device.architecture).limits
        message = {
            "do": "open",
            "verify": recipe.verify and [str(recipe.verify[0].resolve()), recipe.verify[1]],
            "limits": {"lds_bytes": limits.lds_bytes_per_workgroup, "threads": _THREADS},
            "names": recipe.names,
        }
        answer = self._answer(message, recipe.timeout_s)
        if "error" in answer:
            raise Stop("failed", answer["error"])
        return answer

    def _answer(self, message: object, limit_s: float | None, tell: Tell = lambda _: None) -> Any:
        """Stop where none came; the program is started again then."""
        assert self._worker is not None
        self._worker.tell = tell
        try:
            return answered(self._worker, message, limit_s, self.recipe.kernel)
        except Stop:
            self._end_worker()
            raise

    @contextlib.contextmanager
    def _not_tuned(self) -> Iterator[None]:
        """Before anything was measured, what stops the program ends the run."""
        try:
            yield
        except Stop as stop:
            kind = TimedOut if stop.status == "timeout" else BadInput
            raise kind(
                f"{self.recipe.program}: {self.recipe.kernel} was not tuned: {stop.reason}",
                hint="does the program run, and launch that kernel, under `rocm-perf run python`?",
            ) from None

    def _end_worker(self) -> None:
        if self._worker is not None:
            self._worker.end()
        self._worker = None

    def _resources(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        if "problem" in facts:
            return {}
        found = occupancy(
            architecture(self.recipe.device.architecture),
            threads=facts["threads"],
            vgprs=facts["vgprs"] - facts["agprs"],
            agprs=facts["agprs"],
            total_vgprs=facts["vgprs"],
            sgprs=facts["sgprs"],
            lds_bytes=facts["lds_bytes"],
        )
        return {**facts, "waves_per_simd": found.waves_per_simd, "limiter": found.limiter}


def even(configurations: Sequence[Mapping[str, Any]]) -> list[Configuration]:
    """The same parameters in each: a space is made of rows."""
    names = dict.fromkeys(name for each in configurations for name in each)
    return [{name: each.get(name, _ABSENT) for name in names} for each in configurations]


def said(configuration: Configuration) -> dict[str, Any]:
    """What a configuration really sets."""
    return {k: v for k, v in configuration.items() if v != _ABSENT}


def config_text(configuration: Configuration) -> str:
    """`triton.Config({...}, num_warps=4)`, to paste."""
    given = said(configuration)
    own = {k: v for k, v in given.items() if k not in _ARGUMENTS}
    named = [f"{k}={given[k]!r}" for k in _ARGUMENTS if k in given]
    inside = ", ".join(f'"{k}": {v!r}' for k, v in own.items())
    return "triton.Config(" + ", ".join(["{" + inside + "}", *named]) + ")"


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
