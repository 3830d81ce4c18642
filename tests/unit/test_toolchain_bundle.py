"""Offload bundles and ELF files: what is written is read back, what is damaged is refused."""

from __future__ import annotations

import struct
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from rocm_perf_lab.codeobject.bundle import bundle_size, read_bundle, write_bundle
from rocm_perf_lab.codeobject.elf import Elf, archive_members
from rocm_perf_lab.codeobject.kernels import read_code_object
from rocm_perf_lab.errors import BadInput, PerfLabError

ARCHS = st.sampled_from(["gfx942", "gfx90a:xnack-", "gfx942:sramecc+:xnack-", "gfx1100"])


@given(st.lists(st.tuples(ARCHS, st.binary(max_size=9000)), max_size=4))
def test_what_is_bundled_comes_back(images: list[tuple[str, bytes]]) -> None:
    data = write_bundle(images)
    entries = read_bundle(data)
    assert entries[0].arch == "" and entries[0].image == b""
    assert [(entry.arch, entry.image) for entry in entries[1:]] == images
    size = bundle_size(data)
    assert read_bundle(data[:size]) == entries
    if images and images[-1][1]:
        with pytest.raises(BadInput, match="cut short"):
            read_bundle(data[: size - 1])


def compressed(plain: bytes, version: int, method: int) -> bytes:
    body = zlib.compress(plain) if method == 0 else zstandard.ZstdCompressor().compress(plain)
    head = b"CCOB" + struct.pack("<HH", version, method)
    if version == 1:
        return head + struct.pack("<IQ", len(plain), 0) + body
    if version == 2:
        return head + struct.pack("<IIQ", 24 + len(body), len(plain), 0) + body
    return head + struct.pack("<QQQ", 32 + len(body), len(plain), 0) + body


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("method", [0, 1])
def test_compressed_bundles_of_every_version(version: int, method: int) -> None:
    plain = write_bundle([("gfx942", b"code" * 100)])
    data = compressed(plain, version, method)
    assert read_bundle(data)[1].image == b"code" * 100
    if version > 1:
        assert bundle_size(data + b"more") == len(data)


@given(st.binary(max_size=300))
def test_anything_is_a_bundle_or_bad_input(tail: bytes) -> None:
    for start in (b"", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB", b"\x7fELF\x02\x01"):
        for read in (read_bundle, read_code_object, Elf):
            try:
                read(start + tail)
            except PerfLabError as error:
                assert isinstance(error, BadInput)


def test_archives_give_their_members() -> None:
    def member(name: bytes, body: bytes) -> bytes:
        head = name.ljust(16) + b"0".ljust(12) + b"0".ljust(6) + b"0".ljust(6) + b"644".ljust(8)
        head += str(len(body)).encode().ljust(10) + b"`\n"
        return head + body + (b"\n" if len(body) & 1 else b"")

    data = (
        b"!<arch>\n" + member(b"/", b"index") + member(b"a.o/", b"first") + member(b"b.o/", b"2nd!")
    )
    assert archive_members(data) == [b"first", b"2nd!"]
    with pytest.raises(BadInput):
        archive_members(b"!<arch>\n" + b"x" * 80)
