"""Property tests everywhere: no deadline (machines differ), the same examples every time."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")
