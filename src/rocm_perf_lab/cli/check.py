"""`rocm-perf check`: find races, wrong accesses and hazards of a program, on the virtual GPU."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import Arguments, Device, Json, KernelRegex, Program, Report
from rocm_perf_lab.cli.progress import progress
from rocm_perf_lab.cli.words import arrange
from rocm_perf_lab.collect.standard_input import given
from rocm_perf_lab.errors import BadInput, UsageError

if TYPE_CHECKING:
    from rocm_perf_lab.schema.check import Tool

EXAMPLES = examples(
    "rocm-perf check ./app",
    "rocm-perf check --tool race --kernel softmax ./app -- --size 4096",
    "rocm-perf check --suppress known.txt --report findings.html ./app",
    "rocm-perf check --tool hazards ./assembly",
)

__all__ = ["app", "arrange"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


def _tools(wanted: str) -> tuple[Tool, ...]:
    from rocm_perf_lab.check.run import TOOLS

    words = [word.strip() for word in wanted.split(",")]
    for word in words:
        if word not in (*TOOLS, "all"):
            raise UsageError(
                f"no tool is called {word}", hint=f"there are {', '.join(TOOLS)} and all"
            )
    return tuple(tool for tool in TOOLS if tool in words or "all" in words)


@app.command(epilog=EXAMPLES)
def check(
    program: Program,
    arguments: Arguments = None,
    tool: Annotated[
        str,
        typer.Option(
            "--tool",
            metavar="NAMES",
            help="memory, init, race, sync, hazards, or all; several with commas between.",
        ),
    ] = "memory,init,race,sync",
    kernel: KernelRegex = None,
    suppress: Annotated[
        Path | None,
        typer.Option(
            "--suppress",
            metavar="FILE",
            help="Findings that are let pass: a regular expression on each line.",
            show_default=False,
        ),
    ] = None,
    report: Report = None,
    timeout: Annotated[
        float,
        typer.Option("--timeout", metavar="S", min=0.1, help="Limit in seconds for the program."),
    ] = 3600.0,
    device: Device = "virtual",
    json: Json = False,
) -> None:
    """Run a HIP program on the virtual GPU and look at every access of every work-item.

    Exit code 1: something was found. Debug information (-g) gives findings their source lines.
    """
    from rocm_perf_lab.check.run import Options
    from rocm_perf_lab.check.run import check as run
    from rocm_perf_lab.report.check import summary

    tools = _tools(tool)
    with given() as stdin, progress() as tell:
        checked = run(
            Options(
                program=program,
                arguments=tuple(arguments or ()),
                tools=tools,
                kernel=kernel,
                suppress=suppress,
                device=device,
                timeout_s=timeout,
                stdin=stdin.for_a_run,
            ),
            tell,
        )
    document = checked.document
    if report is not None:
        from rocm_perf_lab.report.check_page import render

        report.write_text(render(document), "utf-8")
    if json:
        from rocm_perf_lab.schema.common import to_json

        sys.stdout.write(to_json(document))
    else:
        sys.stdout.write(summary(document))
    if document.findings:
        raise typer.Exit(1)
    if document.ended != "exited with code 0":
        tail = f"its last lines were:\n  {checked.output}" if checked.output else None
        raise BadInput(f"{program} {document.ended}; nothing was found up to there", hint=tail)
