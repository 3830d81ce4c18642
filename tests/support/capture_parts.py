"""Contents of memory as the extents of a capture, in files of its folder."""

from __future__ import annotations

from pathlib import Path

from rocm_perf_lab.replay.writer import CHUNK, write_private
from rocm_perf_lab.schema.capture import Extent


def store(folder: Path, name: str, base: int, data: bytes) -> list[Extent]:
    """Write the chunks of `data` that are not zeros to one new file; the extents that say where."""
    extents: list[Extent] = []
    kept = bytearray()
    for offset in range(0, len(data), CHUNK):
        part = data[offset : offset + CHUNK]
        if part.count(0) == len(part):
            extents.append(Extent(offset=base + offset, size=len(part), file=None))
        else:
            extents.append(Extent(offset=base + offset, size=len(part), file=name, at=len(kept)))
            kept += part
    if kept:
        (folder / name).parent.mkdir(mode=0o700, exist_ok=True)
        write_private(folder / name, bytes(kept))
    return extents


def changes(folder: Path, name: str, before: bytes, after: bytes) -> list[Extent]:
    """The write set between two contents of the same length, stored in one new file."""
    extents: list[Extent] = []
    kept = bytearray()
    at = 0
    while at < len(before):
        if before[at] == after[at]:
            at += 1
            continue
        end = at
        while end < len(before) and before[end] != after[end]:
            end += 1
        extents.append(Extent(offset=at, size=end - at, file=name, at=len(kept)))
        kept += after[at:end]
        at = end
    if kept:
        (folder / name).parent.mkdir(mode=0o700, exist_ok=True)
        write_private(folder / name, bytes(kept))
    return extents
