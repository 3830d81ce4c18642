"""What one side's syntax tree says of a source, as plain data: it is made where the text is parsed,
in a process of its own (`parser_worker`), and judged here (`tree_guard`).

Each thing in the kernel's body that needs a permission is an item with a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocm_perf_lab.optimize import libclang, pointer_guard, width_guard
from rocm_perf_lab.optimize.guard_lists import CALLS, EXPANDED, KINDS, MACROS, VALUE_CLASSES
from rocm_perf_lab.optimize.kernel_source import body_of, definitions
from rocm_perf_lab.optimize.libclang import Cursor, Side, TranslationUnit

FUNCTIONS = frozenset(
    "FUNCTION_DECL CXX_METHOD CONSTRUCTOR DESTRUCTOR CONVERSION_FUNCTION FUNCTION_TEMPLATE".split()
)
REFERENCES = frozenset("DECL_REF_EXPR MEMBER_REF_EXPR CALL_EXPR".split())
NAMES_OF_KINDS = {
    "ASM_STMT": ("assembly", "inline assembly"),
    "MS_ASM_STMT": ("assembly", "inline assembly"),
    "GOTO_STMT": ("construct", "a goto"),
    "INDIRECT_GOTO_STMT": ("construct", "a computed goto"),
    "LABEL_STMT": ("construct", "a label"),
    "LAMBDA_EXPR": ("construct", "a lambda"),
    "StmtExpr": ("construct", "a statement in an expression"),
    "STRUCT_DECL": ("construct", "a local class"),
    "CLASS_DECL": ("construct", "a local class"),
    "UNION_DECL": ("construct", "a local union"),
    "FUNCTION_DECL": ("construct", "a function declaration"),
    "STRING_LITERAL": ("construct", "a string"),
    "CUDADEVICE_ATTR": ("globals", "a device variable"),
    "CUDACONSTANT_ATTR": ("globals", "a constant variable"),
}


@dataclass(frozen=True)
class Item:
    key: tuple[str, ...]
    rule: str
    message: str
    line: int


@dataclass(frozen=True)
class View:
    """What one side's tree says; plain data that outlives the parser."""

    problems: tuple[str, ...]
    includes: tuple[str, ...] = ()
    others: tuple[tuple[str, ...], ...] = ()
    signature: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()

    @staticmethod
    def of(found: Mapping[str, Any]) -> View:
        """From JSON, of a process that read hostile text."""
        return View(
            problems=_words(found["problems"]),
            includes=_words(found["includes"]),
            others=tuple(_words(each) for each in found["others"]),
            signature=_words(found["signature"]),
            items=tuple(
                Item(_words(i["key"]), str(i["rule"]), str(i["message"]), int(i["line"]))
                for i in found["items"]
            ),
        )


def _words(found: Any) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise TypeError("not a list of words")
    return tuple(found)


def view(
    path: Path, source: str, flags: Sequence[str], architecture: str, side: Side, begin: int
) -> View:
    unit = libclang.parse(path, source, flags, architecture, side)
    if problems := libclang.errors(unit):
        return View(tuple(problems))
    declared = list(definitions(unit, path))
    kernel = next((c for c in declared if c.extent.start.offset == begin and body_of(c)), None)
    if kernel is None:
        return View((), signature=("no kernel stands there any more",))
    body = body_of(kernel)
    assert body is not None
    inside = (body.extent.start.offset, body.extent.end.offset)
    return View(
        problems=(),
        includes=tuple(sorted({str(include.include) for include in unit.get_includes()})),
        others=tuple(_fingerprint(c) for c in declared if c != kernel),
        signature=tuple(_signature(kernel)),
        items=(
            *_uninitialised(unit, inside),
            *_items(kernel),
            *(Item(*found) for found in pointer_guard.items(body, source.encode())),
            *(Item(*found) for found in width_guard.items(body, source.encode())),
            *_macros(unit, path, source, *inside),
        ),
    )


def _fingerprint(cursor: Cursor) -> tuple[str, ...]:
    """A definition's tree: kinds, and what its names refer to; lines may move."""
    parts = [cursor.kind.name, cursor.spelling, cursor.type.spelling, cursor.mangled_name or "",
             cursor.storage_class.name]  # fmt: skip
    for node in libclang.walk(cursor):
        target = node.referenced
        parts.append(node.kind.name)
        if target is not None:
            parts += [target.spelling, target.type.spelling]
    return tuple(re.sub(r":\d+:\d+\)", ")", _plain(part)) for part in parts)


def _plain(text: str) -> str:
    """A type without `restrict`, which no caller can tell."""
    return " ".join(text.replace("__restrict__", "").replace("__restrict", "").split())


def _signature(kernel: Cursor) -> Iterator[str]:
    """Everything a caller can see of it."""
    yield kernel.kind.name
    yield kernel.spelling
    yield _plain(kernel.type.spelling)
    yield kernel.mangled_name or ""
    yield kernel.storage_class.name
    yield kernel.linkage.name
    for child in kernel.get_children():
        kind = child.kind.name
        if kind == "PARM_DECL" or "TEMPLATE" in kind:
            yield f"{kind} {_plain(child.type.spelling)} {child.spelling}"
        elif kind.endswith("_ATTR") and kind != "UNEXPOSED_ATTR":  # launch bounds: by tokens
            yield kind


