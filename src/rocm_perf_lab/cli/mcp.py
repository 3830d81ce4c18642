"""`rocm-perf mcp`: the tools for coding agents, over the Model Context Protocol on stdio."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import option
from rocm_perf_lab.errors import BadInput, MissingTool

EXAMPLES = examples("rocm-perf mcp", "rocm-perf mcp --root ~/project")

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog=EXAMPLES)
def mcp(
    root: Annotated[
        Path, option("DIR", "Work here: no path outside it is read or written.")
    ] = Path(),
) -> None:
    """Serve profile, analyze, compare, explain, capture, replay and more to a coding agent.

    Speaks the Model Context Protocol on stdin and stdout until stdin ends; meant to be started
    by the agent's program. Programs that are profiled run with your rights. Needs the extra:
    pip install 'rocm-perf-lab[mcp]'.
    """
    try:
        import anyio

        from rocm_perf_lab.mcp_server.server import serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("anyio", "mcp", "mcp_types"):
            raise
        raise MissingTool(
            "the MCP server needs the package mcp", hint="pip install 'rocm-perf-lab[mcp]'"
        ) from None
    try:
        os.chdir(root)
    except OSError as error:
        raise BadInput(f"cannot work in {root}: {error.strerror}") from None
    anyio.run(serve)
