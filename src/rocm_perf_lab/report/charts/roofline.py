"""The roofline: kernels as points under the ceilings of memory and compute, on log axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocm_perf_lab.report.charts.axes import LogAxis, Tick
from rocm_perf_lab.report.names import short_name
from rocm_perf_lab.report.units import number, percent
from rocm_perf_lab.schema.roofline import Ceiling, RooflineDocument, RooflineKernel

WIDTH, HEIGHT = 860, 430
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 14, 44
MOST_KERNELS = 40
MOST_PIPES = 6

LEVEL_WORDS = {
    "fabric": "L2–fabric",
    "hbm": "HBM",
    "mall": "Infinity Cache",
    "l2": "L2",
    "l1": "vL1D",
    "lds": "LDS",
}


@dataclass(frozen=True)
class Line:
    x1: float
    y1: float
    x2: float
    y2: float
    label: str
    label_x: float
    label_y: float
    angle: float
    kind: str  # memory | compute
    tip: str


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    radius: float
    level: str
    kernel: str
    colour: str
    tip: str


@dataclass(frozen=True)
class Roofline:
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    lines: list[Line]
    points: list[Point]
    levels: list[tuple[str, str]]  # of the points: name, words; the first is shown at first
    ceilings: list[Ceiling]
    missing: list[tuple[str, str]]  # kernel, why it has no point
    left_out: int
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def roofline(document: RooflineDocument, colours: Mapping[str, str]) -> Roofline | None:
    """None where no ceiling is known. `colours` by kernel name."""
    memory = [c for c in document.ceilings if c.unit == "GB/s"]
    if not memory:
        return None
    kernels = sorted(document.kernels, key=lambda k: -_time(k))
    shown = kernels[:MOST_KERNELS]
    pipes = _pipes(document, shown)
    if not pipes:
        return None
    rows = [
        (kernel, level, at)
        for kernel in shown
        for level in kernel.bytes_by_level
        if (at := _position(kernel, level)) is not None
    ]
    x, y = _axes([at for _, _, at in rows], memory, pipes)
    whole = sum(map(_time, kernels)) or 1.0
    levels = list(dict.fromkeys(level for _, level, _ in rows))
    return Roofline(
        x_ticks=x.ticks(),
        y_ticks=y.ticks(),
        lines=[
            *(_memory_line(c, x, y, max(p.value for p in pipes), i) for i, c in enumerate(memory)),
            *(_compute_line(c, x, y, max(m.value for m in memory)) for c in pipes),
        ],
        points=[
            Point(
                x.at(at[0]),
                y.at(at[1]),
                round(4 + 12 * math.sqrt(min(_time(kernel) / whole, 1.0)), 1),
                level,
                kernel.kernel,
                colours.get(kernel.kernel, "#8493a3"),
                _tip(kernel, level, _time(kernel) / whole),
            )
            for kernel, level, at in rows
        ],
        levels=[(level, LEVEL_WORDS.get(level, level)) for level in levels],
        ceilings=document.ceilings,
        missing=[
            (kernel.kernel, _why_missing(kernel))
            for kernel in shown
            if not any(kernel is other for other, _, _ in rows)
        ],
        left_out=len(kernels) - len(shown),
    )


def _time(kernel: RooflineKernel) -> float:
    return kernel.mean_time_ms * kernel.dispatches


def _position(kernel: RooflineKernel, level: str) -> tuple[float, float] | None:
    oi = kernel.bytes_by_level[level].operational_intensity
    rate = kernel.achieved_gflops
    return (oi, rate) if oi and rate and oi > 0 and rate > 0 else None


def _pipes(document: RooflineDocument, kernels: Sequence[RooflineKernel]) -> list[Ceiling]:
    """The compute ceilings that the kernels use; vector FP32 where none counts."""
    used = {
        name
        for kernel in kernels
        for name, flops in kernel.flops_by_type.items()
        if flops.value is not None and flops.value > 0
    }
    found = [c for c in document.ceilings if c.unit == "GFLOP/s" and c.name in used]
    return found[:MOST_PIPES] or [c for c in document.ceilings if c.name == "valu_f32"]


def _axes(
    points: Sequence[tuple[float, float]], memory: Sequence[Ceiling], pipes: Sequence[Ceiling]
) -> tuple[LogAxis, LogAxis]:
    slow, fast = min(m.value for m in memory), max(m.value for m in memory)
    top = max(p.value for p in pipes)
    ridge = top / slow
    low_x = min([0.1, min(p.value for p in pipes) / fast / 4, *(x / 2.5 for x, _ in points)])
    high_x = max([ridge * 8, *(x * 2.5 for x, _ in points)])
    low_y = min([low_x * slow, *(y / 3 for _, y in points)])
    return (
        LogAxis(low_x, high_x, LEFT, WIDTH - RIGHT),
        LogAxis(low_y, max([top * 2.2, *(y * 1.5 for _, y in points)]), HEIGHT - BOTTOM, TOP),
    )


def _memory_line(c: Ceiling, x: LogAxis, y: LogAxis, peak: float, index: int) -> Line:
    begin = max(x.low, y.low / c.value)
    end = min(peak / c.value, x.high)
    x1, y1, x2, y2 = x.at(begin), y.at(begin * c.value), x.at(end), y.at(end * c.value)
    angle = math.degrees(math.atan2(y2 - y1, x2 - x1))
    words = LEVEL_WORDS.get(c.name, c.name)
    place = (0.06, 0.32, 0.1, 0.36)[index % 4]  # neighbours' labels side by side
    return Line(
        *(x1, y1, x2, y2, f"{words} {number(c.value)} GB/s"),
        *(round(x1 + place * (x2 - x1), 1), round(y1 + place * (y2 - y1) - 5, 1)),
        round(angle, 1),
        "memory",
        f"{words}: {number(c.value)} GB/s ({c.kind})\n{c.source}",
    )


def _compute_line(c: Ceiling, x: LogAxis, y: LogAxis, fast: float) -> Line:
    x1, x2, at = x.at(max(c.value / fast, x.low)), x.at(x.high), y.at(c.value)
    words = c.name.replace("_", " ").upper()
    return Line(
        *(x1, at, x2, at, f"{words} {number(c.value / 1000)} TFLOP/s"),
        *(round(x2 - 4, 1), round(at - 5, 1), 0.0, "compute"),
        f"{words}: {number(c.value)} {c.unit} ({c.kind})\n{c.source}",
    )


def _tip(kernel: RooflineKernel, level: str, share: float) -> str:
    own = kernel.bytes_by_level[level]
    lines = [
        short_name(kernel.kernel, 90),
        f"{percent(share)} of the counted kernels' time, {kernel.dispatches:,} dispatches",
        f"{number(kernel.achieved_gflops)} GFLOP/s",
        f"{LEVEL_WORDS.get(level, level)}: {number(own.operational_intensity)} FLOP/B, "
        f"{number(own.achieved_bandwidth_gbps)} GB/s "
        f"({percent(own.fraction_of_ceiling)} of its ceiling)",
    ]
    if kernel.fraction_of_roof is not None and kernel.roofline_position is not None:
        bound = kernel.roofline_position.replace("_", " ")
        lines.append(f"{bound}: {percent(kernel.fraction_of_roof)} of the roof")
    return "\n".join([*lines, *([own.note] if own.note else [])])


def _why_missing(kernel: RooflineKernel) -> str:
    if kernel.flops == 0:
        rates = ", ".join(
            f"{LEVEL_WORDS.get(name, name)} {number(level.achieved_bandwidth_gbps)} GB/s "
            f"({percent(level.fraction_of_ceiling)})"
            for name, level in kernel.bytes_by_level.items()
            if level.achieved_bandwidth_gbps
        )
        return f"no floating-point work; {rates or 'no traffic counted'}"
    return next(iter(kernel.reasons.values()), "not counted")
