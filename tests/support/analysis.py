"""From traces to documents in one call, as `analyze` does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding
from rocm_perf_lab.trace.recording import group
from rocm_perf_lab.trace.trace import Trace
from rocm_perf_lab.workflow import Choices, Documents, analyze_recording


def documents(*traces: Trace, att: Sequence[ThreadTraceFinding] = (), **choices: Any) -> Documents:
    return analyze_recording(group(list(traces)), att, Choices(**choices))
