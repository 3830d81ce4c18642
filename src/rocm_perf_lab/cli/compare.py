"""`rocm-perf compare`: is B faster than A, and did it pass the gates?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import KeptRuns, KernelRegex, option
from rocm_perf_lab.cli.progress import progress
from rocm_perf_lab.cli.streams import announce
from rocm_perf_lab.collect import run_folder

app = typer.Typer(add_completion=False, rich_markup_mode=None)


EXAMPLES = examples(
    "rocm-perf compare before after                     two runs, by name or folder",
    'rocm-perf compare old_results.db new_results.db --fail-on "runtime>5%"',
    "rocm-perf compare main.json branch.json            hyperfine --export-json files",
    "rocm-perf compare base latest --format markdown > comment.md",
)


@app.command(epilog=EXAMPLES)
def compare(
    a: Annotated[
        str, typer.Argument(metavar="A", help="The baseline: a run, traces, or timings (JSON).")
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="What is compared with it.")],
    fail_on: Annotated[
        list[str] | None,
        option(
            "RULE",
            'Exit 1 if it holds: "runtime>5%", "kernel:NAME>10%", "vgprs>0", '
            '"occupancy<-10%". May be repeated.',
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="A gate that cannot be decided fails too.")
    ] = False,
    kernel: KernelRegex = None,
    min_speedup: Annotated[
        float, typer.Option(min=1.0, max=100.0, help="Smaller differences count as none.")
    ] = 1.02,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999, help="Of the intervals.")] = 0.95,
    format: Annotated[
        Literal["text", "markdown", "github", "json"],
        typer.Option(help="markdown: for a pull request; github: annotations."),
    ] = "text",
    runs: KeptRuns = Path(run_folder.ROOT),
    json: Annotated[
        bool, typer.Option("--json", help="Print only JSON on stdout, as --format json.")
    ] = False,
) -> None:
    """Compare two runs, trace databases, or files of timings.

    Per kernel: the speed-up with its confidence interval, a verdict (faster, slower, same or
    inconclusive), changed resources and where it moved on the roofline.
    """
    from rocm_perf_lab.report import compare as show
    from rocm_perf_lab.schema.common import to_json
    from rocm_perf_lab.workflow.compare import compare_paths

    with progress(quiet=json) as tell:
        document = compare_paths(
            a,
            b,
            root=runs,
            rules=fail_on or (),
            kernel=kernel,
            min_speedup=min_speedup,
            confidence=confidence,
            tell=tell,
            say=announce,
        )
    wanted = "json" if json else format
    if wanted == "json":
        sys.stdout.write(to_json(document))
    elif wanted == "markdown":
        sys.stdout.write(show.markdown(document))
    elif wanted == "github":
        sys.stdout.write(show.github_annotations(document))
        _step_summary(show.markdown(document))
    else:
        from rocm_perf_lab.cli.output import print_rich

        print_rich(show.summary(document))
    for gate in document.gates:
        if gate.outcome != "passed" and wanted != "text":
            print(f"rocm-perf: {show.gate_line(gate)}", file=sys.stderr)
    bad = {"failed", "undecided"} if strict else {"failed"}
    if any(gate.outcome in bad for gate in document.gates):
        raise SystemExit(1)


def _step_summary(text: str) -> None:
    """GitHub shows what is appended to this file on the workflow's page."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)
