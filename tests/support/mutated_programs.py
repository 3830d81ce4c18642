"""Mutants of the catalogue's programs, and what becomes of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.mutate import Kernel, Mutant, sample
from support.proposal_runs import PROGRAMS as FOLDER
from support.proposal_runs import Fate, Offer, honest, judged

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_TABLE: dict[str, Any] = tomllib.loads(FOLDER.with_name("mutants.toml").read_text("utf-8"))
PROGRAMS = tuple(_TABLE)


@dataclass(frozen=True)
class Tally:
    program: str
    mutants: Sequence[Mutant]
    fates: Sequence[Fate]
    honest: Fate

    @property
    def accepted(self) -> list[Fate]:
        return [fate for fate in self.fates if fate.accepted]

    @property
    def sound(self) -> bool:
        return self.honest.accepted and not self.accepted


def equivalent(program: str) -> dict[str, str]:
    """Edits that change nothing, with the reason."""
    return {each["edit"]: each["reason"] for each in _TABLE[program].get("equivalent", [])}


def constants(program: str) -> dict[str, str]:
    """What the main launch had, by how the kernel writes it."""
    return dict(_TABLE[program]["constants"])


def chosen(program: str, most: int) -> list[Mutant]:
    kernel = Kernel(honest(program).kernel, constants(program))
    return sample(kernel, most, without=equivalent(program))


def tally(program: str, mutants: Sequence[Mutant], folder: Path) -> Tally:
    right = honest(program)
    offers = [*(Offer(m.name, m.text) for m in mutants), right]
    fates = {fate.title: fate for fate in judged(program, offers, folder)}
    assert set(fates) == {offer.title for offer in offers}
    return Tally(program, mutants, [fates[m.name] for m in mutants], fates[right.title])
