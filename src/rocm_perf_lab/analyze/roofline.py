"""Where each kernel stands under the roofs of its GPU: work and traffic counted, time measured.

Roof time of a resource = amount / ceiling. Work of different types takes its roof times one after
the other within the vector ALU and within the matrix cores, while those two, and every level of
memory, work side by side. So the compute roof of a mix is its FLOPs over the longer of the two
sums, and the fraction of the roof is the longest roof time over the time taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rocm_perf_lab.analyze.counters import JoinedCounters, KernelCounters
from rocm_perf_lab.analyze.keys import KernelKey
from rocm_perf_lab.analyze.metrics import KernelMetrics, Value, evaluate
from rocm_perf_lab.arch.counters import metric_set
from rocm_perf_lab.arch.model import (
    COMPUTE_PIPES,
    MFMA_PIPES,
    VALU_PIPES,
    CeilingKind,
    Gpu,
    Quantity,
)

# More than a peak by this much is impossible, not fast.
OVER_PEAK = 0.05
LEVELS = ("hbm", "l2", "l1", "lds")
Position = Literal["memory_bound", "compute_bound"]


@dataclass(frozen=True)
class Level:
    """One level of memory: what moved, how fast, how near its ceiling."""

    name: str
    bytes: float | None
    read_bytes: float | None
    write_bytes: float | None
    gbps: float | None
    ceiling_gbps: float | None
    fraction: float | None
    operational_intensity: float | None
    ridge_point: float | None
    position: Position | None
    reason: str | None
    note: str | None = None


@dataclass(frozen=True)
class KernelRoofline:
    """One kernel in one shape. Amounts are per dispatch; a null's reason is in `reasons`."""

    key: KernelKey
    dispatches: int
    covered: int
    mean_ns: float
    flops_by_type: Mapping[str, Value]  # integer operations (mfma_i8) among them
    flops: float | None
    iops: float | None
    levels: Mapping[str, Level]
    operational_intensity: float | None
    achieved_gflops: float | None
    achieved_bandwidth_gbps: float | None
    compute_roof_gflops: float | None
    compute_fraction: float | None
    ridge_point: float | None
    roofline_position: Position | None
    fraction_of_roof: float | None
    bound_by: str | None  # the resource of the longest roof time
    metrics: Mapping[str, Value]
    plausibility: tuple[str, ...]
    reasons: Mapping[str, str]
    notes: tuple[str, ...] = ()

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

    def of_name(self, name: str) -> KernelRoofline | None:
        """The shape of this kernel that took the most time."""
        return next((k for k in self.kernels if k.key.name == name), None)


def roofline(
    joined: JoinedCounters, gpu: Gpu | None, ceilings: CeilingKind = "measured"
) -> RooflineFinding:
    """Rooflines of every kernel; without a known GPU, what was counted and nothing more."""
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
    kernels = tuple(_kernel(k, gpu, used) for k in joined.kernels)
    return RooflineFinding(
        gpu.architecture, gpu.product, ceilings, used, kernels, joined.timed_by, tuple(notes)
    )


def _kernel(kernel: KernelCounters, gpu: Gpu, ceilings: Mapping[str, Quantity]) -> KernelRoofline:
    metrics = evaluate(kernel, gpu)
    plausibility = list(metrics.plausibility)
    reasons: dict[str, str] = {}
    seconds = kernel.mean_ns / 1e9
    if seconds <= 0:
        reasons["time"] = "the kernel's dispatches have no duration"
    by_type = _flops_by_type(metrics, gpu, seconds, plausibility)
    flops = _total(by_type, "FLOP", "flops", reasons, gpu)
    iops = by_type["mfma_i8"].value if "mfma_i8" in by_type else None
    compute_seconds, mix_reason = _compute_seconds(by_type, ceilings)
    if compute_seconds is not None and 0 < seconds * (1 + OVER_PEAK) < compute_seconds:
        # A ceiling that a kernel beats is none: the benchmark behind it did not reach its own.
        compute_seconds, mix_reason = _compute_seconds(by_type, {**ceilings, **gpu.datasheet})
        plausibility.append("faster than the measured compute ceilings: the datasheet's are used")
    default_pipe = "valu_f32"
    roof = (
        flops / compute_seconds / 1e9
        if flops and compute_seconds
        else (ceilings[default_pipe].value if flops == 0 and default_pipe in ceilings else None)
    )
    levels = {
        name: _level(
            name, metrics, gpu, ceilings, seconds, flops, compute_seconds, roof, plausibility
        )
        for name in LEVELS
    }
    hbm = levels["hbm"]
    achieved = flops / seconds / 1e9 if flops is not None and seconds > 0 else None
    compute_fraction = (
        compute_seconds / seconds if compute_seconds is not None and seconds > 0 else None
    )
    if flops is None:
        compute_fraction = None
    fractions = {name: level.fraction for name, level in (("hbm", hbm),)}
    fractions["compute"] = compute_fraction
    known = {name: f for name, f in fractions.items() if f is not None}
    complete = len(known) == len(fractions)
    position = hbm.position if complete else None
    fraction = max(known.values()) if complete else None
    bound = max(sorted(known), key=lambda n: known[n]) if complete else None
    if position is None:
        reasons["roofline_position"] = _why(reasons, hbm, mix_reason)
    return KernelRoofline(
        key=kernel.key,
        dispatches=kernel.dispatches,
        covered=kernel.covered,
        mean_ns=kernel.mean_ns,
        flops_by_type=by_type,
        flops=flops,
        iops=iops,
        levels=levels,
        operational_intensity=hbm.operational_intensity,
        achieved_gflops=achieved,
        achieved_bandwidth_gbps=hbm.gbps,
        compute_roof_gflops=roof,
        compute_fraction=compute_fraction,
        ridge_point=hbm.ridge_point,
        roofline_position=position,
        fraction_of_roof=fraction,
        bound_by=bound,
        metrics=metrics.values,
        plausibility=tuple(dict.fromkeys(plausibility)),
        reasons=reasons,
        notes=kernel.notes,
    )


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


