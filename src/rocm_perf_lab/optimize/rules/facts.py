"""What the syntax tree says about places in a kernel's body, found in one walk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab.optimize import libclang
from rocm_perf_lab.optimize.kernel_source import body_of
from rocm_perf_lab.optimize.libclang import Cursor

STATEMENTS = frozenset(
    "COMPOUND_STMT IF_STMT FOR_STMT WHILE_STMT DO_STMT UNEXPOSED_EXPR UNEXPOSED_STMT".split()
)
ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})


@dataclass(frozen=True)
class Access:
    """`base[index]` with a pointer or array as base."""

    base: str
    index: str
    begin: int
    end: int
    element: str  # type of one element, without const
    constant: bool  # the pointee is const
    shared: bool  # an array in LDS
    stored: bool


@dataclass(frozen=True)
class Division:
    """`... / divisor` in floating point, with a plain variable as divisor."""

    slash: int
    divisor: str
    end: int
    type: str


@dataclass(frozen=True)
class Assignment:
    """`base[index] = value`, a statement of its own."""

    target: Access
    value: tuple[int, int]


@dataclass(frozen=True)
class SharedArray:
    name: str
    element: str
    sizes: tuple[int, ...]
    inner_size: tuple[int, int]  # where the last dimension is written
    plain_subscripts: bool  # only ever used as a[i][j]


class Facts:
    """What the syntax tree says about places in the body, found in one walk."""

    def __init__(self, kernel: Cursor, path: Path, text: str) -> None:
        self.text = text
        self.calls: list[tuple[int, frozenset[str]]] = []
        self.accesses: list[Access] = []
        self.assigned: list[tuple[int, str]] = []
        self.dynamic: list[int] = []
        self.leaves: list[int] = []
        self.divisions: list[Division] = []
        self.assignments: list[Assignment] = []
        self.variables: dict[str, str] = {}
        self.shared: dict[str, Cursor] = {}
        self.references: list[tuple[str, Cursor | None]] = []
        self._inside: dict[str, frozenset[str]] = {}
        self._path = path
        body = body_of(kernel)
        assert body is not None
        self._walk(body, None, stored=False)

    def _walk(self, node: Cursor, parent: Cursor | None, *, stored: bool) -> None:
        kind, offset = node.kind.name, node.extent.start.offset
        children = list(node.get_children())
        targets: Sequence[Cursor] = ()
        if kind == "CALL_EXPR":
            self.calls.append((offset, self._reached(node)))
            for argument in node.get_arguments():
                kind_of = argument.type.get_canonical() if argument is not None else None
                if (
                    kind_of is not None
                    and kind_of.kind.name == "POINTER"
                    and not kind_of.get_pointee().is_const_qualified()
                ):
                    self._unknown_store(node)
        elif kind in ("BREAK_STMT", "CONTINUE_STMT", "RETURN_STMT", "GOTO_STMT"):
            self.leaves.append(offset)
        elif kind == "VAR_DECL":
            self._declared(node, children)
        elif kind == "ARRAY_SUBSCRIPT_EXPR" and len(children) == 2:
            self._subscript(node, children, stored)
        elif kind == "DECL_REF_EXPR":
            self.references.append((node.spelling, parent))
            if self._is_dynamic(node):
                self.dynamic.append(offset)
        elif kind in ("BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR") and children:
            operator = self._operator(node, children)
            if operator in ASSIGNMENTS:
                targets = children[:1]
            if operator == "/":
                self._division(node, children)
        elif kind == "UNARY_OPERATOR" and children:
            written = self.text[offset : node.extent.end.offset]
            if stored and written.startswith("*"):
                self._unknown_store(node)
            if written.startswith(("++", "--")) or written.endswith(("++", "--")):
                targets = children[:1]
        for child in targets:
            if child.kind.name == "DECL_REF_EXPR":
                self.assigned.append((offset, child.spelling))
        # `a[i][j] = x` and `a[i].x = x` store into a.
        through = stored and kind in ("ARRAY_SUBSCRIPT_EXPR", "MEMBER_REF_EXPR", "PAREN_EXPR",
                                      "UNEXPOSED_EXPR")  # fmt: skip
        for place, child in enumerate(children):
            self._walk(child, node, stored=child in targets or (through and place == 0))
        if targets and parent is not None and parent.kind.name in STATEMENTS:
            self._assignment(node, children)

    def _division(self, node: Cursor, children: Sequence[Cursor]) -> None:
        divisor = children[1]
        while divisor.kind.name == "UNEXPOSED_EXPR":
            divisor = next(iter(divisor.get_children()), divisor)
            if divisor.kind.name == "DECL_REF_EXPR":
                break
        kind = node.type.get_canonical().spelling
        if divisor.kind.name != "DECL_REF_EXPR" or kind not in ("float", "double"):
            return
        if divisor.type.get_canonical().spelling.replace("const ", "") != kind:
            return
        slash = self.text.index("/", children[0].extent.end.offset)
        end = divisor.extent.end.offset
        self.divisions.append(Division(slash, divisor.spelling, end, kind))

    def _assignment(self, node: Cursor, children: Sequence[Cursor]) -> None:
        if len(children) != 2 or self._operator(node, children) != "=":
            return
        begin, value = children[0].extent.start.offset, children[1].extent
        for access in self.accesses:
            if access.begin == begin and access.stored and access.base != "*":
                self.assignments.append(Assignment(access, (value.start.offset, value.end.offset)))
                return

    def _unknown_store(self, node: Cursor) -> None:
        begin, end = node.extent.start.offset, node.extent.end.offset
        self.accesses.append(Access("*", "", begin, end, "", False, False, True))

    def _operator(self, node: Cursor, children: Sequence[Cursor]) -> str:
        if len(children) != 2:
            return ""
        left, right = children[0].extent.end.offset, children[1].extent.start.offset
        return re.sub(r"/\*.*?\*/", "", self.text[left:right]).strip()

    def _declared(self, node: Cursor, children: Sequence[Cursor]) -> None:
        if any(child.kind.name == "CUDASHARED_ATTR" for child in children):
            self.shared[node.spelling] = node
        self.variables[node.spelling] = node.type.get_canonical().spelling
        self.assigned.append((node.extent.start.offset, node.spelling))

    def _is_dynamic(self, node: Cursor) -> bool:
        target = node.referenced
        return (
            target is not None
            and target.kind.name == "VAR_DECL"
            and target.storage_class.name == "EXTERN"
            and any(child.kind.name == "CUDASHARED_ATTR" for child in target.get_children())
        )

    def _subscript(self, node: Cursor, children: Sequence[Cursor], stored: bool) -> None:
        base, index = children
        while base.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR"):
            inner = list(base.get_children())
            if len(inner) != 1:
                return
            base = inner[0]
        if base.kind.name != "DECL_REF_EXPR":
            return
        target, kind = base.referenced, node.type.get_canonical()
        self.accesses.append(
            Access(
                base=base.spelling,
                index=self.text[index.extent.start.offset : index.extent.end.offset],
                begin=node.extent.start.offset,
                end=node.extent.end.offset,
                element=kind.spelling.replace("const ", "").strip(),
                constant=kind.is_const_qualified(),
                shared=target is not None
                and any(c.kind.name == "CUDASHARED_ATTR" for c in target.get_children()),
                stored=stored,
            )
        )

    def _reached(self, call: Cursor, depth: int = 0) -> frozenset[str]:
        """The callee's name and, for functions of this file, the names they call."""
        target = call.referenced
        if target is None:
            return frozenset({call.spelling})
        names = {target.spelling}
        definition = target.get_definition()
        file = definition.location.file if definition is not None else None
        if definition is None or file is None or Path(file.name) != self._path or depth > 8:
            return frozenset(names)
        usr = definition.get_usr()
        if usr not in self._inside:
            self._inside[usr] = frozenset()
            reached: set[str] = set()
            for node in libclang.walk(definition):
                if node.kind.name == "CALL_EXPR":
                    reached |= self._reached(node, depth + 1)
            self._inside[usr] = frozenset(reached)
        return frozenset(names | self._inside[usr])

    def arrays(self) -> Iterator[SharedArray]:
        for name, node in self.shared.items():
            sizes, element = [], node.type
            while element.kind.name == "CONSTANTARRAY":
                sizes.append(element.element_count)
                element = element.element_type
            written = self.text[node.extent.start.offset : node.extent.end.offset]
            last = written.rfind("[")
            if len(sizes) < 2 or last < 0:
                continue
            at = node.extent.start.offset + last + 1
            subscripts = sum(
                1
                for a, parent in self.references
                if a == name and parent is not None and self._two_deep(parent)
            )
            uses = sum(1 for a, _ in self.references if a == name)
            yield SharedArray(
                name=name,
                element=element.get_canonical().spelling,
                sizes=tuple(sizes),
                inner_size=(at, node.extent.start.offset + written.rindex("]")),
                plain_subscripts=uses == subscripts,
            )

    def _two_deep(self, parent: Cursor) -> bool:
        """The reference decays into a pointer only to be subscripted as often as it has sizes."""
        begin = parent.extent.start.offset
        tail = re.match(r"\w+\s*\[", self.text[begin : begin + 400])
        if tail is None:
            return False
        depth, at, count = 0, begin, 0
        for at in range(begin, min(begin + 400, len(self.text))):
            character = self.text[at]
            if character == "[":
                count += depth == 0
                depth += 1
            elif character == "]":
                depth -= 1
            elif depth == 0 and not (character.isalnum() or character in "_ \n\t"):
                break
        return count >= 2
