"""Whole-column operations the graph needs: grouping, neighbours, joins by time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.analyze.graph.edges import Ints
from rocm_perf_lab.trace.columns import ranks

NONE = -1


def stable_order(keys: npt.NDArray[Any]) -> Ints:
    """argsort, stable. Small key ranges take numpy's radix sort, which is linear."""
    if len(keys) and keys.dtype.itemsize > 2:
        low, high = int(keys.min()), int(keys.max())
        if high - low < 1 << 16:
            keys = (keys - low).astype(np.uint16)
    return np.argsort(keys, kind="stable")


def previous_in_group(group: npt.NDArray[Any]) -> Ints:
    """For each row the row before it with the same group, NONE at a group's first or group -1."""
    order = stable_order(group)
    result = np.full(len(group), NONE, np.int64)
    if len(group) > 1:
        here, before = order[1:], order[:-1]
        same = (group[here] == group[before]) & (group[here] >= 0)
        result[here[same]] = before[same]
    return result


def latest_in_group(group: npt.NDArray[Any], end: Ints) -> Ints:
    """For each row the one before it in its group that ends last, NONE as above."""
    order = stable_order(group)
    begins = np.append(True, group[order][1:] != group[order][:-1])
    # Ranks by (group, end), so that the running maximum starts afresh with each group.
    ranked = np.lexsort((end[order], np.cumsum(begins)))
    rank = np.empty(len(order), np.int64)
    rank[ranked] = np.arange(len(order))
    leader = order[ranked[np.maximum.accumulate(rank)]]
    result = np.full(len(group), NONE, np.int64)
    result[order[1:]] = np.where(begins[1:], NONE, leader[:-1])
    result[group < 0] = NONE
    return result


def dense(*keys: npt.NDArray[Any]) -> Ints:
    """One small non-negative id per distinct combination of the key columns, in their order."""
    result = np.zeros(len(keys[0]), np.int64)
    size = 1
    for key in keys:
        if not len(key) or key.min() == key.max():
            continue
        values, rank = ranks(key.astype(np.int64))
        result = result * len(values) + rank
        size *= len(values)
        if size >= 1 << 31:  # keep products far from overflow
            values, result = ranks(result)
            size = len(values)
    return result


def grouped(*keys: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """The distinct combinations of the key columns, sorted, by a row that has each; and for each
    row which of them it has."""
    found, group = ranks(dense(*keys))
    row = np.zeros(len(found), np.int64)
    row[group] = np.arange(len(group))
    return row, group


@dataclass(frozen=True)
class TimeIndex:
    """Rows of (group, time), looked up by "the last at or before" and "the first after"."""

    order: Ints  # rows sorted by group, then time, then row
    group: Ints  # sorted
    time: Ints  # sorted within the group

    @staticmethod
    def of(group: npt.NDArray[Any], time: Ints) -> TimeIndex:
        order = np.lexsort((time, group))
        return TimeIndex(order, group[order].astype(np.int64), time[order])

    def _position(self, group: npt.NDArray[Any], time: Ints, side: str) -> Ints:
        """How many rows are before (group, time) in the sorted order."""
        low = np.searchsorted(self.group, group, side="left")
        if not len(self.time) or not len(group):
            return low
        base = min(int(self.time.min()), int(time.min()))
        span = max(int(self.time.max()), int(time.max())) - base + 2
        top = max(int(self.group.max()), int(group.max())) + 2
        if span * top < 1 << 62 and min(int(self.group.min()), int(group.min())) >= -1:
            stored = (self.group + 1) * span + (self.time - base)
            asked = (group.astype(np.int64) + 1) * span + (time - base)
        else:  # ranks instead of times: slower, never overflows
            _, times = ranks(np.concatenate([self.time, time]))
            _, groups = ranks(np.concatenate([self.group, group]))
            keys = groups * (len(times) + 1) + times
            stored, asked = keys[: len(self.time)], keys[len(self.time) :]
        return np.searchsorted(stored, asked, side="left" if side == "left" else "right")

    def last_before(self, group: npt.NDArray[Any], time: Ints, strictly: bool = False) -> Ints:
        """The last row of the group at or before (or strictly before) the time, else NONE."""
        return self._row(self._position(group, time, "left" if strictly else "right") - 1, group)

    def first_after(self, group: npt.NDArray[Any], time: Ints) -> Ints:
        """The first row of the group strictly after the time, else NONE."""
        return self._row(self._position(group, time, "right"), group)

    def count_before(self, group: npt.NDArray[Any], time: Ints) -> Ints:
        """How many rows of the group are at or before the time."""
        return self._position(group, time, "right") - np.searchsorted(self.group, group)

    def between(self, group: npt.NDArray[Any], after: Ints, before: Ints) -> tuple[Ints, Ints]:
        """Sorted positions [low, high) of the group's rows with after < time < before."""
        low = self._position(group, after, "right")
        high = self._position(group, before, "left")
        return low, np.maximum(low, high)

    def _row(self, position: Ints, group: npt.NDArray[Any]) -> Ints:
        result = np.full(len(position), NONE, np.int64)
        if len(self.order):
            inside = (position >= 0) & (position < len(self.order)) & (group >= 0)
            clipped = np.clip(position, 0, len(self.order) - 1)
            hit = inside & (self.group[clipped] == group)
            result[hit] = self.order[clipped[hit]]
        return result


def expand(low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Every position of each [low, high): (which range, position)."""
    counts = high - low
    owner = np.repeat(np.arange(len(low)), counts)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    return owner, np.arange(len(owner)) - starts + low[owner] if len(owner) else owner


@dataclass(frozen=True)
class Union:
    """Disjoint, non-empty intervals in order; `row` is the input row that opened each."""

    start: Ints
    end: Ints
    row: Ints

    @staticmethod
    def of(start: Ints, end: Ints) -> Union:
        """Of intervals sorted by start."""
        rows = np.flatnonzero(end > start)
        start, end = start[rows], end[rows]
        if not len(rows):
            return Union(start, end, rows)
        reach = np.maximum.accumulate(end)
        first = np.flatnonzero(np.append(True, start[1:] > reach[:-1]))
        return Union(start[first], reach[np.append(first[1:], len(rows)) - 1], rows[first])

    @property
    def total(self) -> int:
        return int((self.end - self.start).sum())

    def within(self, low: Ints, high: Ints) -> Ints:
        """How much of each [low, high] the union covers."""
        if not len(self.start):
            return np.zeros(len(low), np.int64)
        before = np.append(0, np.cumsum(self.end - self.start))

        def covered(time: Ints) -> Ints:
            index = np.searchsorted(self.start, time, side="right")
            last = np.maximum(index - 1, 0)
            partial = np.minimum(time, self.end[last]) - self.start[last]
            return np.where(index > 0, before[last] + partial, 0)

        return covered(high) - covered(low)
