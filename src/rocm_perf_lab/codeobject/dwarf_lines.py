"""The line tables of DWARF 4 and 5 (.debug_line): which files code was compiled from."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from rocm_perf_lab.codeobject.dwarf_reader import Reader
from rocm_perf_lab.codeobject.elf import Elf
from rocm_perf_lab.errors import BadInput


@dataclass(frozen=True)
class Row:
    address: int
    file: str
    line: int
    end: bool


class LineTable:
    """Rows sorted by address; empty where the object has no debug information."""

    def __init__(self, elf: Elf) -> None:
        section = elf.section(".debug_line")
        self.rows: list[Row] = []
        if section is not None:
            names = [elf.section(name) for name in (".debug_line_str", ".debug_str")]
            pools = [elf.content(found) if found else b"" for found in names]
            try:
                self.rows = sorted(
                    _programs(elf.content(section), pools[0], pools[1]),
                    key=lambda row: (row.address, not row.end),
                )
            except (struct.error, IndexError) as error:
                raise BadInput("the debug line table is damaged") from error


def _programs(data: bytes, line_strings: bytes, strings: bytes) -> Iterator[Row]:
    at = 0
    while at + 4 <= len(data):
        (length,) = struct.unpack_from("<I", data, at)
        at += 4
        if length >= 0xFFFFFFF0:
            return  # 64-bit DWARF, which no GPU compiler writes
        end = at + length
        if end > len(data):
            return
        yield from _program(Reader(data, at, end), line_strings, strings)
        at = end


def _program(read: Reader, line_strings: bytes, strings: bytes) -> Iterator[Row]:
    version = read.take("H")
    if version not in (2, 3, 4, 5):
        return
    if version == 5:
        read.take("H")  # address and segment selector size
    header = read.take("I")
    start = read.at + header
    minimum = read.take("B")
    if version >= 4:
        read.take("B")
    default_statement = read.take("B")
    del default_statement  # every row counts here, statement or not
    base, line_range, opcode_base = read.take("b"), read.take("B"), read.take("B")
    if line_range == 0:
        return
    lengths = [read.take("B") for _ in range(opcode_base - 1)]
    files = _files5(read, line_strings, strings) if version == 5 else _files4(read)
    read.at = start
    address, file, line = 0, 1, 1
    while read.at < read.end:
        opcode = read.take("B")
        if opcode >= opcode_base:
            adjusted = opcode - opcode_base
            address += minimum * (adjusted // line_range)
            line += base + adjusted % line_range
            yield Row(address, _name(files, file), line, end=False)
        elif opcode == 0:
            size = read.uleb()
            after = read.at + size
            extended = read.take("B") if size else 0
            if extended == 1:
                yield Row(address, _name(files, file), line, end=True)
                address, file, line = 0, 1, 1
            elif extended == 2:
                address = read.take("Q" if size == 9 else "I")
            read.at = after
        elif opcode == 1:
            yield Row(address, _name(files, file), line, end=False)
        elif opcode == 2:
            address += minimum * read.uleb()
        elif opcode == 3:
            line += read.sleb()
        elif opcode == 4:
            file = read.uleb()
        elif opcode == 8:
            address += minimum * ((255 - opcode_base) // line_range)
        elif opcode == 9:
            address += read.take("H")
        else:
            for _ in range(lengths[opcode - 1]):
                read.uleb()


def _files4(read: Reader) -> list[str]:
    while read.string():
        pass
    files = [""]
    while name := read.string():
        read.uleb(), read.uleb(), read.uleb()
        files.append(name)
    return files


def _files5(read: Reader, line_strings: bytes, strings: bytes) -> list[str]:
    """Directories are read past; a file keeps its own name."""
    names: list[str] = []
    for wanted in (False, True):
        formats = [(read.uleb(), read.uleb()) for _ in range(read.take("B"))]
        for _ in range(read.uleb()):
            name = ""
            for content, form in formats:
                value = _form(read, form, line_strings, strings)
                if content == 1 and isinstance(value, str):
                    name = value
            if wanted:
                names.append(name)
    return names


def _form(read: Reader, form: int, line_strings: bytes, strings: bytes) -> str | int:
    if form == 0x08:
        return read.string()
    if form in (0x1F, 0x0E):  # line_strp, strp
        pool, at = (line_strings if form == 0x1F else strings), read.take("I")
        end = pool.find(b"\0", at)
        return pool[at:end].decode("utf-8", "replace") if end >= 0 else ""
    if form == 0x1E:  # data16: a checksum
        read.at += 16
        return 0
    simple = {0x0B: "B", 0x05: "H", 0x06: "I", 0x07: "Q"}
    if form in simple:
        return read.take(simple[form])
    if form == 0x0F:
        return read.uleb()
    if form == 0x09:  # block
        read.at += read.uleb()
        return 0
    raise BadInput(f"the debug line table uses form {form:#x}")


def _name(files: list[str], index: int) -> str:
    return files[index] if 0 <= index < len(files) else "?"
