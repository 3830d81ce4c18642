"""Modes and dates of files under Landlock, which does not hold them: a supervisor sets them.

seccomp hands each such call to the process that waits for the program. It opens what the call
names, asks the kernel where that lies, and does it there if that is below a writable folder. What
it looked at and what it changes are the same descriptor: there is nothing to swap in between.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import struct
import time
from collections.abc import Callable, Sequence

from rocm_perf_lab.optimize import system_calls

_RECEIVE, _SEND, _STILL_VALID = 0xC0502100, 0xC0182101, 0x40082102
_AT_FDCWD, _NO_FOLLOW, _EMPTY_PATH = -100, 0x100, 0x1000
_PATH_MAX = 4096
_NOW, _OMIT = (1 << 30) - 1, (1 << 30) - 2
_MODE = 0o1777  # no set-user-id


def supervise(listener: int, program: int, writable: Sequence[str]) -> int:
    """Answer until the process `program` has ended; its wait status. Takes in orphans."""
    roots = tuple(os.path.realpath(path) + "/" for path in writable)
    ended = os.pidfd_open(program)
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    poll.register(ended, select.POLLIN)
    while True:
        ready = dict(poll.poll(1000))
        if ready.get(listener, 0) & select.POLLIN:
            _answer(listener, roots)
        elif listener in ready:
            poll.unregister(listener)  # nobody is left who could ask
        found, status = _reaped(program)
        if found:
            return status


def _reaped(program: int) -> tuple[bool, int]:
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == program:
                return True, status
            if not pid:
                break
    return False, 0


def _answer(listener: int, roots: Sequence[str]) -> None:
    asked = bytearray(80)
    try:
        fcntl.ioctl(listener, _RECEIVE, asked)
    except OSError:
        return  # the caller is gone
    ident, pid, _, number, _, _, *arguments = struct.unpack("=QIIiIQ6Q", asked)
    try:
        _do(listener, ident, pid, number, arguments, roots)
        error = 0
    except OSError as failed:
        error = -(failed.errno or errno.EPERM)
    except (ValueError, OverflowError):
        error = -errno.EINVAL
    with contextlib.suppress(OSError):
        fcntl.ioctl(listener, _SEND, struct.pack("=QqiI", ident, 0, error, 0))


def _do(
    listener: int, ident: int, pid: int, number: int, words: Sequence[int], roots: Sequence[str]
) -> None:
    name = system_calls.numbers(system_calls.ATTRIBUTES)[number]
    with _Caller(pid) as caller:
        place, change = _meant(name, words, caller)
        try:
            # Only now is it sure that all this was read from the caller, and not from another
            # process that has got its number.
            fcntl.ioctl(listener, _STILL_VALID, struct.pack("=Q", ident))
            if not os.readlink(f"/proc/self/fd/{place}").startswith(tuple(roots)):  # noqa: PTH115
                raise OSError(errno.EPERM, "outside")
            change(f"/proc/self/fd/{place}")
        finally:
            os.close(place)


def _meant(name: str, words: Sequence[int], caller: _Caller) -> tuple[int, Callable[[str], None]]:
    """A descriptor of the file, and what is to be done to it."""
    first, second, third, fourth = words[:4]
    if name in ("chmod", "fchmod", "fchmodat", "fchmodat2"):
        mode = (second if name in ("chmod", "fchmod") else third) & _MODE
        place = {
            "chmod": lambda: caller.open(_AT_FDCWD, first, 0),
            "fchmod": lambda: caller.descriptor(_signed(first)),
            "fchmodat": lambda: caller.open(_signed(first), second, 0),
            "fchmodat2": lambda: caller.open(_signed(first), second, fourth),
        }[name]()
        return place, lambda path: os.chmod(path, mode)  # noqa: PTH101
    if name == "utimensat":
        times = caller.times(third, "=qqqq", 1)
        place = (
            caller.descriptor(_signed(first))
            if not second
            else caller.open(_signed(first), second, fourth)
        )
    elif name == "futimesat":
        times = caller.times(third, "=qqqq", 1000)
        place = caller.open(_signed(first), second, 0)
    else:
        times = caller.times(second, "=qqqq" if name == "utimes" else "=qq", 1000)
        place = caller.open(_AT_FDCWD, first, 0)
    return place, lambda path: _set_times(path, times)


def _set_times(path: str, times: tuple[int | None, ...] | None) -> None:
    if times is None:
        os.utime(path)
        return
    now = os.stat(path)  # noqa: PTH116
    kept = (now.st_atime_ns, now.st_mtime_ns)
    os.utime(path, ns=tuple(k if t is None else t for t, k in zip(times, kept, strict=True)))  # type: ignore[arg-type]


def _signed(word: int) -> int:
    low = word & 0xFFFFFFFF
    return low - (1 << 32) if low >> 31 else low


class _Caller:
    """The process that asks: its memory, its descriptors, where it stands."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)

    def __enter__(self) -> _Caller:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._memory)

    def descriptor(self, number: int) -> int:
        if number < 0:
            raise OSError(errno.EBADF, "no descriptor")
        return os.open(f"/proc/{self.pid}/fd/{number}", os.O_PATH | os.O_CLOEXEC)

    def open(self, folder: int, address: int, flags: int) -> int:
        path = self._text(address)
        if not path:
            if flags & _EMPTY_PATH and folder != _AT_FDCWD:
                return self.descriptor(folder)
            raise OSError(errno.ENOENT, "no path")
        for own in (b"/proc/self/", b"/proc/thread-self/"):
            if path.startswith(own):
                path = b"/proc/%d/" % self.pid + path[len(own) :]
        way = os.O_PATH | os.O_CLOEXEC | (os.O_NOFOLLOW if flags & _NO_FOLLOW else 0)
        where = "cwd" if folder == _AT_FDCWD else f"fd/{folder}"
        base = os.open(f"/proc/{self.pid}/{where}", os.O_PATH | os.O_CLOEXEC)
        try:
            return os.open(path, way, dir_fd=base)
        finally:
            os.close(base)

    def _text(self, address: int) -> bytes:
        found = b""
        while b"\0" not in found:
            if len(found) > _PATH_MAX:
                raise OSError(errno.ENAMETOOLONG, "no end")
            # Not beyond a page: the next may not be there.
            size = 4096 - (address + len(found)) % 4096
            part = os.pread(self._memory, size, address + len(found))
            if not part:
                raise OSError(errno.EFAULT, "no text")
            found += part
        return found.partition(b"\0")[0]

    def times(self, address: int, form: str, unit_ns: int) -> tuple[int | None, ...] | None:
        """Of access and change, in ns; None: as it is; None for both: now."""
        if not address:
            return None
        words = struct.unpack(form, os.pread(self._memory, struct.calcsize(form), address))
        if len(words) == 2:
            return tuple(seconds * 10**9 for seconds in words)
        parts = (words[1], words[3])
        if unit_ns == 1 and parts == (_NOW, _NOW):
            return None
        found: list[int | None] = []
        for seconds, part in ((words[0], parts[0]), (words[2], parts[1])):
            if unit_ns == 1 and part in (_NOW, _OMIT):
                found.append(None if part == _OMIT else time.time_ns())
            else:
                found.append(seconds * 10**9 + part * unit_ns)
        return tuple(found)
