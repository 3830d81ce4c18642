"""A thread trace in a few sentences: the three largest causes, where, and what was waited for."""

from __future__ import annotations

from rocm_perf_lab.analyze.thread_trace.finding import StallSite, ThreadTraceSummary
from rocm_perf_lab.errors import plain
from rocm_perf_lab.report.names import short_name
from rocm_perf_lab.report.units import percent
from rocm_perf_lab.schema.profile import ProfileDocument
from rocm_perf_lab.trace.library_code import told

TOP_CAUSES = 3
TOP_LOADS = 4


def thread_trace_line(profile: ProfileDocument) -> str:
    trace = profile.thread_trace
    assert trace is not None
    dominant = profile.kernel.name if profile.kernel else None
    whose = ""
    if trace.kernel is not None and trace.kernel != dominant:
        whose = f"of {short_name(trace.kernel, 50)}, not of the dominant kernel: "
    return plain(whose + sentences(trace))


def sentences(trace: ThreadTraceSummary) -> str:
    f = trace.fractions
    if not trace.usable or f is None:
        return f"empty: {trace.reason}"
    causes = ", ".join(f"{percent(c.share)} {c.words}" for c in trace.causes[:TOP_CAUSES])
    text = f"of the waves' cycles {causes}; {percent(f.issue)} issuing"
    if trace.mfma_pipe_utilisation:
        text += f"; matrix cores busy {percent(trace.mfma_pipe_utilisation)} (estimate)"
    if trace.stall_sites:
        text += f"; most lost at {_site(trace.stall_sites[0])}"
    return text


def _site(site: StallSite) -> str:
    text = f"{site.isa}{f' ({told(site.source)})' if site.source else ''}, {percent(site.share)}"
    if not site.waits_for:
        return text
    loads = [
        f"{percent(w.share)} {w.isa}{f' ({told(w.source)})' if w.source else ''}"
        for w in site.waits_for[:TOP_LOADS]
    ]
    more = len(site.waits_for) - TOP_LOADS
    rest = f" and {more} more" if more > 0 else ""
    return f"{text}, waiting for {', '.join(loads)}{rest}"
