"""Parts of a run as tables in the terminal: kernels, roofline, path, hot lines, metrics."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rocm_perf_lab.analyze.thread_trace.finding import ThreadTraceSummary
from rocm_perf_lab.errors import plain
from rocm_perf_lab.report.names import short_name
from rocm_perf_lab.report.units import duration, milliseconds, number, percent
from rocm_perf_lab.schema.dag import DagDocument
from rocm_perf_lab.schema.profile import ProfileDocument
from rocm_perf_lab.schema.roofline import RooflineDocument
from rocm_perf_lab.trace.library_code import own_place

MOST_ROWS = 40
HOT_LINES = 12


def _table(*columns: str, first_wide: bool = True) -> Table:
    """Titles starting with > are of numbers."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1), expand=True)
    for i, title in enumerate(columns):
        right = title.startswith(">")
        wide = first_wide and i == 0
        table.add_column(
            title.lstrip(">"),
            justify="right" if right else "left",
            no_wrap=True,
            overflow="ellipsis",
            ratio=1 if wide else None,
        )
    return table


def _titled(title: str, *parts: RenderableType) -> RenderableType:
    return Group(Text(title, style="bold"), *parts, Text())


def _more(table: Table, rows: int) -> None:
    if rows > MOST_ROWS:
        table.add_row(f"… and {rows - MOST_ROWS} more", *[""] * (len(table.columns) - 1))


def kernels(profile: ProfileDocument) -> RenderableType:
    table = _table("Kernel", ">Calls", ">Total", ">Share", ">Median", ">Occ.", ">Roof", ">Path")
    for k in profile.kernels[:MOST_ROWS]:
        table.add_row(
            short_name(k.kernel.name, 60),
            f"{k.dispatches:,}",
            milliseconds(k.total_ms),
            percent(k.share),
            milliseconds(k.dispatch.median_ms),
            percent(k.occupancy.theoretical, 0),
            percent(k.roofline.fraction_of_roof, 0),
            percent(k.critical_path.critical_path_score, 0),
            style="dim" if k.helper else None,
        )
    _more(table, len(profile.kernels))
    return _titled("Kernels", table)


def roofline(document: RooflineDocument) -> RenderableType:
    table = _table("Kernel", ">GFLOP/s", ">FLOP/B", ">GB/s", ">of roof", "Bound")
    for k in document.kernels[:MOST_ROWS]:
        table.add_row(
            short_name(k.kernel, 50),
            number(k.achieved_gflops),
            number(k.operational_intensity),
            number(k.achieved_bandwidth_gbps),
            percent(k.fraction_of_roof),
            (k.roofline_position or "not known").replace("_", " "),
        )
    _more(table, len(document.kernels))
    ceilings = _table("Ceiling", ">Value", "Unit", "Kind", "Source", first_wide=False)
    for c in document.ceilings:
        ceilings.add_row(c.name, number(c.value), c.unit, c.kind, plain(c.source))
    return _titled("Roofline", table, Text(), ceilings)


def path(document: DagDocument) -> RenderableType:
    if not document.makespan_ns:
        return _titled("Critical path", Text("not known: " + "; ".join(document.notes)))
    where = _table("On the critical path", ">Time", ">Share")
    for cause, ns in sorted(document.path_by_cause_ns.items(), key=lambda item: -item[1]):
        if ns:
            where.add_row(cause, duration(ns), percent(ns / document.makespan_ns))
    what_if = _table("If it were faster, the run is", ">1.25x", ">2x", ">no time", ">slack")
    for k in [k for k in document.kernels if k.path_ns][:MOST_ROWS]:
        gains = [
            f"{document.makespan_ns / w.makespan_ns:.2f}x" if w.makespan_ns else "-"
            for w in k.what_if
        ]
        what_if.add_row(short_name(k.name, 60), *gains, duration(k.slack_ns))
    return _titled("Critical path", where, Text(), what_if)


def lines(trace: ThreadTraceSummary) -> RenderableType:
    """Where the waves lose their time: source line, instruction, share, why."""
    kernel = short_name(trace.kernel, 60) if trace.kernel else "the traced kernel"
    if not trace.usable or not trace.stall_sites:
        why = trace.reason or "no instruction lost time"
        return _titled(f"Hot lines of {kernel}", Text(f"none: {plain(why)}"))
    table = _table("Source", ">Share", "Instruction", "Why", first_wide=False)
    table.columns[2].ratio = 1
    for site in trace.stall_sites[:HOT_LINES]:
        waits = f", for #{site.waits_for[0].number}" if site.waits_for else ""
        table.add_row(
            short_source(site.source),
            percent(site.share),
            plain(f"#{site.number} {site.isa}"),
            site.reason + waits,
        )
        for load in site.waits_for[:3]:
            where = f"  {short_source(load.source)}"
            text = plain(f"  └ waits for #{load.number} {load.isa}")
            table.add_row(where, percent(load.share), text, "", style="dim")
    return _titled(f"Hot lines of {kernel}", table)


def short_source(source: str | None) -> str:
    """file.cpp:12 of the program's own, without its folders."""
    return plain(own_place(source or "-").rsplit("/", 1)[-1])[:28]


def metrics(profile: ProfileDocument) -> RenderableType:
    if not profile.metrics:
        return _titled("Metrics", Text("none: no counters were collected"))
    table = _table("Metric", ">Value", "Unit", "From")
    group = ""
    for m in profile.metrics:
        if m.group != group:
            group = m.group
            table.add_row(Text(group, style="bold"), "", "", "")
        value = number(m.value) if m.value is not None else "-"
        table.add_row(f"  {m.title}", value, m.unit, plain(m.formula or m.reason or "")[:40])
    return _titled("Metrics of the dominant kernel", table)
