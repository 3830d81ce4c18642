"""Whether results that are not the same bytes are the same results, element by element.

What is not floating point has to be identical, and so has everything the original does not write.
A floating-point element may differ by a few units in the last place, or by what the original's own
rounding and the conditioning of that element account for: how far it moves when every input is
moved by one step. An element that was left as it was never passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.optimize.draws import NORMAL, STEP
from rocm_perf_lab.optimize.input_sets import Spans, Subject
from rocm_perf_lab.optimize.layout import Buffer, Leaf
from rocm_perf_lab.replay.compare import Bytes, ElementType, plain, values
from rocm_perf_lab.replay.session import Seen

Numbers = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

# Steps an element may be off by in any case: a reciprocal for a division, a fused multiply-add.
# Long sums of equal terms err one way by more: in double precision that is still next to nothing.
_STEPS = {"f64": 64, "f32": 16, "f16": 4, "bf16": 2}
# Times what a nudge of the inputs was seen to do: the least of few draws is no bound.
AMPLIFIED = 32.0
# Of a type's tolerance, where all inputs are one value: a sum then errs by the same part of a step
# with every term, and goes on to when the terms are moved a little.
_EQUAL = 8.0
_NOISE = 4.0  # times what such a nudge does
FARTHER = 16  # steps of a nudge that tells what is steep from what jumps
_MUCH = 64  # steps
_CHANCE = 1 / 8  # of what differs: fewer may be what was there by chance
# What is kept in half precision is computed in single precision: a nudge of it says what rounding
# does only in proportion.
_COMPUTED = STEP["f32"]


@dataclass(frozen=True)
class Wrong:
    """Elements that cannot be right."""

    buffer: Buffer
    count: int
    of: int
    why: str

    def words(self) -> str:
        return f"{self.count} of {self.of} elements of {self.buffer.name} {self.why}"


@dataclass(frozen=True)
class Doubt:
    """Floating-point elements that differ; `spread` is what nudging the inputs did to each."""

    buffer: Buffer
    leaf: Leaf
    at: npt.NDArray[np.int64]  # address of each
    expected: Numbers
    got: Numbers
    base: Numbers  # what the original left here, on the inputs as they are
    spread: Numbers
    whole: bool  # everything the buffer should hold is a whole number

    def beyond(self, nudged: bool, equal: bool = False) -> Mask:
        """Those whose difference nothing accounts for. `nudged`: whether inputs can be; `equal`:
        whether all of them are one value."""
        kind = self.leaf.type
        step = STEP[kind.name]
        size = np.abs(self.expected)
        allowed = _STEPS[kind.name] * step * np.maximum(size, NORMAL[kind.name])
        if not nudged or equal:
            allowed = np.maximum(allowed, (_EQUAL if equal else 1.0) * kind.tolerance * size)
        allowed = np.maximum(allowed, AMPLIFIED * self.spread)
        with np.errstate(invalid="ignore"):
            distance = np.abs(self.got - self.expected)
            wrong = ~(distance <= allowed)
            if nudged:  # a few steps from nought is not nought, where nothing was rounded
                wrong |= (self.got == 0) & (self.expected != 0) & (self.spread == 0)
            if self.whole:
                # Exact in any order, and rounding does not make one more: something is missing.
                wrong |= (distance >= 0.5) & (self.spread < 0.25)
        return wrong

    @property
    def span(self) -> tuple[int, int]:
        """(address, size) that hold them all."""
        low, high = int(self.at.min()), int(self.at.max())
        return low, high + self.leaf.type.size - low

    def moved(self, data: Bytes, nudged: ElementType) -> Doubt:
        """With what the original left in `span` after its inputs of a type were nudged."""
        offsets = self.at - self.at.min()
        size = self.leaf.type.size
        raw = data[offsets[:, None] + np.arange(size)].reshape(-1)
        with np.errstate(invalid="ignore"):
            distance = np.abs(values(raw, self.leaf.type) - self.base)
        distance[~np.isfinite(distance)] = 0.0
        share = min(1.0, min(STEP[self.leaf.type.name], _COMPUTED) / STEP[nudged.name])
        return replace(self, spread=np.maximum(self.spread, share * distance))

    def jumps(self, farther: Doubt) -> Mask:
        """Those that a nudge moved much, and one `FARTHER` times as far hardly more: no rounding,
        but a step of what is computed."""
        size = np.maximum(np.abs(self.expected), NORMAL[self.leaf.type.name])
        much: Mask = self.spread > _MUCH * STEP[self.leaf.type.name] * size
        return much & (farther.spread < FARTHER / 4 * self.spread)

    def noise(self) -> Mask:
        """Those that are no more, on both sides, than what a nudge of several steps does."""
        with np.errstate(invalid="ignore"):
            both = np.maximum(np.abs(self.expected), np.abs(self.got))
            found: Mask = (both > 0) & (both <= _NOISE * self.spread)
        return found

    def only(self, chosen: Mask) -> Doubt:
        return replace(
            self,
            at=self.at[chosen],
            expected=self.expected[chosen],
            got=self.got[chosen],
            base=self.base[chosen],
            spread=self.spread[chosen],
        )

    def wrong(self, words: str = "differ by more than rounding") -> Wrong:
        first = int(self.at[0] - self.buffer.address) // self.buffer.element_bytes
        why = f"{words} (element {first}: {plain(self.got[0])}, expected {plain(self.expected[0])})"
        return Wrong(self.buffer, len(self.at), self.buffer.count, why)

    @property
    def largest_relative(self) -> float:
        with np.errstate(all="ignore"):
            ratio = np.abs(self.got - self.expected) / np.abs(self.expected)
        finite = ratio[np.isfinite(ratio)]
        return float(finite.max()) if len(finite) else 0.0


def aligned(subject: Subject, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]] | None:
    """The spans cut to buffers and widened to whole elements; None: some are in no buffer that
    may be written."""
    found: list[tuple[int, int]] = []
    for address, size in spans:
        covered = 0
        for buffer in subject.layout.buffers:
            low = max(address, buffer.address)
            high = min(address + size, buffer.address + buffer.size)
            if low >= high:
                continue
            covered += high - low
            if buffer.const:
                return None
            step = buffer.element_bytes
            first = (low - buffer.address) // step * step
            last = min(buffer.size, -(-(high - buffer.address) // step) * step)
            found.append((buffer.address + first, last - first))
        if covered < size:
            return None
    return sorted(set(found))


def judge(
    subject: Subject, seen: Sequence[Seen], near: bool = False, extreme: bool = False
) -> tuple[list[Wrong], list[Doubt]]:
    """What is certainly wrong, and what rounding may account for. `seen`: whole elements. `near`:
    what was there is so close that rounding may lead to some of it. `extreme`: inputs are so large
    that a product of two overflows."""
    wrong: list[Wrong] = []
    doubts: list[Doubt] = []
    for each in seen:
        buffer = next(b for b in subject.layout.buffers if 0 <= each.address - b.address < b.size)
        sure = _sure(buffer, subject.written.get(buffer.address, ()), each)
        step = buffer.element_bytes
        whole = len(each.got) // step * step
        differing = each.got != each.expected
        for leaf in (leaf for leaf in buffer.leaves if leaf.type.floating):
            cells = _cells(leaf, step, whole)
            differing[cells] = False
            found, doubt = _column(buffer, leaf, each, cells, sure, near, extreme)
            if (buffer.address, leaf.offset) in subject.moved:
                found, doubt = [*found, *(d.wrong("are not the numbers moved") for d in doubt)], []
            wrong += found
            doubts += doubt
        if differing.any():
            wrong.append(_other(buffer, each, differing))
    return wrong, doubts


def _cells(leaf: Leaf, step: int, whole: int) -> npt.NDArray[np.int64]:
    """Places of the field's bytes, a row for each element."""
    rows: npt.NDArray[np.int64] = np.arange(0, whole, step)[:, None]
    found: npt.NDArray[np.int64] = rows + leaf.offset + np.arange(leaf.type.size)
    return found


