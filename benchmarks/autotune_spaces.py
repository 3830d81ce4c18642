"""This tuner against the field, on brute-forced spaces, in one run.

    python benchmarks/autotune_spaces.py [FILES...] --seeds 30 --jobs 2

Replays Kernel Tuner cache files (default: ../shared/data/tuning) and scores this tuner, Kernel
Tuner's random, genetic, simulated annealing and Bayesian strategies, and Optuna's TPE. A budget
counts unique configurations for everybody, failed ones included. Needs the extra `autotune-bench`.

Scores, each the mean over seeds with a 95 % bootstrap interval:
- fraction of the optimum (optimum / best found) at 1, 2, 5 and 10 % of the space;
- the methodology score: (curve - random) / (optimum - random), where random is the calculated
  expectation of random search without replacement, averaged over the budget up to 10 %.

Finished runs are kept in a folder, so an interrupted benchmark goes on where it stopped; with
--minutes it stops by itself and reports what it has, with the number of seeds. Seeds come in turns
over methods and spaces, so what is there is balanced. Times are CPU seconds of one core. Methods
whose cost grows with the square of the budget can be bounded by --most METHOD=SHARE, or on one
space by METHOD@SPACE=SHARE, 0 leaving it out; what lies beyond stays open in the table.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import math
import multiprocessing
import os
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from rocm_perf_lab.autotune import recorded
from rocm_perf_lab.autotune.recorded import RecordedSpace
from rocm_perf_lab.autotune.search import Plan, Search

BUDGETS = (0.01, 0.02, 0.05, 0.10)
DEFAULT = Path(__file__).parents[1] / ".." / "shared" / "data" / "tuning"


Curves = dict[tuple[str, str], list[list[float]]]  # (space, method): one curve per seed


class Enough(Exception):
    """The budget of unique configurations is spent."""


class Counter:
    """Answers from the recording and keeps the order of first asking."""

    def __init__(self, space: RecordedSpace, budget: int) -> None:
        self.space, self.budget = space, budget
        self.order: list[int] = []
        self._seen: set[int] = set()

    def row(self, values: Sequence[Any]) -> int | None:
        return rows_of(self.space).get(tuple(values))

    def time(self, row: int) -> float | None:
        if row not in self._seen:
            if len(self.order) >= self.budget:
                raise Enough
            self._seen.add(row)
            self.order.append(row)
        return self.space.records[row].time_ms


_rows: dict[int, dict[tuple[Any, ...], int]] = {}


def rows_of(recording: RecordedSpace) -> dict[tuple[Any, ...], int]:
    """Values -> row, built once per space: `load` keeps the spaces alive."""
    if id(recording) not in _rows:
        space = recording.space
        _rows[id(recording)] = {
            tuple(space.configuration(row).values()): row for row in range(space.size)
        }
    return _rows[id(recording)]


def ours(counter: Counter, seed: int, strategy: str = "auto") -> None:
    search = Search(counter.space.space, Plan(strategy, counter.budget, seed))
    while (suggestion := search.ask()) is not None:
        search.tell(suggestion.row, counter.time(suggestion.row))


def kernel_tuner(counter: Counter, seed: int, strategy: str) -> None:
    """Kernel Tuner's own strategy, driven through its runner interface."""
    from kernel_tuner import util
    from kernel_tuner.interface import Options, strategy_map
    from kernel_tuner.searchspace import Searchspace

    random.seed(seed)
    np.random.seed(seed)
    space = counter.space.space
    names = list(space.names)
    budget = util.TuningBudget(max_fevals=counter.budget)
    rows = [space.configuration(row) for row in range(space.size)]
    searchspace = Searchspace(
        None,
        None,
        None,
        from_cache={
            "tune_params_keys": names,
            "tune_params": {n: list(v) for n, v in zip(names, space.values, strict=True)},
            "cache": {",".join(map(str, r.values())): r for r in rows},
        },
    )
    options = Options(
        {
            "strategy": strategy, "strategy_options": {"max_fevals": counter.budget},
            "objective": ["time"], "objective_higher_is_better": [False], "verbose": False,
            "max_fevals": counter.budget, "budget": budget, "metrics": None, "cache": {},
            "unique_results": {}, "simulation_mode": True, "tune_params": searchspace.tune_params,
        }
    )  # fmt: skip
    while len(counter.order) < counter.budget:  # a strategy that ended early starts again
        before = len(counter.order)
        strategy_map[strategy].tune(searchspace, _runner(counter, names, budget), options)
        if len(counter.order) == before:
            break


