"""Temporary folders that do not gather: whoever makes one removes those that dead processes left.

The name holds the owner's process id and the folder is locked while its owner lives, so that
neither a living neighbour's folder nor one of another machine on the same file system is touched.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def folder(prefix: str, where: Path | None = None) -> Iterator[Path]:
    """A new folder `prefix`PID-…; removed at the end, unless it was renamed."""
    parent = where if where is not None else Path(tempfile.gettempdir())
    sweep(prefix, parent)
    made = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=parent))
    with _held(made):
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)


def sweep(prefix: str, parent: Path) -> None:
    own = re.compile(re.escape(prefix) + r"(\d+)-[^/]+")
    try:
        entries = list(os.scandir(parent))
    except OSError:
        return
    for entry in entries:
        match = own.fullmatch(entry.name)
        if match is None or not entry.is_dir(follow_symlinks=False) or _alive(int(match[1])):
            continue
        with contextlib.suppress(OSError), _held(Path(entry.path), wait=False):
            shutil.rmtree(entry.path, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


@contextlib.contextmanager
def _held(path: Path, wait: bool = True) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with contextlib.suppress(*((OSError,) if wait else ())):  # some file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
