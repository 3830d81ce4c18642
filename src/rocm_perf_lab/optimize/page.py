"""The run as one HTML page: before and after, the change, everything that was tried."""

from __future__ import annotations

from rocm_perf_lab.optimize.further import sentence
from rocm_perf_lab.report import page
from rocm_perf_lab.schema.optimize import Interval, OptimizeDocument


def render(document: OptimizeDocument) -> str:
    return page.render(
        "optimize.html.j2",
        title=f"Optimize: {document.program}",
        d=document,
        diff=_diff(document.patch),
        further=sentence(document.further) if document.further is not None else None,
        us=microseconds,
        interval=interval_text,
    )


def _diff(patch: str) -> list[tuple[str, str]]:
    kinds = {"+": "add", "-": "del", "@": "at"}
    return [(kinds.get(line[:1], "same"), line) for line in patch.splitlines()]


def microseconds(ms: float | None) -> str:
    return "" if ms is None else f"{ms * 1e3:.2f} us"


def interval_text(interval: Interval | None) -> str:
    if interval is None:
        return ""
    low, high = ("?" if end is None else f"{end:.3f}" for end in interval)
    return f"{low} to {high}"
