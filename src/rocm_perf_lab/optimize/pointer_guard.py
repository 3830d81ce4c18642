"""Where pointers come from: a kernel's body may move the ones it was given, never make one.

A pointer is made when something that is none is read as one. So three things are refused, unless
the kernel did the very same before: objects of new types that hold pointers (their bytes could be
written as something else), conversions from or to such types, and addresses used as numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from rocm_perf_lab.optimize import libclang
from rocm_perf_lab.optimize.guard_lists import VALUE_CLASSES
from rocm_perf_lab.optimize.libclang import Cursor

Type = Any
# key, rule, message, line: what `tree_view.Item` is made of
Found = tuple[tuple[str, ...], str, str, int]
# A node, and what it stands in.
Place = tuple[Cursor, "Place | None"]

CASTS = frozenset(
    "CSTYLE_CAST_EXPR CXX_REINTERPRET_CAST_EXPR CXX_FUNCTIONAL_CAST_EXPR "
    "CXX_STATIC_CAST_EXPR".split()
)
ARRAYS = ("CONSTANTARRAY", "INCOMPLETEARRAY", "VARIABLEARRAY", "DEPENDENTSIZEDARRAY")
REFERENCES = ("LVALUEREFERENCE", "RVALUEREFERENCE")
FUNCTIONS = ("FUNCTIONPROTO", "FUNCTIONNOPROTO")
EMPTY = ("INIT_LIST_EXPR", "UNEXPOSED_EXPR", "CXX_FUNCTIONAL_CAST_EXPR")
TRANSPARENT = ("PAREN_EXPR", "UNEXPOSED_EXPR")
QUALIFIERS = re.compile(r"\b(?:const|volatile|__restrict__|__restrict)\b")
MAX_ALIGNMENT = 4096
NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
SIZE = re.compile(r"\(?\s*(?:sizeof|alignof)\s*\([\w:<>, ]+\)\s*(?:-\s*1\s*)?\)?")
_DEEPEST = 64  # of structs in structs: beyond that, it counts as holding one


def items(body: Cursor, source: bytes) -> Iterator[Found]:
    waiting: list[Place] = [(body, None)]
    while waiting:
        place = waiting.pop()
        node = place[0]
        if node.kind.is_expression() or node.kind.name == "VAR_DECL":
            yield from _object(node)
            yield from _made(place, source)
        waiting.extend((child, place) for child in reversed(list(node.get_children())))


def _item(key: tuple[str, ...], message: str, node: Cursor, rule: str = "pointers") -> Found:
    return key, rule, message, node.location.line


# ---- types


def holds_pointer(kind: Type, depth: int = 0) -> bool:
    """Whether an object of the type has a pointer in its bytes."""
    found = kind.get_canonical()
    while found.kind.name in ARRAYS:
        found = found.element_type.get_canonical()
    if found.kind.name in ("POINTER", "MEMBERPOINTER", "BLOCKPOINTER", *REFERENCES):
        return True
    if found.kind.name != "RECORD":
        return False
    declared = found.get_declaration()
    if declared.spelling in VALUE_CLASSES and declared.location.is_in_system_header:
        return False
    if depth > _DEEPEST:
        return True
    parts = [field.type for field in found.get_fields()]
    parts += [c.type for c in declared.get_children() if c.kind.name == "CXX_BASE_SPECIFIER"]
    return any(holds_pointer(part, depth + 1) for part in parts)


def _is_function(pointee: Type) -> bool:
    return pointee.get_canonical().kind.name in FUNCTIONS


def _unusual(kind: Type) -> bool:
    """Holds pointers, and is not simply a pointer or a reference to plain data."""
    if kind.kind.name in REFERENCES:
        return holds_pointer(kind.get_pointee())
    if kind.kind.name != "POINTER":
        return holds_pointer(kind)
    pointee = kind.get_pointee().get_canonical()
    return pointee.kind.name == "VOID" or holds_pointer(pointee)


def _bare(kind: Type) -> str:
    """Its name without its own qualifiers; those of what it points to stay."""
    text = str(kind.get_canonical().spelling)
    head, star, tail = text.rpartition("*")
    return " ".join((head + star + QUALIFIERS.sub("", tail)).split())


def _object(node: Cursor) -> Iterator[Found]:
    """An object or value of a type that holds pointers, which the kernel may not have used."""
    kind = node.type.get_canonical()
    declared = node.kind.name == "VAR_DECL"
    if kind.kind.name == "POINTER" and _is_function(kind.get_pointee()):
        unusual = declared  # in an expression it is the name of what is called
    else:
        unusual = _unusual(kind)
    if unusual:
        message = f"an object of type {kind.spelling}, which holds pointers"
        yield _item(("holds", _bare(kind)), message, node)
    shared = any(child.kind.name == "CUDASHARED_ATTR" for child in node.get_children())
    if declared and shared and holds_pointer(kind):
        message = f"{node.spelling}, a pointer that other threads can write"
        yield _item(("shared", _bare(kind)), message, node)


# ---- conversions


def _made(place: Place, source: bytes) -> Iterator[Found]:
    node = place[0]
    kind = node.type.get_canonical()
    pointer = kind.kind.name == "POINTER" and not _is_function(kind.get_pointee())
    if (given := _given_zero(node, source)) is not None:
        yield _null(node, given)
    if node.kind.name == "CXX_NULL_PTR_LITERAL_EXPR" and not _compared(place):
        yield _null(node, kind)
    if node.kind.name == "VAR_DECL":
        return
    if node.kind.name == "CALL_EXPR":
        if holds_pointer(kind) and not (kind.kind.name == "POINTER" and not pointer):
            key = ("returned", node.spelling, _bare(kind))
            copied = node.referenced is not None and node.referenced.kind.name == "CONSTRUCTOR"
            if not copied:
                yield _item(key, f"a {kind.spelling} that {node.spelling or 'a call'} gives", node)
        return
    if node.kind.name == "MEMBER_REF_EXPR":
        yield from _union(node)
        return
    operand = _operand(node)
    empty = not any(child.kind.is_expression() for child in node.get_children())
    if pointer and empty and node.kind.name in EMPTY:
        yield _null(node, kind)
    elif operand is None:
        return
    elif pointer and node.kind.name in (*CASTS, "UNEXPOSED_EXPR", "INIT_LIST_EXPR"):
        yield from _to_pointer(place, operand, kind, source)
    elif node.kind.name in CASTS:
        yield from _from_lvalue(place, operand, kind, source)


def _operand(node: Cursor) -> Cursor | None:
    found = [child for child in node.get_children() if child.kind.is_expression()]
    return found[0] if len(found) == 1 else None


def _union(node: Cursor) -> Iterator[Found]:
    field = node.referenced
    above = field.semantic_parent if field is not None else None
    if above is not None and above.kind.name == "UNION_DECL" and holds_pointer(above.type):
        message = f"{node.spelling}, a member of a union that holds a pointer"
        yield _item(("union", field.get_usr()), message, node)


def _null(node: Cursor, kind: Type) -> Found:
    return _item(("null", _bare(kind)), f"a {kind.spelling} that points to nothing", node)


def _to_pointer(place: Place, operand: Cursor, kind: Type, source: bytes) -> Iterator[Found]:
    node, explicit = place[0], place[0].kind.name in CASTS
    came = operand.type.get_canonical()
    if came.kind.name in ARRAYS:
        element = came.element_type
    elif came.kind.name == "POINTER":
        element = came.get_pointee()
    elif came.kind.name == "NULLPTR" or (not explicit and _is_zero(operand)):
        if explicit or not _compared(place):
            yield _null(node, kind)
        return
    elif came.kind.name == "DEPENDENT" and _leads_on(operand, source):
        return  # from a template's array; what it is cast to was looked at
    elif not explicit and came.kind.name in ("DEPENDENT", "UNEXPOSED"):
        return  # not a conversion yet: it is one in an instance, if at all
    else:
        message = f"a pointer made of a {came.spelling}"
        yield _item(("pointer", came.spelling), message, node, "casts")
        return
    pointee = kind.get_pointee()
    if _bare(element) != _bare(pointee) and (_deep(element) or _deep(pointee)):
        message = f"a {came.spelling} taken for a {kind.spelling}"
        yield _item(("convert", _bare(came), _bare(kind)), message, node)
    if explicit and element.is_const_qualified() and not pointee.is_const_qualified():
        message = f"a cast of {came.spelling} to {kind.spelling} that takes the const away"
        yield _item(("const", came.spelling, kind.spelling), message, node, "casts")


def _deep(pointee: Type) -> bool:
    return pointee.get_canonical().kind.name == "VOID" or holds_pointer(pointee)


def _is_zero(operand: Cursor) -> bool:
    while operand.kind.name in TRANSPARENT:
        inner = _operand(operand)
        if inner is None:
            return True  # GNU's __null
        operand = inner
    return bool(operand.kind.name in ("INTEGER_LITERAL", "CXX_NULL_PTR_LITERAL_EXPR"))


def _leads_on(operand: Cursor, source: bytes) -> bool:
    """In a template, where types are not known yet: whether it is an address of something, or a
    pointer and a distance."""
    waiting = [operand]
    while waiting:
        node = waiting.pop()
        parts = [c for c in node.get_children() if c.kind.is_expression()]
        if node.type.get_canonical().kind.name in ("POINTER", *ARRAYS):
            return True
        if node.kind.name in TRANSPARENT and len(parts) == 1:
            waiting.append(parts[0])
            continue
        parts = [c for c in parts if c.type.get_canonical().kind.name != "OVERLOAD"]
        name = _operator(node, parts, source)
        if name == "&" and len(parts) == 1:
            return True
        if name == "-" and len(parts) == 2:
            waiting += parts[:1] if not _leads_on(parts[1], source) else []
        elif name == "+" and len(parts) == 2:
            waiting += parts
    return False


def _operator(node: Cursor, parts: Sequence[Cursor], source: bytes) -> str:
    """The mark before its one operand, or between its two."""
    if node.kind.name not in ("UNARY_OPERATOR", "BINARY_OPERATOR", "CALL_EXPR"):
        return ""
    if len(parts) == 1:
        begin, end = node.extent.start.offset, parts[0].extent.start.offset
    elif len(parts) == 2:
        begin, end = parts[0].extent.end.offset, parts[1].extent.start.offset
    else:
        return ""
    return source[begin:end].decode("utf-8", "replace").strip()


def _given_zero(node: Cursor, source: bytes) -> Type | None:
    """`T* p = 0` in a template: no conversion stands there yet. The pointer's type."""
    parts = [c for c in node.get_children() if c.kind.is_expression()]
    kind = node.type.get_canonical()
    if node.kind.name == "BINARY_OPERATOR":
        if _operator(node, parts, source) != "=":
            return None
        kind, parts = parts[0].type.get_canonical(), parts[1:]
    elif node.kind.name not in ("VAR_DECL", "CONDITIONAL_OPERATOR"):
        return None
    # Not the size in `float (*p)[64]`: only nought becomes a pointer.
    literals = [part.extent for part in parts if part.kind.name == "INTEGER_LITERAL"]
    zero = any(not source[e.start.offset : e.end.offset].strip(b"0xXbBuUlL'") for e in literals)
    return kind if zero and kind.kind.name == "POINTER" else None


