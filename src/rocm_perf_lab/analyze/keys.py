"""What tells one kind of launch from another: the kernel, its grid, workgroup and LDS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.trace.columns import ranks
from rocm_perf_lab.trace.trace import IndexColumn, Trace


@dataclass(frozen=True, order=True)
class KernelKey:
    """A kernel and the shape it was launched in: what two runs must agree on."""

    name: str
    grid: tuple[int, int, int]
    workgroup: tuple[int, int, int]
    lds_bytes: int

    @property
    def threads(self) -> int:
        """Of a workgroup; 0 where the size recorded is impossible."""
        if not possible(self.grid, self.workgroup):
            return 0
        return int(np.prod(self.workgroup, dtype=np.int64))

    @property
    def workgroups(self) -> int:
        """0 where the size recorded is impossible."""
        if not possible(self.grid, self.workgroup):
            return 0
        return int(
            np.prod(
                [-(-g // max(w, 1)) for g, w in zip(self.grid, self.workgroup, strict=True)],
                dtype=np.int64,
            )
        )


MOST_THREADS = 1024  # of a workgroup, on every AMD GPU
_MOST_ITEMS = 2**32  # of a grid's axis


def possible(grid: Sequence[int], workgroup: Sequence[int]) -> bool:
    """Whether a kernel can be launched in this size; readers put -1 where none is recorded."""
    axes = all(1 <= g < _MOST_ITEMS for g in grid) and all(w >= 1 for w in workgroup)
    return axes and int(np.prod(np.array(workgroup, dtype=object))) <= MOST_THREADS


def kernel_keys(trace: Trace) -> tuple[list[KernelKey], IndexColumn]:
    """Each dispatch's kernel key, as an index into the keys in order of first appearance."""
    d = trace.dispatches
    if not len(d):
        return [], np.zeros(0, np.int32)
    names: dict[str, int] = {}
    by_kernel = np.array([names.setdefault(k.name, len(names)) for k in trace.kernels] or [0])
    named = np.where(d.kernel >= 0, by_kernel[d.kernel], -1)
    columns = [named, d.lds_bytes, *d.workgroup.T, *d.grid.T]
    first, index = _distinct_rows(columns)
    keys = [
        KernelKey(
            trace.kernels[d.kernel[i]].name if d.kernel[i] >= 0 else "(unnamed kernel)",
            (int(d.grid[i, 0]), int(d.grid[i, 1]), int(d.grid[i, 2])),
            (int(d.workgroup[i, 0]), int(d.workgroup[i, 1]), int(d.workgroup[i, 2])),
            int(d.lds_bytes[i]),
        )
        for i in first
    ]
    return keys, index


_MANY = 1 << 10  # values; a column that may have more is numbered first, so that codes stay few


def _distinct_rows(
    columns: list[npt.NDArray[np.integer]],
) -> tuple[npt.NDArray[np.int64], IndexColumn]:
    """Where each distinct row stands first, in that order, and each row's place among those."""
    code, span = np.zeros(len(columns[0]), np.int64), 1
    for given in columns:
        low, high = int(given.min()), int(given.max())
        if low == high:
            continue
        column = np.ascontiguousarray(given, dtype=np.int64)
        width = high - low + 1
        if width > _MANY:
            column, low, width = _dense(column)
        if span * width > 2**62:
            code, _, span = _dense(code)
        code = code * width + (column - low)
        span *= width
    if span > 4 * len(code) + 2**16:
        code, _, span = _dense(code)
    # Written backwards, the first row of each code is the one that stays.
    rows = np.arange(len(code), dtype=np.int64)
    first_of = np.full(span, -1, np.int64)
    first_of[code[::-1]] = rows[::-1]
    first = np.sort(first_of[first_of >= 0])
    place = np.zeros(span, np.int32)
    place[code[first]] = np.arange(len(first), dtype=np.int32)
    return first, place[code]


def _dense(column: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], int, int]:
    values, rank = ranks(column)
    return rank, 0, len(values)
