"""Which device library is linked into device code: this project's, or AMD's mathematics.

Ours is the default: it is there everywhere and gives the same bits everywhere. AMD's `ocml.bc`
comes with ROCm, with Debian's `rocm-device-libs` and with Triton's wheel; `--rocm-perf-device-lib`
or `ROCM_PERF_DEVICE_LIB` ask for it. What the runtime needs (printf, assert, malloc) stays ours.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rocm_perf_lab.device.toolchain import Toolchain, cache_dir, device_library
from rocm_perf_lab.errors import BadInput, MissingTool

CHOICES = ("own", "amd", "auto")
MATHEMATICS = "ocml.bc"
IR = ("-x", "ir", "-target", "amdgcn-amd-amdhsa", "-nogpulib")
HINT = (
    "Debian's rocm-device-libs, ROCm or `pip install triton` have one; "
    "--rocm-perf-device-lib=FOLDER names it"
)


def device_libraries(toolchain: Toolchain, arch: str, choice: str) -> list[Path]:
    """Bitcode for one architecture, in the order in which names are looked up."""
    own = device_library(toolchain, arch)
    choice = choice or os.environ.get("ROCM_PERF_DEVICE_LIB") or "own"
    if choice == "own":
        return [own]
    found = _amds(toolchain, choice)
    if found is None:
        return [own]
    return [found, _options(toolchain, arch), own]


def _amds(toolchain: Toolchain, choice: str) -> Path | None:
    """AMD's library as `choice` asks for it; None where `auto` found none it can read."""
    if choice not in CHOICES:
        path = Path(choice) / MATHEMATICS
        if not path.is_file():
            raise BadInput(f"--rocm-perf-device-lib: there is no {MATHEMATICS} in {choice}")
        places = [path]
    else:
        places = [folder / MATHEMATICS for folder in _folders()]
        places = [path for path in places if path.is_file()]
    for path in places:
        if _readable(toolchain, path):
            return path
    if choice == "auto":
        return None
    if not places:
        raise MissingTool("AMD's device library was not found", HINT)
    raise MissingTool(
        f"{places[0]} was written by a newer LLVM than this compiler reads",
        "use a library as old as the compiler, or ROCM_PERF_TOOLCHAIN=ziglang",
    )


def _folders() -> Iterator[Path]:
    """Where ROCm, distributions and Triton keep it, nearest first."""
    if named := os.environ.get("HIP_DEVICE_LIB_PATH"):
        yield Path(named)
    for root in filter(None, (os.environ.get("ROCM_PATH"), os.environ.get("HIP_PATH"))):
        yield Path(root) / "amdgcn" / "bitcode"
    yield Path("/opt/rocm/amdgcn/bitcode")
    yield Path("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
    yield from sorted(Path("/usr/lib").glob("llvm-*/lib/clang/*/amdgcn/bitcode"), reverse=True)
    spec = importlib.util.find_spec("triton")
    if spec is not None and spec.origin is not None:
        yield Path(spec.origin).parent / "backends" / "amd" / "lib"


@functools.lru_cache(maxsize=16)
def _reads(clang: tuple[str, ...], path: Path) -> bool:
    command = [*clang, *IR, "-S", "-emit-llvm"]
    done = subprocess.run([*command, str(path), "-o", os.devnull], capture_output=True, check=False)
    return done.returncode == 0


def _readable(toolchain: Toolchain, path: Path) -> bool:
    return _reads(tuple(toolchain.clang), path)


def _options(toolchain: Toolchain, arch: str) -> Path:
    """The constants AMD's functions ask: which GPU it is, and that nothing is left to speed."""
    lines = ['target triple = "amdgcn-amd-amdhsa"']
    for name, kind, value in (
        ("finite_only_opt", "i8", 0),
        ("unsafe_math_opt", "i8", 0),
        ("daz_opt", "i8", 0),
        ("correctly_rounded_sqrt32", "i8", 1),
        ("wavefrontsize64", "i8", 1 if _version(arch) < 10000 else 0),
        ("ISA_version", "i32", _version(arch)),
        ("ABI_version", "i32", 500),
    ):
        form = "linkonce_odr protected local_unnamed_addr addrspace(4) constant"
        lines.append(f"@__oclc_{name} = {form} {kind} {value}")
    text = "\n".join([*lines, ""])
    digest = hashlib.sha256("\0".join((text, toolchain.version, *toolchain.clang)).encode())
    target = cache_dir() / f"devicelib-options-{digest.hexdigest()[:20]}.bc"
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        source, made = Path(folder) / "options.ll", Path(folder) / "options.bc"
        source.write_text(text)
        command = [*toolchain.clang, *IR, "-c", "-emit-llvm"]
        done = subprocess.run(
            [*command, str(source), "-o", str(made)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise BadInput(f"the options of AMD's library do not compile: {done.stderr.strip()}")
        made.replace(target)  # atomic: another process may be doing the same
    return target


def _version(arch: str) -> int:
    """gfx942 is 9402, gfx90a 9010, gfx1100 11000: major, minor and a stepping in hexadecimal."""
    match = re.match(r"gfx(\d+)(\d)([0-9a-f])(?::|$)", arch)
    if match is None:
        raise BadInput(f"AMD's device library has no number for {arch}")
    return int(match[1]) * 1000 + int(match[2]) * 100 + int(match[3], 16)
