"""SIGTERM and SIGHUP end a command as Ctrl-C does: what it started ends, nothing half stays."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

_ENDING = (signal.SIGTERM, signal.SIGHUP)


class Ended(KeyboardInterrupt):
    """By a signal other than Ctrl-C's."""

    def __init__(self, number: int) -> None:
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.number = number


@contextlib.contextmanager
def end_like_interrupts() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ended(number: int, _: object) -> None:
        # Cleaning up takes seconds at most; a second signal must not cut it short.
        for each in _ENDING:
            signal.signal(each, signal.SIG_IGN)
        raise Ended(number)

    # Whoever started us with a signal ignored (nohup) meant it.
    before = {n: signal.getsignal(n) for n in _ENDING}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:
            signal.signal(number, ended)
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)


def exit_code(stop: KeyboardInterrupt) -> int:
    return 128 + (stop.number if isinstance(stop, Ended) else signal.SIGINT)
