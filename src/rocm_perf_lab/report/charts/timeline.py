"""The timeline's data for the script: lanes, the critical path, and a colour for each name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rocm_perf_lab.analyze.graph.calls import Role, role
from rocm_perf_lab.report.names import short_name
from rocm_perf_lab.report.page import OTHER
from rocm_perf_lab.schema.timeline import TimelineDocument

CAUSES = {
    "copies": ("#2f97a8", "waiting for a copy"),
    "host": ("#c9a227", "host code"),
    "launch": ("#e07b54", "launch"),
    "sync": ("#9b7fc4", "synchronisation"),
    "dependency": ("#7c93ab", "dependency"),
    "unknown": ("#b0b7bf", "unexplained"),
}
COPY = "#2f97a8"
# A call has the colour of the waiting it causes.
CALLS = {
    **dict.fromkeys((Role.COPY, Role.COPY_ASYNC), "copies"),
    **dict.fromkeys((Role.DEVICE_SYNC, Role.STREAM_SYNC, Role.EVENT_SYNC), "sync"),
    Role.STREAM_WAIT: "dependency",
}


def timeline(document: TimelineDocument, colours: Mapping[str, str]) -> dict[str, Any]:
    """Only names that are drawn, each once; blocks as [start, duration, name, count, on path]."""
    used: dict[int, int] = {}

    def rows(blocks: list[tuple[int, int, int, int, int, int]]) -> list[list[int]]:
        return [
            [start, took, used.setdefault(name, len(used)), count, on_path]
            for start, took, _, name, count, on_path in blocks
        ]

    lanes = [
        {"label": lane.label, "blocks": rows(lane.blocks), **({"host": 1} if lane.is_host else {})}
        for lane in document.lanes
    ]
    path = rows(document.path)
    first_cause = document.kernel_names + document.copy_names
    first_call = len(document.names) - document.call_names
    names, shades = [], []
    for index in used:
        name = document.names[index]
        if index >= first_call:
            cause = "launch" if "Launch" in name else CALLS.get(role(name), "host")
            shade = CAUSES[cause][0]
        elif index >= first_cause:
            shade, name = CAUSES.get(name, (OTHER, name))
        else:
            is_copy = index >= document.kernel_names
            shade = COPY if is_copy else colours.get(name, OTHER)
        names.append(copy_words(name) if index < first_cause else name)
        shades.append(shade)
    return {
        "span": document.span_ns,
        "names": names,
        "colours": shades,
        "lanes": lanes,
        "path": path,
    }


def copy_words(name: str) -> str:
    if name.startswith("MEMORY_COPY_"):
        return "copy " + name.removeprefix("MEMORY_COPY_").replace("_", " ").lower()
    return short_name(name, 160)
