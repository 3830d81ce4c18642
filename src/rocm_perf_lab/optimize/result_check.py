"""Does another build of a captured kernel leave the same results, on captured and on other inputs?

The original decides what must come out of every input set; sets on which it fails itself, or does
not agree with itself, are left out and named (optimize/plan.py). A candidate must agree on all that
remain, in every order of workgroups and waves that is tried. What is compared, and how exactly, is
in optimize/judge.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from rocm_perf_lab.errors import PerfLabError
from rocm_perf_lab.optimize.agreement import SetResult, agreement, enter
from rocm_perf_lab.optimize.input_sets import Most
from rocm_perf_lab.optimize.layout import Debug, no_debug
from rocm_perf_lab.optimize.plan import Plan, make_larger_plan, make_plan
from rocm_perf_lab.optimize.trial import OpenSession, limit_s
from rocm_perf_lab.replay.session import ORIGINAL

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
    """Compare a build with the original on every set of the plan; stops at the first difference."""
    results: list[SetResult] = []
    if plan.blocked:
        return CheckResult((SetResult("captured", False, plan.blocked),))
    for seed in (0, *plan.interleavings):
        name = "load"
        try:
            with open_session(seed) as session:
                candidate = session.load(image)
                usual = session.timeout_s
                for inputs in plan.sets if seed == 0 else plan.ordered:
                    name = inputs.name + (f", interleaving {seed}" if seed else "")
                    session.timeout_s = usual
                    enter(session, plan.subject, inputs)
                    session.keep_reference(ORIGINAL)
                    session.timeout_s = limit_s(plan.run_s)
                    for _ in range(1 if inputs.drawn or seed else REPEATS):
                        found = agreement(session, plan.subject, inputs, candidate, name)
                        if found.reason:
                            return CheckResult((*results, found))
                    results.append(found)
        except PerfLabError as error:
            failed = SetResult(name, False, f"it fails: {error.message}")
            return CheckResult((*results, failed))
    return CheckResult(tuple(results))


__all__ = ["CheckResult", "Plan", "SetResult", "check", "prepare", "prepare_larger"]
