"""Property tests everywhere: no deadline (machines differ), the same examples every time."""

from __future__ import annotations

import os

from hypothesis import settings

# Before numpy: its matrices here are small, and a second thread of its algebra only spins.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")
