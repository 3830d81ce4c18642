"""Source and ISA side by side, with each line's cost, stall reason and the loads it waits for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocm_perf_lab.schema.thread_trace import Instruction, ThreadTraceDetail
from rocm_perf_lab.trace.library_code import own_place

MOST_INSTRUCTIONS = 500
AROUND = 12  # instructions kept on each side of a hot one
MOST_SOURCE_LINES = 400
CONTEXT = 3  # source lines on each side of one that cost something


@dataclass(frozen=True)
class IsaRow:
    number: int
    isa: str
    kind: str
    hit: int
    share: float  # of all cycles of the traced waves' instructions
    stall_share: float  # of its own cycles
    place: str  # id of its source line, "" if unknown
    source: str
    reason: str
    waits_for: list[int]  # numbers of instructions
    gap: int = 0  # instructions left out before it


@dataclass(frozen=True)
class SourceRow:
    place: str
    file: str
    line: int
    text: str | None
    share: float
    gap: bool = False


@dataclass(frozen=True)
class SourceView:
    kernel: str
    rows: list[IsaRow]
    source: list[SourceRow]
    instructions: int
    without_text: bool


def source_view(trace: ThreadTraceDetail, texts: Mapping[str, Sequence[str]]) -> SourceView | None:
    """`texts`: source file as the trace names it -> its lines."""
    code = [i for i in trace.instructions if i.hit or i.latency or i.stall]
    code = [i for i in trace.instructions if i.kernel in {j.kernel for j in code}]
    whole = sum(i.latency + i.idle for i in code)
    if not code or not whole:
        return None
    sites = {site.number: site for site in trace.stall_sites}
    places = _places(code)
    kept = _kept(code)
    rows, last = [], -1
    for i in kept:
        one = code[i]
        site = sites.get(one.number)
        rows.append(
            IsaRow(
                number=one.number,
                isa=one.isa,
                kind=one.kind,
                hit=one.hit,
                share=(one.latency + one.idle) / whole,
                stall_share=one.stall / one.latency if one.latency else 0.0,
                place=places.get(own_place(one.source or ""), ""),
                source=one.source or "",
                reason=site.reason if site else "",
                waits_for=[w.number for w in site.waits_for] if site else [],
                gap=i - last - 1 if i > last + 1 else 0,
            )
        )
        last = i
    source = _source(code, places, whole, texts)
    names = [k.name for k in sorted(trace.kernels, key=lambda k: -k.latency)]
    return SourceView(
        kernel=trace.kernel or (names[0] if names else ""),
        rows=rows,
        source=source,
        instructions=len(code),
        without_text=all(row.text is None for row in source),
    )


def place_of(source: str) -> tuple[str, int] | None:
    file, _, line = source.rpartition(":")
    return (file, int(line)) if file and line.isdigit() else None


def _places(code: Sequence[Instruction]) -> dict[str, str]:
    """An id for every source line that instructions name, in order of file and line."""
    known = {s: p for i in code if (p := place_of(s := own_place(i.source or ""))) is not None}
    ordered = sorted(known, key=lambda s: known[s])
    return {source: f"s{n}" for n, source in enumerate(ordered)}


def _kept(code: Sequence[Instruction]) -> list[int]:
    if len(code) <= MOST_INSTRUCTIONS:
        return list(range(len(code)))
    hottest = sorted(range(len(code)), key=lambda i: -(code[i].latency + code[i].idle))
    kept: set[int] = set()
    for i in hottest:
        around = set(range(max(0, i - AROUND), min(len(code), i + AROUND + 1)))
        if len(kept | around) > MOST_INSTRUCTIONS:
            break
        kept |= around
    return sorted(kept)


def _source(
    code: Sequence[Instruction],
    places: Mapping[str, str],
    whole: int,
    texts: Mapping[str, Sequence[str]],
) -> list[SourceRow]:
    cost: dict[tuple[str, int], int] = defaultdict(int)
    ids: dict[tuple[str, int], str] = {}
    for one in code:
        source = own_place(one.source or "")
        where = place_of(source)
        if where is not None:
            cost[where] += one.latency + one.idle
            ids[where] = places[source]
    shown = sorted(sorted(cost, key=lambda w: -cost[w])[:MOST_SOURCE_LINES])
    wanted: dict[str, set[int]] = defaultdict(set)
    for file, line in shown:
        around = CONTEXT if file in texts else 0
        wanted[file] |= set(range(max(1, line - around), line + around + 1))
    by_cost = sorted(wanted, key=lambda f: -sum(c for (g, _), c in cost.items() if g == f))
    rows = []
    for file in by_cost:
        text = texts.get(file)
        last = 0
        for line in sorted(wanted[file]):
            if text is not None and line > len(text):
                continue
            rows.append(
                SourceRow(
                    place=ids.get((file, line), ""),
                    file=file,
                    line=line,
                    text=text[line - 1] if text is not None else None,
                    share=cost.get((file, line), 0) / whole,
                    gap=bool(last) and line > last + 1,
                )
            )
            last = line
    return rows
