"""Indices keep their width: what only sizes beyond every launch would show is not left to running.

A kernel that computes in 64 bits is right for arrays that no check here can hold. So a body may not
begin to cut 64 bits down to fewer, to multiply in 32 bits where the kernel multiplied in 64, or to
make integers of floating point, which is exact for small ones only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rocm_perf_lab.optimize import libclang
from rocm_perf_lab.optimize.libclang import Cursor
from rocm_perf_lab.optimize.pointer_guard import Found

Type = Any

RULE = "width"
WIDE, NARROW = "wide product", "narrow product"
_CUT, _TRUNCATED = (RULE, "cut"), (RULE, "truncated")

_CASTS = frozenset(
    "UNEXPOSED_EXPR CSTYLE_CAST_EXPR CXX_STATIC_CAST_EXPR CXX_FUNCTIONAL_CAST_EXPR".split()
)
_INTEGERS = frozenset(
    "CHAR_U UCHAR CHAR_S SCHAR USHORT SHORT UINT INT ULONG LONG ULONGLONG LONGLONG".split()
)
_FLOATS = frozenset("HALF FLOAT DOUBLE LONGDOUBLE FLOAT16 BFLOAT16".split())
_WHERE = frozenset("blockIdx threadIdx blockDim gridDim".split())
_TO_INTEGER = re.compile(r"__(float|double|half)2u?(int|ll|short)_\w+")
_OPERATOR = re.compile(rb"[-+*/%&|^<>=!]+")
_BITS_64, _OF_A_PRODUCT = 8, 3
_DEEPEST = 8  # of constants made of constants


def permitted(key: tuple[str, ...], had: Any) -> bool:
    """Whether an item says nothing against a body, by the items the kernel had."""
    if key[0] != RULE or len(key) < _OF_A_PRODUCT:
        return False
    return key[1] == WIDE or not had[(RULE, WIDE, key[2])]


def items(body: Cursor, source: bytes) -> Iterator[Found]:
    for node in libclang.walk(body):
        kind = node.kind.name
        line = node.location.line
        if kind == "CALL_EXPR" and _TO_INTEGER.fullmatch(node.spelling or ""):
            yield _TRUNCATED, RULE, f"{node.spelling}: an integer made of floating point", line
        if kind in _CASTS:
            yield from _cast(node, source)
        elif kind == "COMPOUND_ASSIGNMENT_OPERATOR":
            sides = list(node.get_children())
            if len(sides) == 2:
                yield from _converted(sides[1], sides[1].type, sides[0].type, source)
        elif kind == "BINARY_OPERATOR" and _operator(node, source) == b"*":
            yield from _product(node)


def _cast(node: Cursor, source: bytes) -> Iterator[Found]:
    inner = [c for c in node.get_children() if c.kind.is_expression()]
    if len(inner) == 1:
        yield from _converted(inner[0], inner[0].type, node.type, source)


def _converted(value: Cursor, old: Type, new: Type, source: bytes) -> Iterator[Found]:
    was, now = old.get_canonical(), new.get_canonical()
    if now.kind.name not in _INTEGERS:
        return
    line = value.location.line
    if was.kind.name in _FLOATS and not _constant(value):
        yield _TRUNCATED, RULE, "an integer made of floating point", line
    cut = was.kind.name in _INTEGERS and now.get_size() < _BITS_64 <= was.get_size()
    if cut and not _constant(value) and not _small(value, source):
        yield _CUT, RULE, f"64 bits cut down to {now.spelling}", line


def _small(value: Cursor, source: bytes) -> bool:
    """A remainder, or what a mask leaves, by a number that stands there; or a distance."""
    while value.kind.name in ("PAREN_EXPR", "UNEXPOSED_EXPR"):
        inner = list(value.get_children())
        if len(inner) != 1:
            return False
        value = inner[0]
    if value.kind.name != "BINARY_OPERATOR":
        return False
    sides, operator = list(value.get_children()), _operator(value, source)
    if operator == b"-":
        return all(side.type.get_canonical().kind.name == "POINTER" for side in sides)
    return operator in (b"%", b"&") and any(_constant(side) for side in sides)


def _product(node: Cursor) -> Iterator[Found]:
    kind = node.type.get_canonical()
    sides = list(node.get_children())
    if kind.kind.name not in _INTEGERS or len(sides) != 2 or any(map(_constant, sides)):
        return
    names = {c.spelling for c in libclang.walk(node) if c.kind.name == "DECL_REF_EXPR"}
    width = WIDE if kind.get_size() >= _BITS_64 else NARROW
    key = (RULE, width, "of places" if names <= _WHERE else "of numbers")
    yield key, RULE, "a product in 32 bits, where the kernel has 64", node.location.line


def _operator(node: Cursor, source: bytes) -> bytes:
    sides = list(node.get_children())
    if len(sides) != 2:
        return b""
    between = source[sides[0].extent.end.offset : sides[1].extent.start.offset]
    found = _OPERATOR.search(between)
    return found.group() if found else b""


def _constant(value: Cursor, depth: int = 0) -> bool:
    """Numbers that stand there, sizes of types, constants, and what is computed of these alone."""
    for node in libclang.walk(value):
        if node.kind.name in ("MEMBER_REF_EXPR", "ARRAY_SUBSCRIPT_EXPR"):
            return False
        target = node.referenced if node.kind.name == "DECL_REF_EXPR" else None
        if target is not None and not _fixed(target, depth):
            return False
    return True


def _fixed(target: Cursor, depth: int) -> bool:
    kind = target.kind.name
    if kind in ("ENUM_CONSTANT_DECL", "TEMPLATE_NON_TYPE_PARAMETER", "FUNCTION_DECL"):
        return True
    if kind != "VAR_DECL" or not target.type.is_const_qualified() or depth > _DEEPEST:
        return False
    given = [child for child in target.get_children() if child.kind.is_expression()]
    return bool(given) and all(_constant(each, depth + 1) for each in given)
