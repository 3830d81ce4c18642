"""The memory a replay puts back: what was captured, where it is now, what it held.

A `State` is one set of contents to start from: as captured, or altered by the caller. It knows
which bytes the kernel writes (the dirty set: what the capture saw written, and whatever a replay
was seen to write beyond that) and keeps a copy of their initial contents in device memory, so
that putting the state back before a dispatch is a copy of those bytes only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.replay import hsa as h
from rocm_perf_lab.replay.address_space import Span
from rocm_perf_lab.replay.compare import identical
from rocm_perf_lab.replay.done import Done
from rocm_perf_lab.replay.memory import Buffer, DeviceMemory
from rocm_perf_lab.replay.pointers import Moves
from rocm_perf_lab.replay.sources import Source

Bytes = npt.NDArray[np.uint8]
Interval = tuple[int, int]
BLOCK = 4096  # grain in which unforeseen writes are remembered
PIECE = 32 << 20
SMALL = 64 << 10  # bytes that are written with others in one go, zeros or not


@dataclass(frozen=True)
class Part:
    """A stretch of device memory. `source` None: no captured bytes, a guard around them."""

    label: str
    address: int  # in this process
    size: int
    source: Source | None
    offset: int = 0  # of its first byte in the source
    moved: bool = False  # words of the state before that point into code are translated
    build: int | None = None  # the build whose variables these are; None: every build's memory
    moves: Moves | None = None  # for that build, where not the machine's
    captured: int | None = None  # where it was, if that is elsewhere: variables move with code

    @property
    def origin(self) -> int:
        """Its address when it was captured, by which the caller's bytes go."""
        return self.address if self.captured is None else self.captured


@dataclass(frozen=True)
class Override:
    """Bytes the caller wants instead of the captured ones."""

    address: int  # when it was captured
    data: Bytes


def merge(intervals: Iterable[Interval]) -> list[Interval]:
    merged: list[Interval] = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        elif low < high:
            merged.append((low, high))
    return merged


def _grain(part: Part, low: int, high: int) -> Interval:
    """Widened to 16 bytes, so that no element of an array is cut in two."""
    first = max(0, low - (part.address + low) % 16)
    return first, min(part.size, high + -(part.address + high) % 16)


def guards(spans: Sequence[Span], ranges: Sequence[tuple[int, int]]) -> Iterator[Part]:
    """What is mapped around the captured ranges, because whole pages have to be."""
    ordered = sorted(ranges)
    first = 0
    for span in sorted(spans, key=lambda span: span.base):
        at = span.base
        last = bisect_left(ordered, (span.end, 0), first)
        inside, first = ordered[first:last], last
        for base, size in inside:
            if base > at:
                yield Part("guard", at, base - at, None)
            at = base + size
        if at < span.end:
            yield Part("guard", at, span.end - at, None)


