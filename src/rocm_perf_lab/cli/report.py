"""`rocm-perf report`: a run as one HTML file that opens anywhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import KeptRuns, RunOrTraces, ThreadTraces, option
from rocm_perf_lab.cli.output import write_page
from rocm_perf_lab.cli.progress import progress
from rocm_perf_lab.cli.streams import announce
from rocm_perf_lab.collect import run_folder

app = typer.Typer(add_completion=False, rich_markup_mode=None)

EXAMPLES = examples(
    "rocm-perf report                         the latest run, as report.html",
    "rocm-perf report softmax --open          a kept run by its program's name",
    "rocm-perf report out_results.db --out softmax.html",
)


@app.command(epilog=EXAMPLES)
def report(
    run: RunOrTraces = None,
    out: Annotated[Path, option("FILE", "The HTML file to write.")] = Path("report.html"),
    att: ThreadTraces = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    runs: KeptRuns = Path(run_folder.ROOT),
) -> None:
    """Write one self-contained HTML page: nothing is loaded from elsewhere.

    The verdict in words, where the time goes, roofline, kernels, timeline with the critical path,
    occupancy, source and ISA, metrics with their formulas.
    """
    from rocm_perf_lab.workflow.load import open_run
    from rocm_perf_lab.workflow.report import report_html

    with progress() as tell:
        opened = open_run(run or [], runs, tuple(att or ()), tell, announce)
        tell("writing the page")
        write_page(out, report_html(opened.documents, opened.folder))
    print(out)
    if open_it:
        import webbrowser

        if not webbrowser.open(out.resolve().as_uri()):
            print("rocm-perf: no browser was found", file=sys.stderr)
