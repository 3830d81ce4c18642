"""Expressions people write in files: parsed against an allow-list, never eval'd.

One evaluator for metric formulas, AMD's derived counters, the constraints of a search space and the
integers of C that are known before a program runs.
Values are numbers or numpy columns, so a constraint costs one pass over the space. A grammar says
how much of Python an expression may use; the caller says what a division by zero comes to.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MAX_LENGTH = 2000
_MAX_EXPONENT = 64

_DIVISIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: lambda left, right: operator.lshift(left, np.clip(right, 0, 62)),
    ast.RShift: lambda left, right: operator.rshift(left, np.clip(right, 0, 62)),
    ast.Pow: lambda left, right: _power(left, right),
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: lambda value: np.logical_not(truth(value)),
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


class NotAllowed(ValueError):
    """What in the expression is not allowed; the text reads on after the expression's name."""


@dataclass(frozen=True)
class Grammar:
    """How much of Python an expression may use."""

    says: str  # what is allowed, for a hint
    operators: frozenset[type[ast.operator]]
    conditions: bool = False  # comparisons, and, or, not, if-else, strings, truth values
    integers: bool = False  # no other numbers; signs, and / as C has it: towards zero
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


_FOUR = frozenset({ast.Add, ast.Sub, ast.Mult, ast.Div})
ARITHMETIC = Grammar("numbers, names, + - * /", _FOUR)
INTEGERS = Grammar("integers, names, + - * / as in C", _FOUR, integers=True)
CONDITIONS = Grammar(
    "parameters, numbers, strings, + - * / // % ** & | ^ << >>, comparisons, "
    f"in [...], and, or, not, x if y else z, {', '.join(sorted(_FUNCTIONS))}",
    frozenset({*_BINARY, *_DIVISIONS}),
    conditions=True,
    functions=_FUNCTIONS,
)


@dataclass(frozen=True)
class Scope:
    """What an evaluation gives to the expression."""

    value_of: Callable[[str], Any]
    # Called with the divisor's text: returns the quotient's value, or raises.
    at_zero: Callable[[str], float] = lambda _: math.nan
    # How an operation acts on two values; for those that are neither numbers nor columns.
    pairwise: Callable[[Callable[[Any, Any], Any], Any, Any], Any] = lambda f, a, b: f(a, b)


_Node = Callable[[Scope], Any]


@dataclass(frozen=True)
class Expression:
    text: str
    names: tuple[str, ...]  # in the order written
    evaluate: _Node


def parse(text: str, grammar: Grammar, known: frozenset[str] | None = None) -> Expression:
    """The expression, or NotAllowed; `known` are the names it may use, None for any."""
    if not isinstance(text, str) or len(text) > MAX_LENGTH:
        raise NotAllowed(f"must be a string of at most {MAX_LENGTH} characters")
    compiler = _Compiler(grammar, known)
    try:
        node = compiler.node(ast.parse(text.strip(), mode="eval").body)
    except NotAllowed:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotAllowed("is not an expression") from None
    return Expression(text, tuple(compiler.names), node)


def truth(value: Any) -> Any:
    """As Python has it, but no number is not true."""
    array = np.asarray(value)
    if array.dtype.kind == "f":
        return ~np.isnan(array) & (array != 0)
    return array.astype(bool)


