"""What a kernel's head and body promise the compiler, held against every launch that was seen.

`__restrict__`, `__launch_bounds__` and wider loads are right only for launches that keep them, and
a result check sees no promise that happens to do no harm. So each is derived from the record of all
launches, or refused; the launches it was derived from are the stated limit of a patch.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rocm_perf_lab.codeobject.demangle import demangle
from rocm_perf_lab.codeobject.kernels import Kernel
from rocm_perf_lab.optimize.launches import ALIGNMENT, pointers, shared
from rocm_perf_lab.optimize.lexer import Token, bracket_end, tokens
from rocm_perf_lab.replay.arguments import signature_types
from rocm_perf_lab.replay.launches import Launches

RESTRICT = frozenset({"__restrict__", "__restrict"})
# Types that hold no pointers; what else a parameter points to may, and then to anywhere.
_PLAIN = re.compile(
    r"(?:(?:un)?signed\s+)?(?:bool|char|short|int|long|long long|float|double|__int128|wchar_t)"
    r"(?:\s+int)?|_?_?(?:Float16|half2?|hip_bfloat16|hip_bfloat162|bf16|hip_fp8\w*)|size_t"
    r"|u?int(?:8|16|32|64)_t|u?(?:char|short|int|long|longlong)[1-4]|(?:float|double|half)[1-4]"
    r"|HIP_vector_type<[\w\s]+,\s*\d+u?>|__hip_(?:bfloat16|bfloat162|fp8\w*|bf8\w*)|_?Float16|uint|uchar|ushort"
)
_WIDTHS = {
    "char": 1, "bool": 1, "short": 2, "half": 2, "int": 4, "float": 4, "long": 8, "longlong": 8,
    "double": 8, "size_t": 8, "__half": 2, "__half2": 4,
}  # fmt: skip
_VECTOR = re.compile(r"u?(char|short|int|long|longlong|float|double|half)([1-4])?")
_SIZED = re.compile(r"u?int(8|16|32|64)_t")
# The kernel looks at an address before it relies on it.
_TESTED = re.compile(
    r"(?:size_t|uintptr_t)\W.*?(?:%\s*(?:8|16)u?|&\s*(?:7|15)u?\)?)\s*==\s*0", re.DOTALL
)


@dataclass(frozen=True)
class Sharing:
    """Two parameters that pointed into one allocation, and in which launch."""

    first: int
    second: int
    symbol: str
    index: int


@dataclass(frozen=True)
class Seen:
    """What all recorded launches of a kernel, in all its instances, have in common."""

    launches: int = 0
    complete: bool = True
    why_not: str | None = None  # why arguments are not known
    threads: int = 0  # of the largest block
    sharing: tuple[Sharing, ...] = ()
    unknown: Mapping[int, str] = field(default_factory=dict)  # parameter -> why
    alignment: Mapping[int, int] = field(default_factory=dict)  # of each pointer, at most 256
    types: tuple[tuple[str, ...], ...] = ()  # parameters of each instance, where names tell


def seen(launches: Launches, kernels: Mapping[str, Kernel]) -> Seen:
    """`kernels`: the instances, by symbol."""
    own = [launch for launch in launches.all if launch.symbol in kernels]
    why_not = None if launches.complete else "there were more launches than are kept"
    sharing: dict[tuple[int, int], Sharing] = {}
    unknown: dict[int, str] = {}
    alignment: dict[int, int] = {}
    for launch in own:
        if launch.kernarg is None:
            why_not = why_not or "the arguments of a launch could not be read"
            continue
        found = pointers(launch, kernels[launch.symbol])
        for a, b in shared(found):
            key = (a.argument, b.argument)
            sharing.setdefault(key, Sharing(*key, launch.symbol, launch.index))
        for pointer in found:
            if not pointer.address:
                continue
            if pointer.allocation is None:
                unknown.setdefault(pointer.argument, f"launch {launch.index}")
            known = alignment.get(pointer.argument, 256)
            alignment[pointer.argument] = math.gcd(known, pointer.address)
    return Seen(
        launches=len(own),
        complete=launches.complete,
        why_not=why_not,
        threads=max((math.prod(launch.block) for launch in own), default=0),
        sharing=tuple(sharing.values()),
        unknown=unknown,
        alignment=alignment,
        types=tuple(tuple(signature_types(demangle(symbol))) for symbol in sorted(kernels)),
    )


def bounds_broken(launches: Launches, after: Mapping[str, Kernel]) -> str | None:
    """A launch of more threads than the rebuilt kernel allows would fail."""
    for launch in launches.all:
        kernel, threads = after.get(launch.symbol), math.prod(launch.block)
        if kernel is not None and kernel.max_threads and threads > kernel.max_threads:
            return (
                f"it is built for {kernel.max_threads} threads, and launch {launch.index} of "
                f"{demangle(launch.symbol)} has {threads}"
            )
    return None


# ---- what is written in the source


@dataclass(frozen=True)
class Parameter:
    name: str
    stars: int
    constant: bool  # what it points to
    restrict: bool
    type: str


def parameters(definition: str, kernel: str) -> list[Parameter]:
    """Of a kernel's definition, by its tokens: nothing is compiled for it."""
    found = list(tokens(definition, trusted=True))
    at = next(
        (i for i, t in enumerate(found[:-1]) if t.text == kernel and found[i + 1].text == "("), None
    )
    if at is None:
        return []
    inside = found[at + 2 : bracket_end(found, at + 1) - 1]
    return [_parameter(part) for part in _split(inside) if part]


