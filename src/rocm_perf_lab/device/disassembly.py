"""Instructions of a kernel as text, by the virtual GPU's own disassembler (librpl behind HSA)."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator
from dataclasses import dataclass

from rocm_perf_lab.codeobject.dwarf_lines import LineTable
from rocm_perf_lab.codeobject.kernels import CodeObject, Kernel
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.virtual.native import HSA_LIBRARY, library_dir

KNOWN = ("gfx942", "gfx90a")


@dataclass(frozen=True)
class Instruction:
    address: int
    encoding: tuple[int, ...]  # 32-bit words
    text: str
    file: str | None = None
    line: int | None = None


@functools.lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(library_dir() / HSA_LIBRARY))
    library.rpl_disassemble.restype = ctypes.c_uint
    library.rpl_disassemble.argtypes = [
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_uint64,
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]
    return library


def unknown(architecture: str) -> str:
    return f"no disassembler for {architecture}: it knows {', '.join(KNOWN)}"


def disassemble(owner: CodeObject, kernel: Kernel) -> Iterator[Instruction]:
    """Every instruction of one kernel, with its source line where the object has line tables."""
    if kernel.architecture not in KNOWN:
        raise BadInput(unknown(kernel.architecture))
    lines = LineTable(owner.elf)
    library, text = _library(), ctypes.create_string_buffer(512)
    at, code = 0, kernel.code
    while at + 4 <= len(code):
        used = library.rpl_disassemble(
            kernel.architecture.encode(), code[at:], len(code) - at, kernel.address + at, text, 512
        )
        words = max(1, min(used // 4, (len(code) - at) // 4))
        encoding = tuple(
            int.from_bytes(code[at + 4 * i : at + 4 * i + 4], "little") for i in range(words)
        )
        where = lines.find(kernel.address + at)
        yield Instruction(
            address=kernel.address + at,
            encoding=encoding,
            text=text.value.decode("latin-1") or f".long {encoding[0]:#010x}",
            file=where[0] if where else None,
            line=where[1] if where else None,
        )
        at += 4 * words
