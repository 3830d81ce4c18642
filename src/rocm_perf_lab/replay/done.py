"""How much of some gigabytes is done, told now and then."""

from __future__ import annotations

import time
from collections.abc import Callable

LEAST_BYTES = 256 << 20  # what is smaller is over before anybody reads about it
EVERY_S = 2.0


class Done:
    def __init__(self, what: str, total: int, tell: Callable[[str], None]) -> None:
        self._what, self._total, self._tell = what, total, tell
        self._bytes = 0
        self._say()

    def add(self, size: int) -> None:
        self._bytes += size
        if time.monotonic() - self._told >= EVERY_S:
            self._say()

    def _say(self) -> None:
        self._told = time.monotonic()
        if self._total > LEAST_BYTES:
            self._tell(f"{self._what} {self._bytes / 1e9:.1f} of {self._total / 1e9:.1f} GB")
