"""A run's proof in one file: sources, code objects, captured state, ledger. A zip archive that
may come from anywhere, so nothing in it is believed before it is checked."""

from __future__ import annotations

import contextlib
import re
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from rocm_perf_lab import scratch
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize.claims import capture_of, launch_folders
from rocm_perf_lab.optimize.story import Story
from rocm_perf_lab.optimize.workspace import LEDGER
from rocm_perf_lab.replay.format import MANIFEST, open_capture

MAGIC = b"PK\x03\x04"
MAX_FILES = 100_000
MAX_BYTES = 256 << 30
MAX_RATIO, FREE_RATIO_BYTES = 200, 64 << 20  # captured zeros are not stored, so little shrinks more
_LARGEST = ((LEDGER, 1 << 30), ("sources/", 16 << 20), ("claims/", 1 << 30))
_LOCAL = struct.Struct("<26xHH")  # a member's own header: how long its name and its extras are
_DAMAGED = (
    zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error,
    struct.error,
)  # fmt: skip
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same content, the same file
# What a bundle holds, and nothing else: no name leads out of the folder it is unpacked into.
_NAME = re.compile(
    r"ledger\.jsonl|sources/[0-9a-f]{64}|claims/\d{1,4}/(before|after)\.hsaco"
    r"|(capture-\d{1,4}|launches/\d{1,4}/\d{2})/[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,100})?"
)


def is_bundle(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == MAGIC
    except OSError:
        return False


def members(run: Path, story: Story) -> set[str]:
    """Everything the ledger and its captures name: what a bundle holds, and nothing else."""
    names = {LEDGER, *(f"sources/{name}" for name in story.sources)}
    for claim in story.end.claims:
        for capture in (capture_of(run, claim.number), *launch_folders(run, claim)):
            within = capture.relative_to(run).as_posix()
            with open_capture(capture, verify=False) as opened:
                names |= {f"{within}/{file}" for file in (MANIFEST, *opened.manifest.files)}
        names |= {f"claims/{claim.number}/{side}.hsaco" for side in ("before", "after")}
    return names


def write_bundle(run: Path, story: Story, target: Path) -> None:
    """Whole or not at all; readable by its owner only, as the captured data is."""
    names = members(run, story)
    try:
        with (
            scratch.replacing(target.absolute()) as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        ):
            for name in sorted(names):
                info = zipfile.ZipInfo(name, _EPOCH)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = 0o600 << 16
                with (
                    (run / name).open("rb") as source,
                    archive.open(info, "w", force_zip64=True) as entry,
                ):
                    shutil.copyfileobj(source, entry, 1 << 20)
    except OSError as error:
        raise BadInput(f"cannot write {target}: {error.strerror}") from None


@contextlib.contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The bundle as a folder, gone afterwards. BadInput for whatever is not a bundle."""
    with scratch.folder("rocm-perf-bundle-") as folder:
        _unpack(path, folder)
        yield folder


def _unpack(path: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            _check(path, archive)
            for entry in archive.infolist():
                target = folder / entry.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                _extract(archive, entry, target)
    except _DAMAGED as error:
        raise BadInput(f"{path} is not a bundle: {error}"[:300]) from None
    except OSError as error:
        raise BadInput(f"{path} cannot be unpacked: {error.strerror or error}") from None


def _check(path: Path, archive: zipfile.ZipFile) -> None:
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    odd = next((name for name in names if not _NAME.fullmatch(name)), None)
    if odd is not None:
        raise BadInput(f"{path} holds {odd[:80]!r}, which no bundle does")
    if len(set(names)) != len(names) or len(names) > MAX_FILES:
        raise BadInput(f"{path} holds too many files, or one name twice")
    if LEDGER not in names:
        raise BadInput(f"{path} holds no ledger")
    for entry in entries:
        kind = entry.external_attr >> 16 & 0o170000
        if kind not in (0, stat.S_IFREG):
            raise BadInput(f"{path}: {entry.filename} is not a plain file")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BadInput(f"{path}: {entry.filename} is packed in a way no bundle is")
        limit = next((n for begin, n in _LARGEST if entry.filename.startswith(begin)), MAX_BYTES)
        if entry.file_size > limit:
            raise BadInput(f"{path}: {entry.filename} would be {entry.file_size} bytes")
    total = sum(entry.file_size for entry in entries)
    if total > FREE_RATIO_BYTES + MAX_RATIO * path.stat().st_size:
        raise BadInput(f"{path} would unpack to {total} bytes, over {MAX_RATIO} times its size")
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if total > min(MAX_BYTES, free):
        raise BadInput(f"{path} would unpack to {total} bytes, and {free} are free")
    _check_gaps(path, archive)


def _check_gaps(path: Path, archive: zipfile.ZipFile) -> None:
    """Nothing lies between the files: what the list does not name is not there."""
    at = 0
    with path.open("rb") as file:
        for entry in sorted(archive.infolist(), key=lambda e: e.header_offset):
            file.seek(entry.header_offset)
            head = file.read(_LOCAL.size)
            if entry.header_offset != at or len(head) < _LOCAL.size:
                raise BadInput(f"{path} holds bytes that its list does not name")
            name, extra = _LOCAL.unpack(head)
            at += _LOCAL.size + name + extra + entry.compress_size
    if archive.start_dir != at or archive.comment:
        raise BadInput(f"{path} holds bytes that its list does not name")


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> None:
    """Never more than the archive announced, whatever its data expand to."""
    left = entry.file_size
    with archive.open(entry) as source, target.open("xb") as file:
        while piece := source.read(min(1 << 20, left + 1)):
            left -= len(piece)
            if left < 0:
                raise BadInput(f"{entry.filename} is larger than the bundle says")
            file.write(piece)