def _level(
    name: str,
    metrics: KernelMetrics,
    gpu: Gpu,
    ceilings: Mapping[str, Quantity],
    seconds: float,
    flops: float | None,
    compute_seconds: float | None,
    roof: float | None,
    plausibility: list[str],
) -> Level:
    read = write = None
    if name == "hbm":
        reads, writes = metrics["hbm_read_bytes"], metrics["hbm_write_bytes"]
        read, write = reads.value, writes.value
        reason = reads.reason or writes.reason
        total = read + write if read is not None and write is not None else None
    else:
        both = metrics[f"{name}_bytes"]
        total, reason = both.value, both.reason
    note = _note(name, gpu)
    ceiling = ceilings[name].value if name in ceilings else None
    gbps = total / seconds / 1e9 if total is not None and seconds > 0 else None
    if gbps is not None:
        top = gpu.highest(name)
        if name == "hbm" and top is not None and gbps > top * (1 + OVER_PEAK):
            beyond = gpu.highest("mall")
            if beyond is not None and gbps <= beyond * (1 + OVER_PEAK):
                note = f"{gbps:.0f} GB/s is more than memory gives: the Infinity Cache served it"
                plausibility.append(note)
                ceiling, top = ceilings["mall"].value if "mall" in ceilings else beyond, None
            else:
                top = max(top, beyond or 0.0)
        if top is not None and gbps > top * (1 + OVER_PEAK) and not _upper_bound(name):
            reason = f"{name} at {gbps:.0f} GB/s exceeds the peak of {top:.0f}, which cannot be"
            plausibility.append(reason)
            total = read = write = gbps = None
    fraction = gbps / ceiling if gbps is not None and ceiling else None
    if fraction is not None and fraction > 1 + OVER_PEAK and name in gpu.datasheet:
        peak = gpu.datasheet[name].value
        if gbps is not None and ceiling is not None and peak > ceiling:
            plausibility.append(
                f"{name} at {gbps:.0f} GB/s is above the measured ceiling of {ceiling:.0f}: "
                f"the datasheet's {peak:.0f} is used"
            )
            ceiling, fraction = peak, gbps / peak
    intensity = ridge = None
    position: Position | None = None
    if total is not None and flops is not None and total > 0:
        intensity = flops / total
    elif total == 0:
        reason = f"no {name} traffic was counted, so intensity has no value"
    if roof is not None and ceiling:
        ridge = roof / ceiling
    # Which roof time is longer; for work counted in FLOPs, whether intensity is below the ridge.
    if fraction is not None and compute_seconds is not None and (fraction or compute_seconds):
        longer = fraction * seconds > compute_seconds
        position = "memory_bound" if longer else "compute_bound"
    if reason is None and gbps is not None and ceiling is None:
        reason = f"no ceiling is known for {name}"
    return Level(
        name, total, read, write, gbps, ceiling, fraction, intensity, ridge, position, reason, note
    )


def _upper_bound(name: str) -> bool:
    """Traffic of the L1 is counted in whole accesses: above its peak is our bound, not a fault."""
    return name == "l1"


def _note(name: str, gpu: Gpu) -> str | None:
    if name == "hbm":
        cached = " and Infinity Cache hits are among it" if "mall" in gpu.datasheet else ""
        return f"traffic between L2 and fabric{cached}"
    metric = metric_set(gpu.metrics).metrics.get(f"{name}_bytes")
    return metric.note if metric else None


def _why(reasons: Mapping[str, str], hbm: Level, mix: str | None) -> str:
    for candidate in (
        reasons.get("time"),
        reasons.get("flops"),
        mix,
        hbm.reason,
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
        flops_by_type={},
        flops=None,
        iops=None,
        levels={},
        operational_intensity=None,
        achieved_gflops=None,
        achieved_bandwidth_gbps=None,
        compute_roof_gflops=None,
        compute_fraction=None,
        ridge_point=None,
        roofline_position=None,
        fraction_of_roof=None,
        bound_by=None,
        metrics={},
        plausibility=(),
        reasons={"roofline_position": why},
        notes=kernel.notes,
    )
