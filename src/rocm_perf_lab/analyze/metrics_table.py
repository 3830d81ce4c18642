"""Everything the counters of a kernel come to, as a table: titles, groups, formulas.

Beside the metrics of arch/metrics it has what follows from the launch alone: how many workgroups
each compute unit gets, and how full the last round of them is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rocm_perf_lab.analyze.keys import KernelKey
from rocm_perf_lab.analyze.metrics import Value
from rocm_perf_lab.analyze.roofline import KernelRoofline, RooflineFinding
from rocm_perf_lab.arch.gpu import Gpu
from rocm_perf_lab.arch.occupancy import Occupancy

# Group, metric, title; the order of the table.
ROWS: tuple[tuple[str, str, str], ...] = (
    ("Memory", "fabric_read_bytes", "Read from fabric"),
    ("Memory", "fabric_write_bytes", "Written to fabric"),
    ("Memory", "fabric_read_request_bytes", "Bytes per read request"),
    ("Memory", "fabric_write_request_bytes", "Bytes per write request"),
    ("Caches", "l2_bytes", "L2 traffic"),
    ("Caches", "l2_hit_rate", "L2 hit rate"),
    ("Caches", "l1_bytes", "Vector L1 traffic, at most"),
    ("Caches", "l1_hit_rate", "Vector L1 hit rate"),
    ("Caches", "scalar_cache_hit_rate", "Scalar cache hit rate"),
    ("Caches", "instruction_cache_hit_rate", "Instruction cache hit rate"),
    ("Accesses", "coalescing", "Coalescing"),
    ("Accesses", "l1_accesses_per_instruction", "L1 accesses per vector memory instruction"),
    ("Accesses", "loads_per_wave", "Vector loads per wave"),
    ("Accesses", "wait_cycles_per_load", "Wait cycles per load"),
    ("LDS", "lds_bytes", "Useful LDS traffic"),
    ("LDS", "lds_useful", "LDS time moving data"),
    ("LDS", "lds_conflict_time", "LDS time lost to bank conflicts"),
    ("LDS", "lds_unaligned_time", "LDS time lost to unaligned accesses"),
    ("LDS", "lds_conflicts_per_access", "Bank conflicts per access"),
    ("Instructions", "instructions_per_wave", "Instructions per wave"),
    ("Instructions", "valu_instruction_share", "Vector arithmetic, matrix included"),
    ("Instructions", "mfma_instruction_share", "Matrix"),
    ("Instructions", "vmem_instruction_share", "Vector memory"),
    ("Instructions", "lds_instruction_share", "LDS"),
    ("Instructions", "salu_instruction_share", "Scalar arithmetic"),
    ("Instructions", "smem_instruction_share", "Scalar memory"),
    ("Instructions", "branch_instruction_share", "Branches"),
    ("Arithmetic", "valu_busy", "Vector ALU busy"),
    ("Arithmetic", "active_lanes", "Lanes switched on"),
    ("Arithmetic", "mfma_busy", "Matrix cores busy"),
    ("Waves", "waves", "Waves"),
    ("Waves", "workgroups_per_cu", "Workgroups per compute unit"),
    ("Waves", "rounds", "Rounds of workgroups"),
    ("Waves", "last_round_fill", "Fill of the last round"),
    ("Waves", "occupancy", "Occupancy, whole device"),
    ("Waves", "occupancy_of_busy_cus", "Occupancy of busy compute units"),
    ("Waves", "cu_busy", "Compute units busy"),
    ("Waves", "wait_share", "Wave time waiting"),
    ("Waves", "issue_wait_share", "Wave time waiting to issue"),
    ("Waves", "lds_issue_wait_share", "Wave time waiting to issue to LDS"),
)


_PARTS = ("_rate", "_share", "_time", "_busy", "_fill", "_useful", "occupancy", "_lanes", "_cus")
SHARES = frozenset(
    name for _, name, _ in ROWS if name.endswith(_PARTS) or name in ("coalescing", "occupancy")
)


@dataclass(frozen=True)
class Row:
    group: str
    name: str
    title: str
    value: Value


def tables(
    found: RooflineFinding, gpu: Gpu | None, occupancies: Mapping[str, Occupancy]
) -> dict[KernelKey, list[Row]]:
    """Of every kernel that was counted; `occupancies` are by kernel name."""
    return {
        kernel.key: table(kernel, gpu, occupancies.get(kernel.key.name)) for kernel in found.kernels
    }


def table(roofline: KernelRoofline, gpu: Gpu | None, occupancy: Occupancy | None) -> list[Row]:
    """The rows whose metric the architecture has; a value that is not known says why."""
    values = {**roofline.metrics, **_launch(roofline, gpu, occupancy)}
    return [Row(g, name, title, values[name]) for g, name, title in ROWS if name in values]


def _launch(
    roofline: KernelRoofline, gpu: Gpu | None, occupancy: Occupancy | None
) -> dict[str, Value]:
    workgroups = roofline.key.workgroups
    if gpu is None or not gpu.cu_count or not workgroups:
        return {}
    places = gpu.cu_count / gpu.limits.cus_per_domain
    per_cu = "workgroups / compute units"
    found = {"workgroups_per_cu": Value(workgroups / places, "1", None, per_cu)}
    resident = occupancy.workgroups_per_domain if occupancy else None
    if not resident:
        why = (occupancy.reason if occupancy else None) or "occupancy is not known"
        return found | dict.fromkeys(("rounds", "last_round_fill"), Value(None, "1", why))
    rounds = workgroups / (places * resident)
    rest = rounds % 1 or 1.0
    slots = "workgroups / (compute units x workgroups resident on each)"
    return found | {
        "rounds": Value(rounds, "1", None, slots),
        "last_round_fill": Value(rest, "1", None, f"fraction of {slots}"),
    }
