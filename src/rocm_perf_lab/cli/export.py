"""`rocm-perf export`: a run for Perfetto, Chrome, spreadsheets, pandas or speedscope."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import KeptRuns, RunOrTraces, ThreadTraces, option
from rocm_perf_lab.cli.progress import progress
from rocm_perf_lab.cli.streams import announce
from rocm_perf_lab.collect import run_folder

app = typer.Typer(add_completion=False, rich_markup_mode=None)


EXAMPLES = examples(
    "rocm-perf export --format perfetto              the latest run, for ui.perfetto.dev",
    "rocm-perf export softmax --format speedscope    stalls by source line, of a thread trace",
    "rocm-perf export out_results.db --format csv --out dispatches.csv",
)


@app.command(epilog=EXAMPLES)
def export(
    run: RunOrTraces = None,
    format: Annotated[
        Literal["perfetto", "chrome", "csv", "parquet", "speedscope", "folded"],
        typer.Option(help="What for. speedscope and folded: of a thread trace."),
    ] = "perfetto",
    out: Annotated[Path | None, option("FILE", "The file to write.")] = None,
    att: ThreadTraces = None,
    runs: KeptRuns = Path(run_folder.ROOT),
) -> None:
    """Write a run in another tool's format.

    Timelines have arrows along the critical path.
    """
    from rocm_perf_lab.workflow.export import FORMATS
    from rocm_perf_lab.workflow.export import export as write
    from rocm_perf_lab.workflow.load import open_run

    with progress() as tell:
        opened = open_run(run or [], runs, tuple(att or ()), tell, announce)
        path = out or Path(f"{opened.name}{FORMATS[format]}")
        write(opened, format, path, tell)
    print(path)
