"""Constraints of a search space: which of its configurations are valid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rocm_perf_lab import expression
from rocm_perf_lab.errors import BadInput

Column = npt.NDArray[Any]


@dataclass(frozen=True)
class Constraint:
    text: str
    names: frozenset[str]
    _evaluate: Any

    def holds(self, columns: Mapping[str, Column]) -> npt.NDArray[np.bool_]:
        """One truth value per row; a division by zero makes the row invalid."""
        length = len(next(iter(columns.values()))) if columns else 1
        try:
            with np.errstate(all="ignore"):
                value = self._evaluate(expression.Scope(columns.__getitem__))
        except (TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
            raise BadInput(f"the constraint {self.text!r} cannot be evaluated: {error}") from None
        return np.array(np.broadcast_to(expression.truth(value), (length,)), dtype=np.bool_)


def parse(text: str, names: frozenset[str]) -> Constraint:
    """The constraint `text` over parameters `names`, or a sentence what in it is not allowed."""
    try:
        parsed = expression.parse(text, expression.CONDITIONS, names)
    except expression.NotAllowed as error:
        allowed = f"parameters: {', '.join(sorted(names))}; allowed: {expression.CONDITIONS.says}"
        raise BadInput(f"the constraint {text!r} {error}", hint=allowed) from None
    return Constraint(text, frozenset(parsed.names), parsed.evaluate)
