"""`rocm-perf profile`: run a program under rocprofv3 and say what limits it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rocm_perf_lab import signals
from rocm_perf_lab.cli.analyze import Ceilings, DetailsOption, Select, SelectOption, check_regex
from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.output import print_profile, write_page
from rocm_perf_lab.cli.progress import progress
from rocm_perf_lab.cli.run import BOUNDS_HELP, Bounds, bounds_variable
from rocm_perf_lab.cli.streams import say
from rocm_perf_lab.cli.words import arrange
from rocm_perf_lab.collect import run_folder
from rocm_perf_lab.errors import BadInput, UsageError, plain

EXAMPLES = examples(
    "rocm-perf profile ./app",
    "rocm-perf profile ./app --size 4096",
    "rocm-perf profile --att --kernel gemm ./app -- --size 4096",
    "rocm-perf profile --json ./app > profile.json",
)

__all__ = ["app", "arrange"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog=EXAMPLES)
def profile(
    program: Annotated[
        str | None,
        typer.Argument(metavar="PROGRAM", help="The program to run.", show_default=False),
    ] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[--] ARGS", help="Its arguments, best after two dashes."),
    ] = None,
    capture: Annotated[
        Path | None,
        typer.Option(
            "--capture", metavar="DIR", help="Profile the dispatch in a capture, not a program."
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", min=1, max=1000, help="Timing runs after one warm-up.")
    ] = 3,
    counters: Annotated[
        bool, typer.Option("--counters/--no-counters", help="Collect hardware counters.")
    ] = True,
    att: Annotated[
        bool, typer.Option("--att", help="Also take a thread trace of the dominant kernel.")
    ] = False,
    kernel: Annotated[
        str | None, typer.Option("--kernel", metavar="REGEX", help="Only kernels that match.")
    ] = None,
    ceilings: Annotated[
        Ceilings, typer.Option(help="Roofs to compare with: measured where known, or datasheet.")
    ] = Ceilings.measured,
    select: SelectOption = Select.path,
    details: DetailsOption = False,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Where the run's folder with its files goes."),
    ] = Path(run_folder.ROOT),
    timeout: Annotated[
        float,
        typer.Option("--timeout", metavar="S", min=0.1, help="Limit in seconds for each run."),
    ] = 600.0,
    device: Annotated[
        str,
        typer.Option(
            "--device", metavar="NAME", help="auto, rocm, virtual, or one by name: virtual:mi300x."
        ),
    ] = "auto",
    no_rocprof: Annotated[
        bool,
        typer.Option(
            "--no-rocprof",
            help="No profiler: time the program by the host's clock; the rest stays null.",
        ),
    ] = False,
    bounds: Annotated[
        Bounds | None, typer.Option("--bounds", help=BOUNDS_HELP, show_default=False)
    ] = None,
    ignore_failure: Annotated[
        bool,
        typer.Option("--ignore-failure", help="Profile a program that does not exit with 0 too."),
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Also write an HTML report there."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print only JSON (profile.json) on stdout.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print only the runtime in milliseconds.")
    ] = False,
) -> None:
    """Profile a HIP program.

    One warm-up, timing runs with kernel, HIP and copy traces, counter passes and, with --att, a
    thread trace. Databases and results are kept in a new folder under .rocpd_profile/ (`latest`
    points to it).
    """
    from rocm_perf_lab import workflow
    from rocm_perf_lab.replay import microscope
    from rocm_perf_lab.workflow.report import report_html

    check_regex(kernel)
    if capture is not None:
        if program is not None or kernel is not None or no_rocprof:
            raise UsageError(
                "--capture goes with no program, no --kernel and no --no-rocprof",
                hint="a capture holds one dispatch; `rocm-perf replay profile` has more options",
            )
        replayed = microscope.Options(
            capture=capture,
            runs=runs,
            counters=counters,
            att=att,
            ceilings=ceilings.value,
            timeout_s=timeout,
            device=device,
        )
        with progress(quiet) as tell:
            documents, folder = microscope.profile_capture(replayed, out, tell)
        if report is not None:
            write_page(report, report_html(documents, folder))
        print_profile(documents.profile, folder, json, quiet)
        return
    if program is None:
        raise UsageError("no program to profile", hint="rocm-perf profile ./program")
    options = workflow.Options(
        program=program,
        arguments=tuple(arguments or ()),
        runs=runs,
        counters=counters,
        att=att,
        details=details,
        choices=workflow.Choices(kernel=kernel, ceilings=ceilings.value, select=select.value),
        timeout_s=timeout,
        device=device,
        rocprof=not no_rocprof,
        ignore_failure=ignore_failure,
        environment=bounds_variable(bounds),
    )
    label = run_folder.label_of(program, options.arguments)
    profiled: workflow.Profiled | None = None
    lost: str | None = None
    try:
        with progress(quiet) as tell, run_folder.new_run(out, label) as run:
            profiled = workflow.profile_so_far(options, run.folder, tell)
            workflow.write_documents(profiled.documents, run.folder)
    except KeyboardInterrupt as stop:
        say(f"{str(stop) or 'interrupted'}: nothing had been measured, nothing is kept")
        raise typer.Exit(signals.exit_code(stop)) from None
    except OSError as error:
        if profiled is None:
            raise
        lost = f"{out} cannot be written: {error.strerror}"
    print_profile(profiled.documents.profile, run.final, json, quiet, details)
    if report is not None:
        write_page(report, report_html(profiled.documents, run.final))
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
