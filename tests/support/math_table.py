"""The device library's functions: exact reference, where to try them, what error is allowed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np


@dataclass(frozen=True)
class Function:
    name: str
    reference: Callable[..., Any]
    ranges: tuple[tuple[float, float], ...]
    ulp32: float
    ulp64: float
    wide: str = ""  # "any" or "positive": exponents over the whole range too


def _cbrt(x: Any) -> Any:
    return mp.sign(x) * mp.cbrt(abs(x))


FUNCTIONS = (
    Function("sin", mp.sin, ((-10, 10), (-1e6, 1e6)), 1, 1, "any"),
    Function("cos", mp.cos, ((-10, 10), (-1e6, 1e6)), 1, 1, "any"),
    Function("tan", mp.tan, ((-10, 10), (-1e6, 1e6)), 1, 1, "any"),
    Function("asin", mp.asin, ((-1, 1), (-1e-3, 1e-3)), 1, 1),
    Function("acos", mp.acos, ((-1, 1),), 1, 1),
    Function("atan", mp.atan, ((-5, 5),), 1, 1, "any"),
    Function("sinh", mp.sinh, ((-2, 2), (-88, 88)), 1, 1),
    Function("cosh", mp.cosh, ((-2, 2), (-88, 88)), 1, 1),
    Function("tanh", mp.tanh, ((-2, 2), (-20, 20)), 1, 1),
    Function("asinh", mp.asinh, ((-3, 3),), 1, 1, "any"),
    Function("acosh", mp.acosh, ((1, 3), (1, 1e6)), 1, 1),
    Function("atanh", mp.atanh, ((-0.999, 0.999),), 1, 1),
    Function("exp", mp.exp, ((-2, 2), (-87, 88)), 1, 1),
    Function("exp2", lambda x: mp.power(2, x), ((-2, 2), (-126, 127)), 1, 1),
    Function("exp10", lambda x: mp.power(10, x), ((-2, 2), (-37, 38)), 1, 1),
    Function("expm1", mp.expm1, ((-1, 1), (-40, 80)), 1, 1),
    Function("log", mp.log, ((0.1, 3),), 1, 1, "positive"),
    Function("log2", lambda x: mp.log(x, 2), ((0.1, 3),), 1, 1, "positive"),
    Function("log10", mp.log10, ((0.1, 3),), 1, 1, "positive"),
    Function("log1p", mp.log1p, ((-0.9, 3), (-1e-3, 1e-3)), 1, 1),
    Function("cbrt", _cbrt, ((-8, 8),), 1, 1, "any"),
    Function("rcbrt", lambda x: 1 / _cbrt(x), ((0.1, 8),), 2, 2, "any"),
    Function("rsqrt", lambda x: 1 / mp.sqrt(x), ((0.1, 8),), 1, 1, "positive"),
    Function("sinpi", mp.sinpi, ((-10, 10),), 1, 1),
    Function("cospi", mp.cospi, ((-10, 10),), 1, 1),
    Function("erf", mp.erf, ((-4, 4),), 1, 1),
    Function("erfc", mp.erfc, ((-3, 3), (0, 9)), 3, 4),
    Function("erfcx", lambda x: mp.exp(x * x) * mp.erfc(x), ((-3, 3), (0, 20)), 1, 4),
    Function("normcdf", mp.ncdf, ((-8, 5),), 1, 4),
    Function("erfinv", mp.erfinv, ((-0.99, 0.99), (0.99, 0.999999)), 2, 4),
    Function("tgamma", mp.gamma, ((0.1, 30), (-9.9, -0.1)), 1, 3),
    Function("lgamma", lambda x: mp.log(abs(mp.gamma(x))), ((0.01, 4), (0.1, 100)), 1, 4),
)

# Of two arguments: the second is the first's list from its end.
PAIRS = (
    Function("pow", mp.power, ((0.1, 8),), 1, 1),
    Function("atan2", mp.atan2, ((-5, 5),), 1, 1, "any"),
    Function("hypot", mp.hypot, ((-5, 5),), 1, 1, "any"),
    Function("fmod", lambda x, y: mp.sign(x) * mp.fmod(abs(x), abs(y)), ((-50, 50),), 0, 0),
)


def inputs(function: Function, kind: type[np.floating[Any]], count: int) -> list[float]:
    """Random numbers of each range, the same in every run, rounded to `kind`."""
    random = np.random.default_rng(sum(map(ord, function.name)))
    parts = [random.uniform(low, high, count) for low, high in function.ranges]
    if function.wide:
        top = 126 if kind is np.float32 else 1022
        numbers = 2.0 ** random.uniform(-top, top, count)
        if function.wide == "any":
            numbers *= random.choice([-1.0, 1.0], count)
        parts.append(numbers)
    return [float(kind(x)) for x in np.concatenate(parts)]
