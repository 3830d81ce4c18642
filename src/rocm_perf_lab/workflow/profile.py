"""Profile a program: collect under rocprofv3, then analyze what was collected."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from rocm_perf_lab.analyze.runtime import stability
from rocm_perf_lab.analyze.traced_dispatch import usual_call
from rocm_perf_lab.arch.counters import counter_groups
from rocm_perf_lab.arch.load import lookup
from rocm_perf_lab.collect import findings, passes, rocprofv3
from rocm_perf_lab.collect.program import resolve
from rocm_perf_lab.collect.standard_input import Feed, nothing
from rocm_perf_lab.device.target import ProfilingTarget, choose
from rocm_perf_lab.errors import BadInput, PerfLabError
from rocm_perf_lab.schema.common import DeviceInfo
from rocm_perf_lab.trace.merge import merge
from rocm_perf_lab.trace.read import read_traces
from rocm_perf_lab.trace.recording import Recording
from rocm_perf_lab.trace.trace import Trace
from rocm_perf_lab.trace.triton_log import VARIABLE, named, plain_name
from rocm_perf_lab.workflow.analyze import Choices, Timed, analyze_recording, measured, read_att
from rocm_perf_lab.workflow.documents import Documents, host_timed_document
from rocm_perf_lab.workflow.provenance import provenance

Tell = Callable[[str], None]


@dataclass(frozen=True)
class ProfileOptions:
    program: str
    arguments: tuple[str, ...] = ()
    runs: int = 3
    counters: bool = True
    att: bool = False
    details: bool = False
    want: tuple[str, ...] | None = None  # metrics or counters; None: those the verdicts need
    choices: Choices = field(default_factory=Choices)
    timeout_s: float = 600.0
    device: str = "auto"
    rocprof: bool = True
    ignore_failure: bool = False
    stdin: Feed = nothing
    environment: Mapping[str, str] = field(default_factory=dict)  # more for the program's


@dataclass(frozen=True)
class Profiled:
    documents: Documents
    stopped: KeyboardInterrupt | PerfLabError | None  # what ended it before its time


@dataclass
class _Collected:
    """What the runs gave so far."""

    timing: list[Trace] = field(default_factory=list)
    timed: Timed | None = None  # once all of them have run
    wall_ms: list[float] = field(default_factory=list)
    counted: list[Trace] = field(default_factory=list)
    att: tuple[Path, ...] = ()
    notes: list[str] = field(default_factory=list)


def profile_program(
    options: ProfileOptions, folder: Path, tell: Tell = lambda _: None
) -> Documents:
    """For who has no use for half a profile."""
    profiled = profile_so_far(options, folder, tell)
    if profiled.stopped is not None:
        raise profiled.stopped
    return profiled.documents


def profile_so_far(options: ProfileOptions, folder: Path, tell: Tell = lambda _: None) -> Profiled:
    """Run the program as often as needed, keep everything in `folder`, return the verdict.

    What ends the runs early, once one of them was measured, is part of the answer: the verdict
    then rests on what there is.
    """
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    program = resolve(options.program)
    found = rocprofv3.installed()
    target = choose(
        options.device,
        rocprofv3_installed=found is not None,
        rocprofv3_is_wrapper=found is not None and rocprofv3.is_wrapper(found),
    )
    if target.notice is not None:
        tell(target.notice)
    device = DeviceInfo(kind=target.kind, name=target.product, architecture=target.architecture)
    triton = folder / "triton"
    triton.mkdir()
    found_wrong = folder / "findings"
    found_wrong.mkdir()
    job = passes.Job(
        program=(program, *options.arguments),
        folder=folder,
        environment={
            **target.environment,
            **_triton_environment(triton, target.environment),
            findings.VARIABLE: str(found_wrong.resolve()),
            **options.environment,
        },
        timeout_s=options.timeout_s,
        tell=tell,
        stdin=options.stdin,
        ignore_failure=options.ignore_failure,
    )
    got = _Collected()
    stopped: KeyboardInterrupt | PerfLabError | None = None
    try:
        if options.rocprof:
            _collect(job, options, target, triton, got)
        else:
            passes.warm_up(job)
            for number in range(1, options.runs + 1):
                got.wall_ms.append(passes.host_run(job, number, options.runs))
    except (KeyboardInterrupt, PerfLabError) as stop:
        if not (got.timing or got.wall_ms):
            raise
        stopped = stop
        got.notes.append(_incomplete(stop, options, got))
    got.notes += findings.notes(found_wrong)
    if not options.rocprof:
        wall = stability(np.array(got.wall_ms))
        origin = provenance([], None, None, started, platform.node(), device=device)
        return Profiled(host_timed_document(wall, origin, got.notes), stopped)
    recording = Recording(tuple(got.timing), tuple(got.counted))
    documents = analyze_recording(
        recording,
        read_att(got.att, tell, recording),
        options.choices,
        device=device,
        notes=got.notes,
        started=started,
        host=platform.node(),
        relative_to=folder,
        timed=got.timed,
        tell=tell,
    )
    return Profiled(documents, stopped)


def _collect(
    job: passes.Job, options: ProfileOptions, target: ProfilingTarget, triton: Path, got: _Collected
) -> None:
    profiler = rocprofv3.find(target.profiler)
    passes.warm_up(job)
    for number in range(1, options.runs + 1):
        files = passes.timing_run(job, profiler, number, options.runs)
        got.timing.append(_one_run(files, triton))
    timed = measured(got.timing, options.choices)
    if timed is None:
        got.timing.clear()
        raise BadInput(
            f"{Path(job.program[0]).name} launched no kernel",
            hint="check that it uses the GPU: the trace holds no dispatch",
        )
    got.timed = timed
    assert timed.times.dominant is not None
    dominant = timed.times.kernels[timed.times.dominant]
    if options.counters:
        gpu = lookup(dominant.agent) if dominant.agent else None
        if gpu is None:
            got.notes.append("No counters were collected: this GPU's architecture is not known.")
        else:
            groups = counter_groups(gpu.architecture, options.want, options.details)
            done = passes.CounterPasses()
            try:
                passes.counter_passes(job, profiler, groups, options.choices.kernel, done)
            finally:
                got.notes += done.notes
                got.counted += [_one_run(found, triton) for found in done.files]
    if options.att:
        launch = usual_call(timed.run, dominant.name)
        traced = passes.thread_trace(job, profiler, plain_name(dominant.name), launch)
        got.notes += traced.notes
        got.att = traced.folders


def _incomplete(
    stop: KeyboardInterrupt | PerfLabError, options: ProfileOptions, got: _Collected
) -> str:
    runs = len(got.timing) + len(got.wall_ms)
    what = f"{runs} of {options.runs} timing runs"
    if runs == options.runs:
        what = "the timing runs" + (" and counters" if got.counted else "")
    why = stop.message if isinstance(stop, PerfLabError) else str(stop) or "interrupted"
    return f"Not complete: {why}. This rests on {what}."


def _one_run(files: Sequence[Path], triton: Path) -> Trace:
    """All processes of one run. Which run a file belongs to is known here, not guessed."""
    return named(merge(read_traces(files)), triton)


def _triton_environment(folder: Path, given: Mapping[str, str]) -> dict[str, str]:
    """Triton's driver says what made each kernel, and its tuner keeps the warm-up's choice."""
    cached = given.get("TRITON_CACHE_AUTOTUNING") or "1"
    return {VARIABLE: str(folder.resolve()), "TRITON_CACHE_AUTOTUNING": cached}
