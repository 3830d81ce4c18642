"""Only the chosen kernel's body may differ: the guard every proposal meets first.

Text comes before the tree, so that no hostile text reaches a compiler's preprocessor:
1. everything outside the kernel's definition is the same, byte for byte;
2. the definition reads as it looks (no splices, raw strings, hidden characters, directives);
3. the head is the same, token for token, but for what the policy permits;
4. with policy `unroll`, the body differs in pragmas and in the loops that have one;
5. the syntax tree, as device and host see it, has no new kind of thing in it (`tree_guard`).
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rocm_perf_lab.errors import PerfLabError
from rocm_perf_lab.optimize import tree_guard
from rocm_perf_lab.optimize.guard_lists import ATTRIBUTES, NAMES
from rocm_perf_lab.optimize.lexer import (
    LOOPS,
    Token,
    Trick,
    bracket_end,
    check_balance,
    statement_end,
    tokens,
)
from rocm_perf_lab.optimize.parser import Unparsed, parser_in
from rocm_perf_lab.optimize.proposal import Context
from rocm_perf_lab.optimize.sandbox import Sandbox
from rocm_perf_lab.schema.prompt import MAX_KERNEL_TEXT

LineOf = Callable[[int], int]

MAX_UNROLL = 64
RESTRICT = frozenset({"__restrict__", "__restrict"})
RESERVED = re.compile(r"__|_[A-Z]")
# Order and scope of memory between workgroups; and of these what makes one wait for the other.
ORDERED = re.compile(
    r"__threadfence(_system)?|__builtin_amdgcn_fence|__(scoped_)?atomic_\w+|__hip_atomic_\w+"
    r"|__ATOMIC_\w+|__HIP_MEMORY_SCOPE_\w+|memory_order\w*"
)
# Statements that end the program, or that the host hears.
CHECKS = frozenset("assert abort printf __builtin_trap __trap __assert_fail __assertfail".split())
FENCES = re.compile(
    r"__threadfence(_system)?|__builtin_amdgcn_fence|__atomic_thread_fence"
    r"|__ATOMIC_(?!RELAXED)\w+|memory_order_(?!relaxed)\w+"
)
FORBIDDEN = {
    "asm": "inline assembly",
    "goto": "a goto",
    "new": "allocation",
    "delete": "allocation",
    "throw": "an exception",
    "try": "an exception",
    "catch": "an exception",
    "static": "a static variable",
    "extern": "an extern declaration",
    "thread_local": "a thread_local variable",
    "register": "a register variable",
    "class": "a local class",
    "struct": "a local class",
    "union": "a local class",
    "enum": "a local type",
    "template": "a template",
    "operator": "a user-defined operator",
    "friend": "a friend declaration",
    "alignas": "an attribute",
    "const_cast": "a const_cast",
    "typeid": "a typeid",
    "dynamic_cast": "a dynamic_cast",
    "co_await": "a coroutine",
    "co_yield": "a coroutine",
    "co_return": "a coroutine",
    "import": "an import",
    "module": "a module",
    "export": "an export",
    "<<<": "a kernel launch",
}


@dataclass(frozen=True)
class Finding:
    rule: str  # a short name, the same in the catalogue, the ledger and the documentation
    message: str
    line: int | None = None

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{where}{self.message} [{self.rule}]"


@dataclass(frozen=True)
class Verdict:
    findings: tuple[Finding, ...] = ()
    # What the parser says where the text is not C++: for a proposer's repair, not a refusal.
    diagnostics: tuple[str, ...] = ()

    @property
    def allowed(self) -> bool:
        return not self.findings and not self.diagnostics

    @property
    def reason(self) -> str:
        if self.findings:
            return "; ".join(map(str, self.findings[:5]))
        return "; ".join(self.diagnostics[:5])


def check(context: Context, source: str, box: Sandbox | None = None) -> Verdict:
    """Judge a proposed source against the one in the context. It is parsed in `box`.

    A guard that fails has not looked at everything: whatever goes wrong in it is a refusal.
    """
    try:
        return _check(context, source, box)
    except Unparsed as error:
        return Verdict((Finding("parser", error.reason),))
    except PerfLabError:
        raise  # a tool is missing, or the user's own source cannot be read: nothing is judged
    except Exception as error:
        message = f"the guard could not judge it: {type(error).__name__}: {error}"[:300]
        return Verdict((Finding("parser", message),))


def _check(context: Context, source: str, box: Sandbox | None) -> Verdict:
    findings = tuple(check_text(context, source))
    if findings:
        return Verdict(findings)
    region = _region(context, source)
    assert isinstance(region, str)
    first_line = context.source.encode()[: context.extent.begin].count(b"\n") + 1
    diagnostics, seen = tree_guard.compare(context, source, parser_in(box, context.path))
    if diagnostics:
        return Verdict(diagnostics=tuple(diagnostics))
    last = first_line + region.count("\n")
    return Verdict(
        tuple(
            Finding(rule, message, line if line and first_line <= line <= last else None)
            for rule, message, line in seen
        )
    )


def check_text(context: Context, source: str) -> Iterator[Finding]:
    """The part that needs no parser. Yields at most what one look at each rule finds."""
    region = _region(context, source)
    if isinstance(region, Finding):
        yield region
        return
    if len(region) > MAX_KERNEL_TEXT:
        yield Finding(
            "size", f"the kernel has {len(region):,} characters, over {MAX_KERNEL_TEXT:,}"
        )
        return
    before = context.extent.text(context.source)
    offset = context.source.encode()[: context.extent.begin].decode()
    first_line = offset.count("\n") + 1

    def line_of(at: int) -> int:
        return first_line + region.count("\n", 0, at)

    try:
        old, new = tokens(before), tokens(region)
    except Trick as trick:
        try:
            tokens(before)
        except Trick as theirs:
            message = f"the kernel as it stands has {theirs.message}: it cannot be guarded"
            yield Finding("unreadable", message, line_of(theirs.offset))
            return
        yield Finding("hidden text", trick.message, line_of(trick.offset))
        return
    if not new or new[0].offset or not region.endswith("}"):
        yield Finding("outside", "text before or after the kernel's definition differs")
        return
    length = len(before.encode()[: context.extent.body - context.extent.begin].decode())
    head = [token for token in old if token.offset < length]
    split = _head_end(head, new)
    if split is None:
        yield _head_finding(head, new, line_of)
        return
    old_body, new_body = old[len(head) :], new[split:]
    try:
        check_balance(new_body)
    except Trick as trick:
        yield Finding("outside", trick.message, line_of(trick.offset))
        return
    yield from _head_policy(context, head, new[:split])
    yield from _directives(old_body, new_body, line_of)
    yield from _words(old_body, new_body, line_of)
    yield from _ordering(old_body, new_body, line_of)
    yield from _checks(old_body, new_body)
    if context.policy == "unroll":
        yield from _only_loops(old_body, new_body, line_of)


# ---- outside


def _region(context: Context, source: str) -> str | Finding:
    """The new text of the kernel's definition, if nothing around it changed."""
    try:
        data = source.encode()
    except UnicodeEncodeError:
        return Finding("hidden text", "characters that are not Unicode text")
    base = context.source.encode()
    prefix, suffix = base[: context.extent.begin], base[context.extent.end :]
    if data.startswith(prefix) and data.endswith(suffix) and len(data) >= len(prefix) + len(suffix):
        return data[len(prefix) : len(data) - len(suffix)].decode("utf-8", "replace")
    return _outside(prefix, suffix, data)


