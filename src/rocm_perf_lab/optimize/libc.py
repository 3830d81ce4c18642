"""The C library's calls that Python has no names for; a failed one is an OSError."""

from __future__ import annotations

import ctypes
import os
from typing import Any

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def syscall(number: int, *arguments: Any) -> int:
    """Integers are passed as long ones."""
    words = (ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)
    return _checked(int(_libc.syscall(ctypes.c_long(number), *words)))


def prctl(option: int, *arguments: int) -> int:
    words = [ctypes.c_ulong(a) for a in (*arguments, 0, 0, 0, 0)[:4]]
    return _checked(int(_libc.prctl(option, *words)))


def unshare(flags: int) -> None:
    _checked(int(_libc.unshare(flags)))


def mount(source: str, target: str, kind: str | None, flags: int) -> None:
    words = (source.encode(), target.encode(), kind.encode() if kind else None)
    _checked(int(_libc.mount(*words, ctypes.c_ulong(flags), None)))
