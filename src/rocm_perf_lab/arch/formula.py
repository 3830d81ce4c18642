"""Arithmetic written in data files: + - * / over named numbers, and nothing else.

Upper-case names are counters, lower-case names facts about the device and the dispatch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from rocm_perf_lab import expression


class UndefinedError(Exception):
    """A division by zero, named: the ratio has no value."""


@dataclass(frozen=True)
class Formula:
    text: str

    @cached_property
    def _parsed(self) -> expression.Expression:
        return expression.parse(self.text, expression.ARITHMETIC)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, in the order written."""
        return self._parsed.names

    @cached_property
    def counters(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if not name.islower())

    def __call__(self, values: Mapping[str, float]) -> float:
        return float(self._parsed.evaluate(expression.Scope(values.__getitem__, _undefined)))


def _undefined(divisor: str) -> float:
    raise UndefinedError(f"{divisor} is zero")
