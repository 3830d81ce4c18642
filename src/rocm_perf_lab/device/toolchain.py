"""The compiler that builds HIP programs here, and what it needs beside itself.

Order: AMD's hipcc where ROCm is installed, a system clang with the AMDGPU target and lld, PyPI's
`ziglang` (clang and lld in a wheel). `ROCM_PERF_TOOLCHAIN` overrides: `rocm`, `clang`, `ziglang`,
or the path of a clang.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rocm_perf_lab.errors import BadInput, MissingTool, UsageError
from rocm_perf_lab.virtual.native import find_library_dir

HOST_TARGET = "x86_64-linux-gnu"
DEFAULT_ARCH = "gfx942"
OLDEST_CLANG = 17
SHIM_MARK = "rocm-perf hipcc shim"
# From clang 22 on loads of a wave are waited for one by one where that leaves registers for more
# waves; older ones, which AMD's compilers were built from, have them in flight together. So a
# kernel of which memory accesses are a quarter may go down to four waves a SIMD for it.
SERIAL_LOADS_SINCE = 22
LOADS_TOGETHER = ("-amdgpu-schedule-relaxed-occupancy=true", "-amdgpu-membound-threshold=25")

INSTALL_HINT = (
    "install clang 17 or newer with lld (Debian, Ubuntu: apt install clang lld), "
    "or `pip install rocm-perf-lab[toolchain]`"
)


@dataclass(frozen=True)
class Toolchain:
    """One way to compile. `clang` and `lld` are command prefixes."""

    kind: str  # "clang" or "ziglang"
    clang: tuple[str, ...]
    lld: tuple[str, ...]
    link: tuple[str, ...]  # the C++ link driver of the host
    version: str  # first line of --version
    ar: tuple[str, ...] = ("ar",)
    host_flags: tuple[str, ...] = ()  # put before the user's own, host and device side
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def own_libcxx(self) -> bool:
        """Whether the host side is compiled and linked by ziglang, with the libc++ it brings."""
        return self.kind == "ziglang" and self.link[0] == self.clang[0]


def virtual_dir() -> Path:
    return Path(__file__).resolve().parent.parent / "virtual"


def include_dir() -> Path:
    return virtual_dir() / "include"


def runtime_library_dir() -> Path | None:
    """Where libamdhip64 of the virtual GPU lies, or None before it is built."""
    folder = find_library_dir()
    return folder if folder is not None and (folder / "libamdhip64.so").exists() else None


def cache_dir() -> Path:
    if override := os.environ.get("ROCM_PERF_CACHE_DIR"):
        return Path(override)
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "rocm-perf"


# ---- AMD's own


def real_hipcc() -> Path | None:
    """AMD's hipcc, never our own shim. Where ROCM_PATH says where ROCm is, it is nowhere else."""
    roots = [os.environ.get("HIP_PATH"), os.environ.get("ROCM_PATH") or "/opt/rocm"]
    candidates = [Path(root) / "bin" / "hipcc" for root in roots if root]
    candidates += [Path(folder) / "hipcc" for folder in os.get_exec_path()]
    return next((path for path in candidates if _is_program(path) and not _is_shim(path)), None)


def _is_program(path: Path) -> bool:
    # In this order: of a folder that may not be read, `is_file` raises.
    return os.access(path, os.X_OK) and path.is_file()


def _is_shim(path: Path) -> bool:
    with path.open("rb") as file:
        return SHIM_MARK.encode() in file.read(400)


# ---- ours


@functools.lru_cache(maxsize=1)
def find_toolchain() -> Toolchain:
    """The system's clang, else ziglang. Raises MissingTool with what to install."""
    wanted = os.environ.get("ROCM_PERF_TOOLCHAIN", "")
    if wanted not in ("", "rocm", "clang", "ziglang"):
        found = from_clang(Path(wanted))
        if found is None:
            raise MissingTool(f"ROCM_PERF_TOOLCHAIN: {wanted} is not a usable clang", INSTALL_HINT)
        return found
    if wanted != "ziglang":
        for path in _clangs():
            if found := from_clang(path):
                return found
    if wanted != "clang" and (found := _from_ziglang()):
        return found
    raise MissingTool("no compiler for HIP was found", INSTALL_HINT)


def _clangs() -> Iterator[Path]:
    """Every clang on PATH: plain name first, then the newest."""
    numbered: dict[int, Path] = {}
    for folder in map(Path, os.get_exec_path()):
        if not os.access(folder, os.R_OK | os.X_OK):
            continue
        if _is_program(folder / "clang"):
            yield folder / "clang"
        for path in sorted(folder.glob("clang-[0-9]*")):
            if path.name[6:].isdigit() and _is_program(path):
                numbered.setdefault(int(path.name[6:]), path)
    for number in sorted(numbered, reverse=True):
        if number >= OLDEST_CLANG:
            yield numbered[number]


def from_clang(path: Path) -> Toolchain | None:
    """The toolchain around one clang; None where it is too old, has no AMDGPU target or no lld."""
    text = _output([str(path), "--version"])
    match = re.search(r"clang version (\d+)", text)
    if match is None or int(match[1]) < OLDEST_CLANG:
        return None
    if "amdgcn" not in _output([str(path), "--print-targets"]):
        return None
    home = path.resolve().parent
    folders = [path.parent, *map(Path, os.get_exec_path())]
    names = [home / "ld.lld", *(folder / f"ld.lld-{match[1]}" for folder in folders)]
    lld = next((name for name in names if _is_program(name)), None)
    lld = lld or (Path(found) if (found := shutil.which("ld.lld")) else None)
    if lld is None:
        return None
    # clang++ is the same program under another name; --driver-mode spares us finding it.
    link = (str(path), "--driver-mode=g++")
    # Any archiver will do: the objects are the host's.
    archivers = (str(home / "llvm-ar"), f"llvm-ar-{match[1]}", "llvm-ar", "ar")
    ar = next((name for name in archivers if shutil.which(name)), "ar")
    return Toolchain("clang", (str(path),), (str(lld),), link, text.splitlines()[0], (ar,))


