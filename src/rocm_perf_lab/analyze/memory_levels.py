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


@dataclass(frozen=True)
class Roofs:
    """What a kernel is held against: its GPU, the ceilings that count, and the most device memory
    the program held at once, where that is known."""

    gpu: Gpu
    ceilings: Mapping[str, Quantity]
    footprint: int | None


@dataclass(frozen=True)
class Work:
    """What a dispatch computes, and how long it takes."""

    seconds: float
    flops: float | None
    compute_seconds: float | None  # the least time the arithmetic needs
    roof: float | None  # GFLOP/s that this mix of types can reach


def memory_levels(metrics: KernelMetrics, work: Work, roofs: Roofs) -> dict[str, Level]:
    """Every level's traffic of one kernel, against its ceilings."""
    fabric = _level("fabric", metrics, work, roofs)
    fabric = replace(fabric, hbm_share=_hbm_share(fabric.bytes, roofs))
    if "mall" in roofs.gpu.datasheet:
        reason = (
            "counters end at the fabric: how much of its traffic the Infinity Cache served is not "
            "counted"
        )
        hbm = Level("hbm", reason=reason)
    else:
        hbm = replace(fabric, name="hbm")
    inner = {name: _level(name, metrics, work, roofs) for name in ("l2", "l1", "lds")}
    return {"fabric": fabric, "hbm": hbm, **inner}


@dataclass(frozen=True)
class _Amount:
    total: float | None
    read: float | None
    write: float | None
    reason: str | None

    def gbps(self, seconds: float) -> float | None:
        return self.total / seconds / 1e9 if self.total is not None and seconds > 0 else None


def _amount(name: str, metrics: KernelMetrics) -> _Amount:
    if name != "fabric":
        both = metrics[f"{name}_bytes"]
        return _Amount(both.value, None, None, both.reason)
    reads, writes = metrics["fabric_read_bytes"], metrics["fabric_write_bytes"]
    known = reads.value is not None and writes.value is not None
    total = (reads.value or 0) + (writes.value or 0) if known else None
    return _Amount(total, reads.value, writes.value, reads.reason or writes.reason)


def _served_by(total: float | None, roofs: Roofs) -> tuple[str, str]:
    """Which of HBM and the Infinity Cache sets the ceiling of the fabric's traffic, and why.

    A dispatch cannot touch more distinct bytes than it moves, nor than the program holds.
    """
    gpu = roofs.gpu
    if "mall" not in gpu.datasheet or gpu.mall_bytes is None:
        return "hbm", "traffic between L2 and fabric; this GPU has no Infinity Cache known to us"
    bounds = [(total, "a dispatch moves"), (roofs.footprint, "the program holds")]
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


def _hbm_share(total: float | None, roofs: Roofs) -> tuple[float, float] | None:
    """Of the fabric's traffic, what HBM serves: at least (data in the Infinity Cache) and at most
    (first touch of every distinct byte). Unknown where the data may not fit the cache."""
    if not total:
        return None
    cache = roofs.gpu.mall_bytes
    if "mall" not in roofs.gpu.datasheet or cache is None:
        return 1.0, 1.0
    distinct = min(total, total if roofs.footprint is None else roofs.footprint)
    return (0.0, distinct / total) if distinct <= cache else None


def _level(name: str, metrics: KernelMetrics, work: Work, roofs: Roofs) -> Level:
    gpu, ceilings, fabric = roofs.gpu, roofs.ceilings, name == "fabric"
    choices = ("hbm", "mall") if fabric else (name,)
    amount = _amount(name, metrics)
    served, note = _served_by(amount.total, roofs) if fabric else (name, _note(name, gpu))
    remark = _impossible(name, choices, amount.gbps(work.seconds), gpu)
    if remark is not None:
        amount = _Amount(None, None, None, remark)
    gbps = amount.gbps(work.seconds)
    ceiling = ceilings[served].value if served in ceilings else None
    sheet = gpu.datasheet.get(served)
    if gbps is not None and remark is None:
        remark = _above_ceiling(name, served, gbps, ceiling, gpu)
    return Level(
        name=name,
        bytes=amount.total,
        read_bytes=amount.read,
        write_bytes=amount.write,
        gbps=gbps,
        ceiling_gbps=ceiling,
        fraction=min(gbps / ceiling, 1.0) if gbps is not None and ceiling else None,
        fraction_of_datasheet=gbps / sheet.value if gbps is not None and sheet else None,
        served_by=served if fabric else None,
        ceilings={c: ceilings[c].value for c in choices if c in ceilings},
        operational_intensity=(
            work.flops / amount.total if amount.total and work.flops is not None else None
        ),
        ridge_point=work.roof / ceiling if work.roof is not None and ceiling else None,
        position=_position(gbps, ceiling, work),
        reason=_reason(name, amount, gbps, ceiling),
        note=remark or note,
        remarkable=remark is not None,
    )


def _impossible(name: str, choices: tuple[str, ...], gbps: float | None, gpu: Gpu) -> str | None:
    # Traffic of the L1 is counted in whole accesses: above its peak is our bound, not a fault.
    tops = [top for choice in choices if (top := gpu.highest(choice)) is not None]
    if gbps is None or not tops or gbps <= max(tops) * (1 + OVER_PEAK) or name == "l1":
        return None
    return f"{name} at {gbps:.0f} GB/s exceeds the peak of {max(tops):.0f}, which cannot be"


def _above_ceiling(
    name: str, served: str, gbps: float, ceiling: float | None, gpu: Gpu
) -> str | None:
    """What is unusual about a rate that is possible."""
    top, sheet = gpu.highest("hbm"), gpu.datasheet.get(served)
    beyond_hbm = name == "fabric" and served == "hbm" and "mall" in gpu.datasheet
    if beyond_hbm and top is not None and gbps > top * (1 + OVER_PEAK):
        return f"{gbps:.0f} GB/s is more than HBM gives: the Infinity Cache served a part"
    if ceiling and gbps > ceiling and sheet is not None:
        return (
            f"{name} at {gbps:.0f} GB/s is above the {ceiling:.0f} measured: taken as 100 % of it, "
            f"{100 * gbps / sheet.value:.0f} % of the datasheet's {sheet.value:.0f}"
        )
    return None


def _position(gbps: float | None, ceiling: float | None, work: Work) -> Position | None:
    """Which roof time is longer; for work counted in FLOPs: is intensity below the ridge?"""
    compute = work.compute_seconds
    if gbps is None or not ceiling or compute is None or not (gbps or compute):
        return None
    return "memory_bound" if gbps / ceiling * work.seconds > compute else "compute_bound"


def _reason(name: str, amount: _Amount, gbps: float | None, ceiling: float | None) -> str | None:
    if amount.total == 0:
        return f"no {name} traffic was counted, so intensity has no value"
    if amount.reason is None and gbps is not None and ceiling is None:
        return f"no ceiling is known for {name}"
    return amount.reason


def _note(name: str, gpu: Gpu) -> str | None:
    metric = metric_set(gpu.metrics).metrics.get(f"{name}_bytes")
    return metric.note if metric else None
