"""The tools that a client sees: name, request, description. What they do is in `calls`."""

from __future__ import annotations

from dataclasses import dataclass

from rocm_perf_lab.mcp_server import requests as ask


@dataclass(frozen=True)
class Tool:
    request: type[ask.Request]
    description: str
    runs_programs: bool = False  # one at a time: two would disturb each other's times


TOOLS: dict[str, Tool] = {
    "profile": Tool(
        ask.ProfileRequest,
        "Run a HIP or Triton program under the profiler and say what limits it: kernel times, "
        "roofline, critical path, occupancy, a verdict with evidence and next steps. The program "
        "runs several times. The run is kept; `show` gives other parts of it.",
        runs_programs=True,
    ),
    "analyze": Tool(
        ask.AnalyzeRequest,
        "The same verdict for traces that exist already; needs no GPU. The result is kept.",
    ),
    "show": Tool(ask.ShowRequest, "A kept run, whole or by part, page by page."),
    "runs": Tool(ask.RunsRequest, "The runs that are kept, newest first."),
    "compare": Tool(
        ask.CompareRequest,
        "Is B faster than A? Per kernel a ratio with its confidence interval and a verdict: "
        "faster, slower, same or inconclusive; gates that fail are named first.",
    ),
    "explain": Tool(
        ask.ExplainRequest,
        "What a bottleneck verdict means, the numbers that lead to it, and what to do.",
    ),
    "capture": Tool(
        ask.CaptureRequest,
        "Run a program and keep one dispatch of a kernel with all memory it could reach, for "
        "`replay`. A capture holds the program's data.",
        runs_programs=True,
    ),
    "replay": Tool(
        ask.ReplayRequest,
        "Run a captured dispatch again, alone: time it, compare its output with the captured one; "
        "with hsaco, run another build of the kernel on the same inputs.",
        runs_programs=True,
    ),
    "doctor": Tool(ask.DoctorRequest, "What works on this machine and what to do if not."),
}
