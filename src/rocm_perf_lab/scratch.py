"""Temporary folders and files that do not gather: who makes one removes what dead processes left.

The name holds the owner's process id and it is locked while its owner lives, so that neither a
living neighbour's nor one of another machine on the same file system is touched.
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
from typing import BinaryIO

from rocm_perf_lab import beneath

_TICKS = os.sysconf("SC_CLK_TCK")
_CLOCKS_S = 2.0  # by which the clocks of files and of processes may differ


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
            beneath.remove(made.parent, made.name)


@contextlib.contextmanager
def replacing(target: Path, mode: int = 0o600) -> Iterator[BinaryIO]:
    """A file to fill that takes its place at once in the end, on disk by then, or never."""
    prefix = f".{target.name}."
    sweep(prefix, target.parent)
    handle, name = tempfile.mkstemp(prefix=f"{prefix}{os.getpid()}-", dir=target.parent)
    made = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            _lock(file.fileno())
            yield file
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
            made.replace(target)
    except BaseException:
        made.unlink(missing_ok=True)
        raise


def sweep(prefix: str, parent: Path) -> None:
    own = re.compile(re.escape(prefix) + r"(\d+)-[^/]+")
    try:
        entries = list(os.scandir(parent))
    except OSError:
        return
    for entry in entries:
        match = own.fullmatch(entry.name)
        if match is None:
            continue
        with contextlib.suppress(OSError):
            if _alive(int(match[1]), entry.stat(follow_symlinks=False).st_mtime):
                continue
            if entry.is_symlink():
                Path(entry.path).unlink()
                continue
            with _held(Path(entry.path), wait=False):
                if entry.is_dir():
                    beneath.remove(parent, entry.name)
                else:
                    Path(entry.path).unlink()


def _alive(pid: int, made: float) -> bool:
    """Whether the process that made something at that time still runs: numbers are used again,
    in a container soon."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    started = _started(pid)
    return started is None or started <= made + _CLOCKS_S


def _started(pid: int) -> float | None:
    try:
        after_name = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + int(after_name[19]) / _TICKS
    except (OSError, ValueError, IndexError, AttributeError):
        return None


@contextlib.contextmanager
def _held(path: Path, wait: bool = True) -> Iterator[None]:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    descriptor = os.open(path, flags)
    try:
        if wait:
            _lock(descriptor)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    with contextlib.suppress(OSError):  # some file systems have no locks
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
