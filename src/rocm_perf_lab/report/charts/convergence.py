"""Convergence of a search: each measurement a point, the best so far a line."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rocm_perf_lab.report.charts.axes import Tick
from rocm_perf_lab.schema.autotune import AutotuneDocument

_WIDTH, _HEIGHT = 760, 260
_LEFT, _BOTTOM, _TOP, _RIGHT = 62, 34, 12, 12


@dataclass(frozen=True)
class Chart:
    """Pixel positions; the template only draws."""

    width: int
    height: int
    points: list[tuple[float, float, str]]
    line: str
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    left: int = _LEFT
    right: int = _WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = _HEIGHT - _BOTTOM


def convergence(document: AutotuneDocument) -> Chart | None:
    """Each measurement a point, the best so far a line; on a log scale."""
    measured = sorted((e.order, e.value) for e in document.evaluations if e.order is not None)
    known = [(i, t) for i, t in measured if t is not None]
    if not known:
        return None
    low, high = min(t for _, t in known), max(t for _, t in known)
    high = max(high, low * 1.1)
    count = max(len(measured), 2)

    def x(i: float) -> float:
        return round(_LEFT + (i - 1) / (count - 1) * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(t: float) -> float:
        share = math.log(t / low) / math.log(high / low)
        return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _BOTTOM - _TOP - 8), 1)

    steps: list[str] = []
    best = math.inf
    for i, t in known:
        if t < best:
            if steps:
                steps.append(f"H{x(i)}V{y(t)}")
            else:
                steps.append(f"M{x(i)},{y(t)}")
            best = t
    steps.append(f"H{x(count)}")
    y_ticks = [low * (high / low) ** (k / 4) for k in range(5)]
    return Chart(
        _WIDTH,
        _HEIGHT,
        [(x(i), y(t), f"{i}: {t:.4g} {document.unit}".rstrip()) for i, t in known],
        "".join(steps),
        [Tick(x(n), str(n)) for n in sorted({1, *(round(count * k / 5) for k in range(1, 6))})],
        [Tick(y(t), f"{t:.3g}") for t in y_ticks],
    )
