"""Proposed code is compiled and run here: no network, no secrets, nothing written outside.

Bubblewrap where it works, else Landlock; seccomp and resource limits with both (`confine.py`).
What can be seen is the same list either way: the system's programs and libraries, this package,
and the folders named. Time, processes, memory and output are watched from outside; where the
kernel lets us make a group for them (`task_group.py`), it refuses processes beyond the limit.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import rocm_perf_lab
from rocm_perf_lab import beneath, scratch
from rocm_perf_lab.collect import process
from rocm_perf_lab.device.toolchain import cache_dir, find_toolchain, runtime_library_dir
from rocm_perf_lab.errors import MissingTool, Refused
from rocm_perf_lab.optimize import confine, system_calls
from rocm_perf_lab.optimize.disk_use import DiskUse
from rocm_perf_lab.optimize.task_group import TaskGroup, task_group, where

Kind = Literal["bubblewrap", "landlock", "none"]
_START = (
    f"import sys; sys.path.insert(0, {str(Path(rocm_perf_lab.__file__).parents[1])!r}); "
    "from rocm_perf_lab.optimize.confine import run; run()"
)

_SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store",
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
    "/etc/localtime", "/etc/OpenCL",
)  # fmt: skip
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_GPU = ("/dev/kfd", "/dev/dri")
# Where ROCm's driver says what the GPU is; nothing of /sys is seen without one.
_GPU_TOPOLOGY = (
    "/sys/class/kfd", "/sys/devices/virtual/kfd", "/sys/class/drm", "/sys/dev/char",
    "/sys/devices/system/node", "/sys/devices/system/cpu", "/sys/bus/pci", "/sys/module/amdgpu",
    *(str(path) for path in sorted(Path("/sys/devices").glob("pci*"))),
)  # fmt: skip
_IN_MEMORY, _SMALL_BYTES = ("/tmp", "/dev/shm"), 64 << 20  # with bubblewrap: each at most so large
# What a program needs of the environment to find its device, language and libraries.
_PASSED = re.compile(
    r"PATH|LANG|LC_\w+|TZ|LD_LIBRARY_PATH|PYTHONPATH|(ROCM|ROCR|HIP|HSA|GPU|AMD)_\w+|OMP_\w+"
)
_SECRET = re.compile(r"token|secret|passw|key|credential|auth", re.IGNORECASE)
_PARTS = ("bin", "lib", "lib64", "libexec", "include", "llvm")  # of an installation
_SOURCES = frozenset(
    ".c .cc .cpp .cxx .c++ .cu .hip .h .hh .hpp .hxx .cuh .inc .inl .ipp .tpp .def".split()
)
UNBOUNDED = "root's processes are only counted from outside, no control group can be made"


def _memory_bytes() -> int:
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(16 << 30, machine * 3 // 4)


@dataclass(frozen=True)
class Limits:
    wall_s: float = 300.0
    processes: int = 256
    memory_bytes: int = field(default_factory=_memory_bytes)  # resident, all processes together
    output_bytes: int = 4 << 20
    disk_bytes: int = 8 << 30  # that the work folder may grow by, deleted files that are open too

    @property
    def tasks(self) -> int:
        """What the kernel counts: threads as well, of which each core may get some."""
        return self.processes + 4 * (os.cpu_count() or 1)


@dataclass(frozen=True)
class Ended:
    exit_code: int | None  # None: stopped by a limit
    output: str  # both streams; at most `output_bytes` of them
    wall_s: float
    limit: str | None = None  # which limit, in words

    @property
    def ok(self) -> bool:
        return self.exit_code == 0

    def sentence(self) -> str:
        """How it ended, as the second half of a sentence."""
        if self.limit is not None:
            return f"was stopped: {self.limit}"
        assert self.exit_code is not None
        if self.exit_code > 128:
            with contextlib.suppress(ValueError):
                return f"was killed by {signal.Signals(self.exit_code - 128).name}"
        return f"exited with code {self.exit_code}"


@dataclass(frozen=True)
class Sandbox:
    kind: Kind
    work: Path  # the one folder that can be written
    readable: tuple[Path, ...] = ()
    limits: Limits = field(default_factory=Limits)
    namespaces: bool = True  # with Landlock: of processes and mounts, too, where they can be had

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """Only what is on the list; `extra` is the caller's own and goes through the same sieve
        for secrets, not for names."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if _PASSED.fullmatch(name) and not _SECRET.search(name)
        }
        own = {n: v for n, v in (extra or {}).items() if not _SECRET.search(n)}
        beneath.make_folder(self.work, "tmp")
        return {
            **kept, **own, "HOME": str(self.work), "TMPDIR": str(self.work / "tmp"),
            "ROCM_PERF_CACHE_DIR": str(cache_dir()),
            # Code that others run is not kept where what is confined here could write it.
            "ROCM_PERF_VIRTUAL_TRANSLATE": "off",
        }  # fmt: skip

    @property
    def place(self) -> Path:
        """Where the user stands, if it is shown: programs find their files from there."""
        here = Path.cwd()
        return here if any(here.is_relative_to(path) for path in self.readable) else self.work

    def wrap(self, command: Sequence[str], cwd: Path | None = None) -> list[str]:
        """The command line that runs `command` confined; its streams stay its own."""
        if self.kind == "none":
            return list(command)
        named = (path for path in (*_own(), *self.readable) if not too_much(path))
        seen = [*_SYSTEM, *map(str, named)]
        devices = [*_DEVICES, *_gpu()]
        if _gpu():
            seen += _GPU_TOPOLOGY
        files = {"readable": seen, "writable": [str(self.work)], "devices": devices}
        spec = {
            "limits": {
                "CORE": 0,
                "FSIZE": self.limits.disk_bytes,
                "NPROC": self.limits.tasks + _tasks_of_user(),
                "CPU": int(self.limits.wall_s * (os.cpu_count() or 1)) + 1,
                "RTPRIO": 0,
                "MSGQUEUE": 0,
            },
            "landlock": files if self.kind == "landlock" else None,
            "namespaces": self.namespaces,
        }
        words = [sys.executable, "-I", "-c", _START, json.dumps(spec), *command]
        if self.kind == "landlock":
            return words
        return [*self._bubblewrap(seen, devices, cwd or self.work), *words]

    def _bubblewrap(self, seen: Sequence[str], devices: Sequence[str], cwd: Path) -> list[str]:
        words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session"]
        words += ["--cap-drop", "ALL", "--proc", "/proc", "--tmpfs", "/dev"]
        for folder in _IN_MEMORY:
            words += [*_sized(), "--tmpfs", folder]
        # Parents before children: a later bind would hide an earlier one below it.
        for path in sorted(set(seen)):
            words += ["--ro-bind-try", path, path]
        for device in devices:
            words += ["--dev-bind-try", device, device]
        for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
            words += ["--symlink", f"/proc/self/fd/{number}", f"/dev/{name}"]
        words += ["--symlink", "/proc/self/fd", "/dev/fd"]
        words += ["--bind", str(self.work), str(self.work)]
        # To root's own files under /proc its user id would be enough.
        for folder in ("/proc", "/dev", "/", *(() if _sized() else _IN_MEMORY)):
            words += ["--remount-ro", folder]
        return [*words, "--chdir", str(cwd), "--"]

    def run(
        self,
        command: Sequence[str],
        extra: Mapping[str, str] | None = None,
        wall_s: float | None = None,
        cwd: Path | None = None,
    ) -> Ended:
        """Run to the end or to a limit. Raises MissingTool if it could not be confined."""
        place = cwd or self.work
        words = self.wrap(command, place)
        allowed_s = self.limits.wall_s if wall_s is None else min(wall_s, self.limits.wall_s)
        with (
            task_group(self.limits.tasks) as group,
            scratch.folder("rocm-perf-output-") as folder,
        ):
            if group is not None:
                words = group.joined(words)
            elif os.geteuid() == 0 and where(0) is not None:
                raise MissingTool("no control group could be made for the sandbox this time")
            watch = _Watch(
                self.limits, folder / "output", DiskUse(self.work, self.limits.disk_bytes), group
            )
            done = process.run(
                words, watch.output, self.environment(extra), allowed_s, alone=True, cwd=place,
                log_bytes=self.limits.output_bytes + 1, object_to=watch,
            )  # fmt: skip
            limit = done.objection or watch.printed_too_much()
            data = watch.output.read_bytes()[: self.limits.output_bytes]
        if done.exit_code is None and limit is None:
            limit = f"it was still running after {allowed_s:g} s"
        code = done.exit_code
        ended = Ended(
            None if limit is not None or code is None else code if code >= 0 else 128 - code,
            data.decode("utf-8", "replace"),
            done.wall_ms / 1e3,
            limit,
        )
        if ended.exit_code == confine.EXIT_CANNOT_CONFINE and self.kind != "none":
            raise MissingTool(f"the sandbox does not work here: {ended.output.strip()[:300]}")
        return ended


