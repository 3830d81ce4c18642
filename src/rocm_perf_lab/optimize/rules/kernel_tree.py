"""A kernel as the rules see it: its loops, what they load and store, what they must not cross.

Offsets are bytes of the file; `text` is the file's bytes read as Latin-1, so that both agree.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab.optimize import libclang
from rocm_perf_lab.optimize.kernel_source import body_of, definitions
from rocm_perf_lab.optimize.lexer import LOOPS, Token, bracket_end, statement_end, tokens
from rocm_perf_lab.optimize.libclang import Cursor
from rocm_perf_lab.optimize.proposal import Context

BARRIERS = re.compile(r"__syncthreads|__syncwarp|__builtin_amdgcn_s_barrier|^sync$|__threadfence")
ATOMICS = re.compile(r"atomic|__hip_atomic|__atomic", re.IGNORECASE)
WAVE = re.compile(r"__shfl|__any|__all|__ballot|__activemask|__reduce|__match")
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
class Loop:
    number: int  # 1 is the first in the source
    keyword: str
    begin: int
    end: int
    body_begin: int
    body_end: int
    first_line: int
    last_line: int
    pragma: tuple[int, int] | None  # an unroll pragma that stands before it
    innermost: bool
    # Of `for (TYPE variable = init; variable < bound; variable += step)`, else empty.
    type: str
    variable: str
    init: str
    bound: str
    step: str
    trip_count: int | None  # where it is a constant
    calls: frozenset[str]
    accesses: tuple[Access, ...]
    assigned: frozenset[str]  # names of variables changed in the body
    leaves: bool  # break, continue, return or goto inside
    dynamic_lds: bool
    divisions: tuple[Division, ...]
    follows: str  # the token before it (and before its pragma)

    @property
    def canonical(self) -> bool:
        return bool(self.variable)

    @property
    def crosses(self) -> str | None:
        """What a rule must not move code across, or None."""
        if any(BARRIERS.search(call) for call in self.calls):
            return "a barrier"
        if any(ATOMICS.search(call) for call in self.calls):
            return "an atomic"
        return "dynamic shared memory" if self.dynamic_lds else None

    @property
    def wave_operations(self) -> bool:
        return any(WAVE.search(call) for call in self.calls)

    @property
    def loads(self) -> tuple[Access, ...]:
        return tuple(a for a in self.accesses if not a.stored)

    @property
    def stores(self) -> tuple[Access, ...]:
        return tuple(a for a in self.accesses if a.stored)


@dataclass(frozen=True)
class Parameter:
    name: str
    pointer: bool
    restrict: bool
    constant: bool
    begin: int
    end: int


@dataclass(frozen=True)
class SharedArray:
    name: str
    element: str
    sizes: tuple[int, ...]
    inner_size: tuple[int, int]  # where the last dimension is written
    plain_subscripts: bool  # only ever used as a[i][j]


@dataclass(frozen=True)
class KernelTree:
    text: str
    head: tuple[int, int]  # offsets, up to the opening brace
    body: tuple[int, int]
    loops: tuple[Loop, ...]
    parameters: tuple[Parameter, ...]
    arrays: tuple[SharedArray, ...]
    names: frozenset[str]  # every identifier in the definition
    accesses: tuple[Access, ...]
    assignments: tuple[Assignment, ...]
    variables: Mapping[str, str]  # local variables and parameters: name -> type


def read_kernel(context: Context) -> KernelTree:
    unit = libclang.parse(
        context.path, context.source, context.flags, context.architecture, "device"
    )
    kernel = next(
        c
        for c in definitions(unit, context.path)
        if c.extent.start.offset == context.extent.begin and body_of(c)
    )
    text = context.source.encode().decode("latin-1")
    begin, body, end = context.extent.begin, context.extent.body, context.extent.end
    found = [Token(t.kind, t.text, t.offset + body) for t in tokens(text[body:end], trusted=True)]
    constants = _constants(kernel, context)
    facts = _Facts(kernel, context.path, text)
    loops = tuple(_loops(found, text, facts, constants))
    return KernelTree(
        text=text,
        head=(begin, body),
        body=(body, end),
        loops=loops,
        parameters=tuple(_parameters(kernel)),
        arrays=tuple(facts.arrays()),
        names=frozenset(t.text for t in tokens(text[begin:end], trusted=True) if t.kind == "name"),
        accesses=tuple(facts.accesses),
        assignments=tuple(facts.assignments),
        variables=facts.variables,
    )


class _Facts:
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
            for node in definition.walk_preorder():
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


def _parameters(kernel: Cursor) -> Iterator[Parameter]:
    for child in kernel.get_children():
        if child.kind.name != "PARM_DECL":
            continue
        pointer = child.type.get_canonical().kind.name == "POINTER"
        yield Parameter(
            name=child.spelling,
            pointer=pointer,
            restrict="restrict" in child.type.spelling,
            constant=pointer and child.type.get_canonical().get_pointee().is_const_qualified(),
            begin=child.extent.start.offset,
            end=child.extent.end.offset,
        )


def _constants(kernel: Cursor, context: Context) -> dict[str, int]:
    """Names with a known value: constexpr integers of the file, and the wave's width."""
    values = {"warpSize": context.prompt.device.wave_size or 64}
    _add_constants(kernel, values)
    return values


