"""`--fail-on` rules: what counts as a regression, and whether a comparison shows one.

    runtime>5%            all kernels together take more than 5 % longer
    kernel>10%            any kernel does
    kernel:REGEX>10%      any kernel whose name matches does
    runtime>1.05x         the same as >5%
    vgprs>0  lds>1024  scratch>0  sgprs>8     a kernel's use grows by more than that
    occupancy<-10%        a kernel's theoretical occupancy falls by more than a tenth

A rule says what must not be, so it must not hold of two runs that are the same: one that does is
refused, and so is one that can never hold.

A rule about time fails when the whole interval lies beyond its limit, and is undecided while the
limit is inside. Too few samples for an interval leave it undecided: less evidence never decides
more. Modelled times repeat exactly, so their ratio is compared as it is.
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass
from typing import Literal

from rocm_perf_lab.analyze.compare import Comparison
from rocm_perf_lab.errors import UsageError

Outcome = Literal["passed", "failed", "undecided"]

TIMES = ("runtime", "kernel")
# rule name -> name of the change in a comparison
RESOURCES = {
    "vgprs": "VGPRs",
    "sgprs": "SGPRs",
    "lds": "LDS bytes",
    "scratch": "scratch bytes",
    "occupancy": "occupancy",
}
EXAMPLE = 'for example "runtime>5%", "kernel:softmax>10%", "vgprs>0" or "occupancy<-10%"'

_RULE = re.compile(
    r"\s*(?P<metric>[a-z]+)\s*(?::(?P<pattern>.+?))?\s*(?P<relation>[<>]=?)\s*"
    r"(?P<number>[-+]?\d+(?:\.\d+)?)\s*(?P<unit>%|x)?\s*"
)


@dataclass(frozen=True)
class Rule:
    text: str
    metric: str
    pattern: re.Pattern[str] | None
    above: bool
    inclusive: bool  # >= or <=
    limit: float  # of B over A for ratios, of B - A for amounts
    relative: bool


def parse(text: str) -> Rule:
    match = _RULE.fullmatch(text)
    if match is None:
        raise UsageError(f"--fail-on {text!r} is not a rule", hint=EXAMPLE)
    metric, unit = match["metric"], match["unit"]
    known = (*TIMES, *RESOURCES)
    if metric not in known:
        close = difflib.get_close_matches(metric, known, n=1)
        raise UsageError(
            f"--fail-on {text!r}: {metric} is not compared",
            hint=f"did you mean {close[0]}?" if close else f"one of {', '.join(known)}",
        )
    number = float(match["number"])
    if metric in TIMES and unit is None:
        raise UsageError(f"--fail-on {text!r} needs a unit: 5% or 1.05x", hint=EXAMPLE)
    if match["pattern"] is not None and metric == "runtime":
        raise UsageError(f"--fail-on {text!r}: runtime has no kernel name", hint=EXAMPLE)
    try:
        pattern = re.compile(match["pattern"]) if match["pattern"] else None
    except re.error as error:
        raise UsageError(f"--fail-on {text!r}: not a regular expression: {error}") from None
    rule = Rule(
        text=text.strip(),
        metric=metric,
        pattern=pattern,
        above=match["relation"].startswith(">"),
        inclusive=match["relation"].endswith("="),
        limit={"%": 1 + number / 100, "x": number, None: number}[unit],
        relative=unit is not None,
    )
    _sensible(rule)
    return rule


def _sensible(rule: Rule) -> None:
    same = 1.0 if rule.relative else 0.0
    if _beyond(rule, same, same) == "failed":
        raise UsageError(
            f"--fail-on {rule.text!r} holds of two runs that are the same",
            hint=f"a rule says what must not be; {EXAMPLE}",
        )
    if rule.relative and not rule.above and _beyond(rule, 0.0, 0.0) != "failed":
        raise UsageError(f"--fail-on {rule.text!r} can never hold: nothing is below 0x")


def judge_time(rule: Rule, what: str, time: Comparison) -> tuple[Outcome, str]:
    """Does B's time over A's go beyond the limit?"""
    if time.speedup is None:
        return "undecided", f"{what}: {time.reason}"
    change = 1 / time.speedup
    shown = f"{what} takes {change:.3f}x the time"
    if time.modelled or time.method == "equal":
        kind = " (modelled)" if time.modelled else ""
        return _beyond(rule, change, change), shown + kind
    if time.interval is None:
        return "undecided", f"{shown} by {samples(time.pairs)}, too few for an interval"
    low = 1 / time.interval[1] if math.isfinite(time.interval[1]) else 0.0
    high = 1 / time.interval[0] if time.interval[0] > 0 else math.inf
    ends = f"{low:.3f} to {high:.3f}" if math.isfinite(high) else f"at least {low:.3f}"
    return _beyond(rule, low, high), f"{shown}, interval {ends}"


def samples(count: int) -> str:
    return f"{count} sample{'s' * (count != 1)}"


def judge_amount(rule: Rule, what: str, a: float, b: float) -> tuple[Outcome, str]:
    shown = f"{what}: {RESOURCES[rule.metric]} {a:g} -> {b:g}"
    if rule.relative:
        value = b / a if a else math.inf if b else 1.0
    else:
        value = b - a
    return _beyond(rule, value, value), shown


def worst(outcomes: list[tuple[Outcome, str]]) -> tuple[Outcome, str]:
    """One answer for a rule that several kernels were held to."""
    for outcome in ("failed", "undecided"):
        found = [text for got, text in outcomes if got == outcome]
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            return outcome, found[0] + more
    if not outcomes:
        return "undecided", "nothing to hold it to is in both"
    return "passed", outcomes[0][1] if len(outcomes) == 1 else f"{len(outcomes)} kernels"


def _beyond(rule: Rule, low: float, high: float) -> Outcome:
    """The whole interval holds, none of it does, or part of it."""
    held = {_holds(rule, end) for end in (low, high)}
    return "undecided" if len(held) > 1 else "failed" if held == {True} else "passed"


def _holds(rule: Rule, value: float) -> bool:
    if value == rule.limit:
        return rule.inclusive
    return (value > rule.limit) == rule.above
