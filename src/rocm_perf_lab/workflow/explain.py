"""What verdicts mean, as a document."""

from __future__ import annotations

import difflib

from rocm_perf_lab.analyze.rules import LABELS, Rule, RuleSet, rule_set
from rocm_perf_lab.errors import UsageError
from rocm_perf_lab.schema.arch import RuleTexts, RunRuleText, rule_text

UNKNOWN = (
    "No rule holds. Either the numbers the rules need were not measured (the verdict lists what "
    "is missing), or no unit is near its limit and waits do not dominate."
)


def rule_texts(name: str | None = None) -> RuleTexts:
    """All rules, those of one label, or one."""
    rules = rule_set()
    chosen = list(rules.rules) if name is None else _find(name, rules)
    return RuleTexts(
        stages=list(rules.stages),
        rules=[rule_text(rule, rules) for rule in chosen],
        run=[
            RunRuleText(label=label, meaning=text.meaning, next_steps=list(text.next_steps))
            for label, text in rules.run.texts.items()
            if name in (None, label)
        ],
    )


def _find(name: str, rules: RuleSet) -> list[Rule]:
    found = [r for r in rules.rules if name in (r.name, r.label)]
    if found or name == "unknown" or name in rules.run.texts:
        return found
    names = [*LABELS, *rules.run.texts, *(r.name for r in rules.rules)]
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}?" if near else "`rocm-perf explain` lists the rules"
    raise UsageError(f"no rule or label called {name}", hint=hint)