def _uninitialised(unit: TranslationUnit, inside: tuple[int, int]) -> Iterator[Item]:
    """A value that nobody gave may be right here by accident, and is another elsewhere."""
    for offset, line, message in libclang.uninitialised(unit):
        if inside[0] <= offset < inside[1]:
            yield Item(("kind", "uninitialised"), "uninitialised", message, line)


def _items(kernel: Cursor) -> Iterator[Item]:
    body = body_of(kernel)
    assert body is not None
    for node in libclang.walk(body):
        kind, line = node.kind.name, node.location.line
        if kind not in KINDS:
            default = ("construct", f"a construct of kind {kind.lower()}")
            rule, message = NAMES_OF_KINDS.get(kind, default)
            yield Item(("kind", kind), rule, message, line)
        if kind == "VAR_DECL":
            yield from _variable(node)
        elif kind in REFERENCES:
            yield from _reference(node, kernel)
        elif kind == "OVERLOADED_DECL_REF" and not _all_callable(node):
            yield Item(("call", node.spelling), "calls", f"a call of {node.spelling}", line)


def _variable(node: Cursor) -> Iterator[Item]:
    kinds = {child.kind.name for child in node.get_children()}
    storage, line = node.storage_class.name, node.location.line
    constant = node.type.is_const_qualified()
    if storage == "STATIC" and "CUDASHARED_ATTR" not in kinds and not constant:
        yield Item(("static", node.spelling), "globals", f"the static {node.spelling}", line)
    if storage == "EXTERN":
        yield Item(("extern", node.spelling), "globals", f"the extern {node.spelling}", line)
    if node.tls_kind.name != "NONE":
        yield Item(("tls", node.spelling), "globals", f"the thread-local {node.spelling}", line)
    if node.type.get_canonical().kind.name == "VARIABLEARRAY":
        yield Item(("vla", node.spelling), "construct", f"{node.spelling}: no fixed size", line)


def _reference(node: Cursor, kernel: Cursor) -> Iterator[Item]:
    target = node.referenced
    line = node.location.line
    if target is None:
        if node.kind.name == "CALL_EXPR" and node.spelling and node.spelling not in CALLS:
            yield Item(("call", node.spelling), "calls", f"a call of {node.spelling}", line)
        return
    kind = target.kind.name
    if kind in FUNCTIONS:
        if not _callable(target):
            yield Item(("call", target.spelling), "calls", f"a call of {target.spelling}", line)
    elif kind == "VAR_DECL" and _is_global(target) and not _constant(target):
        message = f"the global variable {target.spelling}"
        yield Item(("global", target.get_usr()), "globals", message, line)


def _all_callable(node: Cursor) -> bool:
    """Which one is meant depends on a template's argument. An operator may be none of them: those
    of plain numbers are not listed."""
    if node.spelling in CALLS:
        return True
    return node.spelling.startswith("operator") and all(map(_callable, libclang.overloads(node)))


def _callable(target: Cursor) -> bool:
    """Permitted to a kernel that did not call it before."""
    # A builtin is declared where it is first used.
    if target.spelling.startswith("__builtin_") and target.spelling in CALLS:
        return True
    if _copies_plain_data(target):
        return True
    own = target.location.file is not None and not target.location.is_in_system_header
    if own:
        return False
    if target.spelling in CALLS or target.spelling in EXPANDED:
        return True
    parent = target.semantic_parent
    if parent is not None and parent.spelling in VALUE_CLASSES:
        return True
    # float4 + float4 and the like: HIP's free operators on its vectors.
    return target.spelling.startswith("operator") and any(
        name in target.type.spelling for name in VALUE_CLASSES
    )


def _copies_plain_data(target: Cursor) -> bool:
    """Whether it makes a structure of plain data, or copies one as `memcpy` would: nobody wrote
    it."""
    owner = target.semantic_parent
    if owner is None or not owner.type.is_pod():
        return False
    if target.kind.name == "CONSTRUCTOR":
        return bool(
            target.is_copy_constructor()
            or target.is_move_constructor()
            or target.is_default_constructor()
        )
    given = [each.type.get_pointee().get_canonical() for each in target.get_arguments()]
    return target.spelling == "operator=" and [
        g.spelling.removeprefix("const ") for g in given
    ] == [owner.type.get_canonical().spelling]


def _is_global(target: Cursor) -> bool:
    parent = target.semantic_parent
    return parent is None or parent.kind.name not in FUNCTIONS


def _constant(target: Cursor) -> bool:
    element = target.type
    while element.kind.name in ("CONSTANTARRAY", "INCOMPLETEARRAY"):
        element = element.element_type
    if pointer_guard.holds_pointer(element):
        return False
    return bool(element.is_const_qualified() or target.spelling in ("threadIdx", "blockIdx"))


def _macros(unit: TranslationUnit, path: Path, source: str, begin: int, end: int) -> Iterator[Item]:
    """Uses of macros in the definition; one that pastes tokens must be used as it was."""
    data = source.encode()
    for node in unit.cursor.get_children():
        if node.kind.name != "MACRO_INSTANTIATION":
            continue
        file = node.location.file
        if file is None or Path(file.name) != path or not begin <= node.location.offset < end:
            continue
        line, name = node.location.line, node.spelling
        definition = node.referenced
        words = [t.spelling for t in definition.get_tokens()] if definition is not None else []
        if "##" in words:
            text = data[node.extent.start.offset : node.extent.end.offset].decode()
            yield Item(("paste", text), "macros", f"{name}, which pastes tokens, used anew", line)
        if name not in MACROS:
            yield Item(("macro", name), "macros", f"the macro {name}", line)
