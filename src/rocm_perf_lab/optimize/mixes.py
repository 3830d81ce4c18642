"""Input sets that change everything at once, each argument in its own way, by chance.

What is wrong only where two things meet (a special value in a row of another length, a size with
another flag) is on no set that changes one of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

import numpy as np

from rocm_perf_lab.optimize import draws
from rocm_perf_lab.optimize.input_sets import (
    ANOTHER_SEED,
    POISON,
    InputSet,
    Place,
    Subject,
    float_arguments,
    float_columns,
)
from rocm_perf_lab.replay.format import Capture

MIXES = 16
_FLOATS = [d for d in draws.DRAWS if d not in (draws.EXTREMES, ANOTHER_SEED)]


def mixes(
    capture: Capture,
    subject: Subject,
    stood: Sequence[tuple[int, bytes]],
    alone: Sequence[InputSet],
) -> Iterator[InputSet]:
    """`stood`: arguments that the original stands; `alone`: sets of one column."""
    floats = [(b.address, leaf.offset) for b, leaf in float_columns(capture, subject)]
    integers = {place: mode for place, mode in subject.modes.items() if mode != draws.KEPT}
    changing = [*floats, *integers, *float_arguments(subject.layout), *{at for at, _ in stood}]
    if len(changing) < 2:
        return  # nothing to mix
    salt = zlib.crc32(capture.manifest.model_dump_json().encode())
    for number in range(MIXES):
        rng = np.random.default_rng([salt, number])
        modes = {p: m for p, m in integers.items() if rng.random() < 0.75}
        padded = frozenset(p for p in subject.padded if rng.random() < 0.5)
        if alone and rng.random() < 0.25:
            one = alone[int(rng.integers(len(alone)))]
            modes, padded = dict(one.modes or ()), one.padded or frozenset()
        given: dict[int, bytes] = {}
        for other in (None, *(other for other, _ in draws.SCALARS.values())):
            for at, data in float_arguments(subject.layout, other):
                if rng.random() < 0.25:
                    given[at] = data
        # Two or three of the whole numbers: all of them at once is next to nothing of each.
        for _ in range(int(rng.integers(3)) if stood else 0):
            at, data = stood[int(rng.integers(len(stood)))]
            given[at] = data
        yield InputSet(
            f"mix {number + 1}",
            ANOTHER_SEED if floats else None,
            bool(modes),
            POISON,
            arguments=tuple(given.items()),
            less=True,
            apart=_drawn_apart(rng, floats),
            modes=tuple(modes.items()),
            padded=padded,
            runs=bool(rng.random() < 0.25),
        )


def _drawn_apart(rng: draws.Rng, floats: Sequence[Place]) -> tuple[tuple[Place, str], ...]:
    return tuple(
        (place, _FLOATS[int(rng.integers(len(_FLOATS)))])
        for place in floats
        if rng.random() < 2 / 3
    )
