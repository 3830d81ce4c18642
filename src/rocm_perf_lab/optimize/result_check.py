"""Does another build of a captured kernel leave the same bytes, on captured and on other inputs?

The original decides what must come out of every input set; sets on which it fails itself, or does
not agree with itself, are left out and named. A candidate must agree on all that remain, in every
interleaving of waves that is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from rocm_perf_lab.errors import PerfLabError
from rocm_perf_lab.optimize import input_sets
from rocm_perf_lab.optimize.input_sets import Buffer, InputSet
from rocm_perf_lab.replay.compare import TYPES
from rocm_perf_lab.replay.session import ORIGINAL, ReplayFailed, ReplaySession, RunResult

LEAST_FURTHER_SETS = 3
REPEATS = 2  # of each build on each set
# A candidate that takes so much longer than the original is not going to be faster.
LEAST_LIMIT_S, SLOWER = 20.0, 30
# Seeds of ROCM_PERF_VIRTUAL_WAVES; a GPU interleaves as it likes, and there repeating has to do.
INTERLEAVINGS = (1, 6)

OpenSession = Callable[[int], ReplaySession]  # by the seed of the interleaving; 0: as it comes


@dataclass(frozen=True)
class SetResult:
    name: str
    exact: bool
    reason: str | None  # why it is wrong; None: it agrees
    largest_relative: float | None = None


@dataclass(frozen=True)
class CheckResult:
    sets: tuple[SetResult, ...]

    @property
    def reason(self) -> str | None:
        wrong = next((s for s in self.sets if s.reason), None)
        return f"{wrong.name}: {wrong.reason}" if wrong else None

    @property
    def exact(self) -> bool:
        return all(s.exact for s in self.sets)


@dataclass(frozen=True)
class Plan:
    """What the original was found to do, once per capture."""

    sets: tuple[InputSet, ...]
    poisoned: tuple[str, ...]  # buffers it only writes
    left_out: Mapping[str, str] = field(default_factory=dict)  # set -> why
    blocked: str | None = None  # why nothing can be checked at all
    run_s: float = 0.0  # what the original took, host time

    @property
    def notes(self) -> list[str]:
        found = [f"input set {name!r} left out: {why}" for name, why in self.left_out.items()]
        if self.blocked is None and len(self.sets) <= LEAST_FURTHER_SETS:
            found.append(f"only {len(self.sets)} input sets could be used")
        return found


@contextmanager
def _session(open_session: OpenSession, seed: int = 0) -> Iterator[ReplaySession]:
    session = open_session(seed)
    try:
        yield session
    finally:
        session.close()


def prepare(open_session: OpenSession, most: int | None = None) -> Plan:
    """Find out which buffers may be poisoned and which input sets the original stands; of the sets
    the first `most`."""
    with _session(open_session) as session:
        found = session.run([ORIGINAL] * REPEATS)
        if found.verdict(ORIGINAL) != "identical" and (why := _unequal(found, ORIGINAL)):
            return Plan((), (), blocked=f"the original does not repeat its captured result: {why}")
        every = input_sets.buffers(session.capture)
        run_s = found.wall_s
    outputs = _only_written(open_session, [b for b in every if b.written])
    usable: list[InputSet] = []
    left_out: dict[str, str] = {}
    session = open_session(0)
    try:
        for inputs in islice(input_sets.input_sets(session.capture, outputs), most):
            try:
                _enter(session, inputs)
                why = _unequal(session.run([ORIGINAL] * REPEATS), ORIGINAL)
            except ReplayFailed as error:
                why = f"the original fails on it ({error.message})"
                session.close()
                session = open_session(0)
            if why is None:
                usable.append(inputs)
            else:
                left_out[inputs.name] = why
    finally:
        session.close()
    return Plan(tuple(usable), tuple(b.name for b in outputs), left_out, run_s=run_s)


def _enter(session: ReplaySession, inputs: InputSet) -> None:
    session.set_state(inputs.changes, guard=inputs.guard)
    session.keep_reference(ORIGINAL)


def _only_written(open_session: OpenSession, written: Sequence[Buffer]) -> list[Buffer]:
    """Those whose former contents do not show in what the original leaves anywhere."""
    everywhere = [part for buffer in written for part in buffer.written]
    kept: list[Buffer] = []
    session = open_session(0)
    try:
        for buffer in written:
            left = set()
            try:
                for byte in (input_sets.POISON, input_sets.OTHER_POISON):
                    session.set_state(input_sets.poison([buffer], byte))
                    session.run([ORIGINAL], compare=False)
                    left.add(session.digest(everywhere))
            except ReplayFailed:
                # It reads there, and what it reads matters a great deal.
                session.close()
                session = open_session(0)
                continue
            if len(left) == 1:
                kept.append(buffer)
    finally:
        session.close()
    return kept


def check(
    open_session: OpenSession,
    plan: Plan,
    image: bytes,
    seeds: Sequence[int] = (0, *INTERLEAVINGS),
) -> CheckResult:
    """Compare a build with the original on every set of the plan; stops at the first difference."""
    results: list[SetResult] = []
    for seed in seeds:
        # The captured set and one other are enough to see a race.
        sets = plan.sets if seed == 0 else plan.sets[:2]
        where = f", interleaving {seed}" if seed else ""
        try:
            with _session(open_session, seed) as session:
                candidate = session.load(image)
                usual = session.timeout_s
                for inputs in sets:
                    session.timeout_s = usual
                    _enter(session, inputs)
                    session.timeout_s = max(LEAST_LIMIT_S, SLOWER * plan.run_s)
                    found = session.run([candidate] * REPEATS)
                    name = f"{inputs.name}{where}"
                    results.append(_judged(name, found, candidate))
                    if results[-1].reason:
                        return CheckResult(tuple(results))
        except PerfLabError as error:
            name = f"{sets[min(len(results), len(sets) - 1)].name}{where}" if sets else "load"
            results.append(SetResult(name, False, f"it fails: {error.message}"))
            return CheckResult(tuple(results))
    return CheckResult(tuple(results))


def _judged(name: str, found: RunResult, build: int) -> SetResult:
    if found.verdict(build) == "identical":
        return SetResult(name, True, None, 0.0)
    relative = max((d["largest_relative"] or 0.0 for d in found.differences(build)), default=None)
    return SetResult(name, False, _unequal(found, build), relative)


def _unequal(found: RunResult, build: int) -> str | None:
    """In words what differs beyond the tolerance of its type; None: nothing does."""
    for sample in found.samples:
        if sample.build == build and sample.outcome is not None:
            for difference in sample.outcome["differences"]:
                if not _tolerable(difference):
                    return _words(difference)
    return None


def _tolerable(difference: Mapping[str, Any]) -> bool:
    """Small against each element, or against the elements of the buffer as a whole: a sum that
    cancels to nearly nothing carries the error of its terms."""
    kind = TYPES[difference["type"]]
    if not kind.floating or difference["beyond_tolerance"]:
        return False
    relative, absolute = difference["largest_relative"], difference["largest_absolute"]
    if relative is not None and relative <= kind.tolerance:
        return True
    scale = difference["scale"]
    return absolute is not None and scale is not None and absolute <= kind.tolerance * scale


def _words(difference: Mapping[str, Any]) -> str:
    where = difference["argument"] or difference["where"]
    first = difference["first"][0] if difference["first"] else None
    text = f"{difference['differing']} of {difference['elements']} elements of {where} differ"
    if first is not None:
        text += f" (element {first['index']}: {first['got']}, expected {first['expected']})"
    return text