def _outside(prefix: bytes, suffix: bytes, data: bytes) -> Finding:
    if data.startswith(prefix):
        old, new = suffix[::-1], data[::-1]
    else:
        old, new = prefix, data
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), len(old))
    at = len(data) - same if old is not prefix else same
    at = max(0, min(at, len(data)))
    begin, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
    line = data[begin : end if end >= 0 else len(data)].decode("utf-8", "replace").strip()
    number = data.count(b"\n", 0, at) + 1
    rule = {
        "include": "includes", "import": "includes", "embed": "includes", "define": "macros",
        "undef": "macros", "pragma": "macros", "if": "macros", "ifdef": "macros",
    }.get(next(iter(re.findall(r"^#\s*(\w+)", line)), ""), "outside")  # fmt: skip
    return Finding(rule, f"text outside the kernel differs: {line[:80]!r}", number)


# ---- the head


def _is_bounds(found: Sequence[Token], at: int) -> int:
    """How many tokens `__launch_bounds__(...)` takes at `at`, 0 where it does not stand there."""
    if found[at].text != "__launch_bounds__" or at + 1 >= len(found) or found[at + 1].text != "(":
        return 0
    depth = 0
    for index in range(at + 1, len(found)):
        depth += (found[index].text == "(") - (found[index].text == ")")
        if depth == 0:
            return index + 1 - at
    return 0


