"""What a search left out because its policy does not permit it, and why that is not the default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rocm_perf_lab.optimize.proposal import Context
from rocm_perf_lab.optimize.rules import ideas_for
from rocm_perf_lab.schema.optimize import Further, Withheld

WHY_NOT_DEFAULT = (
    "unroll changes pragmas on loops only, which no result depends on; body rewrites statements "
    "and the kernel's head: sums may be added in another order, and __restrict__ and "
    "__launch_bounds__ are promises about every caller, where only the launches of one run are "
    "known"
)


def withheld(context: Context, kernel: str) -> list[Withheld]:
    """What the rules would propose for the kernel as it is, beyond what the policy let them."""
    wider = replace(context, prompt=context.prompt.model_copy(update={"policy": "body"}))
    permitted = {idea.title for idea in ideas_for(context)}
    return [
        Withheld(
            kernel=kernel,
            proposal=idea.title,
            rule=idea.rule,
            changes_rounding=idea.changes_rounding,
        )
        for idea in ideas_for(wider)
        if idea.title not in permitted
    ]


def further(proposals: Sequence[Withheld]) -> Further | None:
    if not proposals:
        return None
    return Further(policy="body", proposals=list(proposals), why_not_default=WHY_NOT_DEFAULT)


def sentence(found: Further) -> str:
    """Which policy, how much more it has to try, and the first of it."""
    kernels = list(dict.fromkeys(p.kernel.partition("(")[0] for p in found.proposals))
    count = len(found.proposals)
    most = "; ".join(p.proposal for p in found.proposals[:_NAMED])
    more = f"; and {count - _NAMED} more" if count > _NAMED else ""
    return (
        f"--policy {found.policy} would go further: it has {count} more proposals for "
        f"{', '.join(kernels)}: {most}{more}"
    )


_NAMED = 3
