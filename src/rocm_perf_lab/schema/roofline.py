"""roofline.json: each kernel's work and traffic, how near its roofs, and where those come from."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from rocm_perf_lab.analyze.keys import KernelKey
from rocm_perf_lab.analyze.memory_levels import Level
from rocm_perf_lab.analyze.metrics_table import SHARES, Row
from rocm_perf_lab.analyze.roofline import KernelRoofline, RooflineFinding
from rocm_perf_lab.arch.modelled_error import ModelledError
from rocm_perf_lab.schema.common import Document, Model, Provenance

Position = Literal["memory_bound", "compute_bound"]


class Ceiling(Model):
    name: str = Field(description="hbm, mall, l2, l1, lds, or a compute pipe such as mfma_bf16")
    value: float
    unit: str = Field(description="GB/s, GFLOP/s or GIOP/s")
    kind: Literal["datasheet", "measured", "doc", "unchecked"]
    source: str


class Metric(Model):
    value: float | None
    unit: str
    reason: str | None = Field(description="why the value is null")
    formula: str | None
    counters: list[str]


class MetricRow(Model):
    """One line of the metrics table."""

    group: str
    name: str
    title: str
    value: float | None
    unit: str
    share: bool = Field(default=False, description="a part of a whole, 0 to 1")
    reason: str | None = Field(description="why the value is null")
    formula: str | None
    counters: list[str]


class MemoryLevel(Model):
    """One level of memory; amounts are per dispatch.

    `fabric` is what L2 exchanges with the Infinity Cache (`mall`) and HBM behind it: counters end
    there, so `hbm` has numbers of its own only where there is no Infinity Cache.
    """

    bytes: float | None
    read_bytes: float | None
    write_bytes: float | None
    achieved_bandwidth_gbps: float | None
    ceiling_gbps: float | None
    fraction_of_ceiling: float | None = Field(description="at most 1; never falls with speed")
    fraction_of_datasheet: float | None = None
    served_by: str | None = Field(
        default=None, description="of fabric: hbm or mall, whose ceiling applies; note says why"
    )
    ceilings_gbps: dict[str, float] = Field(default={}, description="every ceiling that may apply")
    hbm_share: tuple[float, float] | None = Field(
        default=None,
        description="of fabric: the part of its traffic that HBM serves, least (data is in the "
        "Infinity Cache) and most (first touch); null where the data may not fit the cache",
    )
    operational_intensity: float | None = Field(description="FLOP per byte at this level")
    ridge_point: float | None
    position: Position | None
    reason: str | None
    note: str | None


class RooflineKernel(Model):
    kernel: str
    grid: tuple[int, int, int] = Field(description="work-items")
    block: tuple[int, int, int]
    lds_bytes: int
    dispatches: int
    counted_dispatches: int = Field(description="those that counters and time are taken from")
    mean_time_ms: float
    flops: float | None = Field(description="per dispatch, all types")
    flops_by_type: dict[str, Metric]
    bytes_by_level: dict[str, MemoryLevel]
    operational_intensity: float | None = Field(description="FLOP per byte of fabric traffic")
    achieved_gflops: float | None
    achieved_bandwidth_gbps: float | None
    compute_roof_gflops: float | None = Field(
        description="of this kernel's mix: VALU types one after the other, MFMA types likewise, "
        "the two side by side; vector FP32 where there is no FLOP"
    )
    compute_roof_type: str | None = Field(
        default=None, description="type and unit with most of the roof time, e.g. mfma_bf16"
    )
    compute_peak_gflops: float | None = Field(
        default=None, description="the datasheet's for that type and unit"
    )
    compute_fraction: float | None = Field(default=None, description="at most 1")
    ridge_point: float | None = Field(description="compute roof over fabric ceiling, FLOP per byte")
    roofline_position: Position | None
    fraction_of_roof: float | None = Field(
        description="the longest roof time, of compute and of memory, over the time taken"
    )
    bound_by: str | None
    metrics: dict[str, Metric] = Field(description="busy shares, hit rates, waits, occupancy …")
    metrics_table: list[MetricRow] = Field(
        default=[], description="the same as a table, with what follows from the launch"
    )
    counters: dict[str, float] = Field(
        default={}, description="as counted, per dispatch, over all instances; `_sum` left off"
    )
    modelled_error: ModelledError | None = Field(
        default=None, description="of the time under every rate, as in profile.json"
    )
    plausibility: list[str] = Field(description="what was impossible or remarkable")
    reasons: dict[str, str] = Field(description="field -> why it is null")
    notes: list[str]


class RooflineDocument(Document):
    architecture: str | None
    product: str | None
    ceilings_wanted: Literal["datasheet", "measured"]
    ceilings: list[Ceiling]
    timed_by: str = Field(description="timing run, or counter run where there was no other")
    kernels: list[RooflineKernel]
    notes: list[str]


def metric_rows(rows: Sequence[Row]) -> list[MetricRow]:
    return [_metric_row(row) for row in rows]


@functools.lru_cache(4096)  # without counters, hundreds of launches have the same unknown rows
def _metric_row(row: Row) -> MetricRow:
    return MetricRow.of(
        row.value, group=row.group, name=row.name, title=row.title, share=row.name in SHARES
    )


def to_document(
    finding: RooflineFinding,
    provenance: Provenance,
    tables: Mapping[KernelKey, Sequence[Row]] | None = None,
    errors: Mapping[str, ModelledError | None] | None = None,
) -> RooflineDocument:
    """`errors` are by kernel name."""
    return RooflineDocument.of(
        finding,
        provenance=provenance,
        ceilings=[Ceiling.of(q, name=name) for name, q in finding.ceilings.items()],
        kernels=[
            _kernel(k, (tables or {}).get(k.key, ()), (errors or {}).get(k.key.name))
            for k in finding.kernels
        ],
    )


def _kernel(k: KernelRoofline, table: Sequence[Row], error: ModelledError | None) -> RooflineKernel:
    return RooflineKernel.of(
        k,
        kernel=k.key.name,
        grid=k.key.grid,
        block=k.key.workgroup,
        lds_bytes=k.key.lds_bytes,
        counted_dispatches=k.covered,
        mean_time_ms=k.mean_ns / 1e6,
        bytes_by_level={name: _level(level) for name, level in k.levels.items()},
        compute_roof_type=k.compute_roof_pipe,
        metrics_table=metric_rows(table),
        metrics={n: v for n, v in k.metrics.items() if n not in k.flops_by_type},
        counters=dict(sorted(k.counters.items())),
        modelled_error=error,
    )


def _level(level: Level) -> MemoryLevel:
    return MemoryLevel.of(
        level,
        achieved_bandwidth_gbps=level.gbps,
        fraction_of_ceiling=level.fraction,
        ceilings_gbps=level.ceilings,
    )
