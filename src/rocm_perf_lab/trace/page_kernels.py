"""The loops of `pages`, compiled. Import only where numba is installed.

Offsets come from the file, so every one is checked before it is used: compiled code has no
bounds of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from rocm_perf_lab.trace.columns import MISSING
from rocm_perf_lab.trace.trace import FloatColumn, IntColumn

Bytes = npt.NDArray[np.uint8]
Function = TypeVar("Function", bound=Callable[..., object])

# Bytes of a value by its serial type, of those that are no text or blob.
_SIZES = np.array([0, 1, 2, 3, 4, 6, 8, 8, 0, 0], dtype=np.int64)
_MISSING = np.int64(MISSING)


def _jit(function: Function) -> Function:
    try:
        compiled = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no folder in which the compiled code could be kept
        compiled = numba.njit(nogil=True)(function)
    return cast("Function", compiled)


@_jit
def _varint(data: Bytes, at: int, end: int) -> tuple[Any, Any]:
    """A variable-length integer and where the next byte is; -1 there if it does not end."""
    value = np.int64(0)
    for i in range(8):
        if at + i >= end:
            return value, -1
        byte = data[at + i]
        value = (value << 7) | np.int64(byte & 0x7F)
        if byte < 0x80:
            return value, at + i + 1
    if at + 8 >= end:
        return value, -1
    return (value << 8) | np.int64(data[at + 8]), at + 9


@_jit
def _integer(data: Bytes, at: int, size: int) -> Any:
    """A big-endian two's complement number of 1 to 8 bytes."""
    value = np.int64(data[at])
    if value >= 128:
        value -= 256
    for i in range(1, size):
        value = (value << 8) | np.int64(data[at + i])
    return value


@_jit
def _short(data: Bytes, at: int) -> Any:
    return (np.int64(data[at]) << 8) | np.int64(data[at + 1])


@_jit
def _local(payload: int, usable: int) -> Any:
    """How much of a record lies on its page; the rest is on overflow pages."""
    if payload <= usable - 35:
        return payload
    least = (usable - 12) * 32 // 255 - 23
    local = least + (payload - least) % (usable - 4)
    return local if local <= usable - 35 else least


@_jit
def records(
    data: Bytes,
    offsets: IntColumn,
    starts: IntColumn,
    usable: int,
    rowids: IntColumn,
    begins: IntColumn,
    ends: IntColumn,
) -> Any:
    """Where each row's record lies, and its rowid; False for anything out of the ordinary."""
    row = 0
    last = _MISSING
    for p in range(len(offsets)):
        offset, start = offsets[p], starts[p]
        end = offset + usable
        if data[start] != 13:
            return False
        cells = _short(data, start + 3)
        if start + 8 + 2 * cells > end:
            return False
        for c in range(cells):
            at = offset + _short(data, start + 8 + 2 * c)
            if at < start + 8 + 2 * cells or at >= end:
                return False
            payload, at = _varint(data, at, end)
            if at < 0 or payload < 1:
                return False
            rowid, at = _varint(data, at, end)
            if at < 0 or rowid <= last:
                return False
            last = rowid
            rowids[row], begins[row], ends[row] = rowid, at, at + _local(payload, usable)
            if ends[row] > end:
                return False
            row += 1
    return True


@_jit
def columns(
    data: Bytes,
    rowids: IntColumn,
    begins: IntColumn,
    ends: IntColumn,
    kinds: IntColumn,
    slot: IntColumn,
    rowid_column: int,
    integers: IntColumn,
    reals: FloatColumn,
    begin: IntColumn,
    length: IntColumn,
) -> Any:
    """Fill the columns from the records; False for anything out of the ordinary.

    One loop, not a function a value: compiled calls that pass arrays cost half as much again.
    """
    for row in range(len(rowids)):
        stop = ends[row]
        header, types = _varint(data, begins[row], stop)
        header_end = value_at = begins[row] + header
        if types < 0 or header < 1 or header_end > stop:
            return False
        for column in range(len(kinds)):
            if types >= header_end:
                return False
            kind = np.int64(data[types])
            if kind < 0x80:
                types += 1
            else:
                kind, types = _varint(data, types, header_end)
                if types < 0 or kind < 0:
                    return False
            if kind >= 12:
                size = (kind - 12) >> 1
            elif kind < 10:
                size = _SIZES[kind]
            else:
                return False
            if value_at + size > stop:  # of a skipped one too: sizes could add up past all bounds
                return False
            wanted = kinds[column]
            if wanted != 0:
                to = slot[column]
                if wanted == 1:
                    if column == rowid_column:
                        integers[to, row] = rowids[row]
                    elif kind == 0:
                        integers[to, row] = _MISSING
                    elif kind < 7:
                        integers[to, row] = _integer(data, value_at, size)
                    elif kind == 8 or kind == 9:
                        integers[to, row] = kind - 8
                    else:
                        return False
                elif wanted == 2:
                    if kind == 0:
                        reals[to, row] = np.nan
                    elif kind < 7:
                        reals[to, row] = np.float64(_integer(data, value_at, size))
                    elif kind == 7:
                        bits = _integer(data, value_at, 8)
                        reals[to, row] = np.int64(bits).view(np.float64)
                    elif kind < 10:
                        reals[to, row] = np.float64(kind - 8)
                    else:
                        return False
                elif kind == 0:
                    begin[to, row] = 0
                    length[to, row] = -1
                elif kind >= 13 and kind % 2 == 1:
                    begin[to, row] = value_at
                    length[to, row] = size
                else:
                    return False
            value_at += size
    return True


@_jit
def _same(one: Bytes, at: int, other: Bytes, there: int, size: int) -> Any:
    for i in range(size):  # noqa: SIM110 - a loop is what compiles well
        if one[at + i] != other[there + i]:
            return False
    return True


@_jit
def distinct(data: Bytes, begin: IntColumn, length: IntColumn) -> tuple[IntColumn, IntColumn]:
    """Number equal byte strings equally; the first row of each number. NULL has length -1."""
    count = len(begin)
    places = 16
    while places < 2 * count:
        places *= 2
    table = np.full(places, -1, dtype=np.int64)
    codes = np.empty(count, dtype=np.int64)
    first = np.empty(count, dtype=np.int64)
    found = 0
    for i in range(count):
        size = length[i]
        mixed = np.uint64(1469598103934665603)
        for j in range(size):
            mixed = (mixed ^ np.uint64(data[begin[i] + j])) * np.uint64(1099511628211)
        mixed ^= mixed >> np.uint64(32)
        at = np.int64(mixed & np.uint64(places - 1))
        while True:
            code = table[at]
            if code < 0:
                table[at] = found
                codes[i] = found
                first[found] = i
                found += 1
                break
            other = first[code]
            if length[other] == size and _same(data, begin[i], data, begin[other], size):
                codes[i] = code
                break
            at = (at + 1) & (places - 1)
    return codes, first[:found].copy()


@_jit
def matching(
    data: Bytes, begin: IntColumn, length: IntColumn, wanted: Bytes, ends: IntColumn
) -> npt.NDArray[np.bool_]:
    """Which byte strings are among the wanted ones, which lie end to end."""
    found = np.zeros(len(begin), dtype=np.bool_)
    for i in range(len(begin)):
        start = np.int64(0)
        for end in ends:
            if end - start == length[i] and _same(data, begin[i], wanted, start, length[i]):
                found[i] = True
                break
            start = end
    return found
