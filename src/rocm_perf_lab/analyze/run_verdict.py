"""What limits a run: a label whose text follows from the evidence, and how sure it is.

Texts and thresholds are in rules.toml.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rocm_perf_lab.analyze.culprits import Culprit, python_recorded, sentence
from rocm_perf_lab.analyze.graph import DagFinding
from rocm_perf_lab.analyze.phases import OneTime
from rocm_perf_lab.analyze.rules import Confidence, RunLabel, rule_set

if TYPE_CHECKING:
    from rocm_perf_lab.analyze.run_time import Stretch

RunScope = Literal["run", "steady"]
_SHOWN = 3
_BY_KERNELS = ("kernel_bound", "communication_bound")
_WORDS = {
    "copies": "copies",
    "launch_gaps": "launch gaps",
    "host": "host code",
    "synchronisation": "synchronisation",
    "unexplained": "unexplained waits",
}
PHASE_WORDS = {
    "before_first_kernel": "before the first kernel",
    "first_use": "first launch",
    "warm_up": "work between them",
    "first_copies": "copies before the work",
    "after_last_kernel": "after the last kernel",
}


@dataclass(frozen=True)
class RunVerdict:
    label: RunLabel
    confidence: Confidence
    scope: RunScope  # "steady": the run without what it pays once
    meaning: str
    evidence: tuple[str, ...]
    next_steps: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Overhead:
    """Of the part that is judged."""

    idle: tuple[int, ...]  # the longest stretches without kernel or copy, ns
    rest_median_ns: tuple[float, ...]  # the median of those after the first, the second, ...
    idle_ns: int  # of all of them
    path_kernel_share: float  # of it, the critical path spends in kernels
    collective_share: float  # of it, kernels of collectives run and no others
    path_operations: int
    path_waits: int  # returns of waiting calls on the path

    def stalls(self) -> int:
        """How few stretches hold most of the idle time, each far longer than the rest; 0: none."""
        rules = rule_set().run
        held = 0
        for count, (ns, usual) in enumerate(zip(self.idle, self.rest_median_ns, strict=True), 1):
            held += ns
            if held >= rules.stall_share * self.idle_ns:
                long = max(rules.one_time_us * 1e3, rules.one_time_ratio * usual)
                return count if ns >= long else 0
        return 0


def judge(
    dag: DagFinding,
    stretch: Stretch,
    overhead: Overhead,
    scope: RunScope,
    one_time: Sequence[OneTime],
) -> RunVerdict:
    rules = rule_set().run
    share = {part.name: part.share or 0.0 for part in stretch.parts}
    paid = sum(s.ns for s in one_time) / dag.makespan_ns
    label = _label(share, stretch, overhead, scope, paid)
    text = rules.texts[label]
    stalls = overhead.stalls()
    numbers = {
        "waits": f"{overhead.path_waits:,}",
        "operations": f"{overhead.path_operations:,}",
        "share": _percent(
            {"start_up_bound": paid, "communication_bound": overhead.collective_share}.get(
                label, share.get(_PART_OF.get(label, ""), 0.0)
            )
        ),
        "stalls": _stretches(stalls, overhead.idle[0] if overhead.idle else 0),
    }
    few = stretch.operations < rules.steady_operations
    return RunVerdict(
        label=label,
        confidence=_confidence(label, share, stretch, overhead, few),
        scope=scope,
        meaning=text.found.format(**numbers),
        evidence=_evidence(dag, label, share, stretch, overhead, scope, one_time, few),
        next_steps=_next_steps(dag, label, stretch, stalls),
        missing=_missing(dag, stretch),
    )


def _stretches(count: int, longest: int) -> str:
    if count == 1:
        return f"one stretch of {_time(longest)}"
    return f"{count} stretches, the longest of {_time(longest)},"


def _next_steps(dag: DagFinding, label: RunLabel, stretch: Stretch, stalls: int) -> tuple[str, ...]:
    """The label's, and what the calls and copies that were seen ask for."""
    rules = rule_set().run
    calls: list[str] = []
    if label == "stall_bound":
        calls = [gap.call for gap in stretch.gaps[:stalls] if gap.call]
    elif label == "synchronisation_bound":
        calls = [c.name for c in stretch.host_calls if _ALLOCATES.search(c.name)]
    names = [call.removeprefix("hip").removeprefix("cuda") for call in calls]
    found = [
        step for name in names for start, step in rules.call_steps.items() if name.startswith(start)
    ]
    steps = [*found, *rules.texts[label].next_steps]
    count = sum(k.dispatches for k in dag.kernels if k.is_copy)
    small = dag.device.copy_sum_ns < rules.small_copy_us * 1e3 * count
    if label == "copy_bound" and count >= rules.many_copies and small:
        steps.append(rules.steps["small_copies"])
    return tuple(dict.fromkeys(steps))


