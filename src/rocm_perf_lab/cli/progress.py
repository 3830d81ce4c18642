"""What is going on, on stderr: a live line in a terminal, plain lines in a log.

Whatever takes over two seconds shows how long it has taken; a step whose words end in `3 of 7` (or
`1.5 of 4.0 GB`) also about how long its kind will still take.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.text import Text

from rocm_perf_lab.cli.streams import announce
from rocm_perf_lab.errors import plain

Tell = Callable[[str], None]

_SHOWN_AFTER_S = 2.0
_STEP = re.compile(r"(?P<kind>.*?)(?P<at>\d+(?:\.\d+)?) of (?P<of>\d+(?:\.\d+)?)(?: GB)?$")


class Clock:
    """How long it has taken, and about how long steps of this kind will still take."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._begun = self._step = now()
        self._kind: str | None = None
        self._left: float | None = None  # when the step began
        self._at = 0.0

    def begin(self, text: str) -> None:
        self._step = now = self._now()
        self._left = None
        found = _STEP.match(text)
        if found is None:
            self._kind = None
            return
        at, of = float(found["at"]), float(found["of"])
        if found["kind"] != self._kind or at < self._at:
            self._kind, self._first, self._first_at = found["kind"], now, at
        elif at > self._first_at:
            # Steps are named when they begin: this one and those after it are still to do.
            todo = of - at + (1 if found[0].endswith(found["of"]) else 0)
            self._left = (now - self._first) / (at - self._first_at) * todo
        self._at = at

    def text(self) -> str:
        now = self._now()
        if now - self._begun < _SHOWN_AFTER_S:
            return ""
        if self._left is None:
            return f"  {minutes(now - self._begun)}"
        left = max(self._left - (now - self._step), 0.0)
        return f"  {minutes(now - self._begun)}, about {minutes(left)} left"


def minutes(seconds: float) -> str:
    whole = int(seconds + 0.5)
    return f"{whole // 60}:{whole % 60:02d}"


class _Line:
    """Drawn again several times a second, so that the time moves."""

    def __init__(self) -> None:
        self._clock = Clock()
        self._text = "starting"

    def tell(self, text: str) -> None:
        self._text = plain(text)
        self._clock.begin(text)

    def __rich__(self) -> RenderableType:
        return Text(self._text + self._clock.text())


@contextmanager
def progress(quiet: bool = False) -> Iterator[Tell]:
    console = Console(stderr=True, highlight=False)
    if quiet:
        yield lambda _: None
    elif console.is_terminal:
        line = _Line()
        with console.status(line):
            yield line.tell
    else:
        yield announce
