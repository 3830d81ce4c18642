"""One measurement at a time on a GPU, whoever asks: threads, processes, workers of a cluster.

The lock is a file per GPU. The measured program inherits it, so that a worker killed in
mid-measurement does not free a GPU on which its program still runs; whoever comes next ends such
an orphan first.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab.collect import process

_POLL_S = 0.05


@dataclass(frozen=True)
class Held:
    descriptor: int

    def note_group(self, group: int) -> None:
        """Which process group runs on the GPU now, for whoever may have to end it."""
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, f"{os.getpid()} {group}".encode(), 0)


@contextlib.contextmanager
def hold(gpu: str) -> Iterator[Held]:
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", gpu) or "default"
    path = Path(tempfile.gettempdir()) / f"rocm-perf-gpu-{os.getuid()}-{name}.lock"
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                _end_orphan(file)
                time.sleep(_POLL_S)
        os.ftruncate(file, 0)
        yield Held(file)
    finally:
        # Not by closing alone: a daemon the program left behind has the file open too.
        fcntl.flock(file, fcntl.LOCK_UN)
        os.close(file)


def _end_orphan(file: int) -> None:
    """Held, but its owner is dead: only the owner's program can be holding it."""
    words = os.pread(file, 64, 0).split()
    if len(words) != 2 or not all(word.isdigit() for word in words):
        return
    owner, group = map(int, words)
    try:
        os.kill(owner, 0)
    except ProcessLookupError:
        process.end(group)
    except PermissionError:
        pass