def _runner(counter: Counter, names: list[str], budget: Any) -> Any:
    """What a strategy asks of Kernel Tuner's runners, answered from the recording."""
    from kernel_tuner import util

    class Device:
        max_threads = 1024

    class Runner:
        simulation_mode = True
        dev = Device()

        def add_strategy_time(self, seconds: float) -> None:
            pass

        def get_device_info(self) -> Any:
            return self.dev

        def run(self, parameter_space: Any, tuning_options: Any) -> list[dict[str, Any]]:
            results = []
            for values in parameter_space:
                before = len(counter.order)
                row = counter.row(values)
                assert row is not None, "a strategy left the space"
                time_ms = counter.time(row)
                budget.add_evaluations(len(counter.order) - before)
                result = dict(zip(names, values, strict=True))
                if time_ms is None:
                    result["__error__"] = util.RuntimeFailedConfig()
                result["time"] = result.get("__error__", time_ms)
                results.append(result)
            return results

    return Runner()


def optuna_tpe(counter: Counter, seed: int) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = counter.space.space
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    worst = max(r.time_ms for r in counter.space.records if r.time_ms is not None)
    # It comes back to known configurations and leaves the constraints at no cost, but has an end.
    for _ in range(10 * counter.budget):
        trial = study.ask()
        values = [
            trial.suggest_categorical(n, v) if any(isinstance(x, str) for x in v)
            else v[trial.suggest_int(n, 0, len(v) - 1)]
            for n, v in zip(space.names, space.values, strict=True)
        ]  # fmt: skip
        row = counter.row(values)
        if row is None:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        time_ms = counter.time(row)
        study.tell(trial, math.log(time_ms if time_ms is not None else worst))


METHODS: dict[str, Callable[[Counter, int], None]] = {
    "rocm-perf auto": ours,
    "KT random": lambda c, s: kernel_tuner(c, s, "random_sample"),
    "KT genetic": lambda c, s: kernel_tuner(c, s, "genetic_algorithm"),
    "KT annealing": lambda c, s: kernel_tuner(c, s, "simulated_annealing"),
    "KT bayesian": lambda c, s: kernel_tuner(c, s, "bayes_opt"),
    "Optuna TPE": optuna_tpe,
}


@lru_cache(maxsize=16)
def load(path: str) -> RecordedSpace:
    return recorded.load(Path(path))


def one(work: tuple[str, str, int, str, float]) -> tuple[str, str, int, list[float], float]:
    """(space, method, seed): fractions of the optimum at each count of unique configurations."""
    path, method, seed, folder, most = work
    bound = "" if most == BUDGETS[-1] else f" {most}"
    name = hashlib.sha256(f"{path} {method} {seed}{bound}".encode()).hexdigest()[:24]
    kept = Path(folder) / f"{name}.json"
    if kept.exists():
        curve, seconds = json.loads(kept.read_text())
        return path, method, seed, curve, seconds
    space = load(path)
    counter = Counter(space, math.ceil(most * space.space.size))
    rows_of(space)
    started = time.process_time()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        with contextlib.suppress(Enough):
            METHODS[method](counter, seed)
    seconds = time.process_time() - started
    optimum = space.optimum_ms()
    assert optimum is not None
    times = [space.records[row].time_ms or math.inf for row in counter.order]
    curve = [float(v) for v in optimum / np.minimum.accumulate(times)]
    kept.with_suffix(".part").write_text(json.dumps([curve, seconds]))
    kept.with_suffix(".part").replace(kept)
    return path, method, seed, curve, seconds


def random_curve(space: RecordedSpace, count: int) -> np.ndarray:
    """Expected time of the best of n drawn without replacement, for n = 1..count."""
    times = np.sort([r.time_ms if r.time_ms is not None else math.inf for r in space.records])
    working = times[np.isfinite(times)]
    size = len(times)
    expected = np.empty(count)
    for n in range(1, count + 1):
        # P(best is the k-th) = C(size-k-1, n-1) / C(size, n), by recursion on k.
        p, left, total = n / size, 1.0, 0.0
        for k, t in enumerate(working):
            total += p * t
            left -= p
            if left < 1e-12:
                break
            p *= (size - k - n) / max(size - k - 1, 1)
        expected[n - 1] = (total + max(left, 0.0) * working[-1]) if left < 1 else working[-1]
    return expected


def methodology(path: str, curve: Sequence[float]) -> float:
    space = load(path)
    optimum = space.optimum_ms()
    assert optimum is not None
    count = math.ceil(BUDGETS[-1] * space.space.size)
    grid = np.unique(np.linspace(1, count, 100).round().astype(int))
    padded = np.array([*curve, *[curve[-1]] * max(0, count - len(curve))])
    baseline = random_curve_at(path, tuple(int(g) for g in grid))
    fraction = np.maximum(padded[grid - 1], 1e-9)
    found = np.minimum(optimum / fraction, max(t.time_ms or 0.0 for t in space.records))
    return float(np.mean((baseline - found) / (baseline - optimum)))


