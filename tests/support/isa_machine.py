"""What the ISA tests share: LLVM as assembler, and one wave of the virtual GPU to run code on."""

# ruff: noqa: E501 - a row of a table is one line
from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from support.compilers import native_cxx

ROOT = Path(__file__).resolve().parents[2]
LANES = 64
STOPS = ("barrier", "end", "fault", "sleep", "budget")
FAULTS = (
    "none", "unmapped", "freed", "read_only", "misaligned", "lds_out_of_range", "illegal_instruction",
    "illegal_register", "trap", "abort", "barrier_divergence", "instruction_limit", "scratch_out_of_range",
)  # fmt: skip


def _knows_gfx942(command: list[str]) -> bool:
    probe = [*command, "-mcpu=gfx942", "-o", os.devnull]
    done = subprocess.run(
        probe, input="v_mov_b64 v[0:1], v[2:3]\n", capture_output=True, text=True, check=False
    )
    return done.returncode == 0 and "not a recognized processor" not in done.stderr


@lru_cache(maxsize=1)
def assembler() -> list[str] | None:
    """A command that assembles stdin for `-mcpu` into the file after `-o`."""
    mc = ["-triple=amdgcn-amd-amdhsa", "-filetype=obj", "-"]
    clang = ["-x", "assembler", "-target", "amdgcn-amd-amdhsa", "-c", "-"]
    versions = ["", *(f"-{n}" for n in range(24, 17, -1))]
    for name, tail in (("llvm-mc", mc), ("clang", clang)):
        for version in versions:
            path = shutil.which(name + version)
            if path and _knows_gfx942([path, *tail]):
                return [path, *tail]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "clang", *clang]
    return None


def _sections(elf: bytes) -> dict[str, bytes]:
    offset, size, count, names = (
        struct.unpack_from("<Q", elf, 0x28)[0],
        *struct.unpack_from("<HHH", elf, 0x3A),
    )
    headers = [struct.unpack_from("<IIQQQQ", elf, offset + n * size) for n in range(count)]
    strings = headers[names][4]
    out = {}
    for name, _, _, _, start, length in headers:
        end = elf.index(b"\0", strings + name)
        out[elf[strings + name : end].decode()] = elf[start : start + length]
    return out


def assemble_all(
    isa: str, snippets: Sequence[str], tmp_path: Path, lenient: bool = False
) -> list[bytes | None]:
    """Machine code of each snippet, by LLVM; with `lenient`, None for what LLVM refuses."""
    command = assembler()
    if command is None:
        pytest.skip(
            "needs LLVM's assembler: llvm-mc, clang with the AMDGPU target, or PyPI's ziglang"
        )
    alive = [True] * len(snippets)
    for _ in range(3):
        lines: list[str] = []
        owner: list[int] = []
        for n, text in enumerate(snippets):
            if alive[n]:
                block = [f'.section .t{n}, "ax"', *text.strip().splitlines()]
                lines += block
                owner += [n] * len(block)
        target = tmp_path / "code.o"
        done = subprocess.run(
            [*command, f"-mcpu={isa}", "-o", str(target)], input="\n".join(lines) + "\n",
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode == 0:
            found = _sections(target.read_bytes())
            return [found[f".t{n}"] if alive[n] else None for n in range(len(snippets))]
        wrong = {owner[int(m) - 1] for m in re.findall(r"<stdin>:(\d+):\d+: error", done.stderr)}
        if not lenient or not wrong:
            raise AssertionError(done.stderr[:2000])
        for n in wrong:
            alive[n] = False
    raise AssertionError("LLVM refuses snippets it did not name")


def _harness() -> Path | None:
    """tests/native/isa_harness.cpp linked with the built executor; None where it is not built."""
    if named := os.environ.get("ROCM_PERF_ISA_HARNESS"):
        return Path(named)
    build, source = ROOT / "build" / "native", ROOT / "tests" / "native" / "isa_harness.cpp"
    archive, target = build / "librpl_gpu.a", build / "libisa_harness.so"
    compiler = native_cxx()
    if not archive.exists() or compiler is None:
        return None
    newest = max(archive.stat().st_mtime, source.stat().st_mtime)
    if target.exists() and target.stat().st_mtime > newest:
        return target
    fresh = target.with_suffix(f".{os.getpid()}")
    folders = [f"-I{ROOT / 'native' / 'gpu'}", f"-I{build / 'generated'}"]
    command = [
        *compiler,
        "-std=c++20",
        "-O1",
        "-fno-sanitize=undefined",  # zig adds it to what is hardly optimised
        "-fPIC",
        "-shared",
        *folders,
        str(source),
        str(archive),
    ]
    subprocess.run([*command, "-lpthread", "-o", str(fresh)], check=True)
    fresh.replace(target)
    return target


@lru_cache(maxsize=1)
def library() -> Any:
    """The executor behind a C ABI, or None where the native part is not built."""
    path = _harness()
    if path is None:
        return None
    lib = ctypes.CDLL(str(path))
    lib.isa_new.restype = ctypes.c_void_p
    lib.isa_new.argtypes = [
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
        *[ctypes.c_uint32] * 4,
    ]
    lib.isa_describe.restype = lib.isa_install.restype = ctypes.c_size_t
    lib.isa_describe.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    lib.isa_install.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    views = (
        "isa_vgprs",
        "isa_sgprs",
        "isa_lds",
        "isa_scratch",
        "isa_mode",
        "isa_scc",
        "isa_counts",
    )
    for name in views:
        getattr(lib, name).restype = ctypes.c_void_p
        getattr(lib, name).argtypes = [ctypes.c_void_p]
    lib.isa_free.argtypes = lib.isa_restart.argtypes = [ctypes.c_void_p]
    lib.isa_map.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int]
    lib.isa_run.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    lib.isa_fault.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    lib.isa_count.restype = ctypes.c_uint64
    lib.isa_count.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    lib.isa_executed.restype = ctypes.c_uint64
    lib.isa_executed.argtypes = [ctypes.c_void_p]
    lib.isa_pc_offset.restype = ctypes.c_uint64
    lib.isa_pc_offset.argtypes = [ctypes.c_void_p]
    lib.isa_observe.restype = ctypes.c_uint64
    lib.isa_observe.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64]
    lib.isa_disassemble.argtypes = [
        ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t,
    ]  # fmt: skip
    return lib


