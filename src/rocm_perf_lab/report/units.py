"""Numbers as people read them."""

from __future__ import annotations


def milliseconds(value: float) -> str:
    return f"{value:.4g} ms" if value < 1000 else f"{value:,.1f} ms"


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def spread(cv: float) -> str:
    """A coefficient of variation: only one that is nothing is shown as nothing."""
    return "0 %" if cv == 0 else "below 0.1 %" if cv < 0.0005 else percent(cv)


def rate(gflops: float) -> str:
    return f"{gflops / 1e3:,.1f} TFLOP/s" if gflops >= 1e4 else f"{gflops:,.1f} GFLOP/s"


def size(count: float) -> str:
    """Bytes, with a decimal prefix."""
    for prefix, step in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= step:
            return f"{count / step:.4g} {prefix}"
    return f"{count:.4g} B"


def value_with_unit(value: float, unit: str) -> str:
    """A share or a plain number has no unit; bytes get a prefix."""
    if unit == "B":
        return size(value)
    number = f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
    return number if unit == "1" else f"{number} {unit}"
