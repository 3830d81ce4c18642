"""What may change before the body: launch bounds and restrict."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm_perf_lab.optimize.rules.edits import insert
from rocm_perf_lab.optimize.rules.idea import Idea
from rocm_perf_lab.optimize.rules.kernel_tree import KernelTree
from rocm_perf_lab.schema.prompt import PromptDocument


def restrict(tree: KernelTree) -> Idea | None:
    """Loads may move over stores, if no two buffers overlap."""
    open_ones = [p for p in tree.parameters if p.pointer and not p.restrict]
    written = any(not p.constant for p in tree.parameters if p.pointer)
    if not open_ones or not written or sum(p.pointer for p in tree.parameters) < 2:
        return None
    edits = []
    for parameter in open_ones:
        declared = tree.text[parameter.begin : parameter.end]
        star = declared.rfind("*")
        if star < 0 or "[" in declared or "(" in declared:
            return None
        edits.append(insert(parameter.begin + star + 1, " __restrict__"))
    names = ", ".join(p.name for p in open_ones)
    return Idea(
        rule="restrict",
        title=f"__restrict__ on {names}",
        rationale=(
            f"Loads through {names} need not wait for stores through the others. Right only where "
            "these buffers never overlap: the result check sees the captured launches, the "
            "program's author knows the rest."
        ),
        edits=tuple(edits),
    )


def launch_bounds(tree: KernelTree, prompt: PromptDocument) -> Idea | None:
    block = prompt.measurement.block or (0, 0, 0)
    threads = block[0] * block[1] * block[2]
    head = tree.text[slice(*tree.head)]
    if "__launch_bounds__" in head or not 1 <= threads <= 1024:
        return None
    place = re.search(r"__global__\s+(?:static\s+|inline\s+)*void\b", head)
    if place is None:
        return None
    return Idea(
        rule="launch_bounds",
        title=f"__launch_bounds__({threads})",
        rationale=(
            f"Registers are shared out for the {threads} threads of the measured launch instead of "
            "1024. A launch with larger blocks would fail."
        ),
        edits=(insert(tree.head[0] + place.end(), f" __launch_bounds__({threads})"),),
        details={"threads": str(threads)},
    )


def ideas(tree: KernelTree, prompt: PromptDocument) -> Iterator[Idea]:
    for idea in (restrict(tree), launch_bounds(tree, prompt)):
        if idea is not None:
            yield idea
