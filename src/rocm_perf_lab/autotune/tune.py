"""One tuning run: seed, predict, confirm; then the leaders again until the best is certain."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocm_perf_lab.autotune import executors, results_cache
from rocm_perf_lab.autotune.evaluation import Evaluation, Measurement, best_of, contenders
from rocm_perf_lab.autotune.executors import Executor
from rocm_perf_lab.autotune.measure import Recipe, Task
from rocm_perf_lab.autotune.recorded import RecordedSpace
from rocm_perf_lab.autotune.results_cache import ResultsCache
from rocm_perf_lab.autotune.search import Plan, Search, Suggestion
from rocm_perf_lab.autotune.space import Configuration, Space
from rocm_perf_lab.autotune.triton import TritonRecipe

_POLL_S = 0.5
_LEADERS = 5
_MARGIN = 0.05  # leaders this close to the best are measured again
_LEAST_SAMPLES = 5
_ROUNDS = 20
_SEARCH_SHARE = 0.9  # of a time budget; the rest is for the leaders


@dataclass(frozen=True)
class Progress:
    evaluated: int
    budget: int | None
    best: float | None
    elapsed_s: float
    left_s: float | None
    phase: str
    unit: str = "ms"


@dataclass(frozen=True)
class Job:
    space: Space
    plan: Plan
    recipe: Recipe | TritonRecipe | None = None
    ruled_out: tuple[Evaluation, ...] = ()  # before the search
    recorded: RecordedSpace | None = None
    identity: dict[str, Any] = field(default_factory=dict)
    cache: Path | None = None
    workers: int = 1
    scheduler: str | None = None
    time_limit_s: float | None = None
    tell: Callable[[Progress], None] = lambda _: None


@dataclass
class Tuned:
    search: Search
    evaluations: list[Evaluation] = field(default_factory=list)
    convergence: list[tuple[int, float]] = field(default_factory=list)  # evaluated, best so far
    rounds: int = 0  # of re-measurement
    certain: bool = True
    stopped: KeyboardInterrupt | None = None  # Ctrl-C or a signal like it
    notes: list[str] = field(default_factory=list)
    elapsed_s: float = 0.0

    @property
    def best(self) -> Evaluation | None:
        return best_of(self.evaluations)


def tune(job: Job) -> Tuned:
    """Run to the end of the budget. Ctrl-C ends it early with what there is."""
    run = _Run(job)
    try:
        run.resume()
        run.search_phase()
        run.leaders_phase()
    except KeyboardInterrupt as stop:
        run.result.stopped = stop
    finally:
        run.executor.close()
    if run.cache.failure is not None:
        run.result.notes.append(
            f"the cache {job.cache} could not be written ({run.cache.failure}): "
            "it does not hold all that was measured"
        )
    run.result.elapsed_s = run.elapsed()
    return run.result


class _Run:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.search = Search(job.space, job.plan)
        self.result = Tuned(self.search)
        self.cache = ResultsCache(job.cache)
        if self.cache.skipped:
            self.result.notes.append(
                f"{self.cache.skipped} damaged lines of the cache were left aside"
            )
        self.executor = _executor(job)
        self.started = time.monotonic()
        self.at: dict[int, int] = {}  # row -> position in evaluations

    def elapsed(self) -> float:
        return time.monotonic() - self.started

    # -- the search -----------------------------------------------------------------------------

    def resume(self) -> None:
        """What the cache knows about this space is known from the start."""
        known = self.cache.known()
        if not known:
            return
        rows = {results_cache.parameters_key(p) for p, _ in known}
        for row in range(self.job.space.size):
            if self._full():
                break
            parameters = self.job.space.configuration(row)
            if results_cache.parameters_key(parameters) not in rows:
                continue
            found = self.cache.get(self._key(parameters))
            if found is not None:
                self._record(Suggestion(row, "seed", "cache"), found, cached=True)

    def search_phase(self) -> None:
        pending: dict[int, Suggestion] = {}
        while True:
            while len(pending) < self.executor.capacity and not self._full(len(pending)):
                suggestion = self.search.ask()
                if suggestion is None:
                    break
                pending[suggestion.row] = suggestion
                self.executor.submit(suggestion.row, self._task(suggestion.row))
            if not pending:
                return
            for row, measured in self.executor.wait(_POLL_S):
                self._record(pending.pop(row), measured)
            self._tell("search")

    def _full(self, pending: int = 0) -> bool:
        budget = self.job.plan.budget
        if budget is not None and len(self.result.evaluations) + pending >= budget:
            return True
        limit = self.job.time_limit_s
        return limit is not None and self.elapsed() > _SEARCH_SHARE * limit

    def _record(self, suggestion: Suggestion, found: Measurement, cached: bool = False) -> None:
        parameters = self.job.space.configuration(suggestion.row)
        evaluation = Evaluation(
            suggestion.row, parameters, suggestion.phase, suggestion.member, found, cached
        )
        self.at[suggestion.row] = len(self.result.evaluations)
        self.result.evaluations.append(evaluation)
        if not cached and self.job.recorded is None:
            self.cache.put(self._key(parameters), parameters, found)
        value = evaluation.value
        self.search.tell(suggestion.row, value)
        curve = self.result.convergence
        if value is not None and (not curve or value < curve[-1][1]):
            curve.append((len(self.result.evaluations), value))

    # -- the leaders ----------------------------------------------------------------------------

    def leaders_phase(self) -> None:
        """Leaders measured again in turns, so that drift hits all alike, until one stands out."""
        if self.job.recorded is not None:
            return
        self.result.certain = False
        for _ in range(_ROUNDS):
            leaders = contenders(self.result.evaluations, _LEADERS, _MARGIN)
            if not leaders:
                return
            settled = all(len(e.measurement.samples) >= _LEAST_SAMPLES for e in leaders)
            if settled and (len(leaders) == 1 or _same(leaders)):
                self.result.certain = True
                return
            if self.job.time_limit_s is not None and self.elapsed() > self.job.time_limit_s:
                return
            self.result.rounds += 1
            self._measure_again(leaders)
            self._tell("leaders")

    def _measure_again(self, leaders: list[Evaluation]) -> None:
        waiting = [e.row for e in leaders]
        running = 0
        while waiting or running:
            while waiting and running < self.executor.capacity:
                row = waiting.pop(0)
                self.executor.submit(row, self._task(row, verify=False))
                running += 1
            for row, more in self.executor.wait(_POLL_S):
                running -= 1
                at = self.at[row]
                updated = self.result.evaluations[at].with_more(more)
                self.result.evaluations[at] = updated
                self.cache.put(
                    self._key(updated.parameters), updated.parameters, updated.measurement
                )

    # -- details --------------------------------------------------------------------------------

    def _task(self, row: int, verify: bool = True) -> Task:
        return Task(self.job.space.configuration(row), verify)

    def _key(self, parameters: Configuration) -> str:
        files = self.job.recipe.files(parameters) if self.job.recipe else {}
        return results_cache.key({**self.job.identity, "files": files}, parameters)

    def _tell(self, phase: str) -> None:
        done, budget = len(self.result.evaluations), self.job.plan.budget
        elapsed = self.elapsed()
        left = None
        if self.job.time_limit_s is not None:
            left = max(0.0, self.job.time_limit_s - elapsed)
        elif budget and done:
            left = elapsed / done * (budget - done)
        best = self.result.best
        unit = self.job.recipe.metric.unit if self.job.recipe else "ms"
        value = best.value if best else None
        self.job.tell(Progress(done, budget, value, elapsed, left, phase, unit))


def _same(leaders: list[Evaluation]) -> bool:
    """Every interval is within 1 % of its mean: what is left between them does not matter."""
    for leader in leaders:
        interval = leader.interval95()
        if interval is None or interval[1] - interval[0] > 0.02 * (sum(interval) / 2):
            return False
    return True


def _executor(job: Job) -> Executor:
    if job.recorded is not None:
        return executors.Replay(job.recorded)
    assert job.recipe is not None
    if job.scheduler is not None:
        return executors.DaskCluster(job.recipe, job.scheduler)
    return executors.LocalGpus(job.recipe, executors.local_gpus(job.workers))
