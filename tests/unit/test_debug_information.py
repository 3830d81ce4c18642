"""Source files and lines of a code object: what LLVM wrote, and no harm from anybody else's."""

from __future__ import annotations

import functools
import struct
import time
from typing import cast

import llvmlite.binding as llvm
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_perf_lab.codeobject.elf import Elf
from rocm_perf_lab.device.sources import Frame, Sources
from support.hip_build import need_virtual_gpu


@pytest.fixture(autouse=True, scope="module")
def built() -> None:
    need_virtual_gpu()


def linked(sections: dict[str, bytes]) -> bytes:
    """A code object of nothing but a segment and sections."""
    names = {"": 0}
    table = b"\0"
    for name in (*sections, ".shstrtab"):
        names[name] = len(table)
        table += name.encode() + b"\0"
    placed, body = [(0, 0, 0, 0)], b""
    for name, content in {**sections, ".shstrtab": table}.items():
        kind = 3 if name == ".shstrtab" else 1
        placed.append((names[name], kind, 64 + 56 + len(body), len(content)))
        body += content
    at = 64 + 56 + len(body)
    head = b"\x7fELF\x02\x01\x01\x40\x04" + bytes(7) + struct.pack("<HHI", 3, 224, 1)
    head += struct.pack("<QQQI", 0, 64, at, 0x54C)
    head += struct.pack("<HHHHHH", 64, 56, 1, 64, len(placed), len(placed) - 1)
    head += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 64, 64, 4096)
    rows = [
        struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, 0, 0, 1, 0)
        for name, kind, offset, size in placed
    ]
    return head + body + b"".join(rows)


LINES = [10, 12, 11, 300, 299, 7, 100_000, 100_001, 8]
COUNTS = [3 ** (i % 5) for i in range(len(LINES))]  # of instructions, four bytes each


@functools.cache
def written_by_llvm() -> dict[str, bytes]:
    """The debug sections of a kernel in which every line of LINES has COUNTS instructions."""
    sleep = "  call void @llvm.amdgcn.s.sleep(i32 0), !dbg !"
    calls = [f"{sleep}{10 + i}" for i, count in enumerate(COUNTS) for _ in range(count)]
    places = [
        f"!{10 + i} = !DILocation(line: {line}, column: 1, scope: !4)"
        for i, line in enumerate(LINES)
    ]
    text = [
        'target triple = "amdgcn-amd-amdhsa"',
        "declare void @llvm.amdgcn.s.sleep(i32)",
        "define amdgpu_kernel void @k() !dbg !4 {",
        *calls,
        f"  ret void, !dbg !{9 + len(LINES)}",
        "}",
        "!llvm.dbg.cu = !{!1}",
        "!llvm.module.flags = !{!2, !3}",
        '!0 = !DIFile(filename: "kernel.hip", directory: "/here")',
        "!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !0, "
        "emissionKind: LineTablesOnly)",
        # Version 5 names its files by relocations, which are the linker's to do.
        '!2 = !{i32 2, !"Dwarf Version", i32 4}',
        '!3 = !{i32 2, !"Debug Info Version", i32 3}',
        '!4 = distinct !DISubprogram(name: "k", file: !0, line: 9, type: !5, unit: !1, '
        "spFlags: DISPFlagDefinition)",
        "!5 = !DISubroutineType(types: !6)",
        "!6 = !{null}",
        *places,
    ]
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("amdgcn-amd-amdhsa")
    module = llvm.parse_assembly("\n".join(text))
    elf = Elf(cast(bytes, target.create_target_machine(cpu="gfx942").emit_object(module)))
    names = (".debug_line", ".debug_info", ".debug_abbrev", ".debug_str", ".debug_ranges")
    found = {name: elf.section(name) for name in names}
    return {name: elf.content(section) for name, section in found.items() if section}


def test_lines_are_those_the_compiler_wrote() -> None:
    sources = Sources(linked({".debug_line": written_by_llvm()[".debug_line"]}))
    expected = [line for line, count in zip(LINES, COUNTS, strict=True) for _ in range(count)]
    lines = [sources.chain(4 * i) for i in range(len(expected))]
    assert lines == [(Frame("", "kernel.hip", line),) for line in expected]
    assert list(sources.files()) == ["kernel.hip"]
    assert sources.files()["kernel.hip"] >= len(LINES)


def test_without_debug_information_nothing_is_known() -> None:
    for image in (b"", b"no ELF", linked({}), linked({".debug_line": b""})):
        assert (Sources(image).chain(0), Sources(image).files()) == ((), {})


# ---- hostile


def uleb(number: int) -> bytes:
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def line_unit(program: bytes, files: bytes = b"\0" + b"a.hip\0\0\0\0\0") -> bytes:
    """Version 4; its standard operations take as many operands as the standard says."""
    standard = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
    rest = bytes([4, 1, 1, 0xFB, 14, 13]) + standard + files
    body = struct.pack("<HI", 4, len(rest)) + rest + program
    return struct.pack("<I", len(body)) + body


