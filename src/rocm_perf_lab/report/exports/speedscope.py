"""Where the traced waves' cycles went, as stacks: speedscope's JSON, and folded text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from rocm_perf_lab.schema.thread_trace import ThreadTraceDetail

Stack = tuple[tuple[str, ...], int]


def stacks(traces: Sequence[ThreadTraceDetail]) -> list[Stack]:
    """kernel; source lines, outermost caller first; instruction; why -> cycles."""
    found: list[Stack] = []
    for trace in traces:
        names = [k.name for k in trace.kernels]
        reasons = {site.number: site.reason for site in trace.stall_sites}
        for i in trace.instructions:
            kernel = names[i.kernel] if i.kernel is not None and i.kernel < len(names) else "?"
            lines = reversed((i.source or "no line information").split(" -> "))
            frames = (trace.kernel or kernel, *lines, f"#{i.number} {i.isa}")
            issue = i.latency - i.stall
            if i.stall:
                found.append(((*frames, reasons.get(i.number, "stalled")), i.stall))
            if issue:
                found.append(((*frames, "issuing"), issue))
    return found


def folded(traces: Sequence[ThreadTraceDetail]) -> Iterator[str]:
    """Brendan Gregg's format: frames by semicolons, then the weight."""
    for frames, cycles in stacks(traces):
        yield ";".join(_one_line(f) for f in frames) + f" {cycles}\n"


def speedscope(traces: Sequence[ThreadTraceDetail], name: str) -> str:
    found = stacks(traces)
    frames = {f: i for i, f in enumerate(dict.fromkeys(f for s, _ in found for f in s))}
    document = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": name,
        "exporter": "rocm-perf",
        "shared": {"frames": [{"name": f} for f in frames]},
        "profiles": [
            {
                "type": "sampled",
                "name": "cycles of traced waves",
                "unit": "none",
                "startValue": 0,
                "endValue": sum(cycles for _, cycles in found),
                "samples": [[frames[f] for f in s] for s, _ in found],
                "weights": [cycles for _, cycles in found],
            }
        ],
    }
    return json.dumps(document, separators=(",", ":")) + "\n"


def _one_line(frame: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in frame).replace(";", ",")
