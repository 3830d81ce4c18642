"""Captures as files: find one, check it whole, read it.

A capture is a folder somebody else may have made. Nothing in it is believed before it is checked:
every file is named in the manifest with its size and hash, is a plain file inside the folder, and
is opened without following links. docs/capture.md tells the format.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import zstandard
from pydantic import BaseModel, ValidationError

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.replay.done import Done
from rocm_perf_lab.replay.plain_files import PlainFiles, hash_descriptor
from rocm_perf_lab.schema.capture import (
    CaptureDocument,
    CodeObjects,
    Dispatch,
    Extent,
    LoadedCodeObject,
    MemoryRegions,
    Region,
    Segment,
)

ROOT = ".rocpd_capture"
LATEST = "latest"
MANIFEST = "manifest.json"
DISPATCH = "dispatch.json"
REGIONS = "memory_regions.json"
CODE_OBJECTS = "code_objects.json"
KERNARG = "kernarg.bin"
KERNEL = "kernel.hsaco"
REQUIRED = (DISPATCH, REGIONS, CODE_OBJECTS, KERNARG, KERNEL)

MAX_JSON_BYTES = 256 << 20
MAX_CODE_OBJECT_BYTES = 4 << 30
LIMITS = {KERNARG: 1 << 20, KERNEL: MAX_CODE_OBJECT_BYTES}  # of files read whole
MAX_FILES = 1_000_000
MAX_MEMORY_BYTES = 1 << 44  # of all regions: more than any machine has
MAX_COMPRESSED_EXTENT = 64 << 20  # decoded; a larger one could be made to eat all memory
PIECE = 4 << 20

T = TypeVar("T", bound=BaseModel)


def newest_capture() -> Path:
    """The capture that the last `rocm-perf capture` here made."""
    found = Path(ROOT, LATEST)
    if not (found / MANIFEST).is_file():
        raise BadInput(
            f"there is no capture under {ROOT}",
            hint="make one with `rocm-perf capture`, or name a capture's folder",
        )
    return found


def find_capture(path: Path | None) -> Path:
    """What a user named: a capture, a folder whose newest capture is meant, or nothing."""
    if path is None:
        return newest_capture()
    if not path.is_dir():
        raise BadInput(
            f"{path}: no such capture" if not path.exists() else f"{path} is not a capture's folder"
        )
    if not (path / MANIFEST).exists() and (path / LATEST / MANIFEST).is_file():
        return path / LATEST
    return path


@dataclass(frozen=True)
class Capture:
    """An open capture whose files are all there, of the right size and (if verified) content."""

    folder: Path
    manifest: CaptureDocument
    dispatch: Dispatch
    memory: MemoryRegions
    code_objects: tuple[LoadedCodeObject, ...]
    kernarg: bytes
    files: PlainFiles = field(repr=False)

    @property
    def regions(self) -> list[Region]:
        return self.memory.regions

    @property
    def kernel_code_object(self) -> LoadedCodeObject:
        return self.code_objects[self.dispatch.code_object]

    def kernel_hsaco(self) -> bytes:
        return _whole(self.files, KERNEL)

    def code_object(self, index: int) -> bytes:
        return _whole(self.files, self.code_objects[index].file)

    def read_extent(self, extent: Extent) -> bytes:
        data = bytearray(extent.size)
        self.read_extent_into(extent, memoryview(data))
        return bytes(data)

    def read_extent_into(self, extent: Extent, target: memoryview) -> None:
        """Fill `target`, as long as the extent, with its bytes."""
        if extent.file is None:
            for at in range(0, extent.size, PIECE):
                step = min(PIECE, extent.size - at)
                target[at : at + step] = bytes(step)
        elif extent.encoding == "zstd":
            packed = bytearray(extent.stored or 0)
            self._read_into(extent.file, extent.at, memoryview(packed))
            target[:] = _decompress(bytes(packed), extent)
        else:
            self._read_into(extent.file, extent.at, target)

    def _read_into(self, name: str, at: int, target: memoryview) -> None:
        done = 0
        while done < len(target):
            got = os.preadv(self.files.descriptor(name), [target[done:]], at + done)
            if got == 0:
                raise BadInput(f"{self.folder / name} was cut short while it was read")
            done += got

    def close(self) -> None:
        self.files.close()

    def __enter__(self) -> Capture:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_capture(
    path: Path, *, verify: bool = True, tell: Callable[[str], None] = lambda _: None
) -> Capture:
    """Open and check. `verify` also hashes every file; without it only names and sizes hold."""
    folder = find_capture(path)
    files = PlainFiles(folder)
    try:
        manifest = _manifest(files)
        _check_files(files, manifest, verify, tell)
        capture = _read_parts(files, manifest)
        _check(capture)
        return capture
    except BaseException:
        files.close()
        raise


def _whole(files: PlainFiles, name: str) -> bytes:
    json = name.endswith(".json")
    return files.whole(name, MAX_JSON_BYTES if json else LIMITS.get(name, MAX_CODE_OBJECT_BYTES))


def _manifest(files: PlainFiles) -> CaptureDocument:
    try:
        data = _whole(files, MANIFEST)
    except BadInput as error:
        raise BadInput(
            f"{files.path} is not a capture: {error.message}",
            hint="a capture that was interrupted has no manifest.json; make it again",
        ) from None
    manifest = _parse(CaptureDocument, data, MANIFEST)
    missing = [name for name in REQUIRED if name not in manifest.files]
    if missing:
        raise BadInput(f"{files.path / MANIFEST} does not list {', '.join(missing)}")
    if len(manifest.files) > MAX_FILES:
        raise BadInput(f"{files.path / MANIFEST} lists {len(manifest.files)} files")
    return manifest


def _check_files(
    files: PlainFiles, manifest: CaptureDocument, verify: bool, tell: Callable[[str], None]
) -> None:
    total = sum(stored.bytes for stored in manifest.files.values())
    done = Done("checking", total if verify else 0, tell)

    def check(name: str) -> int:
        stored, path = manifest.files[name], files.path / name
        descriptor = files.open(name)
        try:
            size = os.fstat(descriptor).st_size
            if size != stored.bytes:
                raise BadInput(f"{path} has {size} bytes where {stored.bytes} were captured")
            if verify and hash_descriptor(descriptor) != stored.sha256:
                raise BadInput(
                    f"{path} is not what was captured: its hash differs",
                    hint="the capture was edited or damaged",
                )
        finally:
            os.close(descriptor)
        return size

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for size in pool.map(check, manifest.files):
            done.add(size)


def _read_parts(files: PlainFiles, manifest: CaptureDocument) -> Capture:
    return Capture(
        folder=files.path,
        manifest=manifest,
        dispatch=_parse(Dispatch, _whole(files, DISPATCH), DISPATCH),
        memory=_parse(MemoryRegions, _whole(files, REGIONS), REGIONS),
        code_objects=tuple(
            _parse(CodeObjects, _whole(files, CODE_OBJECTS), CODE_OBJECTS).code_objects
        ),
        kernarg=_whole(files, KERNARG),
        files=files,
    )


def _parse(model: type[T], data: bytes, name: str) -> T:
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"{name} is not what it must be: {where or 'it'}: {first['msg']}") from None


def _check(capture: Capture) -> None:
    """What one file says of another, and what no schema can say."""
    manifest, dispatch = capture.manifest, capture.dispatch
    if manifest.complete and manifest.reasons:
        raise BadInput(f"{MANIFEST} says the capture is complete and gives reasons why it is not")
    if len(capture.kernarg) != dispatch.kernarg_size:
        raise BadInput(
            f"{KERNARG} has {len(capture.kernarg)} bytes where {DISPATCH} says "
            f"{dispatch.kernarg_size}"
        )
    if [c.index for c in capture.code_objects] != list(range(len(capture.code_objects))):
        raise BadInput(f"{CODE_OBJECTS}: the code objects are not numbered from 0")
    if dispatch.code_object >= len(capture.code_objects):
        raise BadInput(f"{DISPATCH} names code object {dispatch.code_object}, which is not there")
    if any(not 1 <= n <= 1024 for n in dispatch.workgroup) or 0 in dispatch.grid:
        raise BadInput(f"{DISPATCH}: the workgroup or the grid has an impossible size")
    for argument in dispatch.arguments:
        if argument.value_hex is not None and not _is_hex(argument.value_hex, argument.size):
            raise BadInput(f"{DISPATCH}: argument {argument.name!r} has an impossible value")
    if sum(region.size for region in capture.regions) > MAX_MEMORY_BYTES:
        raise BadInput(f"{REGIONS} names more memory than any machine has")
    end = 0
    for region in capture.regions:
        if region.base < end:
            raise BadInput(f"{REGIONS}: the region at {region.base:#x} overlaps the one before it")
        end = region.base + region.size
        _check_extents(manifest, region, f"{REGIONS}: the region at {region.base:#x}")
    for code in capture.code_objects:
        if code.file not in manifest.files:
            raise BadInput(f"{CODE_OBJECTS} names {code.file}, which the manifest does not list")
        for part in code.segments:
            where = f"{CODE_OBJECTS}: the segment at {part.address:#x}"
            if not code.load_base <= part.address <= code.load_base + code.load_size - part.size:
                raise BadInput(f"{where} is outside its code object")
            _check_extents(manifest, part, where)


def _is_hex(text: str, size: int) -> bool:
    try:
        return len(bytes.fromhex(text)) == size
    except ValueError:
        return False


def _check_extents(manifest: CaptureDocument, part: Region | Segment, where: str) -> None:
    covered = _check_order(manifest, part.before, part.size, f"{where}, before")
    if covered != part.size:
        raise BadInput(f"{where}: {part.size - covered} of its bytes are missing")
    _check_order(manifest, part.after, part.size, f"{where}, after")


def _check_order(
    manifest: CaptureDocument, extents: Iterable[Extent], limit: int, where: str
) -> int:
    """The bytes covered; extents are in order, inside the region, and inside their files."""
    end = covered = 0
    for extent in extents:
        if extent.offset < end or extent.offset + extent.size > limit:
            raise BadInput(f"{where}: the extent at {extent.offset:#x} is out of place")
        end = extent.offset + extent.size
        covered += extent.size
        if extent.file is None:
            continue
        file = manifest.files.get(extent.file)
        if file is None:
            raise BadInput(f"{where}: {extent.file} is not in the manifest")
        stored = extent.stored if extent.stored is not None else extent.size
        if extent.at + stored > file.bytes:
            raise BadInput(f"{where}: {extent.file} ends before the extent at {extent.offset:#x}")
        if extent.encoding == "raw":
            if stored != extent.size:
                raise BadInput(f"{where}: a raw extent of {extent.size} bytes stores {stored}")
        elif extent.stored is None or extent.size > MAX_COMPRESSED_EXTENT:
            raise BadInput(f"{where}: the compressed extent at {extent.offset:#x} is not usable")
    return covered


def _decompress(packed: bytes, extent: Extent) -> bytes:
    try:
        # The size in the frame's own header is not trusted: never more than the extent says.
        reader = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=False)
        data = reader.read(extent.size)
        longer = reader.read(1)
    except zstandard.ZstdError as error:
        raise BadInput(f"{extent.file} at {extent.at:#x} is not zstd data: {error}") from None
    if len(data) != extent.size or longer:
        raise BadInput(f"{extent.file} at {extent.at:#x} is not {extent.size} bytes of data")
    return data
