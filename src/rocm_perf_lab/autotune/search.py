"""The search: which configurations to measure next.

`auto` is a portfolio. Its members propose; each proposal's outcome is credited to its member, and
a member's share of the next batch follows its recent success, with a floor, so that the portfolio
is never much worse than its best member:

- kernel: the largest expected improvement under a Gaussian process of times and their ranks;
- local: untried neighbours (one parameter changed) of the best configurations so far;
- polynomial: the lowest predictions of the degree-2 model, while it ranks out of sample;
- random: keeps the models honest.

One suggestion at a time while little is known, when each result changes much; then batches that
grow, so that refitting costs a few milliseconds per suggestion.
"""

from __future__ import annotations

import bisect
import math
from collections import deque
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from rocm_perf_lab.autotune import polynomial
from rocm_perf_lab.autotune.features import Matrix, coordinates, polynomial_features
from rocm_perf_lab.autotune.gaussian_process import GaussianProcess
from rocm_perf_lab.autotune.neighbours import Neighbours, Rows
from rocm_perf_lab.autotune.space import Space

Phase = Literal["seed", "confirm"]
STRATEGIES = ("auto", "seed-predict-confirm", "kernel", "local", "polynomial", "random")
PRUNING = ("auto", "seed-predict-confirm", "polynomial")  # those that listen to the polynomial

RANKS = 0.5  # cross-validated rank correlation from which a model may prune
_POOL = 2000  # candidates the Gaussian process looks at, besides those near the leaders
_SINGLY = 100  # measured: from here on batches grow with the square of what has been measured,
_GROWTH = 0.1  # up to this share of it
_FLOOR = 0.1  # least weight of a member
_MEMORY = 0.97  # how fast old outcomes lose weight
_LEADERS = 5
_PROMISING = 500  # candidates whose chance of running at all is asked for
_FIT_ROWS = 400  # rows the polynomial is fitted on
_REFIT_GROWTH = 1.3


@dataclass(frozen=True)
class Plan:
    strategy: str = "auto"
    budget: int | None = None  # configurations; None: bounded by time alone
    seed: int = 0
    seed_fraction: float = 0.2
    prune_factor: float = 1.75
    workers: int = 1


@dataclass(frozen=True)
class Suggestion:
    row: int
    phase: Phase
    member: str


@dataclass
class _Credit:
    success: float = 1.0
    trials: float = 4.0

    @property
    def weight(self) -> float:
        return self.success / self.trials