def _split(found: Sequence[Token]) -> Iterator[list[Token]]:
    depth, part = 0, list[Token]()
    for token in found:
        depth += (token.text in "([{<") - (token.text in ")]}>") - 2 * (token.text == ">>")
        if token.text == "," and depth == 0:
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _body(definition: str) -> list[Token]:
    found = tokens(definition, trusted=True)
    at = next((i for i, token in enumerate(found) if token.text == "{"), len(found))
    return found[at:]


def _parameter(part: Sequence[Token]) -> Parameter:
    words = [token.text for token in part]
    last = max((i for i, word in enumerate(words) if word == "*"), default=-1)
    own = [w for w in words[last + 1 :] if w != "const" and w not in RESTRICT]
    kind = [w for w in words[: max(last, 0)] if w not in ("const", "volatile", "*")]
    return Parameter(
        name=own[0] if last >= 0 and own else next(iter(own[-1:]), ""),
        stars=words.count("*"),
        constant="const" in words[: max(last, 0)],
        restrict=any(word in RESTRICT for word in words),
        type=" ".join(kind),
    )


def _pointee(parameter: Parameter, shown: str) -> tuple[str, bool, bool]:
    """(type, constant, plain) of what one instance's parameter points to."""
    if not shown:
        return parameter.type, parameter.constant, bool(_PLAIN.fullmatch(parameter.type))
    text = shown.removesuffix("__restrict").strip().removesuffix("*").strip()
    constant = text.endswith("const") or text.startswith("const ")
    text = re.sub(r"\bconst\b|\bvolatile\b", "", text).strip()
    return text, constant, bool(_PLAIN.fullmatch(text))


def unrestricted(known: Seen, listed: Sequence[Parameter], wanted: Sequence[int]) -> dict[int, str]:
    """Which of the wanted parameters must not be `__restrict__`, and why."""
    if not wanted:
        return {}
    if known.why_not or not known.launches:
        why = known.why_not or "no launch of it was recorded"
        return dict.fromkeys(wanted, f"whether its buffers overlap is not known: {why}")
    rows = [row if len(row) == len(listed) else ("",) * len(listed) for row in known.types]
    for number, parameter in enumerate(listed):
        for row in rows or [("",) * len(listed)]:
            if parameter.stars and not _pointee(parameter, row[number])[2]:
                return dict.fromkeys(
                    wanted,
                    f"{parameter.name} points to what may hold further pointers: whether these "
                    "overlap is not known",
                )
    found: dict[int, str] = {}
    for number in wanted:
        if number in known.unknown:
            found[number] = (
                f"what {listed[number].name} points to in {known.unknown[number]} is no memory "
                "that was allocated on its own"
            )
        for each in known.sharing:
            pair = (each.first, each.second)
            if number not in pair or max(pair) >= len(listed):
                continue
            if all(_read_only(listed[one], rows, one) for one in pair):
                continue
            one, two = (listed[at].name for at in pair)
            found[number] = (
                f"{one} and {two} point into the same memory in launch {each.index} of "
                f"{demangle(each.symbol)}"
            )
    return found


