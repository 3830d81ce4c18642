"""Hash the files of a capture while they grow, so that nobody waits for it in the end."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from rocm_perf_lab.schema.capture import StoredFile

FOLDERS = ("memory", "memory_after")
_POLL_S = 0.02
_PIECE = 4 << 20


class HashAhead:
    """Files are only ever appended to while this looks on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._state: dict[str, tuple[int, hashlib._Hash]] = {}
        self._buffer = bytearray(_PIECE)

    def step(self) -> bool:
        """Take up what has been written since; whether there was anything."""
        before = {name: done for name, (done, _) in self._state.items()}
        for sub in FOLDERS:
            with contextlib.suppress(OSError):
                for entry in os.scandir(self._folder / sub):
                    self._follow(f"{sub}/{entry.name}")
        return before != {name: done for name, (done, _) in self._state.items()}

    def _follow(self, name: str) -> None:
        done, digest = self._state.get(name) or (0, hashlib.sha256())
        descriptor = os.open(self._folder / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            while got := os.preadv(descriptor, [self._buffer], done):
                digest.update(memoryview(self._buffer)[:got])
                done += got
        finally:
            os.close(descriptor)
        self._state[name] = (done, digest)

    def known(self) -> dict[str, StoredFile]:
        return {
            name: StoredFile(bytes=done, sha256=digest.hexdigest())
            for name, (done, digest) in self._state.items()
        }


@contextlib.contextmanager
def hashing(folder: Path) -> Iterator[HashAhead]:
    ahead = HashAhead(folder)
    over = threading.Event()

    def follow() -> None:
        while not over.is_set():
            if not ahead.step():
                over.wait(_POLL_S)

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield ahead
    finally:
        over.set()
        thread.join()
