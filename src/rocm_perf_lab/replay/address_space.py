"""Addresses held before HSA is loaded, so that nothing else settles on them.

Standard library only: a worker runs this before it imports anything that maps memory.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

PAGE = 4096
MOST_SPANS = 4096  # a handle each, of which a process may hold some thousands
MOST_JOINED_BYTES = 4 << 30  # of gaps: memory that the program did not have
_PROT_NONE = 0
_MAP_PRIVATE, _MAP_ANONYMOUS, _MAP_NORESERVE, _MAP_FIXED_NOREPLACE = 0x2, 0x20, 0x4000, 0x100000
_FLAGS = _MAP_PRIVATE | _MAP_ANONYMOUS | _MAP_NORESERVE | _MAP_FIXED_NOREPLACE
_FAILED = ctypes.c_void_p(-1).value


@dataclass(frozen=True)
class Span:
    """Whole pages that belong together: ranges that share a page cannot be mapped apart."""

    base: int
    size: int

    @property
    def end(self) -> int:
        return self.base + self.size


def spans(ranges: Iterable[tuple[int, int]], page: int = PAGE) -> list[Span]:
    """The pages that (base, size) ranges lie on, those that share one merged. Of very many, those
    that lie close together too: each costs a mapping and a handle, and both are counted."""
    found = _merged(ranges, page)
    return _joined(found) if len(found) > MOST_SPANS else found


def too_many(ranges: Iterable[tuple[int, int]]) -> str | None:
    """Why ranges cannot be mapped again, where they cannot."""
    count = len(spans(ranges))
    if count <= MOST_SPANS:
        return None
    return (
        f"its memory lies in {count} pieces far apart, and no more than {MOST_SPANS} can be mapped"
    )


def _joined(apart: Sequence[Span]) -> list[Span]:
    """The narrowest gaps closed first, and no more of them than needed."""
    pairs = itertools.pairwise(apart)
    gaps = sorted((after.base - before.end, at) for at, (before, after) in enumerate(pairs))
    closed: set[int] = set()
    total = 0
    for gap, at in gaps[: len(apart) - MOST_SPANS]:
        total += gap
        if total > MOST_JOINED_BYTES:
            break
        closed.add(at)
    found = [apart[0]]
    for at, span in enumerate(apart[1:]):
        last = found[-1]
        if at in closed:
            found[-1] = Span(last.base, span.end - last.base)
        else:
            found.append(span)
    return found


def _merged(ranges: Iterable[tuple[int, int]], page: int) -> list[Span]:
    merged: list[Span] = []
    for base, size in sorted(ranges):
        if size <= 0:
            continue
        low, high = base // page * page, -(-(base + size) // page) * page
        if merged and low < merged[-1].end:
            last = merged.pop()
            low, high = last.base, max(last.end, high)
        merged.append(Span(low, high - low))
    return merged


class Holding:
    """Inaccessible mappings at fixed addresses."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._mmap, self._munmap = libc.mmap, libc.munmap
        self._mmap.restype = ctypes.c_void_p
        self._mmap.argtypes = (
            ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
            ctypes.c_long,
        )  # fmt: skip
        self._munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
        self._held: set[Span] = set()

    def hold(self, span: Span) -> bool:
        """Whether the span was free, and is ours now."""
        at = self._mmap(span.base, span.size, _PROT_NONE, _FLAGS, -1, 0)
        if at is None or at == _FAILED:
            return False
        if at != span.base:  # a kernel older than 4.17 takes the flag for a hint
            self._munmap(at, span.size)
            return False
        self._held.add(span)
        return True

    def release(self, span: Span) -> None:
        if span in self._held:
            self._held.remove(span)
            self._munmap(span.base, span.size)

    def release_all(self) -> None:
        for span in list(self._held):
            self.release(span)