def available() -> Kind:
    """The best confinement that works here, tried, not guessed."""
    return _available(os.geteuid())


def confined(hint: str) -> Kind:
    """The same, for what must not run without: Refused where nothing works."""
    kind = available()
    if kind == "none":
        raise Refused("there is no sandbox here: neither bubblewrap nor Landlock works", hint=hint)
    return kind


@functools.lru_cache(maxsize=2)
def _available(_user: int) -> Kind:
    if not system_calls.known():
        return "none"
    work = Path(sys.prefix)  # never written: the probe is `true`
    kinds: tuple[Kind, ...] = ("bubblewrap", "landlock")
    for kind in kinds:
        if kind == "bubblewrap" and shutil.which("bwrap") is None:
            continue
        words = Sandbox(kind, work).wrap(["true"])
        done = subprocess.run(words, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode == 0:
            return kind
    return "none"


@functools.lru_cache(maxsize=1)
def _own() -> tuple[Path, ...]:
    """This package and what it needs beside itself: Python, its libraries, the compiler."""
    prefixes = {
        Path(sys.prefix),
        Path(sys.base_prefix),
        Path(sys.executable).resolve().parent.parent,
    }
    prefixes |= {Path(root) for name in ("ROCM_PATH", "HIP_PATH") if (root := os.environ.get(name))}
    found = {Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")}
    found |= {Path(rocm_perf_lab.__file__).parent, cache_dir()}
    if library := runtime_library_dir():
        found |= {library, library.resolve()}
    with contextlib.suppress(MissingTool):
        prefixes.add(Path(find_toolchain().clang[0]).resolve().parent.parent)
    for prefix in prefixes:
        found |= {prefix} if not too_much(prefix) else {prefix / name for name in _PARTS}
    return tuple(sorted(found))


@functools.lru_cache(maxsize=1)
def _sized() -> tuple[str, ...]:
    """What bounds the next file system in memory; nothing, where bubblewrap is too old for it."""
    words = ["bwrap", "--help"]
    done = subprocess.run(words, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    return ("--size", str(_SMALL_BYTES), "--perms", "1777") if b"--size" in done.stdout else ()


@functools.lru_cache(maxsize=1)
def _gpu() -> tuple[str, ...]:
    return tuple(path for path in _GPU if Path(path).exists())


def too_much(folder: Path) -> bool:
    """A folder that holds someone's home, or everyone's files: never shown as a whole."""
    try:
        place = folder.resolve()
        if not place.is_dir():
            return False
        if place.stat().st_mode & stat.S_ISVTX:  # /tmp and its like
            return True
    except (OSError, RuntimeError):
        return True
    return any(home.is_relative_to(place) for home in _homes())


@functools.lru_cache(maxsize=1)
def _homes() -> tuple[Path, ...]:
    found = {"/", "/etc/passwd", "/var/tmp", "/root", "/home/anyone"}
    found |= {os.environ.get("HOME", "/"), *(each.pw_dir for each in pwd.getpwall())}
    system = ("/usr", "/bin", "/sbin", "/nonexistent")  # homes of daemons in folders of programs
    paths = (Path(name).resolve() for name in found)
    return tuple(path for path in paths if not any(path.is_relative_to(s) for s in system))


def shown(folder: Path, files: Sequence[Path] = ()) -> set[Path]:
    """What to show of a folder in which something needed lies: all of it, or where that is too
    much, the files named and the sources and headers beside them."""
    if not too_much(folder):
        return {folder}
    with contextlib.suppress(OSError):
        beside = (path for path in folder.iterdir() if path.suffix in _SOURCES and path.is_file())
        return {*files, *beside}
    return set(files)


def _tasks_of_user() -> int:
    """NPROC counts every task of the user, not only ours."""
    user, count = os.geteuid(), 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if entry.stat().st_uid == user:
                    count += sum(1 for _ in os.scandir(f"{entry.path}/task"))
    return count


def processes_bounded() -> bool:
    """Whether the kernel holds a program to its number of processes. RLIMIT_NPROC does for users,
    not for root: where no group can be made, a fast fork bomb of root's may outrun the watch."""
    return os.geteuid() != 0 or where(0) is not None


# ---- the watch


@dataclass(frozen=True)
class _Watch:
    """What there is to say against a program while it runs."""

    limits: Limits
    output: Path
    disk: DiskUse
    group: TaskGroup | None

    def printed_too_much(self) -> str | None:
        if self.output.stat().st_size <= self.limits.output_bytes:
            return None
        return f"it printed more than {self.limits.output_bytes >> 10} KiB"

    def __call__(self, root: int) -> str | None:
        if printed := self.printed_too_much():
            return printed
        limits, pids = self.limits, descendants(root)
        # The first is not the program's own doing.
        if len(pids) - 1 > limits.processes or (self.group is not None and self.group.refused()):
            return f"it started more than {limits.processes} processes"
        page, memory = os.sysconf("SC_PAGE_SIZE"), 0
        for pid in pids:
            with contextlib.suppress(OSError, IndexError, ValueError):
                memory += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * page
        if memory > limits.memory_bytes:
            return f"it used more than {limits.memory_bytes >> 20} MiB of memory"
        if self.disk.exceeded(pids):
            return f"it wrote more than {limits.disk_bytes >> 20} MiB to disk"
        return None


def descendants(root: int) -> list[int]:
    """Every process below one. The orphans of a namespace belong to its first process."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                # The name in brackets may hold anything; the parent follows the last bracket.
                text = Path(entry.path, "stat").read_bytes().rpartition(b")")[2]
                children.setdefault(int(text.split()[1]), []).append(int(entry.name))
    found, queue = [], [root]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found
