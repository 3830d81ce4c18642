"""One thing a rule would try: edits, and why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rocm_perf_lab.optimize.rules.edits import Edit
from rocm_perf_lab.optimize.rules.kernel_tree import KernelTree, Loop
from rocm_perf_lab.schema.prompt import PromptDocument


@dataclass(frozen=True)
class Idea:
    rule: str
    title: str
    rationale: str
    edits: tuple[Edit, ...]
    details: Mapping[str, str] = field(default_factory=dict)
    changes_rounding: bool = False

    def joined(self, other: Idea) -> Idea:
        return Idea(
            rule=f"{self.rule}+{other.rule}",
            title=f"{self.title}; {other.title}",
            rationale=f"{self.rationale} {other.rationale}",
            edits=(*self.edits, *other.edits),
            details={**self.details, **other.details},
            changes_rounding=self.changes_rounding or other.changes_rounding,
        )


def hot_share(prompt: PromptDocument, loop: Loop) -> float:
    """The loop's share of stalled cycles, by the source lines of the thread trace."""
    total = 0.0
    for site in prompt.measurement.stall_sites:
        places = [site.source, *(wait.source for wait in site.waits_for)]
        if any(_within(place, prompt.kernel.file, loop) for place in places):
            total += site.share
    return total


def _within(place: str | None, file: str, loop: Loop) -> bool:
    match = re.fullmatch(r"(.*?):(\d+)(?::\d+)?", place or "")
    return (
        match is not None
        and match[1].rpartition("/")[2] == file
        and loop.first_line <= int(match[2]) <= loop.last_line
    )


def fresh(tree: KernelTree, wanted: str) -> str:
    """A name the kernel does not use."""
    name, number = wanted, 2
    while name in tree.names:
        name, number = f"{wanted}{number}", number + 1
    return name
