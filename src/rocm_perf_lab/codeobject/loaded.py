"""What a loader takes of a code object, without what tells only where and when it was compiled.

Two builds of one source by one compiler agree in it wherever they were made: paths in debug
information are not loaded, and the id of the translation unit is a hash of its path.
"""

from __future__ import annotations

import hashlib
import re

from rocm_perf_lab.codeobject.elf import PT_LOAD, Elf

_UNIT = re.compile(r"__hip_cuid_[0-9a-f]+")
_MOST_IDS = 1 << 20  # a hash of eleven digits or more is among them
# Tables of names: order and hashes depend on the unit's id, so what they say is compared instead.
_NAMES = (".dynsym", ".dynstr", ".hash", ".gnu.hash", ".note.gnu.build-id")
# Of the ELF header: where the sections' table lies, and what is in it.
_SECTIONS_TABLE = ((40, 48), (58, 64))

Loaded = tuple[tuple[tuple[int, bytes], ...], tuple[tuple[str, int, int, int, int], ...]]


def loaded(elf: Elf) -> Loaded:
    """Every loaded segment with its address, and the symbols that can be looked up."""
    data = bytearray(elf.data)
    named = [s for s in elf.sections if s.name in _NAMES]
    for low, high in (*_SECTIONS_TABLE, *((s.offset, s.offset + s.size) for s in named)):
        data[low:high] = bytes(len(data[low:high]))
    segments = tuple(
        (s.address, bytes(data[s.offset : s.offset + s.file_size]))
        for s in elf.segments
        if s.type == PT_LOAD
    )
    symbols = (
        (_UNIT.sub("__hip_cuid_", s.name), s.value, s.size, s.type, s.section)
        for s in elf.dynamic_symbols()
    )
    return segments, tuple(sorted(symbols))


def compiler(elf: Elf) -> str:
    """What made it, by its own words; empty where it does not say."""
    section = elf.section(".comment")
    words = elf.content(section).split(b"\0") if section else []
    return ", ".join(word.decode("utf-8", "replace") for word in words if word)


def unit_like(elf: Elf) -> str | None:
    """An id to compile with, so that the unit's symbol is as long as in `elf`; None: there is none.

    Clang names the symbol by a hash of the id without its leading noughts, and where things lie
    behind the tables of names depends on their length.
    """
    names = [_UNIT.fullmatch(s.name) for s in elf.dynamic_symbols()]
    lengths = [len(match[0]) - len("__hip_cuid_") for match in names if match]
    if len(lengths) != 1:
        return None
    ids = (f"{number:x}" for number in range(_MOST_IDS))
    return next((unit for unit in ids if len(unit_hash(unit)) == lengths[0]), None)


def unit_hash(unit: str) -> str:
    """As clang writes it: the first half of the id's MD5, read as a number."""
    digest = hashlib.md5(unit.encode(), usedforsecurity=False).digest()
    return f"{int.from_bytes(digest[:8], 'little'):x}"
