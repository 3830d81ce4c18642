"""The tuning run as one HTML page: convergence, every measurement, the parameters' influence."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rocm_perf_lab.report import page
from rocm_perf_lab.report.autotune import in_words
from rocm_perf_lab.report.charts.convergence import convergence
from rocm_perf_lab.schema.autotune import AutotuneDocument
from rocm_perf_lab.schema.triton_autotune import TritonAutotuneDocument


@dataclass(frozen=True)
class Bar:
    value: str
    evaluated: int
    best: float | None
    width: float  # share of the fastest value's speed


def render(document: AutotuneDocument) -> str:
    working = [e for e in document.evaluations if e.value is not None]
    leaders = sorted(working, key=lambda e: e.value or math.inf)[:10]
    return page.render(
        "autotune.html.j2",
        title=f"Autotune: {document.evaluated_configs} of {document.search_space_size} "
        "configurations",
        d=document,
        triton=in_words(document) if isinstance(document, TritonAutotuneDocument) else None,
        chart=convergence(document),
        influence=[
            (p.parameter, p.share, _bars(document, p.parameter)) for p in document.influence
        ],
        leaders=leaders,
        varying=[p.parameter for p in document.influence],
        failures={s: n for s, n in document.statuses.items() if s != "ok"},
    )


def _bars(document: AutotuneDocument, parameter: str) -> list[Bar]:
    values = next(p.values for p in document.influence if p.parameter == parameter)
    fastest = min((v.best for v in values if v.best is not None), default=None)
    return [
        Bar(
            str(v.value),
            v.evaluated,
            v.best,
            fastest / v.best if fastest is not None and v.best else 0.0,
        )
        for v in values
    ]
