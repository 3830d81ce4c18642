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


def find_proposer(
    wanted: Wanted, tell: Callable[[str], None], budget_s: float
) -> Callable[[Path], Proposer]:
    """A wrong name ends here, before there is a run. The proposer is made once the run has a
    folder, in which exchanges with a model are kept."""
    if wanted.name == "llm":
        from rocm_perf_lab.optimize.llm.endpoint import endpoint
        from rocm_perf_lab.optimize.llm.proposer import LlmProposer

        chosen = endpoint(wanted.model, wanted.base_url)
        return lambda record: LlmProposer(chosen, record=record, tell=tell, budget_s=budget_s)
    made = _without_record(wanted.name, tell, budget_s)
    return lambda _: made


def _without_record(name: str, tell: Callable[[str], None], budget_s: float) -> Proposer:
    if name == "rules":
        from rocm_perf_lab.optimize.rules import RulesProposer

        return RulesProposer()
    if name.startswith(REPLAY):
        from rocm_perf_lab.optimize.llm.proposer import LlmProposer

        return LlmProposer.replaying(Path(name.removeprefix(REPLAY)), tell, budget_s)
    if name.startswith(COMMAND):
        from rocm_perf_lab.optimize.command_proposer import CommandProposer

        return CommandProposer(name.removeprefix(COMMAND), tell)
    found = {entry.name: entry for entry in importlib.metadata.entry_points(group=GROUP)}
    if name in found:
        made: Proposer = found[name].load()()
        return made
    known = ", ".join(["rules", "llm", "command:PROGRAM", "replay:FOLDER", *sorted(found)])
    raise UsageError(f"no such proposer: {name}", hint=f"there are {known}")
