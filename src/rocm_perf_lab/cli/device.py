"""`rocm-perf device`: what there is to run on."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import Device, Json, option
from rocm_perf_lab.device import discover
from rocm_perf_lab.errors import GateFailed
from rocm_perf_lab.report.units import figure, percent
from rocm_perf_lab.schema.common import to_json
from rocm_perf_lab.schema.device import (
    DeviceLine,
    DeviceList,
    TimesError,
    ValidatedTime,
    Validation,
    ValidationLine,
)

if TYPE_CHECKING:
    from rocm_perf_lab.validate.probes import Compared
    from rocm_perf_lab.validate.times import Errors, Result

EXAMPLES = examples("rocm-perf device list", "rocm-perf device list --json")
VALIDATE_EXAMPLES = examples(
    "rocm-perf device validate",
    "rocm-perf device validate --device virtual:mi300a --times mi300a_times.csv",
)
_QUICK_ELEMENTS = 1 << 20
_ROW = "  {:<34} {:>16} {:>9} {:>7}"  # of 80 columns; a source has a line of its own

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.callback(epilog=EXAMPLES)
def device() -> None:
    """The GPUs a program can run on, real and virtual."""


@app.command("list", epilog=EXAMPLES)
def list_(
    json: Json = False,
) -> None:
    """List the devices; the one that is used unless another is asked for is marked."""
    found = discover.devices()
    default = discover.default_name(found)
    if json:
        lines = [DeviceLine.of(device) for device in found]
        sys.stdout.write(to_json(DeviceList(default=default, devices=lines)))
        return
    for device in found:
        mark = "*" if device.name == default else " "
        memory = f"{device.memory_bytes / 2**30:.0f} GiB"
        text = (
            f"{mark} {device.name:<16} {device.kind:<9} {device.architecture:<8} "
            f"{device.compute_units:>4} CUs {memory:>8}  {device.product or ''}"
        )
        print(text.rstrip())
        if device.reason:
            print(f"    not usable: {device.reason}")


@app.command(epilog=VALIDATE_EXAMPLES)
def validate(
    device: Device = "auto",
    quick: Annotated[
        bool, typer.Option("--quick", help="Without HBM, and no row of over a million elements.")
    ] = False,
    times: Annotated[
        Path | None,
        option(
            "FILE", "Kernel times of an MI300A too: CSV with kernel_name, problem_size, min_ms."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Hold a virtual GPU against published measurements of the real one.

    Prints what was measured, what the model says, the error and the source; of some GPUs nothing is
    published, and it says so. Exit code 1: an error is beyond what the documentation states.
    """
    from rocm_perf_lab.validate.probes import known, run_probes
    from rocm_perf_lab.validate.times import left_out, rows, run_rows, summary, too_far_off

    name = known(device)
    wanted = rows(times) if times else []
    missing = left_out(wanted)
    if quick:
        wanted = [row for row in wanted if row.elements <= _QUICK_ELEMENTS]
    lines = run_probes(name, quick)
    if not json:
        _print_probes(name, lines)
    results = []
    for result in run_rows(wanted) if wanted else ():
        results.append(result)
        if not json:
            _print_time(result)
    totals = summary(results)
    bad = [line.words for line in lines if not line.ok] + too_far_off(totals)
    if json:
        found = Validation(
            device=name,
            ok=not bad if lines or results else None,
            lines=[ValidationLine.of(line) for line in lines],
            times=[ValidatedTime.of(result) for result in results],
            times_left_out=missing,
            times_error={key: TimesError.of(total) for key, total in totals.items()},
        )
        sys.stdout.write(to_json(found))
    else:
        for key, total in totals.items():
            print(errors_line(key, total))
        if missing:
            print(f"left out, as these programs are not here: {', '.join(missing)}")
    if bad:
        raise GateFailed(f"further off than the documentation states: {', '.join(bad)}")


def errors_line(key: str, total: Errors) -> str:
    shown = f"median {percent(total.median)}   mean {percent(total.mean)}"
    return f"{key:<14} {total.rows:>3} rows   {shown}   worst {percent(total.worst, 0)}"


def _print_probes(name: str, lines: Sequence[Compared]) -> None:
    if not lines:
        print(f"{name}: no published numbers to hold it against; it has not been validated")
        return
    print(f"{name}, modelled, against measurements of others\n")
    print(_ROW.format("", "measured", "modelled", "error"))
    for source, of_it in groupby(lines, lambda line: line.source):
        print(f"\n{source}")
        for line in of_it:
            measured = " to ".join(figure(value) for value in line.measured)
            modelled = figure(line.modelled)
            row = _ROW.format(f"{line.words}, {line.unit}", measured, modelled, _signed(line.error))
            print(row if line.ok else f"{row}  FAR OFF")


def _print_time(result: Result) -> None:
    what = f"{result.program} {result.size}, us"
    measured, modelled = f"{result.measured_us:,.1f}", f"{result.modelled_us:,.1f}"
    print(_ROW.format(what, measured, modelled, _signed(result.error)))


def _signed(error: float) -> str:
    return f"{100 * round(error, 3) + 0.0:+.1f} %"  # no -0.0 %