def _copied(dag: DagFinding) -> str:
    """All copies: how many, how long and, where their sizes were recorded, how fast."""
    count = sum(k.dispatches for k in dag.kernels if k.is_copy)
    text = f"{count:,} cop{'ies' if count != 1 else 'y'} of {_time(dag.device.copy_sum_ns)} in all"
    copies = dag.anatomy.run.copies if dag.anatomy is not None else None
    if copies is not None and len(copies) and bool((copies.size_bytes > 0).all()):
        took = int((copies.end_ns - copies.start_ns).sum())
        if took:
            text += f", {int(copies.size_bytes.sum()) / took:.3g} GB/s"
    return text


_ALLOCATES = re.compile(r"Malloc|Free")
_PART_OF = {"copy_bound": "copies", "host_bound": "host"}


def _label(
    share: dict[str, float], stretch: Stretch, overhead: Overhead, scope: RunScope, paid: float
) -> RunLabel:
    rules = rule_set().run
    if scope == "run" and paid >= rules.kernel_share:
        return "start_up_bound"
    on_path = overhead.path_kernel_share >= rules.path_share
    if share["kernels"] >= (rules.kernel_share if on_path else rules.busy_share):
        alone = overhead.collective_share >= rules.kernel_share
        return "communication_bound" if alone else "kernel_bound"
    rest = {name: value for name, value in share.items() if name != "kernels"}
    largest = max(rest, key=lambda name: rest[name])
    host = rest["launch_gaps"] + rest["host"] + rest["synchronisation"]
    if largest == "unexplained" and rest["unexplained"] > host:
        return "device_idle"
    if largest == "copies" and rest["copies"] > host:
        return "copy_bound"
    if overhead.stalls():
        return "stall_bound"
    if largest == "copies":
        return "copy_bound"
    each_us = host * stretch.ns / max(stretch.operations, 1) / 1e3
    waits_each_time = (
        overhead.path_operations >= rules.few_operations
        and overhead.path_waits >= rules.sync_per_operation * overhead.path_operations
    )
    if waits_each_time and rest["host"] <= rest["launch_gaps"] + rest["synchronisation"]:
        return "synchronisation_bound"
    if rest["host"] == max(rest.values()) and each_us >= rules.host_us:
        return "host_bound"
    return "launch_bound"


def _confidence(
    label: RunLabel, share: dict[str, float], stretch: Stretch, overhead: Overhead, few: bool
) -> Confidence:
    rules = rule_set().run
    if label == "start_up_bound":
        return "medium"
    explained = 1 - share["unexplained"]
    if (few and label not in _BY_KERNELS) or (
        explained < rules.doubtful_coverage and label != "device_idle"
    ):
        return "low"
    named = label != "stall_bound" or any(gap.known for gap in stretch.gaps[:1])
    unknown_copies = any(part.share is None for part in stretch.parts)
    doubtful = explained < rules.sure_coverage or max(share.values()) < rules.sure_share
    if label in _BY_KERNELS:
        doubtful = overhead.path_kernel_share < rules.path_share
    if doubtful or not named or few or (unknown_copies and label not in _BY_KERNELS):
        return "medium"
    return "high"


def _evidence(
    dag: DagFinding,
    label: RunLabel,
    share: dict[str, float],
    stretch: Stretch,
    overhead: Overhead,
    scope: RunScope,
    one_time: Sequence[OneTime],
    few: bool,
) -> tuple[str, ...]:
    what = "run" if scope == "run" else f"{_time(stretch.ns)} without what is paid once"
    evidence = [
        f"a kernel runs {_percent(share['kernels'])} of the {what}, and the device is idle "
        f"{_percent(stretch.idle_share)}"
    ]
    if label == "start_up_bound":
        evidence += [one_time_sentence(s) for s in _largest(one_time)]
        evidence.append(f"{_operations(stretch.operations)} in all")
        return tuple(evidence)
    rest = {_WORDS[name]: value for name, value in share.items() if name != "kernels"}
    largest = max(rest, key=lambda words: rest[words])
    if label in _BY_KERNELS:
        if label == "communication_bound":
            alone = _percent(overhead.collective_share)
            evidence.append(f"kernels of collectives run with no others beside them {alone} of it")
        if rest[largest] >= 0.01:
            evidence.append(f"the next largest part: {largest}, {_percent(rest[largest])}")
        if overhead.path_kernel_share < rule_set().run.path_share:
            evidence.append(
                f"the host launches hardly faster than the kernels run: only "
                f"{_percent(overhead.path_kernel_share)} of the critical path is kernels, so much "
                "faster ones would wait for it"
            )
        return tuple(evidence)
    if label == "copy_bound":
        evidence.append(
            f"copies and the calls that block for them take {_percent(share['copies'])}, no kernel "
            f"beside them; the run has {_copied(dag)}"
        )
    elif label == "device_idle":
        evidence.append(f"{_percent(share['unexplained'])} has no recorded cause")
    elif label == "stall_bound":
        count = overhead.stalls()
        held = sum(overhead.idle[:count])
        numbers = "one gap holds" if count == 1 else f"{count} gaps hold"
        usual = overhead.rest_median_ns[overhead.stalls() - 1]
        others = f"; the median of the others is {_time(usual)}" if usual else ""
        evidence.append(
            f"{numbers} {_percent(held / overhead.idle_ns)} of the time without kernel or copy"
            f"{others}"
        )
    else:
        evidence += _rate(dag, label, share, stretch, overhead)
    # Gaps are named where they matter: a tenth of the whole, or the verdict.
    stalls = overhead.stalls() if label == "stall_bound" else 0
    evidence += [
        gap_sentence(gap)
        for place, gap in enumerate(stretch.gaps[:_SHOWN])
        if place < stalls or 10 * gap.ns >= stretch.ns
    ]
    if few:
        evidence.append(
            f"only {_operations(stretch.operations)}: what a run pays once is most of so short a "
            "one, and a longer run may look different"
        )
    return tuple(evidence)


