"""What holds for all tests, whatever the machine and however they were started."""

from __future__ import annotations

import os
import signal

from hypothesis import settings

# Before numpy: its matrices here are small, and a second thread of its algebra only spins.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell starts what goes to its background with Ctrl-C ignored; programs under test inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Property tests: no deadline, since machines differ, and the same examples every time.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")
