"""`rocm-perf prompt`: the exact text a language model would see. Nothing is sent."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rocm_perf_lab import scratch
from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import Arguments, Device, KernelRegex, Policy, Sources, option
from rocm_perf_lab.cli.progress import progress
from rocm_perf_lab.cli.words import arrange

EXAMPLES = examples("rocm-perf prompt ./app", "rocm-perf prompt --kernel gemm ./app")

__all__ = ["app", "arrange"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog=EXAMPLES)
def prompt(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="The program to ask about.")],
    arguments: Arguments = None,
    source: Sources = None,
    build: Annotated[
        str | None, option("CMD", "How it was built, for its -D and -I: as `optimize --build`.")
    ] = None,
    policy: Policy = "unroll",
    kernel: KernelRegex = None,
    device: Device = "auto",
    json: Annotated[
        bool,
        typer.Option("--json", help="Only the JSON that a `command:` proposer reads on stdin."),
    ] = False,
) -> None:
    """Print what `optimize --proposer llm` would send first. Nothing is sent.

    Profiles the program, finds the kernel that matters and its source, and prints the system's
    message and the user's.
    """
    from rocm_perf_lab.optimize.first_prompt import first_context
    from rocm_perf_lab.optimize.llm import messages
    from rocm_perf_lab.schema.common import to_json

    with progress() as tell, scratch.folder("rocm-perf-prompt-") as folder:
        context = first_context(
            program=program,
            arguments=tuple(arguments or ()),
            sources=tuple(source or ()),
            build=build,
            policy=policy,
            kernel=kernel,
            device=device,
            folder=Path(folder),
            tell=tell,
        )
    if json:
        sys.stdout.write(to_json(context.prompt))
        return
    system, user = messages(context.prompt)
    sys.stdout.write(f"--- system\n{system}\n--- user\n{user}")
