"""From the columns of a thread trace to a finding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.analyze.thread_trace import classes, residency, sums, waits
from rocm_perf_lab.analyze.thread_trace.classes import CLASSES
from rocm_perf_lab.analyze.thread_trace.finding import (
    Lines,
    ThreadTraceFinding,
    Totals,
)
from rocm_perf_lab.analyze.thread_trace.spent import Spent, causes, is_gfx9, lost_cycles
from rocm_perf_lab.analyze.thread_trace.sums import Agreement, Placed, Sums
from rocm_perf_lab.analyze.thread_trace.traffic import traffic
from rocm_perf_lab.trace.att_trace import AttTrace, Code
from rocm_perf_lab.trace.library_code import own_place

NO_WAVE = (
    "The trace is empty: no wave of the kernel ran on the traced compute unit and shader engine."
)
NO_WAVE_HINT = (
    "Record again with another --att-target-cu (0 is worth a try), with a wider "
    "--att-shader-engine-mask, or with a larger problem: a small kernel may not reach that unit."
)


def summarize(trace: AttTrace, architecture: str | None = None) -> ThreadTraceFinding:
    """`architecture` is that of the recording (gfx950), where the trace's own files do not tell."""
    architecture = trace.folder.architecture or architecture
    placed = sums.place(trace)
    line_class = classes.of_lines(trace.code.isa)
    kind = classes.of_instructions(line_class, placed.row, trace.instructions.category)
    ours = sums.grouped(trace, placed, placed.row, len(trace.code))
    agreement = _agreement(trace, ours)
    notes = [*trace.notes, *_doubts(trace, placed, agreement)]
    from_profiler = _trust_profiler(trace, agreement)
    theirs = sums.recorded(trace.code) if from_profiler else None
    lines = _lines(trace.code, theirs or ours, line_class)
    in_lines = np.where(placed.row >= 0, kind, -1)
    by_class = (
        _totals_by(lines.sums, lines.kind, CLASSES)
        if theirs
        else _totals(CLASSES, sums.grouped(trace, placed, in_lines, len(CLASSES)))
    )
    reason, hint = _emptiness(trace, lines.sums)
    lost = lost_cycles(trace, kind)
    durations = residency.wave_durations(trace)
    cycles = durations.total_cycles if durations and len(trace.instructions) else 0
    view = Spent(
        trace, placed, kind, lost, waits.attribute(trace, placed, lost), cycles, architecture
    )
    engines = residency.occupancy(trace.occupancy)
    busy = residency.issue_cycles(trace) if cycles else None
    resident = busy[1] if busy else 0
    recorded, inferred = view.resolved_shares()
    slots = sum(engine.simds_seen * (engine.end - engine.begin) for engine in engines)
    held = sum(engine.mean_waves * (engine.end - engine.begin) for engine in engines)
    by_kernel = _kernels(trace.code, lines)
    mine = _lines_of_traced(lines, by_kernel)
    fractions = view.fractions() if cycles else None
    matrix, no_matrix = view.matrix_cycles()
    finding = ThreadTraceFinding(
        folder=trace.folder.path.name,
        kernel=_traced_kernel(by_kernel, trace),
        symbols=_symbols(trace, lines),
        agent_handle=trace.folder.agent_handle,
        dispatch_id=trace.folder.dispatch_id,
        process_ids=trace.folder.process_ids,
        gfxip=trace.gfxip,
        usable=reason is None,
        reason=reason,
        hint=hint,
        duration_means="stall + issue" if is_gfx9(trace) else "stall + execution",
        sums_from="profiler" if theirs else "waves",
        kernels=by_kernel,
        classes=by_class,
        without_line=_without_line(trace, placed),
        lines=lines,
        lines_of_kernel=int(mine.sum()),
        lines_executed=int((lines.sums.hit[mine] > 0).sum()),
        source_lines=_source_lines(lines),
        agreement=agreement,
        waves=durations,
        span_cycles=residency.span_cycles(trace),
        waves_missing=trace.waves_missing + trace.waves_unreadable,
        state_cycles=residency.state_cycles(trace) if len(trace.states.wave) else None,
        fractions=fractions,
        causes=causes(fractions) if fractions else (),
        stall_sites=view.sites() if cycles else (),
        accesses=view.accesses() if cycles else (),
        small_reads=view.small_reads() if cycles else (),
        exposed_latency=view.exposed() if cycles else (),
        traffic=traffic(trace, placed, kind, view.attribution) if cycles else None,
        fetch_of_between=view.fetch_of_between(),
        waits_recorded_share=recorded,
        waits_inferred_share=inferred,
        issue_utilisation=busy[0] / resident if busy and resident else None,
        valu_issue_utilisation=view.issued("VALU", "TRANS") / resident if resident else None,
        mfma_issue_utilisation=view.issued("MFMA") / resident if resident else None,
        mfma_pipe_utilisation=(
            min(matrix / resident, 1.0) if resident and no_matrix is None else None
        ),
        occupancy=engines,
        mean_waves_per_simd=held / slots if slots else None,
        peak_waves_per_simd=max((e.peak_waves_per_simd for e in engines), default=None),
        shader_mhz=residency.shader_mhz(trace),
        reasons={},
        notes=tuple(notes),
    )
    return replace(finding, reasons=_reasons(finding, no_matrix))


