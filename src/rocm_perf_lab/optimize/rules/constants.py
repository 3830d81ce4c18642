"""Integers that are known before the program runs: constants, and how often a loop goes round."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

from rocm_perf_lab.expression import INTEGERS, NotAllowed, Scope, parse, toward_zero
from rocm_perf_lab.optimize import libclang
from rocm_perf_lab.optimize.lexer import Token, tokens
from rocm_perf_lab.optimize.libclang import Cursor
from rocm_perf_lab.optimize.proposal import Context


def constants_of(kernel: Cursor, context: Context) -> dict[str, int]:
    """Names with a known value: constexpr integers of the file, and the wave's width."""
    values = {"warpSize": context.prompt.device.wave_size or 64}
    _add_constants(kernel, values)
    return values


def _add_constants(cursor: Cursor, values: dict[str, int], depth: int = 0) -> None:
    for node in libclang.walk(cursor):
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
    plain = [w.rstrip("uUlL") if re.fullmatch(r"\d+[uUlL]*", w) else w for w in words]
    try:
        parsed = parse(" ".join(plain), INTEGERS, frozenset(names))
        return int(parsed.evaluate(Scope(names.__getitem__, at_zero=_no_value)))
    except (NotAllowed, ZeroDivisionError):
        return None


def _no_value(_: str) -> float:
    raise ZeroDivisionError


def clauses(head: Sequence[Token], text: str) -> list[str]:
    """The three parts between the parentheses of a `for`."""
    marks = [head[1].offset]
    depth = 0
    for token in head[1:]:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if token.text == ";" and depth == 1:
            marks.append(token.offset)
    marks.append(head[-1].offset)
    return [text[a + 1 : b].strip() for a, b in itertools.pairwise(marks)]


def trip_count(head: Sequence[Token], text: str, names: Mapping[str, int]) -> int | None:
    parts = clauses(head, text) if head[0].text == "for" else []
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
    if operator in ("<<", ">>") and not 0 <= by < 64:
        return None
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
            value = toward_zero(value, by) if by else value
        else:
            value = value << by if operator == "<<" else value >> by
        if value == before or abs(value) >= 1 << 63:
            return None
    return count
