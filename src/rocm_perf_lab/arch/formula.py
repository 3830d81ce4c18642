"""Arithmetic written in data files: + - * / over named numbers, and nothing else.

Upper-case names are counters, lower-case names facts about the device and the dispatch.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class UndefinedError(Exception):
    """A division by zero, named: the ratio has no value."""


@dataclass(frozen=True)
class Formula:
    text: str

    @cached_property
    def _tree(self) -> ast.expr:
        tree = ast.parse(self.text, mode="eval").body
        for node in ast.walk(tree):
            allowed = isinstance(node, (ast.BinOp, ast.Name, ast.Load, ast.operator)) or (
                isinstance(node, ast.Constant) and type(node.value) in (int, float)
            )
            if not allowed:
                raise ValueError(f"{self.text}: {type(node).__name__} is not arithmetic")
        return tree

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every name, in the order written."""
        found = (n.id for n in ast.walk(self._tree) if isinstance(n, ast.Name))
        return tuple(sorted(set(found), key=self.text.index))

    @property
    def counters(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if not name.islower())

    def __call__(self, values: Mapping[str, float]) -> float:
        return self._value(self._tree, values)

    def _value(self, node: ast.expr, values: Mapping[str, float]) -> float:
        if isinstance(node, ast.Constant):
            assert isinstance(node.value, (int, float))
            return float(node.value)
        if isinstance(node, ast.Name):
            return values[node.id]
        assert isinstance(node, ast.BinOp)
        left, right = self._value(node.left, values), self._value(node.right, values)
        if isinstance(node.op, ast.Div) and right == 0:
            raise UndefinedError(f"{ast.unparse(node.right)} is zero")
        operation = _OPERATORS.get(type(node.op))
        if operation is None:
            raise ValueError(f"{self.text}: {type(node.op).__name__} is not arithmetic")
        return operation(left, right)
