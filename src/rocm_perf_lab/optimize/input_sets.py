"""Other inputs for a captured kernel, every argument by its type.

A set is a description; the bytes are made when they are wanted, the same every time. Each set is
tried on the original first, which decides whether it is one.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from rocm_perf_lab.codeobject.kernels import read_code_object
from rocm_perf_lab.optimize import draws
from rocm_perf_lab.optimize.layout import (
    Argument,
    Buffer,
    Layout,
    Leaf,
    captured_bytes,
    column,
    looks_like,
    put_column,
)
from rocm_perf_lab.optimize.named import Named
from rocm_perf_lab.replay.compare import TYPES, Bytes, ElementType
from rocm_perf_lab.replay.format import Capture
from rocm_perf_lab.replay.session import Fill, Replace

POISON = 0xFF  # a NaN in every floating-point format, -1 in every integer
OTHER_POISON = 0x7F
# One for each further set, so that a kernel that looks at what is there sees something else each
# time: large, small and positive, small and negative, zero.
STALE = (OTHER_POISON, 0x3C, 0xBC, 0x00)
GUARD = 0xA5
ANOTHER_SEED = "another seed"
MAX_CHANGED_BYTES = 1 << 30  # of one set; larger buffers keep their captured values
_FILLS = 64  # stretches of a buffer that are poisoned one by one
_SMALL = 2  # bytes
_FEW, _FEW_STARTS, _LEAST_START = 64, 4, 4  # a small number; arguments; bytes
_TRIED = 3  # sizes so small are sets of their own
_NOUGHT = 128  # as an operand of an instruction

_ALONE_BESIDE = (
    *((draw, ANOTHER_SEED) for draw in draws.ALONE_IN_ONE),
    (next(iter(draws.ALONE_IN_ONE)), draws.ZEROS_AND_ONES),
)

NO_NAMES = Named()

Change = Replace | Fill
Spans = tuple[tuple[int, int], ...]  # (offset, size)
Place = tuple[int, int]  # address of a buffer, offset of a field
Stale = Literal["other", "near"]  # results of other inputs; the right ones, a little off


@dataclass(frozen=True)
class Subject:
    """A captured kernel's memory, and what was found out about it."""

    layout: Layout
    written: Mapping[int, Spans] = field(default_factory=dict)  # whatever was there before
    outputs: frozenset[int] = frozenset()  # buffers of which nothing is read
    modes: Mapping[Place, draws.Mode] = field(default_factory=dict)  # of integers
    stale: Mapping[Stale, Mapping[int, Bytes]] = field(default_factory=dict)  # by kind and buffer
    moved: frozenset[Place] = frozenset()  # columns that only get numbers that were there
    moved_integers: frozenset[Place] = frozenset()  # likewise
    padded: frozenset[Place] = frozenset()  # of integers, what may hold values that mean none

    @property
    def strides(self) -> tuple[int, ...]:
        """Sizes that the launch names: its own, and whole numbers among its arguments."""
        return (*self.layout.work_items, *self.whole)

    @property
    def whole(self) -> tuple[int, ...]:
        """Whole numbers among the arguments."""
        return tuple(int(s.value) for s in self.layout.scalars if not s.type.floating)

    @property
    def scalars(self) -> tuple[float, ...]:
        """Floating-point arguments, those that are finite."""
        found = [float(s.value) for s in self.layout.scalars if s.type.floating]
        return tuple(value for value in found if np.isfinite(value))


