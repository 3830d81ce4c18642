"""The tuning run as one HTML page: convergence, every measurement, the parameters' influence.

Inline SVG, no script, nothing loaded from elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab.collect.run_folder import write_file
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.report.page import environment
from rocm_perf_lab.schema.autotune import AutotuneDocument

_WIDTH, _HEIGHT = 760, 260
_LEFT, _BOTTOM, _TOP, _RIGHT = 62, 34, 12, 12


@dataclass(frozen=True)
class Tick:
    at: float
    label: str


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


@dataclass(frozen=True)
class Bar:
    value: str
    evaluated: int
    best_ms: float | None
    width: float  # share of the fastest value's speed


def write_page(document: AutotuneDocument, path: Path) -> None:
    try:
        write_file(path, render(document))
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None


def render(document: AutotuneDocument) -> str:
    working = [e for e in document.evaluations if e.runtime_ms is not None]
    leaders = sorted(working, key=lambda e: e.runtime_ms or math.inf)[:10]
    varying = [p.parameter for p in document.influence]
    return (
        environment("rocm_perf_lab.autotune")
        .get_template("page.html.j2")
        .render(
            d=document,
            chart=convergence(document),
            influence=[
                (p.parameter, p.share, _bars(document, p.parameter)) for p in document.influence
            ],
            leaders=leaders,
            varying=varying,
            failures={s: n for s, n in document.statuses.items() if s != "ok"},
        )
    )


def convergence(document: AutotuneDocument) -> Chart | None:
    """Each measurement a point, the best so far a line; time on a log scale."""
    times = [(i, e.runtime_ms) for i, e in enumerate(document.evaluations, 1)]
    known = [(i, t) for i, t in times if t is not None]
    if not known:
        return None
    low, high = min(t for _, t in known), max(t for _, t in known)
    high = max(high, low * 1.1)
    count = max(len(times), 2)

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
        [(x(i), y(t), f"{i}: {t:.4g} ms") for i, t in known],
        "".join(steps),
        [Tick(x(n), str(n)) for n in sorted({1, *(round(count * k / 5) for k in range(1, 6))})],
        [Tick(y(t), f"{t:.3g}") for t in y_ticks],
    )


def _bars(document: AutotuneDocument, parameter: str) -> list[Bar]:
    values = next(p.values for p in document.influence if p.parameter == parameter)
    fastest = min((v.best_ms for v in values if v.best_ms is not None), default=None)
    return [
        Bar(
            str(v.value),
            v.evaluated,
            v.best_ms,
            fastest / v.best_ms if fastest is not None and v.best_ms else 0.0,
        )
        for v in values
    ]
