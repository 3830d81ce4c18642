"""`rocm-perf explain`: what a verdict means and which numbers lead to it."""

from __future__ import annotations

import sys
import textwrap
from typing import Annotated

import typer

from rocm_perf_lab.analyze.rules import RuleSet, rule_set
from rocm_perf_lab.cli.help import examples
from rocm_perf_lab.cli.options import Json
from rocm_perf_lab.schema.arch import RuleCondition, RuleText, RunRuleText
from rocm_perf_lab.schema.common import to_json
from rocm_perf_lab.workflow.explain import UNKNOWN, rule_texts

EXAMPLES = examples(
    "rocm-perf explain",
    "rocm-perf explain memory_bandwidth_bound",
)

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog=EXAMPLES)
def explain(
    rule: Annotated[
        str | None,
        typer.Argument(
            metavar="[RULE]",
            help="A label (memory_bandwidth_bound) or a rule of one. None: list them.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Explain a bottleneck verdict: its meaning, thresholds, evidence and what to do."""
    if rule == "unknown" and not json:
        print(_wrapped(f"unknown: {UNKNOWN}"))
        return
    texts = rule_texts(rule)
    if json:
        sys.stdout.write(to_json(texts))
    elif rule is None:
        print(_listing(rule_set()))
    else:
        pages = [_run_page(text) for text in texts.run]
        pages += [_page(text, texts.stages) for text in texts.rules]
        print("\n\n".join(pages))


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


def _page(text: RuleText, stages: list[str]) -> str:
    place = f"stage {stages.index(text.stage) + 1} of {len(stages)}, {text.stage}"
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
