"""How a kernel's occupancy would change with its registers, LDS and block size, one at a time."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from rocm_perf_lab.arch.gpu import Gpu
from rocm_perf_lab.arch.occupancy import allocated_vgprs, occupancy


@dataclass(frozen=True)
class Curve:
    """Waves per SIMD as steps: (from this value on, waves); values rise."""

    name: str
    unit: str
    now: int
    steps: tuple[tuple[int, float], ...]
    highest: int


@dataclass(frozen=True)
class Use:
    """What a kernel uses; VGPRs as allocated, accumulation registers included."""

    threads: int
    vgprs: int | None
    agprs: int | None
    total_vgprs: int | None
    sgprs: int | None
    lds_bytes: int


def curves(gpu: Gpu, use: Use) -> tuple[Curve, ...]:
    limits = gpu.limits
    now = allocated_vgprs(limits, use.vgprs, use.agprs, use.total_vgprs)

    def waves(threads: int, vgprs: int, lds: int) -> float:
        found = occupancy(
            gpu,
            threads=threads,
            vgprs=vgprs,
            agprs=0,
            total_vgprs=vgprs,
            sgprs=use.sgprs or 0,
            lds_bytes=lds,
        )
        return found.waves_per_simd or 0.0

    granule = limits.vgpr_granule
    vgprs = range(granule, limits.vgprs + 1, granule)
    lds_step = max(limits.lds_granule_bytes, 512)
    lds = range(0, limits.lds_bytes_per_workgroup + 1, lds_step)
    threads = range(limits.wave_size, 1025, limits.wave_size)
    return (
        _curve("VGPRs a lane", "", now, [(n, waves(use.threads, n, use.lds_bytes)) for n in vgprs]),
        _curve(
            "LDS a workgroup", "B", use.lds_bytes, [(n, waves(use.threads, now, n)) for n in lds]
        ),
        _curve(
            "threads a workgroup",
            "",
            use.threads,
            [(n, waves(n, now, use.lds_bytes)) for n in threads],
        ),
    )


def _curve(name: str, unit: str, now: int, samples: list[tuple[int, float]]) -> Curve:
    """Samples lie at the ends of granules: what holds at one holds from the one before it on."""
    kept = [(0, samples[0][1])]
    for (before, _), (_, waves) in itertools.pairwise(samples):
        if waves != kept[-1][1]:
            kept.append((before + 1, waves))
    return Curve(name, unit, now, tuple(kept), samples[-1][0])
