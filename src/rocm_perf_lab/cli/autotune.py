"""`rocm-perf autotune`: find the fastest configuration of a program, measuring a few per cent."""

from __future__ import annotations

import math
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from rocm_perf_lab import signals
from rocm_perf_lab.cli.autotune_triton import run_triton
from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import Device, Json, Report
from rocm_perf_lab.cli.streams import say
from rocm_perf_lab.errors import BadInput, GateFailed, UsageError, plain, plain_lines

if TYPE_CHECKING:
    from rocm_perf_lab.autotune.evaluation import Evaluation
    from rocm_perf_lab.autotune.measure import Recipe
    from rocm_perf_lab.autotune.space import Space
    from rocm_perf_lab.autotune.template import Template
    from rocm_perf_lab.autotune.tune import Job, Progress
    from rocm_perf_lab.schema.autotune import AutotuneDocument
    from rocm_perf_lab.schema.common import Provenance

EXAMPLES = examples(
    'rocm-perf autotune --space space.json --cmd-template "./app --bm {BM}"',
    'rocm-perf autotune --space space.json --cmd-template "./app {BM}" \\',
    "    --budget 15m --cache tuned.jsonl",
    "rocm-perf autotune --simulate recorded.json.gz --budget 5%",
)

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


@app.command(epilog=EXAMPLES)
def autotune(
    space: Annotated[
        Path | None,
        typer.Option(
            "--space",
            metavar="FILE",
            help="The search space: a JSON list of configurations, or parameters and constraints.",
        ),
    ] = None,
    cmd_template: Annotated[
        str | None,
        typer.Option(
            "--cmd-template",
            metavar="CMD",
            help='What to run, e.g. "./kernel --bm {BLOCK_M}"; values fill in the braces.',
        ),
    ] = None,
    triton: Annotated[
        str | None,
        typer.Option(
            "--triton",
            metavar="FILE:KERNEL",
            help="Tune a Triton kernel of a Python program, over --space or its own configs; what "
            "follows -- is the program's.",
        ),
    ] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- ARGS]...", help="With --triton.", show_default=False),
    ] = None,
    simulate: Annotated[
        Path | None,
        typer.Option(
            "--simulate",
            metavar="FILE",
            help="Replay a recorded space (a Kernel Tuner cache, also .gz); needs no GPU.",
        ),
    ] = None,
    build: Annotated[
        str | None,
        typer.Option(
            "--build",
            metavar="CMD",
            help="Build each configuration first; {workdir} is a folder of its own.",
        ),
    ] = None,
    verify: Annotated[
        str | None,
        typer.Option(
            "--verify",
            metavar="CMD",
            help="Must exit with 0 after the first run, whose output is its input and {log}.",
        ),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="runtime (kernels, by rocprofv3), wall (the whole program), or a command that "
            "reads the program's output and prints milliseconds.",
        ),
    ] = "runtime",
    budget: Annotated[
        str,
        typer.Option(
            "--budget", metavar="B", help="10% of the space, 200 configurations, or 90s, 15m, 2h."
        ),
    ] = "10%",
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            metavar="NAME",
            help="auto, seed-predict-confirm, kernel, local, polynomial or random.",
        ),
    ] = "auto",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of every random choice.")] = 0,
    seed_fraction: Annotated[
        float,
        typer.Option(
            "--seed-fraction",
            metavar="F",
            help="Share of the budget for the seed phase; auto needs less and takes less.",
        ),
    ] = 0.2,
    prune_factor: Annotated[
        float,
        typer.Option(
            "--prune-factor",
            metavar="F",
            help="Predicted slower than the best by more than this factor: pruned.",
        ),
    ] = 1.75,
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache", metavar="FILE", help="Results as they come; the next run resumes from it."
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=1, max=64, help="GPUs of this machine.")
    ] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="A Dask cluster, tcp://host:8786."),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="S", min=0.01, help="Limit for each command.")
    ] = 300.0,
    repeats: Annotated[
        int,
        typer.Option("--repeats", min=1, max=100, help="Runs per configuration in the search."),
    ] = 1,
    device: Device = "auto",
    shell: Annotated[
        bool,
        typer.Option(
            "--shell", help="Run the templates by /bin/sh; only harmless values are taken."
        ),
    ] = False,
    report: Report = None,
    json: Json = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print only the best configuration's parameters.")
    ] = False,
) -> None:
    """Find the fastest configuration of a program.

    Seed, predict, confirm: a few configurations are measured, models learn from them, and only
    promising ones are measured next; the leaders are measured again until the best is certain.
    Ctrl-C ends the run with the best so far and exit code 130.
    """
    if triton is not None:
        if cmd_template is not None or simulate is not None or build is not None:
            raise UsageError("--triton runs the program itself: no --cmd-template, no --build")
        run_triton(
            triton, tuple(arguments or ()), space, cache, device, workers, json=json, quiet=quiet
        )
        return
    if arguments:
        raise UsageError(f"{arguments[0]}: arguments go with --triton")
    with _one_thread():
        from rocm_perf_lab.autotune import document, search, tune

    if strategy not in search.STRATEGIES:
        raise UsageError(
            f"no such strategy: {strategy}", hint=f"use one of {', '.join(search.STRATEGIES)}"
        )
    if not 0 < seed_fraction <= 1:
        raise UsageError("--seed-fraction must be above 0 and at most 1")
    if prune_factor < 1:
        raise UsageError("--prune-factor must be at least 1")
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    job = _job(
        space=space,
        simulate=simulate,
        templates={"--cmd-template": cmd_template, "--build": build, "--verify": verify},
        metric=metric,
        limits=(timeout, repeats),
        device=device,
        shell=shell,
    )
    size = job.space.size
    count, seconds = parse_budget(budget, size)
    plan = search.Plan(
        strategy=strategy,
        budget=count,
        seed=seed,
        seed_fraction=seed_fraction,
        prune_factor=prune_factor,
        workers=workers,
    )
    with _progress(quiet or (simulate is not None and json)) as tell:
        job = tune.Job(
            space=job.space,
            plan=plan,
            recipe=job.recipe,
            recorded=job.recorded,
            identity=job.identity,
            cache=cache,
            workers=workers,
            scheduler=scheduler,
            time_limit_s=seconds,
            tell=tell,
        )
        tuned = tune.tune(job)
    asked = document.Asked(budget=budget, metric="recorded" if simulate else metric)
    result = document.document(job, tuned, asked, _provenance(job, tuned.evaluations, started))
    _print(result, json, quiet)
    if report is not None:
        from rocm_perf_lab.cli.output import write_page
        from rocm_perf_lab.report.autotune_page import render

        write_page(report, render(result))
    if tuned.stopped is not None:
        said = str(tuned.stopped) or "interrupted"
        kept = f"; they are kept in {cache}" if cache is not None else "; no --cache keeps them"
        say(f"{said}: {result.evaluated_configs} configurations were measured{kept}")
        raise typer.Exit(signals.exit_code(tuned.stopped))
    if result.best_config is None:
        reasons = [e.reason for e in result.evaluations if e.reason]
        raise GateFailed(
            f"none of {result.evaluated_configs} configurations worked",
            hint=f"the first: {reasons[0]}" if reasons else None,
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


def _job(
    space: Path | None,
    simulate: Path | None,
    templates: dict[str, str | None],
    metric: str,
    limits: tuple[float, int],
    device: str,
    shell: bool,
) -> Job:
    from rocm_perf_lab.autotune import recorded as recordings
    from rocm_perf_lab.autotune import search, tune
    from rocm_perf_lab.autotune import space as spaces

    command = templates["--cmd-template"]
    if simulate is not None:
        if space is not None or command is not None:
            raise UsageError("--simulate replays a recording: no --space, no --cmd-template")
        recording = recordings.load(simulate)
        return tune.Job(recording.space, search.Plan(), recorded=recording)
    if space is None or command is None:
        raise UsageError(
            "give --space and --cmd-template, or --simulate",
            hint='rocm-perf autotune --space space.json --cmd-template "./kernel --bm {BLOCK_M}"',
        )
    found = spaces.load(space)
    recipe = _recipe(found, templates, metric, limits, device, shell)
    return tune.Job(found, search.Plan(), recipe=recipe, identity=_identity(recipe))


def _recipe(
    space: Space,
    templates: dict[str, str | None],
    metric: str,
    limits: tuple[float, int],
    device: str,
    shell: bool,
) -> Recipe:
    from rocm_perf_lab.autotune import template
    from rocm_perf_lab.autotune.measure import METRICS, Recipe

    names = frozenset(space.names)
    clash = names & set(template.RESERVED)
    if clash:
        raise BadInput(f"a parameter cannot be called {min(clash)}: templates use that word")
    parsed = {
        option: template.parse(text, option, names, shell)
        for option, text in templates.items()
        if text is not None
    }
    used = frozenset().union(*(template.names_in(t) for t in parsed.values()))
    if not used & names:
        raise UsageError(
            "no template names a parameter: every configuration would run the same command",
            hint=f"use {{{space.names[0]}}}",
        )
    if shell:
        for name, values in zip(space.names, space.values, strict=True):
            for value in values if name in used else ():
                template.check_for_shell({name: value})
    own = metric if metric in METRICS else template.parse(metric, "--metric", names, shell)
    if shell and own == "runtime":
        raise UsageError("--shell cannot be profiled: use --metric wall or a command")
    _check_programs(parsed, own)
    if own == "runtime":
        _check_device(device)
    timeout_s, repeats = limits
    return Recipe(
        command=parsed["--cmd-template"],
        metric=own,
        build=parsed.get("--build"),
        verify=parsed.get("--verify"),
        timeout_s=timeout_s,
        repeats=repeats,
        device=device,
    )


def _check_programs(templates: Mapping[str, Template], metric: str | Template) -> None:
    """A misspelt program would fail once per configuration; what --build makes comes later."""
    named = dict(templates)
    if not isinstance(metric, str):
        named["--metric"] = metric
    if "--build" in named:
        del named["--cmd-template"]
    for option, found in named.items():
        program = found.arguments[0]
        if not found.shell and "{" not in program and shutil.which(program) is None:
            raise UsageError(
                f"{option}: there is no program {program}",
                hint="--metric is runtime, wall or a command" if option == "--metric" else None,
            )


def _check_device(name: str) -> None:
    from rocm_perf_lab.collect import rocprofv3
    from rocm_perf_lab.device import target

    found = rocprofv3.installed()
    wrapper = found is not None and rocprofv3.is_wrapper(found)
    target.choose(name, rocprofv3_installed=found is not None, rocprofv3_is_wrapper=wrapper)


def _identity(recipe: Recipe) -> dict[str, object]:
    """What decides a time besides the parameters and the files."""
    from rocm_perf_lab.autotune.template import Template
    from rocm_perf_lab.device import discover

    metric = recipe.metric
    return {
        "command": recipe.command.text,
        "build": recipe.build.text if recipe.build else None,
        "verify": recipe.verify.text if recipe.verify else None,
        "metric": metric.text if isinstance(metric, Template) else metric,
        "device": [recipe.device, *(f"{d.architecture} {d.product}" for d in discover.hardware())],
        "rocm": _rocm_version(),
    }


def _rocm_version() -> str | None:
    path = Path(os.environ.get("ROCM_PATH", "/opt/rocm")) / ".info" / "version"
    try:
        return path.read_text("utf-8").strip()[:80]
    except (OSError, UnicodeDecodeError):
        return None


def _provenance(job: Job, evaluations: list[Evaluation], started: str) -> Provenance:
    import platform

    from rocm_perf_lab import __version__
    from rocm_perf_lab.schema.common import DeviceInfo, Provenance
    from rocm_perf_lab.workflow.provenance import without_secrets

    devices = [e.measurement.device for e in evaluations if e.measurement.device]
    seen = devices[0] if devices else {}
    kind = seen.get("kind", "unknown")
    name = seen.get("name") or (job.recorded.device if job.recorded else None)
    return Provenance(
        tool_version=__version__,
        command=without_secrets(["rocm-perf", *sys.argv[1:]]),
        # A replay gives the same bytes every time.
        started=None if job.recorded else started,
        host=None if job.recorded else platform.node(),
        device=DeviceInfo(kind=kind, name=name, architecture=seen.get("architecture")),
        rocm=seen.get("rocm") or (None if job.recorded else _rocm_version()),
        inputs=[],
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    """numpy's algebra on one thread: the matrices are small, and the cores are the program's."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    ours = [name for name in names if name not in os.environ]
    os.environ.update(dict.fromkeys(ours, "1"))
    try:
        yield
    finally:
        # The measured programs must not inherit it.
        for name in ours:
            del os.environ[name]


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[Progress], None]]:
    console = Console(stderr=True, highlight=False)
    if quiet:
        yield lambda _: None
    elif console.is_terminal:
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        with Bar(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"),
            console=console, transient=True,
        ) as bar:  # fmt: skip
            task = bar.add_task("tuning", total=None, state="")

            def show(p: Progress) -> None:
                done, total = float(p.evaluated), float(p.budget or 0)
                if not p.budget:
                    done, total = p.elapsed_s, p.elapsed_s + (p.left_s or 0.0)
                bar.update(task, completed=done, total=total, state=describe(p))

            yield show
    else:
        said, last = 0.0, (-1, "search")

        def line(p: Progress) -> None:
            """A log gets what is new, at most every two seconds, and a sign of life a minute."""
            nonlocal said, last
            silence = p.elapsed_s - said
            if silence >= (2.0 if (p.evaluated, p.phase) != last else 60.0):
                said, last = p.elapsed_s, (p.evaluated, p.phase)
                say(f"rocm-perf: {describe(p)}")

        yield line


def describe(p: Progress) -> str:
    of = f" of {p.budget}" if p.budget else ""
    best = f"best {p.best_ms:.4g} ms" if p.best_ms is not None else "none works so far"
    left = f", {clock(p.left_s)} left" if p.left_s is not None and p.phase == "search" else ""
    what = "" if p.phase == "search" else ", measuring the leaders again"
    return f"{p.evaluated}{of} measured, {best}{left}{what}"


def clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 60}:{whole % 60:02d}"


def _print(result: AutotuneDocument, as_json: bool, quiet: bool) -> None:
    from rocm_perf_lab.schema.common import to_json

    best = result.best_config
    if as_json:
        sys.stdout.write(to_json(result))
    elif quiet:
        if best:
            print(plain(" ".join(f"{k}={v}" for k, v in best.parameters.items())))
    else:
        sys.stdout.write(plain_lines(summary(result)))
    for warning in result.warnings:
        say(f"warning: {plain(warning)}")


def summary(result: AutotuneDocument) -> str:
    lines = [
        f"{result.evaluated_configs} of {result.search_space_size} configurations measured "
        f"({', '.join(f'{n} {s}' for s, n in result.statuses.items())})"
    ]
    best = result.best_config
    if best is not None:
        noun = "sample" if best.samples == 1 else "samples"
        spread = f", CV {100 * best.cv:.1f} %" if best.cv is not None else ""
        lines.append(f"best: {best.runtime_ms:.6g} ms ({best.samples} {noun}{spread})")
        lines += [f"  {name} = {value}" for name, value in best.parameters.items()]
    if result.optimum_fraction is not None:
        lines.append(f"of the recorded optimum: {100 * result.optimum_fraction:.2f} %")
    model = result.model
    if model.r2 is not None and model.rank_correlation is not None:
        lines.append(
            f"model out of sample: R2 {model.r2:.2f}, rank correlation "
            f"{model.rank_correlation:.2f}; {result.phases.predict.pruned} pruned"
        )
    top = [p for p in result.influence if p.share is not None][:5]
    if top:
        shares = ", ".join(f"{p.parameter} {100 * (p.share or 0):.0f} %" for p in top)
        lines.append(f"influence on the time: {shares}")
    return "\n".join(lines) + "\n"
