"""`rocm-perf doctor`: what works on this machine."""

from __future__ import annotations

import sys

import typer

from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import Json

app = typer.Typer(add_completion=False, rich_markup_mode=None)

EXAMPLES = examples(
    "rocm-perf doctor",
    "rocm-perf doctor --json",
)


@app.command(epilog=EXAMPLES)
def doctor(
    json: Json = False,
) -> None:
    """Say what works on this machine and what to do about what does not.

    Looks only; nothing is changed or sent. Exit code 4 if no GPU, real or virtual, can be used.
    """
    from rocm_perf_lab.doctor import can_run, examine
    from rocm_perf_lab.schema.common import to_json

    document = examine()
    if json:
        sys.stdout.write(to_json(document))
    else:
        from rich import box
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        from rocm_perf_lab.cli.output import print_rich

        style = {"ok": "green", "warning": "yellow", "missing": "bold red"}
        mark = {"ok": "ok", "warning": "-", "missing": "MISSING"}
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
        table.add_column("", no_wrap=True)
        table.add_column("What", no_wrap=True)
        table.add_column("Found", overflow="fold")
        for check in document.checks:
            text = Text(check.found)
            if check.fix:
                text.append(f"\nfor {check.needed_for}: {check.fix}", style="dim")
            table.add_row(Text(mark[check.status], style=style[check.status]), check.name, text)
        able = [Text(f"{'yes' if can else 'no ':3}  {what}") for what, can in document.can.items()]
        print_rich(Group(table, Text(), Text("Can this machine", style="bold"), *able))
    if not can_run(document):
        raise SystemExit(4)
