"""A folder that looks like ROCm: bin/hipcc, bin/hipconfig, bin/rocprofv3, include, lib."""

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
    find_toolchain,
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
    return cache_dir() / "rocm"


def make_shims() -> Path:
    """Write the folder (again: the interpreter may have moved) and return its bin."""
    root = shim_root()
    binaries = root / "bin"
    binaries.mkdir(parents=True, exist_ok=True)
    python = shlex.quote(sys.executable)
    for name, words in (
        ("hipcc", "rocm_perf_lab hipcc"),
        ("hipconfig", "rocm_perf_lab hipcc --hipconfig"),
        ("amdclang++", "rocm_perf_lab hipcc"),
        ("rocprofv3", STAND_IN),
    ):
        script = binaries / name
        text = f'#!/bin/sh\n# {SHIM_MARK}\nexec {python} -m {words} "$@"\n'
        work = script.with_suffix(f".{os.getpid()}")
        work.write_text(text)
        work.chmod(0o755)
        work.replace(script)
    links = {"include": include_dir(), "lib": runtime_library_dir()}
    for name, target in links.items():
        link = root / name
        if target is None:
            continue
        if link.is_symlink():
            link.unlink()
        link.symlink_to(target, target_is_directory=True)
    info = root / ".info"
    info.mkdir(exist_ok=True)
    (info / "version").write_text(f"{hip_version()}\n")
    return binaries


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
        answers["--hipclangpath"] = answers["-l"] = str(Path(find_toolchain().clang[0]).parent)
    if not args or args[0] in ("--full", "-f"):
        return (
            f"HIP version  : {hip_version()}-virtual\n\n== hipconfig\nHIP_PATH     : {root}\n"
            f"ROCM_PATH    : {root}\nHIP_COMPILER : clang\nHIP_PLATFORM : amd\n"
            f"HIP_RUNTIME  : rocclr\nCPP_CONFIG   : {answers['--cpp_config']}\n\n"
            f"rocm-perf-lab {__version__}: HIP for the virtual GPU\n"
        )
    return "".join(answers.get(arg, "") for arg in args)
