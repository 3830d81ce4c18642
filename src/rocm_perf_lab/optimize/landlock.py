"""Landlock: which files a program may read and write, from now on (linux/landlock.h).

It does not hold what is done to a file's attributes (`attributes.py` does), and neither stat nor
readlink: names, sizes and dates of files can be seen.
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Sequence

from rocm_perf_lab.optimize.libc import syscall

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_READ = (1 << 0) | (1 << 2) | (1 << 3)  # execute, read a file, list a folder
_WRITE_FILE = (1 << 1) | (1 << 14) | (1 << 15)  # write, truncate, ioctl of a device
_MAKE_DEVICES = (1 << 6) | (1 << 11)
_ALL_OF_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_FILE_ONLY = (1 << 0) | (1 << 1) | (1 << 2) | (1 << 14) | (1 << 15)
_TCP = 0b11  # bind, connect
_SCOPE = 0b11  # abstract sockets, signals


def abi() -> int:
    """0 where the kernel has none."""
    try:
        return syscall(_CREATE_RULESET, None, 0, 1)
    except OSError:
        return 0


def restrict(readable: Sequence[str], writable: Sequence[str], devices: Sequence[str]) -> None:
    known = abi()
    if known < 1:
        raise OSError(errno.ENOSYS, "this kernel has no Landlock")
    handled = _ALL_OF_ABI[max(version for version in _ALL_OF_ABI if version <= known)]
    words = (handled, _TCP if known >= 4 else 0, _SCOPE if known >= 6 else 0)
    attributes = struct.pack("=QQQ", *words)[: 24 if known >= 6 else 16 if known >= 4 else 8]
    ruleset = syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    for path, rights in (
        *((path, _READ) for path in readable),
        *((path, ~_MAKE_DEVICES) for path in writable),
        *((path, _READ | _WRITE_FILE) for path in devices),
    ):
        _allow(ruleset, path, rights & handled)
    syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # not there: nothing to allow
    if not os.path.isdir(path):  # noqa: PTH112
        rights &= _FILE_ONLY
    syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, place), 0)
    os.close(place)
