"""`rocm-perf capture`: keep one dispatch of a program with all the memory it could reach."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import Arguments, Device, Program, option
from rocm_perf_lab.cli.progress import progress
from rocm_perf_lab.cli.words import arrange
from rocm_perf_lab.collect.standard_input import given
from rocm_perf_lab.errors import BadInput

if TYPE_CHECKING:
    from rocm_perf_lab.replay.capture import Made

EXAMPLES = examples(
    "rocm-perf capture --kernel softmax ./app",
    "rocm-perf capture --kernel gemm --index 3 --out gemm/ ./app -- --size 4096",
)

__all__ = ["app", "arrange"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog=EXAMPLES)
def capture(
    program: Program,
    arguments: Arguments = None,
    kernel: Annotated[
        str,
        option("REGEX", "The kernel to capture, by its name, mangled or not.", show_default=False),
    ] = ...,  # type: ignore[assignment]
    index: Annotated[int, option("N", "Which of its launches, from 0.", min=0)] = 0,
    out: Annotated[
        Path | None, option("DIR", "The capture's folder; else a new one under .rocpd_capture/.")
    ] = None,
    max_size: Annotated[
        str | None, option("SIZE", "Refuse, before writing, what could become larger: 500M, 8G.")
    ] = None,
    compress: Annotated[
        bool, typer.Option("--compress", help="Store memory with zstd: smaller, slower.")
    ] = False,
    timeout: Annotated[float, option("S", "Limit in seconds for the program.", min=0.1)] = 600.0,
    ignore_failure: Annotated[
        bool,
        typer.Option(
            "--ignore-failure", help="A program that ends badly after the capture is fine."
        ),
    ] = False,
    device: Device = "auto",
    json: Annotated[
        bool, typer.Option("--json", help="Print only JSON (manifest.json) on stdout.")
    ] = False,
) -> None:
    """Capture one dispatch of a HIP program.

    The program runs to its end. Everything the GPU could reach is kept as it was before the
    kernel ran, and what the kernel changed. `rocm-perf replay` runs it again. A capture holds the
    program's data: only you can read its files.
    """
    from rocm_perf_lab.replay import capture as work
    from rocm_perf_lab.schema.common import to_json

    with given() as stdin, progress() as tell:
        options = work.CaptureOptions(
            program=program,
            arguments=tuple(arguments or ()),
            kernel=kernel,
            index=index,
            out=out,
            max_bytes=work.parse_size(max_size) if max_size is not None else None,
            timeout_s=timeout,
            device=device,
            compress=compress,
            stdin=stdin.for_a_run,
        )
        made = work.capture_program(options, tell)
    if json:
        sys.stdout.write(to_json(made.manifest))
    else:
        _print(made)
    if made.failure is None:
        return
    said = f"{made.failure} after the capture was made, which is kept in {made.folder}"
    if not ignore_failure:
        raise BadInput(said)
    print(f"warning: {said}", file=sys.stderr)


def _print(made: Made) -> None:
    from rocm_perf_lab.report.units import size

    totals = made.manifest.totals
    print(f"captured {made.manifest.kernel}")
    print(
        f"  {totals.regions} regions of {size(totals.region_bytes)}, "
        f"{size(totals.changed_bytes)} of it changed by the kernel"
    )
    print(f"  {size(totals.stored_bytes)} stored in {made.folder}")
    for note in made.manifest.notes:
        print(f"  note: {note}")
    if not made.manifest.complete:
        print("  incomplete, a replay will refuse it:")
        for reason in made.manifest.reasons:
            print(f"  - {reason}")
