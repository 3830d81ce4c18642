"""Options that several commands have: one name, one meaning, one help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from rocm_perf_lab.analyze.kernel_pattern import kernel_pattern

Ceilings = Literal["measured", "datasheet"]
Select = Literal["path", "total", "longest"]
Bounds = Literal["strict", "page", "report"]
Timing = Literal["emulation", "model"]


def option(metavar: str, help: str, **more: Any) -> Any:
    """An option with a value, called as its parameter is."""
    return typer.Option(metavar=metavar, help=help, **more)


def timing_variable(timing: Timing | None) -> dict[str, str]:
    return {} if timing is None else {"ROCM_PERF_VIRTUAL_TIMING": timing}


def bounds_variable(bounds: Bounds | None) -> dict[str, str]:
    return {} if bounds is None else {"ROCM_PERF_VIRTUAL_BOUNDS": bounds}


def _regex(text: str | None) -> str | None:
    kernel_pattern(text)
    return text


# The program, and what it is run with.
Program = Annotated[str, typer.Argument(metavar="PROGRAM", help="The program to run.")]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="[--] ARGS", help="Its arguments; two dashes may come first."),
]
Device = Annotated[
    str,
    typer.Option(
        "--device",
        metavar="NAME",
        help="auto, rocm, virtual, or one of `rocm-perf device list` (also ROCM_PERF_DEVICE).",
    ),
]
TimingOption = Annotated[
    Timing | None,
    typer.Option(
        "--timing",
        help="What events and clocks tell on the virtual GPU: emulation, the time it took; model, "
        "what the GPU would take by the model, the same on every run.",
    ),
]
BoundsOption = Annotated[
    Bounds | None,
    typer.Option(
        "--bounds",
        help="Accesses out of bounds on the virtual GPU. strict: a fault at an allocation's last "
        "byte; page: one where hardware would notice; report: as page, each place told once.",
    ),
]
RunTimeout = Annotated[
    float, typer.Option("--timeout", metavar="S", min=0.1, help="Limit in seconds for each run.")
]
TimingRuns = Annotated[
    int, typer.Option("--runs", min=1, max=1000, help="Timing runs after one warm-up.")
]
Counters = Annotated[
    bool, typer.Option("--counters/--no-counters", help="Collect hardware counters.")
]

# What of it is looked at, and how it is judged.
KernelRegex = Annotated[
    str | None,
    typer.Option("--kernel", metavar="REGEX", help="Only kernels that match.", callback=_regex),
]
CeilingsOption = Annotated[
    Ceilings,
    typer.Option("--ceilings", help="Roofs to compare with: measured where known, or datasheet."),
]
SelectOption = Annotated[
    Select,
    typer.Option(
        "--select",
        help="The dominant kernel: the one with the largest part of the critical path, the "
        "largest total time, or the longest single dispatch.",
    ),
]
Sources = Annotated[
    list[Path] | None,
    typer.Option(
        "--source",
        metavar="FILE",
        help="What it is built from; else from its debug information or its name.",
    ),
]
Policy = Annotated[
    Literal["unroll", "body"],
    typer.Option("--policy", help="What may change: loops' pragmas, or the kernel's body."),
]

# Kept runs and trace files.
RunFolder = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Where the run's folder with its files goes.")
]
KeptRuns = Annotated[
    Path, typer.Option("--runs", metavar="DIR", help="Where kept runs are looked for.")
]
RunOrTraces = Annotated[
    list[str] | None,
    typer.Argument(metavar="[RUN]", help="A kept run, or trace files. None: the latest run."),
]
ThreadTraces = Annotated[
    list[Path] | None,
    typer.Option("--att", metavar="DIR", help="Thread-trace output to read with trace files."),
]

# What is printed.
Json = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")]
ProfileJson = Annotated[
    bool, typer.Option("--json", help="Print only JSON (profile.json) on stdout.")
]
QuietRuntime = Annotated[
    bool, typer.Option("--quiet", help="Print only the runtime in milliseconds.")
]
Details = Annotated[
    bool, typer.Option("--details", help="Also print every metric of the dominant kernel.")
]
Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Also write an HTML report there."),
]
