"""What a captured kernel can be checked on, found out once with the original.

What it writes is found on poisoned memory; each column of integers and each size among its
arguments is changed alone first; then every input set is tried. Where nothing is left to compare,
the plan says so and the kernel is left alone: nothing checked is not a pass.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

import numpy as np

from rocm_perf_lab.optimize import draws, input_sets, moved
from rocm_perf_lab.optimize.agreement import agreement, enter, settled
from rocm_perf_lab.optimize.input_sets import (
    CAPTURED,
    NO_NAMES,
    POISON,
    InputSet,
    Most,
    Place,
    Subject,
    changes,
)
from rocm_perf_lab.optimize.layout import (
    Buffer,
    Debug,
    Layout,
    captured_bytes,
    no_debug,
    read_layout,
)
from rocm_perf_lab.optimize.mixes import MIXES, NAMED_MIXES, mixes, pairs
from rocm_perf_lab.optimize.named import Named, named
from rocm_perf_lab.optimize.outcome import Left, against, read_left
from rocm_perf_lab.optimize.trial import OpenSession, Trial
from rocm_perf_lab.optimize.written import find_written
from rocm_perf_lab.replay.compare import Bytes
from rocm_perf_lab.replay.session import ORIGINAL, Replace

LEAST_FURTHER_SETS = 3
MAX_COLUMNS, MAX_SCALARS = 16, 16  # tried one by one
MOST_SCALARS, FEW_CHOICES = 256, 2  # those beyond, by fewer values
MOST_SPECIALS = 40  # sets of one special value alone
MOST_NAMED, FEW_NAMED = 8, 2  # numbers that code names, of one argument
PROPOSED = "named by the proposal"
FEW_SIZES, FEW_LARGER = 4, 8
A_KIND_S, LEAST_OF_A_KIND = 15.0, 4  # of sets by chance
MOST_PAIRS, FEW_PAIRS = 128, 24
MOST_ALONE = 6  # of them, those that are next to nothing by themselves
# Sets of a launch beside the main one: as captured, poisoned, one other; one of captured values and
# others, where there is one; and those on which its own arguments may decide.
BRIEF = 3
TURNING = ("special values", draws.COARSE)
ENOUGH = 0.5  # of what is always written, for a set to be one
# Seeds of ROCM_PERF_VIRTUAL_WAVES; a GPU interleaves as it likes, and there repeating has to do.
INTERLEAVINGS = (1, 6)
NEXT_TO_NOTHING = "the original writes next to nothing on it"
ORDER = "what the original leaves depends on the order of its workgroups and waves"

# What becomes of the modes of integers where they fail together, step by step.
_CALMER: tuple[Mapping[draws.Mode, draws.Mode], ...] = (
    {},
    {"any": "fourfold"},
    {"fourfold": "wider"},
    {"wider": "drawn"},
    {"drawn": "shuffled", "ascending": "kept"},
    {"shuffled": "kept"},
)

NO_SUBJECT = Subject(Layout((), (), ()))


@dataclass(frozen=True)
class Plan:
    """What the original was found to do, once per capture."""

    sets: tuple[InputSet, ...]
    poisoned: tuple[str, ...]  # buffers it only writes
    left_out: Mapping[str, str] = field(default_factory=dict)  # set -> why
    blocked: str | None = None  # why nothing can be checked at all
    run_s: float = 0.0  # what the original took, host time
    subject: Subject = NO_SUBJECT
    interleavings: tuple[int, ...] = ()
    remarks: tuple[str, ...] = ()
    symbol: str = ""
    names: Named = NO_NAMES  # what the original's code names
    stood: tuple[tuple[int, bytes], ...] = ()  # arguments, each alone
    brief: bool = False

    @property
    def ordered(self) -> tuple[InputSet, ...]:
        """Those on which other orders are tried: as captured, and the first that is drawn."""
        captured = [s for s in self.sets if not s.drawn and s.poison is not None]
        return (*captured[:1], *(s for s in self.timed if s.drawn))

    @property
    def timed(self) -> tuple[InputSet, ...]:
        """Those on which time is taken: as captured, and the first that is drawn."""
        drawn = sorted((s for s in self.sets if s.drawn), key=lambda s: s.less)
        return (CAPTURED, *drawn[:1])

    @property
    def notes(self) -> list[str]:
        found = [f"input set {name!r} left out: {why}" for name, why in self.left_out.items()]
        if self.blocked is None and len(self.sets) <= LEAST_FURTHER_SETS:
            found.append(f"only {len(self.sets)} input sets could be used")
        return [*found, *self.remarks]


def make_plan(
    open_session: OpenSession,
    debug: Debug = no_debug,
    brief: bool = False,
    orders: bool = True,
) -> Plan:
    with ExitStack() as stack:
        maker = _Maker(open_session, stack, debug)
        return maker.plan(brief, orders)


def further_sets(open_session: OpenSession, plan: Plan, names: Named) -> list[InputSet]:
    """Sets with numbers that a proposal names and the original does not, as far as the original
    stands them: a special case of its own begins there."""
    with ExitStack() as stack:
        maker = _Maker(open_session, stack, no_debug, plan.run_s)
        maker.stood = [*plan.stood]
        return maker.named_sets(plan.subject, names, plan.brief, PROPOSED)


def make_larger_plan(open_session: OpenSession, most: Most, debug: Debug = no_debug) -> Plan:
    """On a capture with room for more (optimize/grown.py): sizes that the program did not use."""
    with ExitStack() as stack:
        return _Maker(open_session, stack, debug).larger_plan(most)


@dataclass
class _Maker:
    open_session: OpenSession
    stack: ExitStack
    debug: Debug
    run_s: float = 0.0
    trials: dict[int, Trial] = field(default_factory=dict)
    left: dict[str, Left] = field(default_factory=dict)  # by the set's name
    left_out: dict[str, str] = field(default_factory=dict)
    alone: list[InputSet] = field(default_factory=list)  # of one column that nothing stands beside
    stood: list[tuple[int, bytes]] = field(default_factory=list)  # arguments, each alone

    @property
    def symbol(self) -> str:
        return self.trial(0).session.capture.dispatch.kernel.symbol

    @functools.cached_property
    def names(self) -> Named:
        return named(self.trial(0).session.capture.kernel_hsaco(), self.symbol)

    def trial(self, seed: int) -> Trial:
        if seed not in self.trials:
            self.trials[seed] = self.stack.enter_context(Trial(self.open_session, seed, self.run_s))
        return self.trials[seed]

    def plan(self, brief: bool, ordered: bool) -> Plan:
        first = self.trial(0)
        subject = Subject(read_layout(first.session.capture, self.debug))
        ran = first.session.run([ORIGINAL], compare=False)
        self.run_s = first.run_s = ran.wall_s
        for _ in range(2):
            first.session.set_state()
            if why := agreement(first.session, subject, CAPTURED, ORIGINAL).reason:
                return Plan(
                    (), (), blocked=f"the original does not repeat its captured result: {why}"
                )
        written = find_written(first, subject.layout.buffers)
        subject = replace(subject, written=written.spans, outputs=written.outputs)
        orders: tuple[int, ...] = ()
        remarks: tuple[str, ...] = ()
        subject = self._tamed(self._with_modes(subject))
        every = self._sets(subject)
        if brief:
            part = [s for s in every if s.share < 1]
            turning = [s for s in every[BRIEF:] if s.name in TURNING]
            sets = [*self._usable(subject, [*every[:BRIEF], *part[:1], *turning])]
            sets += self._other_integers(subject)
            self._find_few(subject)
            sets += self._mixes(subject, brief)
            sets += self.named_sets(subject, self.names, brief)
        else:
            sets = [*self._usable(subject, every)]
            sets += self._grids(subject)
            sets += self._specials(subject)
            sets += self._other_integers(subject)
            sets += self._pointers(subject)
            sets += self._usable(subject, self._sizes(subject))
            sets += self._mixes(subject)
            sets += self.named_sets(subject, self.names, brief)
            remarks = self._kept(subject)
        subject = self._with_stale(subject, sets)
        there = [s for s in input_sets.RESULTS_THERE if s.stale in subject.stale]
        sets += [
            s
            for s in (*there, *input_sets.of_far_ends(subject))
            if self._stands(subject, s) is None
        ]
        if ordered:
            orders, differing = self._orders(subject, sets)
            remarks += differing
        sets = [s for s in sets if s.name not in self.left_out]
        names = tuple(b.name for b in subject.layout.buffers if b.address in subject.outputs)
        found = Plan(
            tuple(sets), names, self.left_out, None, self.run_s, subject, orders, remarks,
            self.symbol, self.names, tuple(self.stood), brief,
        )  # fmt: skip
        return replace(found, blocked=self._blocked(found, brief))

    # ---- one set

    def _try(
        self, seed: int, subject: Subject, inputs: InputSet, brisk: bool = False
    ) -> tuple[Left | None, str | None]:
        """What the original leaves on a set, or why it cannot be used."""
        trial = self.trial(seed)
        found: list[Left] = []
        reasons: list[str | None] = []

        def do() -> None:
            enter(trial.session, subject, inputs)
            trial.session.keep_reference(ORIGINAL)
            reasons.append(agreement(trial.session, subject, inputs, ORIGINAL).reason)
            found.append(read_left(trial.session, subject, inputs))

        why = trial.attempt(do, brisk) or (reasons[0] if reasons else None)
        return (found[0] if found else None), why

    def _stands(self, subject: Subject, inputs: InputSet, brisk: bool = False) -> str | None:
        """Why a set is none; None: it is, and what came of it is kept."""
        left, why = self._try(0, subject, inputs, brisk)
        if why or left is None:
            return why
        if inputs.floats == draws.EXTREMES and not left.all_finite:
            return "something overflows"
        # Infinities that come of infinities are the same in any order of a sum; not those that come
        # of large numbers. What becomes of one alone is wanted, whatever it is.
        if inputs.one_alone:
            self.left[inputs.name] = left
            return None
        if left.all_nan if inputs.draws & {*draws.STRANGE} else not left.finite:
            return "every result is infinite or not a number"
        # Of numbers that are nearly right many bytes stay.
        if not inputs.less and inputs.stale is None and left.share < ENOUGH:
            return NEXT_TO_NOTHING
        self.left[inputs.name] = left
        return None

    def _usable(self, subject: Subject, sets: Sequence[InputSet]) -> Iterator[InputSet]:
        for inputs in sets:
            why = self._stands(subject, inputs)
            if why is None:
                yield inputs
            elif inputs.name not in (*draws.STRANGE, draws.EXTREMES):  # sums are rarely numbers
                self.left_out[inputs.name] = why

    def _sets(self, subject: Subject) -> list[InputSet]:
        return list(input_sets.input_sets(self.trial(0).session.capture, subject))

    def _differs_in_order(self, seed: int, subject: Subject, inputs: InputSet) -> str | None:
        left, why = self._try(seed, subject, inputs)
        if why or left is None:
            return why
        before = self.left[inputs.name]
        seen = against(before, left)
        if seen is None:
            return ORDER if before.digest != left.digest else None
        result = settled(
            self.trial(seed).session, subject, inputs, seen, inputs.name, original=True
        )
        return f"{ORDER} ({result.reason})" if result.reason else None

    # ---- integers

    def _with_modes(self, subject: Subject) -> Subject:
        """For each column of integers the boldest change that the original stands alone."""
        found: dict[Place, draws.Mode] = {}
        padded: set[Place] = set()
        capture = self.trial(0).session.capture
        columns = list(input_sets.integer_columns(capture, subject))[:MAX_COLUMNS]
        most = max((b.count for b in subject.layout.buffers), default=0)

        def tried(alone: Subject, mode: str, brisk: bool) -> str | None:
            inputs = InputSet(f"integers {mode}", integers=True, poison=POISON)
            return self._stands(alone, inputs, brisk)

        for buffer, leaf, data in columns:
            place = (buffer.address, leaf.offset)
            found[place] = "kept"
            for mode in draws.modes(data, leaf.type, leaf.boolean, most):
                alone = replace(subject, modes={place: mode})
                why = tried(alone, mode, mode in draws.BOLD)
                if why is None:
                    found[place] = mode
                    break
                if why == NEXT_TO_NOTHING:  # and so must every build
                    self.alone.append(_alone(buffer, place, mode))
            if draws.has_negatives(data, leaf.type):  # which may all mean none
                self.alone.append(_alone(buffer, place, "other negatives"))
            mode = found[place]
            if mode in ("fourfold", "wider", "drawn") and not leaf.boolean:
                alone = replace(subject, modes={place: mode}, padded=frozenset({place}))
                if tried(alone, f"{mode}, padded", brisk=True) is None:
                    padded.add(place)
                    self.alone.append(_alone(buffer, place, mode, padded=True))
        return replace(subject, modes=found, padded=frozenset(padded))

    def _kept(self, subject: Subject) -> tuple[str, ...]:
        places = {place[0] for place, mode in subject.modes.items() if mode == "kept"}
        names = [b.name for b in subject.layout.buffers if b.address in places]
        told = f"integers in {', '.join(names)} stay as captured: the original stands no others"
        return (told,) if names else ()

    def _tamed(self, subject: Subject) -> Subject:
        """Integers drawn together may still lead two workgroups to one place, or one nowhere: then
        they go less far, are shuffled, or stay."""
        for number, calmer in enumerate((_CALMER[0], *_CALMER)):
            found = {place: calmer.get(mode, mode) for place, mode in subject.modes.items()}
            if number == 1 and subject.padded:
                subject = replace(subject, padded=frozenset())
            elif number and found == subject.modes:
                continue
            subject = replace(subject, modes=found)
            drawn = next((s for s in self._sets(subject) if s.integers), None)
            if drawn is None:
                return subject
            if self._holds(subject, drawn):
                return subject
        return subject

    # ---- larger sizes

    def larger_plan(self, most: Most) -> Plan:
        first = self.trial(0)
        capture = first.session.capture
        subject = Subject(read_layout(capture, self.debug))
        ran = first.session.run([ORIGINAL], compare=False)
        self.run_s = first.run_s = ran.wall_s
        written = find_written(first, subject.layout.buffers)
        subject = replace(subject, written=written.spans, outputs=written.outputs)
        subject = self._with_modes(subject)
        good: list[tuple[int, bytes]] = []
        sets: list[InputSet] = []
        if any(mode in draws.BOLD for mode in subject.modes.values()):
            inputs = InputSet("integers beyond the captured", integers=True, poison=POISON)
            if self._holds(subject, inputs):
                sets.append(inputs)
        sets += [s for s in input_sets.of_more_dimensions(capture) if self._holds(subject, s)]
        for scalar in [s for s in subject.layout.scalars if not s.type.floating][:MAX_SCALARS]:
            for choice in input_sets.larger_arguments(capture, scalar, most):
                if found := self._more(subject, most, f"argument at {choice[0]} larger", [choice]):
                    good.append(choice)
                    self.stood.append(choice)
                    sets.append(found)
                    break
        if len(good) > 1 and (found := self._more(subject, most, "all sizes larger", good)):
            sets.append(found)
        blocked = None if sets else "no size among its arguments can be larger"
        if sets:
            sets += self._mixed(subject, self.names, FEW_LARGER, "larger mix")
        return Plan(
            tuple(sets), (), {}, blocked, self.run_s, subject,
            symbol=self.symbol, names=self.names, stood=tuple(self.stood), brief=True,
        )  # fmt: skip

    def _more(
        self, subject: Subject, most: Most, name: str, chosen: Sequence[tuple[int, bytes]]
    ) -> InputSet | None:
        """With one workgroup more, or as many as before; None: the original does not stand it."""
        drawn = replace(self._of_size(subject, name, chosen), integers=True)
        usual = replace(drawn, name=f"{name}, integers as captured", integers=False)
        grid = input_sets.more_workgroups(self.trial(0).session.capture, most)
        wide = [replace(each, grid=grid) for each in (drawn, usual)]
        for each in (wide[0], drawn, wide[1], usual):
            if self._holds(subject, each) and self.left[each.name].changed_bytes:
                return each
        return None

    def _holds(self, subject: Subject, inputs: InputSet) -> bool:
        """Whether the original stands a set, and leaves the same in another order."""
        stood = self._stands(subject, inputs) is None
        return stood and not self._differs_in_order(INTERLEAVINGS[0], subject, inputs)

    # ---- what was there before

    def _with_stale(self, subject: Subject, sets: Sequence[InputSet]) -> Subject:
        """With what the original leaves on other inputs: memory that holds results, not poison;
        and where it only leaves numbers that were there."""
        other = next((s for s in sets if s.drawn and not s.less and not s.share < 1), None)
        if other is None or not (seen := self.left[other.name].seen):
            return subject
        capture = self.trial(0).session.capture
        given = {
            c.address: c.data for c in changes(capture, subject, other) if isinstance(c, Replace)
        }
        buffers = [b for b in subject.layout.buffers if b.size <= moved.MOST_BYTES]
        held = [
            np.frombuffer(given[b.address], np.uint8)
            if b.address in given
            else captured_bytes(capture, b.address, b.size)
            for b in buffers
        ]
        only = moved.moved_only(buffers, held, seen)
        integers = moved.moved_only(buffers, held, seen, floating=False)
        stale: dict[input_sets.Stale, dict[int, Bytes]] = {
            "other": {s.address: s.got for s in seen}
        }
        if usual := self.left.get(input_sets.POISONED):
            left = {s.address: s.got for s in usual.seen}
            stale["near"] = {
                b.address: input_sets.nearly(b, left[b.address])
                for b in subject.layout.buffers
                if b.address in left
            }
        return replace(subject, stale=stale, moved=only, moved_integers=integers)

    # ---- integers of other kinds

    def _other_integers(self, subject: Subject) -> list[InputSet]:
        capture = self.trial(0).session.capture
        every = [
            *input_sets.of_large_integers(capture, subject),
            *input_sets.of_ends(subject),
            *input_sets.of_pieces(capture, subject),
            *self.alone,
        ]
        return [s for s in every if self._stands(subject, s, brisk=True) is None]

    # ---- pointers

    def _pointers(self, subject: Subject) -> list[InputSet]:
        every = input_sets.of_pointers(self.trial(0).session.capture, subject)
        return [s for s in every if self._stands(subject, s, brisk=True) is None]

    # ---- grids

    def _grids(self, subject: Subject) -> list[InputSet]:
        """Fewer workgroups, where they leave the same: then the kernel works for any number."""
        usual = self.left.get(input_sets.POISONED)
        found = []
        for inputs in input_sets.of_grids(self.trial(0).session.capture):
            fewer = self._try(0, subject, inputs, brisk=True)[0] if usual else None
            if usual and fewer and fewer.digest == usual.digest:
                self.left[inputs.name] = fewer
                found.append(inputs)
        return found

    # ---- special values

    def _specials(self, subject: Subject) -> list[InputSet]:
        """One of them all: where every result depends on every input, more than one leaves nothing
        but NaNs."""
        every = input_sets.of_one_alone(self.trial(0).session.capture, subject)
        chosen = list(itertools.islice(every, MOST_SPECIALS))
        return [s for s in chosen if self._stands(subject, s, brisk=True) is None]

    # ---- everything at once

    def _works(self, inputs: InputSet) -> bool:
        """Whether a number below nought may meet others: where nothing is left of it, it is a size,
        and no program passes one; what a build reads beforehand is then anywhere."""
        unsigned = all(data[-1] < 0x80 for _, data in inputs.arguments)
        return unsigned or self.left[inputs.name].changed_bytes > 0

    def _affordable(self, count: int) -> int:
        """So many, or fewer where a run takes long: each proposal runs on all of them."""
        return min(count, max(LEAST_OF_A_KIND, int(A_KIND_S / max(self.run_s, 1e-3))))

    def _mixes(self, subject: Subject, brief: bool = False) -> list[InputSet]:
        """What is wrong only where two things meet is met by chance."""
        most = self._affordable(FEW_PAIRS if brief else MOST_PAIRS)
        every = pairs(self.trial(0).session.capture, subject, self.stood, most)
        stood = [s for s in [*every] if self._stands(subject, s, brisk=True) is None]
        return [*stood, *self._mixed(subject, NO_NAMES, MIXES, "mix")]

    def _mixed(self, subject: Subject, names: Named, count: int, title: str) -> list[InputSet]:
        capture, count = self.trial(0).session.capture, self._affordable(count)
        every = [*mixes(capture, subject, self.stood, self.alone, names, count, title)]
        stands = (s for s in every if self._stands(subject, s, brisk=True) is None)
        return [*itertools.islice(stands, count)]

    # ---- what code names

    def named_sets(
        self, subject: Subject, names: Named, brief: bool, title: str = "named"
    ) -> list[InputSet]:
        """Mixes with these numbers in every column, and each argument as one of them."""
        if not names:
            return []
        found: list[InputSet] = []
        for scalar in [s for s in subject.layout.scalars if not s.type.floating][:MAX_SCALARS]:
            choices = input_sets.named_arguments(scalar, names.integers)
            most = self._affordable(FEW_NAMED if brief else MOST_NAMED)
            for at, data in choices[:: -(-len(choices) // most) or 1]:
                value = int.from_bytes(data, "little")
                name = f"{title}, argument at {at}: {value}"
                inputs = self._of_size(subject, name, [(at, data)])
                if self._stands(subject, inputs, brisk=True) is None and self._works(inputs):
                    found.append(inputs)
                    self.stood.append((at, data))
        count = NAMED_MIXES // (3 if brief else 1)
        return [*found, *self._mixed(subject, names, count, title)]

    # ---- sizes

    def _find_few(self, subject: Subject) -> None:
        """A few of what each whole number among the arguments may be, for mixes."""
        for scalar in [s for s in subject.layout.scalars if not s.type.floating][:MAX_SCALARS]:
            choices = input_sets.integer_arguments(self.trial(0).session.capture, scalar)
            for choice in [*choices.values()][:: -(-len(choices) // FEW_SIZES) or 1]:
                inputs = self._of_size(subject, "sizes", [choice])
                if self._stands(subject, inputs, brisk=True) is None and self._works(inputs):
                    self.stood.append(choice)

    def _sizes(self, subject: Subject) -> list[InputSet]:
        """All whole numbers among the arguments smaller at once, one by one where that fails; and
        each alone by what it stands, or those that are equal could stand for one another."""
        options: dict[str, list[tuple[int, bytes]]] = {}
        alone: dict[int, InputSet] = {}
        backwards: list[tuple[int, bytes]] = []
        whole = [s for s in subject.layout.scalars if not s.type.floating]
        for number, scalar in enumerate(whole[:MOST_SCALARS]):
            choices = input_sets.integer_arguments(self.trial(0).session.capture, scalar)
            unlike = input_sets.unlike_arguments(scalar)
            choices |= unlike
            most = len(choices) if number < MAX_SCALARS else FEW_CHOICES
            for name, choice in itertools.islice(choices.items(), most):
                inputs = self._of_size(subject, "sizes", [choice])
                if self._stands(subject, inputs, brisk=name in unlike) is None:
                    if self._works(inputs):
                        self.stood.append(choice)
                    options.setdefault(name, []).append(choice)
                    one = f"{name}, argument at {choice[0]}"
                    alone.setdefault(choice[0], replace(inputs, name=one))
                elif name == draws.BELOW:
                    backwards.append(choice)
        found: list[InputSet] = []
        for name, together in options.items():
            inputs = self._of_size(subject, name, together)
            if any(inputs.arguments == other.arguments for other in found):
                continue
            if whole_set := self._stands(subject, inputs) is None:
                found.append(inputs)
            if not whole_set or (name in draws.ALONE and len(together) > 1):
                found += [
                    self._of_size(subject, f"{name}, argument at {at}", [(at, data)])
                    for at, data in together[:MOST_ALONE]
                ]
        found += list(self._backwards(subject, backwards))
        told = {each.arguments for each in found}
        found += [each for each in alone.values() if each.arguments not in told]
        # Where there are one or three only, their kind is all that matters.
        strange = [
            self._of_size(subject, f"{s.name}, {draw}", s.arguments, draw)
            for s in found
            for draw in (draws.MANY_SPECIAL, draws.EXTREMES)
            if s.name.partition(",")[0] in draws.ALONE and s.floats is not None
        ]
        strange += [
            replace(ends, name=f"{s.name}, {ends.name}", arguments=s.arguments, less=True)
            for s in found
            for ends in input_sets.of_ends(subject)
            if s.name.partition(",")[0] in draws.ALONE
        ]
        return [*found, *(s for s in strange if self._stands(subject, s, brisk=True) is None)]

    def _backwards(
        self, subject: Subject, below: Sequence[tuple[int, bytes]]
    ) -> Iterator[InputSet]:
        """A distance below nought leads out of memory, unless another argument says to begin
        farther on."""
        starts = input_sets.starts(subject)
        for choice in below[:MOST_ALONE]:
            for start in (s for s in starts if s[0] != choice[0]):
                name = f"{draws.BELOW}, argument at {choice[0]}, begun farther on"
                inputs = self._of_size(subject, name, [choice, start])
                if self._stands(subject, inputs, brisk=True) is None:
                    yield inputs
                    break

    def _of_size(
        self,
        subject: Subject,
        name: str,
        changes: Sequence[tuple[int, bytes]],
        draw: str = input_sets.ANOTHER_SEED,
    ) -> InputSet:
        # The session, and its capture with it, is another one after the original failed in it.
        return input_sets.of_size(self.trial(0).session.capture, subject, name, changes, draw)

    # ---- orders

    def _orders(
        self, subject: Subject, sets: Sequence[InputSet]
    ) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Which orders the original agrees with itself in; sets on which it does not go."""
        plan = Plan(tuple(sets), ())
        good: list[int] = []
        remarks: list[str] = []
        for seed in INTERLEAVINGS:
            captured = [s for s in plan.ordered if not s.drawn]
            why = next(
                (w for s in captured if (w := self._differs_in_order(seed, subject, s))), None
            )
            if why:
                remarks.append(f"interleaving {seed} is not tried: {why}")
                continue
            good.append(seed)
            # Drawn integers and other sizes may lead workgroups to each other's places.
            own = plan.ordered[1:]
            risky = [s for s in sets if s in own or (s.drawn and (s.integers or s.less))]
            for inputs in risky if seed == good[0] else own:
                if inputs.name not in self.left_out and (
                    why := self._differs_in_order(seed, subject, inputs)
                ):
                    self.left_out[inputs.name] = why
        return tuple(good), tuple(remarks)

    # ---- all of it

    def _blocked(self, plan: Plan, brief: bool) -> str | None:
        """Why a check on this plan would prove nothing."""
        if not any(self.left[s.name].written_bytes for s in plan.sets):
            return "nothing that it writes could be found: there is nothing to compare"
        if brief:
            return None
        if not plan.interleavings:
            return ORDER
        drawn = [s for s in plan.sets if s.drawn and self.left[s.name].changed_bytes]
        layout = plan.subject.layout
        inputs = [b for b in layout.buffers if b.address not in plan.subject.outputs and b.leaves]
        if not drawn and (inputs or layout.scalars):
            why = next(iter(self.left_out.values()), "nothing in them could be changed")
            return f"it can be tried on no other inputs than the captured ones: {why}"
        captured = {self.left[s.name].digest for s in plan.sets if not s.drawn}
        if drawn and {self.left[s.name].digest for s in drawn} <= captured:
            return (
                "what it writes depends on nothing that could be changed: any constant would pass"
            )
        return None


def _alone(buffer: Buffer, place: Place, mode: draws.Mode, padded: bool = False) -> InputSet:
    """One column of integers changed, all others as captured."""
    name = f"{buffer.name} at {place[1]} {mode}{', some of them none' * padded}, alone"
    none = frozenset({place} if padded else ())
    only = ((place, mode),)
    return InputSet(name, None, True, POISON, less=True, modes=only, padded=none)
