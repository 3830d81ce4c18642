"""From trace files to documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rocm_perf_lab.analyze import counters, graph, runtime, thread_trace
from rocm_perf_lab.analyze.evidence import analyze_kernels
from rocm_perf_lab.analyze.metrics_table import tables
from rocm_perf_lab.analyze.modelled_error import error_classes
from rocm_perf_lab.analyze.operators import operator_times
from rocm_perf_lab.analyze.programs import one_program
from rocm_perf_lab.analyze.roofline import RooflineFinding, roofline
from rocm_perf_lab.analyze.run_time import where_the_time_goes
from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding
from rocm_perf_lab.arch import load, roofline_csv
from rocm_perf_lab.arch.gpu import CeilingKind, Gpu
from rocm_perf_lab.arch.model_roofs import model_roofs
from rocm_perf_lab.arch.modelled_error import model_errors
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.report.units import percent
from rocm_perf_lab.schema.common import DeviceInfo
from rocm_perf_lab.trace import att as att_reader
from rocm_perf_lab.trace.recording import Recording, group
from rocm_perf_lab.trace.trace import Agent, Trace
from rocm_perf_lab.workflow.documents import Documents, thread_trace_documents, to_documents
from rocm_perf_lab.workflow.findings import SERIALISED, Findings
from rocm_perf_lab.workflow.inputs import holds_thread_traces, holds_traces, read_inputs
from rocm_perf_lab.workflow.provenance import provenance
from rocm_perf_lab.workflow.trace_owners import by_kernel

Tell = Callable[[str], None]
# Below this part of the critical path, which kernel happens to be on it means nothing.
_SOME_OF_THE_PATH = 0.05


@dataclass(frozen=True)
class Choices:
    """What a user may ask of an analysis."""

    kernel: str | None = None
    ceilings: CeilingKind = "measured"
    select: runtime.Select = "path"
    gpu: str | None = None  # where the traces do not tell


def analyze_files(
    paths: Sequence[Path],
    att: Sequence[Path] = (),
    choices: Choices | None = None,
    tell: Tell = lambda _: None,
) -> Documents:
    """Files and folders; thread traces in them are read too, unless `att` names some."""
    wanted = choices or Choices()
    asked_for = False
    if wanted.gpu is not None:
        load.gpu(wanted.gpu)  # a name nobody knows is refused before anything is read
    if not paths:
        if not att:
            raise BadInput("there is nothing to analyze", hint="give trace files or --att DIR")
        recording = _recorded_with(att)
        if recording is None:
            gpu = load.gpu(wanted.gpu) if wanted.gpu else None
            return thread_trace_documents(read_att(att, tell, gpu=wanted.gpu), gpu)
    else:
        asked_for = bool(att)
        att = att or [path for path in paths if holds_thread_traces(path)]
        tell(f"reading {len(paths)} input{'s' * (len(paths) != 1)}")
        recording = group(read_inputs(paths))
    one_program(recording.timing_runs, recording.counter_passes)
    traced = read_att(att, tell, recording, wanted.gpu)
    return analyze_recording(recording, traced, wanted, only_own=asked_for, tell=tell)


def _recorded_with(att: Sequence[Path]) -> Recording | None:
    """The dispatches recorded beside thread traces; None where there are none to be had."""
    try:
        recording = group(read_inputs([folder for folder in att if holds_traces(folder)]))
    except BadInput:
        return None
    traces = (*recording.timing_runs, *recording.counter_passes)
    return recording if any(len(trace.dispatches) for trace in traces) else None


def read_att(
    folders: Sequence[Path],
    tell: Tell = lambda _: None,
    recording: Recording | None = None,
    gpu: str | None = None,
) -> tuple[ThreadTraceFinding, ...]:
    """The recording's GPU, or else the one named, is what the traces are of."""
    if not folders:
        return ()
    tell("reading the thread trace")
    traces = (*recording.timing_runs, *recording.counter_passes) if recording else ()
    found = {a.architecture for t in traces for a in t.agents if a.kind == "GPU"}
    named = load.gpu(gpu).architecture if gpu else None
    architecture = found.pop() if len(found) == 1 else named
    return tuple(
        thread_trace.summarize(att_reader.read(folder), architecture)
        for folder in att_reader.find(folders)
    )


@dataclass(frozen=True)
class Timed:
    """What the timing runs say, found once: a profile needs it between its runs."""

    run: Trace  # the one that is looked at further
    times: runtime.Runtime
    dag: graph.DagFinding


def measured(runs: Sequence[Trace], choices: Choices, serialised: bool = False) -> Timed | None:
    """None where no kernel was launched. `serialised`: the runs were counter passes."""
    times = runtime.measure(runs, choices.kernel)
    if times.dominant is None:
        return None
    run = representative(runs)
    dag = graph.serialised(SERIALISED) if serialised else graph.build_and_solve(run)
    return Timed(run, _dominant_by(times, choices.select, dag), dag)


