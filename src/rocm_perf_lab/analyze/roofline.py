"""Where each kernel stands under the roofs of its GPU: work and traffic counted, time measured.

Roof time of a resource = amount / ceiling. Work of different types takes its roof times one after
the other within the vector ALU and within the matrix cores, while those two, and every level of
memory, work side by side. So the compute roof of a mix is its FLOPs over the longer of the two
sums, and the fraction of the roof is the longest roof time over the time taken.

No ceiling depends on how fast the kernel was, so a fraction never falls as a kernel gets faster.
A kernel above a measured ceiling is at 1, and its fraction of the datasheet's says the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rocm_perf_lab.analyze.counters import JoinedCounters, KernelCounters
from rocm_perf_lab.analyze.keys import KernelKey
from rocm_perf_lab.analyze.memory_levels import (
    OVER_PEAK,
    Level,
    Position,
    Roofs,
    Work,
    memory_levels,
)
from rocm_perf_lab.analyze.metrics import KernelMetrics, Value, evaluate
from rocm_perf_lab.arch.gpu import (
    COMPUTE_PIPES,
    MFMA_PIPES,
    VALU_PIPES,
    CeilingKind,
    Gpu,
    Quantity,
)


@dataclass(frozen=True)
class KernelRoofline:
    """One kernel in one shape. Amounts are per dispatch; a null's reason is in `reasons`."""

    key: KernelKey
    dispatches: int
    covered: int
    mean_ns: float
    # Integer operations (mfma_i8) are among them.
    flops_by_type: Mapping[str, Value] = field(default_factory=dict)
    flops: float | None = None
    iops: float | None = None
    levels: Mapping[str, Level] = field(default_factory=dict)
    operational_intensity: float | None = None
    achieved_gflops: float | None = None
    achieved_bandwidth_gbps: float | None = None
    compute_roof_gflops: float | None = None
    compute_roof_pipe: str | None = None  # the type and unit with most of the compute roof time
    compute_peak_gflops: float | None = None  # the datasheet's for that pipe
    compute_fraction: float | None = None
    ridge_point: float | None = None
    roofline_position: Position | None = None
    fraction_of_roof: float | None = None
    bound_by: str | None = None  # the resource of the longest roof time
    metrics: Mapping[str, Value] = field(default_factory=dict)
    plausibility: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    counters: Mapping[str, float] = field(default_factory=dict)  # as counted, over all instances

    @property
    def reason(self) -> str | None:
        """Why the position is null, in one sentence."""
        return self.reasons.get("roofline_position")

    def metric(self, name: str) -> float | None:
        found = self.metrics.get(name)
        return found.value if found else None


@dataclass(frozen=True)
class RooflineFinding:
    architecture: str | None
    product: str | None
    ceilings_wanted: CeilingKind
    ceilings: Mapping[str, Quantity]
    kernels: tuple[KernelRoofline, ...]  # longest total time first
    timed_by: str
    notes: tuple[str, ...] = field(default=())

    def of(self, key: KernelKey) -> KernelRoofline | None:
        return next((k for k in self.kernels if k.key == key), None)


def roofline(
    joined: JoinedCounters,
    gpu: Gpu | None,
    ceilings: CeilingKind = "measured",
    footprint_bytes: int | None = None,
) -> RooflineFinding:
    """Rooflines of every kernel; without a known GPU, what was counted and nothing more.

    `footprint_bytes`: the most device memory the program held at once, where the trace tells.
    """
    if gpu is None:
        why = "no architecture file describes this GPU"
        kernels = tuple(_unknown(k, why) for k in joined.kernels)
        return RooflineFinding(None, None, ceilings, {}, kernels, joined.timed_by, joined.notes)
    names = ("hbm", "mall", "l2", "l1", "lds", *COMPUTE_PIPES)
    used = {n: q for n in names if (q := gpu.ceiling(n, ceilings)) is not None}
    notes = [*joined.notes, *gpu.notes]
    fallen_back = sorted(used.keys() - gpu.measured.keys()) if ceilings == "measured" else []
    if fallen_back:
        notes.append(f"no measured ceiling for {', '.join(fallen_back)}: the datasheet's is used")
    roofs = Roofs(gpu, used, footprint_bytes)
    kernels = tuple(_kernel(k, roofs) for k in joined.kernels)
    return RooflineFinding(
        gpu.architecture, gpu.product, ceilings, used, kernels, joined.timed_by, tuple(notes)
    )


