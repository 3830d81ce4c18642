"""From findings to the numbers the bottleneck rules speak about, and a verdict for each kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rocm_perf_lab.analyze.bottleneck import ATT, KernelEvidence, Number, Verdict, doubted, judge
from rocm_perf_lab.analyze.gain import Gain, at_most, on_run
from rocm_perf_lab.analyze.graph import DagFinding
from rocm_perf_lab.analyze.kernel_class import kernel_class
from rocm_perf_lab.analyze.keys import KernelKey
from rocm_perf_lab.analyze.launches import LaunchFacts, launch_facts
from rocm_perf_lab.analyze.memory_levels import WORDS
from rocm_perf_lab.analyze.occupancy import grid_waves_per_simd, of_kernel
from rocm_perf_lab.analyze.representative import doubts
from rocm_perf_lab.analyze.requested import Requested, requested
from rocm_perf_lab.analyze.roofline import KernelRoofline, RooflineFinding
from rocm_perf_lab.analyze.rules import rule_set
from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding
from rocm_perf_lab.analyze.trace_remarks import trace_remarks
from rocm_perf_lab.analyze.traced_dispatch import traced_dispatch
from rocm_perf_lab.analyze.traced_numbers import ONLY_TRACED, from_thread_trace, lost_to
from rocm_perf_lab.analyze.triton_advice import advice
from rocm_perf_lab.arch.gpu import Gpu
from rocm_perf_lab.arch.occupancy import Occupancy
from rocm_perf_lab.trace.trace import Trace

TRACE = "kernel trace"


@dataclass(frozen=True)
class KernelAnalysis:
    """One kernel by name: judged in the shape that took the most of its time."""

    name: str
    key: KernelKey
    launch: LaunchFacts
    occupancy: Occupancy
    roofline: KernelRoofline | None
    verdict: Verdict
    gain: Gain
    remarks: tuple[str, ...] = ()  # what else was seen, in sentences


def analyze_kernels(
    timing: Trace,
    finding: RooflineFinding,
    gpu: Gpu | None,
    thread_traces: Mapping[str, ThreadTraceFinding] | None = None,
    dag: DagFinding | None = None,
) -> tuple[KernelAnalysis, ...]:
    """A verdict for each kernel name of the timing run, longest total time first.

    `timing` is the run the counters were joined to; `thread_traces` are by kernel name; `dag` is
    that run's graph, where it has one.
    """
    launches = launch_facts(timing)
    if finding.timed_by == "counter run":
        # Counting serialises: the idle time between dispatches is the profiler's.
        launches = {n: replace(facts, median_gap_ns=None) for n, facts in launches.items()}
    symbols = {kernel.name: kernel for kernel in reversed(timing.kernels)}
    by_name = {rule.name: rule for rule in rule_set().rules}
    graphed = on_run(dag)
    judged: dict[str, KernelAnalysis] = {}
    for kernel in finding.kernels:
        name = kernel.key.name
        if name in judged or name not in symbols:
            continue
        key = kernel.key
        occupancy = of_kernel(gpu, symbols[name], key.workgroup, key.lds_bytes)
        att = (thread_traces or {}).get(name)
        call = traced_dispatch(timing, name, att) if att is not None else None
        asked = requested(att, gpu, finding.ceilings, call) if att is not None else None
        known = gather(kernel, occupancy, gpu, launches.get(name), att, asked)
        seen = doubts(att, call) if att is not None else ()
        verdict = doubted(judge(known), known, {doubt.text: doubt.steps for doubt in seen})
        rounds = known.value("rounds")
        triton = advice(symbols[name], key, occupancy, att, rounds is not None and rounds < 1)
        if triton:
            verdict = replace(verdict, next_steps=triton + verdict.next_steps)
        judged[name] = KernelAnalysis(
            name,
            key,
            launches[name],
            occupancy,
            kernel,
            verdict,
            at_most(by_name.get(verdict.rule or ""), known, graphed.get(name)),
            _remarks(kernel, att),
        )
    return tuple(sorted(judged.values(), key=lambda a: (-a.launch.total_ns, a.name)))


@dataclass(frozen=True)
class TraceAnalysis:
    """A thread trace judged by itself."""

    trace: ThreadTraceFinding
    verdict: Verdict
    gain: Gain
    remarks: tuple[str, ...]


def analyze_traces_alone(
    traces: Sequence[ThreadTraceFinding], gpu: Gpu | None
) -> TraceAnalysis | None:
    """A verdict on the kernel with the longest usable trace, where nothing else is known."""
    if not traces:
        return None
    att = max(traces, key=lambda a: (a.usable, a.waves.total_cycles if a.waves else 0))
    known = gather(None, None, gpu, None, att, requested(att, gpu, None, None))
    verdict = doubted(judge(known), known, {d.text: d.steps for d in doubts(att, None)})
    rule = next((r for r in rule_set().rules if r.name == verdict.rule), None)
    return TraceAnalysis(att, verdict, at_most(rule, known, None), tuple(trace_remarks(att)))


# Cache accesses a vector memory instruction takes: 16 for eight bytes a lane side by side.
_SCATTERED = 24.0


def _remarks(kernel: KernelRoofline, att: ThreadTraceFinding | None) -> tuple[str, ...]:
    found = list(trace_remarks(att)) if att else []
    each = kernel.metric("l1_accesses_per_instruction")
    if each is not None and each >= _SCATTERED:
        found.append(
            f"uncoalesced accesses: a vector memory instruction takes {each:.3g} cache accesses on "
            "average; 4 serve four bytes a lane side by side"
        )
    return tuple(found)


def gather(
    roofline: KernelRoofline | None,
    occupancy: Occupancy | None,
    gpu: Gpu | None,
    launch: LaunchFacts | None,
    att: ThreadTraceFinding | None = None,
    asked: Requested | None = None,
) -> KernelEvidence:
    """Everything known of a kernel under the names of rules.toml, with source or reason."""
    numbers: dict[str, Number] = {}
    if roofline is not None:
        collective = kernel_class(roofline.key.name) == "collective"
        numbers["collective"] = Number(float(collective), "by its name")
    if launch is not None:
        numbers["dispatches"] = Number(float(launch.dispatches), TRACE)
        numbers["median_us"] = Number(launch.median_ns / 1e3, TRACE)
        why_no_gap = "no timing run with two dispatches" if launch.gap_share is None else None
        numbers["gap_share"] = Number(launch.gap_share, TRACE, why_no_gap)
        numbers["overlap_share"] = Number(launch.overlap_share, TRACE, "no duration recorded")
        numbers["exposed_share"] = Number(launch.exposed_share, TRACE, "not a collective")
    if roofline is not None and gpu is not None and gpu.cu_count:
        numbers.update(_grid(roofline.key, occupancy, gpu, gpu.cu_count))
    if roofline is not None:
        numbers.update(_from_counters(roofline))
    why_no_stalls = "no thread trace" if att is None else att.reason
    traced = att is not None and att.usable
    numbers["traced"] = Number(float(traced), ATT)
    for name in ONLY_TRACED:
        numbers[name] = Number(None, ATT, why_no_stalls)
    if att is not None and att.usable:
        numbers.update(from_thread_trace(att, gpu, numbers))
        if asked is not None:
            numbers["requested_fraction"] = asked.number
            numbers["beyond_cache"] = asked.beyond_cache
    numbers.update(_combined(numbers))
    if occupancy is not None:
        source = "registers, LDS and workgroup size recorded; architecture file"
        why = occupancy.reason
        numbers["occupancy_theoretical"] = Number(occupancy.theoretical, source, why)
        limited = None if occupancy.theoretical is None else float(occupancy.limiter != "hardware")
        numbers["resource_limited"] = Number(
            limited, f"limited by {' and '.join(occupancy.limiters)}", why
        )
        fitting = occupancy.workgroups_per_domain
        numbers["workgroups_resident"] = Number(float(fitting) if fitting else None, source, why)
    level = _level_in_words(roofline, numbers)
    if numbers["memory_fraction"].value is None and asked is not None and asked.level:
        level = asked.level
    lost = lost_to(att) if att is not None and att.usable else None
    return KernelEvidence(numbers, occupancy.limiter if occupancy else None, level, lost)


def _grid(
    key: KernelKey, occupancy: Occupancy | None, gpu: Gpu, cu_count: int
) -> dict[str, Number]:
    """How far the grid fills the device, and what of it fits at once."""
    workgroups = key.workgroups
    if not workgroups:
        unknown = Number(None, "", "the launch size is not recorded")
        return dict.fromkeys(("device_fill", "rounds", "resident_by_grid"), unknown)
    places = cu_count / gpu.limits.cus_per_domain
    resident = occupancy.workgroups_per_domain if occupancy else None
    source = f"{workgroups:,} workgroups, {cu_count} CUs"
    waves = grid_waves_per_simd(gpu, key.grid, key.workgroup) or 0.0
    why = (occupancy.reason if occupancy else None) or "occupancy is not known"
    return {
        "device_fill": Number(workgroups / places, source),
        "rounds": Number(
            workgroups / (places * resident) if resident else None,
            f"{source}, {resident} fit on each",
            why,
        ),
        "resident_by_grid": Number(min(waves / gpu.limits.max_waves_per_simd, 1.0), source),
    }


def _level_in_words(roofline: KernelRoofline | None, numbers: Mapping[str, Number]) -> str:
    """The level of memory nearest its ceiling: what a bandwidth verdict speaks of."""
    fabric, l2 = (numbers.get(f"{n}_fraction", Number(None, "")).value for n in ("fabric", "l2"))
    if roofline is None or fabric is None or (l2 is not None and l2 > fabric):
        return WORDS["l2"] if l2 is not None and fabric is not None else "memory"
    at = roofline.levels["fabric"]
    if at.served_by == "mall":
        return "fabric between L2 and Infinity Cache"
    return "memory (HBM)"


# rules.toml name -> the counter metric it is, where it is one.
_COUNTER_METRICS = {
    "valu_busy": "valu_busy",
    "mfma_busy": "mfma_busy",
    "active_lanes": "active_lanes",
    "lds_busy": "lds_busy",
    "lds_useful": "lds_useful",
    "lds_conflict_time": "lds_conflict_time",
    "lds_unaligned_time": "lds_unaligned_time",
    "wait_share": "wait_share",
    "loads_per_wave": "loads_per_wave",
    "wait_cycles_per_load": "wait_cycles_per_load",
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
    for level in ("fabric", "l2", "lds"):
        at = roofline.levels.get(level)
        if at is None:
            found[f"{level}_fraction"] = Number(None, "", roofline.reason)
            continue
        ceiling = ""
        if at.gbps is not None and at.ceiling_gbps:
            whose = WORDS[at.served_by or level]
            ceiling = f"{at.gbps:,.0f} of {whose}'s {at.ceiling_gbps:,.0f} GB/s"
            others = [c for c in at.ceilings if at.served_by and c != at.served_by]
            ceiling += "".join(
                f", {100 * at.gbps / at.ceilings[c]:.0f} % of {WORDS[c]}'s {at.ceilings[c]:,.0f}"
                for c in others
            )
        peak_of = f"{WORDS[at.served_by or level]}'s datasheet"
        found[f"{level}_fraction"] = Number(
            at.fraction, ceiling, at.reason, at.fraction_of_datasheet, peak_of
        )
    pipe = roofline.compute_roof_pipe or "compute"
    roof = roofline.compute_roof_gflops
    found["compute_fraction"] = Number(
        roofline.compute_fraction,
        f"{roofline.achieved_gflops or 0:,.0f} of {roof:,.0f} GFLOP/s, {pipe}" if roof else pipe,
        roofline.reasons.get("flops") or roofline.reason,
    )
    return found


def _combined(numbers: Mapping[str, Number]) -> dict[str, Number]:
    def value(name: str) -> float | None:
        return numbers[name].value if name in numbers else None

    def why(*names: str) -> str | None:
        reasons = [numbers[n].reason for n in names if n in numbers and numbers[n].value is None]
        return next((r for r in reasons if r), "not measured")

    def largest(parts: Iterable[Number], *needed: str) -> Number:
        """The largest known part; None if a needed one is unknown."""
        known = [part for part in parts if part.value is not None]
        if not known or any(value(name) is None for name in needed):
            return Number(None, "", why(*needed))
        return max(known, key=lambda part: part.value or 0.0)

    def part(name: str, factor: float = 1.0) -> Number:
        v = value(name)
        if v is None:
            return Number(None, "")
        called = f"{_words(name)}: {numbers[name].source}"
        return replace(numbers[name], value=min(v, 1.0) * factor, source=called)

    lanes = value("active_lanes")
    lanes_on = 1.0 if lanes is None else min(lanes, 1.0)
    valu = value("valu_busy")
    wasted = None if valu is None or lanes is None else min(valu, 1.0) * (1 - lanes_on)
    memory = largest([part("fabric_fraction"), part("l2_fraction")], "fabric_fraction")
    alu = largest(
        [part("valu_busy", lanes_on), part("mfma_busy"), part("compute_fraction", lanes_on)]
    )
    if alu.value is None:
        alu = Number(None, "", why("valu_busy", "compute_fraction"))
    lds = largest([part("lds_useful"), part("lds_fraction")])
    if lds.value is None:
        lds = Number(None, "", why("lds_useful", "lds_fraction"))
    combined = {
        "memory_fraction": memory,
        "useful_alu": alu,
        "wasted_lanes": Number(
            wasted, "SQ_THREAD_CYCLES_VALU, SQ_ACTIVE_INST_VALU", why("valu_busy", "active_lanes")
        ),
        "lds_utilisation": lds,
    }
    peak = [
        replace(n, source=f"{_words(name)}, {n.source}")
        for name, n in combined.items()
        if name in ("memory_fraction", "useful_alu", "lds_utilisation")
    ]
    combined["peak_utilisation"] = largest(peak)
    return combined


# Parts of the numbers of rules.toml that have no place there.
_PART_WORDS = {
    "l2_fraction": "L2 bandwidth",
    "lds_fraction": "useful LDS bandwidth",
    "lds_useful": "LDS cycles that moved data",
    "compute_fraction": "arithmetic over its roof",
}


def _words(name: str) -> str:
    return _PART_WORDS.get(name) or rule_set().words.get(name, name)