@dataclass
class State:
    memory: DeviceMemory
    parts: Sequence[Part]
    moves: Moves
    overrides: Sequence[Override] = ()
    guard_byte: int = 0
    altered: bool = False  # the captured outputs are not what must come out
    checked: set[int] = field(default_factory=set)  # builds whose writes were all looked for
    _dirty: dict[int, list[Interval]] = field(default_factory=dict)
    _rows: list[tuple[int, int, int, int]] = field(default_factory=list)  # part, offset, size, at
    _golden: int = 0
    _got: Buffer | None = None
    _expected: dict[int, Bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for index, part in enumerate(self.parts):
            if part.source is None:
                continue
            last = part.offset + part.size
            written = [
                (max(low, part.offset) - part.offset, min(high, last) - part.offset)
                for low, high in part.source.write_set
                if low < last and high > part.offset
            ]
            for override in self.overrides:  # in case another state wrote there
                low = max(override.address, part.origin) - part.origin
                high = min(override.address + len(override.data), part.origin + part.size)
                written.append((low, high - part.origin))
            self._dirty[index] = merge(_grain(part, *w) for w in written if w[0] < w[1])

    # ---- contents

    def initial(self, part: Part, offset: int, size: int) -> Bytes:
        return self._contents(part, offset, size, after=False)

    def captured_after(self, part: Part, offset: int, size: int) -> Bytes:
        return self._contents(part, offset, size, after=True)

    def _contents(self, part: Part, offset: int, size: int, after: bool) -> Bytes:
        if part.source is None:
            return np.full(size, self.guard_byte, dtype=np.uint8)
        # Whole words, so that a translated one is never cut in two.
        low = max(0, offset - (part.address + offset) % 8)
        high = min(part.size, offset + size + -(part.address + offset + size) % 8)
        read = part.source.after if after else part.source.before
        data = read(part.offset + low, high - low)
        moves = part.moves or self.moves
        if part.moved:
            moves.translate(part.address + low, data)
        elif after:
            # What the kernel computed from its own code: it computes the new address now.
            before = part.source.before(part.offset + low, high - low)
            offsets, _ = moves.find(part.address + low, data)
            if len(offsets):
                moved = data.copy()
                moves.translate(part.address + low, moved)
                for at in offsets.tolist():
                    if (before[at : at + 8] != data[at : at + 8]).any():
                        data[at : at + 8] = moved[at : at + 8]
        start = part.origin + low
        for override in self.overrides:
            first = max(override.address, start)
            last = min(override.address + len(override.data), start + len(data))
            if first < last:
                data[first - start : last - start] = override.data[
                    first - override.address : last - override.address
                ]
        return data[offset - low : offset - low + size]

    # ---- putting it there

    def restore_all(self, tell: Callable[[str], None] = lambda _: None) -> None:
        total = sum(part.size for part in self.parts)
        done = Done("restoring", total, tell)
        self.memory.write_all(self._all_pieces(done))

    def _all_pieces(self, done: Done) -> Iterator[tuple[int, Bytes]]:
        for part in self.parts:
            if part.size > SMALL and self._starts_as_zeros(part):
                self.memory.fill_zero(part.address, part.size)
                stored = part.source.stored() if part.source else []
                ranges = merge((low, high) for low, high in stored)
            else:
                ranges = [(0, part.size)]
            for low, high in ranges:
                for at in range(low, high, PIECE):
                    step = min(PIECE, high - at)
                    yield part.address + at, self.initial(part, at, step)
                    done.add(step)
            done.add(part.size - sum(high - low for low, high in ranges))

    def _starts_as_zeros(self, part: Part) -> bool:
        if part.source is None:
            return self.guard_byte == 0
        whole = part.offset == 0 and part.size == part.source.size
        touched = any(
            o.address < part.origin + part.size and o.address + len(o.data) > part.origin
            for o in self.overrides
        )
        return whole and not part.moved and not touched

    def restore(self) -> None:
        """The dirty bytes only: what was not written is as it was."""
        self._prepare()
        self.memory.copy(self._moves_back)

    @property
    def dirty_bytes(self) -> int:
        return sum(high - low for rows in self._dirty.values() for low, high in rows)

    def _prepare(self) -> None:
        """A copy of the dirty bytes' initial contents on the device, and room to read them."""
        if self._got is not None:
            return
        self._rows, at = [], 0
        for index, intervals in sorted(self._dirty.items()):
            for low, high in intervals:
                self._rows.append((index, low, high - low, at))
                at += -(-(high - low) // 64) * 64
        try:
            self._golden = self.memory.device_buffer(at)
        except h.HsaError:
            self._golden = self.memory.host_buffer(at).address
        self._got = self.memory.host_buffer(at)
        self._moves_back = [
            (self.parts[i].address + offset, self._golden + to, size)
            for i, offset, size, to in self._rows
        ]
        self.memory.write_all(
            (
                self._golden + to + step,
                self.initial(self.parts[index], offset + step, min(PIECE, size - step)),
            )
            for index, offset, size, to in self._rows
            for step in range(0, size, PIECE)
        )

    def forget(self) -> None:
        """Give the copies back; they are made again when needed."""
        if self._got is not None:
            self.memory.free(self._golden)
            self.memory.free(self._got.address)
        self._got = None
        self._expected.clear()

    # ---- looking at it

    def find_writes(self) -> bool:
        """Compare all memory with the initial state; whether the dirty set has grown."""
        found: dict[int, list[Interval]] = {}
        ranges = [(part.address, part.size) for part in self.parts]
        for index, at, got in self.memory.read_all(ranges):
            part = self.parts[index]
            initial = self.initial(part, at, len(got))
            if identical(got, initial):
                continue
            changed = np.zeros(-(-len(got) // BLOCK) * BLOCK, dtype=bool)
            changed[: len(got)] = got != initial
            for low, high in self._dirty.get(index, []):
                changed[max(0, low - at) : max(0, high - at)] = False
            for block in np.flatnonzero(changed.reshape(-1, BLOCK).any(axis=1)).tolist():
                low = at + block * BLOCK
                found.setdefault(index, []).append((low, min(low + BLOCK, part.size)))
        for index, fresh in found.items():
            self._dirty[index] = merge([*self._dirty.get(index, []), *fresh])
        if found:
            self.forget()
        return bool(found)

    def read_dirty(self) -> Bytes:
        """The dirty bytes as they are now, laid out by `rows`; overwritten by the next call."""
        self._prepare()
        assert self._got is not None
        self.memory.gather(
            [
                (self._got.address + to, self.parts[i].address + offset, size)
                for i, offset, size, to in self._rows
            ]
        )
        return self._got.bytes[: self._length]

    @property
    def _length(self) -> int:
        if not self._rows:
            return 0
        _, _, size, at = self._rows[-1]
        return at + -(-size // 64) * 64

    def expected(self, build: int) -> Bytes:
        """What the capture says the dirty bytes hold after that build ran."""
        self._prepare()
        if build not in self._expected:
            data = np.zeros(self._length, dtype=np.uint8)
            for index, offset, size, at in self._rows:
                part = self.parts[index]
                own = part.build is None or part.build == build
                contents = self.captured_after if own else self.initial
                data[at : at + size] = contents(part, offset, size)
            self._expected[build] = data
        return self._expected[build]

    def untouched(self) -> Bytes:
        """What the dirty bytes hold initially."""
        self._prepare()
        data = np.zeros(self._length, dtype=np.uint8)
        for index, offset, size, at in self._rows:
            data[at : at + size] = self.initial(self.parts[index], offset, size)
        return data

    @property
    def rows(self) -> list[tuple[Part, int, int, int]]:
        """(part, offset in it, size, place in the flat arrays) of each dirty stretch."""
        self._prepare()
        return [(self.parts[i], offset, size, at) for i, offset, size, at in self._rows]