def need_library() -> Any:
    lib = library()
    if lib is None:
        pytest.skip("the virtual GPU is not built (make native), or no C++ compiler is here")
    return lib


def disassemble(isa: str, code: bytes) -> tuple[str, int]:
    out = ctypes.create_string_buffer(256)
    used = need_library().isa_disassemble(isa.encode(), code, len(code), out, len(out))
    return out.value.decode(), used


def edges(dtype: Any, seed: int) -> npt.NDArray[Any]:
    """64 lane values: corner cases first, then random bits or numbers of many magnitudes."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    if kind.kind == "f":
        info = np.finfo(dtype)
        corners = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            np.inf,
            -np.inf,
            np.nan,
            info.max,
            -info.max,
            info.tiny,
            info.smallest_subnormal,
            0.5,
            2.0,
            3.0,
            -2.5,
            1.5,
        ]
        with np.errstate(over="ignore"):
            rest = rng.standard_normal(LANES) * 10.0 ** rng.integers(-6, 7, LANES)
            values = np.concatenate([rng.permutation(corners), rest])[:LANES].astype(dtype)
        return rng.permutation(values) if seed % 2 else values
    bits = np.frombuffer(rng.bytes(LANES * kind.itemsize), dtype=dtype).copy()
    limits = np.iinfo(dtype)
    corner_ints = [0, 1, limits.max, limits.min, limits.max - 1, 2, 31, 64]
    bits[: len(corner_ints)] = rng.permutation(np.array(corner_ints, dtype=dtype))
    bits[8:24] = rng.integers(0, 40, 16).astype(dtype)
    return bits


def lanes_of(mask: int) -> npt.NDArray[Any]:
    return np.array([mask >> lane & 1 for lane in range(LANES)], dtype=bool)


class Machine:
    """One wave: registers as numpy views, memory mapped from numpy arrays."""

    def __init__(
        self,
        code: bytes,
        isa: str = "gfx942",
        vgprs: int = 256,
        agprs: int = 256,
        lds: int = 4096,
        scratch: int = 256,
    ) -> None:
        self.lib = need_library()
        self.handle = self.lib.isa_new(
            isa.encode(), code, len(code) // 4, vgprs, agprs, lds, scratch
        )
        self._kept: list[npt.NDArray[Any]] = []

        def view(name: str, shape: tuple[int, ...], kind: Any) -> Any:
            address = getattr(self.lib, name)(self.handle)
            length = int(np.prod(shape))
            pointer = ctypes.cast(address, ctypes.POINTER(kind * length))
            return np.ctypeslib.as_array(pointer.contents).reshape(shape)

        self.v = view("isa_vgprs", (512, LANES), ctypes.c_uint32)
        self.a = self.v[256:]
        self.s = view("isa_sgprs", (128,), ctypes.c_uint32)
        self.lds = view("isa_lds", (max(lds, 1),), ctypes.c_uint8)
        self.mode = view("isa_mode", (1,), ctypes.c_uint32)
        self._scc = view("isa_scc", (1,), ctypes.c_uint8)

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self.lib.isa_free(self.handle)

    def description(self) -> str:
        """The code, as the translator is told of it."""
        length = self.lib.isa_describe(self.handle, None, 0)
        out = ctypes.create_string_buffer(length + 1)
        self.lib.isa_describe(self.handle, out, length + 1)
        return out.value.decode()

    def install(self, library: Path) -> int:
        """Translated code runs from now on, in so many blocks."""
        return int(self.lib.isa_install(self.handle, str(library).encode()))

    @property
    def counts(self) -> list[int]:
        """Instructions executed, by class."""
        pointer = ctypes.cast(
            self.lib.isa_counts(self.handle), ctypes.POINTER(ctypes.c_uint64 * 64)
        )
        return list(pointer.contents)

    def map(self, array: npt.NDArray[Any], writable: bool = True) -> int:
        """Make an array device memory; its address."""
        self._kept.append(array)
        address = array.ctypes.data
        self.lib.isa_map(self.handle, address, array.nbytes, int(writable))
        return address

    def pair(self, index: int, value: int) -> None:
        self.s[index], self.s[index + 1] = value & 0xFFFFFFFF, value >> 32

    def get_pair(self, index: int) -> int:
        return int(self.s[index]) | int(self.s[index + 1]) << 32

    @property
    def scc(self) -> int:
        return int(self._scc[0])

    @scc.setter
    def scc(self, value: int) -> None:
        self._scc[0] = value

    @property
    def exec(self) -> int:
        return self.get_pair(126)

    @exec.setter
    def exec(self, value: int) -> None:
        self.pair(126, value)

    def set_v(self, index: int, values: npt.NDArray[Any]) -> None:
        """Registers from lane values of 32 or 64 bits."""
        values = np.ascontiguousarray(np.broadcast_to(values, (LANES,)))
        if values.dtype.itemsize == 8:
            self.v[index : index + 2] = values.view(np.uint32).reshape(LANES, 2).T
        elif values.dtype.itemsize == 4:
            self.v[index] = values.view(np.uint32)
        else:
            self.v[index] = values.view(np.dtype(f"u{values.dtype.itemsize}")).astype(np.uint32)

    def get_v(self, index: int, dtype: Any) -> npt.NDArray[Any]:
        kind = np.dtype(dtype)
        if kind.itemsize == 8:
            return np.ascontiguousarray(self.v[index : index + 2].T).view(kind).reshape(LANES)
        if kind.itemsize == 4:
            return self.v[index].copy().view(kind)
        return (
            (self.v[index] & (2 ** (8 * kind.itemsize) - 1)).astype(f"u{kind.itemsize}").view(kind)
        )

    def run(self, budget: int = 100_000) -> str:
        return STOPS[self.lib.isa_run(self.handle, budget)]

    def restart(self) -> None:
        self.lib.isa_restart(self.handle)

    @property
    def pc_offset(self) -> int:
        return int(self.lib.isa_pc_offset(self.handle))

    def fault(self) -> dict[str, Any]:
        raw = (ctypes.c_uint64 * 6)()
        self.lib.isa_fault(self.handle, ctypes.addressof(raw))
        kind, pc, address, size, lane, write = raw
        return {
            "kind": FAULTS[kind],
            "pc": pc,
            "address": address,
            "size": size,
            "lane": lane,
            "write": bool(write),
        }

    def count(self, name: str) -> int:
        return int(self.lib.isa_count(self.handle, name.encode()))

    @property
    def executed(self) -> int:
        return int(self.lib.isa_executed(self.handle))
