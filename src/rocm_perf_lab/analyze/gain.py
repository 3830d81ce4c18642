"""What mending the limit of a verdict would gain at most, and why not more.

Each bound is one that nothing measured contradicts: a unit does not go beyond its peak, a share of
the time that is gone cannot be gone twice, and the run keeps what the kernel is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from rocm_perf_lab.analyze.bottleneck import ATT, KernelEvidence
from rocm_perf_lab.analyze.graph import DagFinding, KernelOnGraph
from rocm_perf_lab.analyze.rules import Rule, rule_set

_ALL = 0.995  # a share of more than this leaves nothing to divide by
_NOTHING = 1e-6  # of a unit's ceiling: as good as unused, and no bound
_PEAK = "peak_utilisation"


@dataclass(frozen=True)
class Gain:
    kernel_at_most: float | None = field(
        metadata={"description": "times as fast; null: what was measured sets no bound"}
    )
    run_at_most: float | None = field(
        metadata={"description": "the whole run, if the kernel gained that; null: no graph of it"}
    )
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class OnRun:
    """A kernel on the graph of its run."""

    kernel: KernelOnGraph
    makespan_ns: int


def on_run(dag: DagFinding | None) -> dict[str, OnRun]:
    """By kernel name; empty without a graph that spans some time."""
    if dag is None or dag.makespan_ns <= 0:
        return {}
    kernels = [k for k in dag.kernels if not k.is_copy and k.what_if]
    return {k.name: OnRun(k, dag.makespan_ns) for k in kernels}


def at_most(rule: Rule | None, evidence: KernelEvidence, own: OnRun | None) -> Gain:
    """`rule` is the one that decided; None: the busiest unit bounds the gain, if all are known."""
    gain = rule.gain if rule is not None else {"roof": _PEAK}
    if "hides" in gain:
        run_gain, why = _of_run(None, own)
        return Gain(None, run_gain, ("wholly beside other work it would cost no time", why))
    if "gaps" in gain:
        share = min(evidence.value(gain["gaps"]) or 0.0, _ALL)
        said = f"its launches, with no {rule_set().words[gain['gaps']]}: {1 / (1 - share):.3g}x"
        return Gain(None, None, (said, "what the run would gain, its own verdict says"))
    no_bound = (None, "what was measured sets no bound on the kernel's own gain")
    kernel_gain, reason = min(_bounds(rule, gain, evidence), default=no_bound)
    run_gain, why = _of_run(kernel_gain, own)
    return Gain(kernel_gain, run_gain, (reason, why))


def _bounds(
    rule: Rule | None, gain: Mapping[str, str], evidence: KernelEvidence
) -> list[tuple[float, str]]:
    # Of units that were not looked at, the busiest known is no bound worth saying.
    if rule is None and evidence.value("memory_fraction") is None:
        return []
    found = []
    if "roof" in gain:
        found += _roof(gain["roof"], evidence)
    if "fills" in gain or "removes" in gain:
        found += _less(gain, evidence)
        busiest = evidence.numbers.get(_PEAK)
        # A thread trace sees units with waves only: of a device half idle it says too much.
        if "fills" not in gain or (busiest is not None and ATT not in busiest.source):
            found += _roof(_PEAK, evidence)
    return found


def _roof(metric: str, evidence: KernelEvidence) -> list[tuple[float, str]]:
    number = evidence.numbers.get(metric)
    if number is None or not number.value or number.value < _NOTHING:
        return []
    used = min(max(number.peak or number.value, _NOTHING), 1.0)
    what = rule_set().words[metric]
    if metric == _PEAK:
        what += f" ({number.source.partition(',')[0]})" if number.source else ""
    most = f"{1 / used:.3g}x, same work"
    if number.peak is None:
        return [(1 / used, f"{what} at {100 * used:.3g} % of its ceiling: {most}")]
    nearer = ""
    if used < number.value < 1:
        nearer = f"{100 * number.value:.3g} % of the ceiling measured ({1 / number.value:.3g}x), "
    return [(1 / used, f"{what} at {nearer}{100 * used:.3g} % of {number.peak_of}: {most}")]


def _less(gain: Mapping[str, str], evidence: KernelEvidence) -> list[tuple[float, str]]:
    """Idle units filled, and a share of the waves' time gone."""
    words = rule_set().words
    factor, said = 1.0, []
    fill = evidence.value(gain["fills"]) if "fills" in gain else None
    if fill is not None and 0 < fill < 1:
        factor /= fill
        said.append(f"every compute unit at work: {1 / fill:.3g}x")
    share = evidence.value(gain["removes"]) if "removes" in gain else None
    if share is not None and share > _ALL:
        return []
    if share is not None and share > 0:
        factor /= 1 - share
        said.append(f"no {words[gain['removes']]} ({100 * share:.3g} %): {1 / (1 - share):.3g}x")
    return [(factor, " and ".join(said))] if said else []


def _at_least(known: Mapping[float, float], left: float) -> float:
    """The least the run takes if `left` of the kernel's time is left, of what is known for others.

    The longest path is a convex function of a kernel's time: it lies above the lines through any
    two points that do not have `left` between them, and it never falls as the kernel gets longer.
    """
    if left in known:
        return known[left]
    points = sorted(known.items())
    bounds = [max((took for share, took in points if share <= left), default=0.0)]
    for (a, low), (b, high) in pairwise(points):
        if not a < left < b:
            bounds.append(low + (high - low) / (b - a) * (left - a))
    return max(bounds)


def _of_run(kernel_gain: float | None, own: OnRun | None) -> tuple[float | None, str]:
    if own is None:
        return None, "no graph of the run says what of that the run would gain"
    known = {1 / w.speedup if w.speedup else 0.0: w.makespan_ns for w in own.kernel.what_if}
    left = 1 / kernel_gain if kernel_gain is not None else 0.0
    shortest = _at_least({**known, 1.0: own.makespan_ns}, left)
    if shortest <= 0:
        return kernel_gain, "the run is this kernel"
    times = max(min(own.makespan_ns / shortest, kernel_gain or float("inf")), 1.0)
    share = own.kernel.makespan_share
    part = f"the kernel is {100 * share:.3g} % of the run's path: " if share is not None else ""
    return times, f"{part}{times:.3g}x for the run"