def _kernel(kernel: KernelCounters, roofs: Roofs) -> KernelRoofline:
    gpu = roofs.gpu
    metrics = evaluate(kernel, gpu)
    plausibility = list(metrics.plausibility)
    reasons: dict[str, str] = {}
    seconds = kernel.mean_ns / 1e9
    if seconds <= 0:
        reasons["time"] = "the kernel's dispatches have no duration"
    by_type = _flops_by_type(metrics, gpu, seconds, plausibility)
    flops = _total(by_type, "FLOP", "flops", reasons, gpu)
    iops = by_type["mfma_i8"].value if "mfma_i8" in by_type else None
    ceilings = _believable(by_type, metrics, roofs, plausibility)
    compute_seconds, mix_reason = _compute_seconds(by_type, ceilings)
    pipe = _main_pipe(by_type, ceilings)
    roof = (
        flops / compute_seconds / 1e9
        if flops and compute_seconds
        else (ceilings[pipe].value if flops == 0 and pipe in ceilings else None)
    )
    sheet = gpu.datasheet.get(pipe)
    work = Work(seconds, flops, compute_seconds, roof)
    levels = memory_levels(metrics, work, replace(roofs, ceilings=ceilings))
    plausibility += [level.note for level in levels.values() if level.remarkable and level.note]
    fabric = levels["fabric"]
    achieved = flops / seconds / 1e9 if flops is not None and seconds > 0 else None
    compute_fraction = (
        min(compute_seconds / seconds, 1.0)
        if compute_seconds is not None and seconds > 0 and flops is not None
        else None
    )
    if compute_seconds is not None and 0 < seconds < compute_seconds:
        plausibility.append(
            "faster than the best sustained compute rate measured: taken as 100 % of it"
        )
    fractions = {"fabric": fabric.fraction, "compute": compute_fraction}
    known = {name: f for name, f in fractions.items() if f is not None}
    complete = len(known) == len(fractions)
    position = fabric.position if complete else None
    fraction = max(known.values()) if complete else None
    bound = max(sorted(known), key=lambda n: known[n]) if complete else None
    if bound == "fabric":
        bound = fabric.served_by or bound
    if position is None:
        reasons["roofline_position"] = _why(reasons, fabric, mix_reason)
    return KernelRoofline(
        key=kernel.key,
        dispatches=kernel.dispatches,
        covered=kernel.covered,
        mean_ns=kernel.mean_ns,
        flops_by_type=by_type,
        flops=flops,
        iops=iops,
        levels=levels,
        operational_intensity=fabric.operational_intensity,
        achieved_gflops=achieved,
        achieved_bandwidth_gbps=fabric.gbps,
        compute_roof_gflops=roof,
        compute_roof_pipe=pipe if roof is not None else None,
        compute_peak_gflops=sheet.value if sheet is not None and roof is not None else None,
        compute_fraction=compute_fraction,
        ridge_point=fabric.ridge_point,
        roofline_position=position,
        fraction_of_roof=fraction,
        bound_by=bound,
        metrics=metrics.values,
        plausibility=tuple(dict.fromkeys(plausibility)),
        reasons=reasons,
        notes=kernel.notes,
        counters={n: r.total for p in reversed(kernel.passes) for n, r in p.readings.items()},
    )


