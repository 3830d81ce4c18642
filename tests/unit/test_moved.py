"""Which columns a kernel only moves numbers to."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.optimize.layout import Buffer, Leaf
from rocm_perf_lab.optimize.moved import moved_only
from rocm_perf_lab.replay.compare import TYPES
from rocm_perf_lab.replay.session import Seen

F32 = (Leaf(0, TYPES["f32"]),)
IN = Buffer("in", 0x1000, 4000, 4, F32, const=True)
OUT = Buffer("out", 0x9000, 4000, 4, F32, const=False)
DRAWN = np.random.default_rng(1).uniform(-5, 5, 1000).astype("<f4")
POISON = np.full(4000, 0xFF, np.uint8)


def moved(results: npt.NDArray[np.float32]) -> bool:
    seen = Seen(OUT.address, POISON, POISON, results.view(np.uint8))
    given = [DRAWN.view(np.uint8), POISON]
    return (OUT.address, 0) in moved_only([IN, OUT], given, [seen])


def test_a_copy_backwards_is_moved() -> None:
    assert moved(DRAWN[::-1].copy())


def test_what_is_computed_is_not() -> None:
    assert not moved((DRAWN * np.float32(1.5)).astype("<f4"))


def test_one_number_that_was_not_there_is_computed() -> None:
    some = DRAWN[::-1].copy()
    some[3] = np.float32(0.1)
    assert not moved(some)


def test_where_every_number_of_a_range_is_there_nothing_can_be_told() -> None:
    every = np.arange(0x3F800000, 0x3F800000 + 1000, dtype="<u4").view("<f4")
    seen = Seen(OUT.address, POISON, POISON, every[:1000].copy().view(np.uint8))
    assert not moved_only([IN, OUT], [every.view(np.uint8), POISON], [seen])
