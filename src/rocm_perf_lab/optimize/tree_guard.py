"""The static guard's look at the syntax tree, as the device compiler and as the host sees it.

Each thing in the new body that needs a permission is an item with a key; what the kernel had
before, it may have again. Everything else in the file must be the same tree.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize import libclang
from rocm_perf_lab.optimize.guard_lists import CALLS, EXPANDED, KINDS, MACROS
from rocm_perf_lab.optimize.kernel_source import body_of, definitions
from rocm_perf_lab.optimize.libclang import SIDES, Cursor, Side, TranslationUnit
from rocm_perf_lab.optimize.proposal import Context

FUNCTIONS = frozenset(
    "FUNCTION_DECL CXX_METHOD CONSTRUCTOR DESTRUCTOR CONVERSION_FUNCTION FUNCTION_TEMPLATE".split()
)
REFERENCES = frozenset("DECL_REF_EXPR MEMBER_REF_EXPR CALL_EXPR".split())
CASTS = frozenset(
    "CSTYLE_CAST_EXPR CXX_REINTERPRET_CAST_EXPR CXX_FUNCTIONAL_CAST_EXPR "
    "CXX_STATIC_CAST_EXPR".split()
)
# Classes of HIP's headers whose members and operators only compute.
VALUE_CLASSES = (
    "HIP_vector_type", "HIP_vector_base", "__half", "__half2", "__hip_bfloat16", "hip_bfloat16",
    "__hip_threadIdx_t", "__hip_blockIdx_t", "__hip_blockDim_t", "__hip_gridDim_t",
    "__HIP_Coordinates", "__X", "__Y", "__Z", "dim3", "uint3",
)  # fmt: skip
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


def compare(context: Context, source: str) -> tuple[list[str], list[tuple[str, str, int]]]:
    """(what the parser refuses, [(rule, message, line)]): both empty where all is well."""
    found: dict[tuple[str, str], tuple[str, str, int]] = {}
    for side in SIDES:
        old = view(context.path, context.source, context.flags, context.architecture, side,
                   context.extent.begin)  # fmt: skip
        if old.problems:
            raise BadInput(f"{context.path.name} does not compile as it stands: {old.problems[0]}")
        new = view(context.path, source, context.flags, context.architecture, side,
                   context.extent.begin)  # fmt: skip
        if new.problems:
            return [f"{side} side: {problem}" for problem in new.problems], []
        for rule, message, line in _differences(old, new):
            found.setdefault((rule, message), (rule, message, line))
    return [], list(found.values())


def _differences(old: View, new: View) -> Iterator[tuple[str, str, int]]:
    if old.includes != new.includes:
        yield "includes", "the files included differ", 0
    if old.signature != new.signature:
        pairs = zip(old.signature, new.signature, strict=False)
        was, now = next(((a, b) for a, b in pairs if a != b), ("", "more of it"))
        yield "signature", f"the kernel's declaration differs: {now!r} where {was!r} stood", 0
    if old.others != new.others:
        strange = next((o[1] for o in new.others if o not in old.others), "")
        yield "outside", f"something outside the kernel differs in the syntax tree: {strange}", 0
    had = Counter(item.key for item in old.items)
    seen: Counter[tuple[str, ...]] = Counter()
    for item in new.items:
        seen[item.key] += 1
        # A callee, global or macro that was there may be used again; a construct may not multiply.
        counted = item.key[0] == "kind"
        if (counted and seen[item.key] > had[item.key]) or not had[item.key]:
            yield item.rule, item.message, item.line


@functools.lru_cache(maxsize=8)
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
        items=(*_items(kernel), *_macros(unit, path, source, *inside)),
    )


def _fingerprint(cursor: Cursor) -> tuple[str, ...]:
    """A definition's tree: kinds, and what its names refer to; lines may move."""
    parts = [cursor.kind.name, cursor.spelling, cursor.type.spelling, cursor.mangled_name or "",
             cursor.storage_class.name]  # fmt: skip
    for node in cursor.walk_preorder():
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


def _items(kernel: Cursor) -> Iterator[Item]:
    body = body_of(kernel)
    assert body is not None
    for node in body.walk_preorder():
        kind, line = node.kind.name, node.location.line
        if kind not in KINDS:
            default = ("construct", f"a construct of kind {kind.lower()}")
            rule, message = NAMES_OF_KINDS.get(kind, default)
            yield Item(("kind", kind), rule, message, line)
        if kind == "VAR_DECL":
            yield from _variable(node)
        elif kind in REFERENCES:
            yield from _reference(node, kernel)
        elif kind == "OVERLOADED_DECL_REF" and node.spelling not in CALLS:
            yield Item(("call", node.spelling), "calls", f"a call of {node.spelling}", line)
        elif kind in CASTS:
            yield from _cast(node)


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


def _callable(target: Cursor) -> bool:
    """Permitted to a kernel that did not call it before."""
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


def _is_global(target: Cursor) -> bool:
    parent = target.semantic_parent
    return parent is None or parent.kind.name not in FUNCTIONS


def _constant(target: Cursor) -> bool:
    element = target.type
    while element.kind.name in ("CONSTANTARRAY", "INCOMPLETEARRAY"):
        element = element.element_type
    return bool(element.is_const_qualified() or target.spelling in ("threadIdx", "blockIdx"))


def _cast(node: Cursor) -> Iterator[Item]:
    to = node.type.get_canonical()
    if to.kind.name != "POINTER":
        return
    operand = next((c for c in node.get_children() if c.kind.is_expression()), None)
    if operand is None:
        return
    came = operand.type.get_canonical()
    line = node.location.line
    if came.kind.name in ("CONSTANTARRAY", "INCOMPLETEARRAY"):
        element = came.element_type
    elif came.kind.name == "POINTER":
        element = came.get_pointee()
    elif came.kind.name in ("NULLPTR", "DEPENDENT"):
        return
    else:
        message = f"a pointer made of a {came.spelling}"
        yield Item(("pointer", came.spelling), "casts", message, line)
        return
    if element.is_const_qualified() and not to.get_pointee().is_const_qualified():
        message = f"a cast of {came.spelling} to {to.spelling} that takes the const away"
        yield Item(("const", came.spelling, to.spelling), "casts", message, line)


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
