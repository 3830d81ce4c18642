"""What `rocm-perf replay` prints as JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm_perf_lab.schema.common import Document, Model


class GpuTime(Model):
    """Time of the dispatch itself, by its timestamps."""

    kind: Literal["measured", "modelled"] = Field(description="modelled: the device is virtual")
    samples_ns: list[float] = Field(description="every iteration, in order")
    mean_ns: float
    median_ns: float
    min_ns: float
    max_ns: float
    ci95_ns: tuple[float, float] | None = Field(description="of the mean; null below two samples")


class ElementDifference(Model):
    index: int = Field(description="of the element, from where the argument points")
    expected: float | int | str
    got: float | int | str


class OutputDifference(Model):
    argument: str | None = Field(description="null: no argument points there")
    where: str = Field(description="the region, the module variables, or the guard bytes")
    type: str
    elements: int = Field(description="compared")
    differing: int = Field(description="not bit for bit the same")
    beyond_tolerance: int
    largest_absolute: float | None
    largest_relative: float | None
    scale: float | None = Field(description="root mean square of the expected floats")
    first: list[ElementDifference]


class Output(Model):
    verdict: Literal["identical", "within_tolerance", "different"] = Field(
        description="the worst of the iterations that started from the captured state"
    )
    accepted: bool = Field(description="by what --verify asks for")
    compared_bytes: int = Field(description="what the kernel writes; the rest was seen unchanged")
    distinct_outputs: int = Field(description="more than 1: the kernel is not deterministic")
    diverged: bool | None = Field(
        description="--no-recopy: whether later iterations left other bytes; else null"
    )
    differences: list[OutputDifference]


class ReplayDocument(Document):
    capture: str
    kernel: str
    isa: str
    hsaco: str | None = Field(description="the build that took the captured one's place")
    iterations: int
    warmup: int
    recopy: bool
    cache: Literal["warm", "flush"]
    gpu_time: GpuTime | None = Field(description="null: --no-timing")
    wall_s: float = Field(description="all iterations, with restores and comparisons")
    setup_s: float = Field(description="until the first dispatch could start; not in wall_s")
    overhead_us: float = Field(description="per iteration: restore, launch, comparison")
    restored_bytes: int = Field(description="put back before an iteration")
    output: Output
    notes: list[str]


class ReserveDocument(Document):
    capture: str
    verdict: Literal["exact", "relocated", "failed"]
    spans: int = Field(description="runs of pages; regions that share a page are one")
    bytes: int
    reason: str | None


class ArgumentInfo(Model):
    name: str
    kind: str
    type: str | None
    offset: int
    size: int
    value: str
    region: str | None = Field(description="what it points into; null: nothing that was captured")


class RegionInfo(Model):
    base: str
    size: int
    kind: str
    stored_bytes: int
    written_bytes: int


class ReplayInfoDocument(Document):
    capture: str
    complete: bool
    reasons: list[str]
    kernel: str
    symbol: str
    isa: str
    captured_on: str | None
    grid: tuple[int, int, int]
    workgroup: tuple[int, int, int]
    group_segment_size: int
    private_segment_size: int
    arguments: list[ArgumentInfo]
    regions: list[RegionInfo]
    region_bytes: int
    written_bytes: int
    stored_bytes: int
    code_objects: int
    code_pointers: int
    notes: list[str]


class Change(Model):
    what: str
    first: str
    second: str


class MemoryChange(Model):
    where: str = Field(description="region or module variables, and the argument that points there")
    when: Literal["before", "after"]
    differing_bytes: int
    type: str
    index: int = Field(description="of the first differing element")
    first: float | int | str
    second: float | int | str


class ReplayDiffDocument(Document):
    captures: tuple[str, str]
    same: bool
    dispatch: list[Change]
    arguments: list[Change]
    regions: list[Change] = Field(description="regions that only one of them has, or of other size")
    memory: list[MemoryChange]
