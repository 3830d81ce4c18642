"""A tuning run as it was asked for, made into the job that `tune` carries out, or refused."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab.autotune import recorded as recordings
from rocm_perf_lab.autotune import search, template
from rocm_perf_lab.autotune import space as spaces
from rocm_perf_lab.autotune.measure import Recipe
from rocm_perf_lab.autotune.metric import parse_metric
from rocm_perf_lab.autotune.space import Space
from rocm_perf_lab.autotune.template import Template
from rocm_perf_lab.autotune.tune import Job, Progress
from rocm_perf_lab.collect import rocprofv3
from rocm_perf_lab.device import discover, target
from rocm_perf_lab.errors import BadInput, UsageError

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Request:
    """Texts as a person gives them; docs/autotune.md has each."""

    space: Path | None = None
    command: str | None = None
    simulate: Path | None = None
    build: str | None = None
    verify: str | None = None
    metric: str = "runtime"
    budget: str = "10%"
    strategy: str = "auto"
    seed: int = 0
    seed_fraction: float = 0.2
    prune_factor: float = 1.75
    cache: Path | None = None
    workers: int = 1
    scheduler: str | None = None
    timeout_s: float = 300.0
    repeats: int = 1
    device: str = "auto"
    shell: bool = False


def make_job(request: Request, tell: Callable[[Progress], None] = lambda _: None) -> Job:
    if request.strategy not in search.STRATEGIES:
        raise UsageError(
            f"no such strategy: {request.strategy}",
            hint=f"use one of {', '.join(search.STRATEGIES)}",
        )
    if not 0 < request.seed_fraction <= 1:
        raise UsageError("--seed-fraction must be above 0 and at most 1")
    if request.prune_factor < 1:
        raise UsageError("--prune-factor must be at least 1")
    recorded, recipe = None, None
    if request.simulate is not None:
        if request.space is not None or request.command is not None:
            raise UsageError("--simulate replays a recording: no --space, no --cmd-template")
        recorded = recordings.load(request.simulate)
        space = recorded.space
    elif request.space is None or request.command is None:
        raise UsageError(
            "give --space and --cmd-template, or --simulate",
            hint='rocm-perf autotune --space space.json --cmd-template "./kernel --bm {BLOCK_M}"',
        )
    else:
        space = spaces.load(request.space)
        recipe = _recipe(space, request)
    count, seconds = parse_budget(request.budget, space.size)
    plan = search.Plan(
        strategy=request.strategy,
        budget=count,
        seed=request.seed,
        seed_fraction=request.seed_fraction,
        prune_factor=request.prune_factor,
        workers=request.workers,
    )
    return Job(
        space=space,
        plan=plan,
        recipe=recipe,
        recorded=recorded,
        identity=_identity(recipe) if recipe else {},
        cache=request.cache,
        workers=request.workers,
        scheduler=request.scheduler,
        time_limit_s=seconds,
        tell=tell,
    )


def parse_budget(text: str, size: int) -> tuple[int | None, float | None]:
    """(configurations, seconds); one of them is None."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%|s|m|min|h)?\s*", text)
    value = float(match[1]) if match else 0.0
    if match is None or not value > 0:
        raise UsageError(f"--budget {text!r} is no budget", hint="like 10%, 200, 90s, 15m or 2h")
    unit = match[2]
    if unit is None:
        if value != int(value):
            raise UsageError(f"--budget {text!r}: a number of configurations is whole")
        return min(int(value), size), None
    if unit == "%":
        if value > 100:
            raise UsageError(f"--budget {text!r}: the space has only 100 %")
        return min(size, max(1, math.ceil(value / 100 * size - 1e-9))), None
    return None, value * _UNITS[unit[0]]


def _recipe(space: Space, request: Request) -> Recipe:
    names = frozenset(space.names)
    clash = names & set(template.RESERVED)
    if clash:
        raise BadInput(f"a parameter cannot be called {min(clash)}: templates use that word")
    given = {
        "--cmd-template": request.command,
        "--build": request.build,
        "--verify": request.verify,
    }
    parsed = {
        option: template.parse(text, option, names, request.shell)
        for option, text in given.items()
        if text is not None
    }
    used = frozenset().union(*(template.names_in(t) for t in parsed.values()))
    if not used & names:
        raise UsageError(
            "no template names a parameter: every configuration would run the same command",
            hint=f"use {{{space.names[0]}}}",
        )
    if request.shell:
        for name, values in zip(space.names, space.values, strict=True):
            for value in values if name in used else ():
                template.check_for_shell({name: value})
    metric = parse_metric(request.metric, names, request.shell)
    if request.shell and metric.profiled:
        raise UsageError("--shell cannot be profiled: use --metric wall or a command")
    _check_programs(parsed)
    if metric.profiled:
        _check_device(request.device)
    return Recipe(
        command=parsed["--cmd-template"],
        metric=metric,
        build=parsed.get("--build"),
        verify=parsed.get("--verify"),
        timeout_s=request.timeout_s,
        repeats=request.repeats,
        device=request.device,
    )


def _check_programs(templates: Mapping[str, Template]) -> None:
    """A misspelt program would fail once per configuration; what --build makes comes later."""
    for option, found in templates.items():
        if option == "--cmd-template" and "--build" in templates:
            continue
        program = found.arguments[0]
        if not found.shell and "{" not in program and shutil.which(program) is None:
            raise UsageError(f"{option}: there is no program {program}")


def _check_device(name: str) -> None:
    found = rocprofv3.installed()
    wrapper = found is not None and rocprofv3.is_wrapper(found)
    target.choose(name, rocprofv3_installed=found is not None, rocprofv3_is_wrapper=wrapper)


def _identity(recipe: Recipe) -> dict[str, object]:
    """What decides a time besides the parameters and the files."""
    return {
        "command": recipe.command.text,
        "build": recipe.build.text if recipe.build else None,
        "verify": recipe.verify.text if recipe.verify else None,
        "metric": recipe.metric.text,
        "device": [recipe.device, *(f"{d.architecture} {d.product}" for d in discover.hardware())],
        "rocm": discover.rocm_version(),
    }