def _traced_kernel(kernels: Sequence[Totals], trace: AttTrace) -> str | None:
    """The kernel with the most cycles; a name the occupancy file gives where code has no label."""
    heard = max(kernels, key=lambda total: (total.latency, total.hit), default=None)
    if heard is not None and heard.hit:
        return heard.name
    names = list(trace.occupancy_kernels.values())
    return names[0] if len(names) == 1 else None


def _lines_of_traced(lines: Lines, kernels: Sequence[Totals]) -> npt.NDArray[np.bool_]:
    """Those of the kernel with the most cycles; all, where code has no label."""
    if not any(total.hit for total in kernels):
        return np.ones(len(lines), dtype=np.bool_)
    most = max(range(len(kernels)), key=lambda k: (kernels[k].latency, kernels[k].hit))
    return np.equal(lines.kernel, most)


def _symbols(trace: AttTrace, lines: Lines) -> tuple[str, ...]:
    """Labels of the code that was executed, as they stand in the file."""
    rows = np.flatnonzero(trace.code.label)
    executed = np.unique(lines.kernel[(lines.sums.hit > 0) & (lines.kernel >= 0)])
    labels = [trace.code.isa[rows[k]].lstrip("; ") for k in executed if k < len(rows)]
    return tuple(dict.fromkeys(labels))


# --- sums and what the profiler says ------------------------------------------------------


def _agreement(trace: AttTrace, ours: Sums) -> tuple[Agreement, ...]:
    if not len(trace.waves):
        return ()
    found = [sums.compare_code(trace.code, ours, "code.json")]
    if trace.stats is not None and trace.folder.stats_csv is not None:
        name = trace.folder.stats_csv.name
        found.append(sums.compare_stats(trace.code, ours, trace.stats, name))
    return tuple(agreement for agreement in found if agreement is not None)


def _trust_profiler(trace: AttTrace, agreement: Sequence[Agreement]) -> bool:
    """The profiler saw every wave; when we did not, or differ, its sums are the ones to show."""
    in_code = next((a for a in agreement if a.source == "code.json"), None)
    return not in_code.whole if in_code else not len(trace.waves)


def _doubts(trace: AttTrace, placed: Placed, agreement: Sequence[Agreement]) -> list[str]:
    doubts = []
    why = []
    if lost := trace.waves_missing + trace.waves_unreadable:
        why.append(f"{lost} wave files are missing or unreadable")
    if unknown := int((placed.row < 0).sum()):
        why.append(f"{unknown} instructions have no line in code.json")
    waves = trace.waves
    stitched = (waves.num_insts >= 0) & (waves.num_stitched < waves.num_insts)
    if stitched.any():
        why.append(f"{int(stitched.sum())} waves were only partly matched to code")
    numbers = trace.code.line[~trace.code.label]
    if repeated := len(numbers) - len(np.unique(numbers)):
        why.append(f"{repeated} line numbers are used twice")
    if trace.rows_dropped:
        why.append(f"{trace.rows_dropped} malformed rows were left out")
    for found in agreement:
        if not found.whole:
            because = "; ".join(why) or "the reason is not visible in the files"
            doubts.append(
                f"The waves' sums equal {found.source} on {found.lines_equal} of "
                f"{found.lines_compared} lines only ({because})."
            )
    if unknown and all(found.whole for found in agreement):
        doubts.append(f"{unknown} executed instructions have no line in code.json.")
    return doubts


def _lines(code: Code, all_sums: Sums, line_class: npt.NDArray[np.int8]) -> Lines:
    keep = np.flatnonzero(~code.label)
    kernel = np.cumsum(code.label)[keep] - 1
    return Lines(
        isa=tuple(code.isa[row] for row in keep),
        source=tuple(code.source[row] for row in keep),
        kernel=kernel.astype(np.int64),
        kind=line_class[keep],
        number=code.line[keep],
        codeobj=code.codeobj[keep],
        vaddr=code.vaddr[keep],
        sums=Sums(*(column[keep] for column in all_sums.columns())),
    )


