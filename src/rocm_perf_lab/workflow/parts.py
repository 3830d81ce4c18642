"""A run by part, as `rocm-perf show` prints it: what is missing is an error that says why."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rich.console import Group, RenderableType

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.report import show
from rocm_perf_lab.workflow.documents import Documents


def _roofline(found: Documents) -> RenderableType:
    if found.roofline is None:
        raise BadInput("this run has no roofline.json: no counters were collected")
    return show.roofline(found.roofline)


def _path(found: Documents) -> RenderableType:
    if found.dag is None:
        raise BadInput("this run has no dag.json: its dispatches were not traced")
    return show.path(found.dag)


def _lines(found: Documents) -> RenderableType:
    traces = found.thread_trace.traces if found.thread_trace else []
    if not traces:
        raise BadInput(
            "this run has no thread trace", hint="take one: rocm-perf profile --att ./app"
        )
    return Group(*map(show.lines, traces))


PARTS: Mapping[str, Callable[[Documents], RenderableType]] = {
    "kernels": lambda found: show.kernels(found.profile),
    "roofline": _roofline,
    "path": _path,
    "lines": _lines,
    "metrics": lambda found: show.metrics(found.profile),
}
