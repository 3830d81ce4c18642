"""One run of a build against what the original left on the same inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rocm_perf_lab.optimize.draws import COARSE, EXTREMES, ONE_VALUE
from rocm_perf_lab.optimize.input_sets import InputSet, Nudge, Subject, changes, float_types
from rocm_perf_lab.optimize.judge import FARTHER, Doubt, Wrong, aligned, judge
from rocm_perf_lab.replay.compare import ElementType
from rocm_perf_lab.replay.session import ORIGINAL, ReplaySession, RunResult, Seen

NUDGES, MORE_NUDGES = 5, 12  # runs of the original on nudged inputs: at first, and for a rest
FEW = 0.01  # of the doubtful elements


@dataclass(frozen=True)
class SetResult:
    name: str
    exact: bool
    reason: str | None  # why it is wrong; None: it agrees
    largest_relative: float | None = None


def enter(
    session: ReplaySession, subject: Subject, inputs: InputSet, nudge: Nudge | None = None
) -> None:
    session.set_state(
        changes(session.capture, subject, inputs, nudge),
        arguments=dict(inputs.arguments),
        guard=inputs.guard,
        grid=inputs.grid,
    )


def agreement(
    session: ReplaySession, subject: Subject, inputs: InputSet, build: int, name: str = ""
) -> SetResult:
    """Run the build once in the state that was entered; a reference is kept, or the captured
    bytes are what must come out."""
    name = name or inputs.name
    ran = session.run([build])
    if ran.verdict(build) == "identical":
        return SetResult(name, True, None, 0.0)
    outcome = ran.samples[0].outcome or {}
    spans = None if outcome["elsewhere"] else aligned(subject, outcome["spans"])
    if spans is None:
        return SetResult(name, False, _elsewhere(ran, build))
    return settled(session, subject, inputs, session.look(spans, build), name)


def settled(
    session: ReplaySession,
    subject: Subject,
    inputs: InputSet,
    seen: Sequence[Seen],
    name: str,
    original: bool = False,
) -> SetResult:
    """Whether what was seen is right after all. Leaves the set entered, with its reference.
    `original`: what was seen here is the original's, and what was expected is from elsewhere."""
    near, extreme = inputs.stale == "near", inputs.floats == EXTREMES
    wrong, doubts = judge(subject, seen, near, extreme)
    if original:
        doubts = [replace(d, base=d.got) for d in doubts]
    if wrong:
        return SetResult(name, False, _words(wrong))
    relative = max((d.largest_relative for d in doubts), default=0.0)
    beyond = _unaccounted(session, subject, inputs, doubts)
    return SetResult(name, False, _words([d.wrong() for d in beyond]), relative)


def _unaccounted(
    session: ReplaySession, subject: Subject, inputs: InputSet, doubts: list[Doubt]
) -> list[Doubt]:
    """What is left of the doubts when the original has run on nudged inputs a few times; where
    that is little, a few times more: chance made some elements move too little."""
    kinds = float_types(session.capture, subject)
    total = sum(len(d.at) for d in doubts)
    # Sums of equal terms err one way, of all inputs or of long stretches of them.
    equal = inputs.runs or ONE_VALUE in inputs.draws
    left = _beyond(doubts, bool(kinds), equal)
    if not left or not kinds:
        return left
    for first, last in ((0, NUDGES), (NUDGES, MORE_NUDGES)):
        if first and sum(len(d.at) for d in left) > max(8, FEW * total):
            break
        for nudge in (Nudge(kind, seed) for kind in kinds for seed in range(first, last)):
            left = _nudged(session, subject, inputs, left, nudge)
        # Coarse values are where something is rounded or compared, and their sums are exact: what
        # jumps there, jumps there in every right build.
        if COARSE in inputs.draws and (jumped := _jumped(session, subject, inputs, left, kinds)):
            left = jumped
            break
        left = _beyond(left, nudged=True, equal=equal)
        if not left:
            break
    if left:
        left = _without_noise(session, subject, inputs, left, kinds)
    enter(session, subject, inputs)
    session.keep_reference(ORIGINAL)
    return left


def _nudged(
    session: ReplaySession, subject: Subject, inputs: InputSet, doubts: list[Doubt], nudge: Nudge
) -> list[Doubt]:
    """With what the original does to them when its inputs are moved."""
    enter(session, subject, inputs, nudge)
    session.run([ORIGINAL], compare=False)
    moved = session.read([d.span for d in doubts])
    return [d.moved(data, nudge.kind) for d, data in zip(doubts, moved, strict=True)]


def _jumped(
    session: ReplaySession,
    subject: Subject,
    inputs: InputSet,
    doubts: list[Doubt],
    kinds: Sequence[ElementType],
) -> list[Doubt]:
    farther = _farther(session, subject, inputs, doubts, kinds)
    cut = [d.only(d.jumps(f)) for d, f in zip(doubts, farther, strict=True)]
    return [d for d in cut if len(d.at)]


def _without_noise(
    session: ReplaySession,
    subject: Subject,
    inputs: InputSet,
    doubts: list[Doubt],
    kinds: Sequence[ElementType],
) -> list[Doubt]:
    """A variance of equal numbers is what rounding made of nought: a few steps of the inputs are
    more than all of it."""
    farther = _farther(session, subject, inputs, doubts, kinds)
    cut = [d.only(~f.noise()) for d, f in zip(doubts, farther, strict=True)]
    return [d for d in cut if len(d.at)]


def _farther(
    session: ReplaySession,
    subject: Subject,
    inputs: InputSet,
    doubts: list[Doubt],
    kinds: Sequence[ElementType],
) -> list[Doubt]:
    """With what nudges of several steps do, and nothing else."""
    found = [replace(d, spread=np.zeros_like(d.spread)) for d in doubts]
    for nudge in (Nudge(kind, seed, FARTHER) for kind in kinds for seed in range(NUDGES)):
        found = _nudged(session, subject, inputs, found, nudge)
    return found


def _beyond(doubts: list[Doubt], nudged: bool, equal: bool) -> list[Doubt]:
    cut = [d.only(d.beyond(nudged, equal)) for d in doubts]
    return [d for d in cut if len(d.at)]


def _words(wrong: list[Wrong]) -> str | None:
    return "; ".join(each.words() for each in wrong[:3]) or None


def _elsewhere(ran: RunResult, build: int) -> str:
    """In words what differs where nothing may: inputs, memory beside buffers, variables."""
    found: list[Any] = list(ran.differences(build))
    if not found:
        return "memory that the original leaves alone was changed"
    where = found[0]["argument"] or found[0]["where"]
    first = found[0]["first"][0] if found[0]["first"] else None
    text = f"{found[0]['differing']} of {found[0]['elements']} elements of {where} differ"
    if first is not None:
        text += f" (element {first['index']}: {first['got']}, expected {first['expected']})"
    return text
