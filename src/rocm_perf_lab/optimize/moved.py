"""Columns of which every number is one that was there: nothing was computed, so nothing is rounded.

A copy, a transposition, a gather or a maximum moves numbers; what another build makes of them has
to be the same bits, not nearly the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.optimize.input_sets import Place
from rocm_perf_lab.optimize.layout import Buffer, Leaf, column
from rocm_perf_lab.replay.compare import Bytes
from rocm_perf_lab.replay.session import Seen

MOST_BYTES = 64 << 20
CHANCE = 20.0  # that numbers which were computed are all there: below e to minus this

Words = npt.NDArray[np.unsignedinteger]


def moved_only(
    buffers: Sequence[Buffer], given: Sequence[Bytes], seen: Sequence[Seen], floating: bool = True
) -> frozenset[Place]:
    """`given`: what each of the buffers held before the run; `seen`: what it left where. Of columns
    of floating point, or of integers."""
    if sum(b.size for b in buffers) > MOST_BYTES:
        return frozenset()
    found: set[Place] = set()
    for size in (2, 4, 8):
        pools = [
            words
            for pair in zip(buffers, given, strict=True)
            for words in _words(*pair, size, floating)
        ]
        pool = np.unique(np.concatenate([np.zeros(1, f"<u{size}"), *pools]))  # nought is anywhere
        for buffer, each in ((b, s) for b in buffers for s in seen if s.address == b.address):
            for leaf in (
                x for x in buffer.leaves if (x.type.floating, x.type.size) == (floating, size)
            ):
                left = column(each.got, buffer, leaf).view(f"<u{size}")
                changed = left[left != column(each.initial, buffer, leaf).view(f"<u{size}")]
                if _all_among(np.unique(changed), pool):
                    found.add((buffer.address, leaf.offset))
    return frozenset(found)


def _all_among(some: Words, pool: Words) -> bool:
    """And not by chance, as where the pool has nearly every number of its range."""
    if not len(some) or not np.isin(some, pool).all():
        return False
    low, high = int(some[0]), int(some[-1])
    inside = int(np.searchsorted(pool, high, "right") - np.searchsorted(pool, low, "left"))
    return len(some) * -math.log(inside / (high - low + 1)) > CHANCE


def _words(buffer: Buffer, data: Bytes, size: int, floating: bool) -> Iterator[Words]:
    for leaf in _leaves(buffer, size, floating):
        yield np.unique(column(data, buffer, leaf).view(f"<u{size}"))


def _leaves(buffer: Buffer, size: int, floating: bool) -> Iterator[Leaf]:
    return (x for x in buffer.leaves if (x.type.floating, x.type.size) == (floating, size))
