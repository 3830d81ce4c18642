"""Outputs against what was expected: bit for bit, else by the type of the elements.

Floating-point elements agree if |got - expected| <= tolerance * max(1, |expected|); a NaN agrees
with a NaN, an infinity with the same one. Elements of any other type agree only if identical.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
_memcmp = ctypes.CDLL(None).memcmp
_memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
SHOWN = 8  # differences listed


def identical(left: Bytes, right: Bytes) -> bool:
    """Of contiguous arrays; numpy's own comparison first writes an array of answers."""
    if len(left) != len(right):
        return False
    return not len(left) or not _memcmp(left.ctypes.data, right.ctypes.data, len(left))


@dataclass(frozen=True)
class ElementType:
    name: str
    size: int
    numpy: str | None  # None: bfloat16, which numpy does not have
    floating: bool
    tolerance: float = 0.0  # unless the user says another


_TYPES = (
    ElementType("f64", 8, "<f8", True, 1e-12),
    ElementType("f32", 4, "<f4", True, 1e-5),
    ElementType("f16", 2, "<f2", True, 1e-2),
    ElementType("bf16", 2, None, True, 2e-2),
    *(
        ElementType(f"{sign}{8 * size}", size, f"<{sign}{size}", False)
        for sign in "iu"
        for size in (1, 2, 4, 8)
    ),
)
TYPES = {each.name: each for each in _TYPES}
BYTES = TYPES["u8"]

_ALIASES = {
    "double": "f64", "float": "f32", "half": "f16", "_float16": "f16", "__half": "f16",
    "__hip_bfloat16": "bf16", "hip_bfloat16": "bf16", "__bf16": "bf16", "bfloat16": "bf16",
    "float64": "f64", "float32": "f32", "float16": "f16",
    "char": "i8", "signed char": "i8", "unsigned char": "u8", "uchar": "u8", "bool": "u8",
    "short": "i16", "unsigned short": "u16", "ushort": "u16", "int": "i32", "unsigned int": "u32",
    "unsigned": "u32", "uint": "u32", "long": "i64", "unsigned long": "u64", "ulong": "u64",
    "long long": "i64", "unsigned long long": "u64", "size_t": "u64",
    **{
        f"{u}int{n}{t}": f"{u or 'i'}{n}"
        for u in ("", "u") for n in (8, 16, 32, 64) for t in ("", "_t")
    },
}  # fmt: skip
_VECTOR = re.compile(r"(?:HIP_vector_type<(?P<of>[^,<>]+), ?\d+u?>|(?P<stem>u?[a-z]+)[1234])")
_STEMS = {"float", "double", "int", "uint", "short", "ushort", "char", "uchar", "long", "ulong"}


def element_type(text: str | None) -> ElementType | None:
    """By C++'s, numpy's or our own name; a pointer stands for what it points to."""
    if not text:
        return None
    plain = re.sub(r"\b(const|volatile|restrict|__restrict__|struct)\b|[*&]", " ", text)
    plain = " ".join(plain.split())
    if match := _VECTOR.fullmatch(plain):
        stem = match["of"] or match["stem"]
        if match["of"] or stem in _STEMS:
            plain = stem.strip()
    plain = plain.lower()
    return TYPES.get(plain) or TYPES.get(_ALIASES.get(plain, ""))


def values(data: Bytes, kind: ElementType) -> npt.NDArray[np.float64] | npt.NDArray[np.integer]:
    """Floats as doubles, which hold each of them exactly; integers as they are."""
    if kind.numpy is None:
        return (data.view("<u2").astype("<u4") << 16).view("<f4").astype(np.float64)
    typed = data.view(kind.numpy)
    with np.errstate(invalid="ignore"):  # of a signalling NaN
        return typed.astype(np.float64) if kind.floating else typed


@dataclass(frozen=True)
class Difference:
    index: int  # of the element, from the start of the data compared
    expected: float | int | str
    got: float | int | str


@dataclass(frozen=True)
class Comparison:
    elements: int
    differing: int  # not bit for bit the same
    beyond: int  # of these, not within the tolerance
    largest_absolute: float | None
    largest_relative: float | None
    first: tuple[Difference, ...]  # those beyond the tolerance, else those differing


def compare(
    expected: Bytes, got: Bytes, kind: ElementType, tolerance: float | None = None
) -> Comparison:
    """Both hold whole elements. `tolerance` None: the type's own."""
    raw = np.flatnonzero((expected != got).reshape(-1, kind.size).any(axis=1))
    if not len(raw):
        return Comparison(len(expected) // kind.size, 0, 0, None, None, ())
    wanted = expected.reshape(-1, kind.size)[raw].reshape(-1)
    found = got.reshape(-1, kind.size)[raw].reshape(-1)
    left, right = values(wanted, kind), values(found, kind)
    limit = kind.tolerance if tolerance is None else tolerance
    absolute = relative = None
    beyond = np.ones(len(raw), dtype=bool)
    if kind.floating:
        with np.errstate(all="ignore"):
            distance = np.abs(right - left)
            agree = distance <= limit * np.maximum(1.0, np.abs(left))
            same = (left == right) | (np.isnan(left) & np.isnan(right))
            beyond = ~(agree | same)
            finite = distance[np.isfinite(distance)]
            ratio = (distance / np.abs(left))[np.isfinite(distance) & (left != 0)]
            absolute = float(finite.max()) if len(finite) else None
            relative = float(ratio.max()) if len(ratio) else None
    shown = np.flatnonzero(beyond)[:SHOWN] if beyond.any() else np.arange(min(SHOWN, len(raw)))
    first = tuple(Difference(int(raw[i]), plain(left[i]), plain(right[i])) for i in shown.tolist())
    return Comparison(
        len(expected) // kind.size, len(raw), int(beyond.sum()), absolute, relative, first
    )


def plain(value: np.generic) -> float | int | str:
    """JSON has no NaN and no infinity: they go by name."""
    number = value.item()
    if isinstance(number, float) and not np.isfinite(number):
        return str(number)
    return number  # type: ignore[no-any-return]
