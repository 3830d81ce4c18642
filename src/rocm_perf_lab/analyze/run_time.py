"""Where the time of a run went, from its first to its last operation on the device.

The parts are what the device did, or what it waited for, so they add up to the run. What limits
it is judged in run_verdict.py, of what is left without what the run pays once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rocm_perf_lab.analyze.culprits import Culprit, Witness
from rocm_perf_lab.analyze.graph import DagFinding
from rocm_perf_lab.analyze.graph.anatomy import Anatomy
from rocm_perf_lab.analyze.graph.columns import Union
from rocm_perf_lab.analyze.graph.unrecorded_copies import copies_known
from rocm_perf_lab.analyze.kernel_class import kernel_class
from rocm_perf_lab.analyze.phases import OneTime, Phases, phases
from rocm_perf_lab.analyze.rules import rule_set
from rocm_perf_lab.analyze.run_verdict import Overhead, RunVerdict, judge
from rocm_perf_lab.trace.trace import Trace

# The parts in the order they are listed: name, causes of idle time it is made of, words.
PARTS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("kernels", (), "kernels"),
    ("copies", ("copies",), "copies"),
    ("launch_gaps", ("launch", "dependency"), "launch gaps"),
    ("host", ("host",), "host code"),
    ("synchronisation", ("sync",), "synchronisation"),
    ("unexplained", ("unknown",), "unexplained"),
)
NO_COPIES = "neither copies nor the calls that make them were recorded"
_TOP_CALLS = 10
_TOP_GAPS = 5


@dataclass(frozen=True)
class Part:
    name: str
    ns: int | None  # None: not recorded; its time is in another part, most likely unexplained
    share: float | None  # of the whole


@dataclass(frozen=True)
class HostCall:
    name: str
    calls: int
    total_ns: int


@dataclass(frozen=True)
class Stretch:
    """A part of the run and what happened in it."""

    ns: int
    parts: tuple[Part, ...]  # those that are known add up to the whole
    kernel_busy_share: float  # at least one kernel running
    idle_share: float  # neither kernel nor copy running
    operations: int
    host_calls: tuple[HostCall, ...]  # inside it, the longest in all first
    gaps: tuple[Culprit, ...]  # inside it, the longest first


@dataclass(frozen=True)
class RunTime:
    """One run, from its first to its last device operation."""

    whole: Stretch
    one_time: tuple[OneTime, ...]
    rounds: tuple[int, int] | None  # where the first round of the work is longer: it, the usual one
    steady: Stretch | None  # without those, where enough is left
    runtime_kernel_share: float | None  # of the kernels' time, that of the runtime's own
    collective_share: float | None
    reasons: dict[str, str]  # part -> why it is not known
    verdict: RunVerdict  # on the steady part, where there is one


def where_the_time_goes(dag: DagFinding, run: Trace) -> RunTime | None:
    """None where the run spans no time."""
    anatomy = dag.anatomy
    if dag.makespan_ns <= 0 or anatomy is None:
        return None
    witness = Witness(anatomy)
    found = phases(anatomy, witness)
    everything = Phases((), Union(np.array([0]), np.array([dag.makespan_ns]), np.array([0])))
    known = copies_known(run)
    whole = _stretch(anatomy, witness, everything, known)
    steady = None
    if found.one_time:
        rest = _stretch(anatomy, witness, found, known)
        if rest.operations >= rule_set().run.steady_operations and rest.ns > 0:
            steady = rest
    judged, scope = (steady, found) if steady is not None else (whole, everything)
    kernels = [k for k in dag.kernels if not k.is_copy]
    total = sum(k.total_ns for k in kernels)
    by_class = {
        kind: sum(k.total_ns for k in kernels if kernel_class(k.name) == kind) / total
        for kind in ("runtime", "collective")
        if total
    }
    return RunTime(
        whole=whole,
        one_time=found.one_time,
        rounds=found.rounds[1:] if found.rounds is not None else None,
        steady=steady,
        runtime_kernel_share=by_class.get("runtime"),
        collective_share=by_class.get("collective"),
        reasons={} if known else {"copies": NO_COPIES},
        verdict=judge(
            dag,
            judged,
            _overhead(anatomy, scope, judged),
            "steady" if steady is not None else "run",
            found.one_time,
        ),
    )


def _stretch(anatomy: Anatomy, witness: Witness, scope: Phases, copies: bool) -> Stretch:
    gaps, low, high = anatomy.gaps, scope.rest.start, scope.rest.end
    ns = scope.rest.total
    inside = scope.within_rest(gaps.low)
    causes = gaps.by_cause(np.flatnonzero(inside[gaps.of]))
    kernels = int(gaps.running.within(low, high).sum())

    def part(name: str, of: tuple[str, ...]) -> Part:
        if name == "copies" and not copies:
            return Part(name, None, None)
        took = kernels if name == "kernels" else sum(causes[cause] for cause in of)
        return Part(name, took, took / ns if ns else 0.0)

    rows = np.flatnonzero(inside & (gaps.high > gaps.low))
    longest = rows[np.argsort(gaps.low[rows] - gaps.high[rows], kind="stable")[:_TOP_GAPS]]
    return Stretch(
        ns=ns,
        parts=tuple(part(name, of) for name, of, _ in PARTS),
        kernel_busy_share=kernels / ns if ns else 0.0,
        idle_share=1 - int(gaps.busy.within(low, high).sum()) / ns if ns else 0.0,
        operations=int(scope.within_rest(anatomy.ops.start).sum()),
        host_calls=_host_calls(anatomy, witness, scope),
        gaps=tuple(witness.gap(row) for row in longest.tolist()),
    )


def _host_calls(anatomy: Anatomy, witness: Witness, scope: Phases) -> tuple[HostCall, ...]:
    """By the time they spend inside the stretch."""
    run, origin = anatomy.run, anatomy.ops.origin_ns
    r = run.regions
    rows = np.flatnonzero(witness.calls)
    took = scope.rest.within(r.start_ns[rows] - origin, r.end_ns[rows] - origin)
    rows, took = rows[took > 0], took[took > 0]
    total = np.bincount(r.name[rows], took, minlength=len(run.strings))
    count = np.bincount(r.name[rows], minlength=len(run.strings))
    order = np.lexsort((np.arange(len(total)), -total))[:_TOP_CALLS]
    return tuple(HostCall(run.strings[i], int(count[i]), int(total[i])) for i in order if count[i])


def _overhead(anatomy: Anatomy, scope: Phases, judged: Stretch) -> Overhead:
    """What the verdict needs of the gaps and the path, in the part it speaks of."""
    gaps = anatomy.gaps
    inside = scope.within_rest(gaps.low)
    copies = np.zeros(len(gaps.low), np.int64)
    copying = gaps.cause == 0
    np.add.at(copies, gaps.of[copying], gaps.length[copying])
    idle = np.sort((gaps.high - gaps.low - copies)[inside])[::-1]
    on_path = scope.within_rest(anatomy.path_start)
    kernels = int(anatomy.path_ns[on_path & anatomy.path_kernel].sum())
    idle = idle[idle > 0]
    few = min(int(rule_set().run.few_stalls), len(idle))
    return Overhead(
        idle=tuple(idle[:few].tolist()),
        rest_median_ns=tuple(
            float(np.median(idle[n:])) if len(idle) > n else 0.0 for n in range(1, few + 1)
        ),
        idle_ns=int(idle.sum()),
        collective_share=_alone(anatomy, scope) / judged.ns if judged.ns else 0.0,
        path_kernel_share=kernels / judged.ns if judged.ns else 0.0,
        path_operations=int((on_path & anatomy.path_operation).sum()),
        path_waits=int((on_path & anatomy.path_wait).sum()),
    )


def _alone(anatomy: Anatomy, scope: Phases) -> int:
    """How long kernels of collectives run and no others, in the part judged."""
    ops, low, high = anatomy.ops, scope.rest.start, scope.rest.end
    collective = np.array([kernel_class(name) == "collective" for name in ops.names])
    if not collective.any():
        return 0
    rows = np.flatnonzero(~ops.is_copy & ~collective[ops.name])
    others = Union.of(ops.start[rows], ops.end[rows])
    return int((anatomy.gaps.running.within(low, high) - others.within(low, high)).sum())
