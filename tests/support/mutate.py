"""Wrong kernels made of a right one, mechanically: one small edit each, by named operators.

An operator is a function from a kernel to edits of its text. All work on tokens, none knows what
the kernel computes, so a few edits change nothing that shows; a person has to say which.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rocm_perf_lab.optimize.lexer import CLOSE, OPEN, Token, bracket_end, statement_end, tokens

TYPES = ("float", "double", "int", "unsigned", "long", "bool", "auto", "const", "return")
NARROWER = {
    "float": "int", "double": "float", "int": "signed char", "unsigned": "unsigned short",
}  # fmt: skip
ZEROS = {"0": "1", "0u": "1u", "0.0f": "1.0f", "0.0": "1.0", "INFINITY": "0.0f"}
PRODUCTS = ("*", "/", "%")
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": ">="}
EXCHANGED = {"+": "-", "-": "+", "*": "+", "/": "*", "&&": "||"}
EARLY = (
    "blockIdx.x == 1",
    "blockIdx.x == gridDim.x - 1",
    "threadIdx.x == 5",
    "threadIdx.x + 1 == blockDim.x",
    "blockIdx.x == 0 && threadIdx.x == 5",
)


@dataclass(frozen=True)
class Edit:
    begin: int  # in characters
    end: int
    text: str


@dataclass(frozen=True)
class Kernel:
    text: str
    constants: Mapping[str, str] = field(default_factory=dict)  # what the first launch had

    @cached_property
    def all(self) -> list[Token]:
        return tokens(self.text)

    @cached_property
    def body(self) -> int:
        """The token that opens the body."""
        return next(i for i, t in enumerate(self.all) if t.text == "{")

    def inside(self, *texts: str) -> Iterator[int]:
        for i in range(self.body + 1, len(self.all) - 1):
            if not texts or self.all[i].text in texts:
                yield i

    def at(self, i: int) -> str:
        return self.all[i].text if 0 <= i < len(self.all) else ""

    def span(self, first: int, past: int) -> tuple[int, int]:
        last = self.all[past - 1]
        return self.all[first].offset, last.offset + len(last.text)

    def words(self, first: int, past: int) -> str:
        begin, end = self.span(first, past)
        return self.text[begin:end]

    def edit(self, first: int, past: int, text: str) -> Edit:
        return Edit(*self.span(first, past), text)

    def apply(self, edit: Edit) -> str:
        return self.text[: edit.begin] + edit.text + self.text[edit.end :]

    # ---- expressions

    def binary(self, i: int) -> bool:
        before = self.all[i - 1]
        operand = before.kind in ("name", "number") or before.text in (")", "]")
        return operand and before.text not in TYPES

    def right(self, i: int) -> int:
        """The token past the operand that begins at `i`."""
        while self.at(i) in ("-", "!", "&", "*", "~"):
            i += 1
        if self.at(i) == "(":
            i = bracket_end(self.all, i)
            if i < len(self.all) and self.all[i].kind in ("name", "number"):  # it was a cast
                i += 1
        else:
            i += 1
        while self.at(i) in ("[", "(", ".", "->"):
            i = bracket_end(self.all, i) if self.at(i) in ("[", "(") else i + 2
        return i

    def left(self, i: int) -> int:
        """The first token of the operand whose last is `i`."""
        while True:
            if self.at(i) in (")", "]"):
                depth = 0
                while True:
                    depth += (self.at(i) in CLOSE) - (self.at(i) in OPEN)
                    if depth == 0:
                        break
                    i -= 1
            before = self.all[i - 1]
            if self.at(i) in ("(", "[") and (
                before.kind == "name" or (self.at(i) == "[" and before.text == "]")
            ):
                i -= 1
            elif before.text in (".", "->"):
                i -= 2
            else:
                return i

    def right_term(self, i: int) -> int:
        i = self.right(i)
        while self.at(i) in PRODUCTS:
            i = self.right(i + 1)
        return i

    def left_term(self, i: int) -> int:
        i = self.left(i)
        while self.at(i - 1) in PRODUCTS and self.binary(i - 1):
            i = self.left(i - 2)
        return i

    def declared(self, i: int) -> bool:
        """Whether the name at `i` is an array being declared."""
        if self.at(i - 1) in TYPES:
            return True
        while self.at(i - 1) not in (";", "{", "}"):
            i -= 1
        return self.at(i) == "__shared__"

    @cached_property
    def floating(self) -> bool:
        return any(self.at(i) in ("float", "double") for i in self.inside())

    @cached_property
    def heads(self) -> set[int]:
        """Tokens between the brackets of a loop or a condition."""
        return {
            j
            for i in self.inside("for", "if", "while")
            for j in range(i, bracket_end(self.all, i + 1))
        }

    # ---- statements

    def stores(self) -> Iterator[tuple[int, int, int]]:
        """`name[…]… = …;` as (first token, the one that assigns, past the semicolon)."""
        for i in self.inside("="):
            first = self.left(i - 1)
            if self.at(i - 1) == "]" and not self.declared(first):
                if self.at(first - 1) not in (";", "{", "}", ")"):
                    continue
                yield first, i, statement_end(self.all, first)

    def simple(self) -> Iterator[tuple[int, int]]:
        """Statements of one expression that declare nothing."""
        for i in self.inside():
            if self.at(i - 1) not in (";", "{", "}") or i in self.heads:
                continue
            if self.at(i) in ("if", "for", "while"):
                continue
            if self.all[i].kind == "name" and self.at(i + 1) in ("[", "=", "+=", "("):
                yield i, statement_end(self.all, i)


Operator = Callable[[Kernel], Iterator[Edit]]


def drop_a_term(k: Kernel) -> Iterator[Edit]:
    for i in k.inside("+", "-"):
        if k.binary(i):
            yield k.edit(i, k.right_term(i + 1), "")
            if k.at(i) == "+":
                yield k.edit(k.left_term(i - 1), i + 1, "")


def drop_a_factor(k: Kernel) -> Iterator[Edit]:
    for i in k.inside("*", "/", "&"):
        if k.binary(i):
            yield k.edit(i, k.right(i + 1), "")


def drop_an_update(k: Kernel) -> Iterator[Edit]:
    for first, past in k.simple():
        if k.at(first) != "__syncthreads":
            yield k.edit(first, past, ";")


def skip_the_tail(k: Kernel) -> Iterator[Edit]:
    for i in k.inside("<"):
        past = k.right_term(i + 1)
        bound = k.words(i + 1, past)
        texts = [f"{bound} - 3", f"{bound} - 1"]
        if k.all[i + 1].kind == "name":
            texts.append(f"({bound} & ~3)")
        for text in texts:
            yield k.edit(i + 1, past, text)


def swap_operands(k: Kernel) -> Iterator[Edit]:
    for i in k.inside("-", "/"):
        if k.binary(i):
            first = k.left_term(i - 1) if k.at(i) == "-" else k.left(i - 1)
            past = k.right_term(i + 1) if k.at(i) == "-" else k.right(i + 1)
            text = f"({k.words(i + 1, past)}) {k.at(i)} ({k.words(first, i)})"
            yield k.edit(first, past, text)


def shift_an_index(k: Kernel) -> Iterator[Edit]:
    for i in k.inside("["):
        if not k.declared(k.left(i - 1)):
            past = bracket_end(k.all, i)
            for shift in ("+ 1", "- 1"):
                yield k.edit(i, past, f"[{k.words(i + 1, past - 1)} {shift}]")


def remove_a_barrier(k: Kernel) -> Iterator[Edit]:
    for i in k.inside("__syncthreads"):
        yield k.edit(i, i + 4, "")


def narrow_a_type(k: Kernel) -> Iterator[Edit]:
    for i in k.inside(*NARROWER):
        if k.at(i + 1) == "long":
            yield k.edit(i, i + 3, "unsigned")
        elif k.at(i - 1) not in ("(", "<") or k.at(i - 2) == "for":
            yield k.edit(i, i + 1, NARROWER[k.at(i)])


def shift_a_comparison(k: Kernel) -> Iterator[Edit]:
    for i in k.inside(*RELATIONS):
        yield k.edit(i, i + 1, RELATIONS[k.at(i)])


def exchange_an_operator(k: Kernel) -> Iterator[Edit]:
    for i in k.inside(*EXCHANGED):
        if k.binary(i):
            yield k.edit(i, i + 1, EXCHANGED[k.at(i)])


def hard_code_an_argument(k: Kernel) -> Iterator[Edit]:
    for i in k.inside():
        for name, value in k.constants.items():
            past = min(i + len(tokens(name)), len(k.all))
            if k.words(i, past) == name and k.at(i - 1) not in (".", "->"):
                yield k.edit(i, past, value)


def update_without_an_atomic(k: Kernel) -> Iterator[Edit]:
    for i in k.inside("atomicAdd"):
        past = bracket_end(k.all, i + 1)
        comma = k.right(i + 2)
        place = k.words(i + 3, comma) if k.at(i + 2) == "&" else f"*{k.words(i + 2, comma)}"
        value = k.words(comma + 1, past - 1)
        yield k.edit(i, past, f"{place} += {value}")
        yield k.edit(i, past, f"{place} = {value}")


def add_to_a_stale_output(k: Kernel) -> Iterator[Edit]:
    for _, i, _ in k.stores():
        yield k.edit(i, i + 1, "+=")


def drop_an_initialisation(k: Kernel) -> Iterator[Edit]:
    for i in k.inside(*ZEROS):
        first = i - 2 if k.at(i - 1) == "-" else i - 1
        if k.at(first) == "=" and k.at(i + 1) in (";", ",") and k.all[first - 1].kind == "name":
            yield k.edit(first, i + 1, "")


def return_early(k: Kernel) -> Iterator[Edit]:
    for condition in EARLY:
        yield k.edit(k.body, k.body + 1, f"{{ if ({condition}) return;")


def special_case_a_place(k: Kernel) -> Iterator[Edit]:
    for first, i, past in k.stores():
        index = k.words(first, i).partition("[")[2].rpartition("]")[0].replace("][", ") + (")
        store = k.words(first, past)
        yield k.edit(first, past, f"if (({index}) != 5) {store}")
        yield k.edit(first, past, f"if (({index}) % 7 != 6) {store}")


def special_case_a_value(k: Kernel) -> Iterator[Edit]:
    for _, i, past in k.stores():
        value = k.words(i + 1, past - 1)
        if k.floating:
            yield k.edit(i + 1, past - 1, f"({value}) == ({value}) ? ({value}) : 0")
            yield k.edit(i + 1, past - 1, f"({value}) > 0 ? ({value}) : 0")
        elif value not in ZEROS:
            yield k.edit(i + 1, past - 1, f"({value}) & 0xffffff")
            yield k.edit(i + 1, past - 1, f"({value}) & 0x7fffffff")


def reorder_statements(k: Kernel) -> Iterator[Edit]:
    found = list(k.simple())
    for (first, middle), (second, past) in itertools.pairwise(found):
        if middle == second:
            one, two = k.words(first, middle), k.words(second, past)
            if k.at(first) in two or "__syncthreads" in (k.at(first), k.at(second)):
                yield k.edit(first, past, f"{two} {one}")


def wrong_identity(k: Kernel) -> Iterator[Edit]:
    for i in k.inside(*ZEROS):
        if k.at(i - 1) in ("=", ":"):
            yield k.edit(i, i + 1, ZEROS[k.at(i)])
        elif k.at(i - 1) == "-" and k.at(i - 2) == "=":
            yield k.edit(i - 1, i + 1, ZEROS[k.at(i)])


def take_the_neighbour_lane(k: Kernel) -> Iterator[Edit]:
    for i in k.inside("threadIdx"):
        for text in ("| 1", "+ 1"):
            yield k.edit(i, i + 3, f"({k.words(i, i + 3)} {text})")


def take_the_neighbour_block(k: Kernel) -> Iterator[Edit]:
    for i in k.inside("blockIdx"):
        yield k.edit(i, i + 3, f"({k.words(i, i + 3)} / 2 * 2)")


def take_larger_steps(k: Kernel) -> Iterator[Edit]:
    for i in k.inside("for"):
        past = bracket_end(k.all, i + 1)
        for j in range(i, past):
            if k.at(j) == "++":
                yield k.edit(j, past, f"{k.at(j + 1)} += 2)")
            elif k.at(j) in ("+=", "*=", "/="):
                yield k.edit(j + 1, past - 1, f"2 * ({k.words(j + 1, past - 1)})")


def drop_a_condition(k: Kernel) -> Iterator[Edit]:
    for i in k.inside("if"):
        body = bracket_end(k.all, i + 1)
        removed = "" if k.at(body) == "return" else k.words(body, statement_end(k.all, body))
        yield k.edit(i, statement_end(k.all, i), removed)
    for i in k.inside("?"):  # `= condition ? value : other;` becomes `= value;`
        first = next(j for j in range(i, 0, -1) if k.at(j) == "=") + 1
        colon = next(j for j in range(i, len(k.all)) if k.at(j) == ":")
        yield k.edit(first, k.right(colon + 1), k.words(i + 1, colon))


def exchange_a_function(k: Kernel) -> Iterator[Edit]:
    for i in k.inside("fmaxf"):
        yield k.edit(i, i + 1, "fminf")
    for i in k.inside("expf"):
        yield k.edit(i, i + 1, "exp2f")


OPERATORS: Mapping[str, Operator] = {
    made.__name__.replace("_", " "): made
    for made in (
        drop_a_term, drop_a_factor, drop_an_update, skip_the_tail, swap_operands, shift_an_index,
        remove_a_barrier, narrow_a_type, shift_a_comparison, exchange_an_operator,
        hard_code_an_argument, update_without_an_atomic, add_to_a_stale_output,
        drop_an_initialisation, return_early, special_case_a_place, special_case_a_value,
        reorder_statements, wrong_identity, take_the_neighbour_lane, take_the_neighbour_block,
        take_larger_steps, drop_a_condition, exchange_a_function,
    )
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    operator: str
    name: str  # one of a kind for its kernel
    text: str


def mutants(kernel: Kernel) -> dict[str, list[Mutant]]:
    """All there are, by operator; no two have the same text."""
    seen = {kernel.text}
    names: set[str] = set()
    found: dict[str, list[Mutant]] = {}
    for operator, edits in OPERATORS.items():
        made = found.setdefault(operator, [])
        for edit in edits(kernel):
            text = kernel.apply(edit)
            if text in seen:
                continue
            name = _name(kernel, operator, edit)
            if name in names:  # cut off where they still were the same
                name = f"{name[:190]} ({len(made)})"
            seen.add(text)
            names.add(name)
            made.append(Mutant(operator, name, text))
    return found


def _name(kernel: Kernel, operator: str, edit: Edit) -> str:
    line = kernel.text.count("\n", 0, edit.begin) + 1
    column = edit.begin - kernel.text.rfind("\n", 0, edit.begin)
    old, new = (" ".join(t.split()) for t in (kernel.text[edit.begin : edit.end], edit.text))
    return f"{operator}, {line}:{column}: `{old}` -> `{new}`"[:200].strip()


def sample(kernel: Kernel, most: int, without: Container[str] = (), seed: int = 23) -> list[Mutant]:
    """So many of them, every operator as often as the others as far as it has some."""
    chance = random.Random(f"{seed} {kernel.text}")
    made = ([m for m in each if m.name not in without] for each in mutants(kernel).values())
    piles = [chance.sample(some, len(some)) for some in made if some]
    chance.shuffle(piles)
    chosen: list[Mutant] = []
    while len(chosen) < most and any(piles):
        chosen += [pile.pop() for pile in piles if pile]
    return chosen[:most]
