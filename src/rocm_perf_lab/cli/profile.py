"""`rocm-perf profile`: run a program under rocprofv3 and say what limits it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocm_perf_lab import signals
from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import (
    Arguments,
    BoundsOption,
    CeilingsOption,
    Counters,
    Details,
    Device,
    KernelRegex,
    ProfileJson,
    QuietRuntime,
    Report,
    RunFolder,
    RunTimeout,
    SelectOption,
    TimingRuns,
    bounds_variable,
    option,
)
from rocm_perf_lab.cli.output import print_profile, write_page
from rocm_perf_lab.cli.progress import progress
from rocm_perf_lab.cli.streams import say
from rocm_perf_lab.cli.words import arrange
from rocm_perf_lab.collect import run_folder
from rocm_perf_lab.collect.standard_input import given
from rocm_perf_lab.errors import BadInput, UsageError, plain

if TYPE_CHECKING:
    from rocm_perf_lab.workflow import Documents

EXAMPLES = examples(
    "rocm-perf profile ./app",
    "rocm-perf profile ./app --size 4096",
    "rocm-perf profile --att --kernel gemm ./app -- --size 4096",
    "rocm-perf profile --bounds report ./app",
    "rocm-perf profile --json ./app > profile.json",
)

__all__ = ["app", "arrange"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog=EXAMPLES)
def profile(
    program: Annotated[
        str | None,
        typer.Argument(metavar="PROGRAM", help="The program to run."),
    ] = None,
    arguments: Arguments = None,
    capture: Annotated[
        Path | None, option("DIR", "Profile the dispatch in a capture, not a program.")
    ] = None,
    runs: TimingRuns = 3,
    counters: Counters = True,
    att: Annotated[
        bool, typer.Option("--att", help="Also take a thread trace of the dominant kernel.")
    ] = False,
    kernel: KernelRegex = None,
    ceilings: CeilingsOption = "measured",
    select: SelectOption = "path",
    details: Details = False,
    out: RunFolder = Path(run_folder.ROOT),
    timeout: RunTimeout = 600.0,
    device: Device = "auto",
    no_rocprof: Annotated[
        bool,
        typer.Option(
            "--no-rocprof",
            help="No profiler: time the program by the host's clock; the rest stays null.",
        ),
    ] = False,
    bounds: BoundsOption = None,
    ignore_failure: Annotated[
        bool,
        typer.Option("--ignore-failure", help="Profile a program that does not exit with 0 too."),
    ] = False,
    report: Report = None,
    json: ProfileJson = False,
    quiet: QuietRuntime = False,
) -> None:
    """Profile a HIP program.

    One warm-up, timing runs with kernel, HIP and copy traces, counter passes and, with --att, a
    thread trace. Databases and results are kept in a new folder under .rocpd_profile/ (`latest`
    points to it).
    """
    from rocm_perf_lab import workflow
    from rocm_perf_lab.replay import microscope

    if capture is not None:
        if program is not None or kernel is not None or no_rocprof:
            raise UsageError(
                "--capture goes with no program, no --kernel and no --no-rocprof",
                hint="a capture holds one dispatch; `rocm-perf replay profile` has more options",
            )
    elif program is None:
        raise UsageError("no program to profile", hint="rocm-perf profile ./program")
    options = workflow.ProfileOptions(
        program=program or "",
        arguments=tuple(arguments or ()),
        runs=runs,
        counters=counters,
        att=att,
        details=details,
        choices=workflow.Choices(kernel=kernel, ceilings=ceilings, select=select),
        timeout_s=timeout,
        device=device,
        rocprof=not no_rocprof,
        ignore_failure=ignore_failure,
        environment=bounds_variable(bounds),
    )
    if capture is not None:
        with progress(quiet) as tell:
            documents, folder = microscope.profile_capture(capture, options, out, tell)
        _show(documents, folder, report, json, quiet, details)
        return
    label = run_folder.label_of(options.program, options.arguments)
    profiled: workflow.Profiled | None = None
    lost: str | None = None
    try:
        with (
            given() as stdin,
            progress(quiet) as tell,
            run_folder.new_run(out, label) as run,
        ):
            fed = replace(options, stdin=stdin.for_a_run)
            profiled = workflow.profile_so_far(fed, run.folder, tell)
            workflow.write_documents(profiled.documents, run.folder)
    except KeyboardInterrupt as stop:
        say(f"{str(stop) or 'interrupted'}: nothing had been measured, nothing is kept")
        raise typer.Exit(signals.exit_code(stop)) from None
    except OSError as error:
        if profiled is None:
            raise
        lost = f"{out} cannot be written: {error.strerror}"
    _show(profiled.documents, run.final, report, json, quiet, details)
    for warning in run.warnings:
        say(f"warning: {plain(warning)}")
    if lost is not None:
        raise BadInput(f"{lost}; the result is above, its files are not kept")
    if isinstance(profiled.stopped, KeyboardInterrupt):
        said = str(profiled.stopped) or "interrupted"
        say(f"{said}: what was measured until then is above and kept in {run.final}")
        raise typer.Exit(signals.exit_code(profiled.stopped))
    if profiled.stopped is not None:
        raise profiled.stopped


def _show(
    documents: Documents,
    folder: Path | None,
    report: Path | None,
    json: bool,
    quiet: bool,
    details: bool = False,
) -> None:
    from rocm_perf_lab.workflow.report import report_html

    print_profile(documents.profile, folder, json, quiet, details)
    if report is not None:
        write_page(report, report_html(documents, folder))
