"""From findings to the numbers the bottleneck rules speak about, and a verdict for each kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.analyze.bottleneck import KernelEvidence, Number, Verdict, judge
from rocm_perf_lab.analyze.keys import KernelKey
from rocm_perf_lab.analyze.occupancy import of_kernel
from rocm_perf_lab.analyze.roofline import KernelRoofline, RooflineFinding
from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding
from rocm_perf_lab.arch.model import Gpu
from rocm_perf_lab.arch.occupancy import Occupancy
from rocm_perf_lab.trace.model import IndexColumn, Trace

ATT = "thread trace"
TRACE = "kernel trace"


@dataclass(frozen=True)
class LaunchFacts:
    """One kernel's launches in a run: how many, how long, and the device's idle time before."""

    dispatches: int
    total_ns: int
    median_ns: float
    median_gap_ns: float | None  # None: no dispatch had one before it
    overlap_share: float | None  # of its time, that with other kernels running beside it

    @property
    def gap_share(self) -> float | None:
        if self.median_gap_ns is None or self.median_gap_ns + self.median_ns <= 0:
            return None
        return self.median_gap_ns / (self.median_gap_ns + self.median_ns)


@dataclass(frozen=True)
class KernelAnalysis:
    """One kernel by name: judged in the shape that took the most of its time."""

    name: str
    key: KernelKey
    launch: LaunchFacts
    occupancy: Occupancy
    roofline: KernelRoofline | None
    verdict: Verdict


def analyze_kernels(
    timing: Trace,
    finding: RooflineFinding,
    gpu: Gpu | None,
    thread_traces: Mapping[str, ThreadTraceFinding] | None = None,
) -> tuple[KernelAnalysis, ...]:
    """A verdict for each kernel name of the timing run, longest total time first.

    `timing` is the run the counters were joined to; `thread_traces` are by kernel name.
    """
    launches = launch_facts(timing)
    if finding.timed_by == "counter run":
        # Counting serialises: the idle time between dispatches is the profiler's.
        launches = {n: replace(facts, median_gap_ns=None) for n, facts in launches.items()}
    symbols = {kernel.name: kernel for kernel in reversed(timing.kernels)}
    judged: dict[str, KernelAnalysis] = {}
    for kernel in finding.kernels:
        name = kernel.key.name
        if name in judged or name not in symbols:
            continue
        key = kernel.key
        occupancy = of_kernel(gpu, symbols[name], key.workgroup, key.lds_bytes)
        evidence = gather(
            kernel, occupancy, gpu, launches.get(name), (thread_traces or {}).get(name)
        )
        judged[name] = KernelAnalysis(name, key, launches[name], occupancy, kernel, judge(evidence))
    return tuple(sorted(judged.values(), key=lambda a: (-a.launch.total_ns, a.name)))


def launch_facts(trace: Trace) -> dict[str, LaunchFacts]:
    """Per kernel name. A gap is device time with neither kernel nor copy before a dispatch."""
    d = trace.dispatches
    if not len(d):
        return {}
    gap, overlap = _gaps(trace), _overlaps(trace)
    names: dict[str, int] = {}
    by_kernel = np.array([names.setdefault(k.name, len(names)) for k in trace.kernels] or [0])
    name_of = by_kernel[np.maximum(d.kernel, 0)]
    duration = (d.end_ns - d.start_ns).astype(np.float64)
    # numpy sorts 16-bit integers in linear time.
    narrow = name_of.astype(np.int16 if len(names) < 2**15 else np.int64)
    order = np.argsort(narrow, kind="stable")
    bounds = np.searchsorted(narrow[order], np.arange(len(names) + 1))
    gap, overlap, duration = gap[order], overlap[order], duration[order]
    facts = {}
    for name, index in names.items():
        rows = slice(bounds[index], bounds[index + 1])
        if bounds[index] == bounds[index + 1]:
            continue
        gaps = gap[rows][~np.isnan(gap[rows])]
        total = duration[rows].sum()
        facts[name] = LaunchFacts(
            dispatches=int(bounds[index + 1] - bounds[index]),
            total_ns=int(total),
            median_ns=float(np.median(duration[rows])),
            median_gap_ns=float(np.median(gaps)) if len(gaps) else None,
            overlap_share=float(overlap[rows].sum() / total) if total else None,
        )
    return facts


def _groups(*columns: IndexColumn) -> Iterator[npt.NDArray[np.int64]]:
    """Rows that agree in these columns of few values, group by group."""
    groups = [np.arange(len(columns[0]))]
    for column in columns:
        low, high = int(column.min()), int(column.max())
        if low != high:
            groups = [rows[column[rows] == v] for rows in groups for v in range(low, high + 1)]
    return (rows for rows in groups if len(rows))


def _overlaps(trace: Trace) -> npt.NDArray[np.float64]:
    """How long each dispatch ran while another did on the same agent."""
    d = trace.dispatches
    overlap = np.zeros(len(d))
    for rows in _groups(d.agent):
        start, end = d.start_ns[rows], d.end_ns[rows]
        order = np.argsort(start, kind="stable")
        if not np.any(start[order][1:] < np.maximum.accumulate(end[order])[:-1]):
            continue
        times = np.concatenate([start, end])
        by_time = np.argsort(times, kind="stable")
        running = np.cumsum(np.where(by_time < len(rows), 1, -1))
        at = times[by_time]
        # Time up to each event with at least two running; within a dispatch, one is itself.
        shared = np.concatenate([[0], np.cumsum(np.diff(at) * (running[:-1] >= 2))])
        overlap[rows] = np.interp(end, at, shared) - np.interp(start, at, shared)
    return overlap


def _gaps(trace: Trace) -> npt.NDArray[np.float64]:
    """Idle time of the device before each dispatch, per process and agent; NaN for the first."""
    d, c = trace.dispatches, trace.copies
    gap = np.full(len(d), np.nan)
    for rows in _groups(d.process, d.agent):
        copies = np.flatnonzero(c.process == d.process[rows[0]])
        start = np.concatenate([d.start_ns[rows], c.start_ns[copies]])
        end = np.concatenate([d.end_ns[rows], c.end_ns[copies]])
        order = np.argsort(start, kind="stable")
        busy_until = np.maximum.accumulate(end[order])
        before = np.full(len(order), np.nan)
        before[1:] = np.maximum(start[order][1:] - busy_until[:-1], 0)
        own = order < len(rows)
        gap[rows[order[own]]] = before[own]
    return gap


def gather(
    roofline: KernelRoofline | None,
    occupancy: Occupancy | None,
    gpu: Gpu | None,
    launch: LaunchFacts | None,
    att: ThreadTraceFinding | None = None,
) -> KernelEvidence:
    """Everything known of a kernel under the names of rules.toml, with source or reason."""
    numbers: dict[str, Number] = {}
    if launch is not None:
        numbers["dispatches"] = Number(float(launch.dispatches), TRACE)
        numbers["median_us"] = Number(launch.median_ns / 1e3, TRACE)
        why_no_gap = "no timing run with two dispatches" if launch.gap_share is None else None
        numbers["gap_share"] = Number(launch.gap_share, TRACE, why_no_gap)
        numbers["overlap_share"] = Number(launch.overlap_share, TRACE, "no duration recorded")
    if roofline is not None and gpu is not None and gpu.cu_count:
        places = gpu.cu_count / gpu.limits.cus_per_domain
        fill = roofline.key.workgroups / places
        numbers["device_fill"] = Number(fill, f"{TRACE}, {gpu.cu_count} CUs")
    if roofline is not None:
        numbers.update(_from_counters(roofline))
    why_no_stalls = "no thread trace" if att is None else att.reason
    numbers["lds_stall_share"] = Number(None, ATT, why_no_stalls)
    if att is not None and att.usable:
        numbers.update(_from_thread_trace(att, gpu, numbers))
    numbers.update(_combined(numbers))
    if occupancy is not None:
        source = "registers, LDS and workgroup size recorded; architecture file"
        why = occupancy.reason
        numbers["occupancy_theoretical"] = Number(occupancy.theoretical, source, why)
        limited = None if occupancy.theoretical is None else float(occupancy.limiter != "hardware")
        numbers["resource_limited"] = Number(limited, f"limiter {occupancy.limiter}", why)
    return KernelEvidence(numbers, occupancy.limiter if occupancy else None)


# rules.toml name -> the counter metric it is, where it is one.
_COUNTER_METRICS = {
    "valu_busy": "valu_busy",
    "mfma_busy": "mfma_busy",
    "active_lanes": "active_lanes",
    "lds_busy": "lds_busy",
    "lds_conflict_share": "lds_conflict_share",
    "wait_share": "wait_share",
    "loads_per_wave": "loads_per_wave",
    "occupancy_measured": "occupancy_of_busy_cus",
    "occupancy_of_device": "occupancy",
}


def _from_counters(roofline: KernelRoofline) -> dict[str, Number]:
    found = {}
    for name, metric in _COUNTER_METRICS.items():
        value = roofline.metrics.get(metric)
        if value is None:
            why = roofline.reason or "no such counter on this architecture"
            found[name] = Number(None, "", why)
        else:
            found[name] = Number(value.value, ", ".join(value.counters), value.reason)
    if found["occupancy_measured"].value is None:
        found["occupancy_measured"] = found["occupancy_of_device"]
    for level in ("hbm", "l2", "lds"):
        at = roofline.levels.get(level)
        if at is None:
            found[f"{level}_fraction"] = Number(None, "", roofline.reason)
            continue
        counted = roofline.metrics.get("hbm_read_bytes" if level == "hbm" else f"{level}_bytes")
        source = ", ".join(counted.counters) if counted else ""
        ceiling = f"; ceiling {at.ceiling_gbps:.0f} GB/s" if at.ceiling_gbps else ""
        found[f"{level}_fraction"] = Number(at.fraction, f"{source}{ceiling}", at.reason)
    found["compute_fraction"] = Number(
        roofline.compute_fraction,
        "FLOPs by type over their ceilings",
        roofline.reasons.get("flops") or roofline.reason,
    )
    return found


def _from_thread_trace(
    att: ThreadTraceFinding, gpu: Gpu | None, known: Mapping[str, Number]
) -> dict[str, Number]:
    """What the thread trace adds; counters of the whole device come before its few SIMDs."""
    found: dict[str, Number] = {}
    f = att.fractions
    if f is not None:
        waits = (
            f.wait_vmem + f.wait_lds + f.wait_smem + f.wait_other + f.wait_unresolved + f.barrier
        )
        found["wait_share"] = Number(waits, f"{ATT}: waits and barriers")
        found["lds_stall_share"] = Number(f.wait_lds + f.stall_lds, f"{ATT}: LDS waits and stalls")
    # No such number for the matrix cores: an MFMA works on long after its issue.
    found["valu_busy"] = Number(att.valu_issue_utilisation, f"{ATT}: issue on the traced SIMDs")
    if att.mean_waves_per_simd is not None and gpu is not None:
        share = att.mean_waves_per_simd / gpu.limits.max_waves_per_simd
        found["occupancy_measured"] = Number(share, f"{ATT}: waves per SIMD")
    return {
        name: number
        for name, number in found.items()
        if number.value is not None and (name not in known or known[name].value is None)
    }


def _combined(numbers: Mapping[str, Number]) -> dict[str, Number]:
    def value(name: str) -> float | None:
        return numbers[name].value if name in numbers else None

    def why(*names: str) -> str | None:
        reasons = [numbers[n].reason for n in names if n in numbers and numbers[n].value is None]
        return next((r for r in reasons if r), "not measured")

    def largest(parts: Iterable[tuple[float | None, str]], *needed: str) -> Number:
        """The largest known part, called by its source; None if a needed one is unknown."""
        known = [(v, source) for v, source in parts if v is not None]
        if not known or any(value(name) is None for name in needed):
            return Number(None, "", why(*needed))
        return Number(*max(known, key=lambda p: p[0]))

    def part(name: str, factor: float = 1.0) -> tuple[float | None, str]:
        v = value(name)
        if v is None:
            return None, ""
        return min(v, 1.0) * factor, f"{name}: {numbers[name].source}"

    lanes = value("active_lanes")
    lanes_on = 1.0 if lanes is None else min(lanes, 1.0)
    busy, conflicts = value("lds_busy"), value("lds_conflict_share")
    conflict_time = None if busy is None else (busy * conflicts if conflicts is not None else None)
    if busy == 0:
        conflict_time = 0.0
    valu = value("valu_busy")
    wasted = None if valu is None or lanes is None else min(valu, 1.0) * (1 - lanes_on)
    memory = largest([part("hbm_fraction"), part("l2_fraction")], "hbm_fraction")
    alu = largest(
        [part("valu_busy", lanes_on), part("mfma_busy"), part("compute_fraction", lanes_on)]
    )
    if alu.value is None:
        alu = Number(None, "", why("valu_busy", "compute_fraction"))
    lds = largest([part("lds_busy"), part("lds_fraction")])
    if lds.value is None:
        lds = Number(None, "", why("lds_busy", "lds_fraction"))
    combined = {
        "memory_fraction": memory,
        "useful_alu": alu,
        "wasted_lanes": Number(
            wasted, "SQ_THREAD_CYCLES_VALU, SQ_ACTIVE_INST_VALU", why("valu_busy", "active_lanes")
        ),
        "lds_utilisation": lds,
        "lds_conflict_time": Number(
            conflict_time,
            "SQ_LDS_BANK_CONFLICT over the kernel's cycles",
            why("lds_busy", "lds_conflict_share"),
        ),
    }
    peak = [
        (n.value, f"{name}: {n.source}")
        for name, n in combined.items()
        if name in ("memory_fraction", "useful_alu", "lds_utilisation")
    ]
    combined["peak_utilisation"] = largest(peak)
    return combined
