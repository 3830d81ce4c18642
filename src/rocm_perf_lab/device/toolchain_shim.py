"""A folder that looks like ROCm: compilers and tools in bin, include, lib, CMake's packages."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from rocm_perf_lab import __version__
from rocm_perf_lab.device.target import STAND_IN
from rocm_perf_lab.device.toolchain import (
    SHIM_MARK,
    cache_dir,
    include_dir,
    runtime_library_dir,
)
from rocm_perf_lab.errors import UsageError


def hip_version() -> str:
    """6.4.43482, from the headers."""
    text = (include_dir() / "hip" / "hip_version.h").read_text()
    parts = [re.search(rf"HIP_VERSION_{name} (\d+)", text) for name in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(match[1] for match in parts if match)


def version_text() -> str:
    product = f"rocm-perf-lab {__version__}: HIP for the virtual GPU"
    return f"HIP version: {hip_version()}-virtual\n{product}"


def shim_root() -> Path:
    return cache_dir() / "opt-rocm"


def make_shims() -> Path:
    """Write the folder (again: the interpreter may have moved) and return its bin."""
    root = shim_root()
    python = shlex.quote(sys.executable)
    for name, command in (
        ("bin/hipcc", f"{python} -m rocm_perf_lab hipcc"),
        ("bin/hipconfig", f"{python} -m rocm_perf_lab hipcc --hipconfig"),
        ("bin/amdclang++", f"{python} -m rocm_perf_lab hipcc"),
        ("bin/rocprofv3", f"{python} -m {STAND_IN}"),
        ("bin/rocm_agent_enumerator", "echo gfx942 #"),
        ("llvm/bin/clang++", f"{python} -m rocm_perf_lab hipcc"),
    ):
        write(root / name, f'#!/bin/sh\n# {SHIM_MARK}\nexec {command} "$@"\n', executable=True)
    link(root / "include", include_dir())
    libraries = runtime_library_dir()
    if libraries is not None:
        library_folder = root / "lib"
        if library_folder.is_symlink():
            library_folder.unlink()
        library_folder.mkdir(exist_ok=True)
        for library in libraries.glob("*.so*"):
            link(library_folder / library.name, library)
    for source in sorted((Path(__file__).parent / "cmake").glob("*.cmake")):
        package = PACKAGE_OF.get(source.stem, "hip")
        write(root / "lib" / "cmake" / package / source.name, source.read_text())
        write(
            root / "lib" / "cmake" / package / f"{package}-config-version.cmake",
            VERSION_FILE.replace("{}", hip_version()),
        )
    write(root / ".info" / "version", f"{hip_version()}\n")
    return root / "bin"


PACKAGE_OF = {"hip-lang-config": "hip-lang", "hiprtc-config": "hiprtc"}
VERSION_FILE = """set(PACKAGE_VERSION "{}")
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
"""


def write(path: Path, text: str, executable: bool = False) -> None:
    """Builds run side by side: a file is there whole or not at all."""
    if path.is_file() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    work = path.with_name(f"{path.name}.{os.getpid()}")
    work.write_text(text)
    work.chmod(0o755 if executable else 0o644)
    work.replace(path)


def link(path: Path, target: Path) -> None:
    work = path.with_name(f"{path.name}.{os.getpid()}")
    work.symlink_to(target, target_is_directory=target.is_dir())
    work.replace(path)


def hipconfig(args: Sequence[str]) -> str:
    """What AMD's hipconfig answers, for Makefiles that ask."""
    root = shim_root()
    answers = {
        "--path": str(root),
        "-p": str(root),
        "--rocmpath": str(root),
        "-R": str(root),
        "--cpp_config": f" -D__HIP_PLATFORM_HCC__= -D__HIP_PLATFORM_AMD__= -I{root / 'include'}",
        "-C": f" -D__HIP_PLATFORM_HCC__= -D__HIP_PLATFORM_AMD__= -I{root / 'include'}",
        "--compiler": "clang",
        "-c": "clang",
        "--platform": "amd",
        "-P": "amd",
        "--runtime": "rocclr",
        "-r": "rocclr",
        "--version": f"{hip_version()}-virtual",
        "-v": f"{hip_version()}-virtual",
        "--hipclangpath": "",
        "-l": "",
        "--newline": "\n",
        "-n": "\n",
    }
    unknown = [arg for arg in args if arg not in answers and arg not in ("--full", "-f", "--check")]
    if unknown:
        raise UsageError(f"hipconfig: unknown option {unknown[0]}")
    if any(arg in ("--path", "-p", "--rocmpath", "-R") for arg in args):
        make_shims()
    if "--hipclangpath" in args or "-l" in args:
        make_shims()
        answers["--hipclangpath"] = answers["-l"] = str(root / "llvm" / "bin")
    if not args or args[0] in ("--full", "-f"):
        return (
            f"HIP version  : {hip_version()}-virtual\n\n== hipconfig\nHIP_PATH     : {root}\n"
            f"ROCM_PATH    : {root}\nHIP_COMPILER : clang\nHIP_PLATFORM : amd\n"
            f"HIP_RUNTIME  : rocclr\nCPP_CONFIG   : {answers['--cpp_config']}\n\n"
            f"rocm-perf-lab {__version__}: HIP for the virtual GPU\n"
        )
    return "".join(answers.get(arg, "") for arg in args)