@dataclass(frozen=True)
class InputSet:
    name: str
    floats: str | None = None  # how they are drawn; None: as captured
    integers: bool = False  # drawn too, each column as it may be
    poison: int | None = None
    guard: int = GUARD
    arguments: tuple[tuple[int, bytes], ...] = ()  # (offset in the block, bytes)
    less: bool = False  # less may be written on it than on the captured inputs, or nothing
    share: float = 1.0  # of the elements that are drawn; the others stay as captured
    grid: tuple[int, int, int] | None = None  # work-items, where not the captured ones
    large: bool = False  # a few of the integers are larger than sums of many stand
    runs: bool = False  # stretches of equal values, and of noughts, longer than a workgroup
    stale: Stale | None = None  # outputs begin with results, not with poison
    apart: tuple[tuple[Place, str], ...] = ()  # columns whose floats are drawn in another way
    modes: tuple[tuple[Place, draws.Mode], ...] | None = None  # of integers; None: as found out
    padded: frozenset[Place] | None = None  # of these; None: as found out
    named: Named = NO_NAMES  # numbers that the code names, strewn in
    pieces: bool = False  # stretches of columns of integers are copied into one another

    @property
    def drawn(self) -> bool:
        given = self.floats is not None or bool(self.arguments)
        return given or self.integers or self.pieces

    @property
    def draws(self) -> set[str | None]:
        """How its columns of floating point are drawn."""
        return {self.floats, *(draw for _, draw in self.apart)}

    @property
    def one_alone(self) -> bool:
        return any(draw in draws.ALONE_IN_ONE for draw in self.draws)


@dataclass(frozen=True)
class Nudge:
    """Every number of a type is moved by a step, up or down by the seed; by the first, up."""

    kind: ElementType
    seed: int
    steps: int = 1


CAPTURED = InputSet("captured", guard=0)
POISONED = "captured, outputs poisoned"
RESULTS_THERE = (
    InputSet("captured, results of other inputs there", poison=POISON, stale="other"),
    InputSet("captured, nearly the results there", poison=POISON, stale="near"),
)


def changes(
    capture: Capture, subject: Subject, inputs: InputSet, nudge: Nudge | None = None
) -> list[Change]:
    """What the set has in other places than the capture."""
    found: list[Change] = []
    left = MAX_CHANGED_BYTES
    for buffer in subject.layout.buffers:
        data = None
        if buffer.size <= left and buffer.address not in subject.outputs:
            data = _drawn(capture, subject, buffer, inputs, nudge)
        spans = subject.written.get(buffer.address, ()) if inputs.poison is not None else ()
        stale = subject.stale[inputs.stale].get(buffer.address) if inputs.stale else None
        if data is None and (len(spans) > _FILLS or stale is not None):
            data = captured_bytes(capture, buffer.address, buffer.size)
        if data is not None:
            left -= buffer.size
            for offset, size in spans:
                part = slice(offset, offset + size)
                data[part] = stale[part] if stale is not None else inputs.poison or 0
            found.append(Replace(buffer.address, data.tobytes()))
        else:
            for offset, size in spans:
                found.append(Fill(buffer.address + offset, size, inputs.poison or 0))
    return found


def _drawn(
    capture: Capture,
    subject: Subject,
    buffer: Buffer,
    inputs: InputSet,
    nudge: Nudge | None,
) -> Bytes | None:
    """The buffer with its columns drawn; None: nothing in it is."""
    wanted = inputs.floats is not None or inputs.integers or inputs.pieces or nudge is not None
    if not wanted or not buffer.leaves:
        return None
    data = captured_bytes(capture, buffer.address, buffer.size)
    # The same for the same capture; nobody who writes a proposal knows it.
    salt = zlib.crc32(capture.manifest.model_dump_json().encode())
    touched = False
    known = (*_given(subject, inputs), *subject.strides)
    modes = subject.modes if inputs.modes is None else dict(inputs.modes)
    padded = subject.padded if inputs.padded is None else inputs.padded
    for leaf in buffer.leaves:
        old = column(data, buffer, leaf)
        place = (buffer.address - subject.layout.buffers[0].address) & 0xFFFF_FFFF
        seed = [salt, zlib.crc32(inputs.name.encode()), place, leaf.offset]
        rng = np.random.default_rng(seed)
        floating = leaf.type.floating and looks_like(old, leaf.type)
        new, mode = old, draws.KEPT
        if floating and inputs.floats is not None:
            where = draws.Place(leaf.type, known, subject.scalars)
            draw = dict(inputs.apart).get((buffer.address, leaf.offset), inputs.floats)
            new = draws.drawn_floats(rng, old, draw, where)
            new = draws.with_named_floats(rng, new, leaf.type, inputs.named.floats)
        elif not floating and inputs.integers:
            at = (buffer.address, leaf.offset)
            mode = modes.get(at, "kept")
            if inputs.share < 1 and mode in draws.IN_ORDER:
                continue  # some of an order are none
            kind = as_integer(leaf).type
            new = draws.drawn_integers(rng, old, mode, kind, leaf.boolean, known, at in padded)
            if inputs.named.integers and not leaf.boolean:
                integers = (*inputs.named.integers, *_given(subject, inputs), *subject.whole)
                new = draws.with_named(rng, new, old, mode, kind, integers)
            if inputs.large and mode == "any":
                new = draws.with_large(rng, new, kind)
        if not floating and inputs.pieces:
            for other in _shorter(capture, subject, buffer, leaf, inputs):
                new = draws.with_pieces(rng, new, other, leaf.type, known)
        if new is not old and inputs.runs and (floating or mode not in draws.IN_ORDER):
            nought = floating or mode in draws.BOLD
            new = draws.in_runs(rng, new, leaf.type.size, 2 * max(subject.strides), nought)
        if new is not old and inputs.share < 1:
            new = draws.mixed(rng, old, new, leaf.type.size, inputs.share)
        if floating and nudge is not None and leaf.type == nudge.kind:
            moving = np.random.default_rng([nudge.seed, *seed])
            new = draws.nudged(moving, new, leaf.type, all_up=nudge.seed == 0, steps=nudge.steps)
        if new is not old:
            put_column(data, buffer, leaf, new)
            touched = True
    return data if touched else None


