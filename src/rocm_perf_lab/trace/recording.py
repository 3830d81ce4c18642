"""Which traces are runs to be timed, which are counter passes, and which belong together.

The rule, applied to timing traces and counter traces apart:

1. A trace with counter values is a counter pass: the profiler serialised its dispatches, so its
   times are no evidence. Every other trace is a timing trace.
2. On one machine, traces whose process windows overlap are processes of one run. So are traces
   one after the other with the same parent process, different commands and their files in one
   folder: a script's children.
   A CSV table is always a run of its own: it may lack times.
   Everything else on one machine is another run, a repeat if the command is the same.
3. Clocks of different machines cannot be compared. Machines that recorded equally many runs of
   the same command are taken as ranks: the first runs of each belong together, then the second
   ones, and so on. Otherwise each machine's runs stay apart.

A recording given twice, in whatever form, counts once. Where any of this is a guess, a note says
so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from rocm_perf_lab.trace.duplicates import once
from rocm_perf_lab.trace.merge import merge
from rocm_perf_lab.trace.trace import Trace


@dataclass(frozen=True)
class Recording:
    """What was given to analyse, sorted out. Runs are in order of time, each one trace."""

    timing_runs: tuple[Trace, ...]
    counter_passes: tuple[Trace, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Part:
    trace: Trace
    machine: str
    commands: frozenset[str]
    parents: frozenset[int]
    start_ns: int
    end_ns: int


def group(traces: Sequence[Trace]) -> Recording:
    traces, notes = once(traces)
    timing = [trace for trace in traces if not trace.counters]
    passes = [trace for trace in traces if trace.counters]
    idle = [trace for trace in timing if not _rows(trace)]
    if idle and len(idle) < len(traces):
        timing = [trace for trace in timing if _rows(trace)]
        names = ", ".join(sorted({str(s.path) for trace in idle for s in trace.sources}))
        notes.append(f"Nothing ran on a GPU in {names}; left out.")
    return Recording(
        timing_runs=_runs(timing, notes, "run"),
        counter_passes=_runs(passes, notes, "counter pass"),
        notes=tuple(dict.fromkeys(notes)),
    )


def _rows(trace: Trace) -> int:
    return len(trace.dispatches) + len(trace.copies) + len(trace.regions)


def _runs(traces: Sequence[Trace], notes: list[str], what: str) -> tuple[Trace, ...]:
    parts = sorted(map(_part, traces), key=lambda p: (p.machine, p.start_ns, p.end_ns))
    machines: dict[str, list[list[_Part]]] = {}
    for part in parts:
        _place(part, machines.setdefault(part.machine, []), notes)
    _doubt_repeats(machines, notes, what)
    if len(machines) > 1:
        sessions = list(machines.values())
        commands = {frozenset().union(*(p.commands for p in run)) for m in sessions for run in m}
        if len({len(runs) for runs in sessions}) == 1 and len(commands) == 1 and any(commands):
            ranks = [list(chain(*together)) for together in zip(*sessions, strict=True)]
            notes.append(
                f"Traces of {len(machines)} machines are taken as ranks of the same {what}; their "
                "clocks differ, so times across machines are not compared."
            )
            return tuple(merge([part.trace for part in run]) for run in ranks)
        notes.append(
            f"Traces of {len(machines)} machines do not match rank by rank and are kept apart."
        )
    ordered = [run for runs in machines.values() for run in runs]
    return tuple(merge([part.trace for part in run]) for run in ordered)


def _part(trace: Trace) -> _Part:
    processes = trace.processes
    starts = [p.start_ns for p in processes if p.start_ns is not None]
    ends = [p.end_ns for p in processes if p.end_ns is not None]
    machine = next(
        (p.machine_id or p.hostname for p in processes if p.machine_id or p.hostname), ""
    )
    start = min(starts, default=0)
    return _Part(
        trace=trace,
        machine=machine or "",
        commands=frozenset(p.command for p in processes if p.command),
        parents=frozenset(p.parent_pid for p in processes if p.parent_pid and p.parent_pid > 1),
        start_ns=start,
        end_ns=max(ends, default=start),
    )


def _folders(part: _Part) -> frozenset[str]:
    """Where its files lie: what one call of the profiler recorded lies together."""
    return frozenset(str(source.path.parent) for source in part.trace.sources)


def _place(part: _Part, runs: list[list[_Part]], notes: list[str]) -> None:
    """Add a part (they come by start) to the run it belongs to, or start another run."""
    if runs:
        last = runs[-1]
        tables = any(s.format == "csv" for p in (part, *last) for s in p.trace.sources)
        if part.start_ns < max(p.end_ns for p in last) and not tables:
            last.append(part)
            return
        siblings = frozenset().union(*(p.parents for p in last)) & part.parents
        known = frozenset().union(*(p.commands for p in last))
        together = _folders(part) & frozenset().union(*map(_folders, last))
        if siblings and together and part.commands and known and not part.commands & known:
            notes.append(
                "Processes that ran one after the other under one parent with different commands "
                "are taken as one run."
            )
            last.append(part)
            return
    runs.append([part])


def _doubt_repeats(machines: dict[str, list[list[_Part]]], notes: list[str], what: str) -> None:
    for runs in machines.values():
        commands = {frozenset().union(*(p.commands for p in run)) for run in runs} - {frozenset()}
        if len(commands) > 1:
            notes.append(
                f"The {what}s do not all have the same command line, so they may be different "
                "programs and not repeats."
            )