def _totals(names: Sequence[str], found: Sums) -> tuple[Totals, ...]:
    """Those that were hit, in the order of names."""
    columns = [column.tolist() for column in found.columns()]
    return tuple(
        Totals(name, *counts) for name, *counts in zip(names, *columns, strict=True) if any(counts)
    )


def _totals_by(
    found: Sums, group: npt.NDArray[np.integer], names: Sequence[str]
) -> tuple[Totals, ...]:
    added = Sums(*(sums.add_up(group, column, len(names)) for column in found.columns()))
    return _totals(names, added)


def _kernels(code: Code, lines: Lines) -> tuple[Totals, ...]:
    """By label; the demangled name where there is one. Kept whole: Lines.kernel points here."""
    rows = np.flatnonzero(code.label)
    names = [code.source[row] or code.isa[row].lstrip("; ") for row in rows]
    known = lines.kernel >= 0
    columns = [
        sums.add_up(lines.kernel[known], column[known], len(names)).tolist()
        for column in lines.sums.columns()
    ]
    return tuple(Totals(name, *counts) for name, *counts in zip(names, *columns, strict=True))


def _without_line(trace: AttTrace, placed: Placed) -> Totals:
    group = np.where(placed.row < 0, 0, -1)
    found = sums.grouped(trace, placed, group, 1)
    counts = [int(column[0]) for column in found.columns()]
    return Totals("instructions without a line", *counts)


def _source_lines(lines: Lines) -> tuple[Totals, ...]:
    """By the program's own source line, the most latency first."""
    places = [own_place(source) for source in lines.source]
    names = sorted({place for place in places if place})
    if not names:
        return ()
    index = {name: number for number, name in enumerate(names)}
    group = np.array([index.get(place, -1) for place in places], dtype=np.int64)
    known = group >= 0
    part = Sums(*(column[known] for column in lines.sums.columns()))
    found = _totals_by(part, group[known], names)
    return tuple(sorted(found, key=lambda total: (-total.latency - total.idle, total.name)))


def _emptiness(trace: AttTrace, found: Sums) -> tuple[str | None, str | None]:
    if not trace.thread_trace:
        return "The folder holds PC samples, not a thread trace.", "Record with rocprofv3 --att."
    if int(found.hit.sum()) or len(trace.instructions):
        if not len(trace.instructions) or int(found.hit.sum()):
            return None, None
        return (
            "The trace's instructions match no line of its code, so nothing can be attributed.",
            "The decoder may have read another code object; another --att-target-cu may help.",
        )
    if trace.waves_missing + trace.waves_unreadable and not len(trace.waves):
        return (
            f"None of the {trace.waves_listed} wave files named could be read.",
            "Copy the whole ui_output folder, wave files included.",
        )
    if len(trace.waves):
        return "The traced waves hold no instructions.", NO_WAVE_HINT
    return NO_WAVE, NO_WAVE_HINT


def _reasons(finding: ThreadTraceFinding, no_matrix: str | None) -> dict[str, str]:
    """Why each field that is null is null."""
    no_waves = "no wave with instructions could be read"
    idle_simd = no_waves if finding.fractions is None else "the recorded times make no sense"
    no_waits = no_waves if finding.fractions is None else "no cycles were lost at memory waits"
    no_occupancy = "occupancy.json is missing, broken or without a wave"
    why = {
        "agent_handle": "the folder's name does not tell",
        "dispatch_id": "the folder's name does not tell",
        "gfxip": "filenames.json does not tell; gfx9 is assumed",
        "waves": no_waves,
        "span_cycles": no_waves,
        "fractions": no_waves,
        "traffic": no_waves,
        "state_cycles": "no wave has a timeline",
        "waits_recorded_share": no_waits,
        "waits_inferred_share": no_waits,
        "fetch_of_between": "no time passed between instructions, or code has no addresses",
        "issue_utilisation": idle_simd,
        "valu_issue_utilisation": idle_simd,
        "mfma_issue_utilisation": idle_simd,
        "mfma_pipe_utilisation": no_matrix or idle_simd,
        "kernel": "no executed line has a kernel's name",
        "mean_waves_per_simd": no_occupancy,
        "peak_waves_per_simd": no_occupancy,
        "shader_mhz": "realtime.json is missing or holds no two readings",
    }
    return {name: reason for name, reason in why.items() if getattr(finding, name) is None}
