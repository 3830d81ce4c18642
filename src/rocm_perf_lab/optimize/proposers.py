"""Which proposer a name stands for."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab.errors import UsageError
from rocm_perf_lab.optimize.proposal import Proposer

GROUP = "rocm_perf_lab.proposers"  # entry points of plug-ins: a class or function without arguments
COMMAND, REPLAY = "command:", "replay:"


@dataclass(frozen=True)
class Wanted:
    name: str
    model: str | None = None
    base_url: str | None = None


def make_proposer(
    wanted: Wanted, tell: Callable[[str], None], budget_s: float, record: Path | None = None
) -> Proposer:
    """`record`: where an exchange with a model is kept."""
    if wanted.name == "rules":
        from rocm_perf_lab.optimize.rules import RulesProposer

        return RulesProposer()
    if wanted.name == "llm":
        from rocm_perf_lab.optimize.llm.endpoint import endpoint
        from rocm_perf_lab.optimize.llm.proposer import LlmProposer

        chosen = endpoint(wanted.model, wanted.base_url)
        return LlmProposer(chosen, record=record, tell=tell, budget_s=budget_s)
    if wanted.name.startswith(REPLAY):
        from rocm_perf_lab.optimize.llm.proposer import LlmProposer

        return LlmProposer.replaying(Path(wanted.name.removeprefix(REPLAY)), tell, budget_s)
    if wanted.name.startswith(COMMAND):
        from rocm_perf_lab.optimize.command_proposer import CommandProposer

        return CommandProposer(wanted.name.removeprefix(COMMAND), tell)
    found = {entry.name: entry for entry in importlib.metadata.entry_points(group=GROUP)}
    if wanted.name in found:
        made: Proposer = found[wanted.name].load()()
        return made
    known = ", ".join(["rules", "llm", "command:PROGRAM", "replay:FOLDER", *sorted(found)])
    raise UsageError(f"no such proposer: {wanted.name}", hint=f"there are {known}")