def info_unit(entries: bytes, address_size: int = 8, abbreviations: int = 0) -> bytes:
    body = struct.pack("<HIB", 4, abbreviations, address_size) + entries
    return struct.pack("<I", len(body)) + body


SET_ADDRESS, COPY = b"\0\x09\x02" + bytes(8), b"\x01"
UNIT, FUNCTION = b"\x11\x01", b"\x2e\x00"  # a unit has children, a function here none
FLAG, NAME, STRP, ADDRESS, OFFSET = 0x19, 0x03, 0x0E, 0x01, 0x17
LOW, HIGH, RANGES = 0x11, 0x12, 0x55


def shape(code: int, tag: bytes, *attributes: tuple[int, int]) -> bytes:
    forms = b"".join(uleb(name) + uleb(form) for name, form in attributes)
    return uleb(code) + tag + forms + b"\0\0"


HOSTILE = {
    "an operation whose size leads backwards": {
        ".debug_line": line_unit(SET_ADDRESS + COPY + b"\0" + uleb(2**64 - 12) + b"\x01")
    },
    "a table of files that lists none": {
        ".debug_line": line_unit(SET_ADDRESS + COPY + COPY, files=b"\0\0")
    },
    "2^63 files of no form": {
        ".debug_line": struct.pack("<IHBBI", 31, 5, 8, 0, 23)
        + bytes([4, 1, 1, 0xFB, 14, 1])
        + b"\0\0"
        + b"\0"
        + uleb(2**63)
        + bytes(10)
    },
    "a number without an end": {".debug_line": line_unit(b"\x02" + b"\x80" * 100_000)},
    "files of the longest folder, each a copy of it": {
        ".debug_line": line_unit(
            COPY, files=b"f" * 60_000 + b"\0\0" + b"a\0\x01\0\0" * 100_000 + b"\0"
        )
    },
    "addresses of no bytes": {
        ".debug_info": info_unit(b"\x01" + b"\x05", address_size=0),
        ".debug_abbrev": shape(1, UNIT, (LOW, 0x1B)) + b"\0",
        ".debug_addr": bytes(64),
    },
    "entries of a million flags": {
        ".debug_info": info_unit(b"\x01" + b"\x02" * 100_000),
        ".debug_abbrev": shape(1, UNIT) + shape(2, b"\x34\x00", *[(1, FLAG)] * 1_000_000) + b"\0",
    },
    "a long name for every function": {
        ".debug_info": info_unit(b"\x01" + (b"\x02" + bytes(4)) * 100_000),
        ".debug_abbrev": shape(1, UNIT) + shape(2, FUNCTION, (NAME, STRP)) + b"\0",
        ".debug_str": b"n" * 60_000 + b"\0",
    },
    "a long list of ranges for every function": {
        ".debug_info": info_unit(b"\x01" + (b"\x02" + bytes(4)) * 100_000),
        ".debug_abbrev": shape(1, UNIT) + shape(2, FUNCTION, (RANGES, OFFSET)) + b"\0",
        ".debug_ranges": struct.pack("<QQ", 0, 8) * 100_000,
    },
    "abbreviations read again from every byte of them": {
        ".debug_info": b"".join(info_unit(b"\x01", abbreviations=at) for at in range(60_000)),
        ".debug_abbrev": b"\x01" * 400_000,
    },
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_information_costs_little_and_does_no_harm(what: str) -> None:
    started = time.process_time()
    sources = Sources(linked(HOSTILE[what]))
    sources.files()
    sources.chain(0)
    assert time.process_time() - started < 20  # a budget, not a benchmark: without it, for ever


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_any_damage_ends_in_some_lines_or_none(data: st.DataObject) -> None:
    sections = written_by_llvm()
    hurt = {name: bytearray(content) for name, content in sections.items()}
    for _ in range(data.draw(st.integers(1, 8))):
        content = hurt[data.draw(st.sampled_from(sorted(hurt)))]
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + 1] = data.draw(st.binary(max_size=12))
    sources = Sources(linked({name: bytes(content) or b"\0" for name, content in hurt.items()}))
    assert all(count > 0 for count in sources.files().values())
    for address in (0, 4, 400, 2**40, 2**64 - 1):
        assert all(frame.line >= 0 for frame in sources.chain(address))


def test_names_cannot_end_a_line_or_a_field() -> None:
    program = SET_ADDRESS + COPY + b"\x02\x10\0\x01\x01"
    sources = Sources(linked({".debug_line": line_unit(program, b"\0a\tb\nc\r.hip\0\0\0\0\0")}))
    assert sources.chain(0) == (Frame("", "a?b?c?.hip", 1),)
    assert sources.files() == {"a?b?c?.hip": 2}
