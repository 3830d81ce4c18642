"""What limits a kernel: the fixed rule set of rules.toml over what was measured of it.

Numbers that are not known are None with a reason; a rule never fires on a number it does not
have, and a kernel no rule can speak about is `unknown`, with what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rocm_perf_lab.analyze.rules import Condition, Confidence, Label, Rule, RuleSet, rule_set

ATT = "thread trace"
_RELATIONS = {">=": "at least", ">": "above", "<=": "at most", "<": "below"}
_LOOK = "Look at the lines that lost most: `stall_sites` of thread_trace.json."
_LISTED = 3  # of what is not known for one reason
_LIMITERS = {
    "vgpr": "registers per lane",
    "sgpr": "scalar registers per wave",
    "lds": "LDS per workgroup",
    "workgroup": "the workgroup's size",
}
_STEPS: tuple[Confidence, ...] = ("high", "medium", "low")


@dataclass(frozen=True)
class Number:
    """A measured number and where it comes from: counters, a trace, an architecture file."""

    value: float | None
    source: str
    reason: str | None = None
    peak: float | None = None  # over the datasheet's peak, where `value` is over another ceiling
    peak_of: str = "its peak"


@dataclass(frozen=True)
class KernelEvidence:
    """What is known of one kernel, by the metric names of rules.toml. Shares are 0..1."""

    numbers: Mapping[str, Number] = field(default_factory=dict)
    limiter: str | None = None  # of theoretical occupancy
    level: str = "memory"  # the level of memory nearest its ceiling, in words
    lost: str | None = None  # what a thread trace shows waves lose most of their time to

    def value(self, metric: str) -> float | None:
        number = self.numbers.get(metric)
        return number.value if number else None


@dataclass(frozen=True)
class Evidence:
    """One condition looked at: the number, what it was compared with, and where it comes from."""

    metric: str
    words: str
    value: float | None
    unit: str
    relation: str
    threshold: float
    holds: bool | None  # None: not known
    source: str
    reason: str | None = None

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.words} not known: {self.reason}"
        if self.unit == "flag":
            return f"{'' if self.value else 'not '}{self.words} ({self.source})"
        limit = f"{_RELATIONS[self.relation]} {quantity(self.threshold, self.unit)}"
        compared = limit if self.holds else f"not {limit}"
        return f"{self.words} {quantity(self.value, self.unit)} ({compared}; {self.source})"


def quantity(value: float, unit: str) -> str:
    """A share as a percentage, anything else with its unit."""
    return f"{100 * value:.3g} %" if unit == "1" else f"{value:.3g} {unit}"


@dataclass(frozen=True)
class Verdict:
    label: Label
    rule: str | None
    confidence: Confidence
    meaning: str
    evidence: tuple[Evidence, ...]
    next_steps: tuple[str, ...]
    also: tuple[str, ...] = ()  # rules of the same stage that hold as well
    missing: tuple[str, ...] = ()  # what was not measured and would have told more, in sentences
    just_missed: str | None = None  # the metric that decided although it misses its threshold
    doubts: tuple[str, ...] = ()  # why the thread trace may not stand for the kernel


def doubted(verdict: Verdict, evidence: KernelEvidence, reasons: Mapping[str, int]) -> Verdict:
    """With doubts about the thread trace, by the steps of confidence each costs a verdict on it."""
    rule = next((r for r in rule_set().rules if r.name == verdict.rule), None)
    steps = sum(reasons.values())
    numbers = [evidence.numbers.get(c.metric) for c in (*rule.all, *rule.any)] if rule else []
    if steps and any(number is not None and ATT in number.source for number in numbers):
        at = min(_STEPS.index(verdict.confidence) + steps, len(_STEPS) - 1)
        verdict = replace(verdict, confidence=_STEPS[at])
    return replace(verdict, doubts=tuple(reasons))


def judge(evidence: KernelEvidence, rules: RuleSet | None = None) -> Verdict:
    """The verdict of the first stage in which a rule holds."""
    rules = rules or rule_set()
    for stage in rules.stages:
        holding = [
            (rank, rule)
            for index, rule in enumerate(rules.rules)
            if rule.stage == stage and (rank := _rank(rule, evidence, index)) is not None
        ]
        if holding:
            holding.sort(key=lambda pair: pair[0])
            winner = holding[0][1]
            others = tuple(rule.name for _, rule in holding[1:] if rule.label != winner.label)
            return _verdict(winner, evidence, rules, others)
    return _nearly(evidence, rules) or _unknown(evidence, rules)


def _nearly(evidence: KernelEvidence, rules: RuleSet) -> Verdict | None:
    """The verdict of the rule that comes nearest, if its deciding share misses by a hair only."""
    found: list[tuple[float, int, Rule]] = []
    for index, rule in enumerate(rules.rules):
        missed = [c for c in rule.all if c.metric == rule.decides and not _holds(c, evidence)]
        value = evidence.value(rule.decides)
        if len(missed) != 1 or value is None or rule.stage not in rules.near_stages:
            continue
        relaxed = replace(rule, all=tuple(c for c in rule.all if c is not missed[0]))
        excess = missed[0].excess(value)
        near = rules.units[rule.decides] == "1" and excess >= 1 - rules.near_miss
        if near and _rank(relaxed, evidence, index) is not None:
            found.append((-excess, index, rule))
    if not found:
        return None
    verdict = _verdict(min(found)[2], evidence, rules, ())
    hair = "No rule holds; this one's deciding number misses its threshold by a hair."
    return replace(
        verdict,
        confidence="low",
        meaning=f"{verdict.meaning} {hair}",
        just_missed=min(found)[2].decides,
    )


def _rank(rule: Rule, evidence: KernelEvidence, index: int) -> tuple[float, ...] | None:
    """None if the rule does not hold; else its place in the stage, smallest first."""
    if not all(_holds(c, evidence) for c in rule.all):
        return None
    if rule.any and not any(_holds(c, evidence) for c in rule.any):
        return None
    if any(_holds(c, evidence) for c in rule.unless):
        return None
    if rule.order is not None:
        return (rule.order, index)
    return (0, -_excess(rule, evidence), index)


def _holds(condition: Condition, evidence: KernelEvidence) -> bool:
    value = evidence.value(condition.metric)
    return value is not None and condition.holds(value)


def _excess(rule: Rule, evidence: KernelEvidence) -> float:
    deciding = (
        rule.any if rule.decides == "any" else [c for c in rule.all if c.metric == rule.decides]
    )
    known = [(c, v) for c in deciding if (v := evidence.value(c.metric)) is not None]
    return max((c.excess(v) for c, v in known), default=1.0)


def _verdict(
    rule: Rule, evidence: KernelEvidence, rules: RuleSet, also: tuple[str, ...]
) -> Verdict:
    steps = _STEPS.index(rule.confidence)
    steps += sum(1 for c in rule.supports if not _holds(c, evidence))
    steps += _excess(rule, evidence) < rules.clear_margin
    decisive = [*rule.all, *(c for c in rule.any if _holds(c, evidence))]
    shown = [*decisive, *rule.supports, *rule.unless]
    return Verdict(
        label=rule.label,
        rule=rule.name,
        confidence=_STEPS[min(steps, len(_STEPS) - 1)],
        meaning=rule.meaning.replace("{level}", evidence.level),
        evidence=tuple(_shown(c, evidence, rules) for c in shown),
        next_steps=_next_steps(rule, evidence),
        also=also,
        missing=_would_add(rule, evidence),
    )


def _would_add(rule: Rule, evidence: KernelEvidence) -> tuple[str, ...]:
    """What counters would tell, where there are none and a thread trace decides."""
    deciding = evidence.numbers.get(rule.decides)
    counted = evidence.value("memory_fraction") is not None
    if rule.counters_add is None or counted or deciding is None or ATT not in deciding.source:
        return ()
    return (f"counters would tell {rule.counters_add}",)


def _shown(condition: Condition, evidence: KernelEvidence, rules: RuleSet) -> Evidence:
    number = evidence.numbers.get(condition.metric, Number(None, "", "not measured"))
    return Evidence(
        metric=condition.metric,
        words=rules.words[condition.metric],
        value=number.value,
        unit=rules.units[condition.metric],
        relation=condition.relation,
        threshold=condition.threshold,
        holds=None if number.value is None else condition.holds(number.value),
        source=number.source,
        reason=number.reason,
    )


def _next_steps(rule: Rule, evidence: KernelEvidence) -> tuple[str, ...]:
    limiter = evidence.limiter or "an unknown resource"
    named = _LIMITERS.get(limiter, limiter)
    what = rule.limiter_steps.get(limiter, named).replace("{limiter}", limiter)
    fitting = [
        step.text
        for step in rule.next_steps
        if all(_holds(c, evidence) for c in step.when)
        and not any(_holds(c, evidence) for c in step.unless)
    ]
    # Only a thread trace tells that a step would not help.
    return tuple(text.replace("{limiter}", what) for text in fitting) or (_LOOK,)


def _unknown(evidence: KernelEvidence, rules: RuleSet) -> Verdict:
    """Nothing holds: either numbers are missing, or the kernel is limited by no one thing."""
    missing: dict[str, list[str]] = {}  # reason -> what is not known for it
    # With counters, a thread trace is the next step; not having one is no gap in the evidence.
    counted = evidence.value("memory_fraction") is not None
    for rule in (r for r in rules.rules if not (counted and r.counters_add)):
        for metric in dict.fromkeys(_undecided(rule, evidence)):
            number = evidence.numbers.get(metric)
            why = (number.reason if number else None) or "not measured"
            missing.setdefault(why, []).append(rules.words[metric])
    looked_at = [
        _shown(c, evidence, rules)
        for c in _decisive_conditions(rules)
        if evidence.value(c.metric) is not None
    ]
    traced = bool(evidence.value("traced"))
    if missing:
        meaning = "No rule holds, and not every rule could be decided with what was measured."
    else:
        meaning = (
            "No single limit stands out: no unit is near its ceiling and waits do not dominate."
        )
    if evidence.lost:
        meaning += f" Where the waves lose most time: {evidence.lost}."
    steps: list[str] = []
    if missing and not counted:
        other = "" if traced else ", or a thread trace (--att)"
        waits = evidence.numbers.get("wait_share", Number(None, ATT))
        what = "counters (rocm-perf profile without --no-counters)"
        if waits.value is not None and ATT not in waits.source:
            what = "the counters that are missing"
        steps.append(f"Collect {what}{other}.")
    elif not traced:
        steps.append("Record a thread trace (--att): it shows where waves spend their time.")
    if traced:
        steps.append(_LOOK)
    return Verdict(
        label="unknown",
        rule=None,
        confidence="none",
        meaning=meaning,
        evidence=tuple(looked_at),
        next_steps=tuple(steps),
        missing=tuple(f"{why}: {_listed(words)} not known" for why, words in missing.items()),
    )


def _listed(words: list[str]) -> str:
    """The first of them: what matters is the reason they share."""
    distinct = list(dict.fromkeys(words))
    more = len(distinct) - _LISTED
    return ", ".join(distinct[:_LISTED]) + (f" and {more} more" if more > 0 else "")


def _undecided(rule: Rule, evidence: KernelEvidence) -> list[str]:
    """The numbers a rule lacks, if nothing known rules it out already."""

    def unknown(conditions: tuple[Condition, ...]) -> list[str]:
        return [c.metric for c in conditions if evidence.value(c.metric) is None]

    open_any = unknown(rule.any)
    false = [c for c in rule.all if c.metric not in unknown(rule.all) and not _holds(c, evidence)]
    if false or any(_holds(c, evidence) for c in rule.unless) or (rule.any and not open_any):
        return []
    return [*unknown(rule.all), *open_any]


def _decisive_conditions(rules: RuleSet) -> list[Condition]:
    seen: dict[str, Condition] = {}
    for rule in rules.rules:
        for condition in (*rule.all, *rule.any):
            seen.setdefault(condition.metric, condition)
    return list(seen.values())
