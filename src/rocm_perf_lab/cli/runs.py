"""`rocm-perf runs`: what is kept, and removing it."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Annotated

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import Json, KeptRuns, option
from rocm_perf_lab.collect import kept_runs, run_folder
from rocm_perf_lab.errors import UsageError
from rocm_perf_lab.report.units import size

app = typer.Typer(add_completion=False, rich_markup_mode=None, invoke_without_command=True)

EXAMPLES = examples(
    "rocm-perf runs",
    "rocm-perf runs prune --keep 5",
    "rocm-perf runs prune --older-than 30 --dry-run",
)


@app.callback(epilog=EXAMPLES)
def runs_of(
    context: typer.Context,
    runs: KeptRuns = Path(run_folder.ROOT),
    json: Json = False,
) -> None:
    """List the runs that are kept; `runs prune` removes old ones."""
    if context.invoked_subcommand is not None:
        return
    found = kept_runs.kept(runs)
    if json:
        sys.stdout.write(_json(found))
        return
    if not found:
        print(f"no run is kept under {runs}", file=sys.stderr)
        return
    from rich import box
    from rich.table import Table

    from rocm_perf_lab.cli.output import print_rich

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    for title in ("Run", "Program", "Size", ""):
        table.add_column(title, justify="right" if title == "Size" else "left", no_wrap=True)
    for run in reversed(found):
        table.add_row(run.folder.name, run.label, size(run.bytes), "latest" if run.latest else "")
    print_rich(table)


@app.command(epilog=EXAMPLES)
def prune(
    keep: Annotated[int | None, option("N", "Keep the newest N.", min=0)] = None,
    older_than: Annotated[float | None, option("DAYS", "Remove what is older.", min=0)] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be removed.")
    ] = False,
    runs: KeptRuns = Path(run_folder.ROOT),
) -> None:
    """Remove kept runs: all but the newest N, or those older than some days.

    Only folders that rocm-perf made are touched.
    """
    if keep is None and older_than is None:
        raise UsageError("say what to remove", hint="--keep 5, or --older-than 30")
    found = kept_runs.kept(runs)
    gone = found[: len(found) - keep] if keep is not None else list(found)
    if older_than is not None:
        limit = datetime.now(timezone.utc) - timedelta(days=older_than)
        gone = [run for run in gone if run.made is not None and run.made < limit]
    for run in gone:
        if not dry_run:
            kept_runs.remove(run)
        print(f"{'would remove' if dry_run else 'removed'} {run.folder} ({size(run.bytes)})")
    if not dry_run:
        kept_runs.point_latest(runs)
    total = size(sum(run.bytes for run in gone))
    print(f"{len(gone)} of {len(found)} runs, {total}", file=sys.stderr)


def _json(found: list[kept_runs.KeptRun]) -> str:
    from rocm_perf_lab.schema.common import to_json
    from rocm_perf_lab.schema.runs import KeptRun, RunsDocument

    document = RunsDocument(
        runs=[
            KeptRun.of(
                run,
                name=run.folder.name,
                folder=str(run.folder),
                made=run.made.isoformat() if run.made else None,
            )
            for run in found
        ]
    )
    return to_json(document)
