"""`rocm-perf analyze`: existing databases in, a verdict out. Needs no GPU and no ROCm."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Annotated

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import (
    CeilingsOption,
    Details,
    KernelRegex,
    ProfileJson,
    QuietRuntime,
    Report,
    RunFolder,
    SelectOption,
    option,
)
from rocm_perf_lab.cli.output import print_profile, write_page
from rocm_perf_lab.cli.progress import progress
from rocm_perf_lab.cli.streams import say
from rocm_perf_lab.collect import run_folder
from rocm_perf_lab.errors import BadInput, plain

EXAMPLES = examples(
    "rocm-perf analyze .rocpd_profile/latest",
    "rocm-perf analyze run1_results.db run2_results.db",
    "rocm-perf analyze --json traces/ > profile.json",
)

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog=EXAMPLES)
def analyze(
    traces: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILES...",
            help="rocpd databases (*_results.db), rocprofv3 JSON or CSV files, PyTorch profiler "
            "traces, or folders that hold them. Passes, processes and repeated runs of one "
            "program may be mixed. May be left out with --att.",
        ),
    ] = None,
    att: Annotated[
        list[Path] | None,
        option("DIR", "Thread-trace output (ui_output_* folders) to read too, or alone."),
    ] = None,
    kernel: KernelRegex = None,
    ceilings: CeilingsOption = "measured",
    select: SelectOption = "path",
    gpu: Annotated[
        str | None, option("NAME", "The GPU, where the traces do not tell: MI300X, gfx942.")
    ] = None,
    details: Details = False,
    out: RunFolder = Path(run_folder.ROOT),
    report: Report = None,
    json: ProfileJson = False,
    quiet: QuietRuntime = False,
) -> None:
    """Analyze traces that rocprofv3 or PyTorch's profiler has written.

    Prints a summary and writes profile.json, roofline.json, dag.json and analysis.json into a
    new folder under .rocpd_profile/ (`latest` points to it).
    """
    from rocm_perf_lab import workflow
    from rocm_perf_lab.workflow.report import report_html

    with progress(quiet) as tell:
        documents = workflow.analyze_files(
            expand(traces or []),
            att=tuple(att or ()),
            choices=workflow.Choices(kernel=kernel, ceilings=ceilings, select=select, gpu=gpu),
            tell=tell,
        )
    final: Path | None = None
    lost: BadInput | None = None
    try:
        with run_folder.new_run(out, "analyze") as run:
            workflow.write_documents(documents, run.folder)
        final = run.final
        for warning in run.warnings:
            say(f"warning: {plain(warning)}")
    except BadInput as error:
        lost = error
    except OSError as error:
        lost = BadInput(f"{out} cannot be written: {error.strerror}")
    print_profile(documents.profile, final, json, quiet, details)
    if report is not None:
        write_page(report, report_html(documents, final))
    if lost is not None:
        raise BadInput(f"{lost.message}; the result is above, its files are not kept", lost.hint)


def expand(patterns: list[str]) -> list[Path]:
    """File names as given; a pattern the shell left alone is expanded here."""
    paths: list[Path] = []
    for pattern in patterns:
        if Path(pattern).exists() or not glob.has_magic(pattern):
            paths.append(Path(pattern))
            continue
        found = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 (absolute patterns)
        if not found:
            raise BadInput(f"no file matches {pattern}")
        paths += map(Path, found)
    return paths
