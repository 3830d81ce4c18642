"""Metadata of a code object linked from several: one note of each, read as one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from rocm_perf_lab.device.code_object import NOTE_METADATA, _metadata
from rocm_perf_lab.device.elf import Elf


def _note(kernel: str) -> bytes:
    """{"amdhsa.kernels": [{".name": kernel}]} in MessagePack."""

    def text(value: str) -> bytes:
        return bytes([0xA0 | len(value)]) + value.encode()

    entry = b"\x81" + text(".name") + text(kernel)
    return b"\x81" + text("amdhsa.kernels") + b"\x91" + entry


class _Linked:
    def notes(self) -> Iterator[tuple[str, int, bytes]]:
        yield "AMDGPU", NOTE_METADATA, _note("first")
        yield "GNU", 3, b"\x00"
        yield "AMDGPU", NOTE_METADATA, _note("second")


def test_kernels_of_every_note_are_there() -> None:
    found = _metadata(cast(Elf, _Linked()))
    assert [kernel[".name"] for kernel in found["amdhsa.kernels"]] == ["first", "second"]
