"""What may change before the body: launch bounds and restrict."""

from __future__ import annotations

import math
import re

from rocm_perf_lab.optimize import promises
from rocm_perf_lab.optimize.proposal import Context
from rocm_perf_lab.optimize.rules.edits import insert
from rocm_perf_lab.optimize.rules.idea import Idea
from rocm_perf_lab.optimize.rules.kernel_tree import KernelTree


def restrict(tree: KernelTree, context: Context) -> Idea | None:
    """Loads may move over stores, if no two buffers overlap: in no launch that was recorded."""
    refused = _overlapping(context)
    open_ones = [
        p for p in tree.parameters if p.pointer and not p.restrict and p.name not in refused
    ]
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
            "these buffers never overlap, as in every launch of the program that was recorded."
        ),
        edits=tuple(edits),
    )


def _overlapping(context: Context) -> set[str]:
    """Names of parameters of which `__restrict__` would be refused."""
    if context.seen is None:
        return set()
    listed = promises.parameters(context.extent.text(context.source), context.kernel)
    stars = [i for i, parameter in enumerate(listed) if parameter.stars]
    return {listed[i].name for i in promises.unrestricted(context.seen, listed, stars)}


def launch_bounds(tree: KernelTree, context: Context) -> Idea | None:
    block = context.prompt.measurement.block or (0, 0, 0)
    threads = max(math.prod(block), context.seen.threads if context.seen else 0)
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
            f"Registers are shared out for the {threads} threads of the largest block launched "
            "instead of 1024. A launch with larger blocks would fail."
        ),
        edits=(insert(tree.head[0] + place.end(), f" __launch_bounds__({threads})"),),
        details={"threads": str(threads)},
    )
