"""The search: models judged out of sample, nothing asked twice, a portfolio that finds the best."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_perf_lab.autotune import polynomial, space
from rocm_perf_lab.autotune.evaluation import Evaluation, Measurement, best_of, contenders
from rocm_perf_lab.autotune.gaussian_process import GaussianProcess
from rocm_perf_lab.autotune.search import STRATEGIES, Plan, Search, Suggestion
from rocm_perf_lab.autotune.space import Configuration, Space

VALUES = {
    "bx": [16, 32, 48, 64, 96, 128, 192, 256],
    "by": [1, 2, 4, 8, 16],
    "tx": [1, 2, 3, 4],
    "ty": [1, 2, 3, 4],
    "pad": [0, 1],
    "mode": ["direct", "shared", "cached"],
}


@pytest.fixture(scope="module")
def tuned() -> Space:
    return space.from_parameters(VALUES, ["bx * by <= 1024", "bx * by >= 32"], "here")


def time_of(configuration: Configuration) -> float | None:
    """A kernel with a penalty for odd sizes, an occupancy optimum, and too much shared memory."""
    bx, by, tx, ty = (int(str(configuration[k])) for k in ("bx", "by", "tx", "ty"))
    mode = configuration["mode"]
    if mode == "shared" and bx * by * tx * ty > 8192:
        return None
    time = 1.0 + 0.4 * abs(np.log2(bx * by) - 7) + 0.3 * abs(np.log2(tx * ty) - 2)
    time *= 1.6 if 4096 % (bx * tx) else 1.0
    time *= {"direct": 1.3, "shared": 1.0, "cached": 1.15}[str(mode)]
    return float(time * (1.05 if configuration["pad"] and bx < 64 else 1.0))


def run(space: Space, plan: Plan) -> list[tuple[Suggestion, float | None]]:
    search = Search(space, plan)
    done: list[tuple[Suggestion, float | None]] = []
    while plan.budget is None or len(done) < plan.budget:
        suggestion = search.ask()
        if suggestion is None:
            break
        time = time_of(space.configuration(suggestion.row))
        done.append((suggestion, time))
        search.tell(suggestion.row, time)
    return done


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_configuration_is_asked_for_twice_and_the_budget_is_used(
    tuned: Space, strategy: str
) -> None:
    done = run(tuned, Plan(strategy, 80, 1))
    rows = [s.row for s, _ in done]
    assert len(rows) == len(set(rows)) == 80


def test_the_same_seed_gives_the_same_search(tuned: Space) -> None:
    first, again, other = (run(tuned, Plan("auto", 60, s)) for s in (3, 3, 4))
    assert first == again
    assert first != other


def test_the_portfolio_finds_what_random_search_does_not(tuned: Space) -> None:
    times = [time_of(tuned.configuration(i)) for i in range(tuned.size)]
    optimum = min(t for t in times if t is not None)
    budget = tuned.size // 20

    def score(strategy: str) -> float:
        return float(
            np.mean(
                [
                    optimum / min(t for _, t in run(tuned, Plan(strategy, budget, s)) if t)
                    for s in range(3)
                ]
            )
        )

    assert score("auto") > max(0.98, score("random"))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_tiny_spaces_are_searched_whole(strategy: str, rows: int) -> None:
    tiny = space.from_configurations([{"a": i, "b": "x"} for i in range(rows)], "here")
    search, seen = Search(tiny, Plan(strategy, None, 0)), []
    while (s := search.ask()) is not None:
        seen.append(s.row)
        search.tell(s.row, 1.0 + s.row)
    assert sorted(seen) == list(range(rows))


def test_a_space_in_which_everything_fails_is_searched_to_the_end() -> None:
    bad = space.from_parameters({"a": [1, 2, 3], "b": [1, 2, 3]}, [], "here")
    search, seen = Search(bad, Plan("auto", None, 0)), 0
    while (s := search.ask()) is not None:
        seen += 1
        search.tell(s.row, None)
    assert seen == 9


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 40), st.booleans())
def test_any_list_of_configurations_can_be_searched(seed: int, count: int, constant: bool) -> None:
    rng = np.random.default_rng(seed)
    rows = [
        {"a": float(rng.normal()), "b": int(rng.integers(0, 3)), "c": str(rng.integers(0, 9))}
        for _ in range(count)
    ]
    listed = space.from_configurations(rows, "here")
    search, seen = Search(listed, Plan("auto", None, seed)), set()
    while (s := search.ask()) is not None:
        assert s.row not in seen
        seen.add(s.row)
        search.tell(s.row, 1.0 if constant else float(rng.random()) + 0.1)
    assert len(seen) == listed.size


def test_a_model_of_noise_admits_that_it_cannot_predict() -> None:
    rng = np.random.default_rng(0)
    found = polynomial.fit(rng.random((40, 6)), rng.random(40))
    assert found is not None
    assert found.quality.r2 is not None and found.quality.r2 < 0.2
    assert (found.quality.rank_correlation or 0.0) < 0.5


def test_leave_one_out_is_what_refitting_without_each_row_gives() -> None:
    rng = np.random.default_rng(1)
    x = rng.random((30, 3))
    y = np.exp(x[:, 0]) + x[:, 1] * x[:, 2] + 0.05 * rng.random(30)
    model = GaussianProcess(np.random.default_rng(0)).fit(x, y)
    predicted, true = model.out_of_sample()
    assert np.allclose(true, y, atol=1e-5)
    theta = model.theta
    assert theta is not None
    for i in (0, 7, 29):
        rest = np.delete(np.arange(30), i)
        again = GaussianProcess(np.random.default_rng(0), theta=theta, fitted_on=10**9)
        # The same centre and scale, so that only the row is missing.
        again._mean, again._scale = model._mean, model._scale
        again._x = x[rest]
        again._inverse = np.asarray(np.linalg.inv(again._covariance(x[rest])), np.float64)
        again._weights = again._inverse @ ((y[rest] - model._mean) / model._scale)
        assert again.predict(x[i : i + 1])[0][0] == pytest.approx(predicted[i], abs=1e-6)


def test_a_polynomial_is_predicted_out_of_sample() -> None:
    rng = np.random.default_rng(2)
    x = rng.random((120, 4))
    y = 1 + x[:, 0] - 2 * x[:, 1] * x[:, 2] + 0.5 * x[:, 3] ** 2
    found = polynomial.fit(x, y)
    assert found is not None and found.quality.r2 is not None and found.quality.r2 > 0.98
    fresh = rng.random((50, 4))
    expected = 1 + fresh[:, 0] - 2 * fresh[:, 1] * fresh[:, 2] + 0.5 * fresh[:, 3] ** 2
    assert np.abs(found.predict(fresh) - expected).max() < 0.15


def evaluation(row: int, *samples: float) -> Evaluation:
    return Evaluation(row, {"a": row}, "confirm", "local", Measurement("ok", samples))


def test_an_unstable_configuration_does_not_win_over_a_stable_one() -> None:
    shaky = evaluation(0, 0.5, 1.0, 1.5, 0.6)
    steady = evaluation(1, 1.1, 1.11, 1.1, 1.12)
    assert best_of([shaky, steady]) is steady
    assert best_of([shaky]) is shaky


def test_contenders_are_those_whose_intervals_overlap_the_best() -> None:
    best = evaluation(0, 1.00, 1.01, 0.99, 1.0)
    near = evaluation(1, 1.01, 1.00, 1.02, 1.0)
    apart = evaluation(2, 1.04, 1.041, 1.04, 1.041)
    once = evaluation(3, 1.03)
    far = evaluation(4, 2.0)
    found = contenders([far, once, apart, near, best], 5, 0.05)
    assert {e.row for e in found} == {0, 1, 3}
