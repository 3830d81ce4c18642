"""Code objects: what LLVM writes into notes and headers is what is read."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from typing import cast

import llvmlite.binding as llvm
import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_perf_lab.codeobject.architecture import MACHINES, processor
from rocm_perf_lab.codeobject.elf import PT_LOAD, PT_NOTE, Elf
from rocm_perf_lab.codeobject.kernels import (
    NOTE_METADATA,
    _kernel,
    _metadata,
    _unpack,
    read_code_object,
)
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace import vgpr
from rocm_perf_lab.workflow import disasm


def _note(kernel: str) -> bytes:
    return cast(bytes, msgpack.packb({"amdhsa.kernels": [{".name": kernel}]}))


class _Linked:
    def notes(self) -> Iterator[tuple[str, int, bytes]]:
        yield "AMDGPU", NOTE_METADATA, _note("first")
        yield "GNU", 3, b"\x00"
        yield "AMDGPU", NOTE_METADATA, _note("second")


def test_kernels_of_every_note_are_there() -> None:
    found = _metadata(cast(Elf, _Linked()))
    assert [kernel[".name"] for kernel in found["amdhsa.kernels"]] == ["first", "second"]


@given(st.binary(max_size=200))
def test_a_damaged_note_is_refused_or_read(data: bytes) -> None:
    with contextlib.suppress(BadInput):
        _unpack(data)


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", "gfx942:sramecc+:xnack-"),
        ("amdgcn-amd-amdhsa-unknown-gfx90a", "gfx90a"),
        ("amdgpu9.42-amd-amdhsa-unknown-gfx942", "gfx942"),
        ("hipv4-amdgcn-amd-amdhsa--gfx9-4-generic", "gfx9-4-generic"),
        ("hip-amdgcn-amd-amdhsa-gfx1030", "gfx1030"),
        ("amdgcn-amd-amdhsa--gfx10-3-generic", "gfx10-3-generic"),
        ("host-x86_64-unknown-linux-gnu-", ""),
        ("gfx942", "gfx942"),
    ],
)
def test_a_target_is_known_in_every_spelling(target: str, name: str) -> None:
    assert processor(target) == name


def compiled(text: str, architecture: str) -> Elf:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple = "amdgcn-amd-amdhsa"
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=architecture)
    module = llvm.parse_assembly(f'target triple = "{triple}"\n{text}')
    return Elf(cast(bytes, machine.emit_object(module)))


def test_machines_are_numbered_as_llvm_writes_them() -> None:
    for number, name in MACHINES.items():
        flags = compiled("", name).flags
        assert flags & 0xFF in (number, 0), name  # 0: a processor this LLVM does not know


@pytest.mark.parametrize("architecture", ["gfx908", "gfx90a", "gfx942"])
@pytest.mark.parametrize(("vgprs", "agprs"), [(60, 40), (61, 4), (32, 0)])
def test_registers_of_both_kinds_are_told_apart_as_the_compiler_counts_them(
    architecture: str, vgprs: int, agprs: int
) -> None:
    used = f"~{{v{vgprs - 1}}}" + (f",~{{a{agprs - 1}}}" if agprs else "")
    elf = compiled(
        f'define amdgpu_kernel void @k() {{ call void asm sideeffect "", "{used}"() ret void }}',
        architecture,
    )
    (entry,) = _metadata(elf)["amdhsa.kernels"]
    found = _kernel(entry, "k", architecture, 0, b"")
    # AGPRs in the same file begin at a multiple of four.
    shared = agprs and architecture != "gfx908"
    assert (found.vgprs, found.agprs) == (-(-vgprs // 4) * 4 if shared else vgprs, agprs)


@pytest.mark.parametrize("architecture", ["gfx90a", "gfx942"])
@pytest.mark.parametrize(
    ("vgprs", "agprs"),
    [(3, 0), (8, 0), (9, 0), (24, 0), (5, 1), (12, 4), (60, 40), (61, 4), (64, 64), (132, 5)],
)
def test_what_is_allocated_is_what_the_compiler_writes_into_the_descriptor(
    architecture: str, vgprs: int, agprs: int
) -> None:
    used = f"~{{v{vgprs - 1}}}" + (f",~{{a{agprs - 1}}}" if agprs else "")
    elf = compiled(
        f'define amdgpu_kernel void @k() {{ call void asm sideeffect "", "{used}"() ret void }}',
        architecture,
    )
    (symbol,) = (s for s in elf.symbols() if s.name == "k.kd")
    content = elf.content(elf.sections[symbol.section])[symbol.value :]
    third, first = struct.unpack_from("<II", content, 44)  # compute_pgm_rsrc3, compute_pgm_rsrc1
    total, offset = ((first & 63) + 1) * 8, ((third & 63) + 1) * 4
    (entry,) = _metadata(elf)["amdhsa.kernels"]
    kernel = _kernel(entry, "k", architecture, 0, b"")
    # What the profiler reads, what `disasm` says, and what `profile` makes of it: one truth.
    assert vgpr.described(kernel.vgprs, kernel.agprs) == (offset, total - offset)
    assert disasm.allocated(kernel) == total
    told = vgpr.true_counts(architecture, offset, total - offset, accum_never_seen=False)
    assert (told.arch, told.total) == (offset, total)
    assert told.accum is None or kernel.agprs <= told.accum < kernel.agprs + 8
    assert bool(told.accum) <= bool(kernel.agprs)


def test_a_kernel_of_which_the_compiler_makes_nothing_is_read() -> None:
    """As of a loop that never ends: a symbol without a size at the end of the code."""
    elf = compiled("define amdgpu_kernel void @k() { unreachable }", "gfx942")
    (kernel,) = read_code_object(elf.data).kernels
    assert (kernel.name, kernel.code) == ("k", b"")


def linked(notes: bytes, code: bytes) -> Elf:
    """An ELF file with segments and no sections, as a linker told to strip them leaves it."""
    at = 64 + 2 * 56
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHI", 3, 224, 1)
    head += struct.pack("<QQQIHHHHHH", 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    place = at, at, at, len(notes), len(notes), 4
    body = at + len(notes)
    head += struct.pack("<IIQQQQQQ", PT_NOTE, 4, *place)
    head += struct.pack("<IIQQQQQQ", PT_LOAD, 5, body, 0x1000, 0x1000, len(code), len(code), 4096)
    return Elf(head + notes + code)


def test_notes_are_found_by_segments_and_each_at_a_multiple_of_four() -> None:
    def note(name: bytes, kind: int, text: bytes) -> bytes:
        head = struct.pack("<III", len(name), len(text), kind)
        return head + b"".join(part + bytes(-len(part) % 4) for part in (name, text))

    elf = linked(note(b"GNU\0", 3, b"odd") + note(b"AMDGPU\0", 32, _note("k")), b"")
    assert [name for name, _, _ in elf.notes()] == ["GNU", "AMDGPU"]
    assert [kernel[".name"] for kernel in _metadata(elf)["amdhsa.kernels"]] == ["k"]


def test_code_is_read_within_its_segment_only() -> None:
    elf = linked(b"", b"sixteen bytes..." + b"no code of ours")
    inside = 0x1000 + 31
    assert elf.at_address(0x1000, 16) == b"sixteen bytes..."
    assert elf.at_address(0x1000 + 8, 23) == b"bytes...no code of ours"
    for address, size in ((0xFFF, 4), (inside - 3, 4), (inside, 1)):
        with pytest.raises(BadInput, match="in no segment"):
            elf.at_address(address, size)
