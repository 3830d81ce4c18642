"""Write a capture: the last steps, which make a folder of files a capture."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import zstandard

from rocm_perf_lab.replay.format import (
    CODE_OBJECTS,
    DISPATCH,
    KERNARG,
    KERNEL,
    MANIFEST,
    REGIONS,
)
from rocm_perf_lab.replay.plain_files import hash_descriptor
from rocm_perf_lab.schema.capture import (
    CaptureDocument,
    CodeObjects,
    Dispatch,
    Extent,
    LoadedCodeObject,
    MemoryRegions,
    Region,
    Segment,
    StoredFile,
    Totals,
)
from rocm_perf_lab.schema.common import Provenance, to_json

CHUNK = 64 << 10


def private_file(path: Path) -> int:
    """A new file that only its owner may read: captures hold a user's data."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def write_private(path: Path, data: bytes) -> None:
    with os.fdopen(private_file(path), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def compress(folder: Path, regions: Sequence[Region]) -> list[Region]:
    """Store the chunks of what was there before with zstd, each a frame that stands alone.

    Extents begin at whole chunks of their file, so that several may refer to one frame.
    """
    packer = zstandard.ZstdCompressor(level=3)
    frames: dict[tuple[str, int], tuple[int, int, int]] = {}  # chunk -> at, stored, its size
    for name in sorted({e.file for region in regions for e in region.before if e.file}):
        packed = folder / f"{name}.zst"
        with (folder / name).open("rb") as source, os.fdopen(private_file(packed), "wb") as target:
            at = end = 0
            while data := source.read(CHUNK):
                frame = packer.compress(data)
                frames[name, at] = (end, len(frame), len(data))
                target.write(frame)
                at, end = at + len(data), end + len(frame)
        packed.replace(folder / name)
    return [
        region.model_copy(update={"before": [p for e in region.before for p in _frames(e, frames)]})
        for region in regions
    ]


def _frames(extent: Extent, frames: dict[tuple[str, int], tuple[int, int, int]]) -> list[Extent]:
    if extent.file is None:
        return [extent]
    pieces = []
    for inside in range(0, extent.size, CHUNK):
        at, stored, size = frames[extent.file, extent.at + inside]
        pieces.append(
            Extent(
                offset=extent.offset + inside,
                size=size,
                file=extent.file,
                at=at,
                stored=stored,
                encoding="zstd",
            )
        )
    return pieces


def write_parts(
    folder: Path,
    dispatch: Dispatch,
    memory: MemoryRegions,
    code_objects: Sequence[LoadedCodeObject],
    kernarg: bytes | None = None,
    kernel: bytes | None = None,
) -> None:
    """Everything but the manifest and the memory, which is there already.

    So may be the arguments and the kernel's code object.
    """
    write_private(folder / DISPATCH, to_json(dispatch).encode())
    write_private(folder / REGIONS, memory.model_dump_json().encode())
    loaded = CodeObjects(code_objects=list(code_objects))
    write_private(folder / CODE_OBJECTS, to_json(loaded).encode())
    for name, data in ((KERNARG, kernarg), (KERNEL, kernel)):
        if data is not None:
            write_private(folder / name, data)


def seal(
    folder: Path,
    *,
    provenance: Provenance,
    dispatch: Dispatch,
    memory: MemoryRegions,
    code_objects: Sequence[LoadedCodeObject],
    reasons: Sequence[str] = (),
    notes: Sequence[str] = (),
    hashed: Mapping[str, StoredFile] | None = None,
) -> CaptureDocument:
    """Hash what is in the folder and write the manifest: from now on it is a capture."""
    files = stored_files(folder, hashed or {})
    manifest = CaptureDocument(
        provenance=provenance,
        complete=not reasons,
        reasons=list(reasons),
        notes=list(notes),
        device=provenance.device,
        isa=dispatch.isa,
        kernel=dispatch.kernel.demangled,
        files=files,
        totals=totals(memory.regions, code_objects, files),
    )
    write_private(folder / MANIFEST, to_json(manifest).encode())
    return manifest


def stored_files(folder: Path, hashed: Mapping[str, StoredFile]) -> dict[str, StoredFile]:
    """Every file in the folder with its hash; those in `hashed` are not read again."""
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())

    def stored(name: str) -> StoredFile:
        descriptor = os.open(folder / name, os.O_RDONLY | os.O_CLOEXEC)
        try:
            size = os.fstat(descriptor).st_size
            known = hashed.get(name)
            if known is not None and known.bytes == size:
                return known
            return StoredFile(bytes=size, sha256=hash_descriptor(descriptor))
        finally:
            os.close(descriptor)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return dict(zip(names, pool.map(stored, names), strict=True))


def totals(
    regions: Sequence[Region],
    code_objects: Sequence[LoadedCodeObject],
    files: dict[str, StoredFile],
) -> Totals:
    before = [extent for region in regions for extent in region.before]
    seen: set[tuple[str, int]] = set()
    duplicates = 0
    for extent in before:
        if extent.file is None:
            continue
        where = (extent.file, extent.at)
        duplicates += extent.size if where in seen else 0
        seen.add(where)
    parts: list[Region | Segment] = [*regions]
    parts += [segment for code in code_objects for segment in code.segments]
    changed = [extent.size for part in parts for extent in part.after]
    return Totals(
        regions=len(regions),
        region_bytes=sum(region.size for region in regions),
        stored_bytes=sum(stored.bytes for stored in files.values()),
        zero_bytes=sum(extent.size for extent in before if extent.file is None),
        duplicate_bytes=duplicates,
        changed_bytes=sum(changed),
    )