def _sure(buffer: Buffer, spans: Spans, seen: Seen) -> Mask:
    """Bytes the original writes whatever was there before."""
    mask: Mask = np.zeros(len(seen.got), dtype=bool)
    for offset, size in spans:
        low = max(0, buffer.address + offset - seen.address)
        high = buffer.address + offset + size - seen.address
        if high > 0:
            mask[low:high] = True
    return mask


def _column(
    buffer: Buffer,
    leaf: Leaf,
    seen: Seen,
    cells: npt.NDArray[np.int64],
    sure: Mask,
    near: bool,
    extreme: bool,
) -> tuple[list[Wrong], list[Doubt]]:
    kind = leaf.type
    expected, got, initial = (side[cells] for side in (seen.expected, seen.got, seen.initial))
    rows = np.flatnonzero((expected != got).any(axis=1))
    if not len(rows):
        return [], []
    all_wanted = _numbers(expected, kind)
    wanted, found = all_wanted[rows], _numbers(got[rows], kind)
    with np.errstate(invalid="ignore"):
        same = (wanted == found) | (np.isnan(wanted) & np.isnan(found))
    if extreme:
        # Nought is what is left of something finite over an infinity: the original overflowed on
        # the way, and another order of the same factors is infinite or no number.
        same |= (wanted == 0) & ~np.isfinite(found)
    certain = sure[cells[rows]].any(axis=1)
    # What is changed in place may end as it began: a NaN, of which another NaN is made.
    # And a nought is no sign of memory that was not written: it is a likely result.
    stale = (got[rows] == initial[rows]).all(axis=1) & (found != 0) & (certain | ~same)
    if near and stale.sum() < _CHANCE * len(rows):
        stale[:] = False
    beside = ~certain & (expected[rows] == initial[rows]).all(axis=1)
    strange = ~(np.isfinite(wanted) & np.isfinite(found))
    wrong: list[Wrong] = []
    rest = np.ones(len(rows), dtype=bool)
    for mask, why in (
        (beside, "were changed, and the original does not write there"),
        (stale, "were left as they were"),
        (strange & ~same, "are not what they should be"),
    ):
        if (mask & rest).any():
            first = int(np.flatnonzero(mask & rest)[0])
            index = (seen.address - buffer.address) // buffer.element_bytes + int(rows[first])
            text = (
                f"{why} (element {index}: {plain(found[first])}, expected {plain(wanted[first])})"
            )
            wrong.append(Wrong(buffer, int((mask & rest).sum()), buffer.count, text))
        rest &= ~mask
    rest &= ~same
    at = seen.address + cells[rows[rest], 0]
    zeros = np.zeros(int(rest.sum()))
    if not len(at):
        return wrong, []
    whole = _whole_numbers(all_wanted, kind)
    doubt = Doubt(buffer, leaf, at, wanted[rest], found[rest], wanted[rest], zeros, whole)
    return wrong, [doubt]