def _compared(place: Place) -> bool:
    """`p == nullptr` makes no pointer that could be followed."""
    above = _above(place)
    if above is None or above.kind.name != "BINARY_OPERATOR":
        return False
    return bool(above.type.get_canonical().kind.name in ("BOOL", "DEPENDENT"))


def _above(place: Place) -> Cursor | None:
    """What it stands in, brackets and conversions aside."""
    up = place[1]
    while up is not None and up[0].kind.name in TRANSPARENT:
        up = up[1]
    return up[0] if up is not None else None


def _from_lvalue(place: Place, operand: Cursor, kind: Type, source: bytes) -> Iterator[Found]:
    """A cast to what is no pointer: of an address to a number, or of an object to a reference."""
    node, came = place[0], operand.type.get_canonical()
    into_pointers = holds_pointer(kind) and _bare(came) != _bare(kind)
    out_of_pointers = holds_pointer(came) and kind.kind.name not in ("BOOL", "VOID")
    if into_pointers or (out_of_pointers and not _alignment(place, source)):
        message = f"a {came.spelling} taken for a {kind.spelling}"
        yield _item(("convert", _bare(came), _bare(kind)), message, node)
    # A value has no const: this is an object, seen through a reference.
    elif came.is_const_qualified() and kind.kind.name not in ("RECORD", "VOID"):
        message = f"a cast of {came.spelling} to {kind.spelling} that takes the const away"
        yield _item(("const", came.spelling, kind.spelling), message, node, "casts")


def _alignment(place: Place, source: bytes) -> bool:
    """`address % 16`, `address & (sizeof(float4) - 1)`: too small a number to lead anywhere."""
    above = _above(place)
    if above is None or above.kind.name != "BINARY_OPERATOR":
        return False
    sides = [child for child in above.get_children() if child.kind.is_expression()]
    if len(sides) != 2:
        return False
    left, right = (side.extent for side in sides)
    if not left.start.offset <= place[0].extent.start.offset < left.end.offset:
        return False
    text = source[right.start.offset : right.end.offset].decode("utf-8", "replace").strip()
    if _operator(above, sides, source) not in ("&", "%"):
        return False
    if number := NUMBER.fullmatch(text):
        return int(number[1], 16 if number[1][:2] in ("0x", "0X") else 10) < MAX_ALIGNMENT
    # Sizes of types that nobody here could have made large.
    named = [n.referenced for n in libclang.walk(sides[1]) if n.kind.name == "TYPE_REF"]
    foreign = all(t is not None and t.location.is_in_system_header for t in named)
    return foreign and SIZE.fullmatch(text) is not None
