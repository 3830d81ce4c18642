"""The summary a person reads: kernels, roofline, critical path, bottleneck, what to do next."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rocm_perf_lab.schema.profile import KernelProfile, ProfileDocument, Stability
from rocm_perf_lab.schema.thread_trace import ThreadTraceSummary

MOST_KERNELS = 12

_BOTTLENECK_WORDS = {
    "memory_bandwidth_bound": "memory bandwidth",
    "latency_bound": "latency",
    "under_occupied": "occupancy",
    "divergence_limited": "divergence",
    "compute_throughput_limited": "compute",
    "lds_bound": "LDS",
    "launch_bound": "launches",
    "unknown": "unknown",
}


def summary(profile: ProfileDocument) -> RenderableType:
    parts: list[RenderableType] = [_head(profile), Text()]
    if profile.kernels:
        parts += [_kernel_table(profile), Text()]
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column(overflow="fold")
    for name, text in _facts(profile):
        facts.add_row(name, text)
    parts.append(facts)
    if profile.bottleneck is not None:
        parts.append(_bullets("Why", profile.bottleneck.evidence))
        parts.append(_bullets("Next", profile.bottleneck.next_steps))
    if profile.notes:
        parts.append(_bullets("Notes", profile.notes))
    return Group(*parts)


def printable(text: str) -> str:
    """Names come from files: nothing in them may steer the terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)


def short_name(name: str, width: int) -> str:
    """A kernel's name in at most `width` columns: no return type, then no parameters, then cut."""
    name = printable(name).removeprefix("void ")
    if len(name) > width:
        name = re.sub(r"\([^()]*\)(?: \[clone .*)?$", "", name)
    return name if len(name) <= width else name[: width - 1] + "…"


def milliseconds(value: float) -> str:
    return f"{value:.4g} ms" if value < 1000 else f"{value:,.1f} ms"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _head(profile: ProfileDocument) -> Text:
    gpu, device = profile.gpu, profile.provenance.device
    name = printable(gpu.name or device.name or "unknown GPU")
    details = [gpu.architecture, f"{gpu.compute_units} CUs" if gpu.compute_units else None]
    text = Text(name, style="bold")
    if any(details):
        text.append(f" ({', '.join(filter(None, details))})")
    if device.kind == "virtual":
        text.append("  VIRTUAL GPU: times and counters are modelled", style="bold yellow")
    return text