def _rate(
    dag: DagFinding,
    label: RunLabel,
    share: dict[str, float],
    stretch: Stretch,
    overhead: Overhead,
) -> list[str]:
    operations = max(sum(k.dispatches for k in dag.kernels), 1)
    took = (dag.device.kernel_sum_ns + dag.device.copy_sum_ns) / operations / 1e3
    host = share["launch_gaps"] + share["host"] + share["synchronisation"]
    each = host * stretch.ns / max(stretch.operations, 1) / 1e3
    found = [
        f"{stretch.operations:,} operations of {took:.3g} us on average, and {each:.3g} us of idle "
        f"device for each: host code {_percent(share['host'])}, launch gaps "
        f"{_percent(share['launch_gaps'])}, synchronisation {_percent(share['synchronisation'])}"
    ]
    if share["kernels"] >= rule_set().run.kernel_share:
        found.append(
            "the host sets the pace all the same: only "
            f"{_percent(overhead.path_kernel_share)} of the critical path is kernels"
        )
    if label == "synchronisation_bound":
        found.append(
            f"the path passes {overhead.path_waits:,} waits for {overhead.path_operations:,} "
            "operations"
        )
    if dag.anatomy is not None and python_recorded(dag.anatomy.run):
        found.append("Python frames were recorded, which slows the host: its part is at most this")
    operators = [o for o in dag.host_operators if o.share >= 0.01][:3]
    if operators:
        shown = ", ".join(f"{o.name} {_percent(o.share)}" for o in operators)
        found.append(f"the host's time on the run's path by operator, callees aside: {shown}")
    if stretch.host_calls:
        shown = ", ".join(
            f"{c.name} {_time(c.total_ns)} in {c.calls:,}" for c in stretch.host_calls[:3]
        )
        found.append(f"the host calls that took longest there: {shown}")
    return found


def _missing(dag: DagFinding, stretch: Stretch) -> tuple[str, ...]:
    found = []
    if dag.scope == "device-only":
        found.append("host calls: without them (rocprofv3 --hip-trace) gaps have no known cause")
    regions = dag.anatomy.run.regions if dag.anatomy is not None else None
    if regions is not None and len(regions) and not (regions.name >= 0).any():
        found.append("names of the host calls: what waited, copied or loaded code is not told")
    if any(part.share is None for part in stretch.parts):
        found.append("copies: they were not recorded (rocprofv3 --memory-copy-trace)")
    return tuple(found)


def gap_sentence(gap: Culprit) -> str:
    where = f"{_time(gap.ns)} without a kernel at {_time(gap.start_ns)}"
    if gap.ended_by:
        where += f", until {_short(gap.ended_by)}"
    told = sentence(gap)
    if told:
        return f"{where}: {told}"
    return f"{where}: {_UNNAMED[gap.cause]}"


_UNNAMED = {
    "copies": "copies",
    "host": "in the host's own code, outside of every recorded call",
    "launch": "from the launch call to the kernel's start",
    "sync": "the host on its way back from a wait",
    "dependency": "between operations that follow each other",
    "unknown": "nothing recorded says why",
}


def one_time_sentence(stretch: OneTime) -> str:
    words = f"{PHASE_WORDS[stretch.kind]}: {_time(stretch.ns)}"
    culprit = stretch.culprit
    if stretch.kind == "first_use" and culprit is not None and culprit.ended_by:
        words = f"first launch of {_short(culprit.ended_by)}: {_time(stretch.ns)}"
        if stretch.later_ns is not None:
            usual = _time(stretch.later_ns) if stretch.later_ns else "none"
            words += f", against {usual} before its later ones"
    if stretch.copies_ns:
        words += f", copies {_time(stretch.copies_ns)} of it"
    if stretch.calls:
        calls = (
            f"{name} {_time(ns)}{f' in {count:,} calls' if count > 1 else ''}"
            for name, count, ns in stretch.calls
        )
        return f"{words} ({', '.join(calls)})"
    told = sentence(culprit) if culprit is not None else ""
    return f"{words}, {told}" if told else words


def _largest(one_time: Sequence[OneTime]) -> list[OneTime]:
    kept = sorted(one_time, key=lambda s: -s.ns)[:_SHOWN]
    return sorted(kept, key=lambda s: s.start_ns)


def _operations(count: int) -> str:
    return f"{count:,} operation{'s' * (count != 1)}"


def _short(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:57]}..."


def _time(ns: float) -> str:
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= scale:
            return f"{ns / scale:.3g} {unit}"
    return f"{ns:.3g} ns"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"
