"""`rocm-perf prompt`: the exact text a language model would see. Nothing is sent."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated, Literal

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.progress import progress

EXAMPLES = examples("rocm-perf prompt ./app", "rocm-perf prompt --kernel gemm ./app")

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog=EXAMPLES)
def prompt(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="The program to ask about.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- ARGS", help="Its arguments, after two dashes."),
    ] = None,
    source: Annotated[
        list[Path] | None,
        typer.Option(
            "--source",
            metavar="FILE",
            help="What it is built from; else from its debug information or its name.",
            show_default=False,
        ),
    ] = None,
    build: Annotated[
        str | None,
        typer.Option(
            "--build",
            metavar="CMD",
            help="How it was built, for its -D and -I: as `optimize --build`.",
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        Literal["unroll", "body"],
        typer.Option("--policy", help="What may change: loops' pragmas, or the kernel's body."),
    ] = "unroll",
    kernel: Annotated[
        str | None,
        typer.Option(
            "--kernel", metavar="REGEX", help="Only kernels that match.", show_default=False
        ),
    ] = None,
    device: Annotated[
        str,
        typer.Option(
            "--device", metavar="NAME", help="auto, rocm, virtual, or one by name: virtual:mi300x."
        ),
    ] = "auto",
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

    with progress() as tell, tempfile.TemporaryDirectory(prefix="rocm-perf-prompt-") as folder:
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
