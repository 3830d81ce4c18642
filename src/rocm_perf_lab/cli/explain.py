"""`rocm-perf explain`: what a verdict means and which numbers lead to it."""

from __future__ import annotations

import difflib
import sys
import textwrap
from typing import Annotated

import typer

from rocm_perf_lab.analyze.rules import LABELS, Rule, RuleSet, rule_set
from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.errors import UsageError
from rocm_perf_lab.schema.arch import RuleCondition, RuleText, RuleTexts, RunRuleText, rule_text
from rocm_perf_lab.schema.common import to_json

EXAMPLES = examples(
    "rocm-perf explain",
    "rocm-perf explain memory_bandwidth_bound",
)

app = typer.Typer(add_completion=False, rich_markup_mode=None)

UNKNOWN = (
    "No rule holds. Either the numbers the rules need were not measured (the verdict lists what "
    "is missing), or no unit is near its limit and waits do not dominate."
)


@app.command(epilog=EXAMPLES)
def explain(
    rule: Annotated[
        str | None,
        typer.Argument(
            metavar="[RULE]",
            help="A label (memory_bandwidth_bound) or a rule of one. None: list them.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")] = False,
) -> None:
    """Explain a bottleneck verdict: its meaning, thresholds, evidence and what to do."""
    rules = rule_set()
    if rule == "unknown" and not json:
        print(_wrapped(f"unknown: {UNKNOWN}"))
        return
    chosen = list(rules.rules) if rule is None else _find(rule, rules)
    texts = [rule_text(r, rules) for r in chosen]
    of_run = [
        RunRuleText(label=label, meaning=text.meaning, next_steps=list(text.next_steps))
        for label, text in rules.run.texts.items()
        if rule in (None, label)
    ]
    if json:
        stages = list(rules.stages)
        sys.stdout.write(to_json(RuleTexts(stages=stages, rules=texts, run=of_run)))
    elif rule is None:
        print(_listing(rules))
    else:
        pages = [_run_page(text) for text in of_run] + [_page(text, rules) for text in texts]
        print("\n\n".join(pages))


def _find(name: str, rules: RuleSet) -> list[Rule]:
    found = [r for r in rules.rules if name in (r.name, r.label)]
    if found or name == "unknown" or name in rules.run.texts:
        return found
    names = [*LABELS, *rules.run.texts, *(r.name for r in rules.rules)]
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}?" if near else "`rocm-perf explain` lists the rules"
    raise UsageError(f"no rule or label called {name}", hint=hint)


def _listing(rules: RuleSet) -> str:
    lines = ["Stages are tried in order; the first with a rule that holds gives the verdict.", ""]
    for stage in rules.stages:
        lines.append(f"{stage}:")
        members = [r for r in rules.rules if r.stage == stage]
        lines += [f"  {r.name:24} {r.label}" for r in members]
    run = [f"  {label}" for label in rules.run.texts]
    return "\n".join(
        [*lines, "", "otherwise:", f"  {'(no rule)':24} unknown", "", "of a run as a whole:", *run]
    )


def _run_page(text: RunRuleText) -> str:
    steps = [_wrapped(f"- {step}", "  ") for step in text.next_steps]
    return "\n".join(
        [f"{text.label}: of a run", "", _wrapped(text.meaning), "", "What to do:", *steps]
    )


def _page(text: RuleText, rules: RuleSet) -> str:
    place = f"stage {rules.stages.index(text.stage) + 1} of {len(rules.stages)}, {text.stage}"
    lines = [f"{text.label}: rule {text.rule} ({place})", "", _wrapped(text.meaning), ""]
    for title, conditions in (
        ("Holds if all of", text.all),
        ("and one of" if text.all else "Holds if one of", text.any),
        ("unless", text.unless),
        (f"Confidence {text.confidence} at best; one step lower for each not true", text.supports),
    ):
        if conditions:
            lines += [f"{title}:", *(_condition(c) for c in conditions)]
    lines += ["", "What to do:", *(_wrapped(f"- {step}", "  ") for step in text.next_steps)]
    return "\n".join(lines)


def _condition(c: RuleCondition) -> str:
    unit = "" if c.unit == "1" else f" {c.unit}"
    return f"  {c.metric} {c.relation} {c.threshold:g}{unit}\n" + _wrapped(c.meaning, "      ")


def _wrapped(text: str, indent: str = "") -> str:
    hanging = indent + ("  " if text.startswith("- ") else "")
    return textwrap.fill(text, 88, initial_indent=indent, subsequent_indent=hanging)
