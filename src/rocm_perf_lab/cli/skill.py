"""`rocm-perf skill`: what teaches a coding agent the workflow."""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from rocm_perf_lab.cli.help import examples

FOLDER = Path(str(resources.files("rocm_perf_lab"))) / "skill" / "rocm-perf"
EXAMPLES = examples(
    "rocm-perf skill",
    'cp -r "$(rocm-perf skill --path)" my-agent/skills/',
)

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog=EXAMPLES)
def skill(
    path: Annotated[
        bool, typer.Option("--path", help="Print only the folder of the skill, to copy or link.")
    ] = False,
) -> None:
    """Print the skill that teaches a coding agent how to work with rocm-perf.

    A folder with a SKILL.md, as the Agent Skills format has it.
    """
    text = (FOLDER / "SKILL.md").read_text("utf-8")
    sys.stdout.write(f"{FOLDER}\n" if path else text)
