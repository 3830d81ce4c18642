"""Stands between rocm-perf and one program it runs; a program of its own, standard library only.

    python -I -S guard.py CONTROL STATUS LOG ERRORS LIMIT PROGRAM [ARGUMENTS]...

Everything the program starts ends with it, also what left its process group by setsid: orphans
come to this process (subreaper), which ends them. When CONTROL, the read end of a pipe, reports
that nobody holds the other end, rocm-perf is gone (SIGKILL included) and so is everything here.
SIGUSR1 to this process ends everything too.
What the program writes goes to LOG: the beginning up to LIMIT bytes, and its end; what it writes to
stderr goes to ERRORS likewise, which may be the same. STATUS gets one line: the exit code, the
nanoseconds it ran, the bytes that were left out, the errno of writing LOG; or `error` and the errno
of starting it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import select
import signal
import sys
import time

_PR_SET_CHILD_SUBREAPER = 36
_TAIL_BYTES = 64 << 10
_END_ALL_S = 2.0


class Log:
    """The beginning of the output and its end; the program never waits for the disk."""

    def __init__(self, descriptor: int, limit: int) -> None:
        self.descriptor, self.room, self.error = descriptor, limit, 0
        self.tail, self.cut = b"", 0

    def add(self, chunk: bytes) -> None:
        self._write(chunk[: self.room])
        rest = self.tail + chunk[self.room :]
        self.room = max(0, self.room - len(chunk))
        self.cut += max(0, len(rest) - _TAIL_BYTES)
        self.tail = rest[-_TAIL_BYTES:]

    def finish(self) -> None:
        if self.cut:
            self._write(f"\n[rocm-perf: {self.cut} bytes of output are left out here]\n".encode())
        self._write(self.tail)

    def _write(self, data: bytes) -> None:
        while data and not self.error:
            try:
                data = data[os.write(self.descriptor, data) :]
            except OSError as error:
                self.error = error.errno or errno.EIO


def start(command: list[str], output: int, errors: int) -> int:
    """The program's process id; OSError where it cannot be started."""
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
                signal.signal(number, signal.SIG_DFL)
            os.dup2(output, 1)
            os.dup2(errors, 2)
            os.execvp(command[0], command)
        except OSError as error:
            os.write(tell, str(error.errno or errno.EIO).encode())
        finally:
            os._exit(127)
    os.close(tell)
    failed = os.read(told, 16)
    os.close(told)
    if failed:
        os.waitpid(pid, 0)
        raise OSError(int(failed), "")
    return pid


def end_all() -> None:
    """Every process that is left, however deep: killed, its children inherited, and so on."""
    end = time.monotonic() + _END_ALL_S
    while time.monotonic() < end:
        try:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
        for pid in children():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)


def children() -> list[int]:
    me = str(os.getpid())
    try:
        with open(f"/proc/{me}/task/{me}/children") as file:  # noqa: PTH123 (no pathlib here)
            return [int(word) for word in file.read().split()]
    except OSError:
        pids = os.listdir("/proc")  # noqa: PTH208
        return [int(pid) for pid in pids if pid.isdigit() and _parent(pid) == me]


def _parent(pid: str) -> str:
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[1]
    except (OSError, IndexError):
        return ""


def watch(pid: int, control: int, wake: int, logs: dict[int, Log]) -> int | None:
    """The program's wait status; None when everything has to end."""
    poll = select.poll()
    for descriptor in (control, wake, *logs):
        poll.register(descriptor, select.POLLIN | select.POLLHUP)
    while True:
        ready = [descriptor for descriptor, _ in poll.poll()]
        for output in logs.keys() & ready:
            chunk = os.read(output, 1 << 16)
            if chunk:
                logs[output].add(chunk)
            else:
                poll.unregister(output)
        if control in ready:
            return None
        if wake in ready:
            if signal.SIGUSR1 in os.read(wake, 512):
                return None
            status = reap(pid)
            if status is not None:
                return status


def reap(pid: int) -> int | None:
    with contextlib.suppress(ChildProcessError):
        while True:
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended == pid:
                return status
            if not ended:
                break
    return None


def main(arguments: list[str]) -> None:
    control, status, log_file, error_file, limit = map(int, arguments[:5])
    for descriptor in (control, status, log_file, error_file):
        os.set_inheritable(descriptor, False)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # A signal to the group is for the program; this process stays to see it end.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    for number in (signal.SIGCHLD, signal.SIGUSR1):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    output, inlet = os.pipe()
    log = Log(log_file, limit)
    logs, inlets = {output: log}, [inlet, inlet]
    if error_file != log_file:
        errors, inlets[1] = os.pipe()
        logs[errors] = Log(error_file, limit)
    began = time.perf_counter_ns()
    try:
        pid = start(arguments[5:], *inlets)
    except OSError as error:
        os.write(status, f"error {error.errno}\n".encode())
        return
    for inlet in {*inlets}:
        os.close(inlet)
    ended = watch(pid, control, wake, logs)
    took = time.perf_counter_ns() - began
    end_all()
    for descriptor, each in logs.items():
        os.set_blocking(descriptor, False)
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(descriptor, 1 << 16):
                each.add(chunk)
        each.finish()
    if ended is not None:
        line = f"{os.waitstatus_to_exitcode(ended)} {took} {log.cut} {log.error}\n"
        with contextlib.suppress(BrokenPipeError):
            os.write(status, line.encode())


if __name__ == "__main__":
    main(sys.argv[1:])
