"""Integer results that do not fit, by exact arithmetic: what clamp holds at the ends of the type.

The manual's sentence for every one of them: the result is computed without loss and then limited to
the destination's range. Python's and numpy's 64-bit integers hold all of these results exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.virtual.isa.op import Op

Words = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.int64]


def pieces(word: Words, bits: int, signed: bool) -> Numbers:
    """A register cut into numbers of so many bits: (pieces, lanes), the lowest first."""
    cut = np.stack(
        [
            (word.astype(np.int64) >> shift) & ((1 << bits) - 1)
            for shift in range(0, 32 - bits + 1, bits)
        ]
    )
    return np.where(cut >> (bits - 1) & 1, cut - (1 << bits), cut) if signed else cut


def number(word: Words, bits: int, signed: bool) -> Numbers:
    return np.asarray(pieces(word, bits, signed)[0])


def _sum_of_differences(a: Words, b: Words, c: Numbers, bits: int, masked: bool) -> Numbers:
    one, other = pieces(a, bits, False), pieces(b, bits, False)
    apart = np.abs(one - other)
    if masked:  # a zero byte of the reference counts for nothing
        apart = np.where(other == 0, 0, apart)
    return np.asarray(apart.sum(axis=0) + c)


def _typed(name: str, sources: Sequence[Words]) -> tuple[int, bool, list[Numbers]]:
    """Bits and sign of the sources as the name's last part has them."""
    kind = re.search(r"_([iu])(\d+)$", name)
    assert kind is not None, name
    bits, signed = int(kind[2]), kind[1] == "i"
    return bits, signed, [number(word, bits, signed) for word in sources]


def _two(f: Callable[[Numbers, Numbers], Numbers]) -> Callable[..., Numbers]:
    return lambda name, a, b: f(*_typed(name, (a, b))[2])


def _multiply_add(name: str, a: Words, b: Words, c: Words) -> Numbers:
    _, signed, (x, y) = _typed(name, (a, b))
    wide = 16 if re.search(r"mad_(legacy_)?[iu]16$", name) else 32
    return np.asarray(x * y + number(c, wide, signed))


def _dot(name: str, a: Words, b: Words, c: Words) -> Numbers:
    bits, signed, _ = _typed(name, ())
    products = pieces(a, bits, signed) * pieces(b, bits, signed)
    return np.asarray(products.sum(axis=0) + number(c, 32, signed))


def _sad(name: str, a: Words, b: Words, c: Words) -> Numbers:
    bits, _, _ = _typed(name, ())
    return _sum_of_differences(a, b, number(c, 32, False), bits, name.startswith("v_msad"))


# Others that LLVM lets be written with clamp: carries, products of 24 bits, shifts and sums of four
# sums, for which no source says what it holds.
_EXACT: tuple[tuple[str, Callable[..., Numbers]], ...] = (
    (r"v_add_[iu](16|32)", _two(lambda a, b: a + b)),
    (r"v_sub_[iu](16|32)", _two(lambda a, b: a - b)),
    (r"v_subrev_[iu](16|32)", _two(lambda a, b: b - a)),
    (r"v_mad_(legacy_)?[iu]16|v_mad_[iu]32_[iu](16|24)", _multiply_add),
    (r"v_dot[248]c?_[iu]32_[iu](4|8|16)", _dot),
    (r"v_m?sad_u(8|16|32)", _sad),
)
_PACKED = re.compile(r"v_pk_(add|sub|mad)_([iu]16)")


def exact_of(name: str) -> Callable[..., Numbers] | None:
    return next((f for pattern, f in _EXACT if re.fullmatch(pattern, name)), None)


def saturates(op: Op) -> bool:
    return op.kind == "valu" and bool(exact_of(op.name) or _PACKED.fullmatch(op.name))


def limited(value: Numbers, bits: int, signed: bool) -> Words:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return (np.clip(value, low, high) & ((1 << bits) - 1)).astype(np.uint32)


def saturated(op: Op, sources: Sequence[Words], plain: Words, old: Words) -> Words:
    """What clamp leaves in the destination; bits that are no part of the result are the plain's."""
    words = [word[0] for word in sources]
    if packed := _PACKED.fullmatch(op.name):
        one, signed = f"v_{packed[1]}_{packed[2]}", packed[2][0] == "i"
        exact = exact_of(one)
        assert exact is not None, op.name
        halves = [
            limited(exact(one, *(word >> np.uint32(shift) for word in words)), 16, signed)
            for shift in (0, 16)
        ]
        return (halves[0] | halves[1] << np.uint32(16)).reshape(1, -1)
    exact = exact_of(op.name)
    assert exact is not None, op.name
    if "old" in op.flags:
        words.append(old[0])
    bits = 16 if op.dst in ("u16", "i16") else 32
    value = limited(exact(op.name, *words), bits, op.dst.startswith("i"))
    return value.reshape(1, -1) | (plain & ~np.uint32((1 << bits) - 1))
