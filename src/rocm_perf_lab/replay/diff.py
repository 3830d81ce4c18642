"""Two captures against each other: what was launched, with what, on what memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np

from rocm_perf_lab.replay import arguments as argument_table
from rocm_perf_lab.replay.compare import BYTES, element_type, plain, values
from rocm_perf_lab.replay.format import Capture, open_capture
from rocm_perf_lab.replay.info import show_value
from rocm_perf_lab.replay.run import provenance_of
from rocm_perf_lab.replay.sources import Source
from rocm_perf_lab.schema.capture import Region
from rocm_perf_lab.schema.replay import Change, MemoryChange, ReplayDiffDocument

PIECE = 32 << 20


def diff(first: Path, second: Path) -> ReplayDiffDocument:
    with open_capture(first) as a, open_capture(second) as b:
        dispatch = list(_dispatch(a, b))
        arguments = list(_arguments(a, b))
        pairs, lonely = _pairs(a, b)
        memory = [change for pair in pairs for change in _contents(a, b, *pair)]
        memory += _variables(a, b)
        return ReplayDiffDocument(
            provenance=provenance_of([a, b], None),
            captures=(str(a.folder), str(b.folder)),
            same=not (dispatch or arguments or lonely or memory),
            dispatch=dispatch,
            arguments=arguments,
            regions=lonely,
            memory=memory,
        )


def _dispatch(a: Capture, b: Capture) -> Iterator[Change]:
    fields = ("isa", "grid", "workgroup", "group_segment_size", "private_segment_size", "setup")
    left, right = a.dispatch, b.dispatch
    if left.kernel.symbol != right.kernel.symbol:
        yield Change(what="kernel", first=left.kernel.demangled, second=right.kernel.demangled)
    for name in fields:
        one, two = getattr(left, name), getattr(right, name)
        if one != two:
            yield Change(what=name, first=str(one), second=str(two))
    hashes = [c.manifest.files["kernel.hsaco"].sha256 for c in (a, b)]
    if hashes[0] != hashes[1]:
        yield Change(what="kernel.hsaco", first=hashes[0][:12], second=hashes[1][:12])


def _arguments(a: Capture, b: Capture) -> Iterator[Change]:
    left, right = argument_table.typed(a.dispatch), argument_table.typed(b.dispatch)
    if len(left) != len(right):
        yield Change(what="arguments", first=str(len(left)), second=str(len(right)))
    for number, ((one, kind), (two, other)) in enumerate(zip(left, right, strict=False)):
        if one.value_hex != two.value_hex:
            name = one.name or f"argument {number}"
            yield Change(what=name, first=show_value(one, kind), second=show_value(two, other))


def _pairs(a: Capture, b: Capture) -> tuple[list[tuple[Region, Region]], list[Change]]:
    """Regions that stand for each other: at one address, or behind the same argument."""
    there = {region.base: region for region in b.regions}
    pairs: dict[int, Region] = {}
    taken: set[int] = set()
    for region in a.regions:
        if region.base in there:
            pairs[region.base] = there[region.base]
            taken.add(region.base)
    ours, theirs = argument_table.pointers(a.dispatch), argument_table.pointers(b.dispatch)
    for (_, here, _), (_, address, _) in zip(ours, theirs, strict=False):
        one, two = _region(a, here), _region(b, address)
        if one and two and one.base not in pairs and two.base not in taken:
            pairs[one.base] = two
            taken.add(two.base)
    lonely: list[Change] = []
    found: list[tuple[Region, Region]] = []
    for region in a.regions:
        match = pairs.get(region.base)
        if match is None:
            lonely.append(
                Change(what=f"region {region.base:#x}", first=f"{region.size} bytes", second="none")
            )
            continue
        found.append((region, match))
        if region.size != match.size:
            lonely.append(
                Change(
                    what=f"region {region.base:#x}",
                    first=f"{region.size} bytes",
                    second=f"{match.size} bytes",
                )
            )
    lonely += [
        Change(what=f"region {region.base:#x}", first="none", second=f"{region.size} bytes")
        for region in b.regions
        if region.base not in taken
    ]
    return found, lonely


def _region(capture: Capture, address: int) -> Region | None:
    return next((r for r in capture.regions if r.base <= address < r.base + r.size), None)


def _contents(a: Capture, b: Capture, one: Region, two: Region) -> Iterator[MemoryChange]:
    left = Source(a, one.before, one.after, one.size)
    right = Source(b, two.before, two.after, two.size)
    inside = [
        p for p in argument_table.pointers(a.dispatch) if one.base <= p[1] < one.base + one.size
    ]
    yield from _compare(left, right, f"region {one.base:#x}", one.base, inside)


def _variables(a: Capture, b: Capture) -> list[MemoryChange]:
    """Module variables of the kernel's own code object, where both have the same layout."""
    one, two = a.kernel_code_object, b.kernel_code_object
    found: list[MemoryChange] = []
    for left in one.segments:
        right = next((s for s in two.segments if s.linked_address == left.linked_address), None)
        if right is None or right.size != left.size or one.load_base != two.load_base:
            continue
        found += _compare(
            Source(a, left.before, left.after, left.size),
            Source(b, right.before, right.after, right.size),
            f"module variables at {left.address:#x}",
            left.address,
            [],
        )
    return found


def _compare(
    left: Source,
    right: Source,
    where: str,
    base: int,
    pointers: list[tuple[str, int, str | None]],
) -> Iterator[MemoryChange]:
    size = min(left.size, right.size)
    moments: tuple[Literal["before", "after"], ...] = ("before", "after")
    for when in moments:
        count, first = 0, None
        for at in range(0, size, PIECE):
            step = min(PIECE, size - at)
            one, two = (getattr(side, when)(at, step) for side in (left, right))
            unequal = np.flatnonzero(one != two)
            if len(unequal) and first is None:
                first = at + int(unequal[0])
            count += len(unequal)
        if first is None:
            continue
        below = [p for p in pointers if p[1] <= base + first]
        name, address, kind = max(below, key=lambda p: p[1], default=("", base, None))
        known = element_type(kind) or BYTES
        start = (base + first - address) // known.size * known.size + address - base
        if start < 0 or start + known.size > size:
            known, start, address = BYTES, first, base
        one, two = (
            values(getattr(side, when)(start, known.size), known)[0] for side in (left, right)
        )
        yield MemoryChange(
            where=f"{where} ({name})" if name else where,
            when=when,
            differing_bytes=count,
            type=known.name,
            index=(base + start - address) // known.size,
            first=plain(one),
            second=plain(two),
        )
