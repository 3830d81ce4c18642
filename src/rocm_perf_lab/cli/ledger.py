"""`rocm-perf ledger`: what an optimiser run tried, and whether its proof holds here."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import Device, Json
from rocm_perf_lab.cli.progress import progress
from rocm_perf_lab.errors import plain

EXAMPLES = examples(
    "rocm-perf ledger show",
    "rocm-perf ledger verify",
)

EXIT_CODES = {"confirmed": 0, "unbroken": 0, "unchecked": 4, "inconclusive": 1, "refuted": 1}

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)

Where = Annotated[
    Path | None,
    typer.Argument(
        metavar="[LEDGER|BUNDLE]",
        help="A ledger, a run's folder or a bundle; else the newest run here.",
    ),
]


@app.callback(epilog=EXAMPLES)
def main() -> None:
    """What `optimize` tried, and the proof."""


@app.command(epilog=examples("rocm-perf ledger show", "rocm-perf ledger show --json proof.bundle"))
def show(where: Where = None, json: Json = False) -> None:
    """List the entries of a ledger."""
    from rocm_perf_lab.optimize.verify import load

    with load(where) as found:
        entries = found.ledger.entries
        if json:
            rows = [
                {"index": e.index, "kind": e.kind, "data": e.data, "hash": e.hash} for e in entries
            ]
            json_module.dump(rows, sys.stdout, indent=2)
            print()
            return
        for entry in entries:
            print(plain(_line(entry.kind, dict(entry.data))))
        if found.ledger.torn_bytes:
            print("(the last entry was being written when the run was interrupted)")


def _line(kind: str, data: dict[str, object]) -> str:
    if kind == "start":
        return f"start     {data.get('program')}, policy {data.get('policy')}"
    if kind == "attempt":
        speed = data.get("speedup")
        shown = f" {speed:.3f}x" if isinstance(speed, float) else ""
        decision = "ACCEPTED" if data.get("decision") == "accepted" else data.get("stage")
        said = f"{data.get('proposal')}: {data.get('reason')}"
        return f"{data.get('index')!s:>5} {decision}{shown}  {said}"
    if kind == "end":
        return f"end       {'accepted' if data.get('accepted') else 'nothing accepted'}"
    return kind


@app.command(epilog=examples("rocm-perf ledger verify", "rocm-perf ledger verify proof.bundle"))
def verify(
    where: Where = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Check that a ledger's claims are true: seals, sources, code, results, speed.

    Exit code 0: confirmed, or nothing is claimed; 1: refuted or inconclusive; 3: not what was
    written, or it contradicts itself; 4: something to check it with is missing here.
    """
    from rocm_perf_lab.optimize.verify import load, verify_claims
    from rocm_perf_lab.schema.common import to_json

    with progress() as tell, load(where) as found:
        result = verify_claims(found, device, tell)
    if json:
        sys.stdout.write(to_json(result.document()))
    else:
        for line in result.lines():
            print(plain(line))
    raise typer.Exit(EXIT_CODES[result.verdict])
