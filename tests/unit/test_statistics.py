"""The gate: noise is not speed, speed is found, and asking often changes neither."""

from __future__ import annotations

import math
import random
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_perf_lab.statistics import (
    bootstrap_median_interval,
    centre_interval,
    coefficient_of_variation,
    gate,
    gate_until_decided,
    mean_interval95,
    modelled_gate,
    paired_ratio,
    student_t95,
    unpaired_ratio,
)
from support.noisy_pairs import (
    NOISES,
    RECORDED,
    Recorded,
    experiment,
    recorded_pairs,
    verdict_of,
)


def test_of_500_identical_noisy_pairs_at_most_one_in_a_hundred_is_accepted() -> None:
    per_noise = 500 // len(NOISES)
    accepted = [
        (noise, seed)
        for noise in NOISES
        for seed in range(per_noise)
        if verdict_of(*experiment(noise, seed, 1.0)) == "faster"
    ]
    assert len(accepted) <= 5, accepted


def test_a_gain_of_five_percent_under_two_percent_noise_is_found() -> None:
    found = [verdict_of(*experiment("quiet", seed, 1.05)) for seed in range(100)]
    assert found.count("faster") >= 90
    assert found.count("slower") == 0


def test_a_loss_is_called_slower() -> None:
    assert verdict_of(*experiment("quiet", 1, 1 / 1.08)) == "slower"


def test_a_gain_below_the_bar_is_the_same_not_faster() -> None:
    a, b = experiment("quiet", 3, 1.002)
    assert gate(a, b / 1.0, min_speedup=1.05).verdict == "same"


@pytest.fixture(scope="module")
def recorded() -> list[Recorded]:
    if not RECORDED.is_file():
        pytest.skip("the recorded pairs are not on this machine")
    return recorded_pairs()


def test_recorded_identical_kernels_are_not_accepted(
    recorded: list[Recorded],
) -> None:
    identical = [(a, b) for _, ratio, a, b in recorded if ratio == 1.0]
    assert len(identical) == 160
    rng = np.random.default_rng(7)
    verdicts = []
    for a, b in identical:
        rows = rng.integers(0, len(a), len(a))
        verdicts += [verdict_of(a, b), verdict_of(b[rows], a[rows])]
    assert verdicts.count("faster") <= len(verdicts) // 100


@pytest.mark.slow
def test_no_kind_of_recorded_kernel_is_accepted_more_often_than_another_however_resampled(
    recorded: list[Recorded],
) -> None:
    rng = np.random.default_rng(8)
    verdicts = defaultdict(list)
    for kind, ratio, a, b in recorded:
        for _ in range(20 if ratio == 1.0 else 0):
            rows = rng.integers(0, len(a), len(a))
            verdicts[kind].append(verdict_of(a[rows], b[rows]))
    assert len(verdicts) > 1
    for kind, seen in verdicts.items():
        assert seen.count("faster") <= len(seen) / 100, kind


@pytest.mark.parametrize(("work", "expected"), [(0.95, "faster"), (1.05, "slower")])
def test_recorded_differences_of_five_percent_are_found(
    recorded: list[Recorded], work: float, expected: str
) -> None:
    """By work: a kernel with 5 % more work takes less than 5 % more time, launch included."""
    rng = np.random.default_rng(9)
    found = []
    for _, ratio, a, b in recorded:
        if ratio == work and np.median(a) > 15:
            rows = rng.integers(0, len(a), len(a))
            found += [verdict_of(a, b), verdict_of(a[rows], b[rows])]
    assert len(found) >= 60
    assert found.count(expected) >= 0.9 * len(found)


def test_an_advantage_of_running_first_is_not_speed() -> None:
    a, b = experiment("first is slower", 5, 1.0)
    assert paired_ratio(a, b).ratio == pytest.approx(1.0, abs=0.01)


def test_an_advantage_of_running_first_does_not_widen_the_interval() -> None:
    first = np.where(np.arange(60) % 2 == 0, 1.1, 1.0)
    noise = np.exp(np.random.default_rng(2).normal(0, 0.001, (2, 60)))
    found = paired_ratio(100 * first * noise[0], 100 * (2.1 - first) * noise[1])
    assert 0.99 < found.low < 1 < found.high < 1.01


def test_without_pairs_each_side_has_half_of_the_error() -> None:
    a, b = experiment("quiet", 11, 1.05)
    (a_low, _), (_, b_high) = (centre_interval(np.log(side), 0.95) for side in (a, b))
    found = unpaired_ratio(a, b, confidence=0.90)
    assert found.low <= math.exp(a_low - b_high) * (1 + 1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.8, 1.25))
