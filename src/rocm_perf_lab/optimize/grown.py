"""A capture whose buffers are four times as large, as a program would give a larger problem.

Sizes beyond the captured ones would lead the original out of its memory. So the memory that the
arguments point to is described once more elsewhere, its contents four times over, and the arguments
point there. Nothing is copied: the new description names the same stored bytes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from rocm_perf_lab.optimize.launches import words
from rocm_perf_lab.replay import writer
from rocm_perf_lab.replay.format import (
    CODE_OBJECTS,
    DISPATCH,
    KERNARG,
    MANIFEST,
    REGIONS,
    Capture,
)
from rocm_perf_lab.schema.capture import Dispatch, Extent, MemoryRegions, Region

TIMES = 4
MOST_BYTES = 256 << 20  # of the memory that grows
APART = 1 << 30  # from the captured memory, and from one another
_ALIGNED = 2 << 20
_WRITTEN = (MANIFEST, DISPATCH, REGIONS, CODE_OBJECTS, KERNARG)


def grow(capture: Capture, folder: Path) -> str | None:
    """Write it to a new folder; else why there is nothing to grow, or too much."""
    pointers = list(_pointers(capture))
    if not pointers:
        return "no argument points to memory"
    # What is parted from a larger allocation would grow into its neighbour: each pointer has one of
    # its own, where that is not too much.
    moved = {word: region for _, word, region in pointers}
    if sum(region.size for region in moved.values()) > MOST_BYTES:
        moved = {region.base: region for region in moved.values()}
    total = sum(region.size for region in moved.values())
    if total > MOST_BYTES:
        return f"its arguments point to {total >> 20} MiB, more than {MOST_BYTES >> 20}"
    at = max(region.base + region.size for region in capture.regions)
    places: dict[int, int] = {}
    larger: list[Region] = []
    for key, region in sorted(moved.items()):
        at = -(-(at + APART) // _ALIGNED) * _ALIGNED
        places[key] = at
        size = TIMES * region.size
        often = [
            _later(extent, again * region.size)
            for again in range(TIMES)
            for extent in region.before
        ]
        larger.append(
            region.model_copy(update={"base": at, "size": size, "before": often, "after": []})
        )
        at += size
    kernarg = bytearray(capture.kernarg)
    for offset, word, region in pointers:
        new = word - region.base + places.get(word, places.get(region.base, 0))
        kernarg[offset : offset + 8] = new.to_bytes(8, "little")
    _write(capture, folder, larger, bytes(kernarg))
    return None


def _pointers(capture: Capture) -> list[tuple[int, int, Region]]:
    """Offsets of arguments that point to memory, also inside structures passed by value, where they
    point and that memory. A word that is by chance an address in it is not to be expected."""
    found = []
    memory = [r for r in capture.regions if "kernarg" not in r.flags]
    for argument in capture.dispatch.arguments:
        if argument.kind not in ("global_buffer", "by_value"):
            continue
        for offset in words(argument.offset, argument.size):
            word = int.from_bytes(capture.kernarg[offset : offset + 8], "little")
            region = next((r for r in memory if r.base <= word < r.base + r.size), None)
            if region is not None:
                found.append((offset, word, region))
    return found


def _later(extent: Extent, by: int) -> Extent:
    return extent.model_copy(update={"offset": extent.offset + by})


def _write(capture: Capture, folder: Path, larger: Sequence[Region], kernarg: bytes) -> None:
    folder.mkdir(mode=0o700)
    for name in capture.manifest.files:
        if name not in _WRITTEN:
            (folder / name).parent.mkdir(mode=0o700, exist_ok=True)
            try:
                os.link(capture.folder / name, folder / name, follow_symlinks=False)
            except OSError:  # not every file system has links
                shutil.copyfile(capture.folder / name, folder / name, follow_symlinks=False)
    regions = [r.model_copy(update={"after": []}) for r in capture.regions]
    memory = MemoryRegions(
        regions=sorted([*regions, *larger], key=lambda region: region.base),
        code_pointers=capture.memory.code_pointers,
        code_pointer_count=capture.memory.code_pointer_count,
    )
    dispatch = _with_values(capture.dispatch, kernarg)
    writer.write_parts(folder, dispatch, memory, capture.code_objects, kernarg)
    writer.seal(
        folder,
        provenance=capture.manifest.provenance,
        dispatch=dispatch,
        memory=memory,
        code_objects=capture.code_objects,
        hashed=capture.manifest.files,
    )


def _with_values(dispatch: Dispatch, kernarg: bytes) -> Dispatch:
    arguments = [
        a
        if a.value_hex is None
        else a.model_copy(update={"value_hex": kernarg[a.offset : a.offset + a.size].hex()})
        for a in dispatch.arguments
    ]
    return dispatch.model_copy(update={"arguments": arguments})