def _add_constants(cursor: Cursor, values: dict[str, int], depth: int = 0) -> None:
    for node in cursor.walk_preorder():
        target = node.referenced if node.kind.name == "DECL_REF_EXPR" else None
        if target is None or target.kind.name != "VAR_DECL" or node.spelling in values:
            continue
        if not target.type.is_const_qualified() or depth > 8:
            continue
        words = [t.spelling for t in target.get_tokens()]
        if node.spelling not in words or "=" not in words[words.index(node.spelling) :]:
            continue
        _add_constants(target, values, depth + 1)  # what its own value is made of
        # `a = 1, b = 2`: only what belongs to this name.
        after = words[words.index("=", words.index(node.spelling)) + 1 :]
        stop = next((i for i, w in enumerate(after) if w in (",", ";")), len(after))
        value = evaluate(" ".join(after[:stop]), values)
        if value is not None:
            values[node.spelling] = value


def evaluate(text: str, names: Mapping[str, int]) -> int | None:
    """An integer expression of constants; None where it is not one."""
    words = [token.text for token in tokens(text, trusted=True)]
    if not words or len(words) > 40:
        return None
    spelled = []
    for word in words:
        if word in names:
            spelled.append(str(names[word]))
        elif re.fullmatch(r"\d+[uUlL]*", word):
            spelled.append(word.rstrip("uUlL"))
        elif word in ("+", "-", "*", "(", ")"):
            spelled.append(word)
        elif word == "/":
            spelled.append("//")
        else:
            return None
    try:
        value = eval("".join(spelled), {"__builtins__": {}})  # digits and + - * // ( ) only
    except (SyntaxError, ZeroDivisionError, TypeError, MemoryError):
        return None
    return value if isinstance(value, int) else None


def _loops(
    found: Sequence[Token], text: str, facts: _Facts, constants: Mapping[str, int]
) -> Iterator[Loop]:
    starts = [i for i, t in enumerate(found) if t.text in LOOPS and t.kind == "name"]
    # The `while` that ends a `do` is no loop of its own.
    tails = set()
    for i in starts:
        if found[i].text == "do":
            tails.add(statement_end(found, i + 1))
    for number, i in enumerate((i for i in starts if i not in tails), 1):
        last = statement_end(found, i)
        head_end = i + 1 if found[i].text == "do" else bracket_end(found, i + 1)
        if head_end >= len(found) or last > len(found):
            continue
        begin, end = found[i].offset, found[last - 1].offset + len(found[last - 1].text)
        body_begin = found[head_end].offset
        inside = [t for t in found if body_begin <= t.offset < end]
        shape = _shape(found[i:head_end], text) if found[i].text == "for" else None
        kind, variable, init, bound, step = shape or ("", "", "", "", "")
        assigned = frozenset(n for o, n in facts.assigned if body_begin <= o < end)
        if variable in assigned or any(
            token.text in assigned for token in tokens(bound, trusted=True)
        ):
            kind, variable, init, bound, step = "", "", "", "", ""
        yield Loop(
            number=number,
            keyword=found[i].text,
            begin=begin,
            end=end,
            body_begin=body_begin,
            body_end=end,
            first_line=text.count("\n", 0, begin) + 1,
            last_line=text.count("\n", 0, end) + 1,
            pragma=(found[i - 1].offset, found[i - 1].offset + len(found[i - 1].text))
            if i and found[i - 1].is_unroll
            else None,
            innermost=not any(t.kind == "name" and t.text in LOOPS for t in inside),
            type=kind,
            variable=variable,
            init=init,
            bound=bound,
            step=step,
            trip_count=_trip_count(found[i:head_end], text, constants),
            calls=frozenset().union(*(names for o, names in facts.calls if begin <= o < end)),
            accesses=tuple(a for a in facts.accesses if body_begin <= a.begin < end),
            assigned=assigned,
            leaves=any(body_begin <= o < end for o in facts.leaves),
            dynamic_lds=any(begin <= o < end for o in facts.dynamic),
            divisions=tuple(d for d in facts.divisions if body_begin <= d.slash < end),
            follows=next((t.text for t in reversed(found[:i]) if not t.is_unroll), "{"),
        )


