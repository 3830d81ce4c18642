"""What a dispatch left in memory, judged against what it had to leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.replay.compare import (
    BYTES,
    SHOWN,
    Comparison,
    ElementType,
    compare,
    identical,
    values,
)
from rocm_perf_lab.replay.parts import Part

Bytes = npt.NDArray[np.uint8]
GAP = 256  # bytes that agree between two that do not, and still make one stretch
MOST_SPANS = 4096
Row = tuple[Part, int, int, int]  # part, offset in it, size, place in the flat arrays


@dataclass(frozen=True)
class Pointer:
    """An argument and what it points to."""

    name: str
    address: int
    type: ElementType | None


@dataclass(frozen=True)
class Rules:
    """How to judge: `tolerance` None means each type's own."""

    pointers: Sequence[Pointer] = ()
    dtype: ElementType | None = None  # for everything, where the user says so
    tolerance: float | None = None


def lay(rows: Sequence[Row], flat: Bytes, address: int, size: int, data: Bytes) -> None:
    """Write bytes known by their address into the flat array of dirty stretches."""
    for part, offset, length, at in rows:
        first = max(address, part.origin + offset)
        last = min(address + size, part.origin + offset + length)
        if first < last:
            start = at + first - part.origin - offset
            flat[start : start + last - first] = data[first - address : last - address]


def take(rows: Sequence[Row], flat: Bytes, address: int, data: Bytes) -> None:
    """The other way: what the flat array has of the bytes at an address."""
    for part, offset, length, at in rows:
        first = max(address, part.address + offset)
        last = min(address + len(data), part.address + offset + length)
        if first < last:
            start = at + first - part.address - offset
            data[first - address : last - address] = flat[start : start + last - first]


def places(rows: Sequence[Row], expected: Bytes, got: Bytes) -> tuple[list[tuple[int, int]], bool]:
    """(address, size) of captured memory within which all differing bytes lie, and whether some
    lie elsewhere: around it, or in a module's variables."""
    spans: list[tuple[int, int]] = []
    elsewhere = False
    for part, offset, size, at in rows:
        if identical(expected[at : at + size], got[at : at + size]):
            continue
        if part.source is None or part.build is not None or part.moved:
            elsewhere = True
            continue
        found = np.flatnonzero(expected[at : at + size] != got[at : at + size])
        breaks = np.flatnonzero(np.diff(found) > GAP)
        if len(spans) + len(breaks) > MOST_SPANS:
            breaks = breaks[:0]
        firsts, lasts = np.concatenate([[0], breaks + 1]), np.concatenate([breaks, [-1]])
        base = part.address + offset
        for first, last in zip(found[firsts].tolist(), found[lasts].tolist(), strict=True):
            spans.append((base + first, last + 1 - first))
    return spans, elsewhere


def judge(rows: Sequence[Row], expected: Bytes, got: Bytes, rules: Rules) -> dict[str, object]:
    """Verdict and located differences; the bytes are known to differ somewhere."""
    differences: list[dict[str, object]] = []
    within = True
    for part, offset, size, at in rows:
        wanted, found = expected[at : at + size], got[at : at + size]
        if identical(wanted, found):
            continue
        address = part.address + offset
        pointer = _owner(rules.pointers, part, address + int(np.argmax(wanted != found)))
        kind = rules.dtype or (pointer.type if pointer else None) or BYTES
        if part.source is None:
            kind, pointer = BYTES, None
        origin = pointer.address if pointer else part.address
        result, first = _typed(wanted, found, address - origin, kind, rules.tolerance)
        within = within and result.beyond == 0 and kind.floating
        differences.append(
            {
                "argument": pointer.name if pointer else None,
                "where": part.label,
                "type": kind.name,
                "elements": result.elements,
                "differing": result.differing,
                "beyond_tolerance": result.beyond,
                "largest_absolute": result.largest_absolute,
                "largest_relative": result.largest_relative,
                "scale": root_mean_square(wanted, kind),
                "first": [
                    {"index": first + d.index, "expected": d.expected, "got": d.got}
                    for d in result.first
                ],
            }
        )
    merged = _by_place(differences)
    return {"verdict": "within_tolerance" if within else "different", "differences": merged}


def root_mean_square(data: Bytes, kind: ElementType) -> float | None:
    """How large the expected elements are; None: not numbers, or not whole ones."""
    if not kind.floating or len(data) % kind.size:
        return None
    numbers = values(data, kind)
    finite = numbers[np.isfinite(numbers)]
    with np.errstate(over="ignore"):
        size = float(np.sqrt(np.mean(np.square(finite.astype(np.float64))))) if len(finite) else 0.0
    return size if np.isfinite(size) else None


def _typed(
    wanted: Bytes, found: Bytes, offset: int, kind: ElementType, tolerance: float | None
) -> tuple[Comparison, int]:
    """Compare whole elements; the index of the first of them, counted from the origin.

    A stretch may begin or end inside an element: the missing bytes are equal on both sides, so
    zeros stand for them in integers, and floats are compared as bytes would be only there.
    """
    head, tail = offset % kind.size, -(offset + len(wanted)) % kind.size
    if head or tail:
        wanted, found = (
            np.concatenate([np.zeros(head, np.uint8), side, np.zeros(tail, np.uint8)])
            for side in (wanted, found)
        )
    return compare(wanted, found, kind, tolerance), (offset - head) // kind.size


def _owner(pointers: Sequence[Pointer], part: Part, address: int) -> Pointer | None:
    """The argument that points closest below the byte, in the same part of memory."""
    inside = [p for p in pointers if part.address <= p.address <= address]
    return max(inside, key=lambda p: p.address, default=None)


def _by_place(differences: list[dict[str, object]]) -> list[dict[str, object]]:
    """One entry per argument and part, however many stretches it was found in."""
    merged: dict[tuple[object, object, object], dict[str, object]] = {}
    for each in differences:
        key = (each["where"], each["argument"], each["type"])
        known = merged.get(key)
        if known is None:
            merged[key] = dict(each)
            continue
        for name in ("elements", "differing", "beyond_tolerance"):
            known[name] = int(known[name]) + int(each[name])  # type: ignore[call-overload]
        for name in ("largest_absolute", "largest_relative", "scale"):
            both = [v for v in (known[name], each[name]) if v is not None]
            known[name] = max(both, default=None)  # type: ignore[type-var]
        known["first"] = [*known["first"], *each["first"]][:SHOWN]  # type: ignore[misc]
    return list(merged.values())
