"""Pairs of times to hold the gate to: simulated noise of many kinds, and what a GPU recorded."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.statistics import gate_until_decided
from support.recorded_data import FOLDER

Column = npt.NDArray[np.float64]
Recorded = tuple[str, float, Column, Column]  # kind, work of B over work of A, times of A, of B

RECORDED = FOLDER / "timing" / "h200_pairs.csv.gz"


def verdict_of(a: Column, b: Column) -> str:
    """As the optimiser asks: after more and more pairs, until there is an answer."""
    taken = 0

    def take(count: int) -> tuple[list[float], list[float]]:
        nonlocal taken
        rows = slice(taken, taken + count)
        taken += count
        return a[rows].tolist(), b[rows].tolist()

    return gate_until_decided(take)[0].verdict


# Slowness of single runs in the order they ran, two to a pair.
NOISES: dict[str, Callable[[np.random.Generator, int], Column]] = {
    "quiet": lambda rng, n: rng.normal(0, 0.02, n),
    "loud": lambda rng, n: rng.normal(0, 0.10, n),
    "heavy tails": lambda rng, n: np.abs(rng.standard_t(2, n)) * 0.05,
    "outliers": lambda rng, n: rng.normal(0, 0.01, n) + 0.8 * (rng.random(n) < 0.08),
    "two modes": lambda rng, n: rng.normal(0, 0.01, n) + 0.1 * (rng.random(n) < 0.4),
    "clock jumps": lambda rng, n: rng.normal(0, 0.01, n) + 0.2 * _jumps(rng, n),
    "drift": lambda rng, n: rng.normal(0, 0.02, n) + np.linspace(0, 0.3, n),
    "random walk": lambda rng, n: np.cumsum(rng.normal(0, 0.02, n)),
    "coarse ticks": lambda rng, n: np.round(rng.normal(0, 0.06, n) / 0.07) * 0.07,
    "first is slower": lambda rng, n: rng.normal(0, 0.02, n) + 0.05 * (np.arange(n) % 2 == 0),
}


def _jumps(rng: np.random.Generator, n: int) -> Column:
    return (np.cumsum(rng.random(n) < 0.05) % 2).astype(np.float64)


def experiment(noise: str, seed: int, gain: float, pairs: int = 60) -> tuple[Column, Column]:
    slow = NOISES[noise](np.random.default_rng(seed), 2 * pairs).reshape(pairs, 2)
    run = 100.0 * np.exp(slow)
    swapped = np.arange(pairs) % 2 == 1
    a = np.where(swapped, run[:, 1], run[:, 0])
    b = np.where(swapped, run[:, 0], run[:, 1])
    return a, b / gain


def _in_order(times: dict[int, float]) -> Column:
    return np.array([times[i] for i in sorted(times)])


def recorded_pairs() -> list[Recorded]:
    times: dict[tuple[int, str, str], dict[str, dict[int, float]]] = defaultdict(
        lambda: {"A": {}, "B": {}}
    )
    with gzip.open(RECORDED, "rt") as file:
        for row in csv.DictReader(file):
            key = (int(row["experiment"]), row["kind"], row["work_ratio"])
            times[key][row["variant"]][int(row["index"])] = float(row["us"])
    return [
        (kind, float(ratio), _in_order(t["A"]), _in_order(t["B"]))
        for (_, kind, ratio), t in sorted(times.items())
    ]
