"""rocprofv3's CSV files and its statistics."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from rocm_perf_lab.virtual.rocprofv3.process_rows import ProcessRows

Row = Sequence[object]


def write(r: ProcessRows, base: Path) -> None:
    """What -f csv and --stats add; files without a row are not written."""
    if "csv" in r.wanted.formats:
        _save(base, "agent_info", _AGENTS, _agents(r), always=True)
        _save(base, "kernel_trace", _KERNELS, _kernels(r))
        _save(base, "hip_api_trace", _CALLS, _calls(r))
        _save(base, "memory_copy_trace", _COPIES, _copies(r))
        _save(base, "memory_allocation_trace", _ALLOCATIONS, _allocations(r))
        _save(base, "counter_collection", _COUNTERS, _counters(r))
    if r.wanted.stats:
        names = {k.number: k.display for k in r.kernels.values()}
        kernels = [(names[d.kernel], d.end - d.start) for d in r.dispatches]
        _save(base, "kernel_stats", _STATS, _statistics(kernels))
        _save(
            base, "hip_api_stats", _STATS, _statistics((c.name, c.end - c.start) for c in r.calls)
        )
        copies = ((c.kind, c.end - c.start) for c in r.copies)
        _save(base, "memory_copy_stats", _STATS, _statistics(copies))


def _save(base: Path, name: str, header: str, rows: Iterable[Row], always: bool = False) -> None:
    rows = list(rows)
    if not rows and not always:
        return
    text = io.StringIO()
    table = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    table.writerow(header.split())
    table.writerows(rows)
    path = base.with_name(f"{base.name}_{name}.csv")
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_text(text.getvalue(), encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


_AGENTS = (
    "Node_Id Logical_Node_Id Agent_Type Cu_Count Simd_Count Wave_Front_Size Num_Xcc Name "
    "Product_Name"
)
_KERNELS = (
    "Kind Agent_Id Queue_Id Stream_Id Thread_Id Dispatch_Id Kernel_Id Kernel_Name Correlation_Id "
    "Start_Timestamp End_Timestamp LDS_Block_Size Scratch_Size VGPR_Count Accum_VGPR_Count "
    "SGPR_Count Workgroup_Size_X Workgroup_Size_Y Workgroup_Size_Z "
    "Grid_Size_X Grid_Size_Y Grid_Size_Z"
)
_CALLS = "Domain Function Process_Id Thread_Id Correlation_Id Start_Timestamp End_Timestamp"
_COPIES = (
    "Kind Direction Stream_Id Source_Agent_Id Destination_Agent_Id Correlation_Id "
    "Start_Timestamp End_Timestamp"
)
_ALLOCATIONS = (
    "Kind Operation Agent_Id Allocation_Size Address Correlation_Id Start_Timestamp End_Timestamp"
)
_COUNTERS = (
    "Correlation_Id Dispatch_Id Agent_Id Queue_Id Process_Id Thread_Id Grid_Size Kernel_Id "
    "Kernel_Name Workgroup_Size LDS_Block_Size Scratch_Size VGPR_Count Accum_VGPR_Count "
    "SGPR_Count Counter_Name Counter_Value Start_Timestamp End_Timestamp"
)
_STATS = "Name Calls TotalDurationNs AverageNs Percentage MinNs MaxNs StdDev"


def _agents(r: ProcessRows) -> Iterable[Row]:
    yield (0, 0, "CPU", 0, 0, 0, 0, "CPU", "Virtual host")
    for gpu in r.gpus:
        m, facts = gpu.spec, gpu.extdata
        counts = (facts["cu_count"], facts["simd_count"], 64, m.xccs)
        yield (gpu.number, gpu.number, "GPU", *counts, m.architecture, m.marketing_name)


def _kernels(r: ProcessRows) -> Iterable[Row]:
    known = {k.number: k for k in r.kernels.values()}
    for d in r.dispatches:
        k = known[d.kernel]
        yield (
            "KERNEL_DISPATCH", f"Agent {d.agent}", d.queue, d.stream, d.tid, d.dispatch_id,
            d.kernel, k.display, d.correlation, d.start, d.end, d.lds, d.scratch, k.arch_vgprs,
            k.accum_vgprs, k.sgprs, *d.workgroup, *d.grid,
        )  # fmt: skip


def _calls(r: ProcessRows) -> Iterable[Row]:
    for c in r.calls:
        yield (c.category.removesuffix("_EXT"), c.name, r.pid, c.tid, c.correlation, c.start, c.end)


def _copies(r: ProcessRows) -> Iterable[Row]:
    for c in r.copies:
        ends = (f"Agent {c.source}", f"Agent {c.target}")
        yield ("MEMORY_COPY", c.kind, c.stream, *ends, c.correlation, c.start, c.end)


def _allocations(r: ProcessRows) -> Iterable[Row]:
    for a in r.allocations:
        agent = "" if a.agent is None else f"Agent {a.agent}"
        what = f"MEMORY_ALLOCATION_{'ALLOCATE' if a.type == 'ALLOC' else a.type}"
        place = (a.size, hex(a.address), a.correlation, a.start, a.end)
        yield ("MEMORY_ALLOCATION", what, agent, *place)


def _counters(r: ProcessRows) -> Iterable[Row]:
    """One row per dispatch and counter: the instances added up."""
    known = {k.number: k for k in r.kernels.values()}
    for d in r.dispatches:
        totals: dict[str, float] = {}
        for value in d.values:
            totals[value.counter] = totals.get(value.counter, 0.0) + value.value
        k = known[d.kernel]
        for name, total in totals.items():
            yield (
                d.correlation, d.dispatch_id, f"Agent {d.agent}", d.queue, r.pid, d.tid,
                math.prod(d.grid), d.kernel, k.display, math.prod(d.workgroup), d.lds, d.scratch,
                k.arch_vgprs, k.accum_vgprs, k.sgprs, name, total, d.start, d.end,
            )  # fmt: skip


def _statistics(durations: Iterable[tuple[str, int]]) -> Iterable[Row]:
    groups: dict[str, list[int]] = {}
    for name, duration in durations:
        groups.setdefault(name, []).append(duration)
    everything = sum(map(sum, groups.values()))
    for name, found in sorted(groups.items(), key=lambda item: (-sum(item[1]), item[0])):
        total, count = sum(found), len(found)
        mean = total / count
        spread = math.sqrt(sum((d - mean) ** 2 for d in found) / (count - 1)) if count > 1 else 0.0
        share = 100 * total / everything if everything else 0.0
        yield (name, count, total, mean, share, min(found), max(found), spread)
