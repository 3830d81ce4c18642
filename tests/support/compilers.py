"""Which compilers the tests use: for HIP, and for C++ that is linked with the native build."""

from __future__ import annotations

import shlex
from pathlib import Path

from rocm_perf_lab.device.toolchain import find_toolchain, from_clang
from rocm_perf_lab.errors import MissingTool
from support import machine

REPOSITORY = Path(__file__).resolve().parents[2]


def in_words() -> list[str]:
    try:
        device = find_toolchain().version
    except MissingTool as error:
        device = error.message
    host = shlex.join(native_cxx() or ["none: make native"])
    hidden = ", ".join(machine.hidden()) or "nothing"
    return [f"HIP: {device}", f"C++: {host}", f"hidden of the machine: {hidden}"]


def native_cxx(language: str = "CXX") -> list[str] | None:
    """The compiler that built the native part: what is linked with it has to come from it, too."""
    cache = REPOSITORY / "build" / "native" / "CMakeCache.txt"
    if not cache.exists():
        return None
    lines = (line.partition("=") for line in cache.read_text("utf-8").splitlines())
    values = {key.partition(":")[0]: value for key, _, value in lines}
    found = values.get(f"CMAKE_{language}_COMPILER")
    return [found, *values.get(f"CMAKE_{language}_COMPILER_ARG1", "").split()] if found else None


def native_cc() -> list[str] | None:
    """Its companion for C."""
    return native_cxx("C")


def system_clang() -> str | None:
    """The newest clang of the machine that compiles HIP."""
    for number in range(30, 16, -1):
        path = machine.which(f"clang-{number}")
        if path and from_clang(Path(path)):
            return path
    plain = machine.which("clang")
    return plain if plain and from_clang(Path(plain)) else None
