"""Offload bundles: code objects for several targets in one file, plain or compressed.

Layout (clang's ClangOffloadBundler documentation): the magic, a count of entries, per entry
offset, size, length of the id and the id, all integers 64-bit little endian.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocm_perf_lab.codeobject.architecture import processor
from rocm_perf_lab.errors import BadInput

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_MAGIC = b"CCOB"
HOST_ID = "host-x86_64-unknown-linux-gnu-"
PAGE = 4096
MAX_ENTRIES = 4096
MAX_UNCOMPRESSED = 4 << 30


@dataclass(frozen=True)
class BundleEntry:
    triple: str  # "hipv4-amdgcn-amd-amdhsa--gfx942"
    image: bytes

    @property
    def arch(self) -> str:
        """gfx942, gfx90a:xnack-, or empty for the host's entry."""
        return processor(self.triple)


def device_id(arch: str) -> str:
    return f"hipv4-amdgcn-amd-amdhsa--{arch}"


def write_bundle(images: Sequence[tuple[str, bytes]]) -> bytes:
    """A bundle of (architecture, code object) with the empty host entry the runtime expects."""
    entries = [(HOST_ID, b""), *((device_id(arch), image) for arch, image in images)]
    head = len(MAGIC) + 8 + sum(24 + len(name) for name, _ in entries)
    offset = -(-head // PAGE) * PAGE
    table, body = bytearray(MAGIC + struct.pack("<Q", len(entries))), bytearray()
    for name, image in entries:
        at = offset + len(body)
        table += struct.pack("<QQQ", at, len(image), len(name)) + name.encode()
        body += image + b"\0" * (-len(image) % PAGE)
    return bytes(table) + b"\0" * (offset - len(table)) + bytes(body)


def read_bundle(data: bytes) -> list[BundleEntry]:
    """The entries of one bundle; raises BadInput where the file is not one."""
    if data.startswith(COMPRESSED_MAGIC):
        data = _decompress(data)
    if not data.startswith(MAGIC):
        raise BadInput("not an offload bundle")
    return list(_entries(data))


def bundle_size(data: bytes) -> int:
    """How many bytes the bundle at the start of `data` takes: several may follow one another."""
    if data.startswith(COMPRESSED_MAGIC):
        return _compressed_header(data)[0] or len(data)
    ends = [offset + size for offset, size, _ in _table(data)]
    return max(ends, default=len(MAGIC) + 8)


def _table(data: bytes) -> Iterator[tuple[int, int, str]]:
    at = len(MAGIC)
    try:
        (count,) = struct.unpack_from("<Q", data, at)
        at += 8
        if count > MAX_ENTRIES:
            raise BadInput(f"offload bundle with {count} entries")
        for _ in range(count):
            offset, size, length = struct.unpack_from("<QQQ", data, at)
            at += 24
            name = data[at : at + length]
            if len(name) != length:
                raise BadInput("offload bundle cut short")
            at += length
            yield offset, size, name.decode("utf-8", "replace")
    except struct.error as error:
        raise BadInput("offload bundle cut short") from error


def _entries(data: bytes) -> Iterator[BundleEntry]:
    for offset, size, name in _table(data):
        image = data[offset : offset + size]
        if len(image) != size:
            raise BadInput(f"offload bundle cut short in {name}")
        yield BundleEntry(name, image)


def _compressed_header(data: bytes) -> tuple[int, int, int, int]:
    """(whole size or 0 where version 1 does not say, method, uncompressed size, header bytes)."""
    try:
        version, method = struct.unpack_from("<HH", data, 4)
        if version == 1:
            return 0, method, struct.unpack_from("<I", data, 8)[0], 20
        if version == 2:
            total, uncompressed = struct.unpack_from("<II", data, 8)
            return total, method, uncompressed, 24
        if version == 3:
            total, uncompressed = struct.unpack_from("<QQ", data, 8)
            return total, method, uncompressed, 32
    except struct.error as error:
        raise BadInput("compressed offload bundle cut short") from error
    raise BadInput(f"compressed offload bundle of unknown version {version}")


def _decompress(data: bytes) -> bytes:
    total, method, size, head = _compressed_header(data)
    if size > MAX_UNCOMPRESSED:
        raise BadInput(f"compressed offload bundle says it holds {size} bytes")
    body = data[head : total or None]
    if method == 0:
        try:
            return zlib.decompressobj().decompress(body, size)
        except zlib.error as error:
            raise BadInput(f"compressed offload bundle is damaged: {error}") from error
    if method == 1:
        return _zstd(body, size)
    raise BadInput(f"offload bundle compressed by unknown method {method}")


def _zstd(body: bytes, size: int) -> bytes:
    import zstandard  # only where needed: most bundles are not compressed

    try:
        return bytes(zstandard.ZstdDecompressor().decompressobj().decompress(body))[:size]
    except zstandard.ZstdError as error:
        raise BadInput(f"compressed offload bundle is damaged: {error}") from error
