"""The types of a kernel's parameters, from the debug information of its code object (DWARF 4, 5).

Only what lays out memory is read: scalars, pointers, arrays, structures. What a pointer points to
is looked up when it is asked for, because types refer to themselves.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rocm_perf_lab.codeobject.dwarf_reader import Reader
from rocm_perf_lab.codeobject.elf import Elf
from rocm_perf_lab.errors import BadInput

MAX_INFO_BYTES = 64 << 20
MAX_DEPTH = 32  # of types within types


@dataclass(frozen=True)
class Scalar:
    name: str
    size: int
    kind: Literal["float", "signed", "unsigned", "bool"]


@dataclass(frozen=True)
class Pointer:
    const: bool  # what it points to is
    to: Callable[[], Type | None] = field(compare=False)
    size: int = 8


@dataclass(frozen=True)
class Array:
    of: Type
    count: int

    @property
    def size(self) -> int:
        return self.of.size * self.count


@dataclass(frozen=True)
class Struct:
    """Fields by their offset; those of a union all have the same."""

    name: str
    size: int
    fields: tuple[tuple[int, Type], ...]
    union: bool = False


@dataclass(frozen=True)
class Opaque:
    """So many bytes, and nothing more is known."""

    size: int


Type = Scalar | Pointer | Array | Struct | Opaque


def parameters(elf: Elf, symbol: str) -> list[Type] | None:
    """Of the function with that linkage name, in order; None: the object does not say."""
    sections = {name: elf.section(f".debug_{name}") for name in _SECTIONS}
    info = sections["info"]
    if info is None or sections["abbrev"] is None or info.size > MAX_INFO_BYTES:
        return None
    data = {name: elf.content(found) if found else b"" for name, found in sections.items()}
    try:
        tree = _Tree(data)
        function = tree.function(symbol)
        return None if function is None else [tree.type_of(p) for p in tree.parameters(function)]
    except (struct.error, IndexError, KeyError, ValueError, RecursionError):
        raise BadInput("the debug information is damaged") from None


_SECTIONS = ("info", "abbrev", "str", "line_str", "str_offsets")

_ARRAY, _CLASS, _ENUM, _PARAMETER, _MEMBER, _POINTER = 0x01, 0x02, 0x04, 0x05, 0x0D, 0x0F
_REFERENCE, _STRUCTURE, _TYPEDEF, _UNION = 0x10, 0x13, 0x16, 0x17
_INHERITANCE, _SUBRANGE, _BASE_TYPE, _CONST, _SUBPROGRAM = 0x1C, 0x21, 0x24, 0x26, 0x2E
_RVALUE = 0x42
_SAME = {
    _TYPEDEF,
    _CONST,
    0x35,
    0x37,
    0x47,
}  # volatile, restrict, atomic: laid out as what they name
_NAME, _BYTES, _UPPER, _COUNT, _ORIGIN = 0x03, 0x0B, 0x2F, 0x37, 0x31
_LOCATION, _ENCODING, _SPECIFICATION, _TYPE_OF = 0x38, 0x3E, 0x47, 0x49
_BIT_SIZE, _STATIC, _LINKAGE, _STRINGS_AT = 0x0D, 0x3C, 0x6E, 0x72
_BIT_OFFSET, _WIDEST_BITS = 0x6B, 16  # of a field, in bytes
_ENCODINGS: Mapping[int, Literal["float", "signed", "unsigned", "bool"]] = {
    2: "bool", 4: "float", 5: "signed", 6: "signed", 7: "unsigned", 8: "unsigned", 0x10: "unsigned",
}  # fmt: skip

_FIXED = {
    0x01: "Q", 0x05: "H", 0x06: "I", 0x07: "Q", 0x0B: "B", 0x0C: "B", 0x17: "I", 0x1C: "I",
    0x1D: "I", 0x20: "Q", 0x24: "Q", 0x29: "B", 0x2A: "H", 0x2C: "I",
}  # fmt: skip
_LOCAL = {0x11: "B", 0x12: "H", 0x13: "I", 0x14: "Q"}  # references within the unit
_INDEXED = {0x25: "B", 0x26: "H", 0x28: "I"}  # strings by their number
_BLOCKS = {0x03: "H", 0x04: "I", 0x0A: "B"}


@dataclass
class _Entry:
    tag: int
    at: int
    attributes: dict[int, Any]
    children: list[_Entry] = field(default_factory=list)


class _Tree:
    """Every entry of the debug information, by its offset."""

    def __init__(self, data: Mapping[str, bytes]) -> None:
        self._data = data
        self._entries: dict[int, _Entry] = {}
        self._types: dict[int, Type] = {}
        at = 0
        while at + 11 <= len(data["info"]):
            at = self._unit(at)

    # ---- reading

    def _unit(self, start: int) -> int:
        read = Reader(self._data["info"], start, len(self._data["info"]))
        length = read.take("I")
        end = read.at + length
        if length >= 0xFFFFFFF0 or end > len(self._data["info"]):
            raise ValueError  # 64-bit DWARF, which no GPU compiler writes; or damage
        version = read.take("H")
        if version not in (4, 5):
            return end
        kind = read.take("B") if version == 5 else 1
        if version == 5:
            read.take("B")
            table = read.take("I")
            read.at += {4: 8, 5: 8, 2: 12, 6: 12}.get(kind, 0)
        else:
            table = read.take("I")
            read.take("B")
        read.end = end
        self._strings_at = 8
        shapes = dict(self._shapes(table))
        open_entries: list[_Entry] = []
        while read.at < end:
            at = read.at
            code = read.uleb()
            if code == 0:
                if open_entries:
                    open_entries.pop()
                continue
            tag, children, forms = shapes[code]
            entry = _Entry(tag, at, {})
            for attribute, form, constant in forms:
                entry.attributes[attribute] = self._value(read, form, constant, start)
                if attribute == _STRINGS_AT:
                    self._strings_at = entry.attributes[attribute]
            self._entries[at] = entry
            if open_entries:
                open_entries[-1].children.append(entry)
            if children:
                open_entries.append(entry)
        return end

    def _shapes(
        self, table: int
    ) -> Iterator[tuple[int, tuple[int, bool, list[tuple[int, int, int]]]]]:
        read = Reader(self._data["abbrev"], table, len(self._data["abbrev"]))
        while code := read.uleb():
            tag, children = read.uleb(), bool(read.take("B"))
            forms: list[tuple[int, int, int]] = []
            while True:
                attribute, form = read.uleb(), read.uleb()
                constant = read.sleb() if form == 0x21 else 0
                if not attribute and not form:
                    break
                forms.append((attribute, form, constant))
            yield code, (tag, children, forms)

    def _value(self, read: Reader, form: int, constant: int, unit: int) -> Any:
        if form in _FIXED:
            return read.take(_FIXED[form])
        if form in _LOCAL:
            return unit + read.take(_LOCAL[form])
        if form in _INDEXED:
            return self._indexed(read.take(_INDEXED[form]))
        if form in _BLOCKS or form in (0x09, 0x18):
            size = read.take(_BLOCKS[form]) if form in _BLOCKS else read.uleb()
            read.at += size
            return None
        if form in (0x0E, 0x1F):
            pool = self._data["str" if form == 0x0E else "line_str"]
            return Reader(pool, read.take("I"), len(pool)).string()
        if form in (0x2B, 0x27):  # three bytes: an address by number, a string by number
            value = read.take("H") | read.take("B") << 16
            return self._indexed(value) if form == 0x27 else value
        simple: Mapping[int, Callable[[], Any]] = {
            0x08: read.string, 0x0D: read.sleb, 0x0F: read.uleb, 0x10: lambda: read.take("I"),
            0x15: lambda: unit + read.uleb(), 0x19: lambda: True,
            0x1A: lambda: self._indexed(read.uleb()), 0x1B: read.uleb, 0x21: lambda: constant,
            0x22: read.uleb, 0x23: read.uleb,
            0x1E: lambda: (read.take("Q"), read.take("Q")),
            0x16: lambda: self._value(read, read.uleb(), 0, unit),
        }  # fmt: skip
        if form not in simple:
            raise ValueError(form)
        return simple[form]()

    def _indexed(self, number: int) -> str:
        offsets, pool = self._data["str_offsets"], self._data["str"]
        (at,) = struct.unpack_from("<I", offsets, self._strings_at + 4 * number)
        return Reader(pool, at, len(pool)).string()

    # ---- looking up

    def _attribute(self, entry: _Entry, name: int) -> Any:
        """Its own, or that of the declaration it stands for."""
        for _ in range(MAX_DEPTH):
            if name in entry.attributes:
                return entry.attributes[name]
            to = entry.attributes.get(_ORIGIN, entry.attributes.get(_SPECIFICATION))
            if to is None:
                return None
            entry = self._entries[to]
        return None

    def function(self, symbol: str) -> _Entry | None:
        """The one with the most parameters: a declaration and a definition may both be there."""
        found = [
            entry
            for entry in self._entries.values()
            if entry.tag == _SUBPROGRAM
            and symbol in (self._attribute(entry, _LINKAGE), self._attribute(entry, _NAME))
        ]
        return max(found, key=lambda e: len(self.parameters(e)), default=None)

    def parameters(self, function: _Entry) -> list[_Entry]:
        return [child for child in function.children if child.tag == _PARAMETER]

    def type_of(self, entry: _Entry, depth: int = 0) -> Type:
        to = self._attribute(entry, _TYPE_OF)
        return Opaque(0) if to is None else self._type(self._entries[to], depth)

    def _type(self, entry: _Entry, depth: int) -> Type:
        if entry.at not in self._types:
            if depth > MAX_DEPTH:
                raise ValueError
            self._types[entry.at] = self._made(entry, depth)
        return self._types[entry.at]

    def _made(self, entry: _Entry, depth: int) -> Type:
        name = str(self._attribute(entry, _NAME) or "")
        size = int(self._attribute(entry, _BYTES) or 0)
        if entry.tag == _BASE_TYPE:
            kind = _ENCODINGS.get(self._attribute(entry, _ENCODING))
            return Scalar(name, size, kind) if kind else Opaque(size)
        if entry.tag == _ENUM:
            return Scalar(name, size, "signed")
        if entry.tag in (_POINTER, _REFERENCE, _RVALUE):
            return Pointer(self._is_const(entry), lambda: self._pointee(entry))
        if entry.tag in _SAME:
            return self.type_of(entry, depth + 1)
        if entry.tag == _ARRAY:
            return self._array(entry, depth)
        if entry.tag in (_STRUCTURE, _CLASS, _UNION):
            return Struct(name, size, tuple(self._fields(entry, depth)), entry.tag == _UNION)
        return Opaque(size)

    def _pointee(self, entry: _Entry) -> Type | None:
        return self.type_of(entry) if _TYPE_OF in entry.attributes else None

    def _is_const(self, entry: _Entry) -> bool:
        """Whether a const lies between the pointer and the type itself."""
        for _ in range(MAX_DEPTH):
            to = self._attribute(entry, _TYPE_OF)
            if to is None:
                return False
            entry = self._entries[to]
            if entry.tag == _CONST:
                return True
            if entry.tag not in _SAME:
                return False
        return False

    def _array(self, entry: _Entry, depth: int) -> Type:
        of = self.type_of(entry, depth + 1)
        for child in reversed([c for c in entry.children if c.tag == _SUBRANGE]):
            count, upper = (self._attribute(child, name) for name in (_COUNT, _UPPER))
            if count is None and upper is None:
                return Opaque(0)  # without a bound
            of = Array(of, int(count if count is not None else upper + 1))
        return of

    def _fields(self, entry: _Entry, depth: int) -> Iterator[tuple[int, Type]]:
        shared: set[int] = set()  # bytes that bit fields lie in, one or several
        for child in entry.children:
            if child.tag not in (_MEMBER, _INHERITANCE) or _STATIC in child.attributes:
                continue
            kind = self.type_of(child, depth + 1)
            at = self._attribute(child, _LOCATION)
            if _BIT_SIZE in child.attributes:
                first = int(self._attribute(child, _BIT_OFFSET) or 0)
                last = first + max(1, int(self._attribute(child, _BIT_SIZE) or 0)) - 1
                for byte in range(first // 8, last // 8 + 1):
                    if byte not in shared and byte - first // 8 < _WIDEST_BITS:
                        shared.add(byte)
                        yield byte, Scalar("unsigned char", 1, "unsigned")
                continue
            yield int(at or 0), kind
