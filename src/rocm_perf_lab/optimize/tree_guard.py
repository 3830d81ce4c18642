"""The static guard's look at the syntax tree, as the device compiler and as the host sees it.

What the kernel had before, it may have again. Everything else in the file must be the same tree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize import width_guard
from rocm_perf_lab.optimize.libclang import SIDES
from rocm_perf_lab.optimize.parser import Parser, Request
from rocm_perf_lab.optimize.proposal import Context
from rocm_perf_lab.optimize.tree_view import View


def compare(
    context: Context, source: str, parser: Parser
) -> tuple[list[str], list[tuple[str, str, int]]]:
    """(what the parser refuses, [(rule, message, line)]): both empty where all is well."""
    found: dict[tuple[str, str], tuple[str, str, int]] = {}
    for side in SIDES:
        asked = Request(
            str(context.path), context.source, tuple(context.flags), context.architecture, side,
            context.extent.begin,
        )  # fmt: skip
        old = parser.before(asked)
        if old.problems:
            raise BadInput(f"{context.path.name} does not compile as it stands: {old.problems[0]}")
        new = parser.view(asked, source)
        if new.problems:
            return [f"{side} side: {problem}" for problem in new.problems], []
        for rule, message, line in _differences(old, new):
            found.setdefault((rule, message), (rule, message, line))
        if found:
            break  # what one side refuses, the other cannot permit
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
        if width_guard.permitted(item.key, had):
            continue
        if (counted and seen[item.key] > had[item.key]) or not had[item.key]:
            yield item.rule, item.message, item.line
