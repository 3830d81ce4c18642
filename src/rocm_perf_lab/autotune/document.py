"""A tuning run as autotune.json."""

from __future__ import annotations

import math
import platform
from collections import Counter
from typing import TypeVar

import numpy as np

from rocm_perf_lab import __version__
from rocm_perf_lab.arch.modelled_error import model_errors
from rocm_perf_lab.autotune.evaluation import Evaluation
from rocm_perf_lab.autotune.job import Request
from rocm_perf_lab.autotune.polynomial import Quality
from rocm_perf_lab.autotune.search import PRUNING, RANKS
from rocm_perf_lab.autotune.space import Space
from rocm_perf_lab.autotune.triton import TritonRecipe, config_text, said
from rocm_perf_lab.autotune.tune import Job, Tuned
from rocm_perf_lab.device.discover import rocm_version
from rocm_perf_lab.report.units import spread
from rocm_perf_lab.schema import autotune as schema
from rocm_perf_lab.schema.common import DeviceInfo, Provenance
from rocm_perf_lab.schema.triton_autotune import (
    TritonAutotuneDocument,
    TritonBest,
    TritonEvaluation,
    TritonResources,
)
from rocm_perf_lab.statistics import median
from rocm_perf_lab.workflow.provenance import command_line

GOOD_R2 = 0.75
Value = TypeVar("Value")


def document(request: Request, job: Job, tuned: Tuned, started: str) -> schema.AutotuneDocument:
    best = tuned.best
    model = _model(tuned)
    warnings = _warnings(job, tuned, model)
    optimum = job.recorded.optimum_ms() if job.recorded else None
    provenance = _provenance(job, tuned.evaluations, started)
    unit = job.recipe.metric.unit if job.recipe else "ms"
    every = [*tuned.evaluations, *job.ruled_out]
    lines = [_line(e, n, unit) for n, e in enumerate(tuned.evaluations, 1)]
    found = schema.AutotuneDocument(
        provenance=provenance,
        modelled_error=model_errors().worst if provenance.device.kind == "virtual" else None,
        search_space_size=job.space.size + len(job.ruled_out),
        evaluated_configs=len(tuned.evaluations),
        best_config=_best(best, unit) if best else None,
        model=model,
        warning="; ".join(warnings) or None,
        warnings=warnings,
        strategy=job.plan.strategy,
        seed=job.plan.seed,
        budget=request.budget,
        metric=job.recipe.metric.text if job.recipe else "recorded",
        unit=unit,
        simulated=job.recorded is not None,
        interrupted=tuned.stopped is not None,
        optimum_fraction=optimum / best.value if optimum and best and best.value else None,
        statuses=dict(sorted(Counter(e.measurement.status for e in every).items())),
        phases=_phases(job, tuned, model),
        evaluations=[*lines, *(_line(e, None, unit) for e in job.ruled_out)],
        convergence=[
            schema.ConvergencePoint(evaluated=n, value=v, runtime_ms=_ms(v, unit))
            for n, v in tuned.convergence
        ],
        influence=influence(job.space, tuned.evaluations, unit),
    )
    return _of_triton(found, job.recipe, best) if isinstance(job.recipe, TritonRecipe) else found


def _of_triton(
    found: schema.AutotuneDocument, recipe: TritonRecipe, best: Evaluation | None
) -> TritonAutotuneDocument:
    lines = [
        TritonEvaluation.of(
            e,
            configuration=said(e.parameters),
            time_ms=e.runtime_ms,
            resources=TritonResources.model_validate(e.static_features)
            if e.static_features
            else None,
        )
        for e in found.evaluations
    ]
    first = next((e.value for e in lines if e.value is not None), None)
    own: dict[str, object] = {
        "kernel": recipe.kernel,
        "program": str(recipe.program),
        "time_source": "modelled" if recipe.device.kind == "virtual" else "measured",
        "configurations": len(lines),
        "ruled_out": sum(e.status == "ruled_out" for e in lines),
        "measured": sum(e.value is not None for e in lines),
        "best": None,
        "evaluations": sorted(lines, key=lambda e: (e.value is None, e.value or 0.0, e.status)),
    }
    if best is not None and best.value is not None:
        own["best"] = TritonBest(
            configuration=said(best.parameters),
            time_ms=_ms(best.value, found.unit),
            triton_config=config_text(best.parameters),
            speedup_over_first=first / best.value if first else None,
        )
    return TritonAutotuneDocument.of(found, **own)


def _ms(value: Value, unit: str) -> Value | None:
    return value if unit == "ms" else None


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


def _best(best: Evaluation, unit: str) -> schema.BestConfig:
    interval = best.interval95()
    return schema.BestConfig.of(
        best,
        runtime_ms=_ms(best.value, unit),
        samples=len(best.measurement.samples),
        ci95=interval,
        ci95_ms=_ms(interval, unit),
    )


def _line(e: Evaluation, order: int | None, unit: str) -> schema.EvaluationLine:
    measured = e.measurement
    return schema.EvaluationLine.of(
        e,
        order=order,
        status=measured.status,
        samples=measured.samples,
        runtime_ms=_ms(e.value, unit),
        samples_ms=_ms(measured.samples, unit) or (),
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
        found.append(f"the best configuration's time varies by {spread(best.cv or 0.0)}")
    if best is not None and not tuned.certain and tuned.stopped is None:
        found.append("the best could not be told from its rivals with certainty")
    if tuned.stopped is not None:
        found.append("interrupted: the best so far")
    return found


def influence(
    space: Space, evaluations: list[Evaluation], unit: str
) -> list[schema.ParameterInfluence]:
    """How much of the variance of log time each parameter explains alone, largest first."""
    working = [e for e in evaluations if e.value is not None]
    logs = np.array([math.log(e.value) for e in working if e.value is not None])
    total = float(((logs - logs.mean()) ** 2).sum()) if len(logs) else 0.0
    found = []
    for j in space.varying:
        name = space.names[j]
        codes = np.array([int(space.codes[e.row, j]) for e in working], dtype=int)
        values, between = [], 0.0
        for code, value in enumerate(space.values[j]):
            own = logs[codes == code]
            measured_here = [float(v) for v in np.exp(own)]
            low = min(measured_here, default=None)
            middle = median(measured_here) if measured_here else None
            if measured_here:
                between += len(own) * float(own.mean() - logs.mean()) ** 2
            values.append(
                schema.ValueInfluence(
                    value=value,
                    evaluated=len(measured_here),
                    best=low,
                    median=middle,
                    best_ms=_ms(low, unit),
                    median_ms=_ms(middle, unit),
                )
            )
        share = between / total if total > 0 else None
        found.append(schema.ParameterInfluence(parameter=name, share=share, values=values))
    return sorted(found, key=lambda p: (-(p.share or 0.0), p.parameter))
