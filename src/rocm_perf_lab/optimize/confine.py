"""Give up rights, then become another program: `main([SPEC, PROGRAM, ARGS...])`.

It runs inside bubblewrap, or instead of it; only the standard library and its neighbours `libc`,
`landlock`, `system_calls` and `attributes` are needed. SPEC is JSON: `limits` (resource limits by
name), `landlock` (null, or what stays `readable`, `writable` and which `devices`), `namespaces`
(with Landlock: try to have processes and /proc of one's own, too).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import resource
import signal
import socket
import struct
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rocm_perf_lab.optimize import attributes, landlock, system_calls
from rocm_perf_lab.optimize.libc import mount, prctl, syscall, unshare

EXIT_CANNOT_CONFINE = 121  # never one of the program's: nothing ran

_SET_PDEATHSIG, _CAPABILITY_DROP, _SET_SECURE_BITS, _SUBREAPER = 1, 24, 28, 36
_NO_NEW_PRIVILEGES, _AMBIENT, _AMBIENT_CLEAR = 38, 47, 4
_SECURE_BITS = 0xEF  # root is nobody special, and that is final
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION = 0x20080522
_NEW_MOUNTS, _NEW_PROCESSES, _NEW_USER, _NEW_IPC = 0x20000, 0x20000000, 0x10000000, 0x8000000
_SLAVE, _RECURSIVE = 1 << 19, 1 << 14
_READ_ONLY, _NO_SET_ID, _NO_DEVICES, _NO_EXECUTE = 1, 2, 4, 8
# Without a namespace of its own, what a program sees of processes is this, and of itself.
_PROC = (
    "cpuinfo", "meminfo", "stat", "version", "loadavg", "uptime", "filesystems",
    "sys/kernel/osrelease", "sys/kernel/pid_max", "sys/vm/overcommit_memory",
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    spec, command = json.loads(arguments[0]), arguments[1:]
    try:
        prctl(_SET_PDEATHSIG, signal.SIGKILL)
        if spec["landlock"] is None:
            _restrict(spec, alone=True)
            return _become(command)
        return _supervised(spec, command, alone=spec["namespaces"] and _namespaces_work())
    except (OSError, ValueError, KeyError) as error:
        os.write(2, f"cannot confine {command[0]}: {error}\n".encode())
        return EXIT_CANNOT_CONFINE


def _namespaces_work() -> bool:
    """Tried in a process that ends: half a namespace cannot be left again."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    code = 1
    with contextlib.suppress(OSError):
        _own_namespaces()
        inside = os.fork()
        if inside:
            code = _code(os.waitpid(inside, 0)[1])
        else:
            _own_proc()
            code = 0
    os._exit(code)


def _own_namespaces() -> None:
    """Processes and mounts of its own, for all who are started from here; as root, or by way of
    a user's namespace where the system has those for everyone."""
    user, group = os.geteuid(), os.getegid()
    with contextlib.suppress(OSError):
        unshare(_NEW_PROCESSES | _NEW_MOUNTS | _NEW_IPC)
        return
    unshare(_NEW_USER | _NEW_PROCESSES | _NEW_MOUNTS | _NEW_IPC)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _own_proc() -> None:
    """A /proc that shows the processes of this namespace only."""
    mount("none", "/", None, _SLAVE | _RECURSIVE)
    mount("proc", "/proc", "proc", _READ_ONLY | _NO_SET_ID | _NO_DEVICES | _NO_EXECUTE)


def _supervised(spec: Mapping[str, Any], command: Sequence[str], alone: bool) -> int:
    if alone:
        _own_namespaces()
        # The first process of the new namespace waits: if it dies, all die.
        first = os.fork()
        if first:
            return _code(os.waitpid(first, 0)[1])
        prctl(_SET_PDEATHSIG, signal.SIGKILL)
        _own_proc()
    else:
        prctl(_SUBREAPER, 1)
    files = dict(spec["landlock"])
    ours, theirs = socket.socketpair()
    program = os.fork()
    if not program:
        ours.close()
        prctl(_SET_PDEATHSIG, signal.SIGKILL)
        shown = ["/proc"] if alone else [f"/proc/{os.getpid()}", *(f"/proc/{p}" for p in _PROC)]
        files["readable"] = [*files["readable"], *shown]
        _leave(spec, files, command, alone, theirs)
    theirs.close()
    code = _wait(ours, program, files["writable"])
    if alone:
        os._exit(code)
    return code


def _leave(
    spec: Mapping[str, Any],
    files: Mapping[str, Any],
    command: Sequence[str],
    alone: bool,
    supervisor: socket.socket,
) -> None:
    code = EXIT_CANNOT_CONFINE
    try:
        listener = _restrict(spec, files=files, alone=alone)
        assert listener is not None
        socket.send_fds(supervisor, [b"x"], [listener])
        os.close(listener)
        supervisor.close()
        code = _become(command)
    except (OSError, ValueError, KeyError) as error:
        os.write(2, f"cannot confine {command[0]}: {error}\n".encode())
    finally:
        os._exit(code)


def _wait(channel: socket.socket, program: int, writable: Sequence[str]) -> int:
    _, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
    channel.close()
    drop_capabilities()  # who answers needs no more than who asks
    for descriptor in (0, 1, 2):
        os.close(descriptor)  # the program's readers must see its end, not ours
        os.open("/dev/null", os.O_RDWR)
    if not descriptors:
        return _code(os.waitpid(program, 0)[1])
    return _code(attributes.supervise(descriptors[0], program, writable))


def _restrict(
    spec: Mapping[str, Any], *, alone: bool, files: Mapping[str, Any] | None = None
) -> int | None:
    """Everything is given up here; the supervisor's descriptor, with Landlock."""
    prctl(_NO_NEW_PRIVILEGES, 1)
    restrict_resources(spec["limits"])
    if files is not None:
        landlock.restrict(**files)
    drop_capabilities()
    return system_calls.restrict(supervised=files is not None, alone=alone)


def drop_capabilities() -> None:
    """All five sets; what cannot be taken out of the bounding set cannot be got from it, either."""
    with contextlib.suppress(OSError):
        prctl(_SET_SECURE_BITS, _SECURE_BITS)
    for capability in range(64):
        try:
            prctl(_CAPABILITY_DROP, capability)
        except OSError as error:
            if error.errno == errno.EINVAL:
                break  # beyond the last that the kernel knows
    prctl(_AMBIENT, _AMBIENT_CLEAR)
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    syscall(_CAPSET[os.uname().machine], header, bytes(24))


def restrict_resources(limits: Mapping[str, int]) -> None:
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (most, most))


def _become(command: Sequence[str]) -> int:
    """Returns only where it failed; nothing ran then."""
    try:
        os.execvp(command[0], list(command))
    except OSError as error:
        os.write(2, f"cannot run {command[0]}: {error.strerror}\n".encode())
    return 127


def _code(status: int) -> int:
    """As a shell would: 128 + the signal."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def run() -> None:
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main(sys.argv[1:]))
