"""Wrong kernels of the catalogue for whole programs: edits of the honest kernel beside each."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from support.proposal_runs import PROGRAMS, Offer, honest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLES = ("programs.toml", "further.toml")
COMPARING = {"result_check", "output_check"}
BEFORE = {"static_guard", "promise_guard", "compile", "code_guard", "resource_guard"}
# Who may refuse what the catalogue gives a stage.
STAGES = {
    "static": {"static_guard"},
    "results": COMPARING | BEFORE,
    "any": COMPARING | BEFORE | {"gate", "end_to_end"},
}


@dataclass(frozen=True)
class WrongKernel:
    name: str
    kind: str  # the class it stands for
    program: str
    stage: str
    offer: Offer


def wrong_kernels() -> Mapping[str, list[WrongKernel]]:
    """By program."""
    found: dict[str, list[WrongKernel]] = {}
    texts = (PROGRAMS.with_name(name).read_text("utf-8") for name in TABLES)
    for raw in (raw for text in texts for raw in tomllib.loads(text)["proposal"]):
        text = honest(raw["program"]).kernel
        for find, new in raw["edits"]:
            assert find in text, raw["name"]
            text = text.replace(find, new, 1)
        title = f"{raw['class']}: {raw['name']}"
        made = WrongKernel(
            raw["name"], raw["class"], raw["program"], raw["stage"], Offer(title, text)
        )
        found.setdefault(made.program, []).append(made)
    return found