@lru_cache(maxsize=8)
def random_curve_at(path: str, grid: tuple[int, ...]) -> np.ndarray:
    return random_curve(load(path), grid[-1])[np.array(grid) - 1]


def name_of(path: str) -> str:
    return Path(path).name.split(".")[0]


def bound(most: dict[str, float], method: str, path: str) -> float:
    """The largest budget of a method on a space."""
    return most.get(f"{method}@{name_of(path)}", most.get(method, BUDGETS[-1]))


def at(curve: Sequence[float], space: RecordedSpace, share: float) -> float:
    n = max(1, math.ceil(share * space.space.size - 1e-9))
    return curve[min(n, len(curve)) - 1]


def interval(values: np.ndarray) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    means = rng.choice(values, (2000, len(values))).mean(axis=1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--keep", type=Path, help="folder of finished runs (default: temporary)")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after these")
    parser.add_argument(
        "--most", action="append", default=[], metavar="METHOD=SHARE", help="e.g. 'Optuna TPE=0.05'"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    files = options.files or sorted(DEFAULT.glob("*.json*"))
    if not files:
        sys.exit("no recorded spaces: name Kernel Tuner cache files")
    methods = [m for m in options.methods.split(",") if m]
    most = {m: float(share) for m, _, share in (text.partition("=") for text in options.most)}
    folder = options.keep or Path(tempfile.gettempdir()) / "rocm-perf-autotune-bench"
    folder.mkdir(parents=True, exist_ok=True)
    work = [
        (str(f.resolve()), m, s, str(folder), bound(most, m, str(f)))
        for s in range(options.seeds) for m in methods for f in files
        if bound(most, m, str(f)) > 0
    ]  # fmt: skip
    curves: Curves = {}
    seconds: dict[str, list[float]] = {}
    end = time.monotonic() + 60 * options.minutes
    # Of the spawned processes, before they load numpy: one thread each.
    os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"))
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=50) as pool:
        for done, (path, method, seed, curve, took) in enumerate(pool.imap(one, work), 1):
            curves.setdefault((path, method), []).append(curve)
            seconds.setdefault(method, []).append(took)
            if sys.stderr.isatty() or done % 20 == 0:
                print(f"{done} of {len(work)}: {method} seed {seed}", file=sys.stderr)
            if time.monotonic() > end:
                print("out of time: a report of what is finished", file=sys.stderr)
                pool.terminate()
                break
    report(sorted({p for p, *_ in work}), methods, curves, seconds, most, options.json)


def report(
    paths: list[str],
    methods: list[str],
    curves: Curves,
    seconds: dict[str, list[float]],
    most: dict[str, float],
    as_json: bool,
) -> None:
    table: dict[str, dict[str, np.ndarray]] = {}
    labels = [f"{100 * b:.0f} %" for b in BUDGETS] + ["method."]
    for method in methods:
        per_space: dict[str, np.ndarray] = {}
        for path in paths:
            space, limit = load(path), bound(most, method, path)
            per_space[name_of(path)] = np.array(
                [
                    [
                        *(at(c, space, b) if b <= limit else math.nan for b in BUDGETS),
                        methodology(path, c) if limit == BUDGETS[-1] else math.nan,
                    ]
                    for c in curves.get((path, method), [])
                ]
            ).reshape(-1, len(labels))
        seeds = min(len(v) for v in per_space.values())
        mean = np.mean([v[:seeds] for v in per_space.values()], axis=0)
        table[method] = {"mean": mean, **per_space}
    if as_json:
        found = {
            m: {s: {k: [float(v[:, i].mean()), *interval(v[:, i])] for i, k in enumerate(labels)}
                for s, v in rows.items() if len(v)}
            for m, rows in table.items()
        }  # fmt: skip
        print(json.dumps(found, indent=2))
        return
    for name in ["mean", *map(name_of, paths)]:
        print(f"\n{name}\n| method | seeds | " + " | ".join(labels) + " | CPU s/run |")
        print("|---" * (len(labels) + 3) + "|")
        for method in methods:
            rows = table[method][name]
            if not len(rows):
                continue
            cells = []
            for i in range(len(labels)):
                low, high = interval(rows[:, i])
                known = not math.isnan(low)
                cells.append(f"{rows[:, i].mean():.4f} [{low:.3f}, {high:.3f}]" if known else "-")
            print(
                f"| {method} | {len(rows)} | {' | '.join(cells)} | {np.mean(seconds[method]):.1f} |"
            )


if __name__ == "__main__":
    main()
