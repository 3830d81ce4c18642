"""What the rebuilt code object must keep, and what it must not lose: looked at before it runs."""

from __future__ import annotations

import re

from rocm_perf_lab.arch.gpu import Gpu
from rocm_perf_lab.arch.occupancy import Occupancy, occupancy
from rocm_perf_lab.codeobject.kernels import CodeObject, Kernel
from rocm_perf_lab.optimize.kernel_source import base_name
from rocm_perf_lab.schema.optimize import KernelResources

# Fewer waves can pay (more registers each), and the gate will tell; below this share of the
# waves before, latency is no longer hidden and what a model or a short run says is not trusted.
LEAST_OCCUPANCY = 0.5
STT_OBJECT = 1
# The compiler names static variables after the file they stand in.
_GIVEN = re.compile(r"\.(static|intern)\..*$")
SHN_ABSOLUTE = 0xFFF1


def resources(
    kernel: Kernel, gpu: Gpu | None, threads: int, dynamic_lds_bytes: int
) -> KernelResources:
    fits = waves(kernel, gpu, threads, dynamic_lds_bytes) if gpu is not None else None
    return KernelResources.of(
        kernel,
        waves_per_simd=fits.waves_per_simd if fits else None,
        occupancy_limiter=fits.limiter if fits else None,
    )


def waves(kernel: Kernel, gpu: Gpu, threads: int, dynamic_lds_bytes: int) -> Occupancy:
    return occupancy(
        gpu,
        threads=threads,
        vgprs=kernel.vgprs,
        agprs=kernel.agprs,
        sgprs=kernel.sgprs,
        lds_bytes=kernel.lds_bytes + dynamic_lds_bytes,
        wave_size=kernel.wave_size,
    )


def check_interface(before: CodeObject, after: CodeObject, symbol: str) -> str | None:
    """Why the new code object cannot take the old one's place; None: it can."""
    had = {kernel.name: kernel for kernel in before.kernels}
    has = {kernel.name: kernel for kernel in after.kernels}
    if set(had) != set(has):
        changed = ", ".join(sorted(set(had) ^ set(has)))
        return f"the rebuilt code has other kernels: {changed}"
    for name, old in had.items():
        new = has[name]
        for what, left, right in (
            ("kernarg layout", _layout(old), _layout(new)),
            ("wave size", old.wave_size, new.wave_size),
        ):
            if left != right:
                return f"the {what} of {name} changed"
        # Other instances of the same template change with it: `promises` looks at their launches.
        own = base_name(name) == base_name(symbol)
        if not own and old.max_threads != new.max_threads:
            return f"the workgroup limit of {name} changed"
        extra = {a.kind for a in new.arguments if a.hidden} - {
            a.kind for a in old.arguments if a.hidden
        }
        if own and extra & {"hidden_hostcall_buffer", "hidden_heap_v1"}:
            return f"{name} now calls the host: {', '.join(sorted(extra))}"
    if before.architecture != after.architecture:
        return f"it is built for {after.architecture} instead of {before.architecture}"
    other = _variables(before) ^ _variables(after)
    if other:
        return f"the device's variables changed: {', '.join(sorted(name for name, _ in other))}"
    return None


def _layout(kernel: Kernel) -> list[tuple[int, int, str]]:
    return [(a.offset, a.size, a.kind) for a in kernel.arguments if not a.hidden]


def _variables(code: CodeObject) -> set[tuple[str, int]]:
    return {
        (_GIVEN.sub("", symbol.name), symbol.size)
        for symbol in code.elf.symbols()
        if symbol.defined
        and symbol.type == STT_OBJECT
        and symbol.section != SHN_ABSOLUTE
        and not symbol.name.endswith(".kd")
        and not symbol.name.startswith(("__hip_cuid_", ".L", "switch.table", "__const."))
    }


def check_resources(
    before: Kernel, after: Kernel, gpu: Gpu | None, threads: int, dynamic_lds_bytes: int
) -> str | None:
    """Why the registers, spills or LDS of the new kernel rule it out; None: they do not."""
    if after.max_threads and threads > after.max_threads:
        return f"it is built for {after.max_threads} threads, and {threads} are launched"
    for what, old, new in (
        ("vector registers spilled", before.vgpr_spills, after.vgpr_spills),
        ("scalar registers spilled", before.sgpr_spills, after.sgpr_spills),
        ("bytes of scratch", before.scratch_bytes, after.scratch_bytes),
    ):
        if new > old:
            return f"{what}: {new}, before {old}"
    if gpu is None:
        return None
    had = waves(before, gpu, threads, dynamic_lds_bytes)
    has = waves(after, gpu, threads, dynamic_lds_bytes)
    if has.waves_per_simd is None:
        return has.reason or "its occupancy cannot be told"
    if had.waves_per_simd and has.waves_per_simd < LEAST_OCCUPANCY * had.waves_per_simd:
        return (
            f"occupancy falls from {had.waves_per_simd:g} to {has.waves_per_simd:g} waves "
            f"per SIMD ({has.limiter})"
        )
    return None
