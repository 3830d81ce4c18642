"""What is going on, on stderr: a live line in a terminal, plain lines in a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape

from rocm_perf_lab.cli.streams import say
from rocm_perf_lab.errors import plain

Tell = Callable[[str], None]


@contextmanager
def progress(quiet: bool = False) -> Iterator[Tell]:
    console = Console(stderr=True, highlight=False)
    if quiet:
        yield lambda _: None
    elif console.is_terminal:
        with console.status("starting") as status:
            yield lambda text: status.update(escape(plain(text)))
    else:
        yield lambda text: say(f"rocm-perf: {plain(text)}")
