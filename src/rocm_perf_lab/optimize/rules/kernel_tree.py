"""A kernel as the rules see it: its loops, what they load and store, what they must not cross.

Offsets are bytes of the file; `text` is the file's bytes read as Latin-1, so that both agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocm_perf_lab.optimize import libclang
from rocm_perf_lab.optimize.kernel_source import body_of, definitions
from rocm_perf_lab.optimize.lexer import LOOPS, Token, bracket_end, statement_end, tokens
from rocm_perf_lab.optimize.libclang import Cursor
from rocm_perf_lab.optimize.proposal import Context
from rocm_perf_lab.optimize.rules.constants import clauses, constants_of, trip_count
from rocm_perf_lab.optimize.rules.facts import (
    Access,
    Assignment,
    Division,
    Facts,
    SharedArray,
)

BARRIERS = re.compile(r"__syncthreads|__syncwarp|__builtin_amdgcn_s_barrier|^sync$|__threadfence")
ATOMICS = re.compile(r"atomic|__hip_atomic|__atomic", re.IGNORECASE)
WAVE = re.compile(r"__shfl|__any|__all|__ballot|__activemask|__reduce|__match")


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
        if "" in self.calls:
            return "a call that depends on a template's argument"
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
    constants = constants_of(kernel, context)
    facts = Facts(kernel, context.path, text)
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


def _loops(
    found: Sequence[Token], text: str, facts: Facts, constants: Mapping[str, int]
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
            trip_count=trip_count(found[i:head_end], text, constants),
            calls=frozenset().union(*(names for o, names in facts.calls if begin <= o < end)),
            accesses=tuple(a for a in facts.accesses if body_begin <= a.begin < end),
            assigned=assigned,
            leaves=any(body_begin <= o < end for o in facts.leaves),
            dynamic_lds=any(begin <= o < end for o in facts.dynamic),
            divisions=tuple(d for d in facts.divisions if body_begin <= d.slash < end),
            follows=next((t.text for t in reversed(found[:i]) if not t.is_unroll), "{"),
        )


def _shape(head: Sequence[Token], text: str) -> tuple[str, str, str, str, str] | None:
    """(type, variable, init, bound, step) of a counting loop."""
    parts = clauses(head, text)
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
