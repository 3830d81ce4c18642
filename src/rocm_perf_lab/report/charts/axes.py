"""Axes: where a value lies, and which ticks to show."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Tick:
    at: float
    label: str
    major: bool = True


@dataclass(frozen=True)
class LogAxis:
    low: float
    high: float
    first: float  # pixel of low
    last: float  # pixel of high

    def at(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(self.first + share * (self.last - self.first), 1)

    def ticks(self) -> list[Tick]:
        """Powers of ten; 2 and 5 as well where few powers fit."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        few = len(powers) <= 4
        every = max(1, len(powers) // 8)
        found = []
        for power in powers:
            for digit in (1, 2, 5) if few else (1,):
                value = digit * 10.0**power
                if self.low <= value <= self.high and (few or power % every == 0):
                    found.append(Tick(self.at(value), plain(value), digit == 1))
        return found


@dataclass(frozen=True)
class LinearAxis:
    low: float
    high: float
    first: float
    last: float

    def at(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1)
        return round(self.first + share * (self.last - self.first), 1)

    def ticks(self, about: int = 5) -> list[Tick]:
        step = nice((self.high - self.low) / about or 1)
        count = math.floor(self.high / step + 1e-9) - math.ceil(self.low / step - 1e-9) + 1
        start = math.ceil(self.low / step - 1e-9)
        return [
            Tick(self.at(i * step), plain(i * step)) for i in range(start, start + max(count, 0))
        ]


def nice(step: float) -> float:
    """The next larger of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(d * power for d in (1, 2, 5, 10) if d * power >= step * (1 - 1e-9))


def plain(value: float) -> str:
    """1, 0.01, 10k, 5M."""
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{suffix}"
    return f"{value:g}"