def analyze_recording(
    recording: Recording,
    att: Sequence[ThreadTraceFinding] = (),
    choices: Choices | None = None,
    *,
    device: DeviceInfo | None = None,
    notes: Sequence[str] = (),
    started: str | None = None,
    host: str | None = None,
    relative_to: Path | None = None,
    only_own: bool = False,
    timed: Timed | None = None,
    tell: Tell = lambda _: None,
) -> Documents:
    """Pure but for `tell` and a roofline.csv beside the traces: one program's traces in, all
    documents out. `device` is the one the program was made to run on, where that is known;
    `only_own`: a thread trace of a kernel that did not run is an error, not a note; `timed`: what
    the timing runs say, where that was found out before."""
    wanted = choices or Choices()
    runs, passes = recording.timing_runs, recording.counter_passes
    serialised = not any(len(run.dispatches) for run in runs)
    traces = [*runs, *passes]
    tell("critical path")
    timed = timed or measured(passes[:1] if serialised else runs, wanted, serialised)
    if timed is None:
        names = ", ".join(sorted({str(s.path) for t in traces for s in t.sources}))
        raise BadInput(
            f"no kernel launch is recorded in {names}",
            hint="record with rocprofv3 --kernel-trace, and check that the program uses the GPU",
        )
    run, times, dag = timed.run, timed.times, timed.dag
    assert times.dominant is not None
    dominant = times.kernels[times.dominant]
    gpu, gpu_notes = find_gpu(dominant.agent, wanted.gpu, traces)

    tell("roofline")
    joined = counters.join(None if serialised else run, passes)
    footprints = [t.allocated_bytes for t in traces if t.allocated_bytes is not None]
    roof = roofline(joined, gpu, wanted.ceilings, max(footprints, default=None))
    tell("verdict")
    if relative_to is not None:
        att = [replace(a, folder=str(_relative(Path(a.folder), relative_to))) for a in att]
    owners = by_kernel(att, run)
    if owners.refused and only_own:
        raise BadInput(
            owners.refused[0], hint="record one of this program: rocm-perf profile --att"
        )
    att, att_of = owners.named, owners.by_name
    notes = [*notes, *owners.refused]
    made = provenance(traces, dominant.agent, gpu, started, host, relative_to, device)
    modelled = made.device.kind == "virtual"
    own = _roofs_of_the_model(roof) if modelled else frozenset()
    if own:
        built = f"the virtual GPU is built with the ceilings of {' and '.join(sorted(own))}"
        note = f"{built}: a share of them compares the model with itself"
        roof = replace(roof, notes=(*roof.notes, note))
    kernels = analyze_kernels(run, roof, gpu, att_of, None if serialised else dag)
    run_time = None if serialised else where_the_time_goes(dag, run)
    label = run_time.verdict.label if run_time else None
    findings = Findings(
        times=times,
        gpu=gpu,
        agent=dominant.agent,
        roofline=roof,
        dag=dag,
        tables=tables(roof, gpu, {kernel.name: kernel.occupancy for kernel in kernels}),
        run_time=run_time,
        kernels=kernels,
        att=att,
        att_of=att_of,
        serialised=serialised,
        errors=error_classes(times, kernels, label, model_errors()) if modelled else None,
        roofs_of_the_model=own,
        detailed={name: part for t in traces for name, part in t.detailed.items()},
        sampling_error={n: share for t in traces for n, share in t.sampling_error.items()},
        operators=operator_times(run),
        notes=_notes(traces, recording, times, [*notes, *gpu_notes, *dag.heard], serialised),
    )
    return to_documents(findings, made)


def _roofs_of_the_model(roof: RooflineFinding) -> frozenset[str]:
    return model_roofs(roof.product) if roof.ceilings_wanted == "measured" else frozenset()


def _dominant_by(
    times: runtime.Runtime, select: runtime.Select, dag: graph.DagFinding
) -> runtime.Runtime:
    if dag.scope == "serialised":
        return runtime.dominated(times, select, None, SERIALISED)
    path_ns = {k.name: k.path_ns for k in dag.kernels if not k.is_copy}
    share = sum(path_ns.values()) / dag.makespan_ns if dag.makespan_ns else 0.0
    if share < _SOME_OF_THE_PATH:
        why = f"kernels are only {percent(share)} of the critical path"
        return runtime.dominated(times, select, None, why)
    return runtime.dominated(times, select, path_ns)


def find_gpu(
    agent: Agent | None, named: str | None, traces: Sequence[Trace]
) -> tuple[Gpu | None, list[str]]:
    """The GPU of the recording; the one named where the recording does not tell."""
    found = load.lookup(agent) if agent else None
    notes = []
    if found is None and named is not None:
        found = load.gpu(named)
        notes.append(f"The traces do not name a GPU we know: {named} as asked.")
    elif found is not None and named is not None:
        asked = load.gpu(named)
        if (asked.architecture, asked.product) != (found.architecture, found.product):
            what = found.product or found.architecture
            notes.append(f"The traces were recorded on {what}; --gpu {named} is not used.")
    if found is None:
        return None, notes
    beside = dict.fromkeys(s.path.with_name(roofline_csv.NAME) for t in traces for s in t.sources)
    own = next((ceilings for path in beside if (ceilings := roofline_csv.read(path))), {})
    return roofline_csv.applied(found, own), notes


def _relative(path: Path, root: Path) -> Path:
    return path.relative_to(root) if path.is_relative_to(root) else path


def representative(runs: Sequence[Trace]) -> Trace:
    """The run whose kernel time is the (lower) median."""
    totals = [int((r.dispatches.end_ns - r.dispatches.start_ns).sum()) for r in runs]
    return runs[int(np.argsort(totals, kind="stable")[(len(runs) - 1) // 2])]


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