def _numbers(rows: Bytes, kind: ElementType) -> Numbers:
    return values(np.ascontiguousarray(rows).reshape(-1), kind).astype(np.float64)


def _whole_numbers(numbers: Numbers, kind: ElementType) -> bool:
    """Counts, and small enough to be exact: rounding has no part in them."""
    finite = numbers[np.isfinite(numbers)]
    if not len(finite) or not (finite == np.rint(finite)).all():
        return False
    return bool(2 <= np.abs(finite).max() < 0.25 / STEP[kind.name])


def _other(buffer: Buffer, seen: Seen, differing: Mask) -> Wrong:
    """Integers, bytes, pointers."""
    places = np.flatnonzero(differing)
    step = buffer.element_bytes
    origin = seen.address - buffer.address
    first = (origin + int(places[0])) // step
    low = first * step - origin
    leaf = buffer.leaves[0] if len(buffer.leaves) == 1 else None
    sides = [side[max(0, low) : low + step] for side in (seen.got, seen.expected)]
    if leaf is not None and leaf.type.size == step == len(sides[0]):
        shown = [str(plain(values(side, leaf.type)[0])) for side in sides]
    else:
        shown = [side.tobytes()[:16].hex() for side in sides]
    count = len(np.unique((origin + places) // step))
    why = f"differ (element {first}: {shown[0]}, expected {shown[1]})"
    return Wrong(buffer, count, buffer.count, why)
