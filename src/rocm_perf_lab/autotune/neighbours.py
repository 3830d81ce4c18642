"""Which configurations differ from a given one in a single parameter, found by hashing.

A row's key is the sum of one random 64-bit number per (parameter, value), so the keys of all
variations of a row cost one addition each, and looking them up does not depend on the space's size.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.autotune.space import Space

Rows = npt.NDArray[np.int64]
_NEAREST_POOL = 20_000


class Neighbours:
    def __init__(self, space: Space, coordinates: npt.NDArray[np.float64]) -> None:
        self._codes = space.codes
        self._coordinates = coordinates
        rng = np.random.default_rng(0x5EED)
        self._domains = [(j, len(space.values[j])) for j in space.varying]
        self._tables = {
            j: rng.integers(0, 2**63, count, dtype=np.uint64) for j, count in self._domains
        }
        keys = np.zeros(space.size, dtype=np.uint64)
        for j, table in self._tables.items():
            keys += table[space.codes[:, j]]
        self._keys = keys
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]

    def of(self, row: int) -> Rows:
        """Rows that differ from `row` in exactly one parameter."""
        wanted = [np.zeros(0, dtype=np.uint64)]
        for j, count in self._domains:
            table, own = self._tables[j], self._codes[row, j]
            others = np.delete(np.arange(count), own)
            wanted.append(self._keys[row : row + 1] + (table[others] - table[own : own + 1]))
        return self._rows(np.concatenate(wanted))

    def within_two(self, row: int) -> Rows:
        """Rows that differ from `row` in at most two parameters."""
        base = self._keys[row : row + 1]
        one: list[tuple[int, npt.NDArray[np.uint64]]] = []
        found = []
        for j, count in self._domains:
            table, own = self._tables[j], self._codes[row, j]
            change = table[np.delete(np.arange(count), own)] - table[own : own + 1]
            found.append(base + change)
            found += [(base + c[:, None] + change[None, :]).ravel() for _, c in one]
            one.append((j, change))
        return self._rows(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)

    def nearest(self, row: int, rng: np.random.Generator, count: int) -> Rows:
        """The closest rows by coordinates: for lists in which no two rows are neighbours."""
        pool = np.arange(len(self._codes))
        if len(pool) > _NEAREST_POOL:
            pool = np.sort(rng.choice(len(pool), _NEAREST_POOL, replace=False))
        distance = np.abs(self._coordinates[pool] - self._coordinates[row]).sum(axis=1)
        return np.asarray(pool[np.argsort(distance, kind="stable")[:count]])

    def _rows(self, keys: npt.NDArray[np.uint64]) -> Rows:
        at = np.minimum(np.searchsorted(self._sorted, keys), len(self._sorted) - 1)
        return np.asarray(self._order[at[self._sorted[at] == keys]])
