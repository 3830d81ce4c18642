"""Constraints of a search space: Python expressions, parsed against an allow-list, never eval'd.

`parse` returns a function of numpy columns, so a constraint costs one pass over the space.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.errors import BadInput

Column = npt.NDArray[Any]
_Node = Callable[[Mapping[str, Column]], Any]

_MAX_LENGTH = 2000
_MAX_EXPONENT = 64

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: _divide(operator.truediv, left, right),
    ast.FloorDiv: lambda left, right: _divide(operator.floordiv, left, right),
    ast.Mod: lambda left, right: _divide(operator.mod, left, right),
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: lambda value: np.logical_not(_truth(value)),
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: lambda left, right: (left != right) & (left == left) & (right == right),
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "min": lambda *values: _fold(np.minimum, values),
    "max": lambda *values: _fold(np.maximum, values),
    "ceil": np.ceil,
    "floor": np.floor,
    "log2": np.log2,
    "sqrt": np.sqrt,
    "int": lambda value: np.asarray(value).astype(np.int64),
}


@dataclass(frozen=True)
class Constraint:
    text: str
    names: frozenset[str]
    _evaluate: _Node

    def holds(self, columns: Mapping[str, Column]) -> npt.NDArray[np.bool_]:
        """One truth value per row; a division by zero makes the row invalid."""
        length = len(next(iter(columns.values()))) if columns else 1
        try:
            with np.errstate(all="ignore"):
                value = self._evaluate(columns)
        except (TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
            raise BadInput(f"the constraint {self.text!r} cannot be evaluated: {error}") from None
        return np.array(np.broadcast_to(_truth(value), (length,)), dtype=np.bool_)


def parse(text: str, names: frozenset[str]) -> Constraint:
    """The constraint `text` over parameters `names`, or a sentence what in it is not allowed."""
    if not isinstance(text, str) or len(text) > _MAX_LENGTH:
        raise BadInput(f"a constraint must be a string of at most {_MAX_LENGTH} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        used: set[str] = set()
        node = _compile(tree.body, text, names, used)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadInput(f"the constraint {text!r} is not an expression") from None
    return Constraint(text, frozenset(used), node)


def _compile(node: ast.expr, text: str, names: frozenset[str], used: set[str]) -> _Node:
    def sub(child: ast.expr) -> _Node:
        return _compile(child, text, names, used)

    if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float, str)):
        constant = node.value
        return lambda _: constant
    if isinstance(node, ast.Name):
        if node.id in ("true", "false"):
            truth = node.id == "true"
            return lambda _: truth
        if node.id not in names:
            raise BadInput(
                f"the constraint {text!r} names {node.id!r}, which is not a parameter",
                hint=f"parameters: {', '.join(sorted(names))}",
            )
        name = node.id
        used.add(name)
        return lambda columns: columns[name]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        base, exponent = sub(node.left), sub(node.right)
        return lambda c: _power(base(c), exponent(c))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        operation = _BINARY[type(node.op)]
        left, right = sub(node.left), sub(node.right)
        whole = isinstance(node.op, (ast.LShift, ast.RShift))
        if whole:
            return lambda c: operation(left(c), np.clip(right(c), 0, 62))
        return lambda c: operation(_number(left(c)), _number(right(c)))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        unary = _UNARY[type(node.op)]
        operand = sub(node.operand)
        return lambda c: unary(operand(c))
    if isinstance(node, ast.BoolOp):
        parts = [sub(value) for value in node.values]
        combine = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
        return lambda c: _fold(combine, [_truth(part(c)) for part in parts])
    if isinstance(node, ast.Compare):
        return _compare(node, text, names, used)
    if isinstance(node, ast.IfExp):
        test, yes, no = sub(node.test), sub(node.body), sub(node.orelse)
        return lambda c: np.where(_truth(test(c)), yes(c), no(c))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        function = _FUNCTIONS.get(node.func.id)
        if function is not None and node.args:
            call, arguments = function, [sub(argument) for argument in node.args]
            return lambda c: call(*[argument(c) for argument in arguments])
    raise BadInput(
        f"the constraint {text!r} uses {ast.unparse(node)!r}, which is not allowed",
        hint="allowed: parameters, numbers, strings, + - * / // % ** & | ^ << >>, comparisons, "
        f"in [...], and, or, not, x if y else z, {', '.join(sorted(_FUNCTIONS))}",
    )


def _compare(node: ast.Compare, text: str, names: frozenset[str], used: set[str]) -> _Node:
    first = _compile(node.left, text, names, used)
    steps: list[tuple[Callable[[Any, Any], Any], _Node]] = []
    for op, right in zip(node.ops, node.comparators, strict=True):
        if isinstance(op, (ast.In, ast.NotIn)):
            if not isinstance(right, (ast.List, ast.Tuple, ast.Set)) or len(node.ops) > 1:
                raise BadInput(f"the constraint {text!r}: `in` takes a list like [1, 2, 4]")
            members = [_compile(item, text, names, used) for item in right.elts]
            wanted = isinstance(op, ast.In)

            def contained(c: Mapping[str, Column], m: list[_Node] = members) -> Any:
                value = first(c)
                return _fold(np.logical_or, [np.asarray(value == part(c)) for part in m] or [False])

            return contained if wanted else lambda c: np.logical_not(contained(c))
        if type(op) not in _COMPARE:
            raise BadInput(f"the constraint {text!r} uses a comparison that is not allowed")
        steps.append((_COMPARE[type(op)], _compile(right, text, names, used)))

    def chain(c: Mapping[str, Column]) -> Any:
        left, result = first(c), []
        for compare, right_node in steps:
            right_value = right_node(c)
            result.append(np.asarray(compare(left, right_value)))
            left = right_value
        return _fold(np.logical_and, result)

    return chain


def _fold(function: Callable[[Any, Any], Any], values: Any) -> Any:
    result, *rest = values
    for value in rest:
        result = function(result, value)
    return result


def _number(value: Any) -> Any:
    """Booleans count as 0 and 1, as in Python; numpy would refuse `-` and saturate `+`."""
    array = np.asarray(value)
    return array.astype(np.int64) if array.dtype == bool else value


def _divide(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """No number where the divisor is zero; numpy would call the quotient of integers zero."""
    zero = np.asarray(right) == 0
    if not zero.any():
        return operation(left, right)
    return np.where(zero, np.nan, operation(left, np.where(zero, 1, right)))


def _truth(value: Any) -> Any:
    array = np.asarray(value)
    if array.dtype.kind == "f":
        return ~np.isnan(array) & (array != 0)
    return array.astype(bool)


def _power(base: Any, exponent: Any) -> Any:
    if np.any(np.abs(np.asarray(exponent, float)) > _MAX_EXPONENT):
        raise ValueError(f"an exponent above {_MAX_EXPONENT}")
    return np.power(np.asarray(base, float), exponent)