@dataclass
class Search:
    """Ask for suggestions, tell what became of them. Time None: the configuration failed."""

    space: Space
    plan: Plan
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.plan.seed)
        self.coordinates = coordinates(self.space)
        self.neighbours = Neighbours(self.space, self.coordinates)
        self.polynomial: polynomial.Polynomial | None = None
        self.kernel = GaussianProcess(self.rng)
        self._static: Matrix | None = None
        self._asked = np.zeros(self.space.size, dtype=bool)
        self._log_time: dict[int, float] = {}
        self._sorted: list[float] = []  # the log times, ascending
        self._failed: set[int] = set()
        self._queue: deque[Suggestion] = deque()
        self._members: dict[int, str] = {}
        self._credit = {name: _Credit() for name in _SHARES[self.plan.strategy]}
        self._order = self.rng.permutation(self.space.size)
        self._next = 0
        self._fitted_polynomial = 0
        self.seed_count = self._seed_count()

    # -- asking and telling ---------------------------------------------------------------------

    def ask(self) -> Suggestion | None:
        """The next configuration to measure; None when the whole space has been asked for."""
        if not self._queue:
            self._refill()
        return self._queue.popleft() if self._queue else None

    def tell(self, row: int, time_ms: float | None) -> None:
        self._asked[row] = True
        member = self._members.pop(row, None)
        if member in self._credit:
            credit = self._credit[member]
            credit.success = _MEMORY * credit.success + (1 - _MEMORY) * self._success(time_ms)
            credit.trials = _MEMORY * credit.trials + (1 - _MEMORY)
        if time_ms is None or not time_ms > 0:
            self._failed.add(row)
        else:
            self._log_time[row] = math.log(time_ms)
            bisect.insort(self._sorted, self._log_time[row])

    @property
    def measured(self) -> int:
        return len(self._log_time) + len(self._failed)

    def _success(self, time_ms: float | None) -> float:
        """1 for a result among the best twentieth so far."""
        if time_ms is None or not time_ms > 0:
            return 0.0
        if len(self._log_time) < 5:
            return 0.5
        return float(math.log(time_ms) <= self._sorted[len(self._sorted) // 20])

    def _seed_count(self) -> int:
        budget = min(self.plan.budget or self.space.size, self.space.size)
        wanted = max(2, round(self.plan.seed_fraction * budget))
        if self.plan.strategy == "seed-predict-confirm":
            return min(wanted, budget)
        # Members that learn from every batch need only a start.
        return min(wanted, max(8, 2 * len(self.space.varying)))

    # -- proposing ------------------------------------------------------------------------------

    def _refill(self) -> None:
        done = int(self._asked.sum())
        if done < self.seed_count or len(self._log_time) < 3:
            count = max(self.seed_count - done, self.plan.workers, 1)
            self._enqueue(self._random(count), "seed", "seed")
            return
        known = self.measured
        count = max(1, self.plan.workers, int(min((known / _SINGLY) ** 2, _GROWTH * known)))
        if self.plan.budget is not None:
            count = max(1, min(count, self.plan.budget - done))
        if self.plan.strategy == "seed-predict-confirm":
            self._predicted(count)
        else:
            self._portfolio(count)
        if not self._queue:
            self._enqueue(self._random(count), "confirm", "random")

    def _portfolio(self, count: int) -> None:
        shares = _SHARES[self.plan.strategy]
        weights = np.array([s * max(_FLOOR, self._credit[m].weight) for m, s in shares.items()])
        chosen = self.rng.choice(len(weights), size=count, p=weights / weights.sum())
        quota = {m: int((chosen == i).sum()) for i, m in enumerate(shares)}
        for member, wanted in quota.items():
            if wanted:
                self._enqueue(_PROPOSE[member](self, wanted), "confirm", member)

    def _predicted(self, count: int) -> None:
        """The survivors of the polynomial's pruning, best prediction first."""
        if not self._can_rank():
            self._portfolio(count)
            return
        self._enqueue(self._by_polynomial(count), "confirm", "polynomial")

    def _enqueue(self, rows: Rows, phase: Phase, member: str) -> None:
        for row in map(int, rows):
            if not self._asked[row]:
                self._asked[row] = True
                self._members[row] = member
                self._queue.append(Suggestion(row, phase, member))

    def _random(self, count: int) -> Rows:
        found: list[int] = []
        while len(found) < count and self._next < self.space.size:
            row = int(self._order[self._next])
            self._next += 1
            if not self._asked[row]:
                found.append(row)
        return np.array(found, dtype=np.int64)

    def _local(self, count: int) -> Rows:
        found: dict[int, None] = {}  # in the order of finding
        for row in self._leaders(len(self._log_time)):
            near = self.neighbours.of(row)
            fresh = self.rng.permutation(near[~self._asked[near]])
            found.update(dict.fromkeys(fresh.tolist()))
            if len(found) >= count:
                break
        if not found:
            near = self.neighbours.nearest(self._leaders(1)[0], self.rng, 50 + self.measured)
            found = dict.fromkeys(near[~self._asked[near]].tolist())
        return np.array([*found][:count], dtype=np.int64)

    def _by_kernel(self, count: int) -> Rows:
        rows, times = self._known()
        target = _target(times)
        self.kernel.fit(self.coordinates[rows], target)
        pool = self._pool()
        if not len(pool):
            return pool
        mean, deviation = self.kernel.predict(self.coordinates[pool])
        gain = _expected_improvement(mean, deviation, float(target.min()))
        top = np.argsort(-gain, kind="stable")[: max(_PROMISING, 4 * count)]
        gain = gain[top] * self._works(pool[top])
        return np.asarray(pool[top[np.argsort(-gain, kind="stable")[:count]]])

    def _by_polynomial(self, count: int) -> Rows:
        if not self._can_rank():
            return self._local(count)
        assert self.polynomial is not None and self._static is not None
        pool = np.flatnonzero(~self._asked)
        if len(pool) > 5 * _POOL:
            pool = np.sort(self.rng.choice(pool, 5 * _POOL, replace=False))
        if not len(pool):
            return pool
        predicted = self.polynomial.predict(self._static[pool])
        limit = min(predicted.min(), min(self._log_time.values()))
        kept = predicted <= limit + math.log(self.plan.prune_factor)
        order = np.argsort(predicted, kind="stable")
        return np.asarray(pool[order[: max(1, min(count, int(kept.sum())))]])

    def _can_rank(self) -> bool:
        """Refit the polynomial when there is enough new data; can it rank unseen rows?"""
        if len(self._log_time) >= _REFIT_GROWTH * self._fitted_polynomial:
            self._fitted_polynomial = len(self._log_time)
            self.fit_polynomial()
        quality = self.polynomial.quality if self.polynomial else None
        return quality is not None and (quality.rank_correlation or 0.0) >= RANKS

    def fit_polynomial(self) -> None:
        if self._static is None:
            self._static = polynomial_features(self.space).matrix
        rows, times = self._known()
        if not len(rows):
            return
        if len(rows) > _FIT_ROWS:
            keep = np.sort(self.rng.choice(len(rows), _FIT_ROWS, replace=False))
            rows, times = rows[keep], times[keep]
        self.polynomial = polynomial.fit(self._static[rows], times)

    def count_pruned(self) -> int:
        """Configurations never asked for that the polynomial predicts to be out of the running."""
        if self.polynomial is None or self._static is None or not self._log_time:
            return 0
        rest = np.flatnonzero(~self._asked)
        predicted = self.polynomial.predict(self._static[rest])
        limit = min(self._log_time.values()) + math.log(self.plan.prune_factor)
        return int((predicted > limit).sum())

    def kernel_quality(self) -> polynomial.Quality:
        rows, times = self._known()
        if len(rows) < 5:
            return polynomial.Quality(None, None, None, len(rows))
        return polynomial.quality(*self.kernel.fit(self.coordinates[rows], times).out_of_sample())

    def _works(self, pool: Rows) -> Matrix:
        """The chance that a configuration runs at all, learnt from those that did not."""
        if not self._failed:
            return np.ones(len(pool))
        rows = np.array([*self._log_time, *sorted(self._failed)], dtype=np.int64)
        flags = np.r_[np.zeros(len(self._log_time)), np.ones(len(self._failed))]
        fails = self.kernel.smooth(self.coordinates[rows], flags, self.coordinates[pool])
        return np.asarray(np.clip(1 - fails, 0.02, 1.0))

    def _pool(self) -> Rows:
        free = np.flatnonzero(~self._asked)
        if len(free) <= _POOL:
            return free
        near = [self.neighbours.within_two(row) for row in self._leaders(_LEADERS)]
        sample = self.rng.choice(free, _POOL, replace=False)
        pool = np.unique(np.concatenate([sample, *near]))
        return np.asarray(pool[~self._asked[pool]])

    def _known(self) -> tuple[Rows, Matrix]:
        rows = np.fromiter(self._log_time, dtype=np.int64)
        return rows, np.fromiter(self._log_time.values(), dtype=np.float64)

    def _leaders(self, count: int) -> list[int]:
        return sorted(self._log_time, key=lambda row: (self._log_time[row], row))[:count]


def _target(times: Matrix) -> Matrix:
    """Half log time, half the score of its rank, each in its own standard deviations.

    Ranks alone lose how far apart the fast ones are; log times alone are ruled by the slow ones.
    """
    share = (polynomial.ranks(times) + 0.5) / len(times)
    score = np.log(share / (1 - share))
    return np.asarray(sum(y / (y.std() + 1e-12) for y in (times, score)))


def _expected_improvement(mean: Matrix, deviation: Matrix, best: float) -> Matrix:
    z = (best - mean) / deviation
    density = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    # Abramowitz and Stegun 26.2.17: the normal distribution to 1e-7, without scipy.
    t = 1 / (1 + 0.2316419 * np.abs(z))
    series = t * (
        0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))
    )
    below = np.where(z >= 0, 1 - density * series, density * series)
    return np.asarray(deviation * (z * below + density))


_SHARES: dict[str, dict[str, float]] = {
    "auto": {"kernel": 0.6, "local": 0.3, "polynomial": 0.05, "random": 0.05},
    "seed-predict-confirm": {"local": 0.5, "random": 0.5},  # the fallback of a model without rank
    "kernel": {"kernel": 1.0},
    "local": {"local": 1.0},
    "polynomial": {"polynomial": 1.0},
    "random": {"random": 1.0},
}
_PROPOSE = {
    "kernel": Search._by_kernel,
    "local": Search._local,
    "polynomial": Search._by_polynomial,
    "random": Search._random,
}
