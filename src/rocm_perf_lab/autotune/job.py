"""A tuning run as it was asked for, made into the job that `tune` carries out, or refused."""

from __future__ import annotations

import math
import re
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rocm_perf_lab.autotune import executors, search, template, triton
from rocm_perf_lab.autotune import recorded as recordings
from rocm_perf_lab.autotune import space as spaces
from rocm_perf_lab.autotune.evaluation import Evaluation
from rocm_perf_lab.autotune.measure import Recipe
from rocm_perf_lab.autotune.metric import RUNTIME, Metric, parse_metric
from rocm_perf_lab.autotune.space import Space
from rocm_perf_lab.autotune.template import Template
from rocm_perf_lab.autotune.tune import Job, Progress
from rocm_perf_lab.collect import rocprofv3
from rocm_perf_lab.collect.standard_input import Feed, nothing
from rocm_perf_lab.device import discover, target
from rocm_perf_lab.errors import BadInput, UsageError

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Request:
    """Texts as a person gives them; docs/autotune.md has each."""

    space: Path | None = None
    command: str | None = None
    triton: str | None = None  # FILE:KERNEL
    arguments: tuple[str, ...] = ()  # of that program
    stdin: Feed = nothing  # of that program
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
    parse_budget(request.budget, 1)
    if request.arguments and request.triton is None:
        raise UsageError(f"{request.arguments[0]}: arguments go with --triton")
    subject = _subject(request, tell)
    count, seconds = parse_budget(request.budget, subject.space.size)
    plan = search.Plan(
        strategy=request.strategy,
        budget=count,
        seed=request.seed,
        seed_fraction=request.seed_fraction,
        prune_factor=request.prune_factor,
        workers=request.workers,
    )
    return replace(
        subject,
        plan=plan,
        cache=request.cache,
        workers=request.workers,
        scheduler=request.scheduler,
        time_limit_s=seconds,
        tell=tell,
    )


def _subject(request: Request, tell: Callable[[Progress], None]) -> Job:
    """What is tuned: a recording, a Triton kernel or a command; of the search nothing yet."""
    if request.simulate is not None:
        if request.space is not None or request.command is not None or request.triton is not None:
            raise UsageError(
                "--simulate replays a recording: no --space, no --cmd-template, no --triton"
            )
        recorded = recordings.load(request.simulate)
        return Job(recorded.space, search.Plan(), recorded=recorded)
    if request.triton is not None:
        return _triton_kernel(request, request.triton, tell)
    if request.space is None or request.command is None:
        raise UsageError(
            "give --space and --cmd-template, or --simulate",
            hint='rocm-perf autotune --space space.json --cmd-template "./kernel --bm {BLOCK_M}"',
        )
    space = spaces.load(request.space)
    recipe = _recipe(space, request)
    return Job(space, search.Plan(), recipe, identity={**_commands(recipe), **_machine(request)})


def _triton_kernel(request: Request, kernel: str, tell: Callable[[Progress], None]) -> Job:
    if request.command is not None or request.build is not None:
        raise UsageError("--triton runs the program itself: no --cmd-template, no --build")
    program, name = triton.parse_target(kernel)
    space = spaces.load(request.space) if request.space is not None else None
    recipe = triton.TritonRecipe(
        program=program,
        kernel=name,
        arguments=request.arguments,
        python=triton.python(),
        device=discover.choose(request.device),
        wanted=request.device,
        verify=triton.parse_target(request.verify, "--verify", "function")
        if request.verify
        else None,
        names=space.names if space is not None else (),
        metric=_triton_metric(request, space) if space is not None else RUNTIME,
        timeout_s=request.timeout_s,
        repeats=request.repeats,
        stdin=request.stdin,
    )
    session = triton.Session(recipe, executors.local_gpus(request.workers)[0])
    try:
        own, made_of = session.describe()
        if space is None:
            if own is None:
                raise BadInput(f"{name} has no configurations of its own", hint="give --space")
            space = spaces.from_configurations(own, name)
            recipe = replace(recipe, metric=_triton_metric(request, space))
        recipe, ruled_out, left = _compiled(session, recipe, space, tell)
    except BaseException:
        session.end()
        raise
    if request.scheduler is not None:
        session.end()
    else:
        recipe.waiting.append(session)
    return Job(
        left,
        search.Plan(),
        recipe,
        ruled_out=ruled_out,
        identity={**recipe.identity(made_of), **_machine(request)},
    )


def _triton_metric(request: Request, space: Space) -> Metric:
    metric = parse_metric(request.metric, frozenset(space.names), request.shell)
    if request.shell and metric.command is None:
        raise UsageError("--shell runs templates: with --triton only a --metric command is one")
    if metric.profiled and metric != RUNTIME:
        _check_device(request.device)
    return metric


def _compiled(
    session: triton.Session,
    recipe: triton.TritonRecipe,
    space: Space,
    tell: Callable[[Progress], None],
) -> tuple[triton.TritonRecipe, tuple[Evaluation, ...], Space]:
    """What their code objects rule out is not searched; the first one left is the reference."""
    rows = [space.configuration(row) for row in range(space.size)]
    started = time.monotonic()

    def told(text: str) -> None:
        elapsed = time.monotonic() - started
        tell(Progress(int(text), len(rows), None, elapsed, None, "compile"))

    found = session.compile(rows, told)
    left = [row for row, out in enumerate(found) if out is None] or list(range(len(rows)))
    ruled_out = tuple(
        Evaluation(row, rows[row], "compile", "compiler", out)
        for row, out in enumerate(found)
        if out is not None and len(left) < len(rows)
    )
    recipe = replace(recipe, reference=rows[left[0]])
    return recipe, ruled_out, replace(space, codes=space.codes[left])


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


def _commands(recipe: Recipe) -> dict[str, object]:
    return {
        "command": recipe.command.text,
        "build": recipe.build.text if recipe.build else None,
        "verify": recipe.verify.text if recipe.verify else None,
        "metric": recipe.metric.text,
    }


def _machine(request: Request) -> dict[str, object]:
    seen = (f"{d.architecture} {d.product}" for d in discover.hardware())
    return {"device": [request.device, *seen], "rocm": discover.rocm_version()}
