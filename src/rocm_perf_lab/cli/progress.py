"""What is going on, on stderr: a live line in a terminal, plain lines in a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

Tell = Callable[[str], None]


@contextmanager
def progress(quiet: bool = False) -> Iterator[Tell]:
    console = Console(stderr=True, highlight=False)
    if quiet:
        yield lambda _: None
    elif console.is_terminal:
        with console.status("starting") as status:
            yield lambda text: status.update(_plain(text))
    else:
        yield lambda text: console.print(f"rocm-perf: {_plain(text)}", soft_wrap=True)


def _plain(text: str) -> str:
    return text.replace("[", r"\[")
