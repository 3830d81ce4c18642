"""Run `rocm-perf` as a user does: a process of its own, in a folder of its own."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any


def rocm_perf(
    *arguments: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 600,  # it bounds a hang: the first build here may compile a C++ library
    stdin: IO[bytes] | int = subprocess.DEVNULL,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rocm_perf_lab", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "80", **(env or {})},
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=stdin,
    )


def complaint(done: subprocess.CompletedProcess[str], code: int) -> str:
    """What a failing command said; no traceback, nothing on stdout, the documented code."""
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert done.stdout == ""
    return done.stderr


def commands() -> Iterator[tuple[str, Any]]:
    """Every command and subcommand that Typer parses: its words, and what Typer made of it."""
    import typer

    from rocm_perf_lab.cli.main import COMMANDS

    for name, (module, _) in COMMANDS.items():
        app = importlib.import_module(module).app
        if not hasattr(app, "registered_commands"):
            continue
        command = typer.main.get_command(app)
        yield name, command
        for sub, made in getattr(command, "commands", {}).items():
            yield f"{name} {sub}", made
