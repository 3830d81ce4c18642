"""Hot kernels of the virtual GPU, translated to host code: whether they are, and where results are
kept (docs/translate.md). What translates them is `translator`.
"""

from __future__ import annotations

import contextlib
import os
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from rocm_perf_lab.device.toolchain import cache_dir, find_toolchain
from rocm_perf_lab.errors import MissingTool
from rocm_perf_lab.virtual.native import library_dir

WISH = "ROCM_PERF_VIRTUAL_TRANSLATE"
TRANSLATOR, FOLDER = "ROCM_PERF_TRANSLATOR", "ROCM_PERF_TRANSLATIONS"
# Host CPUs that tests translate for, beside the machine's own.
LEVELS = {"avx": "sandybridge", "avx2": "x86-64-v3", "avx512": "x86-64-v4"}
_MODULE = "rocm_perf_lab.device.translator"


def environment(base: Mapping[str, str]) -> dict[str, str]:
    """What a program's virtual GPU is told; nothing where it is to stay interpreted, or is told."""
    if base.get(WISH) == "off" or TRANSLATOR in base or _no_way() is not None:
        return {}
    start = f"import sys; sys.path[:] = {sys.path!r}; from {_MODULE} import main; main()"
    return {TRANSLATOR: "\n".join([sys.executable, "-c", start]), FOLDER: str(folder())}


def why_not() -> str | None:
    """Why kernels stay interpreted here; None: they need not."""
    try:
        compiler()
    except MissingTool as error:
        return error.message
    return _no_way()


class Compiler(NamedTuple):
    """Command prefixes, and what their processes are told."""

    clang: tuple[str, ...]
    lld: tuple[str, ...]
    environment: Mapping[str, str]


def compiler() -> Compiler:
    """A clang for the host: what HIP programs are built with here, or ROCm's. It links by its own
    lld: a machine need not have another linker."""
    own = Path(os.environ.get("ROCM_PATH") or "/opt/rocm") / "llvm" / "bin"
    try:
        found = find_toolchain()
    except MissingTool:
        if not all(os.access(own / name, os.X_OK) for name in ("clang", "ld.lld")):
            raise
        return Compiler((str(own / "clang"),), (str(own / "ld.lld"),), {})
    return Compiler(found.clang, found.lld, found.environment)


def _no_way() -> str | None:
    # Compilers end in a crash where there are no vectors of eight words.
    if os.environ.get("ROCM_PERF_PORTABLE") == "1" or "avx" not in _features():
        return "this CPU has no AVX, or is not to use it"
    wanted = folder()
    try:
        wanted.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        return f"{wanted} cannot be written: {error.strerror}"
    if not (library_dir() / "lanes").is_dir():
        return "the virtual GPU's headers are not there"
    return None


def folder() -> Path:
    return cache_dir() / f"translations-{host()}"


def host() -> str:
    """What the code is for: another CPU's instructions would end the program."""
    level = os.environ.get("ROCM_PERF_TRANSLATE_FOR", "")
    if level in LEVELS:
        return level
    return f"{word_hash(' '.join(_features()).encode()):016x}"


def _features() -> list[str]:
    with contextlib.suppress(OSError), Path("/proc/cpuinfo").open(encoding="utf-8") as file:
        flags = next((line for line in file if line.startswith("flags")), "")
        return sorted(flags.partition(":")[2].split())
    return []


def word_hash(data: bytes) -> int:
    """As native/gpu/translate/word_hash.h."""
    h, mask = 0xCBF29CE484222325, 2**64 - 1
    for (word,) in struct.iter_unpack("<Q", data + bytes(-len(data) % 8)):
        h = ((h ^ word) * 0x9E3779B97F4A7C15) & mask
        h ^= h >> 32
    return h