def _kernel_table(profile: ProfileDocument) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    table.add_column("Kernel", no_wrap=True, overflow="ellipsis", ratio=1)
    for title in ("Calls", "Total ms", "Share"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("Limited by", no_wrap=True)
    for kernel in profile.kernels[:MOST_KERNELS]:
        table.add_row(
            short_name(kernel.kernel.name, 60),
            f"{kernel.dispatches:,}",
            f"{kernel.total_ms:.4g}",
            _percent(kernel.share),
            "(runtime's own)" if kernel.helper else _limit(kernel.bottleneck.bottleneck),
            style="dim" if kernel.helper else None,
        )
    rest = len(profile.kernels) - MOST_KERNELS
    if rest > 0:
        table.add_row(f"… and {rest} more in profile.json", "", "", "", "")
    table.expand = True
    return table


def _limit(bottleneck: str) -> str:
    return _BOTTLENECK_WORDS.get(bottleneck, bottleneck)


def _facts(profile: ProfileDocument) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    if profile.runtime_ms is not None:
        spread = _spread(profile.stability)
        rows.append(("Runtime", f"{milliseconds(profile.runtime_ms)} of kernel time{spread}"))
    if profile.host_wall_ms is not None:
        wall = f"{milliseconds(profile.host_wall_ms)}, whole program, by the host's clock"
        rows.append(("Host time", wall))
    dominant = _dominant(profile)
    if dominant is not None:
        rows.append(("Dominant", f"{short_name(dominant.kernel.name, 60)}: {_launch(dominant)}"))
        rows.append(("Occupancy", _occupancy(dominant)))
        rows.append(("Roofline", _roofline(dominant)))
    if profile.timeline is not None:
        rows.append(("Critical path", _critical_path(profile)))
    if profile.thread_trace is not None:
        rows.append(("Thread trace", _thread_trace(profile.thread_trace)))
    if profile.bottleneck is not None:
        b = profile.bottleneck
        sure = "" if b.confidence == "none" else f" ({b.confidence} confidence)"
        rows.append(("Bottleneck", b.bottleneck + sure))
    rows += [(field, f"not known: {why}") for field, why in profile.reasons.items()]
    return rows


def _dominant(profile: ProfileDocument) -> KernelProfile | None:
    if profile.kernel is None:
        return None
    return next(k for k in profile.kernels if k.kernel.name == profile.kernel.name)


def _spread(stability: Stability | None) -> str:
    if stability is None or stability.cv is None:
        return ", one run" if stability is not None and stability.runs == 1 else ""
    text = f", {stability.runs} runs, CV {100 * stability.cv:.1f} % ({stability.classification})"
    if stability.classification == "unstable":
        text += ": too noisy to compare, run more or quiet the machine"
    return text


def _launch(kernel: KernelProfile) -> str:
    k = kernel.kernel
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
    if r.vgpr_per_thread is None or r.agpr_per_thread is None:
        registers = f"{r.total_vgpr_per_thread} VGPRs"
    else:
        registers = f"{r.vgpr_per_thread} VGPRs + {r.agpr_per_thread} AGPRs"
    use = f"{registers}, {r.lds_bytes} B LDS"
    return (
        f"{_percent(o.theoretical)} in theory, {o.waves_per_simd:g} waves/SIMD, "
        f"limited by {o.limiter} ({use})"
    )


def _roofline(kernel: KernelProfile) -> str:
    r = kernel.roofline
    if r.roofline_position is None:
        return f"not known: {r.reason}"
    rates = []
    if r.achieved_gflops is not None:
        rates.append(f"{r.achieved_gflops:,.1f} GFLOP/s")
    if r.achieved_bandwidth_gbps is not None:
        rates.append(f"{r.achieved_bandwidth_gbps:,.1f} GB/s")
    if r.operational_intensity is not None:
        rates.append(f"{r.operational_intensity:.3g} FLOP/B")
    where = f"{r.roofline_position.replace('_', ' ')}, {', '.join(rates)}"
    if r.fraction_of_roof is None:
        return where
    return f"{where}: {_percent(r.fraction_of_roof)} of the roof"


def _critical_path(profile: ProfileDocument) -> str:
    t, c = profile.timeline, profile.critical_path
    assert t is not None
    text = f"{milliseconds(t.critical_path_ms)} of a {milliseconds(t.makespan_ms)} run"
    if c is not None and c.critical_path_score is not None:
        text += f"; {_percent(c.critical_path_score)} of the path is the dominant kernel"
    if t.device_only:
        text += "; device-only graph (no host calls recorded)"
    return text


def _thread_trace(trace: ThreadTraceSummary) -> str:
    f = trace.fractions
    if not trace.usable or f is None:
        return f"empty: {trace.reason}"
    waits = {
        "memory": f.wait_vmem,
        "LDS": f.wait_lds,
        "scalar memory": f.wait_smem,
        "barriers": f.barrier,
    }
    longest = sorted(waits.items(), key=lambda item: -item[1])[:2]
    text = "of the waves' cycles " + ", ".join(f"{_percent(v)} wait for {k}" for k, v in longest)
    if trace.stall_sites:
        site = trace.stall_sites[0]
        text += f"; most at {site.isa}"
        if site.source:
            text += f" ({site.source})"
        if site.waits_for:
            text += f", waiting for {site.waits_for[0].isa}"
    return printable(text)


def _bullets(title: str, lines: list[str]) -> RenderableType:
    if not lines:
        return Group()
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for line in lines:
        grid.add_row("-", printable(line))
    return Group(Text(title, style="bold"), Padding(grid, (0, 0, 0, 2)))
