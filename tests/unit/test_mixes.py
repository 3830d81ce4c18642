"""Input sets in which several things meet."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest

from rocm_perf_lab.optimize.input_sets import InputSet, Subject
from rocm_perf_lab.optimize.layout import Argument, Layout
from rocm_perf_lab.optimize.mixes import MIXES, mixes, pairs
from rocm_perf_lab.optimize.named import Named
from rocm_perf_lab.replay.compare import TYPES

CAPTURE: Any = SimpleNamespace(manifest=SimpleNamespace(model_dump_json=lambda: "a capture"))
LAUNCHED = {0: 40, 4: 2000, 8: 1}  # offset in the arguments -> what the program passed


def word(value: int) -> bytes:
    return value.to_bytes(4, "little", signed=True)


SUBJECT = Subject(
    Layout(
        (),
        tuple(Argument(f"n{at}", at, TYPES["i32"], False, word(v)) for at, v in LAUNCHED.items()),
        (64, 1, 1, 2048, 1, 1),
    )
)
SMALL = (-1, 0, 1, 2, 3)
STOOD = [(at, word(v)) for at, own in LAUNCHED.items() for v in (*SMALL, own - 1, 17)]


def passed(inputs: InputSet) -> dict[int, int]:
    return {at: int.from_bytes(data, "little", signed=True) for at, data in inputs.arguments}


def test_all_pairs_of_small_values_come_where_there_is_room() -> None:
    found = [passed(s) for s in pairs(CAPTURE, SUBJECT, STOOD, 1000)]
    for a, b in itertools.combinations(LAUNCHED, 2):
        for x, y in itertools.product((*SMALL[1:], LAUNCHED[a] - 1), (0, 2, LAUNCHED[b] - 1)):
            assert {a: x, b: y} in found
    assert all(len(each) == 2 and not {17, -1} & {*each.values()} for each in found)


@pytest.mark.parametrize("most", [0, 1, 10])
def test_of_many_pairs_some_are_taken(most: int) -> None:
    names = [s.name for s in pairs(CAPTURE, SUBJECT, STOOD, most)]
    assert len(set(names)) == len(names) == most


def test_one_argument_makes_no_pair() -> None:
    assert not list(pairs(CAPTURE, SUBJECT, STOOD[:7], 100))


def test_mixes_change_some_arguments_to_what_the_original_stood_and_carry_names() -> None:
    names = Named((77777,), (0.25,))
    found = list(mixes(CAPTURE, SUBJECT, STOOD, [], names))
    assert len(found) >= MIXES and len({s.name for s in found}) == len(found)
    assert all(s.named == names and s.less for s in found)
    assert all(pair in STOOD for s in found for pair in s.arguments)
    assert {len(s.arguments) for s in found} == {0, 1, 2, 3}
    assert all(sum(v < 0 for v in passed(s).values()) <= 1 for s in found)


def test_where_nothing_can_meet_there_is_no_mix() -> None:
    assert not list(mixes(CAPTURE, SUBJECT, STOOD[:7], []))
