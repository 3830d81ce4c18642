"""What `rocm-perf replay` tells a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rocm_perf_lab.errors import plain
from rocm_perf_lab.report.units import duration, size
from rocm_perf_lab.schema.replay import (
    GpuTime,
    Output,
    ReplayDiffDocument,
    ReplayDocument,
    ReplayInfoDocument,
    ReserveDocument,
)

MOST_ROWS = 40


def _table(rows: Iterable[tuple[str, str]]) -> str:
    return "".join(f"{name:<12}{plain(text)}\n" for name, text in rows)


def replay(document: ReplayDocument) -> str:
    time = document.gpu_time
    device = document.provenance.device
    modelled = "; times are modelled" if time and time.kind == "modelled" else ""
    restored = (
        f"{size(document.restored_bytes)} restored before each"
        if document.recopy
        else "memory not restored between them"
    )
    warm = f" after {document.warmup} to warm up" if document.warmup else ""
    cold = ", caches flushed" if document.cache == "flush" else ""
    rows = [
        ("kernel", document.kernel),
        ("capture", document.capture),
        *([("build", document.hsaco)] if document.hsaco else []),
        ("device", f"{device.name} ({device.architecture}){modelled}"),
        ("iterations", f"{document.iterations}{warm}, {restored}{cold}"),
        *_time(time),
        (
            "wall time",
            f"{document.wall_s:.3g} s, of that {document.overhead_us:.0f} us per iteration "
            "beside the kernel",
        ),
        *_output(document.output, document),
        *(("note", note) for note in document.notes),
    ]
    return _table(rows)


def _time(time: GpuTime | None) -> Iterator[tuple[str, str]]:
    if time is None:
        yield "GPU time", "not taken (--no-timing)"
        return
    yield "GPU time", f"average {duration(time.mean_ns)}, median {duration(time.median_ns)}"
    interval = ""
    if time.ci95_ns:
        interval = f", 95 % CI {duration(time.ci95_ns[0])} to {duration(time.ci95_ns[1])}"
    yield "", f"min {duration(time.min_ns)}, max {duration(time.max_ns)}{interval}"


def _output(output: Output, document: ReplayDocument) -> Iterator[tuple[str, str]]:
    # Without recopy only the first iteration starts from what was captured.
    which = "" if document.recopy else "of iteration 1: "
    words = {
        "identical": "bit for bit as captured",
        "within_tolerance": "as captured within the tolerance, not bit for bit",
        "different": "NOT as captured",
    }
    yield "output", f"{which}{words[output.verdict]} ({size(output.compared_bytes)} compared)"
    if output.distinct_outputs > 1:
        yield (
            "",
            f"not deterministic: {output.distinct_outputs} different outputs in "
            f"{document.iterations} iterations from the same state",
        )
    if output.diverged is not None:
        yield (
            "",
            (
                "later iterations left other bytes: the kernel works on its own output"
                if output.diverged
                else "later iterations left the same bytes"
            ),
        )
    for row in output.differences:
        place = f"{row.argument} in {row.where}" if row.argument else row.where
        text = f"{place}: {row.differing} of {row.elements} {row.type} differ"
        if row.largest_absolute is not None:
            text += f", by up to {row.largest_absolute:.3g}"
        yield "", text
        for each in row.first[:3]:
            yield "", f"  [{each.index}] expected {each.expected}, got {each.got}"


def reserve(document: ReserveDocument) -> str:
    words = {
        "exact": f"exact: {document.spans} runs of pages, {size(document.bytes)}, all where "
        "they were captured",
        "relocated": "relocated",
        "failed": "failed",
    }
    rows = [("capture", document.capture), ("addresses", words[document.verdict])]
    if document.reason:
        rows.append(("reason", document.reason))
    return _table(rows)


def info(document: ReplayInfoDocument) -> str:
    def extent(three: tuple[int, int, int]) -> str:
        return " x ".join(str(n) for n in three)

    rows = [
        ("kernel", document.kernel),
        ("capture", document.capture),
        ("complete", "yes" if document.complete else "no: " + "; ".join(document.reasons)),
        ("made on", f"{document.captured_on or 'an unknown device'} ({document.isa})"),
        ("grid", f"{extent(document.grid)} work-items in groups of {extent(document.workgroup)}"),
        (
            "resources",
            f"LDS {size(document.group_segment_size)} a group, scratch "
            f"{size(document.private_segment_size)} a work-item",
        ),
        (
            "memory",
            f"{len(document.regions)} regions, {size(document.region_bytes)}; the kernel changed "
            f"{size(document.written_bytes)}; {size(document.stored_bytes)} stored",
        ),
        ("code", f"{document.code_objects} code objects"),
        *(("note", note) for note in document.notes),
    ]
    text = _table(rows)
    if document.arguments:
        text += "\narguments\n"
    for number, argument in enumerate(document.arguments):
        where = f" -> {argument.region}" if argument.region else ""
        name = f"{argument.name or number} ({argument.type or argument.kind})"
        text += plain(f"  {name} = {argument.value}{where}") + "\n"
    if document.regions:
        text += "\nregions\n"
    for region in document.regions[:MOST_ROWS]:
        written = f", {size(region.written_bytes)} written" if region.written_bytes else ""
        text += f"  {region.base}  {size(region.size)}  {region.kind}{written}\n"
    if len(document.regions) > MOST_ROWS:
        text += f"  and {len(document.regions) - MOST_ROWS} more (--json lists all)\n"
    return text


def diff(document: ReplayDiffDocument) -> str:
    if document.same:
        return "no difference\n"
    text = ""
    for title, rows in (
        ("dispatch", document.dispatch),
        ("arguments", document.arguments),
        ("regions", document.regions),
    ):
        for row in rows[:MOST_ROWS]:
            text += f"{title:<12}{plain(f'{row.what}: {row.first} -> {row.second}')}\n"
        if len(rows) > MOST_ROWS:
            text += f"{title:<12}and {len(rows) - MOST_ROWS} more\n"
    for change in document.memory[:MOST_ROWS]:
        line = (
            f"{change.where}: {change.differing_bytes} bytes differ; the first {change.type} is "
            f"[{change.index}]: {change.first} -> {change.second}"
        )
        text += f"{change.when:<12}{plain(line)}\n"
    return text
