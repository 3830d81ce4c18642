"""What `rocm-perf arch … --json` and `rocm-perf explain … --json` print."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm_perf_lab.analyze.rules import Condition, Confidence, Label, Rule, RuleSet, RunLabel
from rocm_perf_lab.arch.gpu import Gpu, Quantity, WaveLimits
from rocm_perf_lab.schema.common import Model, Versioned


class Sourced(Model):
    value: float
    unit: str
    kind: Literal["datasheet", "measured", "doc", "unchecked"]
    source: str


class Product(Model):
    name: str
    compute_units: int | None
    clock_mhz: float | None
    datasheet: dict[str, Sourced]
    measured: dict[str, Sourced]


class Architecture(Versioned):
    architecture: str
    family: str
    covers: list[str] = Field(description="architectures this file stands for")
    wave_limits: WaveLimits
    numbers: dict[str, Sourced]
    products: list[Product]


class ArchitectureLine(Model):
    architecture: str
    family: str
    covers: list[str]
    products: list[str]


class ArchitectureList(Versioned):
    architectures: list[ArchitectureLine]


class CheckResult(Versioned):
    files: int
    problems: list[str]


class RuleCondition(Model):
    metric: str
    meaning: str
    relation: str
    threshold: float
    unit: str


class RuleText(Model):
    rule: str
    label: Label
    stage: str
    meaning: str
    all: list[RuleCondition] = Field(description="every one must be known and true")
    any: list[RuleCondition] = Field(description="one of them must be known and true")
    unless: list[RuleCondition] = Field(description="none may be known and true")
    supports: list[RuleCondition] = Field(description="lower the confidence where not true")
    confidence: Confidence = Field(description="at best")
    next_steps: list[str]


class RunRuleText(Model):
    """What a verdict on a run as a whole means."""

    label: RunLabel
    meaning: str
    next_steps: list[str]


class RuleTexts(Versioned):
    stages: list[str]
    rules: list[RuleText]
    run: list[RunRuleText] = Field(default=[], description="verdicts on a run as a whole")


def sourced(numbers: dict[str, Quantity]) -> dict[str, Sourced]:
    return {name: Sourced.of(quantity) for name, quantity in numbers.items()}


def product(gpu: Gpu) -> Product:
    return Product.of(gpu, name=gpu.product or gpu.architecture, compute_units=gpu.cu_count)


def rule_text(rule: Rule, rules: RuleSet) -> RuleText:
    def shown(conditions: tuple[Condition, ...]) -> list[RuleCondition]:
        return [
            RuleCondition.of(c, meaning=rules.meanings[c.metric], unit=rules.units[c.metric])
            for c in conditions
        ]

    steps = [step.text.replace("{limiter}", "see below") for step in rule.next_steps]
    steps += [text.replace("{limiter}", name) for name, text in rule.limiter_steps.items()]
    return RuleText.of(
        rule,
        rule=rule.name,
        meaning=rule.meaning.replace("{level}", "level of memory nearest its ceiling"),
        all=shown(rule.all),
        any=shown(rule.any),
        unless=shown(rule.unless),
        supports=shown(rule.supports),
        next_steps=steps,
    )
