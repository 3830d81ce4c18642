"""A run's proof in one file: sources, code objects, captured state, ledger. A zip archive that
may come from anywhere, so nothing in it is believed before it is checked."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from rocm_perf_lab import scratch
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize.claims import Claim, capture_of, folder_of
from rocm_perf_lab.optimize.workspace import LEDGER

MAGIC = b"PK\x03\x04"
MAX_FILES = 100_000
MAX_BYTES = 256 << 30
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same content, the same file
# What a bundle holds, and nothing else: no name leads out of the folder it is unpacked into.
_NAME = re.compile(
    r"ledger\.jsonl|sources/[0-9a-f]{64}|claims/\d{1,4}/(before|after)\.hsaco"
    r"|capture-\d{1,4}/[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,100})?"
)


def is_bundle(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == MAGIC
    except OSError:
        return False


def write_bundle(run: Path, claims: Sequence[Claim], sources: Sequence[str], target: Path) -> None:
    """Whole or not at all; readable by its owner only, as the captured data is."""
    names = [LEDGER, *(f"sources/{name}" for name in sources)]
    for claim in claims:
        for folder in (folder_of(run, claim.number), capture_of(run, claim.number)):
            files = (p for p in sorted(folder.rglob("*")) if p.is_file())
            names += [p.relative_to(run).as_posix() for p in files]
    try:
        with (
            scratch.replacing(target.absolute()) as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        ):
            for name in sorted(set(names)):
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
            entries = archive.infolist()
            _check(path, entries)
            for entry in entries:
                target = folder / entry.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                _extract(archive, entry, target)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise BadInput(f"{path} is not a bundle: {error}"[:300]) from None
    except OSError as error:
        raise BadInput(f"{path} cannot be unpacked: {error.strerror or error}") from None


def _check(path: Path, entries: Sequence[zipfile.ZipInfo]) -> None:
    names = [entry.filename for entry in entries]
    odd = next((name for name in names if not _NAME.fullmatch(name)), None)
    if odd is not None:
        raise BadInput(f"{path} holds {odd[:80]!r}, which no bundle does")
    if len(set(names)) != len(names) or len(names) > MAX_FILES:
        raise BadInput(f"{path} holds too many files, or one name twice")
    if LEDGER not in names:
        raise BadInput(f"{path} holds no ledger")
    total = sum(entry.file_size for entry in entries)
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if total > min(MAX_BYTES, free):
        raise BadInput(f"{path} would unpack to {total} bytes, and {free} are free")


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> None:
    """Never more than the archive announced, whatever its data expand to."""
    left = entry.file_size
    with archive.open(entry) as source, target.open("xb") as file:
        while piece := source.read(min(1 << 20, left + 1)):
            left -= len(piece)
            if left < 0:
                raise BadInput(f"{entry.filename} is larger than the bundle says")
            file.write(piece)
