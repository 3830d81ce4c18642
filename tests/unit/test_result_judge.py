"""Which results are the same results: by element, by what rounding does to it, never by a norm."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm_perf_lab.optimize.input_sets import Spans, Subject
from rocm_perf_lab.optimize.judge import Doubt, Wrong, aligned, judge
from rocm_perf_lab.optimize.layout import Buffer, Layout, Leaf
from rocm_perf_lab.replay.compare import TYPES, Bytes
from rocm_perf_lab.replay.session import Seen

AT = 0x1000
F32, I32 = TYPES["f32"], TYPES["i32"]


def subject(count: int, written: Spans = (), const: bool = False) -> Subject:
    buffer = Buffer("out", AT, 4 * count, 4, (Leaf(0, F32),), const)
    return Subject(Layout((buffer,), (), ()), {AT: written} if written else {})


def raw(numbers: list[float]) -> Bytes:
    return np.array(numbers, "<f4").view(np.uint8)


def looked(
    expected: list[float], got: list[float], initial: list[float] | None = None
) -> tuple[list[Wrong], list[Doubt]]:
    before = raw([np.nan] * len(expected)) if initial is None else raw(initial)
    seen = Seen(AT, before, raw(expected), raw(got))
    return judge(
        subject(len(expected), ((0, 4 * len(expected)),) if initial is None else ()), [seen]
    )


def beyond(doubts: list[Doubt], nudged: bool = True) -> int:
    return sum(int(d.beyond(nudged).sum()) for d in doubts)


@given(st.lists(st.floats(width=32), min_size=1, max_size=20))
def test_what_is_equal_is_right(numbers: list[float]) -> None:
    assert looked(numbers, numbers) == ([], [])


@given(st.floats(2.0**-100, 2.0**100, width=32))
def test_a_step_is_rounding_and_a_thousandth_is_not(number: float) -> None:
    near = float(np.nextafter(np.float32(number), np.float32(np.inf)))
    assert beyond(looked([number] * 2, [number, near])[1]) == 0
    wrong, doubts = looked([number] * 2, [number, number * 1.001])
    assert len(wrong) + beyond(doubts) == 1


def test_a_small_element_does_not_hide_behind_large_ones() -> None:
    _, doubts = looked([1e6, 1e6, 1e-3], [1e6, 1e6, 2e-3])
    assert beyond(doubts) == 1


def test_what_cancels_may_differ_by_what_a_nudge_does_to_it() -> None:
    _, doubts = looked([1e-3, 5.0], [1.1e-3, 5.0])
    assert beyond(doubts) == 1
    moved = [d.moved(raw([1.05e-3]), F32) for d in doubts]
    assert beyond(moved) == 0


def test_a_nudge_of_half_precision_counts_in_proportion() -> None:
    """Else a sum of halves might be kept in one."""
    _, doubts = looked([100.25], [100.5], initial=[0.0])
    assert beyond([d.moved(raw([100.35]), F32) for d in doubts]) == 0
    assert beyond([d.moved(raw([100.35]), TYPES["f16"]) for d in doubts]) == 1


def test_a_nan_that_is_changed_in_place_may_be_any_nan() -> None:
    quiet, other = np.array([0x7FC00000, 0x7FC00001], "<u4")
    before, after = (np.array([bits, bits], "<u4").view(np.uint8) for bits in (other, quiet))
    left = Seen(AT, before, after, before)
    assert judge(subject(2), [left]) == ([], [])
    # But not where it is known to be written: there it was left out.
    assert judge(subject(2, written=((0, 8),)), [left])[0]


def test_where_nothing_can_be_nudged_the_tolerance_of_the_type_holds() -> None:
    assert beyond(looked([1.0], [1.000009], initial=[0.0])[1], nudged=False) == 0
    assert beyond(looked([1.0], [1.00002], initial=[0.0])[1], nudged=False) == 1


def test_what_was_left_as_it_was_is_wrong_however_near() -> None:
    wrong, _ = looked([1.0, 2.0], [1.0, 2.0000005], initial=[0.0, 2.0000005])
    assert [(w.count, "left as they were" in w.why) for w in wrong] == [(1, True)]


def test_what_the_original_does_not_write_stays() -> None:
    wrong, _ = looked([1.0, 2.0], [1.0, 2.0000005], initial=[0.5, 2.0])
    assert "does not write there" in wrong[0].why


@pytest.mark.parametrize(("expected", "got"), [(1.0, np.nan), (np.nan, 1.0), (np.inf, -np.inf)])
def test_no_nudge_excuses_a_nan_or_another_infinity(expected: float, got: float) -> None:
    wrong, _ = looked([expected], [got], initial=[0.0])
    assert len(wrong) == 1


def test_a_nan_is_a_nan() -> None:
    assert looked([np.nan], [-np.nan], initial=[0.0]) == ([], [])


def test_one_less_of_a_million_is_missing_where_sums_are_exact() -> None:
    """A relative error of 2e-6, as rounding may have, but whole numbers are not rounded."""
    _, doubts = looked([500_000.0], [499_999.0], initial=[0.0])
    assert beyond([d.moved(raw([500_000.03]), F32) for d in doubts]) == 1
    _, doubts = looked([500_000.5], [499_999.5], initial=[0.0])
    assert beyond([d.moved(raw([500_000.53]), F32) for d in doubts]) == 0


def test_integers_agree_when_they_are_equal() -> None:
    buffer = Buffer("counts", AT, 8, 4, (Leaf(0, I32),), False)
    sides = [np.array(n, "<i4").view(np.uint8) for n in ([0, 0], [5, 6], [5, 7])]
    wrong, doubts = judge(Subject(Layout((buffer,), (), ())), [Seen(AT, *sides)])
    assert doubts == []
    assert wrong[0].words() == "1 of 2 elements of counts differ (element 1: 7, expected 6)"


def test_fields_of_structures_are_judged_by_their_own_types() -> None:
    kind = np.dtype([("x", "<f4"), ("id", "<i4")])
    buffer = Buffer("bodies", AT, 16, 8, (Leaf(0, F32), Leaf(4, I32)), False)
    expected = np.array([(1.0, 1), (2.0, 2)], kind)
    got = np.array([(1.0000001, 1), (2.0, 3)], kind)
    sides = [np.zeros(16, np.uint8), expected.view(np.uint8), got.view(np.uint8)]
    wrong, doubts = judge(Subject(Layout((buffer,), (), ())), [Seen(AT, *sides)])
    assert [w.count for w in wrong] == [1]
    assert beyond(doubts) == 0
    assert doubts[0].expected.tolist() == [1.0]


def test_spans_are_widened_to_elements_and_must_lie_where_writing_is_allowed() -> None:
    assert aligned(subject(4), [(AT + 5, 1)]) == [(AT + 4, 4)]
    assert aligned(subject(4), [(AT + 12, 8)]) is None
    assert aligned(subject(4, const=True), [(AT + 4, 4)]) is None
