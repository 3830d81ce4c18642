"""The summary a person reads: the run, its kernels, the dominant one, what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from rich import box
from rich.console import Group, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rocm_perf_lab.analyze.memory_levels import WORDS
from rocm_perf_lab.analyze.phases import PhaseKind
from rocm_perf_lab.analyze.runtime import Stability
from rocm_perf_lab.errors import plain
from rocm_perf_lab.report.gain import gain_line
from rocm_perf_lab.report.modelled_error import modelled_error
from rocm_perf_lab.report.names import limiter_words, short_name, short_names
from rocm_perf_lab.report.thread_trace import thread_trace_line
from rocm_perf_lab.report.units import milliseconds, percent, rate, spread, value_with_unit
from rocm_perf_lab.schema.profile import (
    KernelProfile,
    OneTimeStretch,
    ProfileDocument,
    RooflineSummary,
    WhereTheTimeGoes,
)

MOST_KERNELS = 12
MOST_OPERATORS = 8
MOST_ONE_TIME = 3
_LEAST_NAME = 16
_NARROW = 60  # columns

LIMIT_WORDS = {
    "memory_bandwidth_bound": "memory bandwidth",
    "latency_bound": "latency",
    "under_occupied": "occupancy",
    "divergence_limited": "divergence",
    "compute_throughput_limited": "compute",
    "lds_bound": "LDS",
    "vector_memory_issue_bound": "memory issue",
    "barrier_bound": "barriers",
    "instruction_fetch_bound": "code fetch",
    "instruction_issue_bound": "issue",
    "communication_bound": "communication",
    "launch_bound": "launches",
    "kernel_bound": "its kernels",
    "copy_bound": "copies",
    "synchronisation_bound": "synchronisation",
    "host_bound": "host code",
    "stall_bound": "long stalls",
    "start_up_bound": "start-up",
    "device_idle": "an idle device; the recording does not say why",
    "unknown": "unknown",
}
_PIPES = {
    "valu": "vector",
    "mfma": "matrix",
}


def summary(profile: ProfileDocument, width: int = 80, details: bool = False) -> RenderableType:
    parts: list[RenderableType] = [_head(profile), Text()]
    if profile.kernels:
        parts += [_kernel_table(profile, width), Text()]
    if profile.operators:
        parts += [_operator_table(profile, width), Text()]
    parts.append(_grid(_run_facts(profile)))
    run = profile.where_the_time_goes
    own_verdict = run is not None and run.verdict.bottleneck != "kernel_bound"
    if run is not None and own_verdict:
        parts.append(_bullets("Why the run", run.verdict.evidence))
        parts.append(_bullets("Not known of the run", run.verdict.missing))
        parts.append(_bullets("Next", run.verdict.next_steps))
        parts.append(Text())
    parts.append(_grid(_kernel_facts(profile)))
    if profile.bottleneck is not None:
        parts.append(_bullets("Why", profile.bottleneck.evidence))
        parts.append(_bullets("Doubts", profile.bottleneck.doubts))
        parts.append(_bullets("Not known", profile.bottleneck.missing))
        parts.append(_bullets("Next", profile.bottleneck.next_steps))
    if details and profile.metrics:
        parts += [Text(), _metrics_table(profile)]
    if profile.notes:
        parts.append(_bullets("Notes", profile.notes))
    return Group(*parts)


def _head(profile: ProfileDocument) -> Text:
    gpu, device = profile.gpu, profile.provenance.device
    name = plain(gpu.name or device.name or "unknown GPU")
    details = [gpu.architecture, f"{gpu.compute_units} CUs" if gpu.compute_units else None]
    text = Text(name, style="bold")
    if any(details):
        text.append(f" ({', '.join(filter(None, details))})")
    if device.kind == "virtual":
        timed = profile.runtime_ms is not None
        what = "times and counters are modelled" if timed else "nothing here is a GPU's time"
        text.append(f"  VIRTUAL GPU: {what}", style="bold yellow")
    return text


def _kernel_table(profile: ProfileDocument, width: int) -> Table:
    shown = profile.kernels[:MOST_KERNELS]
    parts = [k.detailed_fraction for k in shown]
    sampled = any(part is not None and part < 1 for part in parts)
    titles = ["Calls", "Total ms", "Share", *(["Simulated"] if sampled else []), "Limited by"]
    rows = [
        [
            f"{k.dispatches:,}",
            f"{k.total_ms:.4g}",
            percent(k.share),
            *([percent(k.detailed_fraction)] if sampled else []),
            _limited_by(k),
        ]
        for k in shown
    ]
    if narrow := width < _NARROW:  # a name is worth more than a count
        titles, rows = titles[1:3], [row[1:3] for row in rows]
    columns = list(zip(titles, *rows, strict=True)) if rows else [(t,) for t in titles]
    taken = sum(max(len(cell) for cell in column) + 2 for column in columns)
    names = short_names([k.kernel.name for k in shown], max(width - taken - 1, _LEAST_NAME))
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    table.add_column("Kernel", no_wrap=True, overflow="ellipsis", ratio=1)
    for title in titles:
        justify: JustifyMethod = "left" if title == "Limited by" else "right"
        table.add_column(title, justify=justify, no_wrap=True)
    for kernel, name, row in zip(shown, names, rows, strict=True):
        table.add_row(name, *row, style="dim" if kernel.helper else None)
    rest = profile.kernels[MOST_KERNELS:]
    if rest:
        total = sum(k.total_ms for k in rest)
        share = percent(sum(k.share or 0.0 for k in rest))
        calls = f"{sum(k.dispatches for k in rest):,}"
        cells = [calls, f"{total:.4g}", share, *([""] if sampled else []), ""]
        table.add_row(f"… and {len(rest)} more", *(cells[1:3] if narrow else cells))
    table.expand = True
    return table


def _limited_by(kernel: KernelProfile) -> str:
    if kernel.helper:
        return "(runtime's own)"
    return LIMIT_WORDS.get(kernel.bottleneck.bottleneck, kernel.bottleneck.bottleneck)


def _operator_table(profile: ProfileDocument, width: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    table.add_column("Operator", no_wrap=True, overflow="ellipsis", ratio=1)
    for title in ("Launches", "Device ms", "Share"):
        table.add_column(title, justify="right", no_wrap=True)
    shown = profile.operators[:MOST_OPERATORS]
    names = short_names([o.name for o in shown], max(width - 40, _LEAST_NAME))
    for operator, name in zip(shown, names, strict=True):
        table.add_row(
            name, f"{operator.launches:,}", f"{operator.device_ms:.4g}", percent(operator.share)
        )
    rest = profile.operators[MOST_OPERATORS:]
    if rest:
        table.add_row(
            f"… and {len(rest)} more",
            f"{sum(o.launches for o in rest):,}",
            f"{sum(o.device_ms for o in rest):.4g}",
            percent(sum(o.share for o in rest)),
        )
    table.expand = True
    return table


def _metrics_table(profile: ProfileDocument) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    table.add_column("Metric of the dominant kernel", overflow="fold", ratio=3)
    table.add_column("Value", justify="right", no_wrap=True)
    table.add_column("From", overflow="fold", ratio=4)
    group = None
    for row in profile.metrics:
        if row.group != group:
            table.add_row(Text(row.group, style="bold"), "", "")
            group = row.group
        value = "-"
        if row.value is not None:
            value = percent(row.value) if row.share else value_with_unit(row.value, row.unit)
        table.add_row(f"  {row.title}", value, row.formula or row.reason or "")
    table.expand = True
    return table


def _run_facts(profile: ProfileDocument) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    if profile.runtime_ms is not None:
        spread = _spread(profile.stability)
        if "serialised" in profile.runtime_source:
            spread += ", serialised by counting"
        rows.append(("Runtime", f"{milliseconds(profile.runtime_ms)} of kernel time{spread}"))
    if profile.modelled_error is not None:
        rows.append(("Model error", modelled_error(profile.modelled_error)))
    if profile.host_wall_ms is not None:
        wall = f"{milliseconds(profile.host_wall_ms)}, whole program, by the host's clock"
        rows.append(("Host time", wall))
    run = profile.where_the_time_goes
    if run is not None:
        rows.append(("Time goes to", _where(run)))
        rows += _verdict_rows(run)
    return rows


def _verdict_rows(run: WhereTheTimeGoes) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    if run.one_time:
        rows.append(("Paid once", _paid_once(run)))
    if run.verdict.bottleneck != "kernel_bound" or run.verdict.scope == "steady":
        words = LIMIT_WORDS[run.verdict.bottleneck]
        of = ""
        if run.verdict.scope == "steady" and run.steady is not None:
            busy = percent(run.steady.kernel_busy_share)
            of = f"the {milliseconds(run.steady.makespan_ms)} without that, kernels {busy} of it: "
        rows.append(("The run", f"{of}limited by {words} ({run.verdict.confidence} confidence)"))
    return rows


def _paid_once(run: WhereTheTimeGoes) -> str:
    """The whole, then the stretches by kind; of many first launches the longest."""
    paid = sum(s.ms for s in run.one_time)
    by_kind: dict[str, list[OneTimeStretch]] = {}
    for stretch in sorted(run.one_time, key=lambda s: -s.ms):
        by_kind.setdefault(stretch.kind, []).append(stretch)
    told = []
    for kind in get_args(PhaseKind):
        found = by_kind.get(kind, [])
        total = milliseconds(sum(s.ms for s in found))
        if kind == "warm_up" and found:
            told.append(f"work between and after them: {total}")
        elif len(found) > MOST_ONE_TIME:
            longest = "; ".join(s.words for s in found[: MOST_ONE_TIME - 1])
            what = "first launches" if kind == "first_use" else "stretches of first copies"
            told.append(f"{len(found)} {what}: {total}, the longest: {longest}")
        else:
            told += [s.words for s in found]
    if run.first_round_ms is not None and run.usual_round_ms is not None:
        first, usual = milliseconds(run.first_round_ms), milliseconds(run.usual_round_ms)
        told.append(f"the first round of the work takes {first}, the usual one {usual}")
    return f"{milliseconds(paid)}, {percent(paid / run.makespan_ms)}: {'; '.join(told)}"


def _where(run: WhereTheTimeGoes) -> str:
    known = [(p.words, p.share) for p in run.parts if p.share is not None]
    ranked = sorted(known, key=lambda part: -part[1])
    parts = [f"{words} {percent(share)}" for words, share in ranked if share >= 0.0005]
    text = f"{', '.join(parts)} of the {milliseconds(run.makespan_ms)} from the first operation to "
    text += f"the last; the device is idle {percent(run.device_idle_share)}"
    for part, why in run.reasons.items():
        text += f"; {part.replace('_', ' ')} not known: {why}"
    if run.runtime_kernel_share is not None and run.runtime_kernel_share >= 0.05:
        text += f"; {percent(run.runtime_kernel_share)} of the kernels' time is the runtime's own"
    if run.collective_share is not None and run.collective_share >= 0.01:
        text += f"; collectives are {percent(run.collective_share)} of the kernels' time"
    return text


def _kernel_facts(profile: ProfileDocument) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    dominant = _dominant(profile)
    if dominant is not None:
        name = short_name(dominant.kernel.name, 60)
        why = profile.kernel_selection
        rows.append(("Dominant", f"{name}: {_launch(dominant)} ({why})"))
        rows.append(("Occupancy", _occupancy(dominant)))
        rows.append(("Roofline", _roofline(dominant.roofline)))
    elif profile.kernel is not None:
        rows.append(("Kernel", short_name(profile.kernel.name, 60)))
    if profile.timeline is not None:
        rows.append(("Critical path", _critical_path(profile)))
    if profile.thread_trace is not None:
        rows.append(("Thread trace", thread_trace_line(profile)))
    if profile.bottleneck is not None:
        b = profile.bottleneck
        sure = "" if b.confidence == "none" else f" ({b.confidence} confidence)"
        text = f"{LIMIT_WORDS.get(b.bottleneck, b.bottleneck)}{sure}"
        rows.append(("Bottleneck", f"{text}: {b.meaning}" if b.meaning else text))
        if b.gain is not None:
            rows.append(("Gain at most", gain_line(b.gain)))
    whys: dict[str, list[str]] = {}
    for field, why in profile.reasons.items():
        whys.setdefault(why, []).append(field.replace("_", " "))
    rows += [("Not known", f"{', '.join(fields)}: {why}") for why, fields in whys.items()]
    return rows


def _dominant(profile: ProfileDocument) -> KernelProfile | None:
    if profile.kernel is None:
        return None
    name = profile.kernel.name
    return next((k for k in profile.kernels if k.kernel.name == name), None)


def _spread(stability: Stability | None) -> str:
    if stability is not None and stability.repeats_exactly:
        return f", {stability.runs} runs, modelled: repeats exactly"
    if stability is None or stability.cv is None:
        return ", one run" if stability is not None and stability.runs == 1 else ""
    text = f", {stability.runs} runs, CV {spread(stability.cv)} ({stability.classification})"
    if stability.classification == "unstable":
        text += ": too noisy to compare, run more or quiet the machine"
    return text


def _launch(kernel: KernelProfile) -> str:
    k = kernel.kernel
    if k.grid is None or k.block is None:
        return "launch size not recorded"
    groups = [-(-g // max(b, 1)) for g, b in zip(k.grid, k.block, strict=True)]
    return f"{_size(groups)} workgroups of {_size(k.block)} threads"


def _size(extent: Sequence[int]) -> str:
    """2048, 64 x 32: trailing ones say nothing."""
    used = max((i for i, n in enumerate(extent) if n != 1), default=0) + 1
    return " x ".join(f"{n:,}" for n in extent[:used])


def _occupancy(kernel: KernelProfile) -> str:
    o = kernel.occupancy
    if o.theoretical is None or o.waves_per_simd is None:
        return f"not known: {o.reason}"
    r = kernel.resources
    if r.agpr_per_thread:
        registers = f"{r.vgpr_per_thread} VGPRs + {r.agpr_per_thread} AGPRs"
    else:
        registers = f"{r.total_vgpr_per_thread} VGPRs"
    limiters = limiter_words(o.limiters)
    used = f"({registers}, {r.lds_bytes} B LDS)"
    brings = kernel.grid_waves_per_simd
    if brings is not None and brings < o.waves_per_simd:
        return (
            f"limited by the grid: it brings {brings:.2g} waves to each SIMD, {o.waves_per_simd:g} "
            f"would fit {used}"
        )
    text = (
        f"{percent(o.theoretical)} in theory, {o.waves_per_simd:g} waves/SIMD, "
        f"limited by {limiters} {used}"
    )
    steps = [(name, o.steps[name]) for name in o.limiters if name in o.steps]
    if steps and o.together_waves_per_simd and o.together_waves_per_simd > o.waves_per_simd:
        least = " and ".join(f"{limiter_words([n])} {step.at_most:,}" for n, step in steps)
        text += f"; at {least} it would be {o.together_waves_per_simd:g}"
    return text


def _roofline(r: RooflineSummary) -> str:
    if r.roofline_position is None:
        return f"not known: {r.reason}"
    parts = []
    if r.achieved_bandwidth_gbps is not None:
        of = ", ".join(
            f"{percent(r.achieved_bandwidth_gbps / ceiling)} of {WORDS[name]}'s {ceiling:,.0f}"
            for name, ceiling in sorted(
                r.bandwidth_ceilings_gbps.items(), key=lambda item: item[0] != r.bound_by
            )
            if name in ("hbm", "mall")
        )
        parts.append(f"{r.achieved_bandwidth_gbps:,.0f} GB/s between L2 and fabric ({of})")
    if r.achieved_gflops:
        roof, unit = r.compute_roof_gflops, _pipe(r.compute_roof_type)
        of = f" of {rate(roof)} {unit}" if roof else ""
        parts.append(f"{rate(r.achieved_gflops)}{of}")
    if r.operational_intensity:
        parts.append(f"{r.operational_intensity:.3g} FLOP/B")
    position = r.roofline_position.replace("_", " ")
    text = f"{position}, {', '.join(parts)}" if parts else position
    if r.fraction_of_roof is None:
        return text
    itself = ", which the model is built with" if r.roof_of_the_model else ""
    return f"{text}: {percent(r.fraction_of_roof)} of the roof{itself}"


def _pipe(name: str | None) -> str:
    unit, _, type_ = (name or "").partition("_")
    return f"({_PIPES.get(unit, unit)} {type_.upper()})" if name else ""


def _critical_path(profile: ProfileDocument) -> str:
    t, c = profile.timeline, profile.critical_path
    assert t is not None
    text = f"{milliseconds(t.critical_path_ms)} of a {milliseconds(t.makespan_ms)} run"
    if c is not None and c.critical_path_score is not None:
        text += f"; {percent(c.critical_path_score)} of the path is the dominant kernel"
    if t.device_only:
        text += "; device-only graph (no host calls recorded)"
    return text


def _grid(rows: list[tuple[str, str]]) -> Table:
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column(overflow="fold")
    for name, text in rows:
        facts.add_row(name, plain(text))
    return facts


def _bullets(title: str, lines: list[str]) -> RenderableType:
    if not lines:
        return Group()
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for line in lines:
        grid.add_row("-", plain(line))
    return Group(Text(title, style="bold"), Padding(grid, (0, 0, 0, 2)))