def _believable(
    by_type: Mapping[str, Value],
    metrics: KernelMetrics,
    roofs: Roofs,
    plausibility: list[str],
) -> Mapping[str, Quantity]:
    """Measured matrix ceilings only where the counters' own rate does not belie them.

    Operations per busy cycle of the matrix cores, on all of them at the highest clock, is a rate
    that no time enters: where it is above the measured ceiling, that was no ceiling.
    """
    gpu, ceilings = roofs.gpu, roofs.ceilings
    busy = metrics.get("mfma_busy_cycles")
    work = {p: v.value for p in MFMA_PIPES if p in by_type and (v := by_type[p]).value}
    if not busy or not work or gpu.cu_count is None or gpu.clock_mhz is None:
        return ceilings
    simd_cycles_per_s = gpu.cu_count * gpu.simds_per_cu * gpu.clock_mhz * 1e6
    most = {p: ceilings[p].value for p in work if p in ceilings and ceilings[p].kind == "measured"}
    # Mixed types share the busy cycles: compare the time they would need at the ceilings.
    at_ceilings = sum(amount / (most[p] * 1e9) for p, amount in work.items() if p in most)
    if not most or at_ceilings <= busy / simd_cycles_per_s * (1 + OVER_PEAK):
        return ceilings
    named = ", ".join(f"{p} {most[p] / 1e3:.0f} TFLOP/s" for p in sorted(most))
    plausibility.append(
        f"the best sustained rate published ({named}) is below what the counters' own rate "
        "implies: the datasheet's is used"
    )
    return {**ceilings, **{p: gpu.datasheet[p] for p in most if p in gpu.datasheet}}


def _main_pipe(by_type: Mapping[str, Value], ceilings: Mapping[str, Quantity]) -> str:
    """The type and unit with the longest roof time; vector FP32 where nothing was computed."""
    times = {
        pipe: v.value / ceilings[pipe].value
        for pipe, v in by_type.items()
        if v.value and pipe in ceilings
    }
    return max(sorted(times), key=lambda pipe: times[pipe]) if times else "valu_f32"


def _flops_by_type(
    metrics: KernelMetrics, gpu: Gpu, seconds: float, plausibility: list[str]
) -> dict[str, Value]:
    found = {}
    for pipe in COMPUTE_PIPES:
        if pipe not in metrics.values:
            continue
        value = metrics[pipe]
        peak = gpu.highest(pipe)
        if value.value and seconds > 0 and peak is not None:
            rate = value.value / seconds / 1e9
            if rate > peak * (1 + OVER_PEAK):
                why = f"{pipe} at {rate:.0f} G{value.unit}/s exceeds the peak of {peak:.0f}"
                plausibility.append(why)
                value = Value(None, value.unit, why, value.formula, value.counters)
        found[pipe] = value
    return found


def _total(
    by_type: Mapping[str, Value], unit: str, name: str, reasons: dict[str, str], gpu: Gpu
) -> float | None:
    parts = {pipe: v for pipe, v in by_type.items() if v.unit == unit}
    if not parts:
        reasons[name] = f"{gpu.architecture} has no counter of floating-point work by type"
        return None
    unknown = [pipe for pipe, v in parts.items() if v.value is None]
    if unknown:
        why = {parts[pipe].reason for pipe in unknown}
        same = len(unknown) == len(parts) and len(why) == 1
        reasons[name] = f"{'' if same else unknown[0] + ': '}{parts[unknown[0]].reason}"
        return None
    return sum(v.value for v in parts.values() if v.value is not None)


def _compute_seconds(
    by_type: Mapping[str, Value], ceilings: Mapping[str, Quantity]
) -> tuple[float | None, str | None]:
    """The least time the arithmetic needs: VALU types in turn, MFMA types in turn, both at once."""
    sums = []
    for pipes in (VALU_PIPES, MFMA_PIPES):
        total = 0.0
        for pipe in pipes:
            value = by_type[pipe].value if pipe in by_type else 0.0
            if value is None:
                return None, f"{pipe}: {by_type[pipe].reason}"
            if value:
                if pipe not in ceilings:
                    return None, f"no ceiling is known for {pipe}"
                total += value / (ceilings[pipe].value * 1e9)
        sums.append(total)
    return max(sums), None


def _why(reasons: Mapping[str, str], fabric: Level, mix: str | None) -> str:
    for candidate in (
        reasons.get("time"),
        reasons.get("flops"),
        mix,
        fabric.reason,
    ):
        if candidate:
            return candidate
    return "no ceiling is known for this device"


def _unknown(kernel: KernelCounters, why: str) -> KernelRoofline:
    return KernelRoofline(
        key=kernel.key,
        dispatches=kernel.dispatches,
        covered=kernel.covered,
        mean_ns=kernel.mean_ns,
        reasons={"roofline_position": why},
        notes=kernel.notes,
    )
