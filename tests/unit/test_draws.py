"""New values for old: within what the program used, and never the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rocm_perf_lab.optimize import draws
from rocm_perf_lab.replay.compare import TYPES, Bytes, values

RNG = np.random.default_rng
INTS = st.lists(st.integers(-1000, 1000), min_size=1, max_size=50)


def ints(numbers: list[int]) -> Bytes:
    return np.array(numbers, "<i4").view(np.uint8)


def drawn(numbers: list[int], mode: draws.Mode, boolean: bool = False) -> list[int]:
    found = draws.drawn_integers(RNG(1), ints(numbers), mode, TYPES["i32"], boolean)
    return [int(v) for v in values(found, TYPES["i32"])]


@given(INTS)
def test_integers_stay_between_the_smallest_and_the_largest(numbers: list[int]) -> None:
    low, high = min([*numbers, 0] if len(set(numbers)) == 1 else numbers), max(numbers)
    high = max(high, 1) if len(set(numbers)) == 1 else high
    assert all(low <= v <= high for v in drawn(numbers, "drawn"))


@given(INTS)
def test_shuffled_integers_are_the_same_ones(numbers: list[int]) -> None:
    assert sorted(drawn(numbers, "shuffled")) == sorted(numbers)


@given(st.lists(st.integers(0, 1000), min_size=3, max_size=50))
def test_offsets_still_ascend_between_the_same_ends(numbers: list[int]) -> None:
    offsets = sorted(numbers)
    assume(offsets[0] < offsets[-1])
    new = drawn(offsets, "ascending")
    assert new == sorted(new)
    assert (new[0], new[-1]) == (offsets[0], offsets[-1])


def test_offsets_are_told_from_values() -> None:
    assert draws.modes(ints([0, 4, 4, 9]), TYPES["i32"], most_elements=9) == ("ascending",)
    # More than there are elements of anything: values that happen to ascend.
    for captured in ([0, 4, 4, 10], [4, 0, 9, 4], [7, 7, 7]):
        found = draws.modes(ints(captured), TYPES["i32"], most_elements=9)
        assert found == ("any", "fourfold", "wider", "drawn", "shuffled")
    assert draws.modes(ints([1, 0, 1]), TYPES["i32"], boolean=True) == ("drawn", "shuffled")


@pytest.mark.parametrize(
    ("kind", "captured", "mode", "ends"),
    [
        ("u8", [3, 250, 0], "any", (0, 255)),
        ("i8", [3, 5, 0], "any", (-128, 127)),
        ("u32", [3, 5, 0], "any", (0, 2**32 - 1)),
        ("i32", [3, 5, 1], "any", (-(2**15), 2**15)),
        ("i32", [-3, 5, 1], "any", (-(2**15), 2**15)),
        ("i64", [3, 2**40, 1], "any", (-(2**31), 2**40)),
        ("u32", [3, 250, 1], "wider", (0, 255)),
        ("i32", [-3, 9, -5], "wider", (-8, 15)),
        ("i32", [-3, -9, -5], "wider", (-16, 0)),
        ("i8", [-128, 127, 0], "wider", (-128, 127)),
    ],
)
def test_bold_draws_go_beyond_what_was_used_and_keep_to_it_by_half(
    kind: str, captured: list[int], mode: draws.Mode, ends: tuple[int, int]
) -> None:
    name = f"<{kind[0]}{int(kind[1:]) // 8}"
    data = np.array(captured * 2000, name).view(np.uint8)
    found = values(draws.drawn_integers(RNG(3), data, mode, TYPES[kind], False), TYPES[kind])
    low, high = int(found.min()), int(found.max())
    reach = ends[1] - ends[0]
    assert ends[0] <= low <= ends[0] + reach * 0.02 + 1
    assert ends[1] - reach * 0.02 - 1 <= high <= ends[1]
    used = (found >= min(captured)) & (found <= max(captured))
    assert used.mean() >= 0.45


def test_a_boolean_becomes_one_or_the_other() -> None:
    assert set(drawn([1] * 64, "drawn", boolean=True)) == {0, 1}


@pytest.mark.parametrize("draw", draws.FLOATS)
@pytest.mark.parametrize("name", ["f64", "f32", "f16", "bf16"])
def test_every_draw_gives_other_numbers_and_mostly_finite_ones(draw: str, name: str) -> None:
    kind = TYPES[name]
    old = draws.encode(np.linspace(-3.0, 3.0, 4096), kind)
    new = draws.drawn_floats(RNG(2), old, draw, draws.Place(kind, (64,)))
    numbers = values(new, kind)
    assert len(numbers) == 4096
    assert (new != old).any()
    assert np.isfinite(numbers).mean() > 0.9


@given(st.sampled_from(["f64", "f32", "f16", "bf16"]), st.integers(0, 2**16))
def test_a_nudge_is_one_step(name: str, seed: int) -> None:
    kind = TYPES[name]
    old = draws.encode(RNG(seed).normal(size=32) * 10, kind)
    new = draws.nudged(RNG(seed), old, kind)
    steps = new.view(f"<i{kind.size}").astype(np.int64) - old.view(f"<i{kind.size}")
    assert (np.abs(steps) == 1).all()


def test_a_nudge_leaves_zeros_and_infinities() -> None:
    old = np.array([0.0, -0.0, np.inf, -np.inf], "<f4").view(np.uint8)
    assert (draws.nudged(RNG(0), old, TYPES["f32"]) == old).all()


def test_edges_are_the_ends_of_all_and_of_rows() -> None:
    found = draws.edges(1000, (100, 1, 5000))
    assert {0, 999, 99, 100, 899, 900} <= set(found.tolist())
    assert 50 not in found


@given(st.integers(2, 10**6), st.sampled_from((16, 64, 256, 1024)))
def test_smaller_sizes_are_smaller_and_one_divides_as_the_size_did(
    size: int, workgroup: int
) -> None:
    found = draws.smaller(size, workgroup)
    other = ("more", "turned")
    assert all(0 <= v < size for name, v in found.items() if not name.endswith(other))
    assert size - 1 in found.values()
    assert {0, 1} <= set(found.values())
    if size < 3:
        return
    power = size & -size
    if power < size:
        assert found["smaller sizes"] % power == 0


@given(st.integers(2, 10**6), st.sampled_from((16, 64, 256, 1024)))
def test_smaller_sizes_fill_workgroups_and_begin_one(size: int, workgroup: int) -> None:
    found = draws.smaller(size, workgroup)
    whole = found.get("sizes of whole workgroups")
    past = found.get("sizes one past whole workgroups")
    assert (whole is None) == (size <= workgroup) or size == 2
    assert whole is None or (whole % workgroup == 0 and size - whole <= workgroup)
    assert past is None or past % workgroup == 1


def test_coarse_values_are_often_equal_lie_between_whole_numbers_and_hold_the_arguments() -> None:
    old = np.linspace(-180, 190, 4000).astype("<f4").view(np.uint8)
    place = draws.Place(TYPES["f32"], (), (1.7,))
    found = draws.drawn_floats(RNG(1), old, draws.COARSE, place).view("<f4")
    assert len(set(found.tolist())) < 2000
    assert (found % 1 == 0.5).any()
    assert {np.float32(1.7), np.float32(-1.7)} <= set(found)
    assert (np.signbit(found) & (found == 0)).any()


def test_integers_have_signs_ends_and_numbers_of_the_launch() -> None:
    old = np.arange(5, 2005, dtype="<i4")[::-1].copy().view(np.uint8)
    found = draws.drawn_integers(RNG(2), old, "any", TYPES["i32"], False, (777,)).view("<i4")
    assert {-(1 << 15), 1 << 15, 5, 2004, -1, 0, 1, 777} <= set(found.tolist())
    kept = draws.drawn_integers(RNG(2), old, "drawn", TYPES["i32"], False, (77, 9999)).view("<i4")
    assert {5, 2004, 77} <= set(kept.tolist())
    assert kept.min() == 5 and kept.max() == 2004


def test_larger_sizes_are_larger_than_in_any_launch_and_fit_their_type() -> None:
    assert draws.larger(100, 120, 64, 4) == (184, 121, 101)
    assert draws.larger(100, 100, 64, 1) == (101,)
    assert draws.larger(1, 9, 64, 4) == (3, 2, -1)
    assert draws.larger(0, 9, 64, 4) == (2, 1, -1)


def test_what_may_be_no_size_is_tried_as_what_follows_it() -> None:
    assert draws.smaller(-5, 64) == {}
    assert sorted(draws.smaller(0, 64).values()) == [-1, 1, 2, 4, 8, 16, 32, 64, 128]
    assert sorted(draws.smaller(1, 64).values()) == [0, 2, 3, 5, 9, 17, 33, 65, 129]
    assert {4, 5, 7, 11} <= set(draws.smaller(3, 64).values())
    assert max(draws.smaller(16, 64).values()) < 16
    assert draws.smaller(3, 64)["sizes of one"] == 1


def test_a_share_of_the_elements_is_taken_whole_and_one_at_least() -> None:
    old, new = np.zeros(4000, np.uint8), np.full(4000, 7, np.uint8)
    for share, most in ((1 / 8, 250), (0.0, 1)):
        found = draws.mixed(np.random.default_rng(5), old, new, 4, share).reshape(-1, 4)
        changed = (found == 7).all(axis=1)
        assert ((found == 0).all(axis=1) | changed).all()
        assert 1 <= changed.sum() <= most


def test_less_than_a_workgroup_is_among_the_sizes() -> None:
    assert draws.smaller(10_000, 256)["sizes of half a workgroup"] == 129
    assert "sizes of half a workgroup" not in draws.smaller(100, 256)


@pytest.mark.parametrize(("kind", "bits"), [("f32", 16), ("f32", 13), ("f64", 29)])
def test_numbers_half_way_between_two_of_a_shorter_format_are_drawn(kind: str, bits: int) -> None:
    old = np.linspace(1, 9, 200).astype(TYPES[kind].numpy).view(np.uint8)
    place = draws.Place(TYPES[kind], ())
    drawn = draws.drawn_floats(RNG(3), old, "halves of shorter formats", place)
    found = drawn.view(f"<u{TYPES[kind].size}")
    half = found % (1 << bits) == 1 << (bits - 1)
    odd = (found >> bits) % 2 == 1
    assert (half & odd).sum() > 20 and (half & ~odd).sum() > 20


def test_sizes_by_whose_reciprocals_no_division_is_done_are_among_them() -> None:
    double, single = draws.divisors(80).values()
    assert double * (1.0 / double) < 1
    assert np.float32(single) * (np.float32(1) / np.float32(single)) < 1
    assert draws.divisors(44) == draws.divisors(80)  # narrow pictures may be wider, too


@given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=50), st.integers(0, 99))
def test_one_infinity_is_one(numbers: list[float], seed: int) -> None:
    old = np.array(numbers, "<f4").view(np.uint8)
    place = draws.Place(TYPES["f32"], ())
    new = values(draws.drawn_floats(RNG(seed), old, "one infinity", place), TYPES["f32"])
    assert np.isinf(new).sum() == 1
    assert not np.isnan(new).any()


@given(st.integers(1, 300), st.integers(0, 99))
def test_a_special_value_is_alone_among_numbers(count: int, seed: int) -> None:
    old = np.linspace(-3, 3, count).astype("<f4").view(np.uint8)
    place = draws.Place(TYPES["f32"], (64, 100))
    for draw in draws.ALONE_IN_ONE:
        new = values(draws.drawn_floats(RNG(seed), old, draw, place), TYPES["f32"])
        strange = new[~np.isfinite(new)]
        assert len(strange)
        assert len(set(strange.astype(str))) == 1


def test_every_edge_of_many_has_special_values_of_each_kind() -> None:
    old = np.linspace(-3, 3, 128 * 256).astype("<f4").view(np.uint8)
    place = draws.Place(TYPES["f32"], (256,))
    new = values(draws.drawn_floats(RNG(3), old, draws.SPECIAL_EDGES, place), TYPES["f32"])
    for at in (0, 1, 254, 255):
        assert {"nan", "inf", "-inf"} <= set(new[at::256].astype(str))
    assert np.isfinite(new).mean() > 0.9


def test_small_integers_at_their_ends_are_nothing_else() -> None:
    old = np.arange(100, dtype="<i1").view(np.uint8)
    found = draws.drawn_integers(RNG(0), old, "ends", TYPES["i8"], False).view("<i1")
    assert set(found.tolist()) == {-128, 127}


def test_other_negatives_leave_the_rest_alone() -> None:
    old = np.array([-1, 5, -1, 0, 7, -1, -1, -1, -1], "<i4")
    found = draws.drawn_integers(RNG(0), old.view(np.uint8), "other negatives", TYPES["i32"], False)
    new = found.view("<i4")
    assert (new[old >= 0] == old[old >= 0]).all()
    assert (new[old < 0] < 0).all() and len(set(new[old < 0].tolist())) > 1


@given(st.integers(1, 40), st.integers(40, 400), st.integers(0, 99))
def test_pieces_of_another_column_are_at_both_ends_and_nearly_in_between(
    short: int, long: int, seed: int
) -> None:
    pattern = np.arange(100, 100 + short, dtype="<u1")
    text = np.zeros(long, "<u1")
    found = draws.with_pieces(RNG(seed), text, pattern, TYPES["u8"], ())
    assert len(found) == long
    assert (found[-short:] == pattern).all()
    assert (found[:short] == pattern).all() or long < 2 * short


@pytest.mark.parametrize(
    ("value", "size", "signed", "among"),
    [
        (5, 4, True, {-5, -1, -6}),
        (5, 4, False, set()),
        (0, 4, True, set()),
        (7, 8, False, {7 + 2**32, 2**32 - 4, 2**64 - 4}),
        (7, 8, True, {-7, -1, -8, 7 + 2**32, 2**32 - 4, 2**63 - 4}),
    ],
)
def test_what_is_no_size_is_tried_too(value: int, size: int, signed: bool, among: set[int]) -> None:
    assert set(draws.unlike(value, size, signed).values()) == among


def test_all_up_moves_every_number_away_from_nought() -> None:
    old = np.array([1.0, -1.0, 0.0, 3.5], "<f4")
    new = draws.nudged(RNG(0), old.view(np.uint8), TYPES["f32"], all_up=True).view("<f4")
    assert (np.abs(new) > np.abs(old)).tolist() == [True, True, False, True]


def test_what_means_none_is_strewn_where_it_is_asked_for() -> None:
    captured = ints(list(range(200)) * 5)
    most: dict[draws.Mode, int] = {"drawn": 199, "fourfold": 799}
    for mode, high in most.items():
        new = draws.drawn_integers(RNG(1), captured, mode, TYPES["i32"], False, padded=True)
        found = values(new, TYPES["i32"])
        assert {-1, -2, -7} <= set(found.tolist())
        assert found.max() <= high


def test_coarse_values_lie_half_way_between_steps_of_an_argument() -> None:
    captured = np.linspace(-180, 180, 4000).astype("<f4").view(np.uint8)
    place = draws.Place(TYPES["f32"], (), (2.0,))
    found = values(draws.drawn_floats(RNG(1), captured, draws.COARSE, place), TYPES["f32"])
    assert ((found * 2.0) % 1.0 == 0.5).sum() > 100


def test_a_few_large_integers_are_more_than_floating_point_holds() -> None:
    for name, floating in (("i32", np.float32), ("i64", np.float64)):
        old = np.zeros(1000, TYPES[name].numpy)
        new = values(draws.with_large(RNG(3), old.view(np.uint8), TYPES[name]), TYPES[name])
        large = new[new != 0]
        assert 2 <= len(large) <= 30
        assert (large.astype(floating).astype(object) != large.astype(object)).all()
        assert int(np.abs(large.astype(object)).sum()) < 1 << (8 * TYPES[name].size - 1)
    assert not draws.kept_small(TYPES["u32"])


def test_denormals_are_not_nudged() -> None:
    old = np.array([1e-45, 1e-40, 1.0], "<f4")
    new = draws.nudged(RNG(0), old.view(np.uint8), TYPES["f32"]).view("<f4")
    assert (new == old).tolist() == [True, True, False]


@given(st.integers(1, 3000), st.integers(0, 99), st.booleans())
def test_runs_are_alike_and_the_rest_is_as_drawn(count: int, seed: int, nought: bool) -> None:
    old = np.arange(1, count + 1, dtype="<u4")
    new = draws.in_runs(RNG(seed), old.view(np.uint8), 4, 512, nought).view("<u4")
    assert len(new) == count
    assert set(new.tolist()) <= {0, *old.tolist()} if nought else set(old.tolist())
    if count > 2000:
        assert (new[1:] == new[:-1]).sum() > 100
        assert (new == old).sum() > 100
