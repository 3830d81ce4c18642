"""Where the time of a run went, and what limits the run itself when its kernels do not.

The parts are those of the critical path, so they add up to the makespan. Texts and thresholds of
the verdicts are in rules.toml.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np

from rocm_perf_lab.analyze.graph import DagFinding
from rocm_perf_lab.analyze.kernel_class import kernel_class
from rocm_perf_lab.analyze.rules import Confidence, RunLabel, rule_set
from rocm_perf_lab.trace.trace import Trace

# The parts in the order they are listed: name, causes of the critical path it is made of, words.
PARTS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("kernels", ("kernels",), "kernels"),
    ("copies", ("copies",), "copies"),
    ("launch_gaps", ("launch", "dependency"), "launch gaps"),
    ("host", ("host",), "host code"),
    ("synchronisation", ("sync",), "synchronisation"),
    ("unexplained", ("unknown",), "unexplained"),
)
LABELS: tuple[RunLabel, ...] = get_args(RunLabel)
_TOP_CALLS = 10
_MARKERS = ("MARKER", "OPERATOR")


@dataclass(frozen=True)
class Part:
    name: str
    ns: int
    share: float  # of the makespan


@dataclass(frozen=True)
class HostCall:
    name: str
    calls: int
    total_ns: int


@dataclass(frozen=True)
class RunVerdict:
    label: RunLabel
    confidence: Confidence
    meaning: str
    evidence: tuple[str, ...]
    next_steps: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class RunTime:
    """One run, from its first to its last device operation."""

    makespan_ns: int
    parts: tuple[Part, ...]  # add up to the makespan
    kernel_busy_share: float  # of the makespan, at least one kernel running
    idle_share: float  # of the makespan, neither kernel nor copy running
    runtime_kernel_share: float | None  # of the kernels' time, that of the runtime's own
    collective_share: float | None
    host_calls: tuple[HostCall, ...]  # the longest in all, first
    verdict: RunVerdict

    def share(self, name: str) -> float:
        return next(part.share for part in self.parts if part.name == name)


def where_the_time_goes(dag: DagFinding, run: Trace) -> RunTime | None:
    """None where the run spans no time."""
    span = dag.makespan_ns
    if span <= 0:
        return None
    parts = tuple(
        Part(name, ns := sum(dag.path_by_cause_ns.get(cause, 0) for cause in causes), ns / span)
        for name, causes, _ in PARTS
    )
    kernels = [k for k in dag.kernels if not k.is_copy]
    whole = sum(k.total_ns for k in kernels)
    by_class = {
        kind: sum(k.total_ns for k in kernels if kernel_class(k.name) == kind) / whole
        for kind in ("runtime", "collective")
        if whole
    }
    calls = _host_calls(run)
    return RunTime(
        makespan_ns=span,
        parts=parts,
        kernel_busy_share=dag.device.kernel_busy_ns / span,
        idle_share=1 - dag.device.busy_ns / span,
        runtime_kernel_share=by_class.get("runtime"),
        collective_share=by_class.get("collective"),
        host_calls=calls,
        verdict=_judge(dag, {part.name: part.share for part in parts}, calls),
    )


def _host_calls(run: Trace) -> tuple[HostCall, ...]:
    r = run.regions
    if not len(r):
        return ()
    category = np.array(
        [any(mark in text.upper() for mark in _MARKERS) for text in (*run.strings, "")]
    )
    calls = ~category[r.category] & (r.name >= 0)
    names = r.name[calls]
    total = np.bincount(names, (r.end_ns - r.start_ns)[calls], minlength=len(run.strings))
    count = np.bincount(names, minlength=len(run.strings))
    order = np.lexsort((np.arange(len(total)), -total))[:_TOP_CALLS]
    return tuple(HostCall(run.strings[i], int(count[i]), int(total[i])) for i in order if count[i])


def _judge(dag: DagFinding, share: dict[str, float], calls: tuple[HostCall, ...]) -> RunVerdict:
    rules = rule_set().run
    on_path = max(dag.path_operations, 1)
    operations = max(sum(k.dispatches for k in dag.kernels), 1)
    overhead = share["launch_gaps"] + share["host"] + share["synchronisation"]
    overhead_us = overhead * dag.makespan_ns / operations / 1e3
    syncs = next((e.on_path for e in dag.edges if e.kind == "HOST_SYNC"), 0)
    label = _label(share, overhead_us, syncs, on_path, operations)
    text = rules.texts[label]
    idle = 1 - dag.device.busy_ns / dag.makespan_ns
    evidence = [
        f"{_percent(share['kernels'])} of the run's critical path is kernels; kernels run "
        f"{_percent(dag.device.kernel_busy_ns / dag.makespan_ns)} of the time, and the device is "
        f"idle {_percent(idle)}"
    ]
    if label == "kernel_bound":
        rest = {words: share[name] for name, _, words in PARTS if name != "kernels"}
        largest = max(rest, key=lambda words: rest[words])
        if rest[largest] >= 0.01:
            evidence.append(f"the next largest part: {largest}, {_percent(rest[largest])}")
    elif label == "copy_bound":
        evidence.append(
            f"copies take {_percent(share['copies'])} of the critical path, "
            f"{dag.device.copy_sum_ns / 1e6:.4g} ms in all"
        )
    elif label == "device_idle":
        evidence.append(f"{_percent(share['unexplained'])} of the path has no recorded cause")
    else:
        took = (dag.device.kernel_sum_ns + dag.device.copy_sum_ns) / operations / 1e3
        evidence.append(
            f"{operations:,} operations of {took:.3g} us on average, and {overhead_us:.3g} us for "
            f"each on the host: host code {_percent(share['host'])}, launch gaps "
            f"{_percent(share['launch_gaps'])}, synchronisation "
            f"{_percent(share['synchronisation'])} of the path"
        )
        if label == "synchronisation_bound":
            evidence.append(f"the path passes {syncs:,} waits for {on_path:,} operations")
        operators = [o for o in dag.host_operators if o.share >= 0.01][:3]
        if operators:
            shown = ", ".join(f"{o.name} {_percent(o.share)}" for o in operators)
            evidence.append(f"the host's time on the path by operator, callees aside: {shown}")
        if calls:
            shown = ", ".join(
                f"{c.name} {c.total_ns / 1e6:.3g} ms in {c.calls:,}" for c in calls[:3]
            )
            evidence.append(f"the host calls that took longest: {shown}")
    short = label != "kernel_bound" and operations < rules.steady_operations
    if short:
        evidence.append(
            f"the run has only {operations:,} operations: what it pays once is most of it, and a "
            "longer run may look different"
        )
    missing = []
    if dag.scope == "device-only":
        missing.append("host calls: without them (rocprofv3 --hip-trace) gaps have no known cause")
    coverage = dag.coverage or 0.0
    largest_share = max(share.values())
    confidence: Confidence = "high"
    if coverage < rules.sure_coverage or largest_share < rules.sure_share:
        confidence = "medium"
    if short or (coverage < rules.doubtful_coverage and label != "device_idle"):
        confidence = "low"
    return RunVerdict(
        label, confidence, text.meaning, tuple(evidence), text.next_steps, tuple(missing)
    )


def _label(
    share: dict[str, float], overhead_us: float, syncs: int, on_path: int, operations: int
) -> RunLabel:
    rules = rule_set().run
    if share["kernels"] >= rules.kernel_share:
        return "kernel_bound"
    rest = {name: value for name, value in share.items() if name != "kernels"}
    largest = max(rest, key=lambda name: rest[name])
    if largest == "copies":
        return "copy_bound"
    if largest == "unexplained":
        return "device_idle"
    waits_each_time = (
        on_path >= rules.few_operations and syncs >= rules.sync_per_operation * on_path
    )
    if largest == "synchronisation" or (largest == "launch_gaps" and waits_each_time):
        return "synchronisation_bound"
    if largest == "host" and (operations < rules.few_operations or overhead_us >= rules.host_us):
        return "host_bound"
    return "launch_bound"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"
