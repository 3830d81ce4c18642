"""`rocm-perf run`: run a HIP program on a device of choice."""

from __future__ import annotations

import os

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import (
    Arguments,
    BoundsOption,
    Device,
    Program,
    TimingOption,
    bounds_variable,
    timing_variable,
)
from rocm_perf_lab.collect.program import resolve
from rocm_perf_lab.device import discover
from rocm_perf_lab.errors import BadInput

EXAMPLES = examples(
    "rocm-perf run ./app --size 4096",
    "rocm-perf run --device virtual:mi250x ./app",
    "rocm-perf run --bounds report ./app",
    "rocm-perf run --timing model ./benchmark",
)

# The virtual GPU says how far a launch is that takes longer, and what is left of it.
PROGRESS, FIRST_LINE_S = "ROCM_PERF_VIRTUAL_PROGRESS", "30"

app = typer.Typer(add_completion=False, rich_markup_mode=None)


# What follows the program is the program's, options included.
@app.command(
    context_settings={"allow_interspersed_args": False},
    options_metavar="[OPTIONS]",
    epilog=EXAMPLES,
)
def run(
    program: Program,
    arguments: Arguments = None,
    device: Device = "auto",
    bounds: BoundsOption = None,
    timing: TimingOption = None,
) -> None:
    """Run a HIP program on a GPU, or on the virtual one where there is none.

    The program takes this command's place: its output, exit code and signals are its own.
    """
    path = resolve(program)
    words = list(arguments or [])
    if words[:1] == ["--"]:
        del words[0]
    chosen = discover.choose(device)
    environment = {
        PROGRESS: FIRST_LINE_S,
        **discover.environment_for(chosen, device),
        **bounds_variable(bounds),
        **timing_variable(timing),
    }
    try:
        os.execve(path, [program, *words], environment)
    except OSError as error:
        raise BadInput(f"{program} cannot be run: {error.strerror}") from None
