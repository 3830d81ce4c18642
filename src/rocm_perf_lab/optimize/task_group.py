"""A control group that bounds how many tasks a sandboxed program may have: root's, too.

RLIMIT_NPROC does not bind root, and counts a user's other programs with it. A group of the pids
controller (version 1 or 2) counts exactly what was put into it. One is made below or beside the
group this process is in, wherever the kernel lets us; no controller is switched on for it.

Also a program of its own, standard library only: `python -I task_group.py FOLDER PROGRAM ARGS...`
joins the group, then becomes the program, so that nothing it starts is ever outside.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

EXIT_CANNOT_JOIN = 121  # as confine.py's: nothing ran
_PREFIX = "rocm-perf-"
_END_S = 10.0


@dataclass(frozen=True)
class TaskGroup:
    folder: Path

    def joined(self, command: Sequence[str]) -> list[str]:
        """The command line that runs `command` inside."""
        return [sys.executable, "-I", __file__, str(self.folder), *command]

    def refused(self) -> int:
        """How many tasks the kernel has refused so far."""
        words = (self.folder / "pids.events").read_text().split()
        return int(words[words.index("max") + 1])

    def end(self) -> None:
        """No new task, then no task, then no group."""
        (self.folder / "pids.max").write_text("0")
        deadline = time.monotonic() + _END_S
        while members := (self.folder / "cgroup.procs").read_text().split():
            for pid in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            if time.monotonic() > deadline:
                return  # one that sleeps in the kernel: the next run takes the folder away
            time.sleep(0.005)
        _remove(self.folder)


@contextlib.contextmanager
def task_group(most: int) -> Iterator[TaskGroup | None]:
    """A group for at most so many tasks, gone at the end with all in it; None: none can be made."""
    place = where(os.geteuid())
    group = _make(place, most) if place is not None else None
    try:
        yield group
    finally:
        if group is not None:
            group.end()


@functools.lru_cache(maxsize=2)
def where(_user: int) -> Path | None:
    """The folder to make groups in, tried, not guessed."""
    for place in _places(Path("/proc/self/cgroup"), Path("/proc/self/mountinfo")):
        _sweep(place)
        group = _make(place, 16)
        if group is None:
            continue
        done = subprocess.run(group.joined(["true"]), capture_output=True, check=False)
        group.end()
        if done.returncode == 0:
            return place
    return None


def _places(own: Path, mounts: Path) -> Iterator[Path]:
    """The folders of this process's group and those above it, nearest first, by controller."""
    try:
        groups = [line.split(":", 2) for line in own.read_text().splitlines()]
        mounted = [line.split(" - ", 1) for line in mounts.read_text().splitlines()]
    except OSError:
        return
    for _, controllers, path in groups:
        if controllers and "pids" not in controllers.split(","):
            continue
        for before, behind in mounted:
            root, point = before.split()[3:5]
            kind, _, options = behind.split(" ", 2)
            if kind != ("cgroup" if controllers else "cgroup2"):
                continue
            if controllers and "pids" not in options.split(","):
                continue
            if not Path(path).is_relative_to(root):
                continue  # a mount of another part of the tree
            inside = Path(point, Path(path).relative_to(root))
            yield from (f for f in (inside, *inside.parents) if f.is_relative_to(point))


def _make(place: Path, most: int) -> TaskGroup | None:
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=place))
    except OSError:
        return None
    try:
        with (folder / "pids.max").open("r+") as limit:  # not there: the controller is off here
            limit.write(str(most))
        (folder / "pids.events").read_text()
    except OSError:
        _remove(folder)
        return None
    return TaskGroup(folder)


def _sweep(place: Path) -> None:
    """What killed runs left: groups whose maker is gone. The kernel keeps those with tasks."""
    for left in place.glob(f"{_PREFIX}*"):
        pid = left.name.removeprefix(_PREFIX).partition("-")[0]
        if not Path("/proc", pid).exists():
            _remove(left)


def _remove(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def main(arguments: Sequence[str]) -> int:
    folder, *command = arguments
    try:
        Path(folder, "cgroup.procs").write_text("0")
    except OSError as error:
        os.write(2, f"cannot join {folder}: {error.strerror}\n".encode())
        return EXIT_CANNOT_JOIN
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"cannot run {command[0]}: {error.strerror}\n".encode())
    return 127


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
