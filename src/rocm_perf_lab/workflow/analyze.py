"""From trace files to documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rocm_perf_lab.analyze import counters, graph, runtime, thread_trace
from rocm_perf_lab.analyze.evidence import analyze_kernels
from rocm_perf_lab.analyze.roofline import roofline
from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding
from rocm_perf_lab.arch.load import lookup
from rocm_perf_lab.arch.model import CeilingKind
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace import att as att_reader
from rocm_perf_lab.trace.model import Trace
from rocm_perf_lab.trace.read import read_traces
from rocm_perf_lab.trace.recording import Recording, group
from rocm_perf_lab.workflow.documents import Documents, Findings, to_documents
from rocm_perf_lab.workflow.provenance import provenance

Tell = Callable[[str], None]

# What is looked for in a folder, best first; the first kind found is taken.
_PATTERNS = (
    ("*_results.db",),
    ("*_results.json", "*_results.json.gz"),
    ("*.db",),
    ("*counter_collection.csv", "*kernel_trace.csv"),
)


def find_traces(paths: Iterable[Path]) -> list[Path]:
    """Files as given; in folders, the trace files anywhere below."""
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        for patterns in _PATTERNS:
            below = sorted(f for pattern in patterns for f in path.rglob(pattern) if f.is_file())
            if below:
                found += below
                break
        else:
            raise BadInput(
                f"no trace file lies under {path}",
                hint="rocprofv3 names its databases <pid>_results.db",
            )
    return found


def analyze_files(
    files: Sequence[Path],
    att: Sequence[Path] = (),
    kernel: str | None = None,
    ceilings: CeilingKind = "measured",
    tell: Tell = lambda _: None,
) -> Documents:
    tell(f"reading {len(files)} file{'s' * (len(files) != 1)}")
    recording = group(read_traces(files))
    return analyze_recording(
        recording, read_att(att, tell), kernel=kernel, ceilings=ceilings, tell=tell
    )


def read_att(
    folders: Sequence[Path], tell: Tell = lambda _: None
) -> tuple[ThreadTraceFinding, ...]:
    if not folders:
        return ()
    tell("reading the thread trace")
    return tuple(
        thread_trace.summarize(att_reader.read(folder)) for folder in att_reader.find(folders)
    )


def analyze_recording(
    recording: Recording,
    att: Sequence[ThreadTraceFinding] = (),
    *,
    kernel: str | None = None,
    ceilings: CeilingKind = "measured",
    notes: Sequence[str] = (),
    started: str | None = None,
    host: str | None = None,
    relative_to: Path | None = None,
    tell: Tell = lambda _: None,
) -> Documents:
    """Pure but for `tell`: the traces of one program in, all documents out."""
    runs, passes = recording.timing_runs, recording.counter_passes
    serialised = not any(len(run.dispatches) for run in runs)
    timed = runs if not serialised else passes[:1]
    times = runtime.measure(timed, kernel)
    traces = [*runs, *passes]
    if times.dominant is None:
        names = ", ".join(sorted({str(s.path) for t in traces for s in t.sources}))
        raise BadInput(
            f"no kernel launch is recorded in {names}",
            hint="record with rocprofv3 --kernel-trace, and check that the program uses the GPU",
        )
    run = representative(timed)
    dominant = times.kernels[times.dominant]
    gpu = lookup(dominant.agent) if dominant.agent else None

    tell("roofline")
    joined = counters.join(None if serialised else run, passes)
    roof = roofline(joined, gpu, ceilings)
    tell("critical path")
    dag = graph.build_and_solve(run)
    tell("verdict")
    if relative_to is not None:
        att = [replace(a, folder=str(_relative(Path(a.folder), relative_to))) for a in att]
    att_of = _by_kernel(att, run)
    findings = Findings(
        times=times,
        gpu=gpu,
        agent=dominant.agent,
        roofline=roof,
        dag=dag,
        kernels=analyze_kernels(run, roof, gpu, att_of),
        att=tuple(att),
        att_of=att_of,
        serialised=serialised,
        notes=_notes(traces, recording, times, notes, serialised),
    )
    return to_documents(
        findings, provenance(traces, dominant.agent, gpu, started, host, relative_to)
    )


def _relative(path: Path, root: Path) -> Path:
    return path.relative_to(root) if path.is_relative_to(root) else path


def representative(runs: Sequence[Trace]) -> Trace:
    """The run whose kernel time is the (lower) median."""
    totals = [int((r.dispatches.end_ns - r.dispatches.start_ns).sum()) for r in runs]
    return runs[int(np.argsort(totals, kind="stable")[(len(runs) - 1) // 2])]


def _by_kernel(findings: Sequence[ThreadTraceFinding], run: Trace) -> dict[str, ThreadTraceFinding]:
    """Each thread trace under the name its kernel has in the run.

    A trace names its kernels itself; where that name is written differently, its dispatch id
    tells (ids are the same from run to run in a deterministic program).
    """
    names = {kernel.name for kernel in run.kernels}
    found: dict[str, ThreadTraceFinding] = {}
    for finding in findings:
        heard = [total.name for total in sorted(finding.kernels, key=lambda t: -t.latency)]
        own = next((name for name in heard if name in names), None)
        if own is None and finding.dispatch_id is not None:
            rows = np.flatnonzero(run.dispatches.dispatch_id == finding.dispatch_id)
            own = run.kernels[run.dispatches.kernel[rows[0]]].name if len(rows) else None
        if own is not None and (own not in found or not found[own].usable):
            found[own] = finding
    return found


def _notes(
    traces: Sequence[Trace],
    recording: Recording,
    times: runtime.Runtime,
    more: Sequence[str],
    serialised: bool,
) -> tuple[str, ...]:
    notes = [*more, *recording.notes, *times.notes]
    notes += [note for trace in traces for note in trace.notes]
    if serialised:
        notes.append(
            "Only counter runs were given: their dispatches were serialised and slowed, so times "
            "are upper bounds and the order of work is not the program's own."
        )
    return tuple(dict.fromkeys(notes))
