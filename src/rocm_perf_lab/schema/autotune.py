"""autotune.json: what `autotune --json` prints."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from rocm_perf_lab.schema.common import Document, Model

Parameters = dict[str, bool | int | float | str]
Status = Literal[
    "ok", "invalid", "build_failed", "failed", "timeout", "wrong", "out_of_resources", "ruled_out"
]
_MS = "null where the metric is no time in milliseconds"


class BestConfig(Model):
    parameters: Parameters
    value: float = Field(description="median of its samples, in `unit`")
    runtime_ms: float | None = Field(description=f"the same; {_MS}")
    samples: int
    cv: float | None
    ci95: tuple[float, float] | None = Field(description="of the mean, in `unit`")
    ci95_ms: tuple[float, float] | None = Field(description=f"the same; {_MS}")
    stable: bool | None = Field(description="CV at most 0.10; null: measured once")


class MemberQuality(Model):
    """Of predictions of log time, out of sample."""

    name: str
    r2: float | None
    rank_correlation: float | None
    residual_std: float | None
    samples: int


class ModelQuality(Model):
    """The degree-2 polynomial, judged by leaving rows out; log time."""

    r2: float | None
    residual_std: float | None = Field(description="of log time: 0.1 is about 10 %")
    rank_correlation: float | None
    samples: int
    may_prune: bool = Field(description="it ranks unseen configurations well enough to prune")
    reason: str | None
    members: list[MemberQuality]


class SeedPhase(Model):
    evaluated: int


class PredictPhase(Model):
    predicted: int = Field(description="configurations that were not measured in the seed phase")
    pruned: int = Field(description="never measured, predicted slower than best x prune factor")
    prune_factor: float


class ConfirmPhase(Model):
    evaluated: int
    by_member: dict[str, int]
    remeasuring_rounds: int
    certain: bool = Field(description="the best stands out, or its rivals are equal within 1 %")


class Phases(Model):
    seed: SeedPhase
    predict: PredictPhase
    confirm: ConfirmPhase


class EvaluationLine(Model):
    parameters: Parameters
    status: Status
    order: int | None = Field(description="of measuring, from 1; null: ruled out before")
    value: float | None = Field(description="median of its samples, in `unit`")
    samples: list[float] = Field(description="in `unit`")
    runtime_ms: float | None = Field(description=f"the value; {_MS}")
    samples_ms: list[float] = Field(description="the samples; empty where they are no times")
    cv: float | None
    stable: bool | None
    phase: Literal["seed", "confirm", "compile"]
    member: str = Field(description="which part of the search proposed it")
    cached: bool
    reason: str | None
    runtime_features: dict[str, JsonValue] = Field(description="reported, never used to prune")
    static_features: dict[str, JsonValue] = Field(description="from the compiler, before running")


class ConvergencePoint(Model):
    evaluated: int
    value: float = Field(description="best so far, in `unit`")
    runtime_ms: float | None = Field(description=f"the same; {_MS}")


class ValueInfluence(Model):
    value: bool | int | float | str
    evaluated: int
    best: float | None = Field(description="in `unit`")
    median: float | None = Field(description="in `unit`")
    best_ms: float | None = Field(description=f"the same; {_MS}")
    median_ms: float | None = Field(description=f"the same; {_MS}")


class ParameterInfluence(Model):
    parameter: str
    share: float | None = Field(description="of the variance of log time over what was measured")
    values: list[ValueInfluence]


class AutotuneDocument(Document):
    search_space_size: int
    evaluated_configs: int
    best_config: BestConfig | None
    model: ModelQuality
    warning: str | None
    warnings: list[str]
    strategy: str
    seed: int
    budget: str
    metric: str
    unit: str = Field(
        default="ms",
        description="of the metric, and so of `value`, `samples`, `best`, `median` and `ci95`",
    )
    modelled_error: float | None = Field(
        default=None,
        description="virtual GPU only: the worst error of published times that were compared, as a "
        "share; configurations nearer to each other may rank otherwise on hardware",
    )
    simulated: bool
    interrupted: bool
    optimum_fraction: float | None = Field(
        default=None, description="only of a simulation: recorded optimum / best found"
    )
    statuses: dict[str, int]
    phases: Phases
    evaluations: list[EvaluationLine]
    convergence: list[ConvergencePoint]
    influence: list[ParameterInfluence]
