"""How far a tuning run is: a bar in a terminal, a line now and then in a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

from rocm_perf_lab.cli.progress import minutes
from rocm_perf_lab.cli.streams import say

if TYPE_CHECKING:
    from rocm_perf_lab.autotune.tune import Progress


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[Progress], None]]:
    console = Console(stderr=True, highlight=False)
    if quiet:
        yield lambda _: None
    elif console.is_terminal:
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        with Bar(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"),
            console=console, transient=True,
        ) as bar:  # fmt: skip
            task = bar.add_task("tuning", total=None, state="")

            def show(p: Progress) -> None:
                done, total = float(p.evaluated), float(p.budget or 0)
                if not p.budget:
                    done, total = p.elapsed_s, p.elapsed_s + (p.left_s or 0.0)
                bar.update(task, completed=done, total=total, state=describe(p))

            yield show
    else:
        said, last = 0.0, (-1, "search")

        def line(p: Progress) -> None:
            """A log gets what is new, at most every two seconds, and a sign of life a minute."""
            nonlocal said, last
            silence = p.elapsed_s - said
            if silence >= (2.0 if (p.evaluated, p.phase) != last else 60.0):
                said, last = p.elapsed_s, (p.evaluated, p.phase)
                say(f"rocm-perf: {describe(p)}")

        yield line


def describe(p: Progress) -> str:
    of = f" of {p.budget}" if p.budget else ""
    if p.phase == "compile":
        return f"{p.evaluated}{of} compiled"
    best = f"best {p.best:.4g} {p.unit}".rstrip() if p.best is not None else "none works so far"
    left = f", {minutes(p.left_s)} left" if p.left_s is not None and p.phase == "search" else ""
    what = "" if p.phase == "search" else ", measuring the leaders again"
    return f"{p.evaluated}{of} measured, {best}{left}{what}"
