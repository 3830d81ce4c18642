"""How many waves a SIMD can hold of a kernel, and what keeps it from holding more.

Whole workgroups are placed on a domain (a CU, or a WGP on RDNA); each resource grants so many,
the smallest grant decides. Granules are those of LLVM's AMDGPU target.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocm_perf_lab.arch.model import Gpu, WaveLimits

# Named as limiter in this order where two resources grant the same.
RESOURCES = ("vgpr", "sgpr", "lds", "workgroup")


@dataclass(frozen=True)
class Occupancy:
    """`theoretical` is resident waves over the most the hardware holds, 0..1.

    `limiter` is vgpr, sgpr, lds, workgroup (its size in whole waves, or how many fit) or
    hardware; `limits` the waves per SIMD each resource alone would allow.
    """

    theoretical: float | None
    limiter: str | None
    waves_per_simd: float | None
    threads_per_block: int | None
    wave_size: int | None
    workgroups_per_domain: int | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    reason: str | None = None


def occupancy(
    gpu: Gpu,
    *,
    threads: int | None,
    vgprs: int | None,
    agprs: int | None = None,
    total_vgprs: int | None = None,
    sgprs: int | None = None,
    lds_bytes: int | None = 0,
    wave_size: int | None = None,
) -> Occupancy:
    """Occupancy of a kernel; null with the reason where an input that matters is unknown.

    `vgprs` are architectural, `agprs` accumulation VGPRs; `total_vgprs`, what a lane is
    allocated of both, is used before their sum where the file is unified.
    """
    wave = wave_size or gpu.wave_size
    unknown = _unknown(gpu.limits, threads, vgprs, agprs, total_vgprs, lds_bytes)
    if unknown:
        return Occupancy(None, None, None, threads, wave, reason=unknown)
    assert threads is not None and lds_bytes is not None
    registers = allocated_vgprs(gpu.limits, vgprs, agprs, total_vgprs)
    if sgprs is None and gpu.limits.sgpr_steps:
        # Unknown SGPRs matter only if the fewest and the most lead to different answers.
        best = _place(gpu.limits, threads, registers, 0, lds_bytes, wave)
        worst = _place(gpu.limits, threads, registers, 10**6, lds_bytes, wave)
        if best.waves_per_simd != worst.waves_per_simd:
            reason = "the SGPR count is not recorded and decides the answer"
            return Occupancy(None, None, None, threads, wave, reason=reason)
        return best
    return _place(gpu.limits, threads, registers, sgprs or 0, lds_bytes, wave)


def allocated_vgprs(
    limits: WaveLimits, vgprs: int | None, agprs: int | None, total: int | None
) -> int:
    """VGPRs counted against the file: AGPRs share it, have one of their own, or do not exist."""
    if limits.agprs == "unified":
        if total is not None:
            return total
        # AGPRs start at a multiple of 4.
        return (-(-(vgprs or 0) // 4) * 4 + agprs) if agprs else (vgprs or 0)
    if limits.agprs == "separate":
        return max(vgprs or 0, agprs or 0)
    return vgprs if vgprs is not None else (total or 0)


def waves_by_vgprs(limits: WaveLimits, registers: int, wave_size: int) -> int:
    """Waves per SIMD that fit the register file; 0 if not even one does."""
    scale = max(1, wave_size // limits.wave_size)
    granule = max(1, limits.vgpr_granule // scale)
    taken = -(-max(1, registers) // granule) * granule
    return min(limits.max_waves_per_simd, limits.vgprs // scale // taken)


def waves_by_sgprs(limits: WaveLimits, sgprs: int) -> int:
    if not limits.sgpr_steps:
        return limits.max_waves_per_simd
    for up_to, waves in limits.sgpr_steps:
        if sgprs <= up_to:
            return min(waves, limits.max_waves_per_simd)
    return min(limits.sgpr_steps[-1][1], limits.max_waves_per_simd)


def _unknown(
    limits: WaveLimits,
    threads: int | None,
    vgprs: int | None,
    agprs: int | None,
    total: int | None,
    lds_bytes: int | None,
) -> str | None:
    if threads is None or threads <= 0:
        return "the workgroup size is not recorded"
    if limits.agprs == "separate" and vgprs is None:
        return "the VGPR count is not recorded"
    if vgprs is None and total is None:
        return "the VGPR count is not recorded"
    if limits.agprs == "unified" and total is None and agprs is None:
        return "the AGPR count is not recorded, and AGPRs share the register file"
    if any(n is not None and n < 0 for n in (vgprs, agprs, total)):
        return "the VGPR count is negative"
    if lds_bytes is None or lds_bytes < 0:
        return "the LDS allocation is not recorded"
    return None


def _place(
    limits: WaveLimits, threads: int, registers: int, sgprs: int, lds_bytes: int, wave: int
) -> Occupancy:
    waves_per_group = -(-threads // wave)
    simds = limits.simds_per_domain
    by_vgpr = waves_by_vgprs(limits, registers, wave)
    by_sgpr = waves_by_sgprs(limits, sgprs)
    most_waves = simds * limits.max_waves_per_simd
    granule = limits.lds_granule_bytes
    lds_taken = -(-lds_bytes // granule) * granule
    barriers = most_waves if waves_per_group == 1 else limits.max_workgroups_per_domain
    groups = {
        "vgpr": simds * by_vgpr // waves_per_group,
        "sgpr": simds * by_sgpr // waves_per_group,
        "lds": limits.lds_bytes_per_domain // lds_taken if lds_taken else most_waves,
        "workgroup": min(barriers, most_waves // waves_per_group),
    }
    if lds_bytes > limits.lds_bytes_per_workgroup:
        groups["lds"] = 0
    fitting = min(groups.values())
    waves = fitting * waves_per_group
    per_simd = {
        "vgpr": float(by_vgpr),
        "sgpr": float(by_sgpr),
        "lds": min(groups["lds"] * waves_per_group / simds, float(limits.max_waves_per_simd)),
        "workgroup": groups["workgroup"] * waves_per_group / simds,
        "hardware": float(limits.max_waves_per_simd),
    }
    if fitting == 0:
        limiter = next(name for name in RESOURCES if groups[name] == 0)
        reason = f"one workgroup of {threads} threads does not fit: {limiter}"
        return Occupancy(None, limiter, None, threads, wave, 0, per_simd, reason)
    if waves == most_waves:
        limiter = "hardware"
    elif groups["workgroup"] == fitting:
        limiter = "workgroup"
    else:
        limiter = next(name for name in RESOURCES if groups[name] == fitting)
    return Occupancy(
        theoretical=waves / most_waves,
        limiter=limiter,
        waves_per_simd=waves / simds,
        threads_per_block=threads,
        wave_size=wave,
        workgroups_per_domain=fitting,
        limits=per_simd,
    )
