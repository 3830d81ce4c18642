"""Occupancy against registers, LDS and block size: three small step charts a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rocm_perf_lab.analyze.occupancy_curves import Curve
from rocm_perf_lab.report.charts.axes import LinearAxis, Tick
from rocm_perf_lab.report.units import number

WIDTH, HEIGHT = 270, 130
LEFT, RIGHT, TOP, BOTTOM = 24, 8, 10, 22


@dataclass(frozen=True)
class StepChart:
    title: str
    line: str
    now_x: float
    now_y: float
    now: str
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    tip: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def step_charts(curves: Sequence[Curve], most_waves: int) -> list[StepChart]:
    return [_chart(curve, most_waves) for curve in curves]


def _chart(curve: Curve, most_waves: int) -> StepChart:
    x = LinearAxis(0, max(curve.highest, curve.now), LEFT, WIDTH - RIGHT)
    y = LinearAxis(0, most_waves, HEIGHT - BOTTOM, TOP)
    parts = [f"M{x.at(0)},{y.at(curve.steps[0][1])}"]
    for value, waves in curve.steps[1:]:
        parts.append(f"H{x.at(value)}V{y.at(waves)}")
    parts.append(f"H{x.at(curve.highest)}")
    waves_now = waves_at(curve, curve.now)
    unit = f" {curve.unit}" if curve.unit else ""
    # A waves count holds up to the last value before the next step.
    ends = [value for value, _ in curve.steps[1:]]
    ranges = [
        f"{number(start)}{unit} and more: {waves:g} waves/SIMD"
        if i == len(ends)
        else f"{number(start)} to below {number(ends[i])}{unit}: {waves:g} waves/SIMD"
        for i, (start, waves) in enumerate(curve.steps)
    ]
    return StepChart(
        title=curve.name,
        line="".join(parts),
        now_x=x.at(curve.now),
        now_y=y.at(waves_now),
        now=f"{curve.now:,}{unit}: {waves_now:g} waves/SIMD",
        x_ticks=x.ticks(4),
        y_ticks=y.ticks(4),
        tip="\n".join([f"now {curve.now:,}{unit}: {waves_now:g} waves/SIMD", *ranges[:14]]),
    )


def waves_at(curve: Curve, value: int) -> float:
    waves = curve.steps[0][1]
    for start, found in curve.steps:
        if start <= value:
            waves = found
    return waves
