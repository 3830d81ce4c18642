"""Just enough of ELF: sections, symbols, notes, and the members of an archive.

Every offset and count comes from a file nobody vouches for, and is checked before it is used.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from rocm_perf_lab.errors import BadInput

ELF_MAGIC = b"\x7fELF"
ARCHIVE_MAGIC = b"!<arch>\n"
EM_AMDGPU = 224
SHT_SYMTAB, SHT_NOTE, SHT_NOBITS, SHT_DYNSYM = 2, 7, 8, 11
PT_LOAD, PT_NOTE = 1, 4


@dataclass(frozen=True)
class Section:
    name: str
    type: int
    address: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True)
class Segment:
    type: int
    offset: int
    address: int
    file_size: int


@dataclass(frozen=True)
class Symbol:
    name: str
    value: int
    size: int
    type: int  # 1 object, 2 function
    section: int

    @property
    def defined(self) -> bool:
        return self.section != 0


def is_elf(data: bytes) -> bool:
    return data.startswith(ELF_MAGIC)


def is_archive(data: bytes) -> bool:
    return data.startswith(ARCHIVE_MAGIC)


class Elf:
    """A 64-bit little-endian ELF file held in memory."""

    def __init__(self, data: bytes) -> None:
        if not is_elf(data):
            raise BadInput("not an ELF file")
        if len(data) < 64 or data[4] != 2 or data[5] != 1:
            raise BadInput("not a 64-bit little-endian ELF file")
        self.data = data
        self.type, self.machine = struct.unpack_from("<HH", data, 16)
        self.flags: int = struct.unpack_from("<I", data, 48)[0]
        self.abi = data[7]
        try:
            self.sections = list(self._sections())
            self.segments = list(self._segments())
        except struct.error as error:
            raise BadInput("ELF file cut short") from error

    def content(self, section: Section) -> bytes:
        if section.type == SHT_NOBITS:
            return b""
        return self.slice(section.offset, section.size)

    def slice(self, offset: int, size: int) -> bytes:
        found = self.data[offset : offset + size]
        if len(found) != size:
            raise BadInput("ELF file cut short")
        return found

    def section(self, name: str) -> Section | None:
        return next((section for section in self.sections if section.name == name), None)

    def at_address(self, address: int, size: int) -> bytes:
        """Bytes at a virtual address, from the segment that holds them."""
        for segment in self.segments:
            inside = address - segment.address
            if segment.type == PT_LOAD and 0 <= inside <= segment.file_size - size:
                return self.slice(segment.offset + inside, size)
        raise BadInput(f"address {address:#x} is in no segment of the ELF file")

    def symbols(self) -> Iterator[Symbol]:
        """Of the full table where there is one, else of the dynamic one."""
        yield from list(self._symbols(SHT_SYMTAB)) or self._symbols(SHT_DYNSYM)

    def dynamic_symbols(self) -> Iterator[Symbol]:
        """What a loader looks names up in."""
        return self._symbols(SHT_DYNSYM)

    def _symbols(self, kind: int) -> Iterator[Symbol]:
        for table in (s for s in self.sections if s.type == kind):
            if table.link >= len(self.sections):
                raise BadInput("ELF symbol table without names")
            names = self.content(self.sections[table.link])
            body = self.content(table)
            for at in range(0, len(body) - 23, 24):
                name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", body, at)
                yield Symbol(_string(names, name), value, size, info & 15, section)

    def notes(self) -> Iterator[tuple[str, int, bytes]]:
        blocks = [(s.offset, s.size) for s in self.sections if s.type == SHT_NOTE]
        blocks = blocks or [(s.offset, s.file_size) for s in self.segments if s.type == PT_NOTE]
        for offset, size in blocks:
            body, at = self.slice(offset, size), 0
            while at + 12 <= len(body):
                name_size, size_, kind = struct.unpack_from("<III", body, at)
                at += 12
                name = body[at : at + name_size].rstrip(b"\0").decode("latin-1")
                at += -(-name_size // 4) * 4
                yield name, kind, body[at : at + size_]
                at += -(-size_ // 4) * 4

    def _sections(self) -> Iterator[Section]:
        (table,) = struct.unpack_from("<Q", self.data, 40)
        entry, count, names_at = struct.unpack_from("<HHH", self.data, 58)
        if table == 0 or count == 0:
            return
        if entry < 64:
            raise BadInput("ELF section table with entries too small")
        raw = [
            struct.unpack_from("<IIQQQQIIQQ", self.data, table + i * entry) for i in range(count)
        ]
        names = b""
        if names_at < count:
            names = self.slice(raw[names_at][4], raw[names_at][5])
        for row in raw:
            yield Section(
                name=_string(names, row[0]),
                type=row[1],
                address=row[3],
                offset=row[4],
                size=row[5],
                link=row[6],
            )

    def _segments(self) -> Iterator[Segment]:
        (table,) = struct.unpack_from("<Q", self.data, 32)
        entry, count = struct.unpack_from("<HH", self.data, 54)
        for index in range(count):
            row = struct.unpack_from("<IIQQQQQQ", self.data, table + index * entry)
            yield Segment(type=row[0], offset=row[2], address=row[3], file_size=row[5])


def archive_members(data: bytes) -> list[bytes]:
    """The files in a `.a`, less its index."""
    members: list[bytes] = []
    at = len(ARCHIVE_MAGIC)
    while at + 60 <= len(data):
        header = data[at : at + 60]
        size_text = header[48:58].strip()
        if header[58:60] != b"`\n" or not size_text.isdigit():
            raise BadInput("archive is damaged")
        size = int(size_text)
        name = header[:16].rstrip()
        if name not in (b"/", b"//", b"/SYM64/"):
            members.append(data[at + 60 : at + 60 + size])
        at += 60 + size + (size & 1)
    return members


def _string(table: bytes, at: int) -> str:
    end = table.find(b"\0", at)
    if at >= len(table) or end < 0:
        return ""
    return table[at:end].decode("utf-8", "replace")
