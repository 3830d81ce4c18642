"""A tuning run as autotune.json."""

from __future__ import annotations

import math
import platform
from collections import Counter

import numpy as np

from rocm_perf_lab import __version__
from rocm_perf_lab.arch.model_error import model_errors
from rocm_perf_lab.autotune.evaluation import Evaluation
from rocm_perf_lab.autotune.job import Request
from rocm_perf_lab.autotune.polynomial import Quality
from rocm_perf_lab.autotune.search import PRUNING, RANKS
from rocm_perf_lab.autotune.space import Space
from rocm_perf_lab.autotune.tune import Job, Tuned
from rocm_perf_lab.device.discover import rocm_version
from rocm_perf_lab.schema import autotune as schema
from rocm_perf_lab.schema.common import DeviceInfo, Provenance
from rocm_perf_lab.statistics import median
from rocm_perf_lab.workflow.provenance import command_line

GOOD_R2 = 0.75


def document(request: Request, job: Job, tuned: Tuned, started: str) -> schema.AutotuneDocument:
    best = tuned.best
    model = _model(tuned)
    warnings = _warnings(job, tuned, model)
    optimum = job.recorded.optimum_ms() if job.recorded else None
    provenance = _provenance(job, tuned.evaluations, started)
    return schema.AutotuneDocument(
        provenance=provenance,
        modelled_error=model_errors().worst if provenance.device.kind == "virtual" else None,
        search_space_size=job.space.size,
        evaluated_configs=len(tuned.evaluations),
        best_config=_best(best) if best else None,
        model=model,
        warning="; ".join(warnings) or None,
        warnings=warnings,
        strategy=job.plan.strategy,
        seed=job.plan.seed,
        budget=request.budget,
        metric=job.recipe.metric.text if job.recipe else "recorded",
        unit=job.recipe.metric.unit if job.recipe else "ms",
        simulated=job.recorded is not None,
        interrupted=tuned.stopped is not None,
        optimum_fraction=optimum / best.time_ms if optimum and best and best.time_ms else None,
        statuses=dict(sorted(Counter(e.measurement.status for e in tuned.evaluations).items())),
        phases=_phases(job, tuned, model),
        evaluations=[_line(e) for e in tuned.evaluations],
        convergence=[
            schema.ConvergencePoint(evaluated=n, runtime_ms=ms) for n, ms in tuned.convergence
        ],
        influence=influence(job.space, tuned.evaluations),
    )


def _provenance(job: Job, evaluations: list[Evaluation], started: str) -> Provenance:
    devices = [e.measurement.device for e in evaluations if e.measurement.device]
    seen = devices[0] if devices else {}
    name = seen.get("name") or (job.recorded.device if job.recorded else None)
    # A replay gives the same bytes every time.
    replay = job.recorded is not None
    return Provenance(
        tool_version=__version__,
        command=command_line(),
        started=None if replay else started,
        host=None if replay else platform.node(),
        device=DeviceInfo(
            kind=seen.get("kind", "unknown"), name=name, architecture=seen.get("architecture")
        ),
        rocm=seen.get("rocm") or (None if replay else rocm_version()),
        inputs=[],
    )


def _best(best: Evaluation) -> schema.BestConfig:
    assert best.time_ms is not None
    return schema.BestConfig.of(
        best,
        runtime_ms=best.time_ms,
        samples=len(best.measurement.samples_ms),
        ci95_ms=best.interval_ms(),
    )


def _line(e: Evaluation) -> schema.EvaluationLine:
    measured = e.measurement
    return schema.EvaluationLine.of(
        e,
        status=measured.status,
        runtime_ms=e.time_ms,
        samples_ms=measured.samples_ms,
        reason=measured.reason,
        runtime_features=measured.runtime_features,
        static_features=measured.static_features,
    )


def _model(tuned: Tuned) -> schema.ModelQuality:
    search = tuned.search
    search.fit_polynomial()
    quality = search.polynomial.quality if search.polynomial else Quality(None, None, None, 0)
    rank = quality.rank_correlation
    usable = rank is not None and rank >= RANKS
    reason = None
    if rank is None:
        reason = "too few different times to judge a model"
    elif not usable:
        reason = (
            f"its rank correlation out of sample is {rank:.2f}, below {RANKS}: nothing is pruned "
            "by it, the search goes by the other members"
        )
    members = [("polynomial", quality), ("kernel", search.kernel_quality())]
    return schema.ModelQuality.of(
        quality,
        may_prune=usable,
        reason=reason,
        members=[schema.MemberQuality.of(q, name=name) for name, q in members],
    )


def _phases(job: Job, tuned: Tuned, model: schema.ModelQuality) -> schema.Phases:
    seeds = sum(e.phase == "seed" for e in tuned.evaluations)
    prunes = job.plan.strategy in PRUNING
    confirmed = [e for e in tuned.evaluations if e.phase == "confirm"]
    return schema.Phases(
        seed=schema.SeedPhase(evaluated=seeds),
        predict=schema.PredictPhase(
            predicted=job.space.size - seeds,
            pruned=tuned.search.count_pruned() if model.may_prune and prunes else 0,
            prune_factor=job.plan.prune_factor,
        ),
        confirm=schema.ConfirmPhase(
            evaluated=len(confirmed),
            by_member=dict(sorted(Counter(e.member for e in confirmed).items())),
            remeasuring_rounds=tuned.rounds,
            certain=tuned.certain,
        ),
    )


def _warnings(job: Job, tuned: Tuned, model: schema.ModelQuality) -> list[str]:
    found = list(tuned.notes)
    if model.r2 is not None and model.r2 < GOOD_R2:
        found.append(f"the model's R2 out of sample is {model.r2:.2f}, below {GOOD_R2}")
    if model.reason:
        found.append(f"the model does not prune: {model.reason}")
    best = tuned.best
    if best is None:
        found.append("no configuration worked")
    elif best.stable is False:
        found.append(f"the best configuration's time varies by {100 * (best.cv or 0):.0f} %")
    if best is not None and not tuned.certain and tuned.stopped is None:
        found.append("the best could not be told from its rivals with certainty")
    if tuned.stopped is not None:
        found.append("interrupted: the best so far")
    return found


def influence(space: Space, evaluations: list[Evaluation]) -> list[schema.ParameterInfluence]:
    """How much of the variance of log time each parameter explains alone, largest first."""
    working = [e for e in evaluations if e.time_ms is not None]
    logs = np.array([math.log(e.time_ms) for e in working if e.time_ms is not None])
    total = float(((logs - logs.mean()) ** 2).sum()) if len(logs) else 0.0
    found = []
    for j in space.varying:
        name = space.names[j]
        codes = np.array([int(space.codes[e.row, j]) for e in working], dtype=int)
        values, between = [], 0.0
        for code, value in enumerate(space.values[j]):
            own = logs[codes == code]
            times = [float(t) for t in np.exp(own)]
            if times:
                between += len(own) * float(own.mean() - logs.mean()) ** 2
            values.append(
                schema.ValueInfluence(
                    value=value,
                    evaluated=len(times),
                    best_ms=min(times, default=None),
                    median_ms=median(times) if times else None,
                )
            )
        share = between / total if total > 0 else None
        found.append(schema.ParameterInfluence(parameter=name, share=share, values=values))
    return sorted(found, key=lambda p: (-(p.share or 0.0), p.parameter))
