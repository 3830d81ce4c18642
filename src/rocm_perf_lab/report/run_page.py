"""The report of a run: every document of it as one HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rocm_perf_lab.analyze.graph.finding import KernelOnGraph
from rocm_perf_lab.analyze.occupancy_curves import Curve
from rocm_perf_lab.report import page
from rocm_perf_lab.report.charts import occupancy, source
from rocm_perf_lab.report.charts.roofline import roofline
from rocm_perf_lab.report.charts.timeline import CAUSES, timeline
from rocm_perf_lab.report.story import dominant_kernel, story
from rocm_perf_lab.schema.analysis import AnalysisDocument
from rocm_perf_lab.schema.dag import DagDocument
from rocm_perf_lab.schema.profile import KernelProfile, ProfileDocument
from rocm_perf_lab.schema.roofline import RooflineDocument, RooflineKernel
from rocm_perf_lab.schema.thread_trace import ThreadTraceDocument
from rocm_perf_lab.schema.timeline import TimelineDocument

MOST_KERNELS = 300  # rows of the table; the rest is counted
MOST_DETAILED = 12  # kernels with metrics of their own


@dataclass(frozen=True)
class Pages:
    """What a report is made from; only the profile is always there."""

    profile: ProfileDocument
    roofline: RooflineDocument | None = None
    dag: DagDocument | None = None
    analysis: AnalysisDocument | None = None
    thread_trace: ThreadTraceDocument | None = None
    timeline: TimelineDocument | None = None
    # kernel name -> how its occupancy would change, and the most waves a SIMD holds
    curves: Mapping[str, tuple[Sequence[Curve], int]] = field(default_factory=dict)
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)


def render(run: Pages) -> str:
    return page.render("run.html.j2", title=_title(run.profile), **_drawn(run, MOST_KERNELS))


def fragment(run: Pages, parts: Sequence[str]) -> str:
    """Some charts of the page for a notebook: the same templates, no page around them."""
    return page.render("fragment.html.j2", wanted=parts, **_drawn(run, 20))


def _drawn(run: Pages, most: int) -> dict[str, Any]:
    """What the templates show, with so many kernels at most."""
    p = run.profile
    colours = {k.kernel.name: page.colour(i) for i, k in enumerate(p.kernels)}
    on_graph = {k.name: k for k in run.dag.kernels if not k.is_copy} if run.dag else {}
    traces = run.thread_trace.traces if run.thread_trace else []
    return {
        "p": p,
        "virtual": p.provenance.device.kind == "virtual",
        "dominant": dominant_kernel(p),
        "story": story(p, run.dag),
        "parts": _parts(p),
        "roofline": roofline(run.roofline, colours) if run.roofline else None,
        "roofline_document": run.roofline,
        "kernels": [_row(k, on_graph.get(k.kernel.name), run) for k in p.kernels[:most]],
        "kernels_left_out": max(0, len(p.kernels) - most),
        "colours": colours,
        "dag": run.dag,
        "timeline": run.timeline,
        "timeline_data": timeline(run.timeline, colours) if run.timeline else None,
        "what_if": _what_if(run),
        "occupancy": _occupancy(run),
        "sources": [
            (trace, view)
            for trace in traces
            if (view := source.source_view(trace, run.sources)) is not None
        ],
        "empty_traces": [trace for trace in traces if not trace.usable],
        "metrics": _metrics(run),
        "causes": CAUSES,
    }


def _title(p: ProfileDocument) -> str:
    what = p.kernel.name if p.kernel else "run"
    device = p.gpu.name or p.provenance.device.name or "unknown GPU"
    return f"{page.short(what, 60)} on {page.short(device, 60)}"


# part of the makespan -> colour
PARTS = {
    "kernels": "#3b76c4",
    "copies": CAUSES["copies"][0],
    "launch_gaps": CAUSES["launch"][0],
    "host": CAUSES["host"][0],
    "synchronisation": CAUSES["sync"][0],
    "unexplained": CAUSES["unknown"][0],
}


def _parts(profile: ProfileDocument) -> list[tuple[str, float, float, str]]:
    """Where the makespan went: words, ms, share, colour."""
    where = profile.where_the_time_goes
    if where is None:
        return []
    return [
        (part.words, part.ms, part.share, PARTS.get(part.name, page.OTHER))
        for part in where.parts
        if part.ms and part.share
    ]


@dataclass(frozen=True)
class Row:
    kernel: KernelProfile
    on_path: float | None
    twice: float | None  # how much faster the run were, were this kernel twice as fast


def _row(kernel: KernelProfile, on_graph: KernelOnGraph | None, run: Pages) -> Row:
    gain = None
    if on_graph is not None and run.dag is not None and run.dag.makespan_ns:
        twice = next((w.makespan_ns for w in on_graph.what_if if w.speedup == 2.0), 0)
        gain = run.dag.makespan_ns / twice if twice else None
    return Row(kernel, kernel.critical_path.critical_path_score, gain)


def _what_if(run: Pages) -> list[tuple[KernelOnGraph, list[tuple[str, int, float]]]]:
    """Per kernel: how much faster it were -> the run's time and speed-up."""
    if run.dag is None or not run.dag.makespan_ns:
        return []
    whole = run.dag.makespan_ns
    rows = []
    for kernel in [k for k in run.dag.kernels if k.path_ns][:10]:
        cells = [
            (
                "no time at all" if w.speedup is None else f"{w.speedup:g}x faster",
                w.makespan_ns,
                whole / w.makespan_ns if w.makespan_ns else float("inf"),
            )
            for w in kernel.what_if
        ]
        rows.append((kernel, cells))
    return rows


def _occupancy(run: Pages) -> list[tuple[KernelProfile, list[occupancy.StepChart]]]:
    by_name = {k.kernel.name: k for k in run.profile.kernels}
    return [
        (by_name[name], occupancy.step_charts(curves, most))
        for name, (curves, most) in run.curves.items()
        if name in by_name
    ]


def _metrics(run: Pages) -> list[tuple[RooflineKernel, list[Any]]]:
    if run.roofline is None:
        return []
    kernels = sorted(run.roofline.kernels, key=lambda k: -k.mean_time_ms * k.dispatches)
    return [(k, _metric_rows(k)) for k in kernels[:MOST_DETAILED]]


def _metric_rows(kernel: RooflineKernel) -> list[Any]:
    if kernel.metrics_table:
        return list(kernel.metrics_table)
    named = {**kernel.flops_by_type, **kernel.metrics}
    return [
        {"group": "", "title": name.replace("_", " "), **metric.model_dump()}
        for name, metric in named.items()
    ]
