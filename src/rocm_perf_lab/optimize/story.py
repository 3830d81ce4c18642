"""Does a ledger agree with itself? Seals show that nothing was changed since it was written; this,
that what it claims follows from what it says was tried and measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationError

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize.claims import judged
from rocm_perf_lab.optimize.ledger import Entry
from rocm_perf_lab.optimize.measure import Bar
from rocm_perf_lab.optimize.patch import patched
from rocm_perf_lab.schema.common import Model
from rocm_perf_lab.schema.verification import Claim, Samples, Sha256, Timing
from rocm_perf_lab.statistics import GateResult

_CLOSE = 1e-9  # relative: the same sums in the same order


class _Part(Model):
    """What is looked at of an entry; it may say more."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Start(_Part):
    sources: dict[str, str] = Field(min_length=1)
    order: list[str] = Field(description="of the sources, as they are compiled")
    files: dict[str, str] = Field(min_length=1, description="the sources and what they include")
    build: list[str] = Field(min_length=1)
    tool: str
    min_speedup: float = Field(ge=1, allow_inf_nan=False)
    confidence: float = Field(gt=0, lt=1)


class _Gate(_Part):
    verdict: str
    modelled: bool


class Tried(_Part):
    symbol: str
    base: Sha256
    source: Sha256
    stage: str
    decision: Literal["accepted", "refused"]
    rule: str | None
    diff: str
    speedup: float | None = Field(gt=0, allow_inf_nan=False)
    samples_ns: Samples | None = None
    gate: _Gate | None = None

    @property
    def accepted(self) -> bool:
        return self.decision == "accepted"


class _Pair(Model):
    before: Sha256
    after: Sha256


class End(_Part):
    accepted: bool
    speedup: float = Field(gt=0, allow_inf_nan=False)
    sources: dict[str, _Pair]
    claims: list[Claim] = Field(max_length=1000)


class Story:
    """The entries of a ledger that ended, each of the shape it must have."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        kinds = [entry.kind for entry in entries]
        if not kinds or kinds[-1] != "end":
            raise BadInput(
                "the ledger does not end: the run was interrupted, or its last entries are missing",
                hint="the same `rocm-perf optimize` command goes on with an interrupted run",
            )
        if kinds != ["start", *["attempt"] * (len(kinds) - 2), "end"]:
            raise BadInput("the ledger is not of one run: start, attempts, end")
        self.start: Start = _shaped(Start, entries[0])
        self.tried: list[Tried] = [_shaped(Tried, entry) for entry in entries[1:-1]]
        self.end: End = _shaped(End, entries[-1])

    @property
    def sources(self) -> set[Sha256]:
        """Every text that the proof needs."""
        pairs = self.end.sources.values()
        return {
            *self.start.files.values(),
            *(text for pair in pairs for text in (pair.before, pair.after)),
            *(text for each in self.tried if each.accepted for text in (each.base, each.source)),
        }


def _shaped(model: Any, entry: Entry) -> Any:
    try:
        return model.model_validate(entry.data)
    except (ValidationError, RecursionError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else None
        where = ".".join(map(str, first["loc"])) if first else ""
        said = f" ({where[:80]}: {first['msg']})" if first else ""
        number = entry.index + 1
        raise BadInput(f"entry {number} of the ledger makes no sense{said}"[:300]) from None


def check_story(story: Story, text_of: Callable[[Sha256], str]) -> None:
    """BadInput names what contradicts what. `text_of` gives a source by its hash, and checks it."""
    start, end = story.start, story.end
    if sorted(start.order) != sorted(start.sources):
        raise BadInput("the ledger's start names other sources than it has hashes of")
    for path, text in start.sources.items():
        if start.files.get(path) != text:
            raise BadInput(f"{path[:200]} is not among the files the run began with")
    for number, each in enumerate(story.tried, start=1):
        _check_attempt(number, each, start, text_of)
    for claim in end.claims:
        _check_claim(claim, story)
    _check_end(story)


def _check_attempt(
    number: int, tried: Tried, start: Start, text_of: Callable[[Sha256], str]
) -> None:
    if tried.accepted != (tried.stage == "accepted"):
        raise BadInput(f"attempt {number} is {tried.decision}, and it ended at {tried.stage[:40]}")
    if not tried.accepted:
        return
    if tried.samples_ns is None or tried.gate is None or tried.speedup is None:
        raise BadInput(f"attempt {number} was accepted and never measured")
    timing: Timing = "modelled" if tried.gate.modelled else "measured"
    found = _judged(tried.samples_ns, timing, tried.rule, start, f"attempt {number}")
    _check_speedup(tried.speedup, found, f"attempt {number}")
    if patched(text_of(tried.base), tried.diff) != text_of(tried.source):
        raise BadInput(f"attempt {number}: its diff does not lead to its source")


def _judged(
    samples: Samples, timing: Timing, rule: str | None, start: Start, what: str
) -> GateResult:
    try:
        return judged(samples, timing, rule, Bar(start.min_speedup, start.confidence))
    except ValueError as error:
        raise BadInput(f"{what}: its times make no sense: {error}") from None


def _check_speedup(said: float, found: GateResult, what: str) -> None:
    if found.verdict != "faster":
        raise BadInput(f"{what}: its times do not show a gain ({found.reason})")
    if not math.isclose(said, found.speedup, rel_tol=_CLOSE):
        raise BadInput(f"{what} says {said:.3f}x, and its times say {found.speedup:.3f}x")


def _check_claim(claim: Claim, story: Story) -> None:
    start, what = story.start, f"the claim of {claim.symbol[:80]}"
    if (claim.min_speedup, claim.confidence) != (start.min_speedup, start.confidence):
        raise BadInput(f"{what} is held to another bar than the run")
    found = _judged(claim.samples_ns, claim.timing, claim.rule, start, what)
    _check_speedup(claim.speedup, found, what)
    if claim.file not in start.sources:
        raise BadInput(f"{what} is of {claim.file[:200]}, which is no source of the run")
    steps = {each.source: each for each in story.tried if each.accepted}
    text, own = claim.source, 0
    while text != start.sources[claim.file]:
        step = steps.pop(text, None)
        if step is None:
            raise BadInput(f"{what}: accepted attempts do not lead from the original to it")
        own += step.symbol == claim.symbol
        text = step.base
    if not own:
        raise BadInput(f"{what}: no attempt on it was accepted")


def _check_end(story: Story) -> None:
    end, start = story.end, story.start
    if end.accepted != bool(end.sources) or end.accepted != bool(end.claims):
        raise BadInput(
            "the ledger's end contradicts itself: what was accepted, and what is claimed"
        )
    numbers = [claim.number for claim in end.claims]
    if len(set(numbers)) != len(numbers):
        raise BadInput("the ledger's end makes two claims under one number")
    if end.speedup not in ([claim.speedup for claim in end.claims] or [1.0]):
        raise BadInput(f"the ledger's end says {end.speedup:.3f}x, and no claim does")
    results: dict[str, set[str]] = {}
    for claim in end.claims:
        results.setdefault(claim.file, set()).add(claim.source)
    for path, pair in end.sources.items():
        if pair.before != start.sources.get(path):
            raise BadInput(f"{path[:200]} is not what the run began with")
        if pair.after not in results.pop(path, ()):
            raise BadInput(f"the text that {path[:200]} became is no claim's")
    if results:
        raise BadInput(f"a claim is of {next(iter(results))[:200]}, which did not change")
