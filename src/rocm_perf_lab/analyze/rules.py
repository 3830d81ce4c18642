"""The rule set of the verdicts, as written in rules.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal, cast, get_args

from rocm_perf_lab.arch.load import parse

Label = Literal[
    "memory_bandwidth_bound",
    "latency_bound",
    "under_occupied",
    "divergence_limited",
    "compute_throughput_limited",
    "lds_bound",
    "vector_memory_issue_bound",
    "barrier_bound",
    "instruction_fetch_bound",
    "instruction_issue_bound",
    "communication_bound",
    "launch_bound",
    "unknown",
]
LABELS: tuple[Label, ...] = get_args(Label)
# Of a whole run; device_idle: the device waits and the trace does not say for what.
RunLabel = Literal[
    "kernel_bound",
    "communication_bound",
    "launch_bound",
    "copy_bound",
    "synchronisation_bound",
    "host_bound",
    "stall_bound",
    "start_up_bound",
    "device_idle",
]
Relation = Literal["<", "<=", ">", ">="]
Confidence = Literal["high", "medium", "low", "none"]


@dataclass(frozen=True)
class Condition:
    metric: str
    relation: Relation
    threshold: float

    def holds(self, value: float) -> bool:
        return {
            "<": value < self.threshold,
            "<=": value <= self.threshold,
            ">": value > self.threshold,
            ">=": value >= self.threshold,
        }[self.relation]

    def excess(self, value: float) -> float:
        """How far beyond the threshold, 1 at it: value over threshold, or the other way round."""
        if self.relation in (">", ">="):
            return value / self.threshold if self.threshold else 1.0
        return self.threshold / value if value > 0 else float("inf")


@dataclass(frozen=True)
class Step:
    """Something to try: where every condition of `when` is known and true, and none of `unless`."""

    text: str
    when: tuple[Condition, ...] = ()
    unless: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Rule:
    name: str
    label: Label
    stage: str
    meaning: str
    all: tuple[Condition, ...]
    any: tuple[Condition, ...]
    unless: tuple[Condition, ...]
    supports: tuple[Condition, ...]
    decides: str  # the metric whose excess ranks the rule; "any": the largest of `any`
    order: int | None  # fixed place in its stage, instead of a rank by excess
    confidence: Confidence
    next_steps: tuple[Step, ...]
    limiter_steps: Mapping[str, str]
    counters_add: str | None
    gain: Mapping[str, str]  # "roof", "fills", "removes" … -> the metric that bounds what is gained

    @property
    def metrics(self) -> tuple[str, ...]:
        steps = [c for step in self.next_steps for c in (*step.when, *step.unless)]
        every = (*self.all, *self.any, *self.unless, *self.supports, *steps)
        return tuple(dict.fromkeys((*(c.metric for c in every), *self.gain.values())))


@dataclass(frozen=True)
class RunText:
    meaning: str
    found: str  # the same with {numbers} of a run
    next_steps: tuple[str, ...]


@dataclass(frozen=True)
class RunRules:
    """When the run itself gets the verdict; rules.toml says what each number means."""

    kernel_share: float
    busy_share: float
    path_share: float
    few_operations: float
    few_stalls: float
    stall_share: float
    sync_per_operation: float
    host_us: float
    sure_share: float
    sure_coverage: float
    doubtful_coverage: float
    many_copies: float
    small_copy_us: float
    one_time_share: float
    one_time_us: float
    one_time_ratio: float
    round_ratio: float
    steady_operations: float
    texts: Mapping[RunLabel, RunText]
    call_steps: Mapping[str, str]  # by how a call's name begins after hip or cuda
    steps: Mapping[str, str]  # that some verdicts add, by when


@dataclass(frozen=True)
class RuleSet:
    stages: tuple[str, ...]
    clear_margin: float
    near_miss: float
    near_stages: tuple[str, ...]
    units: Mapping[str, str]
    words: Mapping[str, str]  # what a metric is called in a sentence
    meanings: Mapping[str, str]
    rules: tuple[Rule, ...]
    run: RunRules


@cache
def rule_set() -> RuleSet:
    path = resources.files("rocm_perf_lab.analyze") / "rules.toml"
    data = parse(path.read_text(encoding="utf-8"))
    metrics = data["metrics"]
    return RuleSet(
        stages=tuple(data["stages"]),
        clear_margin=float(data["clear_margin"]),
        near_miss=float(data["near_miss"]),
        near_stages=tuple(data["near_stages"]),
        units={name: m["unit"] for name, m in metrics.items()},
        words={name: m["words"] for name, m in metrics.items()},
        meanings={name: m["meaning"] for name, m in metrics.items()},
        rules=tuple(_rule(name, entry) for name, entry in data["rules"].items()),
        run=_run(data["run"]),
    )


def _run(entry: dict[str, Any]) -> RunRules:
    texts = {
        label: RunText(
            text["meaning"], text.get("found", text["meaning"]), tuple(text["next_steps"])
        )
        for label, text in ((label, entry["texts"][label]) for label in get_args(RunLabel))
    }
    numbers = {name: float(v) for name, v in entry.items() if not isinstance(v, dict)}
    return RunRules(texts=texts, call_steps=entry["call_steps"], steps=entry["steps"], **numbers)


def _rule(name: str, entry: dict[str, Any]) -> Rule:
    label = entry["label"]
    if label not in LABELS:
        raise ValueError(f"rules.toml: {name} has label {label}")
    return Rule(
        name=name,
        label=cast(Label, label),
        stage=entry["stage"],
        meaning=entry["meaning"],
        all=_conditions(entry, "all"),
        any=_conditions(entry, "any"),
        unless=_conditions(entry, "unless"),
        supports=_conditions(entry, "supports"),
        decides=entry["decides"],
        order=entry.get("order"),
        confidence=entry["confidence"],
        next_steps=tuple(map(_step, entry["next_steps"])),
        limiter_steps=entry.get("limiter_steps", {}),
        counters_add=entry.get("counters_add"),
        gain=entry["gain"],
    )


def _step(entry: str | dict[str, Any]) -> Step:
    if isinstance(entry, str):
        return Step(entry)
    return Step(entry["step"], _conditions(entry, "when"), _conditions(entry, "unless"))


def _conditions(entry: dict[str, Any], key: str) -> tuple[Condition, ...]:
    return tuple(
        Condition(c["metric"], c["relation"], float(c["threshold"])) for c in entry.get(key, ())
    )
