"""Theoretical occupancy of a kernel as recorded."""

from __future__ import annotations

from rocm_perf_lab.analyze.keys import KernelKey, possible
from rocm_perf_lab.arch.gpu import Gpu
from rocm_perf_lab.arch.occupancy import Occupancy, occupancy, unknown_occupancy
from rocm_perf_lab.trace.trace import KernelSymbol


def of_kernel(
    gpu: Gpu | None, symbol: KernelSymbol, workgroup: tuple[int, int, int], lds_bytes: int
) -> Occupancy:
    """`lds_bytes` is the dispatch's, dynamic included; below 0, the kernel's static LDS is used."""
    # A size that is impossible is as good as none; what fits does not depend on the grid.
    threads = workgroup[0] * workgroup[1] * workgroup[2] if possible((1, 1, 1), workgroup) else None
    if gpu is None:
        return unknown_occupancy("no architecture file describes this GPU", threads)
    return occupancy(
        gpu,
        threads=threads,
        vgprs=symbol.arch_vgprs,
        agprs=symbol.accum_vgprs,
        total_vgprs=symbol.total_vgprs,
        sgprs=symbol.sgprs,
        lds_bytes=lds_bytes if lds_bytes >= 0 else symbol.static_lds_bytes,
    )


def grid_waves_per_simd(
    gpu: Gpu | None, grid: tuple[int, int, int], workgroup: tuple[int, int, int]
) -> float | None:
    """Waves a launch of this size brings to each SIMD of the device, spread evenly."""
    if gpu is None or not gpu.cu_count or not possible(grid, workgroup):
        return None
    key = KernelKey("", grid, workgroup, 0)
    waves = key.workgroups * -(-key.threads // gpu.wave_size)
    return waves / (gpu.cu_count * gpu.simds_per_cu)
