"""Does another build of a captured kernel leave the same results, on captured and on other inputs?

The original decides what must come out of every input set; sets on which it fails itself, or does
not agree with itself, are left out and named (optimize/plan.py). A candidate must agree on all that
remain, in every order of workgroups and waves that is tried. What is compared, and how exactly, is
in optimize/judge.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocm_perf_lab.check import words
from rocm_perf_lab.check.log import text
from rocm_perf_lab.errors import PerfLabError
from rocm_perf_lab.optimize.agreement import SetResult, agreement, enter
from rocm_perf_lab.optimize.input_sets import InputSet, Most
from rocm_perf_lab.optimize.layout import Debug, no_debug
from rocm_perf_lab.optimize.named import named
from rocm_perf_lab.optimize.plan import Plan, further_sets, make_larger_plan, make_plan
from rocm_perf_lab.optimize.trial import OpenSession, limit_s
from rocm_perf_lab.replay.session import ORIGINAL

WATCHED = -1  # a session's seed: no order of its own, every access is looked at
LOOKED_AT = "every access watched"
SLOWED = 20  # times: what looking at every access may cost
REPEATS = 2  # of a candidate on the captured inputs; elsewhere the order changes instead


@dataclass(frozen=True)
class CheckResult:
    sets: tuple[SetResult, ...]

    @property
    def reason(self) -> str | None:
        if not self.sets:
            return "there was nothing to compare"
        wrong = next((s for s in self.sets if s.reason), None)
        return f"{wrong.name}: {wrong.reason}" if wrong else None

    @property
    def exact(self) -> bool:
        return bool(self.sets) and all(s.exact for s in self.sets)


def prepare(
    open_session: OpenSession,
    debug: Debug = no_debug,
    brief: bool = False,
    orders: bool = True,
) -> Plan:
    """Find out what the kernel reads and writes, which input sets the original stands (`brief`: of
    the first few), and in which other orders of workgroups and waves."""
    return make_plan(open_session, debug, brief, orders)


def prepare_larger(open_session: OpenSession, most: Most, debug: Debug = no_debug) -> Plan:
    """The same for sizes beyond those of all launches, on a capture that was grown."""
    return make_larger_plan(open_session, most, debug)


def check(open_session: OpenSession, plan: Plan, image: bytes) -> CheckResult:
    """Compare a build with the original on every set of the plan, and on those that the build's own
    code suggests; stops at the first difference."""
    if plan.blocked:
        return CheckResult((SetResult("captured", False, plan.blocked),))
    results: list[SetResult] = []
    for seed in (0, *plan.interleavings):
        sets = plan.sets if seed == 0 else plan.ordered
        results += _compared(open_session, plan, sets, image, seed)
        if results and results[-1].reason:
            return CheckResult(tuple(results))
    try:
        further = of_its_own(open_session, plan, image)
    except PerfLabError as error:
        failed = SetResult("what its code names", False, f"cannot be tried: {error.message}")
        return CheckResult((*results, failed))
    results += _compared(open_session, plan, further, image)
    if results[-1].reason or not plan.interleavings:
        return CheckResult(tuple(results))
    return CheckResult((*results, *_watched(open_session, plan, image)))


def _watched(open_session: OpenSession, plan: Plan, image: bytes) -> list[SetResult]:
    """Every access looked at, on the virtual GPU: a race that no order here shows is one still, and
    so is a value that nobody wrote. What kinds the original has say nothing against a build."""
    name = LOOKED_AT
    try:
        with open_session(WATCHED) as session:
            if session.device.kind != "virtual":
                return []
            candidate = session.load(image)
            session.timeout_s = SLOWED * limit_s(plan.run_s)
            for inputs in plan.ordered:
                name = f"{LOOKED_AT}, {inputs.name}"
                enter(session, plan.subject, inputs)
                session.run([ORIGINAL], compare=False)
                before = session.noted("finding")
                session.run([candidate], compare=False)
                had = {_kind(each) for each in before}
                own = [
                    f
                    for f in session.noted("finding")[len(before) :]
                    if _kind(f) not in had and _of_a_launch(f)
                ]
                if own:
                    return [SetResult(name, False, _described(own[0]))]
    except PerfLabError as error:
        return [SetResult(name, False, f"it fails: {error.message}")]
    return [SetResult(LOOKED_AT, True, None)]


def _kind(finding: Mapping[str, Any]) -> tuple[str, str]:
    return str(finding.get("kind")), str(finding.get("why"))


def _of_a_launch(finding: Mapping[str, Any]) -> bool:
    """Not of the order in which launches, copies and fills were put: that is the session's own."""
    return finding.get("kind") != "work"


def _described(finding: Mapping[str, Any]) -> str:
    _, title, _ = words.of(finding)
    where = " and ".join(
        f"{side.get('access')} at {text(str(side.get('at')))}" for side in finding.get("sides", ())
    )
    return f"{title} ({where})"[:400]


def of_its_own(open_session: OpenSession, plan: Plan, image: bytes) -> list[InputSet]:
    """Sets that a build's own code suggests."""
    if not plan.names:
        return []
    own = named(image, plan.symbol).without(plan.names)
    return further_sets(open_session, plan, own) if own else []


def _compared(
    open_session: OpenSession,
    plan: Plan,
    sets: Sequence[InputSet],
    image: bytes,
    seed: int = 0,
) -> list[SetResult]:
    """As far as the first that differs."""
    results: list[SetResult] = []
    name = "load"
    try:
        with open_session(seed) as session:
            candidate = session.load(image)
            usual = session.timeout_s
            for inputs in sets:
                name = inputs.name + (f", interleaving {seed}" if seed else "")
                session.timeout_s = usual
                enter(session, plan.subject, inputs)
                session.keep_reference(ORIGINAL)
                session.timeout_s = limit_s(plan.run_s)
                for _ in range(1 if inputs.drawn or seed else REPEATS):
                    found = agreement(session, plan.subject, inputs, candidate, name)
                    if found.reason:
                        return [*results, found]
                results.append(found)
    except PerfLabError as error:
        results.append(SetResult(name, False, f"it fails: {error.message}"))
    return results


__all__ = [
    "CheckResult", "Plan", "SetResult", "check", "of_its_own", "prepare", "prepare_larger"
]  # fmt: skip
