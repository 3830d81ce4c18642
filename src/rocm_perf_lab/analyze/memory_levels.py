"""What a kernel moves at each level of memory, and how near that comes to the level's ceiling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from rocm_perf_lab.analyze.metrics import KernelMetrics
from rocm_perf_lab.arch.counters import metric_set
from rocm_perf_lab.arch.gpu import Gpu, Quantity

# More than a peak by this much is impossible, not fast.
OVER_PEAK = 0.05
LEVELS = ("fabric", "hbm", "l2", "l1", "lds")
WORDS = {
    "fabric": "fabric",
    "hbm": "HBM",
    "mall": "Infinity Cache",
    "l2": "L2 cache",
    "l1": "L1 cache",
    "lds": "LDS",
}
Position = Literal["memory_bound", "compute_bound"]


@dataclass(frozen=True)
class Level:
    """One level of memory: what moved, how fast, how near its ceiling.

    `fabric` is what L2 exchanges with what lies beyond it, the Infinity Cache (`mall`) and HBM
    behind that; `served_by` names the one whose ceiling applies, `ceilings` gives both, and
    `hbm_share` the part of the traffic that HBM serves, least and most, where that can be told.
    """

    name: str
    bytes: float | None = None
    read_bytes: float | None = None
    write_bytes: float | None = None
    gbps: float | None = None
    ceiling_gbps: float | None = None
    fraction: float | None = None
    fraction_of_datasheet: float | None = None
    served_by: str | None = None
    ceilings: Mapping[str, float] = field(default_factory=dict)
    operational_intensity: float | None = None
    ridge_point: float | None = None
    position: Position | None = None
    reason: str | None = None
    note: str | None = None
    remarkable: bool = False  # the note says something unusual
    hbm_share: tuple[float, float] | None = None


def memory_levels(
    metrics: KernelMetrics,
    gpu: Gpu,
    ceilings: Mapping[str, Quantity],
    seconds: float,
    flops: float | None,
    compute_seconds: float | None,
    roof: float | None,
    footprint: int | None,
) -> dict[str, Level]:
    """Every level's traffic of one kernel, against its ceilings."""
    levels = {}
    for name in LEVELS:
        if name == "hbm":
            continue
        amount = _amount(name, metrics)
        fabric = name == "fabric"
        served, note = _served_by(amount.total, gpu, footprint) if fabric else (name, None)
        levels[name] = _level(
            name, served, amount, note, gpu, ceilings, seconds, flops, compute_seconds, roof
        )
    fabric_level = replace(
        levels["fabric"], hbm_share=_hbm_share(levels["fabric"].bytes, gpu, footprint)
    )
    levels["fabric"] = fabric_level
    if "mall" in gpu.datasheet:
        reason = (
            "counters end at the fabric: how much of its traffic the Infinity Cache served is not "
            "counted"
        )
        hbm = Level("hbm", reason=reason)
    else:
        hbm = replace(fabric_level, name="hbm")
    return {name: hbm if name == "hbm" else levels[name] for name in LEVELS}


@dataclass(frozen=True)
class _Amount:
    total: float | None
    read: float | None
    write: float | None
    reason: str | None


def _amount(name: str, metrics: KernelMetrics) -> _Amount:
    if name != "fabric":
        both = metrics[f"{name}_bytes"]
        return _Amount(both.value, None, None, both.reason)
    reads, writes = metrics["fabric_read_bytes"], metrics["fabric_write_bytes"]
    known = reads.value is not None and writes.value is not None
    total = (reads.value or 0) + (writes.value or 0) if known else None
    return _Amount(total, reads.value, writes.value, reads.reason or writes.reason)


def _served_by(total: float | None, gpu: Gpu, footprint: int | None) -> tuple[str, str]:
    """Which of HBM and the Infinity Cache sets the ceiling of the fabric's traffic, and why.

    A dispatch cannot touch more distinct bytes than it moves, nor than the program holds.
    """
    if "mall" not in gpu.datasheet or gpu.mall_bytes is None:
        return "hbm", "traffic between L2 and fabric; this GPU has no Infinity Cache known to us"
    bounds = [(total, "a dispatch moves"), (footprint, "the program holds")]
    known = [(amount, words) for amount, words in bounds if amount is not None]
    size = f"{gpu.mall_bytes / 2**20:.0f} MiB Infinity Cache"
    if not known:
        return "hbm", f"traffic between L2 and fabric, hits of the {size} among it"
    least, words = min(known)
    if least <= gpu.mall_bytes:
        return (
            "mall",
            f"{words} {least / 1e6:.3g} MB, which fits the {size}: its ceiling applies once the "
            "data is in it, HBM's on first touch",
        )
    return (
        "hbm",
        f"{words} {least / 1e6:.3g} MB, more than the {size} holds; what it re-reads may still hit",
    )


