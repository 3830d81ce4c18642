"""Thread trace: where each instruction's and each wave's cycles went."""

from rocm_perf_lab.analyze.thread_trace.finding import (
    Fractions,
    StallSite,
    ThreadTraceFinding,
    Totals,
)
from rocm_perf_lab.analyze.thread_trace.summarize import summarize

__all__ = ["Fractions", "StallSite", "ThreadTraceFinding", "Totals", "summarize"]
