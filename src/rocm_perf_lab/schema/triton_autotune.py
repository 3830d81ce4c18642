"""triton_autotune.json, of `autotune --triton --json`: autotune.json, and what is Triton's."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm_perf_lab.schema.autotune import AutotuneDocument, EvaluationLine, Parameters
from rocm_perf_lab.schema.common import Model


class TritonResources(Model):
    """From compilation alone."""

    vgprs: int
    agprs: int
    sgprs: int
    vgpr_spills: int
    scratch_bytes: int
    lds_bytes: int
    threads: int
    waves_per_simd: float | None
    limiter: str | None


class TritonEvaluation(EvaluationLine):
    configuration: Parameters = Field(description="what it sets of its parameters")
    time_ms: float | None
    resources: TritonResources | None


class TritonBest(Model):
    configuration: Parameters
    time_ms: float | None = Field(description="null where the metric is no time")
    triton_config: str = Field(description="to paste")
    speedup_over_first: float | None = Field(description="the first configuration that ran")


class TritonAutotuneDocument(AutotuneDocument):
    kernel: str
    program: str
    time_source: Literal["modelled", "measured"]
    configurations: int
    ruled_out: int = Field(description="by their code objects, before anything ran")
    measured: int
    best: TritonBest | None
    evaluations: list[TritonEvaluation] = Field(  # type: ignore[assignment]
        description="quickest first, then those without a value"
    )
