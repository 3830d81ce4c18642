"""Programs without one of the waits that their compiler put, made by changing their bytes.

Of an s_waitcnt one counter is taken out, of an s_nop one wait state; an s_nop of one changes places
with what follows it. Nothing moves, so branches and lines stay right.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab.codeobject.elf import ELF_MAGIC, EM_AMDGPU, Elf
from support.cli import rocm_perf

NOP, WAIT = 0xBF800000, 0xBF8C0000
# The bits of each counter in s_waitcnt. All of them set: it waits for nothing.
COUNTERS = {"vmcnt": 0xC00F, "lgkmcnt": 0xF00}


@dataclass(frozen=True)
class Removal:
    kernel: str
    instruction: str
    what: str
    address: int
    offset: int  # in the program's file
    words: tuple[int, ...]  # what is there then


def removals(program: Path) -> list[Removal]:
    data = program.read_bytes()
    start, elf = _code_object(data)
    text = elf.section(".text")
    assert text is not None
    first = start + text.offset - text.address
    listed = json.loads(rocm_perf("disasm", "--json", program).stdout)
    return [
        Removal(kernel["demangled"], one["text"], what, one["address"], offset, words)
        for kernel in listed["kernels"]
        for n, one in enumerate(kernel["instructions"])
        for offset in (first + one["address"],)
        for what, words in _without(
            kernel["instructions"][n : n + 2], struct.unpack_from("<4I", data, offset)
        )
    ]


def without(program: Path, taken_out: Sequence[Removal], target: Path) -> Path:
    data = bytearray(program.read_bytes())
    for removal in taken_out:
        struct.pack_into(f"<{len(removal.words)}I", data, removal.offset, *removal.words)
    target.write_bytes(data)
    target.chmod(0o755)
    return target


def rounds(all_of_them: Sequence[Removal]) -> Iterator[list[Removal]]:
    """One of each kernel at a time."""
    by_kernel: dict[str, list[Removal]] = {}
    for removal in all_of_them:
        by_kernel.setdefault(removal.kernel, []).append(removal)
    for n in range(max(map(len, by_kernel.values()), default=0)):
        yield [kernel[n] for kernel in by_kernel.values() if n < len(kernel)]


def _code_object(data: bytes) -> tuple[int, Elf]:
    at = -1
    while (at := data.find(ELF_MAGIC, at + 1)) >= 0:
        if struct.unpack_from("<H", data, at + 18)[0] == EM_AMDGPU:
            return at, Elf(data[at:])
    raise AssertionError("no code object in it, or a compressed one")


def _without(
    code: Sequence[dict[str, str]], words: tuple[int, ...]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    word = words[0]
    if word & 0xFFFF0000 == WAIT:
        for name, bits in COUNTERS.items():
            if word & bits != bits:
                yield f"no {name}", (word | bits,)
    if word & 0xFFFF0000 != NOP:
        return
    if word & 15:
        yield "one less", (word - 1,)
    elif not re.match("s_(cbranch|branch|waitcnt|nop)", code[1]["text"]):
        yield "behind the next", (*words[1 : 1 + len(code[1]["encoding"].split())], word)
