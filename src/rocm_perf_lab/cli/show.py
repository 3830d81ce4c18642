"""`rocm-perf show`: a kept run again, whole or by part."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import KeptRuns, ProfileJson
from rocm_perf_lab.cli.streams import announce
from rocm_perf_lab.collect import run_folder

app = typer.Typer(add_completion=False, rich_markup_mode=None)

EXAMPLES = examples(
    "rocm-perf show                      the latest run's summary",
    "rocm-perf show softmax --lines      a run by its program's name: its hot lines",
    "rocm-perf show --path --roofline",
)


@app.command(epilog=EXAMPLES)
def show(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="A kept run. None: the latest.")
    ] = None,
    kernels: Annotated[bool, typer.Option("--kernels", help="All kernels.")] = False,
    roofline: Annotated[bool, typer.Option("--roofline", help="Rates and ceilings.")] = False,
    path: Annotated[bool, typer.Option("--path", help="Critical path and what-if.")] = False,
    lines: Annotated[bool, typer.Option("--lines", help="Hot lines of the thread trace.")] = False,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Metrics of the dominant kernel.")
    ] = False,
    runs: KeptRuns = Path(run_folder.ROOT),
    json: ProfileJson = False,
) -> None:
    """Print a kept run again, whole or by part."""
    from rocm_perf_lab.cli.output import print_profile, print_rich
    from rocm_perf_lab.workflow.load import open_run
    from rocm_perf_lab.workflow.parts import PARTS

    opened = open_run([run] if run else [], runs, say=announce)
    asked = {
        "kernels": kernels,
        "roofline": roofline,
        "path": path,
        "lines": lines,
        "metrics": metrics,
    }
    if json or not any(asked.values()):
        print_profile(opened.documents.profile, opened.folder, json, quiet=False)
        return
    for name, wanted in asked.items():
        if wanted:
            print_rich(PARTS[name](opened.documents))
    if opened.documents.profile.provenance.device.kind == "virtual":
        print("virtual GPU: times and counters are modelled", file=sys.stderr)
