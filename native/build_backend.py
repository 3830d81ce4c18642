"""Build backend of the package: scikit-build-core, with a compiler found first.

The system's C++ compiler builds the native part; where there is none, PyPI's ziglang does.
Run as a program it configures and builds the developer's tree, build/native:

    python native/build_backend.py [-DNAME=VALUE ...] [--build-dir DIR] [--target NAME ...]
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403 - the PEP 517 hooks not overridden below

SOURCE = Path(__file__).resolve().parent
ZIG = "ziglang>=0.16,<0.18"


def compilers() -> dict[str, str]:
    """CC and CXX for CMake; empty where CMake's own choice will do."""
    if "CXX" in os.environ or shutil.which("c++") or shutil.which("clang++"):
        return {}
    # Left to itself zig compiles for the processor it runs on, whatever a file asks for.
    return {
        "CC": f"{sys.executable} -m ziglang cc -mcpu=baseline",
        "CXX": f"{sys.executable} -m ziglang c++ -mcpu=baseline",
    }


def _requires(hook: str, settings: dict[str, object] | None) -> list[str]:
    found = getattr(_build, hook)(settings)
    return [*found, *([ZIG] if compilers() else [])]


def get_requires_for_build_wheel(settings: dict[str, object] | None = None) -> list[str]:
    return _requires("get_requires_for_build_wheel", settings)


def get_requires_for_build_editable(settings: dict[str, object] | None = None) -> list[str]:
    return _requires("get_requires_for_build_editable", settings)


def build_wheel(
    directory: str, settings: dict[str, object] | None = None, metadata: str | None = None
) -> str:
    os.environ.update(compilers())
    return _build.build_wheel(directory, settings, metadata)


def build_editable(
    directory: str, settings: dict[str, object] | None = None, metadata: str | None = None
) -> str:
    os.environ.update(compilers())
    return _build.build_editable(directory, settings, metadata)


def _tool(name: str) -> str:
    """cmake or ninja: the one installed beside this interpreter first."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else name


def main(args: list[str]) -> int:
    build_dir = SOURCE.parent / "build" / "native"
    if "--build-dir" in args:
        at = args.index("--build-dir")
        build_dir = Path(args[at + 1]).resolve()
        del args[at : at + 2]
    defines = [arg for arg in args if arg.startswith("-D")]
    rest = [arg for arg in args if not arg.startswith("-D")]
    build_dir.mkdir(parents=True, exist_ok=True)
    # Ninja does not expect company in its build tree: test workers and a shell take turns.
    with (build_dir / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _build_tree(build_dir, defines, rest)


def _compiler() -> str:
    """What decides which objects can be linked with each other."""
    if not compilers():
        return os.environ.get("CXX", "the system's")
    return f"{compilers()['CXX']}: ziglang {metadata.version('ziglang')}"


def _build_tree(build_dir: Path, defines: list[str], rest: list[str]) -> int:
    environment = {**os.environ, **compilers()}
    configured = (build_dir / "build.ninja").exists()
    stamp = build_dir / ".compiler"
    # CMake keeps the compiler it found first, whatever is there now.
    another = configured and (not stamp.exists() or stamp.read_text() != _compiler())
    if another:
        (build_dir / "CMakeCache.txt").unlink(missing_ok=True)
        shutil.rmtree(build_dir / "CMakeFiles", ignore_errors=True)
    if defines or not configured or another:
        stamp.write_text(_compiler())
        configure = [_tool("cmake"), "-S", str(SOURCE), "-B", str(build_dir), "-G", "Ninja"]
        configure += [f"-DCMAKE_MAKE_PROGRAM={_tool('ninja')}"] if _tool("ninja") != "ninja" else []
        configure += [f"-DRPL_WERROR={'OFF' if compilers() else 'ON'}"]
        configure += [f"-DPython_EXECUTABLE={sys.executable}", *defines]
        done = subprocess.run(configure, env=environment, check=False)
        if done.returncode:
            return done.returncode
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
    build = [_tool("cmake"), "--build", str(build_dir), "-j", jobs, *rest]
    return subprocess.run(build, env=environment, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
