"""Memory that holds nearly the right results: off by more than rounding, and by little."""

from __future__ import annotations

import numpy as np

from rocm_perf_lab.optimize.input_sets import nearly
from rocm_perf_lab.optimize.layout import Buffer, Leaf
from rocm_perf_lab.replay.compare import TYPES

PAIR = (Leaf(0, TYPES["f32"]), Leaf(4, TYPES["i32"]))


def test_every_number_is_a_little_off() -> None:
    rows = np.zeros(100, np.dtype([("x", "<f4"), ("k", "<i4")]))
    rows["x"], rows["k"] = np.linspace(1, 50, 100), np.arange(100)
    results = np.frombuffer(rows.tobytes(), np.uint8)
    off = nearly(Buffer("out", 0, 800, 8, PAIR, const=False), results).view(rows.dtype)
    apart = np.abs(off["x"] / rows["x"] - 1)
    assert (apart > 16 * 2.0**-23).all() and (apart < 1e-3).all()
    assert (np.abs(off["k"] - rows["k"]) == 1).all()


def test_what_is_no_number_stays() -> None:
    odd = np.array([np.inf, np.nan, 0.0], "<f4")
    buffer = Buffer("out", 0, 12, 4, PAIR[:1], const=False)
    assert nearly(buffer, odd.view(np.uint8)).tobytes() == odd.tobytes()
