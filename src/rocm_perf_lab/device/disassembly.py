"""Instructions of a kernel as text, by the virtual GPU's own disassembler (librpl behind HSA)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass

from rocm_perf_lab.codeobject.kernels import CodeObject, Kernel
from rocm_perf_lab.device.native import library
from rocm_perf_lab.device.sources import Frame, Sources
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.library_code import CALLED_FROM

KNOWN = ("gfx942", "gfx90a")


@dataclass(frozen=True)
class Instruction:
    address: int
    encoding: tuple[int, ...]  # 32-bit words
    text: str
    frames: tuple[Frame, ...] = ()  # its source line first, then where that was inlined

    @property
    def source(self) -> str:
        """`file:line`, callers of inlined code after arrows; empty if not known."""
        if not any(frame.line for frame in self.frames):
            return ""
        return CALLED_FROM.join(f"{frame.file}:{frame.line}" for frame in self.frames if frame.file)


def unknown(architecture: str) -> str:
    return f"no disassembler for {architecture}: it knows {', '.join(KNOWN)}"


def disassemble(owner: CodeObject, kernel: Kernel) -> Iterator[Instruction]:
    """Every instruction of one kernel, with its source where the object has debug information."""
    if kernel.architecture not in KNOWN:
        raise BadInput(unknown(kernel.architecture))
    sources, text = Sources(owner.elf.data), ctypes.create_string_buffer(512)
    at, code = 0, kernel.code
    while at + 4 <= len(code):
        used = library().rpl_disassemble(
            kernel.architecture.encode(), code[at:], len(code) - at, kernel.address + at, text, 512
        )
        words = max(1, min(used // 4, (len(code) - at) // 4))
        encoding = tuple(
            int.from_bytes(code[at + 4 * i : at + 4 * i + 4], "little") for i in range(words)
        )
        yield Instruction(
            address=kernel.address + at,
            encoding=encoding,
            text=text.value.decode("latin-1") or f".long {encoding[0]:#010x}",
            frames=sources.chain(kernel.address + at),
        )
        at += 4 * words