class _Compiler:
    def __init__(self, grammar: Grammar, known: frozenset[str] | None) -> None:
        self.grammar = grammar
        self.known = known
        self.names: dict[str, None] = {}

    def node(self, node: ast.expr) -> _Node:
        compile_one = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.BinOp: self._binary,
            ast.Call: self._call,
        }
        if self.grammar.conditions or self.grammar.integers:
            compile_one[ast.UnaryOp] = self._unary
        if self.grammar.conditions:
            compile_one |= {
                ast.BoolOp: self._boolean,
                ast.Compare: self._compare,
                ast.IfExp: self._choice,
            }
        found = compile_one.get(type(node), self._refuse)(node)
        return found or self._refuse(node)

    def _refuse(self, node: Any) -> _Node:
        raise NotAllowed(f"uses {ast.unparse(node)!r}, which is not allowed")

    def _constant(self, node: Any) -> _Node | None:
        kinds: set[type] = {int} if self.grammar.integers else {int, float}
        if self.grammar.conditions:
            kinds |= {bool, str}
        value = node.value
        return (lambda _: value) if type(value) in kinds else None

    def _name(self, node: Any) -> _Node:
        name: str = node.id
        if self.grammar.conditions and name in ("true", "false"):
            return lambda _: name == "true"
        if self.known is not None and name not in self.known:
            raise NotAllowed(f"names {name!r}, which is not a parameter")
        self.names[name] = None
        return lambda scope: scope.value_of(name)

    def _binary(self, node: Any) -> _Node | None:
        kind = type(node.op)
        if kind not in self.grammar.operators:
            return None
        left, right = self.node(node.left), self.node(node.right)
        if kind not in _DIVISIONS:
            operation = _BINARY[kind]
            return lambda s: s.pairwise(operation, _number(left(s)), _number(right(s)))
        divide = toward_zero if self.grammar.integers else _DIVISIONS[kind]
        divisor = ast.unparse(node.right)

        def divided(scope: Scope) -> Any:
            def one(a: Any, b: Any) -> Any:
                return _quotient(divide, a, b, lambda: scope.at_zero(divisor))

            return scope.pairwise(one, _number(left(scope)), _number(right(scope)))

        return divided

    def _call(self, node: Any) -> _Node | None:
        function = self.grammar.functions.get(getattr(node.func, "id", ""))
        if function is None or node.keywords or not node.args:
            return None
        arguments = [self.node(argument) for argument in node.args]
        return lambda scope: function(*[argument(scope) for argument in arguments])

    def _unary(self, node: Any) -> _Node | None:
        operation = _UNARY.get(type(node.op))
        if operation is None or (self.grammar.integers and isinstance(node.op, ast.Not)):
            return None
        operand = self.node(node.operand)
        return lambda scope: operation(operand(scope))

    def _boolean(self, node: Any) -> _Node:
        parts = [self.node(value) for value in node.values]
        combine = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
        return lambda scope: _fold(combine, [truth(part(scope)) for part in parts])

    def _choice(self, node: Any) -> _Node:
        test, yes, no = self.node(node.test), self.node(node.body), self.node(node.orelse)
        return lambda scope: np.where(truth(test(scope)), yes(scope), no(scope))

    def _compare(self, node: Any) -> _Node:
        if isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return self._member(node)
        if not all(type(op) in _COMPARE for op in node.ops):
            raise NotAllowed("uses a comparison that is not allowed")
        first, *others = [self.node(each) for each in (node.left, *node.comparators)]
        steps = list(zip((_COMPARE[type(op)] for op in node.ops), others, strict=True))

        def chain(scope: Scope) -> Any:
            left, result = first(scope), []
            for compare, other in steps:
                right = other(scope)
                result.append(np.asarray(compare(left, right)))
                left = right
            return _fold(np.logical_and, result)

        return chain

    def _member(self, node: Any) -> _Node:
        members = node.comparators[0]
        if not isinstance(members, (ast.List, ast.Tuple, ast.Set)) or len(node.ops) > 1:
            raise NotAllowed("has an `in` without a list like [1, 2, 4]")
        value, parts = self.node(node.left), [self.node(item) for item in members.elts]

        def contained(scope: Scope) -> Any:
            wanted = value(scope)
            equal: list[Any] = [np.asarray(wanted == part(scope)) for part in parts]
            return _fold(np.logical_or, equal or [False])

        if isinstance(node.ops[0], ast.In):
            return contained
        return lambda scope: np.logical_not(contained(scope))


def _fold(function: Callable[[Any, Any], Any], values: Any) -> Any:
    result, *rest = values
    for value in rest:
        result = function(result, value)
    return result


def _number(value: Any) -> Any:
    """Booleans count as 0 and 1, as in Python; numpy would refuse `-` and saturate `+`."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype == bool:
        return value.astype(np.int64)
    return value


def toward_zero(left: int, right: int) -> int:
    """A quotient of integers as C has it."""
    size = abs(left) // abs(right)
    return size if (left < 0) == (right < 0) else -size


def _quotient(
    divide: Callable[[Any, Any], Any], left: Any, right: Any, at_zero: Callable[[], float]
) -> Any:
    """The caller's value where the divisor is zero; numpy would call that of integers zero."""
    zero = np.asarray(right == 0)
    if not zero.any():
        return divide(left, right)
    if zero.ndim == 0:
        return np.broadcast_to(at_zero(), np.shape(left)) if np.ndim(left) else at_zero()
    return np.where(zero, at_zero(), divide(left, np.where(zero, 1, right)))


def _power(base: Any, exponent: Any) -> Any:
    if np.any(np.abs(np.asarray(exponent, float)) > _MAX_EXPONENT):
        raise ValueError(f"an exponent above {_MAX_EXPONENT}")
    return np.power(np.asarray(base, float), exponent)
