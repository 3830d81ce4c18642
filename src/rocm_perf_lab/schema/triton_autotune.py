"""triton_autotune.json: what tuning a Triton kernel found."""

from __future__ import annotations

from typing import Literal

from rocm_perf_lab.schema.common import Document, Model

Value = bool | int | float | str


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


class TritonEvaluation(Model):
    configuration: dict[str, Value]
    status: Literal["ok", "wrong", "failed", "ruled_out"]
    reason: str | None
    time_ms: float | None
    resources: TritonResources | None


class TritonBest(Model):
    configuration: dict[str, Value]
    time_ms: float
    triton_config: str  # to paste
    speedup_over_first: float | None  # the first configuration that ran


class TritonAutotuneDocument(Document):
    kernel: str
    program: str
    time_source: Literal["modelled", "measured"]
    configurations: int
    ruled_out: int  # by their code objects, before anything ran
    measured: int
    best: TritonBest | None
    evaluations: list[TritonEvaluation]  # quickest first, then those without a time
