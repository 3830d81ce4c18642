"""Loop unrolling by pragma: the compiler does it, and keeps the remainder right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocm_perf_lab.optimize.rules.edits import Edit, indentation, insert, on_line_start
from rocm_perf_lab.optimize.rules.idea import Idea, hot_share
from rocm_perf_lab.optimize.rules.kernel_tree import KernelTree, Loop
from rocm_perf_lab.schema.prompt import PromptDocument

FACTORS = (8, 4, 2)
# Below this share of the stalls a loop is left alone while others are hot.
HOT = 0.05


def unrollable(loop: Loop, factor: int) -> bool:
    """Safe, and something the compiler will do."""
    if loop.crosses or (loop.trip_count is not None and loop.trip_count < factor):
        return False
    if not loop.innermost and not loop.wave_operations:
        return False
    # A wave's lanes must reach a shuffle together: no remainder loop around one.
    return not loop.wave_operations or (
        loop.trip_count is not None and loop.trip_count % factor == 0
    )


def pragma(tree: KernelTree, loop: Loop, factor: int) -> list[Edit]:
    line = f"#pragma unroll {factor}"
    if loop.pragma is not None:
        return [Edit(*loop.pragma, line)]
    indent = indentation(tree.text, loop.begin)
    if on_line_start(tree.text, loop.begin):
        start = loop.begin - len(indent)
        return [insert(start, f"{line}\n")]
    return [insert(loop.begin, f"\n{line}\n{indent}  ")]


def ideas(tree: KernelTree, prompt: PromptDocument) -> Iterator[Idea]:
    """All hot loops together, largest factor first; then each alone."""
    shares = {loop.number: hot_share(prompt, loop) for loop in tree.loops}
    known = any(shares.values())
    for factor in FACTORS:
        chosen = [
            loop
            for loop in tree.loops
            if unrollable(loop, factor) and (not known or shares[loop.number] >= HOT)
        ]
        if chosen:
            yield _idea(tree, chosen, factor, shares)
    everyone = [loop for loop in tree.loops if unrollable(loop, 4)]
    for loop in sorted(everyone, key=lambda loop: -shares[loop.number]):
        if len(everyone) > 1:
            yield _idea(tree, [loop], 4, shares)


def _idea(tree: KernelTree, loops: Sequence[Loop], factor: int, shares: dict[int, float]) -> Idea:
    names = ", ".join(str(loop.number) for loop in loops)
    waited = sum(shares[loop.number] for loop in loops)
    why = f" They hold {waited:.0%} of the stalled cycles." if waited else ""
    return Idea(
        rule="unroll",
        title=f"unroll loop{'s' if len(loops) > 1 else ''} {names} by {factor}",
        rationale=(
            f"{factor} iterations at once let {factor} loads be under way before the first is "
            f"waited for.{why}"
        ),
        edits=tuple(edit for loop in loops for edit in pragma(tree, loop, factor)),
        details={"factor": str(factor), "loops": names},
    )