def _given(subject: Subject, inputs: InputSet) -> tuple[int, ...]:
    """Whole numbers that the set passes in place of the captured ones."""
    kinds = {s.offset: s for s in subject.layout.scalars if not s.type.floating}
    return tuple(
        int.from_bytes(data, "little", signed=_signed(kinds[at]))
        for at, data in inputs.arguments
        if at in kinds
    )


def _shorter(
    capture: Capture, subject: Subject, buffer: Buffer, leaf: Leaf, inputs: InputSet
) -> Iterator[Bytes]:
    """Columns of the same integers with fewer elements, or as many and before it, as the set has
    them; none where the column is one that stays."""
    if subject.modes.get((buffer.address, leaf.offset), "kept") in ("kept", "ascending"):
        return
    for other, its, data in integer_columns(capture, subject):
        earlier = (other.count, other.address) < (buffer.count, buffer.address)
        if its.type == as_integer(leaf).type and earlier and len(data):
            drawn = _drawn(capture, subject, other, inputs, None)
            yield data if drawn is None else column(drawn, other, its)


def as_integer(leaf: Leaf) -> Leaf:
    """What is called floating point and does not look like it is taken for words."""
    if not leaf.type.floating:
        return leaf
    return Leaf(leaf.offset, TYPES[f"u{8 * leaf.type.size}"])


def integer_columns(capture: Capture, subject: Subject) -> Iterator[tuple[Buffer, Leaf, Bytes]]:
    for buffer in subject.layout.buffers:
        if buffer.address in subject.outputs or buffer.size > MAX_CHANGED_BYTES:
            continue
        data = captured_bytes(capture, buffer.address, buffer.size)
        for leaf in buffer.leaves:
            old = column(data, buffer, leaf)
            if not (leaf.type.floating and looks_like(old, leaf.type)):
                yield buffer, as_integer(leaf), old


def float_columns(capture: Capture, subject: Subject) -> Iterator[tuple[Buffer, Leaf]]:
    """Those that are read, as far as types say."""
    for buffer in subject.layout.buffers:
        floating = [leaf for leaf in buffer.leaves if leaf.type.floating]
        if buffer.address in subject.outputs or not floating or buffer.size > MAX_CHANGED_BYTES:
            continue
        data = captured_bytes(capture, buffer.address, buffer.size)
        for leaf in floating:
            if looks_like(column(data, buffer, leaf), leaf.type):
                yield buffer, leaf


def float_types(capture: Capture, subject: Subject) -> list[ElementType]:
    """By name."""
    found = {leaf.type for _, leaf in float_columns(capture, subject)}
    return sorted(found, key=lambda kind: kind.name)