def _from_ziglang() -> Toolchain | None:
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        return None
    home = Path(spec.origin).parent
    zig = home / ("zig.exe" if os.name == "nt" else "zig")
    if not zig.is_file():
        return None
    clang = (str(zig), "clang", "-target", HOST_TARGET)
    version = _output([*clang, "--version"]).splitlines()[:1]
    if not version:
        return None
    gxx = shutil.which("g++")
    if gxx:
        # gcc's own stdarg.h and kin belong to gcc; clang brings its own.
        folders = [f for f in searched(gxx) if "c++" in f or "/lib/gcc" not in f]
        flags = ["-nostdinc", "-isystem", str(home / "lib" / "include")]
        flags += [word for folder in folders for word in ("-isystem", folder)]
        link: tuple[str, ...] = (gxx,)
    else:
        flags = ["-nostdinc", *_zig_flags(str(zig))]
        # The virtual GPU's libraries may need a newer glibc than zig links for: the machine has it.
        link = (str(zig), "c++", "-target", HOST_TARGET, "-Wl,--allow-shlib-undefined")
    return Toolchain(
        kind="ziglang",
        clang=clang,
        lld=(str(zig), "ld.lld"),
        link=link,
        version=f"{version[0]} (ziglang)",
        ar=(str(zig), "ar"),
        host_flags=tuple(flags),
    )


def searched(*compiler: str) -> list[str]:
    """The folders a compiler searches for <...>, in its order."""
    done = subprocess.run(
        [*compiler, "-x", "c++", "-E", "-v", os.devnull],
        capture_output=True,
        text=True,
        check=False,
    )
    block = re.search(
        r"#include <\.\.\.> search starts here:\n(.*?)End of search", done.stderr, re.S
    )
    lines = block[1].split("\n") if block else []
    return [os.path.normpath(line.strip()) for line in lines if line.strip()]


def _zig_flags(zig: str) -> list[str]:
    """The include folders and definitions zig passes for its own libc++."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.cpp"
        source.write_text("")
        done = subprocess.run(
            [zig, "c++", "-target", HOST_TARGET, "-c", str(source), "-o", f"{folder}/empty.o"],
            env={**os.environ, "ZIG_VERBOSE_CC": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    words = done.stderr.split()
    flags: list[str] = []
    for index, word in enumerate(words):
        if word in ("-isystem", "-cxx-isystem") and index + 1 < len(words):
            flags += ["-isystem", words[index + 1]]
        elif word.startswith("-D"):
            flags.append(word)
    return flags


def _output(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


# ---- the device library


def scheduling_options(toolchain: Toolchain, given: Sequence[str]) -> tuple[str, ...]:
    """LLVM's options for device code. None where the user has one: given twice is an error."""
    version = re.search(r"clang version (\d+)", toolchain.version)
    if version is None or int(version[1]) < SERIAL_LOADS_SINCE:
        return ()
    names = [option.partition("=")[0] for option in LOADS_TOGETHER]
    return () if any(name in word for name in names for word in given) else LOADS_TOGETHER


def device_flags(arch: str) -> list[str]:
    return [
        "-x",
        "hip",
        "--offload-device-only",
        f"--offload-arch={arch}",
        "-nogpulib",
        "-nogpuinc",
    ]


def header_flags() -> list[str]:
    """Our headers, before every other folder, and the prelude the ROCm compiler has built in."""
    include = include_dir()
    return [
        *("-isystem", str(include / "wrappers")),
        *("-isystem", str(include)),
        *("-include", str(include / "__rocm_perf_prelude.h")),
        "-D__HIP_PLATFORM_AMD__=1",
        "-D__HIP_PLATFORM_HCC__=1",
    ]


def device_library(toolchain: Toolchain, arch: str) -> Path:
    """Bitcode of virtual/devicelib for one architecture, compiled once per compiler and source."""
    folder = virtual_dir() / "devicelib"
    sources = sorted(path for path in folder.iterdir() if path.suffix in (".h", ".hip"))
    digest = hashlib.sha256("\0".join((toolchain.version, *toolchain.clang, arch)).encode())
    for path in sources:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    name = f"devicelib-{re.sub('[^a-z0-9]', '_', arch)}-{digest.hexdigest()[:20]}.bc"
    for home in (cache_dir(), Path(tempfile.gettempdir()) / f"rocm-perf-{os.getuid()}"):
        target = home / name
        if target.exists():
            return target
        try:
            home.mkdir(parents=True, exist_ok=True)
            handle, work = tempfile.mkstemp(dir=home, suffix=".bc")
        except OSError:
            continue
        os.close(handle)
        command = [
            *toolchain.clang,
            *device_flags(arch),
            "-fgpu-rdc",
            *("-Xclang", "-mcode-object-version=none"),
            # Errors of an operation are as written: no contraction, no reassociation.
            *("-O3", "-std=c++17", "-ffp-contract=off", "-fno-math-errno"),
            *("-fvisibility=hidden", "-emit-llvm", "-c", str(folder / "devicelib.hip")),
            *("-o", work),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            Path(work).unlink(missing_ok=True)
            raise BadInput(f"the device library does not compile for {arch}: {done.stderr.strip()}")
        Path(work).replace(target)  # atomic: another process may be doing the same
        return target
    raise UsageError(
        f"no folder to keep the device library in: {cache_dir()} cannot be written",
        "set ROCM_PERF_CACHE_DIR",
    )