def _clauses(head: Sequence[Token], text: str) -> list[str]:
    """The three parts between the parentheses of a `for`."""
    marks = [head[1].offset]
    depth = 0
    for token in head[1:]:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if token.text == ";" and depth == 1:
            marks.append(token.offset)
    marks.append(head[-1].offset)
    return [text[a + 1 : b].strip() for a, b in itertools.pairwise(marks)]


def _shape(head: Sequence[Token], text: str) -> tuple[str, str, str, str, str] | None:
    """(type, variable, init, bound, step) of a counting loop."""
    parts = _clauses(head, text)
    if len(parts) != 3:
        return None
    first = re.fullmatch(
        r"((?:const\s+)?(?:unsigned\s+|signed\s+)?(?:int|long|size_t|unsigned|uint32_t|int32_t|"
        r"uint64_t|int64_t|long\s+long|short|auto))\s+(\w+)\s*=\s*([^,]+)",
        parts[0],
    )
    if first is None:
        return None
    variable = first[2]
    condition = re.fullmatch(rf"{variable}\s*<\s*([^=<].*)", parts[1], re.DOTALL)
    step = re.fullmatch(
        rf"(?:\+\+\s*{variable}|{variable}\s*\+\+|{variable}\s*\+=\s*(.+))", parts[2], re.DOTALL
    )
    if condition is None or step is None or re.search(r"&&|\|\||\?|,", condition[1]):
        return None
    return first[1], variable, first[3].strip(), condition[1].strip(), (step[1] or "1").strip()


def _trip_count(head: Sequence[Token], text: str, names: Mapping[str, int]) -> int | None:
    parts = _clauses(head, text) if head[0].text == "for" else []
    if len(parts) != 3:
        return None
    first = re.fullmatch(r"[\w\s]+?\b(\w+)\s*=\s*([^,]+)", parts[0])
    if first is None:
        return None
    variable, start = first[1], evaluate(first[2], names)
    condition = re.fullmatch(rf"{variable}\s*(<=?|>=?)\s*(.+)", parts[1])
    change = re.fullmatch(
        rf"(?:(\+\+|--)\s*{variable}|{variable}\s*(\+\+|--)|{variable}\s*([+\-*/]|<<|>>)=\s*(.+))",
        parts[2],
    )
    if condition is None or change is None or start is None:
        return None
    bound = evaluate(condition[2], names)
    by = evaluate(change[4], names) if change[4] else 1
    if bound is None or by is None:
        return None
    operator = change[3] or (change[1] or change[2])[0]
    value, count = start, 0
    compare = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__}[condition[1]]
    while compare(value, bound):
        count += 1
        if count > 1 << 16:
            return None
        before = value
        if operator in "+-":
            value = value + by if operator == "+" else value - by
        elif operator == "*":
            value *= by
        elif operator == "/":
            value = value // by if by else value
        else:
            value = value << by if operator == "<<" else value >> by
        if value == before:
            return None
    return count
