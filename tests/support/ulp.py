"""Errors of floating-point functions in units in the last place, against mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import mpmath as mp
import numpy as np

Reference = Callable[[Any], Any]


def error_in_ulp(got: float, want: Any, kind: type[np.floating[Any]]) -> float:
    """Distance from the exact value in ulps of `kind`; infinite where one is no number alone."""
    largest = mp.mpf(float(np.finfo(kind).max))
    if mp.isnan(want):
        return 0.0 if math.isnan(got) else math.inf
    if abs(want) > largest * (1 + mp.mpf(2) ** -(np.finfo(kind).nmant + 2)):
        return 0.0 if math.isinf(got) and (got > 0) == (want > 0) else math.inf
    if not math.isfinite(got):
        return math.inf
    spacing = float(np.spacing(kind(abs(min(abs(want), largest)))))
    return float(abs(mp.mpf(got) - want) / mp.mpf(spacing))


def worst(
    function: Callable[[float], float],
    reference: Reference,
    inputs: Iterable[float],
    kind: type[np.floating[Any]],
    digits: int = 40,
) -> tuple[float, float]:
    """(largest error in ulp, where)."""
    found = (0.0, 0.0)
    with mp.workdps(digits):
        for x in inputs:
            want = reference(mp.mpf(x))
            if isinstance(want, mp.mpc):
                continue
            found = max(found, (error_in_ulp(function(x), want, kind), x))
    return found
