"""New values for a column of numbers, made of the captured ones.

Floating point may be anything. Integers may be sizes, offsets or indices, or values of which the
program used a few: half of them stay within what it used, the others go as far as the original
stands it (`modes`, the boldest first); offsets still ascend between the same ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.replay.compare import Bytes, ElementType, values

Numbers = npt.NDArray[np.float64]
Rng = np.random.Generator
Mode = Literal[
    "any", "fourfold", "wider", "drawn", "ascending", "shuffled", "kept", "ends", "other negatives"
]
BOLD: tuple[Mode, ...] = ("any", "fourfold", "wider")  # beyond what the program used
KEPT: Mode = "kept"
IN_ORDER: tuple[Mode, ...] = ("ascending", "shuffled")  # of all elements together
# Spacing of the numbers at one.
STEP = {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}
# Far from one another, but sums of them stay finite, and products of two.
_LARGE = {"f64": 1e150, "f32": 1e18, "f16": 200.0, "bf16": 1e18}
_SMALL = {"f64": 5e-310, "f32": 1e-40, "f16": 1e-7, "bf16": 1e-40}
_MOST = {
    "f64": 1.7976931348623157e308,
    "f32": 3.4028234663852886e38,
    "f16": 65504.0,
    "bf16": 3.38e38,
}
_LEAST = {"f64": 5e-324, "f32": 1.4e-45, "f16": 6e-8, "bf16": 9.2e-41}
NORMAL = {"f64": 2.0**-1022, "f32": 2.0**-126, "f16": 2.0**-14, "bf16": 2.0**-126}  # the least
_EDGE, _MULTIPLES = 4, 64
_STREWN = 1 / 16  # of a column: values that comparisons may turn on
_COARSE = 6  # bits of the largest value
_FEW = {4: 1 << 15, 8: 1 << 31}  # by size: products of two are defined, and sums of many
_LARGE_FROM, _MOST_LARGE = {4: 1 << 24, 8: 1 << 53}, 30
_MOST_RUNS = 4096
_UNEVEN = 6
_PIECE, _MOST_PIECES = 64, 256  # elements, and how many of them
_FEW_NAMED = 6  # numbers that the code names, in one column
_QUIET = 2.0**-10  # of what is not at an edge


@dataclass(frozen=True)
class Place:
    """What a draw may know of the column beside its values."""

    kind: ElementType
    strides: tuple[int, ...]  # sizes the launch names: rows may begin at their multiples
    scalars: tuple[float, ...] = ()  # of floating point, among the arguments


Draw = Callable[[Rng, Numbers, Place], Numbers]


def encode(numbers: Numbers, kind: ElementType) -> Bytes:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if kind.numpy is not None:
            return numbers.astype(kind.numpy).view(np.uint8)
        # bfloat16 is the upper half of a float; to nearest, ties to even, NaNs kept.
        bits = numbers.astype("<f4").view("<u4").astype(np.uint64)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return np.where(np.isnan(numbers), 0x7FC0, rounded).astype("<u2").view(np.uint8)


# ---- floating point; a column of zeros says nothing of its range, so -1 to 1 is taken


def _range(captured: Numbers) -> tuple[float, float]:
    finite = captured[np.isfinite(captured)]
    if not len(finite) or finite.min() == finite.max() == 0:
        return -1.0, 1.0
    low, high = np.clip([finite.min(), finite.max()], -1e300, 1e300).tolist()
    return (low, high) if low < high else (low - abs(low) / 2, high + abs(high) / 2)


def _same_range(rng: Rng, captured: Numbers, place: Place) -> Numbers:
    return rng.uniform(*_range(captured), len(captured))


def _magnitudes(rng: Rng, captured: Numbers, place: Place) -> Numbers:
    """Each value scaled by its own power of two."""
    reach = 4 if place.kind.size == 2 else 12
    return _same_range(rng, captured, place) * np.exp2(
        rng.integers(-reach, reach + 1, len(captured))
    )


def _both_signs(rng: Rng, captured: Numbers, place: Place) -> Numbers:
    """As far below nought as above it."""
    most = max(map(abs, _range(captured)))
    return rng.uniform(-most, most, len(captured))


def _special(rng: Rng, captured: Numbers, place: Place) -> Numbers:
    """The same range with zeros, infinities, NaNs, denormals and large values strewn in; rarely, or
    every sum would be NaN and equal to every other."""
    drawn = _same_range(rng, captured, place)
    places = np.flatnonzero(rng.random(len(drawn)) < min(1 / 64, 64 / max(len(drawn), 1)))
    drawn[places] = rng.choice(_specials(place), len(places))
    return drawn


def _many_special(rng: Rng, captured: Numbers, place: Place) -> Numbers:
    """So many, in turn, that whatever part of a buffer is read holds each kind."""
    drawn = _same_range(rng, captured, place)
    places, special = np.flatnonzero(rng.random(len(drawn)) < 1 / 4), _specials(place)
    drawn[places] = special[np.arange(len(places)) % len(special)]
    return drawn


def _specials(place: Place) -> Numbers:
    large, small = _LARGE[place.kind.name], _SMALL[place.kind.name]
    return np.array([0.0, -0.0, np.inf, -np.inf, np.nan, large, -large, small, -small])


def _zeros_and_ones(rng: Rng, captured: Numbers, place: Place) -> Numbers:
    """Sums and products of these are exact: what is missing from one shows, however long it is."""
    return rng.integers(0, 2, len(captured)).astype(np.float64)


def _large_edges(rng: Rng, captured: Numbers, place: Place) -> Numbers:
    """Small everywhere but where rows, tiles and the whole may begin and end: a lost tail is most
    of what there is."""
    drawn = _same_range(rng, captured, place)
    quiet = np.full(len(drawn), _QUIET)
    quiet[edges(len(drawn), place.strides)] = 1.0
    found: Numbers = drawn * quiet
    return found


def _extreme_edges(rng: Rng, captured: Numbers, place: Place) -> Numbers:
    """Far larger there than elsewhere: what leaves one out of a maximum overflows without it."""
    drawn = _same_range(rng, captured, place)
    drawn[edges(len(drawn), place.strides)] *= 2.0 ** (4 if place.kind.size == 2 else 12)
    return drawn


def _one_value(rng: Rng, captured: Numbers, place: Place) -> Numbers:
    """No spread at all: a variance of zero, and what was added to it."""
    return np.full(len(captured), rng.uniform(*_range(captured)))


def _coarse(rng: Rng, captured: Numbers, place: Place) -> Numbers:
    """Numbers of few bits, whole halves, and halves of the arguments and of their reciprocals;
    noughts of both signs, and the arguments themselves: many are equal, and lie where something is
    rounded or compared."""
    drawn = _same_range(rng, captured, place)
    top = float(np.abs(drawn).max(initial=0.0)) or 1.0
    scales = [abs(s) for s in place.scalars if 2.0**-40 < abs(s) < 2.0**40]
    few_bits = 2.0 ** (np.ceil(np.log2(top)) - _COARSE)
    grains = [few_bits, 0.5, *(g for s in scales for g in (s / 2, 0.5 / s))]
    grain: Numbers = rng.choice(np.array(grains, np.float64), len(drawn))
    drawn = np.rint(drawn / grain) * grain
    known = np.array([0.0, -0.0, 1.0, -1.0, *place.scalars, *(-s for s in place.scalars)])
    places = np.flatnonzero(rng.random(len(drawn)) < _STREWN)
    drawn[places] = known[np.arange(len(places)) % len(known)]
    return drawn


# Bits that a conversion rounds away: to bfloat16 and to half, from double to float.
_CUT = {4: (16, 13), 8: (29,)}


def _halfway(rng: Rng, captured: Numbers, place: Place) -> Numbers:
    """Half-way between two numbers of a shorter format, even and odd ones: what rounds them
    otherwise than to even gives another number."""
    drawn, size = _same_range(rng, captured, place), place.kind.size
    if size not in _CUT:
        return drawn
    bits = drawn.astype(f"<f{size}").view(f"<u{size}")
    cut = rng.choice(np.array(_CUT[size], bits.dtype), len(bits))
    one = bits.dtype.type(1)
    halves = (bits >> cut << cut) | (one << (cut - one))
    found: Numbers = halves.view(f"<f{size}").astype(np.float64)
    return found


def _alone(special: float, late: bool = False, often: int = 1) -> Draw:
    """So often a special value, and every number else finite: what becomes of it is not hidden by
    others."""

    def draw(rng: Rng, captured: Numbers, place: Place) -> Numbers:
        drawn = _same_range(rng, captured, place)
        # Anywhere in a buffer, but as likely among the first few, which small sizes read; or
        # among the last, of the whole and of what a size among the arguments leaves of it.
        ends = [*(s for s in place.strides if 1 < s < len(drawn)), len(drawn)]
        for number in range(often if len(drawn) else 0):
            end = ends[number % len(ends)] if late else len(drawn)
            at = int(end ** rng.random()) - 1
            drawn[end - 1 - at if late else at] = special
        return drawn

    return draw


def _special_edges(rng: Rng, captured: Numbers, place: Place) -> Numbers:
    """One in four of those where rows, tiles and the whole may begin and end is not finite, each
    kind in turn, and hardly any elsewhere: an edge has an element or two, and each may be taken
    in another way."""
    drawn = _same_range(rng, captured, place)
    kinds = np.array([np.nan, np.inf, np.nan, -np.inf])
    for among, share in (
        (edges(len(drawn), place.strides), 1 / 4),
        (np.arange(len(drawn)), 1 / 64),
    ):
        places = among[rng.random(len(among)) < share]
        drawn[places] = kinds[np.arange(len(places)) % len(kinds)]
    return drawn


def _extremes(rng: Rng, captured: Numbers, place: Place) -> Numbers:
    """The largest and the smallest numbers there are. No sum of two, so they make a set only where
    nothing overflows."""
    most, least = _MOST[place.kind.name], _LEAST[place.kind.name]
    return rng.choice(np.array([most, -most, most / 2, -most / 2, least, -least]), len(captured))


MANY_SPECIAL, SPECIAL_EDGES, COARSE = "many special values", "special edges", "coarse values"
ONE_VALUE, ZEROS_AND_ONES = "one value", "zeros and ones"
EXTREMES = "the largest and smallest numbers"
FLOATS: Mapping[str, Draw] = {
    "another seed": _same_range,
    "other magnitudes": _magnitudes,
    "both signs": _both_signs,
    "special values": _special,
    MANY_SPECIAL: _many_special,
    ZEROS_AND_ONES: _zeros_and_ones,
    "large edges": _large_edges,
    "extreme edges": _extreme_edges,
    ONE_VALUE: _one_value,
    COARSE: _coarse,
    EXTREMES: _extremes,
    SPECIAL_EDGES: _special_edges,
    "halves of shorter formats": _halfway,
}
# In one column of all.
ALONE_IN_ONE: Mapping[str, Draw] = {
    "one infinity": _alone(np.inf),
    "a few infinities below nought": _alone(-np.inf, late=True, often=8),
    "one that is no number": _alone(np.nan),
    "several that are no number": _alone(np.nan, late=True, often=24),
}
DRAWS: Mapping[str, Draw] = {**FLOATS, **ALONE_IN_ONE}
# With so many that are not finite, some result that is a number is enough.
STRANGE = (MANY_SPECIAL, SPECIAL_EDGES)


def edges(count: int, strides: Iterable[int]) -> npt.NDArray[np.int64]:
    """Indices around the ends, and around multiples of the strides."""
    near: set[int] = {0, count}
    for stride in sorted({s for s in strides if 1 < s < count}):
        multiples = np.arange(stride, count, stride)
        near |= {*multiples[:_MULTIPLES].tolist(), *multiples[-_MULTIPLES:].tolist()}
    around = (np.array(sorted(near))[:, None] + np.arange(-_EDGE, _EDGE)).reshape(-1)
    return np.unique(around[(around >= 0) & (around < count)])


def mixed(rng: Rng, old: Bytes, new: Bytes, size: int, share: float) -> Bytes:
    """The old elements, each of `size` bytes, but for a share of them, and for one at least."""
    count = len(old) // size
    taken = rng.random(count) < share
    taken[rng.integers(count)] = True
    return np.where(np.repeat(taken, size), new, old)


def in_runs(rng: Rng, data: Bytes, size: int, most: int, nought: bool) -> Bytes:
    """Every other stretch, of up to `most` elements, all alike: noughts, where those may be, or its
    first element. What takes a few noughts for nothing but noughts is wrong behind them."""
    rows = data.reshape(-1, size).copy()
    at = 0
    for number in range(_MOST_RUNS):
        length = 1 + int(rng.integers(1, max(2, min(most, len(rows) // 4))))
        if at >= len(rows):
            break
        if number % 2:
            rows[at : at + length] = 0 if nought and number % 4 == 1 else rows[at].copy()
        at += length
    found: Bytes = rows.reshape(-1)
    return found


def nudged(rng: Rng, data: Bytes, kind: ElementType, all_up: bool = False, steps: int = 1) -> Bytes:
    """Each number some steps up or down; zeros, infinities and NaNs as they are, and denormals, of
    which a step is no rounding but a good part. `all_up`: away from zero, all of them, for errors
    of rounding that all go one way add up."""
    bits = data.view(f"<u{kind.size}").copy()
    numbers = values(data, kind)
    with np.errstate(invalid="ignore"):
        movable = np.isfinite(numbers) & (np.abs(numbers) >= NORMAL[kind.name])
    with np.errstate(over="ignore"):
        up = rng.integers(int(all_up), 2, len(bits)).astype(bits.dtype)
        moved = bits + (up + up - bits.dtype.type(1)) * bits.dtype.type(steps)
    still = np.isfinite(values(moved.view(np.uint8), kind))
    found: Bytes = np.where(movable & still, moved, bits).view(np.uint8)
    return found


def a_little_off(data: Bytes, kind: ElementType) -> Bytes:
    """Numbers by more steps than rounding is likely to take, integers by one; finite ones."""
    if not kind.floating:
        bits = data.view(f"<u{kind.size}")
        found: Bytes = (bits ^ bits.dtype.type(1)).view(np.uint8)
        return found
    steps = {"f64": 1 << 20, "f32": 1 << 12, "f16": 12, "bf16": 3}[kind.name]
    return nudged(np.random.default_rng(0), data, kind, all_up=True, steps=steps)


def drawn_floats(rng: Rng, data: Bytes, draw: str, place: Place) -> Bytes:
    captured = values(data, place.kind).astype(np.float64)
    return encode(DRAWS[draw](rng, captured, place), place.kind)


# ---- integers


def modes(
    data: Bytes, kind: ElementType, boolean: bool = False, most_elements: int = 0
) -> tuple[Mode, ...]:
    """What may be done with a column of integers, the boldest first. Those that ascend and could be
    places among `most_elements` are offsets: they go on ascending."""
    captured = values(data, kind)
    places = len(captured) > 2 and 0 <= captured[0] < captured[-1] <= most_elements
    if places and (captured[:-1] <= captured[1:]).all():
        return ("ascending",)
    return ("drawn", "shuffled") if boolean else (*BOLD, "drawn", "shuffled")


def has_negatives(data: Bytes, kind: ElementType) -> bool:
    return bool((values(data, kind) < 0).any())


def drawn_integers(
    rng: Rng,
    data: Bytes,
    mode: Mode,
    kind: ElementType,
    boolean: bool,
    known: Iterable[int] = (),
    padded: bool = False,
) -> Bytes:
    """`known`: numbers that the launch names; some are those, as far as they lie among the rest.
    `padded`: some are what programs write for none."""
    if mode == "kept" or not len(data):
        return data
    captured = values(data, kind)
    if mode == "shuffled":
        return np.ascontiguousarray(rng.permutation(captured)).view(np.uint8)
    low, high = int(captured.min()), int(captured.max())
    if low == high:  # one value everywhere says little: from zero to it, or zero and one
        low, high = min(low, 0), max(high, int(high == 0))
    if boolean:
        low, high = 0, 1
    native = captured.dtype.newbyteorder("=")
    if mode == "ends":
        both = np.array([np.iinfo(native).min, np.iinfo(native).max], dtype=native)
        return rng.choice(both, len(captured)).astype(captured.dtype).view(np.uint8)
    if mode == "other negatives":
        below = np.array([*_none(native), low - 1 if low > np.iinfo(native).min else low])
        chosen = rng.choice(below.astype(native), len(captured))
        return np.where(captured < 0, chosen, captured).astype(captured.dtype).view(np.uint8)
    new = rng.integers(low, high, len(captured), dtype=native, endpoint=True)
    ends = (low, high)
    if mode in BOLD:
        ends = _beyond(low, high, mode, native)
        far = rng.integers(*ends, len(captured), dtype=native, endpoint=True)
        new = np.where(rng.random(len(captured)) < 0.5, new, far)
    if mode != "ascending" and not boolean:
        near = {k + by for k in known for by in (-1, 0, 1)}
        turning = {low, high, *ends, -1, 0, 1, *near}
        chosen = np.array(sorted(v for v in turning if ends[0] <= v <= ends[1]), dtype=native)
        places = np.flatnonzero(rng.random(len(new)) < _STREWN)
        new[places] = chosen[np.arange(len(places)) % len(chosen)]
    if padded and mode not in IN_ORDER and not boolean:
        none = np.array(_none(native), dtype=native)
        places = np.flatnonzero(rng.random(len(new)) < _STREWN)
        new[places] = none[np.arange(len(places)) % len(none)]
    if mode == "ascending":
        # Unevenly: some of no length, and one that is a good part of the whole.
        share = np.sort(rng.random(len(new)) ** _UNEVEN)
        again = np.flatnonzero(rng.random(len(new)) < 1 / 8)
        share[again] = share[np.maximum(again - 1, 0)]
        new = (low + share * (high - low)).astype(native)
        new[0], new[-1] = captured[0], captured[-1]
    return new.astype(captured.dtype).view(np.uint8)


def with_pieces(
    rng: Rng, data: Bytes, other: Bytes, kind: ElementType, known: Iterable[int]
) -> Bytes:
    """Stretches of another column among the numbers of this one, from its beginning, at both ends
    and in between, every third with one element altered: what compares the two finds them equal
    there, and nearly."""
    new, source = data.view(f"<u{kind.size}").copy(), other.view(f"<u{kind.size}")
    most = min(len(source), len(new), _PIECE)
    lengths = [most, *(k for k in known if 1 < k < most)]
    ends = [len(new), *(k for k in known if 0 < k < len(new))]
    for number in range(min(_MOST_PIECES, max(_EDGE, len(new) // (2 * most)))):
        length = lengths[number % len(lengths)]
        at = int(rng.integers(0, len(new) - length + 1))
        new[at : at + length] = source[:length]
        if number % 3 == 0:
            turned = 1 << (rng.integers(8 * kind.size) if number % 2 else min(5, 8 * kind.size - 1))
            new[at + rng.integers(length)] ^= new.dtype.type(turned)
    for end in (max(lengths), *ends):
        length = lengths[int(rng.integers(len(lengths)))]
        if end >= length:
            new[end - length : end] = source[:length]
    found: Bytes = new.view(np.uint8)
    return found


def with_named(
    rng: Rng, new: Bytes, captured: Bytes, mode: Mode, kind: ElementType, named: Sequence[int]
) -> Bytes:
    """Numbers that the code names, in half the places: all of them, or a few that so meet one
    another. As far as the mode goes."""
    if mode == KEPT or mode in IN_ORDER or not len(new):
        return new
    numbers, had = values(new, kind).copy(), values(captured, kind)
    ends = int(had.min()), int(had.max())
    if mode in BOLD:
        ends = _beyond(*ends, "any" if mode == "any" else mode, numbers.dtype.newbyteorder("="))
        if kept_small(kind) and mode == "any":
            ends = int(np.iinfo(numbers.dtype).min) // 2, int(np.iinfo(numbers.dtype).max) // 2
    bits = 8 * kind.size
    signed = kind.name.startswith("i")
    fitting = {_wrapped(v, bits, signed) if bits < 32 else v for v in named}
    if not signed:
        fitting |= {v + (1 << bits) for v in fitting if v < 0}
    chosen = sorted(v for v in fitting if ends[0] <= v <= ends[1])
    if not chosen:
        return new
    few = int(rng.integers(2, _FEW_NAMED + 1)) if rng.random() < 0.5 else len(chosen)
    some = rng.permutation(np.array(chosen, dtype=numbers.dtype.newbyteorder("=")))[:few]
    places = np.flatnonzero(rng.random(len(numbers)) < 0.5)
    numbers[places] = rng.choice(some, len(places))
    # Between two of them may be a range that nothing else reaches.
    between = places[: len(places) // 4]
    low, high = sorted(rng.choice(np.array(chosen, dtype=some.dtype), 2).tolist())
    numbers[between] = rng.integers(low, high, len(between), dtype=some.dtype, endpoint=True)
    found: Bytes = numbers.view(np.uint8)
    return found


def with_named_floats(rng: Rng, new: Bytes, kind: ElementType, named: Sequence[float]) -> Bytes:
    """Likewise in a quarter of the places, and the numbers next to them."""
    if not named or not len(new):
        return new
    numbers = values(new, kind).astype(np.float64)
    few = int(rng.integers(2, _FEW_NAMED + 1)) if rng.random() < 0.5 else len(named)
    some = rng.permutation(np.array(named, np.float64))[:few]
    places = np.flatnonzero(rng.random(len(numbers)) < 0.25)
    steps = rng.integers(-1, 2, len(places)) * STEP[kind.name]
    numbers[places] = rng.choice(some, len(places)) * (1 + steps)
    return encode(numbers, kind)


def _wrapped(value: int, bits: int, signed: bool) -> int:
    word = value & ((1 << bits) - 1)
    return word - (1 << bits) if signed and word >> (bits - 1) else word


def kept_small(kind: ElementType) -> bool:
    """Whether `any` of this type is not all that it holds."""
    return kind.name.startswith("i") and kind.size in _FEW


def with_large(rng: Rng, data: Bytes, kind: ElementType) -> Bytes:
    """A few that floating point of the same size cannot hold, and one nearly the largest there is:
    so few that a sum of all of them is still one."""
    if not kept_small(kind) or not len(data):
        return data
    new = values(data, kind).copy()
    low, most = _LARGE_FROM[kind.size], 1 << (8 * kind.size - 2)
    places = rng.permutation(len(new))[: min(_MOST_LARGE, max(1, len(new) // 32))]
    sign = rng.integers(0, 2, len(places)) * 2 - 1
    new[places] = sign * (rng.integers(low, 2 * low, len(places)) | 1)
    new[places[0]] = most - 1
    found: Bytes = new.view(np.uint8)
    return found


def _none(dtype: np.dtype[np.integer[Any]]) -> tuple[int, ...]:
    """What is no index: less than nought, or the largest there are."""
    most = int(np.iinfo(dtype).max)
    return (-1, -2, -7) if dtype.kind == "i" else (most, most - 1)


def _beyond(low: int, high: int, mode: Mode, dtype: np.dtype[np.integer[Any]]) -> tuple[int, int]:
    """How far a mode goes where the program went from `low` to `high`.

    wider: to the next power of two. fourfold: four times as far. any: what the type holds; but
    signed sums and products that overflow are undefined, so wide signed numbers stay small enough
    for a few of them.
    """
    limits = np.iinfo(dtype)
    least, most = int(limits.min), int(limits.max)
    if mode == "any" and least < 0 and dtype.itemsize > 2:
        few = _FEW[dtype.itemsize]
        least, most = min(low, -few), max(high, few)
    if mode == "fourfold":
        least, most = max(least, 4 * low if low < 0 else 0), min(most, 4 * high + 3)
    if mode == "wider":
        least = max(least, -(1 << (-low - 1).bit_length()) if low < 0 else 0)
        most = min(most, (1 << high.bit_length()) - 1 if high > 0 else 0)
    return min(low, least), max(high, most)


# ---- arguments by value


def other_float(rng: Rng, value: float) -> float:
    """Half to twice as much, of the same sign: what a program might have passed."""
    if not np.isfinite(value):
        return value
    return float(rng.uniform(-1, 1)) if value == 0 else value * float(rng.uniform(0.5, 2.0))


# Other kinds of floating-point arguments, by the names of the sets they make, and how the buffers
# are drawn with them: nought times what is not finite is not nought.
SCALARS: Mapping[str, tuple[Callable[[float], float], str]] = {
    "scalars of the other sign": (lambda value: -value, "another seed"),
    "scalars of nought": (lambda value: 0.0, "special values"),
    "scalars of one": (lambda value: 1.0, "another seed"),
}


def larger(value: int, most: int, workgroup: int, size: int) -> tuple[int, ...]:
    """More than the `most` the program used, by a workgroup and by one; and than this one by one;
    as far as `size` bytes hold it. What is nought or one may be no size, but where to begin."""
    limit = 1 << (8 * size - 1)
    if value in (0, 1):
        return (value + 2, value + 1, -1)
    wanted = (most + workgroup, most + 1, value + 1)
    return tuple(dict.fromkeys(v for v in wanted if value > 1 and v < limit))


BELOW = "below nought"


def unlike(value: int, size: int, signed: bool) -> dict[str, int]:
    """What is no size of the kind the program used, by the names of the sets: below nought, where
    the type goes there, and beyond what half of it holds."""
    bits = 8 * size
    half = 1 << bits // 2
    below = {BELOW: -value, "minus one": -1, "below nought by one": -value - 1}
    beyond = {
        "beyond half of its bits": value + half,
        "at half of its bits": half - 1 - value % 4,
        "at the top": (1 << (bits - 1 if signed else bits)) - 1 - value % 4,
    }
    found = {**(below if signed and value > 0 else {}), **(beyond if size == 8 else {})}
    return {name: v for name, v in found.items() if v != value}


def _divided_alike(value: int) -> int:
    """About three quarters, divided by the same powers of two."""
    even = value & -value  # the largest power of two in it
    step = even if even < value else max(1, value // 4)
    return max(step, value * 3 // 4 // step * step)


_FEW_KINDS = 16  # a number below this may say which of several
_TURNED = range(2, 8)  # of such a number, or of several that are yes or no
# Also of one argument alone.
ALONE = {"sizes of nought": 0, "sizes of one": 1, "sizes of two": 2, "sizes of three": 3}


# 49 * (1.0 / 49) and 41 * (1.0f / 41) are less than one, the first for which that is so.
_NO_RECIPROCAL = {"sizes without a reciprocal": 49, "sizes without one in single precision": 41}


def divisors(value: int) -> dict[str, int]:
    """What a size may be that something is divided by, smaller or larger."""
    return dict(_NO_RECIPROCAL) if value >= _FEW_KINDS else {}


def smaller(value: int, workgroup: int) -> dict[str, int]:
    """Sizes below a size, by the names of the sets they make: a few less, one that the same powers
    of two divide, as many whole workgroups as fit below it, and one past those; less than one
    workgroup; next to none."""
    if value < 0:
        return {}
    # Perhaps no size, but where to begin, or which of several.
    more = {"sizes one more": value + 1, "sizes two more": value + 2}
    more |= {f"sizes with bit {bit} turned": value ^ (1 << bit) for bit in _TURNED}
    if value <= 1:
        return {**({"sizes one less": 0} if value else {"minus one for nought": -1}), **more}
    whole, few = (value - 1) // workgroup * workgroup, workgroup // 2 + 1
    wanted = {
        "sizes one less": value - 1,
        "sizes two less": value - 2,
        "sizes four less": value - 4,
        "smaller sizes": _divided_alike(value),
        "sizes of whole workgroups": whole,
        "sizes one past whole workgroups": whole + 1,
        "sizes of half a workgroup": few,
    }
    some = {name: size for name, size in wanted.items() if 1 < size < value}
    next_to_none = {name: size for name, size in ALONE.items() if size < value}
    return {**some, **next_to_none, **(more if value < _FEW_KINDS else {})}
