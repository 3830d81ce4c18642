"""`rocm-perf replay`: run a captured dispatch again, look into captures, compare them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import (
    CeilingsOption,
    Counters,
    Device,
    Json,
    ProfileJson,
    QuietRuntime,
    RunFolder,
    RunTimeout,
    TimingRuns,
    option,
)
from rocm_perf_lab.cli.progress import progress
from rocm_perf_lab.collect import run_folder

EXAMPLES = examples(
    "rocm-perf replay info",
    "rocm-perf replay full-vm capture/",
    "rocm-perf replay diff before/ after/",
)

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)

Folder = Annotated[
    Path | None,
    typer.Argument(metavar="DIR", help="A capture's folder (default: the newest)."),
]
OtherBuild = Annotated[
    Path | None,
    typer.Option("--hsaco", metavar="FILE", help="Take this build of the kernel instead."),
]
TranslatePointers = Annotated[
    bool,
    typer.Option(
        "--translate-pointers", help="Move words in memory that point into code with the code."
    ),
]


@app.callback(epilog=EXAMPLES)
def replay() -> None:
    """Run a captured dispatch again, at the same addresses, in a process of its own."""


@app.command(
    "info", epilog=examples("rocm-perf replay info", "rocm-perf replay info capture/ --json")
)
def info_command(capture: Folder = None, json: Json = False) -> None:
    """Show what is in a capture; needs no GPU."""
    from rocm_perf_lab.replay.info import info
    from rocm_perf_lab.report import replay as report
    from rocm_perf_lab.schema.common import to_json

    document = info(capture)
    sys.stdout.write(to_json(document) if json else report.info(document))


@app.command("reserve-check", epilog=examples("rocm-perf replay reserve-check capture/"))
def reserve_command(capture: Folder = None, device: Device = "auto", json: Json = False) -> None:
    """Are the captured addresses free?

    Exit code 0: all of them; 1: a step failed; 2: one would be relocated. Nothing stays mapped.
    """
    from rocm_perf_lab.replay.run import reserve_check
    from rocm_perf_lab.report import replay as report
    from rocm_perf_lab.schema.common import to_json

    document = reserve_check(capture, device)
    sys.stdout.write(to_json(document) if json else report.reserve(document))
    raise typer.Exit({"exact": 0, "failed": 1, "relocated": 2}[document.verdict])


@app.command(
    "full-vm",
    epilog=examples(
        "rocm-perf replay full-vm",
        "rocm-perf replay full-vm --iterations 100 --cache flush capture/",
        "rocm-perf replay full-vm --hsaco faster.hsaco --verify exact capture/",
        "rocm-perf replay full-vm --no-timing capture/",
    ),
)
def full_vm_command(
    capture: Folder = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1_000_000,
            help="Dispatches that are timed (default: 10, fewer if that would take over 20 s).",
        ),
    ] = None,
    warmup: Annotated[int, typer.Option(min=0, max=1_000_000, help="Dispatches before these.")] = 1,
    no_recopy: Annotated[
        bool, typer.Option("--no-recopy", help="Do not restore memory between iterations.")
    ] = False,
    cache: Annotated[
        Literal["warm", "flush"],
        typer.Option(help="Caches as the last iteration left them, or flushed."),
    ] = "warm",
    hsaco: OtherBuild = None,
    verify: Annotated[
        str | None,
        option("exact|TOL", "What counts as the same output (default: a tolerance by type)."),
    ] = None,
    dtype: Annotated[str | None, option("TYPE", "Type of the output: f32, bf16, i32, ...")] = None,
    translate_pointers: TranslatePointers = False,
    no_timing: Annotated[
        bool,
        typer.Option("--no-timing", help="Only compare what comes out: no model of the time runs."),
    ] = False,
    timeout: Annotated[float, option("S", "Limit in seconds.", min=0.1)] = 3600.0,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Restore memory, dispatch, time, compare.

    Times are those of the dispatch's own timestamps. What comes out is compared with the captured
    output every time; exit code 1: it differs.
    """
    from rocm_perf_lab.replay.run import ReplayOptions, full_vm
    from rocm_perf_lab.report import replay as report
    from rocm_perf_lab.schema.common import to_json

    options = ReplayOptions(
        capture=capture,
        iterations=iterations,
        warmup=warmup,
        recopy=not no_recopy,
        cache=cache,
        hsaco=hsaco,
        verify=verify,
        dtype=dtype,
        device=device,
        translate_pointers=translate_pointers,
        timeout_s=timeout,
        timed=not no_timing,
    )
    with progress() as tell:
        document = full_vm(options, tell)
    sys.stdout.write(to_json(document) if json else report.replay(document))
    raise typer.Exit(0 if document.output.accepted else 1)


@app.command(
    "profile",
    epilog=examples(
        "rocm-perf replay profile capture/", "rocm-perf replay profile --no-att --runs 10"
    ),
)
def profile_command(
    capture: Folder = None,
    runs: TimingRuns = 3,
    iterations: Annotated[int, typer.Option(min=1, max=10_000, help="Dispatches in each run.")] = 3,
    counters: Counters = True,
    att: Annotated[
        bool, typer.Option("--att/--no-att", help="Also take a thread trace of the kernel.")
    ] = True,
    hsaco: OtherBuild = None,
    ceilings: CeilingsOption = "measured",
    translate_pointers: TranslatePointers = False,
    out: RunFolder = Path(run_folder.ROOT),
    timeout: RunTimeout = 600.0,
    device: Device = "auto",
    json: ProfileJson = False,
    quiet: QuietRuntime = False,
) -> None:
    """Roofline, counters, thread trace and verdict of the captured dispatch alone."""
    from rocm_perf_lab.cli.output import print_profile
    from rocm_perf_lab.replay.microscope import profile_capture
    from rocm_perf_lab.workflow import Choices, ProfileOptions

    asked = ProfileOptions(
        program="",
        runs=runs,
        counters=counters,
        att=att,
        choices=Choices(ceilings=ceilings),
        timeout_s=timeout,
        device=device,
    )
    with progress(quiet) as tell:
        documents, folder = profile_capture(
            capture, asked, out, tell,
            iterations=iterations, hsaco=hsaco, translate_pointers=translate_pointers,
        )  # fmt: skip
    print_profile(documents.profile, folder, json, quiet)


@app.command("diff", epilog=examples("rocm-perf replay diff before/ after/"))
def diff_command(
    first: Annotated[Path, typer.Argument(metavar="A", help="A capture's folder.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another's.")],
    json: Json = False,
) -> None:
    """Compare two captures.

    Dispatch, arguments, regions and memory, with the first differing element. Exit code 1: they
    differ.
    """
    from rocm_perf_lab.replay.diff import diff
    from rocm_perf_lab.report import replay as report
    from rocm_perf_lab.schema.common import to_json

    document = diff(first, second)
    sys.stdout.write(to_json(document) if json else report.diff(document))
    raise typer.Exit(0 if document.same else 1)
