"""Numbers as people read them: the same in a terminal, on a page and in a warning."""

from __future__ import annotations

UNKNOWN = "-"


def duration(ns: float | None) -> str:
    if ns is None:
        return UNKNOWN
    if abs(ns) >= 1e13:
        return f"{ns / 1e9:,.0f} s"
    for unit, length in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(ns) >= length:
            return f"{ns / length:.4g} {unit}"
    return f"{ns:.4g} ns"


def milliseconds(value: float | None) -> str:
    """So many milliseconds, as a duration."""
    return duration(None if value is None else value * 1e6)


def percent(value: float | None, digits: int = 1) -> str:
    return UNKNOWN if value is None else f"{100 * value:.{digits}f} %"


def number(value: float | None, digits: int = 4) -> str:
    if value is None:
        return UNKNOWN
    if value and (abs(value) >= 1e7 or abs(value) < 1e-4):
        return f"{value:.{digits - 1}e}"
    return f"{value:,.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}"


def thousands(value: int | None) -> str:
    return UNKNOWN if value is None else f"{value:,}"


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
    return figure(value) if unit == "1" else f"{figure(value)} {unit}"


def figure(value: float) -> str:
    """Of any size, in a table's column."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
