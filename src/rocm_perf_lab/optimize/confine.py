"""Give up rights, then become another program: `python -I confine.py SPEC PROGRAM ARGS...`.

A program of its own, standard library only: it runs inside bubblewrap, or instead of it. SPEC is
JSON: `limits` (resource limits by name), `landlock` (null, or the paths that stay readable and
writable), `own_processes` (try a process namespace, so that all of it dies together).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import platform
import resource
import signal
import struct
import sys
from collections.abc import Mapping, Sequence

EXIT_CANNOT_CONFINE = 121  # never one of the program's: nothing ran

# ---- Landlock: which files (linux/landlock.h)

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_READ = (1 << 0) | (1 << 2) | (1 << 3)  # execute, read a file, list a folder
_WRITE_FILE = (1 << 1) | (1 << 14) | (1 << 15)  # write, truncate, ioctl of a device
_ALL_OF_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_FILE_ONLY = (1 << 0) | (1 << 1) | (1 << 2) | (1 << 14) | (1 << 15)
_TCP = 0b11  # bind, connect
_SCOPE = 0b11  # abstract sockets, signals

# ---- seccomp: which system calls

# Sockets of every family, other processes' memory, the kernel's own doors. The numbers of one
# architecture, by the name the kernel gives it.
_DENIED = {
    "x86_64": (
        0xC000003E,
        (41, 101, 134, 155, 165, 166, 175, 176, 246, 248, 249, 250, 272, 298, 304, 308, 310, 311,
         313, 320, 321, 323, 425, 428, 429, 430, 438, 442),
    ),
    "aarch64": (
        0xC00000B7,
        (39, 40, 41, 97, 104, 105, 106, 117, 198, 217, 218, 219, 241, 265, 268, 270, 271, 273, 280,
         282, 294, 425, 428, 429, 430, 438, 442),
    ),
}  # fmt: skip
_X32 = 0x40000000
_ALLOW, _DENY = 0x7FFF0000, 0x00050000 | errno.EACCES

_NO_NEW_PRIVILEGES, _SET_SECCOMP, _SET_PDEATHSIG, _DUMPABLE = 38, 22, 1, 4
_NEW_PROCESSES = 0x20000000

_libc = ctypes.CDLL(None, use_errno=True)


def landlock_abi() -> int:
    """0 where the kernel has none."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)))


def seccomp_known() -> bool:
    return platform.machine() in _DENIED


def restrict_files(readable: Sequence[str], writable: Sequence[str]) -> None:
    abi = landlock_abi()
    if abi < 1:
        raise OSError(errno.ENOSYS, "this kernel has no Landlock")
    handled = _ALL_OF_ABI[max(known for known in _ALL_OF_ABI if known <= abi)]
    words = (handled, _TCP if abi >= 4 else 0, _SCOPE if abi >= 6 else 0)
    attributes = struct.pack("=QQQ", *words)[: 24 if abi >= 6 else 16 if abi >= 4 else 8]
    ruleset = _checked(
        _libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    )
    for path, rights in (
        *((path, _READ) for path in readable),
        *((path, handled) for path in writable),
    ):
        _allow(ruleset, path, rights & handled)
    for device in ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/kfd", "/dev/dri"):
        _allow(ruleset, device, (_READ | _WRITE_FILE) & handled)
    _checked(_libc.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # not there: nothing to allow
    if not os.path.isdir(path):  # noqa: PTH112
        rights &= _FILE_ONLY
    rule = struct.pack("=Qi", rights, place)
    _checked(_libc.syscall(_ADD_RULE, ruleset, 1, rule, 0))
    os.close(place)


def restrict_calls() -> None:
    audit, denied = _DENIED[platform.machine()]
    load, jump_eq, jump_ge, ret = 0x20, 0x15, 0x35, 0x06
    program = [(load, 0, 0, 4), (jump_eq, 1, 0, audit), (ret, 0, 0, _DENY), (load, 0, 0, 0)]
    left = len(denied) + 1
    program.append((jump_ge, left, 0, _X32))
    for index, number in enumerate(denied):
        program.append((jump_eq, left - 1 - index, 0, number))
    program += [(ret, 0, 0, _ALLOW), (ret, 0, 0, _DENY)]
    code = b"".join(struct.pack("=HBBI", *line) for line in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(program), ctypes.addressof(buffer))
    _checked(_libc.prctl(_SET_SECCOMP, 2, header, 0, 0))


def restrict_resources(limits: Mapping[str, int]) -> None:
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (most, most))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def main(arguments: Sequence[str]) -> int:
    spec = json.loads(arguments[0])
    _libc.prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    alone = spec["own_processes"] and _libc.unshare(_NEW_PROCESSES) == 0
    if not alone:
        return _become(spec, arguments[1:])
    # The first process of the new namespace only waits: if it dies, all die.
    first = os.fork()
    if first:
        return _code(os.waitpid(first, 0)[1])
    _libc.prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    program = os.fork()
    if not program:
        os._exit(_become(spec, arguments[1:]))
    for descriptor in (0, 1, 2):
        os.close(descriptor)  # the program's readers must see its end, not ours
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == program:
            os._exit(_code(status))


def _become(spec: Mapping[str, object], command: Sequence[str]) -> int:
    """Returns only where it failed; nothing ran then."""
    try:
        _checked(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        restrict_resources(spec["limits"])  # type: ignore[arg-type]
        files = spec["landlock"]
        if files is not None:
            restrict_files(**files)  # type: ignore[arg-type]
        restrict_calls()
    except (OSError, ValueError, KeyError) as error:
        os.write(2, f"cannot confine {command[0]}: {error}\n".encode())
        return EXIT_CANNOT_CONFINE
    try:
        os.execvp(command[0], list(command))
    except OSError as error:
        os.write(2, f"cannot run {command[0]}: {error.strerror}\n".encode())
    return 127


def _code(status: int) -> int:
    """As a shell would: 128 + the signal."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main(sys.argv[1:]))