def test_swapping_the_builds_inverts_the_interval(seed: int, gain: float) -> None:
    a, b = experiment("quiet", seed, gain, pairs=24)
    one, other = paired_ratio(a, b), paired_ratio(b, a)
    assert one.ratio == pytest.approx(1 / other.ratio)
    assert one.low == pytest.approx(1 / other.high, rel=0.01)
    assert one.low <= one.ratio <= one.high


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(1e-3, 1e3))
def test_the_unit_of_time_does_not_matter(seed: int, unit: float) -> None:
    a, b = experiment("heavy tails", seed, 1.03, pairs=20)
    one, other = paired_ratio(a, b), paired_ratio(a * unit, b * unit)
    assert one.low == pytest.approx(other.low)
    assert one.high == pytest.approx(other.high)


def test_the_interval_misses_the_truth_rarely_even_if_asked_after_every_value() -> None:
    missed = 0
    for seed in range(60):
        values = np.random.default_rng(seed).standard_t(3, 40)
        missed += any(
            not low <= 0 <= high
            for low, high in (centre_interval(values[:n]) for n in range(8, 41, 2))
        )
    assert missed <= 3


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_each_end_of_the_interval_errs_a_fifth_of_what_it_may(confidence: float) -> None:
    """Coins that all fall alike: a stake s wins 2 / (1 + exp(-2 s)) each time."""

    def capital(tosses: int) -> float:
        return float(np.mean([(2 / (1 + math.exp(-2 * s))) ** tosses for s in (0.25, 0.5, 1.0)]))

    ruined = next(n for n in range(1, 99) if capital(n) >= 1 / (0.2 * (1 - confidence)))
    assert centre_interval(np.ones(ruined), confidence)[0] > 0
    assert centre_interval(np.ones(ruined - 1), confidence)[0] == -math.inf


def test_few_pairs_decide_nothing() -> None:
    result = gate([100.0] * 4, [50.0] * 4)
    assert result.verdict == "inconclusive"
    assert "unknown" in result.reason


def test_pairs_without_any_noise_decide_by_their_ratio() -> None:
    assert gate([100.0] * 30, [90.0] * 30).verdict == "faster"
    assert gate([100.0] * 30, [100.0] * 30).verdict == "same"


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_impossible_times_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="positive and finite"):
        gate([1.0, bad], [1.0, 1.0])


def test_sampling_stops_when_there_is_no_more() -> None:
    calls = []

    def take(count: int) -> tuple[list[float], list[float]]:
        calls.append(count)
        return ([1.0] * 5, [0.5] * 5)

    result, a, _ = gate_until_decided(take)
    assert (len(calls), len(a), result.verdict) == (1, 5, "inconclusive")


def test_a_modelled_time_must_beat_the_bar_by_the_model_s_error() -> None:
    assert modelled_gate(1.30, 1.0, model_error=0.10).verdict == "faster"
    close = modelled_gate(1.08, 1.0, model_error=0.10)
    assert close.verdict == "inconclusive"
    assert close.modelled
    assert "modelled" in close.reason
    assert modelled_gate(1.0, 1.0, model_error=0.10).verdict == "same"
    assert modelled_gate(1.0, 1.3, model_error=0.10).verdict == "slower"


def test_student_t_agrees_with_the_tables() -> None:
    published = {1: 12.706, 10: 2.228, 30: 2.042, 31: 2.040, 40: 2.021, 60: 2.000, 120: 1.980}
    for degrees, value in published.items():
        assert student_t95(degrees) == pytest.approx(value, abs=6e-4)


def test_spread_of_too_few_samples_is_unknown() -> None:
    assert mean_interval95([1.0]) is None
    assert coefficient_of_variation([1.0]) is None
    assert coefficient_of_variation([0.0, 0.0]) is None
    assert mean_interval95([1.0, 3.0]) == pytest.approx((2 - 12.706, 2 + 12.706))


def test_the_bootstrap_is_the_same_every_time() -> None:
    values = np.array([random.Random(4).gauss(0, 1) for _ in range(30)])
    assert bootstrap_median_interval(values) == bootstrap_median_interval(values)


def test_the_bootstrap_of_many_independent_values_is_as_wide_as_theory_has_it() -> None:
    """A normal sample's median has the standard error sqrt(pi / 2n)."""
    n = 400
    widths = []
    for seed in range(40):
        low, high = bootstrap_median_interval(np.random.default_rng(seed).normal(0, 1, n))
        widths.append(high - low)
    assert np.mean(widths) == pytest.approx(2 * 1.96 * math.sqrt(math.pi / 2 / n), rel=0.1)


def test_the_bootstrap_keeps_dependence_in_time() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(0, 1, 400)
    for i in range(1, len(values)):
        values[i] += 0.9 * values[i - 1]
    low, high = bootstrap_median_interval(values)
    mixed_low, mixed_high = bootstrap_median_interval(rng.permutation(values))
    assert high - low > 1.5 * (mixed_high - mixed_low)
