"""Speed on captured and on drawn inputs: the worst counts.

A kernel that knows the captured values is fast on them only: what gains much more there is refused.
What gains more on other values knows none, and a loop that ends early takes what its data take.
"""

from __future__ import annotations

from dataclasses import replace

from rocm_perf_lab.optimize.agreement import enter
from rocm_perf_lab.optimize.measure import Bar, Measured, measure
from rocm_perf_lab.optimize.plan import Plan
from rocm_perf_lab.replay.session import ReplaySession

CAPTURED_ONLY = 1.5  # times the gain on other values: more is of the captured ones


def measure_on(
    session: ReplaySession,
    plan: Plan,
    a: int,
    b: int,
    bar: Bar,
    rule: str | None,
    floor_ns: float = 0.0,
) -> Measured:
    """A and B on each of the plan's timed sets, until one is not faster."""
    found: list[tuple[str, Measured]] = []
    for inputs in plan.timed:
        enter(session, plan.subject, inputs)
        # What a drawn set makes it write is not known.
        each = measure(session, a, b, bar, rule, 0.0 if inputs.drawn else floor_ns)
        if inputs.drawn:
            reason = f"on other inputs ({inputs.name}): {each.gate.reason}"
            each = replace(each, gate=replace(each.gate, reason=reason))
        found.append((inputs.name, each))
        if each.gate.verdict != "faster" or each.implausible:
            return each
    return worst(found)


def worst(found: list[tuple[str, Measured]]) -> Measured:
    """The slowest of several that are all faster; implausible where the captured values, which come
    first, gain far more."""
    slow = min(found, key=lambda each: each[1].gate.speedup)
    low, captured = slow[1].gate, found[0][1].gate
    apart = low.interval[1] < captured.interval[0]
    if not apart or captured.speedup < CAPTURED_ONLY * low.speedup:
        return slow[1]
    why = (
        f"{captured.speedup:.2f}x on {found[0][0]} and {low.speedup:.2f}x on {slow[0]}: the gain "
        "is of the values"
    )
    return replace(slow[1], implausible=why)
