"""How many waves a SIMD can hold of a kernel, and what keeps it from holding more.

Whole workgroups are placed on a domain (a CU, or a WGP on RDNA); each resource grants so many,
the smallest grant decides. Granules are those of LLVM's AMDGPU target.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rocm_perf_lab.arch.gpu import Gpu, WaveLimits
from rocm_perf_lab.trace.vgpr import together

_SGPR_GRANULE = 16  # of gfx8 and gfx9; later waves have a fixed number
RESOURCES = ("vgpr", "sgpr", "lds", "workgroup")


@dataclass(frozen=True)
class Step:
    """The least a resource must shrink to so that it alone would allow more waves."""

    at_most: int = field(
        metadata={"description": "VGPRs a lane, SGPRs a wave, LDS bytes or threads a workgroup"}
    )
    allows: float = field(metadata={"description": "waves per SIMD, by this resource alone"})
    gives: float = field(metadata={"description": "waves per SIMD, the other resources unchanged"})


@dataclass(frozen=True, kw_only=True)
class Occupancy:
    """`theoretical` is resident waves over the most the hardware holds, 0..1.

    `limiters` are those of vgpr, sgpr, lds, workgroup (its size in whole waves, or how many fit)
    that grant the fewest, or hardware alone; `steps` are there where more waves are to be had.
    """

    theoretical: float | None
    limiter: str | None = field(metadata={"description": "the first of limiters"})
    limiters: tuple[str, ...] = field(
        default=(),
        metadata={"description": "every resource that grants the fewest waves, or hardware"},
    )
    waves_per_simd: float | None
    workgroups_per_domain: int | None = field(
        default=None, metadata={"description": "resident together on a CU (a WGP on RDNA)"}
    )
    limits: Mapping[str, float] = field(
        default_factory=dict,
        metadata={"description": "waves per SIMD that each resource alone would allow"},
    )
    steps: Mapping[str, Step] = field(
        default_factory=dict, metadata={"description": "what less of each resource would give"}
    )
    together_waves_per_simd: float | None = field(
        default=None, metadata={"description": "with one step less of every limiter at once"}
    )
    threads_per_block: int | None
    wave_size: int | None
    reason: str | None = None


def unknown_occupancy(
    reason: str, threads: int | None = None, wave_size: int | None = None
) -> Occupancy:
    return Occupancy(
        theoretical=None,
        limiter=None,
        waves_per_simd=None,
        threads_per_block=threads,
        wave_size=wave_size,
        reason=reason,
    )


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
    why = _unknown(gpu.limits, threads, vgprs, agprs, total_vgprs, lds_bytes)
    if why:
        return unknown_occupancy(why, threads, wave)
    assert threads is not None and lds_bytes is not None
    registers = allocated_vgprs(gpu.limits, vgprs, agprs, total_vgprs)
    if sgprs is None and gpu.limits.sgpr_steps:
        # Unknown SGPRs matter only if the fewest and the most lead to different answers.
        best = _with_steps(gpu.limits, _Use(threads, registers, 0, lds_bytes, wave))
        worst = _place(gpu.limits, _Use(threads, registers, 10**6, lds_bytes, wave))
        if best.waves_per_simd != worst.waves_per_simd:
            reason = "the SGPR count is not recorded and decides the answer"
            return unknown_occupancy(reason, threads, wave)
        return best
    return _with_steps(gpu.limits, _Use(threads, registers, sgprs or 0, lds_bytes, wave))


def allocated_vgprs(
    limits: WaveLimits, vgprs: int | None, agprs: int | None, total: int | None
) -> int:
    """VGPRs counted against the file: AGPRs share it, have one of their own, or do not exist.
    `granted_vgprs` is what the file gives for them."""
    if limits.agprs == "unified":
        if total is not None:
            return total
        return together(vgprs or 0, agprs or 0)
    if limits.agprs == "separate":
        return max(vgprs or 0, agprs or 0)
    return vgprs if vgprs is not None else (total or 0)


def granted_vgprs(limits: WaveLimits, registers: int, wave_size: int) -> int:
    """In whole granules, per lane."""
    granule = max(1, limits.vgpr_granule // _scale(limits, wave_size))
    return -(-max(1, registers) // granule) * granule


def waves_by_vgprs(limits: WaveLimits, registers: int, wave_size: int) -> int:
    """Waves per SIMD that fit the register file; 0 if not even one does."""
    taken = granted_vgprs(limits, registers, wave_size)
    return min(limits.max_waves_per_simd, limits.vgprs // _scale(limits, wave_size) // taken)


def _scale(limits: WaveLimits, wave_size: int) -> int:
    return max(1, wave_size // limits.wave_size)


def granted_sgprs(limits: WaveLimits, sgprs: int) -> int:
    """In whole granules, as kernel descriptors and so the profilers count them."""
    return -(-sgprs // _SGPR_GRANULE) * _SGPR_GRANULE if limits.sgpr_steps else sgprs


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


@dataclass(frozen=True)
class _Use:
    """What one workgroup takes."""

    threads: int
    registers: int
    sgprs: int
    lds_bytes: int
    wave: int

    @property
    def waves(self) -> int:
        return -(-self.threads // self.wave)


def _grants(limits: WaveLimits, use: _Use) -> dict[str, int]:
    """Workgroups per domain by each resource alone."""
    simds = limits.simds_per_domain
    most_waves = simds * limits.max_waves_per_simd
    granule = limits.lds_granule_bytes
    lds_taken = -(-use.lds_bytes // granule) * granule
    barriers = most_waves if use.waves == 1 else limits.max_workgroups_per_domain
    fits = use.lds_bytes <= limits.lds_bytes_per_workgroup
    by_lds = limits.lds_bytes_per_domain // lds_taken if lds_taken else most_waves
    return {
        "vgpr": simds * waves_by_vgprs(limits, use.registers, use.wave) // use.waves,
        "sgpr": simds * waves_by_sgprs(limits, use.sgprs) // use.waves,
        "lds": by_lds if fits else 0,
        "workgroup": min(barriers, most_waves // use.waves),
    }


def _place(limits: WaveLimits, use: _Use) -> Occupancy:
    simds = limits.simds_per_domain
    most = limits.max_waves_per_simd
    groups = _grants(limits, use)
    fitting = min(groups.values())
    waves = fitting * use.waves
    per_simd = {
        "vgpr": float(waves_by_vgprs(limits, use.registers, use.wave)),
        "sgpr": float(waves_by_sgprs(limits, use.sgprs)),
        "lds": min(groups["lds"] * use.waves / simds, float(most)),
        "workgroup": groups["workgroup"] * use.waves / simds,
        "hardware": float(most),
    }
    # A workgroup's size is named first: no other resource helps while it is in the way.
    ordered = ("workgroup", "vgpr", "sgpr", "lds")
    limiters = tuple(name for name in ordered if groups[name] == fitting)
    if fitting == 0:
        reason = f"one workgroup of {use.threads} threads does not fit: {' and '.join(limiters)}"
        return replace(
            unknown_occupancy(reason, use.threads, use.wave),
            limiter=limiters[0],
            limiters=limiters,
            workgroups_per_domain=0,
            limits=per_simd,
        )
    if waves == simds * most:
        limiters = ("hardware",)
    return Occupancy(
        theoretical=waves / (simds * most),
        limiter=limiters[0],
        waves_per_simd=waves / simds,
        threads_per_block=use.threads,
        wave_size=use.wave,
        workgroups_per_domain=fitting,
        limits=per_simd,
        limiters=limiters,
    )


def _with_steps(limits: WaveLimits, use: _Use) -> Occupancy:
    now = _place(limits, use)
    if now.waves_per_simd is None or now.limiters == ("hardware",):
        return now
    steps: dict[str, Step] = {}
    less = use
    for name in RESOURCES:
        smaller = _smaller(limits, use, name)
        if smaller is None:
            continue
        alone, with_it = _grants(limits, smaller)[name], _place(limits, smaller)
        allowed = min(
            alone * smaller.waves / limits.simds_per_domain, float(limits.max_waves_per_simd)
        )
        amount = int(getattr(smaller, _FIELDS[name]))
        steps[name] = Step(amount, allowed, with_it.waves_per_simd or 0.0)
        if name in now.limiters:
            less = _changed(less, name, amount)
    return replace(now, steps=steps, together_waves_per_simd=_place(limits, less).waves_per_simd)


_FIELDS = {"vgpr": "registers", "sgpr": "sgprs", "lds": "lds_bytes", "workgroup": "threads"}


def _changed(use: _Use, name: str, amount: int) -> _Use:
    return replace(use, **{_FIELDS[name]: amount})


def _smaller(limits: WaveLimits, use: _Use, name: str) -> _Use | None:
    """The same with the largest amount of a resource that would grant more; None if none does."""
    most = limits.simds_per_domain * limits.max_waves_per_simd

    def granted(less: _Use) -> int:
        return min(_grants(limits, less)[name] * less.waves, most)

    now = granted(use)
    if now == most:
        return None
    candidates = (_changed(use, name, amount) for amount in _amounts(limits, use, name))
    return next((less for less in candidates if granted(less) > now), None)


def _amounts(limits: WaveLimits, use: _Use, name: str) -> list[int]:
    """Smaller amounts worth trying, the largest first."""
    if name == "vgpr":
        granule = max(1, limits.vgpr_granule // max(1, use.wave // limits.wave_size))
        top = min(use.registers, limits.vgprs + granule)
        return list(range((top - 1) // granule * granule, 0, -granule))
    if name == "sgpr":
        whole = [up_to // _SGPR_GRANULE * _SGPR_GRANULE for up_to, _ in limits.sgpr_steps]
        return [up_to for up_to in reversed(whole) if up_to < use.sgprs]
    if name == "lds":
        granule = limits.lds_granule_bytes
        top = min(use.lds_bytes, limits.lds_bytes_per_domain + granule)
        return list(range((top - 1) // granule * granule, -1, -granule))
    return list(range((min(use.waves, 64) - 1) * use.wave, 0, -use.wave))
