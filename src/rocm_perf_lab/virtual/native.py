"""Where the virtual GPU's libraries are, and how a program is made to use them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from rocm_perf_lab.errors import MissingTool
from rocm_perf_lab.loops import library_folders

HSA_LIBRARY = "libhsa-runtime64.so.1"
COMPILER = "ROCM_PERF_HIPCC"  # what hiprtc compiles with


def find_library_dir() -> Path | None:
    """The first of `library_folders` that has them."""
    return next((f for f in library_folders() if (f / HSA_LIBRARY).exists()), None)


def library_dir() -> Path:
    folder = find_library_dir()
    if folder is None:
        raise MissingTool(
            "the virtual GPU's libraries are not built",
            "in a checkout run `make native`; ROCM_PERF_NATIVE_LIB names a folder that has them",
        )
    return folder


def tool(name: str) -> tuple[Path, str]:
    """A library that HSA is to load: where it is, and what HSA_TOOLS_LIB calls it. That is a list
    separated by blanks: a path with one in it is found through LD_LIBRARY_PATH instead."""
    library = library_dir() / name
    if not library.exists():
        raise MissingTool(f"{library} is not built", "in a checkout run `make native`")
    return library, name if " " in str(library) else str(library)


def environment(device: str, base: Mapping[str, str]) -> dict[str, str]:
    """`base` changed so that a program started with it runs on the virtual device."""
    folder = str(library_dir())
    others = [p for p in base.get("LD_LIBRARY_PATH", "").split(":") if p and p != folder]
    compiler = base.get(COMPILER) or _command()
    return {
        **base,
        "LD_LIBRARY_PATH": ":".join([folder, *others]),
        "ROCM_PERF_DEVICE": device,
        # Triton looks here first, before a torch that brings its own.
        "TRITON_LIBHIP_PATH": str(Path(folder) / "libamdhip64.so"),
        **({COMPILER: compiler} if compiler else {}),
    }


def _command() -> str | None:
    """This installation's `rocm-perf`, whose hipcc the programs' hiprtc calls."""
    beside = Path(sys.executable).with_name("rocm-perf")
    return str(beside) if beside.is_file() else shutil.which("rocm-perf")
