"""Theoretical occupancy as every document has it."""

from __future__ import annotations

from pydantic import Field

from rocm_perf_lab.arch.occupancy import Occupancy as Found
from rocm_perf_lab.arch.occupancy import Step
from rocm_perf_lab.schema.common import Model


class Occupancy(Model):
    theoretical: float | None
    limiter: str | None = Field(description="the first of limiters")
    limiters: list[str] = Field(
        default=[], description="every resource that grants the fewest waves, or hardware"
    )
    waves_per_simd: float | None
    workgroups_per_domain: int | None = Field(
        default=None, description="resident together on a CU (a WGP on RDNA)"
    )
    limits: dict[str, float] = Field(
        default={}, description="waves per SIMD that each resource alone would allow"
    )
    steps: dict[str, Step] = Field(default={}, description="what less of each resource would give")
    together_waves_per_simd: float | None = Field(
        default=None, description="with one step less of every limiter at once"
    )
    threads_per_block: int | None
    wave_size: int | None
    reason: str | None = None


def to_occupancy(found: Found, threads: int | None = None) -> Occupancy:
    """`threads` is used where the finding has none."""
    return Occupancy.of(
        found,
        together_waves_per_simd=found.together,
        threads_per_block=found.threads_per_block or threads,
    )
