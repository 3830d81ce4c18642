"""How much a sandboxed program has written: its folder, and files that have no name any more."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

_SHARE = 0.05  # of the time may go into looking
_KEPT_FREE = 256 << 20


@dataclass
class DiskUse:
    folder: Path
    most: int
    before: int = 0
    _next: float = field(default=0.0)

    def __post_init__(self) -> None:
        self.before = folder_bytes(self.folder)

    def exceeded(self, pids: Sequence[int]) -> bool:
        started = time.monotonic()
        if started < self._next:
            return False
        used = folder_bytes(self.folder) - self.before + unnamed_bytes(pids)
        space = os.statvfs(self.folder)
        ended = time.monotonic()
        self._next = ended + (ended - started) / _SHARE
        full = space.f_bavail * space.f_frsize < _KEPT_FREE and used > _KEPT_FREE
        return used > self.most or full


def folder_bytes(folder: Path) -> int:
    """What the files take up on disk. Looked at only; whatever is in the way does not count."""
    total, waiting = 0, [str(folder)]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return total


def unnamed_bytes(pids: Sequence[int]) -> int:
    """Of files that are open but deleted, and of those that lie in memory only."""
    seen: dict[tuple[int, int], int] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208
                with contextlib.suppress(OSError):
                    found = os.stat(f"/proc/{pid}/fd/{name}")  # noqa: PTH116
                    if found.st_nlink == 0:
                        seen[found.st_dev, found.st_ino] = found.st_blocks * 512
    return sum(seen.values())
