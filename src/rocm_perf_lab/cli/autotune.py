"""`rocm-perf autotune`: find the fastest configuration of a program, measuring a few per cent."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocm_perf_lab import signals
from rocm_perf_lab.cli.autotune_progress import progress
from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import Device, Json, Report, option
from rocm_perf_lab.cli.streams import input_is_not_given_on, say
from rocm_perf_lab.collect.standard_input import given, nothing
from rocm_perf_lab.errors import GateFailed, plain, plain_lines

if TYPE_CHECKING:
    from rocm_perf_lab.schema.autotune import AutotuneDocument

EXAMPLES = examples(
    'rocm-perf autotune --space space.json --cmd-template "./app --bm {BM}"',
    'rocm-perf autotune --space space.json --cmd-template "./app {BM}" \\',
    "    --budget 15m --cache tuned.jsonl",
    "rocm-perf autotune --simulate recorded.json.gz --budget 5%",
)

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog=EXAMPLES)
def autotune(
    space: Annotated[
        Path | None,
        option(
            "FILE",
            "The search space: a JSON list of configurations, or parameters and constraints.",
        ),
    ] = None,
    cmd_template: Annotated[
        str | None,
        option("CMD", 'What to run, e.g. "./kernel --bm {BLOCK_M}"; values fill in the braces.'),
    ] = None,
    triton: Annotated[
        str | None,
        option(
            "FILE:KERNEL",
            "Tune a Triton kernel of a Python program, over --space or its own configs; what "
            "follows -- is the program's.",
        ),
    ] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- ARGS]...", help="With --triton."),
    ] = None,
    simulate: Annotated[
        Path | None,
        option("FILE", "Replay a recorded space (a Kernel Tuner cache, also .gz); needs no GPU."),
    ] = None,
    build: Annotated[
        str | None,
        option("CMD", "Build each configuration first; {workdir} is a folder of its own."),
    ] = None,
    verify: Annotated[
        str | None,
        option(
            "CMD",
            "Must exit with 0 after the first run, whose output is its input and {log}. With "
            "--triton file.py:function, which computes what the kernel should.",
        ),
    ] = None,
    metric: Annotated[
        str,
        option(
            "NAME",
            "What to make small: runtime (kernels, by rocprofv3), wall (the whole program), a "
            "metric or counter of the profile, or a command that reads the program's output and "
            "prints a number.",
        ),
    ] = "runtime",
    budget: Annotated[
        str | None,
        option(
            "B",
            "10% of the space (the default; with --triton all of it), 200 configurations, or "
            "90s, 15m, 2h.",
        ),
    ] = None,
    strategy: Annotated[
        str, option("NAME", "auto, seed-predict-confirm, kernel, local, polynomial or random.")
    ] = "auto",
    seed: Annotated[int, typer.Option(min=0, help="Of every random choice.")] = 0,
    seed_fraction: Annotated[
        float,
        option("F", "Share of the budget for the seed phase; auto needs less and takes less."),
    ] = 0.2,
    prune_factor: Annotated[
        float, option("F", "Predicted slower than the best by more than this factor: pruned.")
    ] = 1.75,
    cache: Annotated[
        Path | None, option("FILE", "Results as they come; the next run resumes from it.")
    ] = None,
    workers: Annotated[int, option("N", "GPUs of this machine.", min=1, max=64)] = 1,
    scheduler: Annotated[str | None, option("ADDRESS", "A Dask cluster, tcp://host:8786.")] = None,
    timeout: Annotated[float, option("S", "Limit for each command.", min=0.01)] = 300.0,
    repeats: Annotated[
        int, typer.Option(min=1, max=100, help="Runs per configuration in the search.")
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
    with _one_thread():
        from rocm_perf_lab.autotune import document, job, tune

    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    request = job.Request(
        space=space,
        command=cmd_template,
        triton=triton,
        arguments=tuple(arguments or ()),
        simulate=simulate,
        build=build,
        verify=verify,
        metric=metric,
        budget=budget or ("10%" if triton is None else "100%"),
        strategy=strategy,
        seed=seed,
        seed_fraction=seed_fraction,
        prune_factor=prune_factor,
        cache=cache,
        workers=workers,
        scheduler=scheduler,
        timeout_s=timeout,
        repeats=repeats,
        device=device,
        shell=shell,
    )
    once = triton is not None and workers == 1 and scheduler is None
    if simulate is None and not once:
        input_is_not_given_on("autotune")
    with progress(quiet or (simulate is not None and json)) as tell, given() as ours:
        # A Triton program that runs on one GPU only is run once, or again after a failure.
        request = replace(request, stdin=ours.for_a_run if once else nothing)
        asked = job.make_job(request, tell)
        tuned = tune.tune(asked)
    result = document.document(request, asked, tuned, started)
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


def _print(result: AutotuneDocument, as_json: bool, quiet: bool) -> None:
    from rocm_perf_lab.report.autotune import in_words, summary
    from rocm_perf_lab.schema.common import to_json

    if as_json:
        sys.stdout.write(to_json(result))
    elif quiet:
        if result.best_config is not None:
            print(plain(in_words(result)))
    else:
        sys.stdout.write(plain_lines(summary(result)))
    for warning in result.warnings:
        say(f"warning: {plain(warning)}")
