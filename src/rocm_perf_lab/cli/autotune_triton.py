"""`rocm-perf autotune --triton`: one Triton kernel, over its configurations."""

from __future__ import annotations

import os
import platform
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

from rocm_perf_lab.errors import GateFailed

if TYPE_CHECKING:
    from rocm_perf_lab.schema.triton_autotune import TritonAutotuneDocument

_SHOWN = 8


def run_triton(
    target: str,
    arguments: tuple[str, ...],
    space: Path | None,
    results: Path | None,
    device: str,
    workers: int,
    verify: str | None,
    budget: str | None,
    *,
    json: bool,
    quiet: bool,
) -> None:
    from rocm_perf_lab import __version__
    from rocm_perf_lab.autotune import triton
    from rocm_perf_lab.schema.common import to_json
    from rocm_perf_lab.workflow.provenance import without_secrets

    program, kernel = triton.parse_target(target)
    cores = workers if workers > 1 else len(os.sched_getaffinity(0))
    asked = triton.Asked(
        program=program,
        kernel=kernel,
        arguments=arguments,
        space=space,
        results=results,
        device=None if device == "auto" else device,
        workers=cores,
        verify=verify,
        budget=budget,
    )
    document = triton.tune(
        asked,
        {
            "tool_version": __version__,
            "command": without_secrets(["rocm-perf", *sys.argv[1:]]),
            "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "host": platform.node(),
            "rocm": None,
            "inputs": [],
        },
    )
    if json:
        typer.echo(to_json(document), nl=False)
    elif document.best is not None and quiet:
        typer.echo(document.best.triton_config)
    else:
        _print(document)
    if document.best is None:
        reasons = [e.reason for e in document.evaluations if e.reason]
        raise GateFailed(
            f"none of {document.configurations} configurations of {kernel} worked",
            hint=f"the first: {reasons[0]}" if reasons else None,
        )


def _print(document: TritonAutotuneDocument) -> None:
    console = Console(highlight=False, markup=False)
    if document.time_source == "modelled":
        console.print("VIRTUAL GPU: times are modelled, not measured")
    table = Table(box=None, pad_edge=False)
    for heading in ("ms", "VGPRs", "LDS", "waves", "configuration"):
        table.add_column(heading, justify="left" if heading == "configuration" else "right")
    for e in document.evaluations[:_SHOWN]:
        r = e.resources
        table.add_row(
            f"{e.time_ms:.6g}" if e.time_ms is not None else e.status.replace("_", " "),
            str(r.vgprs) if r else "",
            f"{r.lds_bytes:,}" if r else "",
            f"{r.waves_per_simd:g}" if r and r.waves_per_simd is not None else "",
            " ".join(f"{k}={v}" for k, v in e.configuration.items()),
        )
    console.print(table)
    console.print(
        f"\n{document.configurations} configurations: {document.ruled_out} ruled out by their "
        f"code objects before anything ran, {document.measured} verified and timed"
    )
    if document.best is not None:
        console.print(f"\n{document.best.triton_config}", soft_wrap=True)
