"""What timeline formats have in common: named slices on tracks, and arrows along the path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Slice:
    start_ns: int
    duration_ns: int
    name: str
    track: str
    category: str  # kernel | copy | host
    on_path: int | None = None  # its place along the critical path
    arguments: dict[str, str | int] = field(default_factory=dict)


def without_overlap(slices: Iterable[Slice]) -> list[Slice]:
    """By start; a slice that overlaps another of its track without lying inside it moves to a
    track of the same name with a number: viewers nest slices, they do not lay them side by side."""
    open_ends: dict[str, list[list[int]]] = {}  # track -> per copy of it, ends of open slices
    placed = []
    for s in sorted(slices, key=lambda s: (s.start_ns, -s.duration_ns)):
        end = s.start_ns + s.duration_ns
        copies = open_ends.setdefault(s.track, [])
        for number, stack in enumerate(copies, 1):  # noqa: B007 (used below)
            while stack and stack[-1] <= s.start_ns:
                stack.pop()
            if not stack or end <= stack[-1]:
                stack.append(end)
                break
        else:
            number = len(copies) + 1
            copies.append([end])
        placed.append(s if number == 1 else replace(s, track=f"{s.track} ({number})"))
    return placed


def path_of(slices: Sequence[Slice]) -> list[Slice]:
    on_path = [s for s in slices if s.on_path is not None]
    return sorted(on_path, key=lambda s: s.on_path or 0)
