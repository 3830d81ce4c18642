"""A capture is read only if it is whole, unchanged and stays inside its folder."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.replay import format as capture_format
from rocm_perf_lab.replay.format import open_capture
from support.captures import AFTER, BASE, BEFORE, read_range, write_capture


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_capture(tmp_path / "capture")


def edit(folder: Path, name: str, change: Callable[[Any], None]) -> None:
    """Change a JSON file and give the manifest its new hash, as a careful forger would."""
    document = json.loads((folder / name).read_text())
    change(document)
    (folder / name).write_text(json.dumps(document))
    if name != "manifest.json":
        rehash(folder, name)


def rehash(folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    digest = hashlib.sha256(data).hexdigest()

    def change(manifest: Any) -> None:
        manifest["files"][name] = {"bytes": len(data), "sha256": digest}

    edit(folder, "manifest.json", change)


def test_what_was_written_is_read_back(folder: Path) -> None:
    with open_capture(folder) as capture:
        assert capture.manifest.complete
        (region,) = capture.regions
        assert read_range(capture, region.before, 0, region.size) == BEFORE
        after = bytearray(BEFORE)
        for extent in region.after:
            after[extent.offset : extent.offset + extent.size] = capture.read_extent(extent)
        assert bytes(after) == AFTER
        assert capture.kernel_hsaco() == b"code"
        assert capture.kernarg == BASE.to_bytes(8, "little")
        totals = capture.manifest.totals
        assert totals.region_bytes == len(BEFORE)
        assert totals.zero_bytes == 128 << 10


def test_files_are_for_their_owner_only(folder: Path) -> None:
    assert {p.stat().st_mode & 0o777 for p in folder.rglob("*") if p.is_file()} == {0o600}


def test_a_compressed_extent_is_read(folder: Path) -> None:
    data = b"abc" * 1000
    packed = zstandard.ZstdCompressor().compress(data)
    name = f"memory_after/region_{BASE:x}.bin"
    (folder / name).write_bytes(packed)
    rehash(folder, name)
    extent = {"offset": 5, "size": len(data), "file": name, "stored": len(packed)}
    edit(
        folder,
        "memory_regions.json",
        lambda d: d["regions"][0].update(after=[{**extent, "encoding": "zstd"}]),
    )
    with open_capture(folder) as capture:
        (extent_read,) = capture.regions[0].after
        assert capture.read_extent(extent_read) == data
        assert read_range(capture, [extent_read], 5, 6) == b"abcabc"


@pytest.mark.parametrize("claimed", [100, 4000])
def test_a_compressed_extent_of_another_size_is_refused(folder: Path, claimed: int) -> None:
    packed = zstandard.ZstdCompressor().compress(bytes(3000))
    name = f"memory_after/region_{BASE:x}.bin"
    (folder / name).write_bytes(packed)
    rehash(folder, name)
    extent = {"offset": 0, "size": claimed, "file": name, "stored": len(packed)}
    edit(
        folder,
        "memory_regions.json",
        lambda d: d["regions"][0].update(after=[{**extent, "encoding": "zstd"}]),
    )
    with open_capture(folder) as capture, pytest.raises(BadInput, match="bytes of data"):
        capture.read_extent(capture.regions[0].after[0])


def test_the_newest_capture_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    with pytest.raises(BadInput, match="there is no capture"):
        capture_format.newest_capture()
    root = Path(capture_format.ROOT)
    root.mkdir()
    shutil.move(folder, root / "one")
    (root / "latest").symlink_to("one")
    with open_capture(capture_format.newest_capture()) as capture:
        assert capture.manifest.kernel == "k(float*)"
    with open_capture(root) as capture:
        assert capture.manifest.complete


def test_a_folder_without_a_manifest_is_no_capture(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    with pytest.raises(BadInput, match="not a capture"):
        open_capture(folder)


@pytest.mark.parametrize("change", ["cut", "longer", "edited", "missing", "link", "folder_link"])
def test_a_damaged_file_is_refused(folder: Path, tmp_path: Path, change: str) -> None:
    path = folder / f"memory/region_{BASE:x}.bin"
    data = path.read_bytes()
    if change == "cut":
        path.write_bytes(data[:-1])
    elif change == "longer":
        path.write_bytes(data + b"x")
    elif change == "edited":
        path.write_bytes(b"x" + data[1:])
    elif change == "missing":
        path.unlink()
    elif change == "link":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    else:
        path.parent.rename(tmp_path / "elsewhere")
        path.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput):
        open_capture(folder)


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "memory/../../secret", "a/b/c", ".x"])
def test_a_name_outside_the_folder_is_refused(folder: Path, name: str) -> None:
    edit(folder, "manifest.json", lambda d: d["files"].update({name: d["files"]["kernarg.bin"]}))
    with pytest.raises(BadInput):
        open_capture(folder)


def test_a_pipe_in_place_of_a_file_does_not_hang(folder: Path) -> None:
    (folder / "kernarg.bin").unlink()
    os.mkfifo(folder / "kernarg.bin")
    with pytest.raises(BadInput, match="not a plain file"):
        open_capture(folder)


REGION_EDITS: dict[str, Callable[[Any], None]] = {
    "gap": lambda r: r["before"].pop(0),
    "overlap": lambda r: r["before"].append(r["before"][0]),
    "past the region": lambda r: r["after"][-1].update(size=10**6),
    "past the file": lambda r: r["before"][0].update(at=10**6),
    "unlisted file": lambda r: r["before"][0].update(file="memory/other.bin"),
    "negative": lambda r: r.update(base=-1),
    "huge": lambda r: r.update(size=1 << 60),
    "wraps": lambda r: r.update(base=(1 << 57) - 1, size=1 << 56),
    "kind": lambda r: r.update(kind="magic"),
    "raw with another size": lambda r: r["before"][0].update(stored=3),
}


@pytest.mark.parametrize("name", REGION_EDITS)
def test_a_region_that_cannot_be_is_refused(folder: Path, name: str) -> None:
    edit(folder, "memory_regions.json", lambda d: REGION_EDITS[name](d["regions"][0]))
    with pytest.raises(BadInput):
        open_capture(folder)


def test_overlapping_regions_are_refused(folder: Path) -> None:
    edit(folder, "memory_regions.json", lambda d: d["regions"].append(d["regions"][0]))
    with pytest.raises(BadInput, match="overlaps"):
        open_capture(folder)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32))
def test_a_fuzzed_capture_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    rng = random.Random(seed)
    folder = write_capture(tmp_path_factory.mktemp("fuzz") / "capture")
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    name = rng.choice([n for n in names if n.endswith(".json")] * 3 + names)
    data = bytearray((folder / name).read_bytes())
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(data))
        match rng.randrange(4):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                del data[at : at + rng.randint(1, 40)]
            case 2:
                data[at:at] = bytes(rng.choices(b'0123456789"{}[],:-.e/ntf', k=rng.randint(1, 9)))
            case _:
                data[at:at] = data[rng.randrange(len(data)) :][: rng.randint(1, 60)]
        if not data:
            break
    (folder / name).write_bytes(bytes(data))
    if name != "manifest.json":
        rehash(folder, name)
    try:
        with open_capture(folder) as capture:
            for region in capture.regions:
                for extent in [*region.before, *region.after]:
                    capture.read_extent(extent)
    except BadInput:
        pass
    finally:
        shutil.rmtree(folder)