def _read_only(parameter: Parameter, rows: Sequence[Sequence[str]], number: int) -> bool:
    return bool(parameter.stars) and all(
        _pointee(parameter, row[number])[1] for row in rows or [("",) * (number + 1)]
    )


def broken(known: Seen, kernel: str, before: str, after: str) -> str | None:
    """Which promise of the new definition some launch does not keep; None: none is broken."""
    old, new = parameters(before, kernel), parameters(after, kernel)
    if len(old) != len(new):
        return "the parameters cannot be told apart"
    wanted = [i for i, p in enumerate(new) if p.restrict and not old[i].restrict]
    for number, why in unrestricted(known, new, wanted).items():
        return f"__restrict__ on {new[number].name}: {why}"
    inside = [sum(t.text in RESTRICT for t in _body(text)) for text in (before, after)]
    if inside[1] > inside[0]:
        return "__restrict__ in the body: no launch can show that it holds"
    return _misaligned(known, new, before, after)


# ---- wider loads


def _misaligned(known: Seen, listed: Sequence[Parameter], before: str, after: str) -> str | None:
    old, new = list(_casts(before)), list(_casts(after))
    for kind, operand in new:
        if new.count((kind, operand)) <= old.count((kind, operand)):
            continue
        width = _width(kind)
        if known.why_not:
            return f"({kind}*) asks for {width} bytes of alignment: {known.why_not}"
        named = [i for i, p in enumerate(listed) if p.stars and p.name == operand]
        for number in named or [i for i, p in enumerate(listed) if p.stars]:
            aligned = known.alignment.get(number, 256)
            if aligned < width and not _TESTED.search(after):
                return (
                    f"({kind}*) asks for {width} bytes of alignment, and {listed[number].name} "
                    f"is a multiple of {aligned} only in some launch"
                )
    return None


def _casts(text: str) -> Iterator[tuple[str, str]]:
    """(type, first name of the operand) of casts to pointers."""
    found = list(tokens(text, trusted=True))
    words = [token.text for token in found]
    for at, word in enumerate(words):
        if word in ("reinterpret_cast", "static_cast") and words[at + 1 : at + 2] == ["<"]:
            end = next((i for i in range(at, len(words)) if words[i] in (">", ">>")), len(words))
            kind, rest = words[at + 2 : end], words[end + 1 :]
        elif word == "(":
            end = next((i for i in range(at, len(words)) if words[i] == ")"), len(words))
            kind, rest = words[at + 1 : end], words[end + 1 :]
        else:
            continue
        while kind and kind[-1] in ("const", *RESTRICT):
            kind = kind[:-1]
        if not kind or kind[-1] != "*":
            continue
        plain = " ".join(w for w in kind[:-1] if w not in ("const", "volatile"))
        yield plain, next((w for w in rest[:8] if re.fullmatch(r"[A-Za-z_]\w*", w)), "")


def _width(kind: str) -> int:
    """What a pointer to the type must be a multiple of; of one that is not known, the most."""
    if kind in _WIDTHS:
        return _WIDTHS[kind]
    if match := _SIZED.fullmatch(kind):
        return int(match[1]) // 8
    if match := _VECTOR.fullmatch(kind):
        count = int(match[2] or 1)
        return _WIDTHS[match[1]] * (4 if count == 3 else count)
    words = kind.replace("unsigned", "").replace("signed", "").split()
    return _WIDTHS.get("".join(words), ALIGNMENT)


def told(known: Seen, listed: Sequence[Parameter]) -> list[str]:
    """For a proposer: what would be refused."""
    found = [f"__launch_bounds__ below {known.threads} is refused: a launch has as many threads."]
    stars = [i for i, p in enumerate(listed) if p.stars]
    for number, why in unrestricted(known, listed, stars).items():
        found.append(f"__restrict__ on {listed[number].name} is refused: {why}.")
    for number in stars:
        if (aligned := known.alignment.get(number, 256)) < 16:
            found.append(
                f"{listed[number].name} is a multiple of {aligned} bytes, no more, in some launch."
            )
    return found
