"""One measurement at a time on a GPU, whoever asks: threads, processes, workers of a cluster.

The lock is a file per GPU. The measured program inherits it, so that a worker killed in
mid-measurement does not free a GPU on which its program still runs; the program's guard
(`collect/guard.py`) sees that its owner is gone and ends it, and the lock with it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_POLL_S = 0.05


@contextlib.contextmanager
def hold(gpu: str) -> Iterator[int]:
    """The descriptor that the program on the GPU is to inherit."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", gpu) or "default"
    path = Path(tempfile.gettempdir()) / f"rocm-perf-gpu-{os.getuid()}-{name}.lock"
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(_POLL_S)
        yield file
    finally:
        # Not by closing alone: a daemon the program left behind has the file open too.
        fcntl.flock(file, fcntl.LOCK_UN)
        os.close(file)
