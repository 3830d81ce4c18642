"""The numbers of the bottleneck rules that a thread trace gives."""

from __future__ import annotations

from collections.abc import Mapping

from rocm_perf_lab.analyze.bottleneck import ATT, Number
from rocm_perf_lab.analyze.thread_trace import Fractions, ThreadTraceFinding
from rocm_perf_lab.arch.gpu import Gpu

# rules.toml names that nothing else gives.
ONLY_TRACED = (
    "lds_stall_share",
    "vmem_issue_share",
    "barrier_share",
    "memory_wait_share",
    "memory_held_share",
    "alu_stall_share",
    "requested_fraction",
    "beyond_cache",
    "scalar_of_waits",
    "load_bytes_per_lane",
    "lds_read_bytes_per_lane",
    "loads_per_wait",
    "chained_loads",
    "between_share",
    "between_largest",
    "fetch_of_between",
    "issue_utilisation",
)
_TOP_CAUSES = 3


def from_thread_trace(
    att: ThreadTraceFinding, gpu: Gpu | None, known: Mapping[str, Number]
) -> dict[str, Number]:
    """What the thread trace adds; counters of the whole device come before its few SIMDs."""
    found = {**_shares(att.fractions), **_accesses(att)}
    if att.causes:
        largest = att.causes[0]
        said = f"{ATT}: {100 * largest.share:.3g} % {largest.words}"
        found["between_largest"] = Number(float(largest.name == "between"), said)
    found["fetch_of_between"] = Number(
        att.fetch_of_between, f"{ATT}: idle time before instructions in another 64 B of code"
    )
    found["issue_utilisation"] = Number(att.issue_utilisation, f"{ATT}: EXEC states of its waves")
    found["valu_busy"] = Number(att.valu_issue_utilisation, f"{ATT}: issue on the traced SIMDs")
    found["mfma_busy"] = Number(
        att.mfma_pipe_utilisation, f"{ATT}: matrix instructions x cycles each, on the traced SIMDs"
    )
    if att.mean_waves_per_simd is not None and gpu is not None:
        share = att.mean_waves_per_simd / gpu.limits.max_waves_per_simd
        found["occupancy_measured"] = Number(share, f"{ATT}: waves per SIMD")
    return {
        name: number
        for name, number in found.items()
        if number.value is not None and (name not in known or known[name].value is None)
    }


def _shares(f: Fractions | None) -> dict[str, Number]:
    if f is None:
        return {}
    waits = f.wait_vmem + f.wait_lds + f.wait_smem + f.wait_other + f.wait_unresolved + f.barrier
    memory = f.wait_vmem + f.wait_smem + f.wait_unresolved
    held = f.wait_vmem + f.wait_unresolved + f.stall_vmem + f.end_of_wave
    return {
        "wait_share": Number(waits, f"{ATT}: waits and barriers"),
        "lds_stall_share": Number(f.wait_lds + f.stall_lds, f"{ATT}: LDS waits and stalls"),
        "vmem_issue_share": Number(f.stall_vmem, f"{ATT}: issue stalls of vector memory"),
        "barrier_share": Number(f.barrier, f"{ATT}: barriers"),
        "memory_wait_share": Number(memory, f"{ATT}: waits for vector and scalar memory"),
        "memory_held_share": Number(
            held, f"{ATT}: waits for vector memory, its issue stalls, and stores leaving"
        ),
        "scalar_of_waits": Number(
            f.wait_smem / memory if memory else 0.0, f"{ATT}: waits for scalar memory among them"
        ),
        "between_share": Number(f.between, f"{ATT}: idle between instructions"),
        "alu_stall_share": Number(
            f.stall_valu + f.stall_mfma, f"{ATT}: issue stalls of vector and matrix arithmetic"
        ),
    }


def _accesses(att: ThreadTraceFinding) -> dict[str, Number]:
    t = att.traffic
    if t is None:
        return {}
    source = f"{ATT}: executed instructions, by their names"
    lds = t.lds_read_bytes / t.lds_reads if t.lds_reads else None
    return {
        "load_bytes_per_lane": Number(t.bytes_per_load, source),
        "lds_read_bytes_per_lane": Number(lds, source),
        "chained_loads": Number(t.dependent_share, f"{ATT}: registers of the executed code"),
        "loads_per_wait": Number(t.loads / t.load_waits if t.load_waits else None, source),
    }


def lost_to(att: ThreadTraceFinding) -> str | None:
    """The largest parts of the waves' time, in words."""
    causes = att.causes[:_TOP_CAUSES]
    return ", ".join(f"{100 * c.share:.3g} % {c.words}" for c in causes) or None
