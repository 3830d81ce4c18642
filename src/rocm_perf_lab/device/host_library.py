"""The C++ library that ziglang links host programs with, compiled once and kept.

ziglang compiles it from source, a minute's work, into a cache that it must be able to write. A
confined build can write to its own folder only, so it gets a cache of its own there: the notes on
what was compiled are copied, what was compiled is linked to, and nobody else's copy can be changed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from rocm_perf_lab import scratch
from rocm_perf_lab.device.toolchain import (
    Toolchain,
    cache_dir,
    device_library,
    find_toolchain,
    real_hipcc,
)

_CACHE = "ZIG_GLOBAL_CACHE_DIR"
# Folders of ziglang's cache: what was compiled from what, with which settings, into which files.
_FOLDERS: dict[str, Callable[[str, str], object]] = {
    "h": shutil.copy2,
    "b": shutil.copy2,
    "o": os.symlink,
}


def prepare(architecture: str) -> None:
    """What a confined build needs and cannot keep: there our cache cannot be written."""
    if real_hipcc() is None:
        toolchain = find_toolchain()
        device_library(toolchain, architecture)
        if toolchain.own_libcxx:
            _compiled(toolchain)


def link_environment(toolchain: Toolchain, work: Path) -> dict[str, str]:
    """The environment for the host's link, with a cache in `work` if that saves compiling."""
    if not toolchain.own_libcxx or _CACHE in os.environ:
        return dict(os.environ)
    made = _compiled(toolchain)
    if made is None:
        return dict(os.environ)
    own = work / "zig"
    for name, put in _FOLDERS.items():
        if (made / name).is_dir():
            shutil.copytree(made / name, own / name, copy_function=put)
    return {**os.environ, _CACHE: str(own)}


def _compiled(toolchain: Toolchain) -> Path | None:
    """A cache of ziglang's with its C++ library in it; None where there is none and none can be
    made: then the link says what is wrong, or takes its minute."""
    key = hashlib.sha256("\0".join((toolchain.version, *toolchain.link)).encode()).hexdigest()
    target = cache_dir() / f"hostlib-{key[:20]}"
    if target.is_dir():
        return target
    try:
        cache_dir().mkdir(parents=True, exist_ok=True)
        with (cache_dir() / f"{target.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # who comes second waits rather than compile too
            if not target.is_dir():
                _compile(toolchain, target)
    except OSError:
        return None
    return target if target.is_dir() else None


def _compile(toolchain: Toolchain, target: Path) -> None:
    with scratch.folder(f".{target.name}.", target.parent) as folder:
        source = folder / "empty.cpp"
        source.write_text("int main() {}\n")
        words = [*toolchain.link, str(source), "-o", str(folder / "empty"), "-lpthread", "-lm"]
        environment = {**os.environ, _CACHE: str(folder / "cache")}
        done = subprocess.run(words, env=environment, capture_output=True, check=False)
        if done.returncode == 0:
            (folder / "cache").replace(target)
