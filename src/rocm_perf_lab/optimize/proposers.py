"""Which proposer a name stands for."""

from __future__ import annotations

import importlib.metadata

from rocm_perf_lab.errors import UsageError
from rocm_perf_lab.optimize.proposal import Proposer

GROUP = "rocm_perf_lab.proposers"  # entry points of plug-ins


def make_proposer(name: str, *, model: str | None = None, base_url: str | None = None) -> Proposer:
    if name == "rules":
        from rocm_perf_lab.optimize.rules import RulesProposer

        return RulesProposer()
    found = {entry.name: entry for entry in importlib.metadata.entry_points(group=GROUP)}
    if name in found:
        made: Proposer = found[name].load()()
        return made
    raise UsageError(f"no such proposer: {name}", hint=f"there are {', '.join(['rules', *found])}")
