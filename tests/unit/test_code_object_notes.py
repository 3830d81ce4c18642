"""Metadata of a code object linked from several: one note of each, read as one."""

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
from rocm_perf_lab.codeobject.elf import Elf
from rocm_perf_lab.codeobject.kernels import NOTE_METADATA, _metadata, _unpack
from rocm_perf_lab.errors import BadInput


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


def test_machines_are_numbered_as_llvm_writes_them() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly("")
    triple = "amdgcn-amd-amdhsa"
    for number, name in MACHINES.items():
        machine = llvm.Target.from_triple(triple).create_target_machine(cpu=name)
        (flags,) = struct.unpack_from("<I", machine.emit_object(module), 48)
        assert flags & 0xFF in (number, 0), name  # 0: a processor this LLVM does not know