def _plain(found: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """Index and text of each token that no policy may touch."""
    at = 0
    while at < len(found):
        if size := _is_bounds(found, at):
            at += size
            continue
        if found[at].text not in RESTRICT:
            yield at, found[at].text
        at += 1


def _head_end(head: Sequence[Token], new: Sequence[Token]) -> int | None:
    """Where the body begins in `new`, if its head is the old one but for permitted words."""
    wanted = [text for _, text in _plain(head)]
    for place, (index, text) in enumerate(_plain(new)):
        if place == len(wanted):
            return index if text == "{" else None
        if text != wanted[place]:
            return None
    return None


def _head_finding(head: Sequence[Token], new: Sequence[Token], line_of: LineOf) -> Finding:
    wanted = [text for _, text in _plain(head)]
    for (index, text), old in zip(_plain(new), [*wanted, "{"], strict=False):
        if text != old:
            message = f"the kernel's head differs: {text!r} where {old!r} stood"
            return Finding("signature", message, line_of(new[index].offset))
    return Finding("signature", "the kernel's head differs")


def _words_of(found: Sequence[Token]) -> list[str]:
    return [token.text for token in found]


def _head_policy(
    context: Context, head: Sequence[Token], new: Sequence[Token]
) -> Iterator[Finding]:
    if _words_of(head) == _words_of(new):
        return
    if context.policy != "body":
        yield Finding("signature", "policy unroll leaves the kernel's head as it is")
        return
    bounds = [new[i + 2 : i + n - 1] for i in range(len(new)) if (n := _is_bounds(new, i))]
    old_bounds = [head[i + 2 : i + n - 1] for i in range(len(head)) if (n := _is_bounds(head, i))]
    if len(bounds) > 1 or len(bounds) < len(old_bounds):
        yield Finding("launch bounds", "__launch_bounds__ may be added or changed, not removed")
        return
    if bounds and [_words_of(b) for b in bounds] != [_words_of(b) for b in old_bounds]:
        yield from _bounds(context, bounds[0])
    for index, token in enumerate(new):
        if token.text in RESTRICT and (index == 0 or new[index - 1].text not in ("*", "const")):
            yield Finding("signature", "__restrict__ belongs behind the * of a parameter")
    if any(a.text in RESTRICT and b.text in RESTRICT for a, b in itertools.pairwise(new)):
        yield Finding("signature", "__restrict__ twice")
    old_count, new_count = (sum(t.text in RESTRICT for t in side) for side in (head, new))
    if new_count < old_count:
        yield Finding("signature", "__restrict__ may be added, not removed")


def _bounds(context: Context, words: Sequence[Token]) -> Iterator[Finding]:
    text = " ".join(token.text for token in words)
    match = re.fullmatch(r"(\d+)(?: , (\d+))?", text)
    if match is None:
        yield Finding("launch bounds", f"__launch_bounds__({text}): plain numbers only")
        return
    threads, block = int(match[1]), context.prompt.measurement.block
    launched = block[0] * block[1] * block[2] if block else 1024  # unknown: the most there can be
    if threads < launched:
        message = f"__launch_bounds__({text}) is below the {launched} threads of the launch"
        yield Finding("launch bounds", message)
    if threads > 1024 or int(match[2] or 0) > 32:
        yield Finding("launch bounds", f"__launch_bounds__({text}) is more than a GPU has")


# ---- the body, as tokens


def _directives(old: Sequence[Token], new: Sequence[Token], line_of: LineOf) -> Iterator[Finding]:
    kept = [t.text.split() for t in old if t.kind == "directive" and not t.is_unroll]
    asked = [t for t in new if t.kind == "directive" and not t.is_unroll]
    if [t.text.split() for t in asked] != kept:
        known = [" ".join(words) for words in kept]
        stranger = next((t for t in asked if " ".join(t.text.split()) not in known), None)
        if stranger is None:
            yield Finding("directives", "preprocessor lines were moved or removed")
        else:
            message = f"a preprocessor line: {stranger.text[:60]!r}"
            yield Finding("directives", message, line_of(stranger.offset))
    for index, token in enumerate(new):
        if not token.is_unroll:
            continue
        if index + 1 >= len(new) or new[index + 1].text not in LOOPS:
            yield Finding("directives", "an unroll pragma without a loop", line_of(token.offset))
        if any(int(n) > MAX_UNROLL for n in re.findall(r"\d+", token.text)):
            yield Finding("directives", f"unrolled over {MAX_UNROLL} times", line_of(token.offset))


def _words(old: Sequence[Token], new: Sequence[Token], line_of: LineOf) -> Iterator[Finding]:
    had = Counter(token.text for token in old)
    seen: Counter[str] = Counter()
    for index, token in enumerate(new):
        text = token.text
        seen[text] += 1
        line = line_of(token.offset)
        if text in FORBIDDEN and seen[text] > had[text]:
            if text == "static" and _static_shared(new, index):
                continue
            rule = "assembly" if text == "asm" else "construct"
            yield Finding(rule, f"{FORBIDDEN[text]} ({text})", line)
        elif token.kind == "name" and RESERVED.match(text) and text not in NAMES and not had[text]:
            rule = "assembly" if "asm" in text else "builtins"
            yield Finding(rule, f"the reserved name {text}", line)
        elif token.kind == "string" and not had[text]:
            yield Finding("construct", "a new string", line)
        elif text == "[" and index + 1 < len(new) and new[index + 1].text == "[":
            yield Finding("construct", "an attribute ([[...]])", line)
        elif text == "##" or (text == "#" and token.kind == "punctuation"):
            yield Finding("directives", "a # inside the body", line)
    yield from _attributes(new, line_of)


def _ordering(old: Sequence[Token], new: Sequence[Token], line_of: LineOf) -> Iterator[Finding]:
    """What one workgroup tells another within a launch. Nothing here runs on memory as loosely
    ordered as a GPU's, so no run could show that it is told too early: words of order and scope
    stay in their sequence, and from the first fence on everything stays."""
    said = [[t.text for t in side if ORDERED.fullmatch(t.text)] for side in (old, new)]
    if said[0] != said[1]:
        yield Finding("ordering", "memory is ordered in another way, or for others, than before")
    first = next((i for i, t in enumerate(old) if FENCES.fullmatch(t.text)), None)
    if first is None:
        return
    kept = _words_of(old[first:])
    if _words_of(new)[-len(kept) :] != kept:
        message = f"something differs behind the first {old[first].text}"
        yield Finding("ordering", message, line_of(new[-1].offset))


def _checks(old: Sequence[Token], new: Sequence[Token]) -> Iterator[Finding]:
    """What ends the program, or speaks to the host, stays with its condition: inputs on which the
    original fails are compared with nothing."""
    words, now = _words_of(old), f" {' '.join(_words_of(new))} "
    had: Counter[str] = Counter()
    for at, word in enumerate(words):
        if word not in CHECKS:
            continue
        first = max((i for i in range(at) if words[i] in (";", "}")), default=-1) + 1
        last = words.index(";", at) if ";" in words[at:] else len(words) - 1
        kept = f" {' '.join(words[first : last + 1])} "
        had[kept] += 1
        if now.count(kept) < had[kept]:
            yield Finding("checks", f"a statement with {word} is gone, or another")


def _static_shared(found: Sequence[Token], at: int) -> bool:
    """`static __shared__` and `static constexpr` are plain locals to a kernel."""
    around = {token.text for token in found[max(0, at - 1) : at + 2]}
    return bool(around & {"__shared__", "constexpr"})


def _attributes(new: Sequence[Token], line_of: LineOf) -> Iterator[Finding]:
    """`__attribute__((name(...)))` only with harmless names."""
    for index, token in enumerate(new):
        if token.text != "__attribute__":
            continue
        inside = [t.text for t in new[index + 1 : bracket_end(new, index + 1)]]
        match = re.fullmatch(r"\( \( (\w+) (?:\( \w+ \) )?\) \)", " ".join(inside))
        if match is None or match[1].strip("_") not in ATTRIBUTES:
            message = f"the attribute {''.join(inside)[:60]}"
            yield Finding("construct", message, line_of(token.offset))


def _only_loops(old: Sequence[Token], new: Sequence[Token], line_of: LineOf) -> Iterator[Finding]:
    """Policy unroll: the same tokens, except in loops that carry an unroll pragma."""
    i = j = 0
    while i < len(old) or j < len(new):
        marked = False
        while i < len(old) and old[i].is_unroll:
            i += 1
        while j < len(new) and new[j].is_unroll:
            marked, j = True, j + 1
        if i < len(old) and j < len(new) and old[i].text == new[j].text:
            if marked:
                end_i, end_j = statement_end(old, i), statement_end(new, j)
                if _without_pragmas(old[i:end_i]) != _without_pragmas(new[j:end_j]):
                    i, j = end_i, end_j
                    continue
            i, j = i + 1, j + 1
            continue
        at = new[j] if j < len(new) else new[-1]
        message = "policy unroll permits only pragmas and the loops that have one"
        yield Finding("policy", f"{message}: {at.text[:40]!r} is new", line_of(at.offset))
        return


def _without_pragmas(found: Sequence[Token]) -> list[str]:
    return [token.text for token in found if not token.is_unroll]
