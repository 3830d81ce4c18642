"""Answers from outside (a model, a program) into proposals. They are hostile until guarded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from rocm_perf_lab.optimize.proposal import Context, Proposal
from rocm_perf_lab.schema.prompt import (
    MAX_KERNEL_TEXT,
    AnswerDocument,
    AnswerProposal,
    PromptDocument,
    PromptRepair,
)

MAX_ANSWER_BYTES = 4 << 20
MAX_DIAGNOSTICS = 20_000
_FENCE = re.compile(r"^\s*```[a-zA-Z]*\n(.*?)\n?```\s*$", re.DOTALL)


class NotAnAnswer(Exception):
    """The text is not what was asked for; the message says what is wrong with it."""


def parse_answer(text: str) -> AnswerDocument:
    """JSON as the schema has it, with or without a Markdown fence around it."""
    fenced = _FENCE.match(text)
    try:
        data = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError) as error:
        raise NotAnAnswer(f"not JSON: {str(error)[:200]}") from None
    try:
        return AnswerDocument.model_validate(data)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:5]]
        raise NotAnAnswer("; ".join(problems)) from None


def to_proposals(
    answer: AnswerDocument, context: Context, proposer: str, provenance: Mapping[str, str]
) -> Iterator[Proposal]:
    for number, item in enumerate(answer.proposals[: context.prompt.max_proposals], 1):
        yield to_proposal(item, context, proposer, {**provenance, "number": str(number)})


def to_proposal(
    item: AnswerProposal, context: Context, proposer: str, provenance: Mapping[str, str]
) -> Proposal:
    # A lone half of a pair is valid JSON but no text; the guard would refuse what cannot be
    # written down.
    kernel = item.kernel.strip().encode("utf-8", "replace").decode()
    return Proposal(
        source=context.extent.splice(context.source, kernel),
        title=shown(item.title),
        rationale=shown(item.rationale),
        policy=context.policy,
        proposer=proposer,
        provenance=dict(provenance),
    )


def shown(text: str) -> str:
    """Safe to print: one line, no control characters that a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in text).strip()


def repair_prompt(
    context: Context, failed: Proposal, diagnostics: str, round_number: int
) -> PromptDocument:
    begin, tail = context.extent.begin, len(context.source.encode()) - context.extent.end
    data = failed.source.encode("utf-8", "replace")
    kernel = data[begin : len(data) - tail].decode("utf-8", "replace")
    folder = str(context.path.parent)
    return context.prompt.model_copy(
        update={
            "repair": PromptRepair(
                round=round_number,
                title=failed.title,
                kernel=kernel[:MAX_KERNEL_TEXT],
                # Where files lie on this machine is not for others to know.
                diagnostics=diagnostics.replace(f"{folder}/", "")[:MAX_DIAGNOSTICS],
            ),
            "max_proposals": 1,
        }
    )
