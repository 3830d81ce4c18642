"""Plain files of a folder somebody else may have made, opened without following a link."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import OrderedDict
from pathlib import Path

from rocm_perf_lab.errors import BadInput


class PlainFiles:
    """Plain files inside a folder, opened without following a link anywhere below it.

    A capture may have more files than a process may hold open: a few are kept.
    """

    KEPT = 64

    def __init__(self, path: Path) -> None:
        self.path = path
        self._open: OrderedDict[str, int] = OrderedDict()
        try:
            self._root = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise BadInput(f"cannot open {path}: {error.strerror}") from None

    def descriptor(self, name: str) -> int:
        """Kept open for a while; not for several threads."""
        if name in self._open:
            self._open.move_to_end(name)
        else:
            self._open[name] = self.open(name)
            if len(self._open) > self.KEPT:
                os.close(self._open.popitem(last=False)[1])
        return self._open[name]

    def open(self, name: str) -> int:
        """A descriptor of the caller's own."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        head, _, tail = name.rpartition("/")
        try:
            if head:
                inner = os.open(head, flags | os.O_DIRECTORY, dir_fd=self._root)
                try:
                    descriptor = os.open(tail, flags, dir_fd=inner)
                finally:
                    os.close(inner)
            else:
                descriptor = os.open(tail, flags, dir_fd=self._root)
        except OSError as error:
            raise BadInput(f"{self.path / name} cannot be read: {error.strerror}") from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise BadInput(f"{self.path / name} is not a plain file")
        return descriptor

    def whole(self, name: str, limit: int) -> bytes:
        """Everything in a file that may not be larger than this."""
        with os.fdopen(self.open(name), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > limit:
                raise BadInput(f"{self.path / name} is too large ({size} bytes)")
            return file.read(size)

    def close(self) -> None:
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()
        if self._root >= 0:
            os.close(self._root)
            self._root = -1


def hash_descriptor(descriptor: int) -> str:
    digest = hashlib.sha256()
    buffer = bytearray(1 << 20)
    view = memoryview(buffer)
    at = 0
    while got := os.preadv(descriptor, [buffer], at):
        digest.update(view[:got])
        at += got
    return digest.hexdigest()
