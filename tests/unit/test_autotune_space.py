"""Search spaces: formats, constraints that are parsed and never executed, neighbours."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_perf_lab.autotune import constraint, space
from rocm_perf_lab.autotune.features import coordinates, polynomial_features
from rocm_perf_lab.autotune.neighbours import Neighbours
from rocm_perf_lab.errors import BadInput

NAMES = frozenset({"BM", "BN", "kind", "pad"})
ROWS = [
    {"BM": m, "BN": n, "kind": k, "pad": p}
    for m in (16, 32, 48)
    for n in (1, 2, 4)
    for k in ("row", "col")
    for p in (False, True)
]
COLUMNS = {
    "BM": np.array([r["BM"] for r in ROWS]),
    "BN": np.array([r["BN"] for r in ROWS]),
    "kind": np.array([r["kind"] for r in ROWS], dtype=object),
    "pad": np.array([r["pad"] for r in ROWS]),
}


@pytest.mark.parametrize(
    "text",
    [
        "BM * BN <= 64",
        "BM % 32 == 0 or kind == 'col'",
        "16 <= BM < 48",
        "not pad and BN in [1, 4]",
        "kind not in ('row', 'diagonal')",
        "BM // BN >= 8 if pad else BM + BN > 17",
        "max(BM, 32) / min(BN, 2) != 16.0",
        "(BM & (BM - 1)) == 0",
        "BN << 3 > BM",
        "BM ** 2 > 600",
        "pad + pad == 2",
        "-BM < -20",
        "abs(BM - 32) <= 0",
        "BM",
        "pad == (BN > 1)",
    ],
)
def test_a_constraint_means_what_it_means_in_python(text: str) -> None:
    found = constraint.parse(text, NAMES).holds(COLUMNS)
    names = {"max": max, "min": min, "abs": abs}
    expected = [bool(eval(text, {"__builtins__": names}, dict(row))) for row in ROWS]
    assert found.tolist() == expected


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "BM.__class__",
        "(lambda: 1)()",
        "[x for x in (1, 2)]",
        "open('/etc/passwd')",
        "BM[0]",
        "f'{BM}'",
        "BM := 3",
        "max(BM, key=BN)",
        "unknown > 1",
        "BM >",
        "",
        "(" * 500 + "1" + ")" * 500,
        "9 ** 9 ** 9 > BM",
        "kind + 1 > 2",
    ],
)
def test_anything_else_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(BadInput):
        constraint.parse(text, NAMES).holds(COLUMNS)


@pytest.mark.parametrize("text", ["BN / BM < 2", "4 % BM == 0", "BN // BM == 0", "4 % BM != 1"])
def test_division_by_zero_makes_a_configuration_invalid_not_the_run(text: str) -> None:
    columns = {"BM": np.array([0, 2]), "BN": np.array([1, 1])}
    assert constraint.parse(text, NAMES).holds(columns).tolist() == [False, True]
    guarded = constraint.parse(f"BM == 0 or {text}", NAMES)
    assert guarded.holds(columns).tolist() == [True, True]


def test_no_number_is_not_true() -> None:
    columns = {"BM": np.array([0, 2, 2]), "BN": np.array([1, 1, 4])}
    for text in ("BN % BM and BN > 0", "(1 if BN % BM else 0) == 1"):
        assert constraint.parse(text, NAMES).holds(columns).tolist() == [False, True, False]


def test_parameters_with_constraints_give_exactly_the_valid_configurations() -> None:
    found = space.from_json(
        {
            "parameters": {
                "a": [1, 2, 4],
                "b": {"min": 8, "max": 64, "factor": 2},
                "c": ["x", "y"],
                "d": [True, False],
                "e": [0.5, 1.5],
            },
            "constraints": ["a * b <= 64", "c == 'x' or not d"],
        },
        "here",
    )
    expected = {
        (a, b, c, d, e)
        for a, b, c, d, e in itertools.product(
            [1, 2, 4], [8, 16, 32, 64], "xy", [True, False], [0.5, 1.5]
        )
        if a * b <= 64 and (c == "x" or not d)
    }
    rows = [tuple(found.configuration(i).values()) for i in range(found.size)]
    assert set(rows) == expected
    assert len(rows) == len(expected)


def test_a_list_of_configurations_is_taken_as_it_is_and_names_may_be_any_word() -> None:
    found = space.from_json([{"block-x.y": 2, "k": "b"}, {"block-x.y": 1, "k": "a"}] * 2, "here")
    assert [found.configuration(i) for i in range(found.size)] == [
        {"block-x.y": 2, "k": "b"},
        {"block-x.y": 1, "k": "a"},
    ]


def test_one_true_and_the_text_1_are_three_values() -> None:
    found = space.from_configurations([{"a": 1}, {"a": True}, {"a": "1"}], "here")
    assert [type(found.configuration(i)["a"]) for i in range(3)] == [int, bool, str]


@pytest.mark.parametrize(
    "data",
    [
        [],
        {},
        3,
        [{"a": 1}, {"b": 1}],
        [{"a": [1]}],
        [{"a": None}],
        [{"a": float("nan")}],
        [{}],
        {"parameters": {"a": []}},
        {"parameters": {"a{": [1]}},
        {"parameters": {"a": [1]}, "constraints": ["a > 1"]},
        {"parameters": {"a": [1]}, "constraints": "a > 1"},
        {"parameters": {"a": {"min": 1, "max": 9, "step": 0}}},
        {"parameters": {f"p{i}": list(range(100)) for i in range(20)}},
    ],
)
def test_a_bad_space_gets_one_sentence(data: object) -> None:
    with pytest.raises(BadInput):
        space.from_json(data, "here")


def test_a_file_that_is_no_json_gets_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "space.json"
    path.write_bytes(b"\xff{")
    with pytest.raises(BadInput):
        space.load(path)
    path.write_text(json.dumps([{"a": 1}]))
    assert space.load(path).size == 1


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.integers(1, 4), min_size=1, max_size=5))
def test_neighbours_are_exactly_the_rows_with_one_difference(seed: int, sizes: list[int]) -> None:
    rng = np.random.default_rng(seed)
    rows = [dict(zip("abcde", r, strict=False)) for r in itertools.product(*map(range, sizes))]
    kept = [r for r in rows if rng.random() < 0.7] or rows[:1]
    found = space.from_configurations(kept, "here")
    near = Neighbours(found, coordinates(found))
    for row in range(found.size):
        different = (found.codes != found.codes[row]).sum(axis=1)
        assert sorted(near.of(row)) == np.flatnonzero(different == 1).tolist()
        two = np.flatnonzero((different > 0) & (different <= 2)).tolist()
        assert sorted(near.within_two(row)) == two


def test_features_know_accumulators_threads_and_odd_sizes() -> None:
    found = space.from_json(
        {
            "parameters": {
                "BLOCK_M": [32, 64, 96],
                "BLOCK_N": [32, 64],
                "BLOCK_K": [8, 16],
                "num_warps": [1, 4],
                "layout": ["tn", "nn"],
            }
        },
        "here",
    )
    features = polynomial_features(found)
    for name in ("ACC", "ACC^2", "BLOCK_K", "threads_per_block", "odd(BLOCK_M)", "layout=tn"):
        assert name in features.names
    acc = features.matrix[:, features.names.index("ACC")]
    config = found.configuration(5)
    assert acc[5] == float(config["BLOCK_M"]) * float(config["BLOCK_N"])
    assert np.isfinite(coordinates(found)).all()
