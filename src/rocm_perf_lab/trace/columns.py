"""Small numpy tools the readers share: tolerant integers, id lookups, dense numbering."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.trace.trace import IntColumn

MISSING = int(np.iinfo(np.int64).min)
"""Stands for NULL in a raw integer column; readers turn it into -1 or drop the row."""

_LARGEST = int(np.iinfo(np.int64).max)


def as_integer(value: object) -> int:
    """What a loosely typed value means as a 64-bit integer, or MISSING.

    SQLite columns hold any type whatever was declared, so "12", b"12" and 12.0 are 12, while
    1.5, 1e300 and "x" are no integer at all.
    """
    if isinstance(value, (bytes, str)):
        text = value.strip()
        if len(text) > 20:
            return MISSING
        try:
            value = int(text)
        except ValueError:
            return MISSING
    elif isinstance(value, float):
        if not value.is_integer():
            return MISSING
        value = int(value)
    if isinstance(value, int) and -_LARGEST <= value <= _LARGEST:
        return int(value)
    return MISSING


def as_real(value: object) -> float:
    """What a loosely typed value means as a finite number, or NaN."""
    if isinstance(value, (bytes, str)) and len(value) > 64:
        return float("nan")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return float("nan")
    return number if np.isfinite(number) else float("nan")


def int_column(values: Sequence[object]) -> tuple[IntColumn, int]:
    """Values as int64, and how many of them were something, but no integer.

    array('q') accepts Python integers only, so the common, clean column costs one C loop and
    everything else takes the tolerant road.
    """
    try:
        return np.frombuffer(array("q", cast("Sequence[int]", values)), dtype=np.int64), 0
    except (TypeError, OverflowError):
        pass
    column = np.fromiter(map(as_integer, values), dtype=np.int64, count=len(values))
    absent = sum(1 for value in values if value is None)
    return column, int(np.count_nonzero(column == MISSING)) - absent


def real_column(values: Sequence[object]) -> npt.NDArray[np.float64]:
    try:
        column = np.frombuffer(array("d", cast("Sequence[float]", values)), dtype=np.float64)
    except (TypeError, OverflowError):
        column = np.fromiter(map(as_real, values), dtype=np.float64, count=len(values))
    return np.where(np.isfinite(column), column, np.nan)


def ordinary_text(value: object) -> str | None:
    """Text that can always be printed and encoded: bytes that are no UTF-8 show as \\xNN."""
    if value is None:
        return None
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def positions(ids: IntColumn, wanted: IntColumn) -> IntColumn:
    """Where each wanted id stands in `ids` (the first, if it stands there twice), or -1."""
    if not len(ids):
        return np.full(len(wanted), -1, dtype=np.int64)
    first, last = int(ids[0]), int(ids[-1])
    if last - first + 1 == len(ids) and bool(np.all(np.diff(ids) == 1)):
        inside = (wanted >= first) & (wanted <= last)
        return np.where(inside, wanted - np.where(inside, first, 0), -1)
    if len(ids) > 1 and not bool(np.all(ids[1:] > ids[:-1])):
        order = np.argsort(ids, kind="stable")
        ids = ids[order]
    else:
        order = None
    at = np.searchsorted(ids, wanted, side="left")
    at[at == len(ids)] = 0
    found = ids[at] == wanted
    where = at if order is None else order[at]
    return np.where(found & (wanted != MISSING), where, -1)


def ranks(values: IntColumn) -> tuple[IntColumn, IntColumn]:
    """The sorted distinct values, and each value's rank among them."""
    if len(values):
        low, high = int(values.min()), int(values.max())
        if 0 <= high - low < 4 * len(values) + 1024:
            present = np.zeros(high - low + 1, dtype=bool)
            present[values - low] = True
            rank = np.cumsum(present, dtype=np.int64) - 1
            return np.flatnonzero(present) + low, rank[values - low]
    distinct, inverse = np.unique(values, return_inverse=True)
    return distinct, inverse.reshape(-1).astype(np.int64)


def dense(groups: Iterable[tuple[IntColumn, IntColumn]]) -> list[IntColumn]:
    """Number the distinct (process, id) pairs of several tables from 0, in order; MISSING is -1."""
    pairs = list(groups)
    if not pairs:
        return []
    process = np.concatenate([p for p, _ in pairs])
    ids = np.concatenate([i for _, i in pairs])
    known = ids != MISSING
    result = np.full(len(ids), -1, dtype=np.int64)
    distinct, rank = ranks(ids[known])
    if len(distinct):
        _, number = ranks(process[known] * len(distinct) + rank)
        result[known] = number
    ends = np.cumsum([len(i) for _, i in pairs])[:-1]
    return [np.ascontiguousarray(part) for part in np.split(result, ends)]
