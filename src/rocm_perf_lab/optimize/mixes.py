"""Input sets that change everything at once, each argument in its own way, by chance.

What is wrong only where two things meet (a special value in a row of another length, a size with
another flag) is on no set that changes one of them.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator, Sequence

import numpy as np

from rocm_perf_lab.optimize import draws
from rocm_perf_lab.optimize.input_sets import (
    ANOTHER_SEED,
    NO_NAMES,
    POISON,
    InputSet,
    Place,
    Subject,
    float_arguments,
    float_columns,
)
from rocm_perf_lab.optimize.layout import Argument
from rocm_perf_lab.optimize.named import Named
from rocm_perf_lab.replay.format import Capture

MIXES, NAMED_MIXES = 24, 12
_TRIES = 2  # the original stands some of them
_SMALL = 3  # a size, or which of several
_FLOATS = [d for d in draws.DRAWS if d not in (draws.EXTREMES, ANOTHER_SEED)]


def mixes(
    capture: Capture,
    subject: Subject,
    stood: Sequence[tuple[int, bytes]],
    alone: Sequence[InputSet],
    named: Named = NO_NAMES,
    count: int = MIXES,
    title: str = "mix",
) -> Iterator[InputSet]:
    """`stood`: arguments that the original stands; `alone`: sets of one column; `named`: numbers
    that are strewn into all columns."""
    floats = [(b.address, leaf.offset) for b, leaf in float_columns(capture, subject)]
    integers = {place: mode for place, mode in subject.modes.items() if mode != draws.KEPT}
    changing = [*floats, *integers, *float_arguments(subject.layout), *{at for at, _ in stood}]
    if len(changing) < 2 and not named:
        return  # nothing to mix
    salt = zlib.crc32(capture.manifest.model_dump_json().encode())
    for number in range(_TRIES * count):
        rng = np.random.default_rng([salt, number, *title.encode()])
        modes = {p: m for p, m in integers.items() if rng.random() < (0.9 if named else 0.75)}
        padded = frozenset(p for p in subject.padded if rng.random() < 0.5)
        if alone and rng.random() < 0.25:
            one = alone[int(rng.integers(len(alone)))]
            modes, padded = dict(one.modes or ()), one.padded or frozenset()
        given: dict[int, bytes] = {}
        for other in (None, *(other for other, _ in draws.SCALARS.values())):
            for at, data in float_arguments(subject.layout, other):
                if rng.random() < 0.25:
                    given[at] = data
        given |= _whole_numbers(rng, subject, stood)
        yield InputSet(
            f"{title} {number + 1}",
            ANOTHER_SEED if floats else None,
            bool(modes),
            POISON,
            arguments=tuple(given.items()),
            less=True,
            apart=_drawn_apart(rng, floats),
            modes=tuple(modes.items()),
            padded=padded,
            runs=bool(rng.random() < 0.25),
            named=named,
            pieces=bool(rng.random() < 0.25),
        )


def pairs(
    capture: Capture, subject: Subject, stood: Sequence[tuple[int, bytes]], most: int
) -> Iterator[InputSet]:
    """Two whole numbers among the arguments changed at once: to next to nothing, to another kind,
    by one. Some of all that there are, where these are many."""
    kinds = {s.offset: s for s in subject.layout.scalars if not s.type.floating}
    choices: dict[int, dict[int, bytes]] = {}
    for at, data in stood:
        value = _shown(kinds[at], data)
        # Two sizes below nought could be one above it as a product.
        if 0 <= value <= _SMALL or value == int(kinds[at].value) - 1:
            choices.setdefault(at, {})[value] = data
    every = [
        ((a, x), (b, y))
        for a, b in itertools.combinations(sorted(choices), 2)
        for x in choices[a].values()
        for y in choices[b].values()
    ]
    floats = ANOTHER_SEED if next(float_columns(capture, subject), None) else None
    rng = np.random.default_rng([zlib.crc32(capture.manifest.model_dump_json().encode()), 1])
    for number in rng.permutation(len(every)).tolist()[:most]:
        given = every[number]
        name = "pair " + ", ".join(f"{at}: {_shown(kinds[at], data)}" for at, data in given)
        drawn = bool(subject.modes) and number % 2 == 0
        yield InputSet(name, floats, drawn, POISON, arguments=given, less=True)


def _shown(scalar: Argument, data: bytes) -> int:
    return int.from_bytes(data, "little", signed=scalar.type.name.startswith("i"))


def _whole_numbers(
    rng: draws.Rng, subject: Subject, stood: Sequence[tuple[int, bytes]]
) -> dict[int, bytes]:
    """Some of them, small as often as not, and at most one below nought: all at once would be next
    to nothing of each."""
    kinds = {s.offset: s for s in subject.layout.scalars}
    choices: dict[int, list[bytes]] = {}
    for at, data in stood:
        choices.setdefault(at, []).append(data)
    most = min(len(choices), int(rng.integers(4)))
    found: dict[int, bytes] = {}
    for at in rng.permutation([*choices])[:most].tolist():
        known = [(_shown(kinds[at], d), d) for d in choices[at]]
        if any(_shown(kinds[a], d) < 0 for a, d in found.items()):
            known = [(v, d) for v, d in known if v >= 0]
        small = [(v, d) for v, d in known if abs(v) <= _SMALL]
        some = small if small and rng.random() < 0.5 else known
        if some:
            found[at] = some[int(rng.integers(len(some)))][1]
    return found


def _drawn_apart(rng: draws.Rng, floats: Sequence[Place]) -> tuple[tuple[Place, str], ...]:
    return tuple(
        (place, _FLOATS[int(rng.integers(len(_FLOATS)))])
        for place in floats
        if rng.random() < 2 / 3
    )
