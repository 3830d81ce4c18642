"""Which lines of a kernel no input of a check reaches, and which decisions always go one way.

Results say nothing of them: what a special case leads to is not compared where none of the inputs
is that case. So such a line has to stand in both builds as it is. For this both are built once
more, with line numbers and hardly optimized, so that instructions are still what the source says;
they run on all sets of a check, on the virtual GPU, which sees every instruction
(native/gpu/check/reached.h).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocm_perf_lab.errors import PerfLabError
from rocm_perf_lab.optimize.agreement import enter
from rocm_perf_lab.optimize.input_sets import InputSet
from rocm_perf_lab.optimize.plan import Plan
from rocm_perf_lab.optimize.trial import OpenSession, limit_s

SEEING_LINES = -2  # a session's seed: no order of its own, every instruction is noted
SLOWED = 20  # times: hardly optimized, and every instruction looked at
# What reached.cpp sees of an instruction: that it ran; a comparison that comes out true, and false;
# a decision, what to take or where to go, by one or more of them; lanes in a branch, and not.
RAN, TRUE, FALSE, YES, NO, ENTER, STAY = 1, 2, 4, 8, 16, 32, 64
_COMPARED, _CHOSEN, _PARTED = TRUE | FALSE, YES | NO, ENTER | STAY
UNSEEN = "which of its lines the inputs reach cannot be seen"
NOT_RUN = "no input that was tried leads there"
ONE_WAY = "every input that was tried decides it one way"
_DIVIDES = ("/", "%")  # which compilers make of comparisons
_LOOPS = ("for", "while")


@dataclass(frozen=True)
class Piece:
    """One launch with what it was compared on, and the two builds' code for it."""

    open_session: OpenSession
    plan: Plan
    sets: Sequence[InputSet]
    before: bytes
    after: bytes


@dataclass
class Place:
    """What there is to be seen at a place of the source, and what was."""

    every: int = 0
    seen: int = 0

    @property
    def missing(self) -> int:
        return self.every & ~self.seen


@dataclass(frozen=True)
class Source:
    """A text as it was built: `path` is what its line numbers say."""

    path: Path
    text: str

    def line(self, number: int) -> str:
        lines = self.text.splitlines()
        return lines[number - 1] if 0 < number <= len(lines) else ""


Places = Mapping[tuple[int, int], Place]  # by line and column


@dataclass
class Seen:
    """By file; of all runs together."""

    files: dict[str, dict[tuple[int, int], Place]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Place))
    )

    def add(self, records: Iterable[Mapping[str, Any]]) -> None:
        for record in records:
            if "file" in record:
                place = self.files[record["file"]][record["line"], record["column"]]
                place.every |= record.get("all", 0)
                place.seen |= record.get("seen", 0)

    def of(self, source: Source) -> Places:
        return self.files.get(str(source.path), {})


def differs(before: Source, after: Source, pieces: Sequence[Piece]) -> str | None:
    """Why it is not known that two builds do the same: a line that no input reached, and that is
    not in both; None: there is none."""
    seen, looked = Seen(), False
    for piece in pieces:
        try:
            noted = _noted(piece)
            looked |= noted is not None
            seen.add(noted or ())
        except PerfLabError as error:
            return f"{UNSEEN}: {error.message}"
    if looked and not (seen.of(before) and seen.of(after)):
        return f"{UNSEEN}: its code names no line of the source"
    return judge(before, seen.of(before), after, seen.of(after))


def judge(before: Source, old: Places, after: Source, new: Places) -> str | None:
    """A case that nothing tried must not go, and none must come."""
    own, proposed = missing(before, old), missing(after, new)
    lines = {_normal(line) for line in after.text.splitlines()}
    for text, why in own.items():
        if text not in lines:
            return f"{why}: the original's line {text!r} has to stay as it is"
    for text, why in proposed.items():
        if text not in own:
            return f"{why}: what its line {text!r} leads to cannot be compared"
    return None


def missing(source: Source, places: Places) -> dict[str, str]:
    """Lines that were not reached, or decided one way only, with why; without their spaces."""
    lines = defaultdict[int, list[tuple[int, Place]]](list)
    for (number, column), place in places.items():
        lines[number].append((column, place))
    found: dict[str, str] = {}
    for number, there in sorted(lines.items()):
        line = source.line(number)
        text, why = _normal(line), _why(line, there)
        if text and why and found.get(text) != NOT_RUN:
            found[text] = why
    return found


def _why(line: str, there: Sequence[tuple[int, Place]]) -> str | None:
    if any(place.missing & RAN for _, place in there):
        return NOT_RUN
    own = [(line[column - 1 :], place) for column, place in there]
    own = [(text, place) for text, place in own if not text.startswith(_DIVIDES)]
    if any(place.missing & _CHOSEN for _, place in own):
        return ONE_WAY
    # One of several conditions may always come out the same, where what is chosen by all of them is
    # seen both ways. And a loop that every lane enters ends all the same.
    if any(place.seen & _CHOSEN == _CHOSEN for _, place in own):
        return None
    parted = any(p.missing & _PARTED and not t.startswith(_LOOPS) for t, p in own)
    compared = any(p.missing & _COMPARED for _, p in own)
    apart = any(p.seen & _PARTED == _PARTED for _, p in own)
    return ONE_WAY if parted or (compared and not apart) else None


def _normal(line: str) -> str:
    """Spaces and remarks say nothing."""
    return re.sub(r"\s+", " ", line.partition("//")[0]).strip()


def _noted(piece: Piece) -> list[dict[str, Any]] | None:
    """None: this device does not tell."""
    with piece.open_session(SEEING_LINES) as session:
        if session.device.kind != "virtual":
            return None
        session.timeout_s = SLOWED * limit_s(piece.plan.run_s)
        builds = [session.load(piece.before), session.load(piece.after)]
        for inputs in piece.sets:
            enter(session, piece.plan.subject, inputs)
            session.run(builds, compare=False)
        return [*session.noted("code"), *session.noted("reached")]


__all__ = ["SEEING_LINES", "Piece", "Place", "Seen", "Source", "differs", "judge", "missing"]