def _hbm_share(total: float | None, gpu: Gpu, footprint: int | None) -> tuple[float, float] | None:
    """Of the fabric's traffic, what HBM serves: at least (data in the Infinity Cache) and at most
    (first touch of every distinct byte). Unknown where the data may not fit the cache."""
    if not total:
        return None
    if "mall" not in gpu.datasheet or gpu.mall_bytes is None:
        return 1.0, 1.0
    distinct = min(total, total if footprint is None else footprint)
    return (0.0, distinct / total) if distinct <= gpu.mall_bytes else None


def _level(
    name: str,
    served: str,
    amount: _Amount,
    note: str | None,
    gpu: Gpu,
    ceilings: Mapping[str, Quantity],
    seconds: float,
    flops: float | None,
    compute_seconds: float | None,
    roof: float | None,
) -> Level:
    total, read, write, reason = amount.total, amount.read, amount.write, amount.reason
    remarkable = False
    choices = ("hbm", "mall") if name == "fabric" else (name,)
    ceiling = ceilings[served].value if served in ceilings else None
    gbps = total / seconds / 1e9 if total is not None and seconds > 0 else None
    if gbps is not None:
        tops = [top for choice in choices if (top := gpu.highest(choice)) is not None]
        # Traffic of the L1 is counted in whole accesses: above its peak is our bound, not a fault.
        if tops and gbps > max(tops) * (1 + OVER_PEAK) and name != "l1":
            reason = (
                f"{name} at {gbps:.0f} GB/s exceeds the peak of {max(tops):.0f}, which cannot be"
            )
            note, remarkable = reason, True
            total = read = write = gbps = None
        elif name == "fabric" and served == "hbm" and "mall" in gpu.datasheet:
            top = gpu.highest("hbm")
            if top is not None and gbps > top * (1 + OVER_PEAK):
                note = f"{gbps:.0f} GB/s is more than HBM gives: the Infinity Cache served a part"
                remarkable = True
    sheet = gpu.datasheet.get(served)
    of_sheet = gbps / sheet.value if gbps is not None and sheet is not None else None
    fraction = min(gbps / ceiling, 1.0) if gbps is not None and ceiling else None
    if gbps is not None and ceiling and gbps > ceiling and not remarkable and sheet is not None:
        note = (
            f"{name} at {gbps:.0f} GB/s is above the {ceiling:.0f} measured: taken as 100 % of it, "
            f"{100 * gbps / sheet.value:.0f} % of the datasheet's {sheet.value:.0f}"
        )
        remarkable = True
    intensity = ridge = None
    position: Position | None = None
    if total is not None and flops is not None and total > 0:
        intensity = flops / total
    elif total == 0:
        reason = f"no {name} traffic was counted, so intensity has no value"
    if roof is not None and ceiling:
        ridge = roof / ceiling
    # Which roof time is longer; for work counted in FLOPs, whether intensity is below the ridge.
    if gbps is not None and ceiling and compute_seconds is not None and (gbps or compute_seconds):
        longer = gbps / ceiling * seconds > compute_seconds
        position = "memory_bound" if longer else "compute_bound"
    if reason is None and gbps is not None and ceiling is None:
        reason = f"no ceiling is known for {name}"
    if note is None:
        metric = metric_set(gpu.metrics).metrics.get(f"{name}_bytes")
        note = metric.note if metric else None
    return Level(
        name=name,
        bytes=total,
        read_bytes=read,
        write_bytes=write,
        gbps=gbps,
        ceiling_gbps=ceiling,
        fraction=fraction,
        fraction_of_datasheet=of_sheet,
        served_by=served if name == "fabric" else None,
        ceilings={c: ceilings[c].value for c in choices if c in ceilings},
        operational_intensity=intensity,
        ridge_point=ridge,
        position=position,
        reason=reason,
        note=note,
        remarkable=remarkable,
    )