def float_arguments(
    layout: Layout, other: Callable[[float], float] | None = None
) -> tuple[tuple[int, bytes], ...]:
    """Every scalar of floating point, another value."""
    if other is None:
        other = functools.partial(draws.other_float, np.random.default_rng(len(layout.scalars)))
    return tuple(
        (s.offset, draws.encode(np.array([other(float(s.value))]), s.type).tobytes())
        for s in layout.scalars
        if s.type.floating
    )


def unlike_arguments(scalar: Argument) -> dict[str, tuple[int, bytes]]:
    """Values for a whole number among the arguments that are no size, each to be tried, by set."""
    if scalar.boolean:
        return {}
    others = draws.unlike(int(scalar.value), scalar.type.size, _signed(scalar))
    return {name: _argument(scalar, value) for name, value in others.items()}


def starts(subject: Subject) -> list[tuple[int, bytes]]:
    """Arguments that may say where to begin, as places well within what is read."""
    whole = [s for s in subject.layout.scalars if not s.type.floating and 0 <= s.value < _FEW]
    small = sorted(whole, key=lambda s: s.value)
    most = max((b.count for b in subject.layout.buffers if b.const), default=0)
    places = [p for share in (2, 4, 3) if (p := most * share // 4 - 1) > 0]
    return [
        _argument(s, place)
        for s in small[:_FEW_STARTS]
        for place in places
        if s.type.size >= _LEAST_START and not s.boolean
    ]


def named_arguments(scalar: Argument, names: Sequence[int]) -> list[tuple[int, bytes]]:
    """A whole number among the arguments, by what the code names."""
    if scalar.boolean:
        return []
    bits, signed = 8 * scalar.type.size, _signed(scalar)
    least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    fitting = [v for v in names if least <= v <= most and v != scalar.value and abs(v) > _TRIED]
    return [_argument(scalar, v) for v in fitting]


def integer_arguments(capture: Capture, scalar: Argument) -> dict[str, tuple[int, bytes]]:
    """Other values for a whole number among the arguments, each to be tried, by set."""
    value = int(scalar.value)
    others = draws.smaller(value, max(capture.dispatch.workgroup)) | draws.divisors(value)
    if scalar.boolean and value in (0, 1):
        others = {"sizes one less": 1 - value}
    return {name: _argument(scalar, v) for name, v in others.items() if v >= 0 or _signed(scalar)}


def _signed(scalar: Argument) -> bool:
    return scalar.type.name.startswith("i")


def _argument(scalar: Argument, value: int) -> tuple[int, bytes]:
    return scalar.offset, value.to_bytes(scalar.type.size, "little", signed=value < 0)


@dataclass(frozen=True)
class Most:
    """The largest that any launch of the kernel had."""

    grid: tuple[int, int, int] = (0, 0, 0)  # work-items
    arguments: Mapping[int, int] = field(default_factory=dict)  # by their offset


def larger_arguments(capture: Capture, scalar: Argument, most: Most) -> list[tuple[int, bytes]]:
    value = int(scalar.value)
    used = max(value, most.arguments.get(scalar.offset, value))
    others = draws.larger(value, used, max(capture.dispatch.workgroup), scalar.type.size)
    return [_argument(scalar, v) for v in others if v >= 0 or _signed(scalar)]


def of_more_dimensions(capture: Capture) -> Iterator[InputSet]:
    """Another workgroup in a direction in which the launch has one."""
    grid, block = capture.dispatch.grid, capture.dispatch.workgroup
    for axis, name in ((1, "y"), (2, "z")):
        if grid[axis] <= block[axis]:
            more = [g + (block[axis] if axis == at else 0) for at, g in enumerate(grid)]
            size = (more[0], more[1], more[2])
            yield InputSet(f"another workgroup along {name}", poison=POISON, grid=size)


def more_workgroups(capture: Capture, most: Most) -> tuple[int, int, int]:
    """One more each way that the launch goes."""
    dispatch = capture.dispatch
    grown = [
        max(dispatch.grid[axis], most.grid[axis] // block * block)
        + (block if axis < dispatch.dimensions else 0)
        for axis, block in enumerate(dispatch.workgroup)
    ]
    return grown[0], grown[1], grown[2]


def input_sets(capture: Capture, subject: Subject) -> Iterator[InputSet]:
    """All but those of other sizes."""
    yield CAPTURED
    yield InputSet(POISONED, poison=POISON)
    floats = bool(float_types(capture, subject))
    integers = any(mode != "kept" for mode in subject.modes.values())
    scalars = float_arguments(subject.layout)
    if floats:
        for number, draw in enumerate(draws.FLOATS):
            # Special values go with the captured integers: in case those that were drawn lead
            # the kernel past its work.
            own = integers and not draw.endswith("special values")
            stale = STALE[number % len(STALE)]
            # Coarse values are to meet the arguments as they are.
            given = scalars if number % 2 == 0 and draw != draws.COARSE else ()
            yield InputSet(draw, draw, own, stale, GUARD, given)
    elif integers or scalars:
        for number, byte in enumerate(STALE[:3]):
            name = ANOTHER_SEED if not number else f"seed {number + 1}"
            yield InputSet(name, None, integers, byte, byte ^ 0xFF, scalars)
    else:
        # Nothing may be changed but what must not matter: stale memory and its surroundings.
        for byte in STALE:
            yield InputSet(f"captured, stale memory {byte:#04x}", None, False, byte, byte ^ 0xFF)
    for name, (other, draw) in draws.SCALARS.items() if scalars else ():
        given = float_arguments(subject.layout, other)
        how = draw if floats else None
        yield InputSet(name, how, False, POISON, GUARD, given, less=True)
    if floats or integers:
        how = ANOTHER_SEED if floats else None
        yield InputSet("long runs", how, integers, POISON, runs=True)
        # What knows the captured values by some of them has to see the others change.
        for name, share in (("a few values", 1 / 256), ("an eighth", 1 / 8)):
            yield InputSet(f"captured but for {name}", how, integers, POISON, GUARD, share=share)


def of_one_alone(capture: Capture, subject: Subject) -> Iterator[InputSet]:
    """One special value in each column of floating point in turn, among numbers, and an infinity
    among noughts."""
    for draw, beside in _ALONE_BESIDE:
        for buffer, leaf in float_columns(capture, subject):
            name = f"{draw} in {buffer.name}"
            if len(buffer.leaves) > 1:
                name += f" at {leaf.offset}"
            if beside != ANOTHER_SEED:
                name += f", {beside} beside it"
            apart = (((buffer.address, leaf.offset), draw),)
            yield InputSet(name, beside, poison=POISON, apart=apart)


def nearly(buffer: Buffer, results: Bytes) -> Bytes:
    """Every number a little off: what is left because it is close is not right."""
    data: Bytes = results.copy()
    for leaf in buffer.leaves:
        put_column(data, buffer, leaf, draws.a_little_off(column(data, buffer, leaf), leaf.type))
    return data


def of_large_integers(capture: Capture, subject: Subject) -> Iterator[InputSet]:
    """Where sums of many keep integers small, a few that are not."""
    for buffer, leaf, _ in integer_columns(capture, subject):
        bold = subject.modes.get((buffer.address, leaf.offset)) == "any"
        if bold and draws.kept_small(leaf.type):
            floats = ANOTHER_SEED if float_types(capture, subject) else None
            yield InputSet("a few large integers", floats, True, POISON, large=True)
            return


def of_far_ends(subject: Subject) -> Iterator[InputSet]:
    """Where integers are only moved, nothing is computed that could overflow: wide ones may be as
    large as their type holds, too."""
    ends: draws.Mode = "ends"
    sizes = {
        leaf.type.size
        for b in subject.layout.buffers
        for leaf in b.leaves
        if (b.address, leaf.offset) in subject.moved_integers
    }
    chosen = tuple(
        ((b.address, leaf.offset), ends)
        for b in subject.layout.buffers
        for leaf in b.leaves
        if leaf.type.size in sizes and subject.modes.get((b.address, leaf.offset)) == "any"
    )
    if chosen:
        yield InputSet("moved integers at their ends", None, True, POISON, modes=chosen)


def of_ends(subject: Subject) -> Iterator[InputSet]:
    """Small integers that may be anything, all at the ends of their type, for long."""
    small = {
        (b.address, leaf.offset)
        for b in subject.layout.buffers
        for leaf in b.leaves
        if leaf.type.size <= _SMALL
    }
    ends: draws.Mode = "ends"
    chosen = tuple((p, ends) for p, mode in subject.modes.items() if mode == "any" and p in small)
    if chosen:
        yield InputSet("small integers at their ends", None, True, POISON, runs=True, modes=chosen)


def of_pieces(capture: Capture, subject: Subject) -> Iterator[InputSet]:
    """Where there are two columns of the same integers."""
    kinds = [leaf.type for _, leaf, _ in integer_columns(capture, subject)]
    if len(set(kinds)) < len(kinds):
        for drawn in (False, True):
            name = f"{'drawn ' * drawn}integers with pieces of one another"
            yield InputSet(name, None, drawn, POISON, less=True, pieces=True)


def of_pointers(capture: Capture, subject: Subject) -> Iterator[InputSet]:
    """Where the kernel asks whether a pointer is one: null where it was none, and the memory of
    something else that is only read where it was null."""
    if not _asks_for_null(capture):
        return
    floats = ANOTHER_SEED if float_types(capture, subject) else None
    read = [b for b in subject.layout.buffers if b.const and not b.holds_pointers]
    largest = max(read, key=lambda b: b.size, default=None)
    for argument in capture.dispatch.arguments:
        if argument.kind != "global_buffer":
            continue
        at = argument.offset
        given = int.from_bytes(capture.kernarg[at : at + 8], "little")
        if not given and largest is None:
            continue
        other = 0 if given or largest is None else largest.address
        name = f"argument at {at} {'null' if given else 'not null'}"
        changed = ((at, other.to_bytes(8, "little")),)
        yield InputSet(name, floats, False, POISON, GUARD, changed, less=True)


def _asks_for_null(capture: Capture) -> bool:
    """Whether the kernel compares any 64 bits with nought: else it would only fail on null, which
    costs a process each time."""
    symbol = capture.dispatch.kernel.symbol
    code = next(
        (k.code for k in read_code_object(capture.kernel_hsaco()).kernels if k.name == symbol), b""
    )
    words = np.frombuffer(code[: len(code) // 4 * 4], dtype="<u4")
    scalar = (words >> 23 == 0x17E) & np.isin(words >> 16 & 0x7F, (18, 19))  # s_cmp_eq, lg_u64
    scalar &= (words & 0xFF == _NOUGHT) | (words >> 8 & 0xFF == _NOUGHT)
    vector = (words >> 25 == 0x3E) & np.isin(words >> 17 & 0xFF, (0xEA, 0xED))  # v_cmp_eq, ne_u64
    return bool((scalar | (vector & (words & 0x1FF == _NOUGHT))).any())


def of_grids(capture: Capture) -> list[InputSet]:
    """The captured inputs for fewer workgroups: of one, and of one less."""
    grid, block = capture.dispatch.grid, capture.dispatch.workgroup
    if all(g <= b for g, b in zip(grid, block, strict=True)):
        return []
    widest = max(range(3), key=lambda axis: grid[axis] // block[axis])
    less = [
        g - (b if axis == widest else 0)
        for axis, (g, b) in enumerate(zip(grid, block, strict=True))
    ]
    found = {"one workgroup": block, "one workgroup less": (less[0], less[1], less[2])}
    return [InputSet(f"captured, {name}", poison=POISON, grid=size) for name, size in found.items()]


def of_size(
    capture: Capture,
    subject: Subject,
    name: str,
    chosen: Sequence[tuple[int, bytes]],
    draw: str = ANOTHER_SEED,
    integers: bool = False,
) -> InputSet:
    floats = draw if float_types(capture, subject) else None
    return InputSet(name, floats, integers, POISON, GUARD, tuple(chosen), less=True)
