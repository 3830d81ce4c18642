"""Profile a program: collect under rocprofv3, then analyze what was collected."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from rocm_perf_lab.analyze import graph, runtime
from rocm_perf_lab.analyze.runtime import stability
from rocm_perf_lab.arch.counters import counter_groups
from rocm_perf_lab.arch.load import lookup
from rocm_perf_lab.collect import passes, rocprofv3
from rocm_perf_lab.device.target import choose
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.schema.common import DeviceInfo
from rocm_perf_lab.trace.merge import merge
from rocm_perf_lab.trace.model import Trace
from rocm_perf_lab.trace.read import read_traces
from rocm_perf_lab.trace.recording import Recording
from rocm_perf_lab.trace.triton_log import VARIABLE, named, plain_name
from rocm_perf_lab.workflow.analyze import (
    Choices,
    analyze_recording,
    dominant_by,
    read_att,
    representative,
)
from rocm_perf_lab.workflow.documents import Documents, host_timed_document
from rocm_perf_lab.workflow.provenance import provenance

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    program: str
    arguments: tuple[str, ...] = ()
    runs: int = 3
    counters: bool = True
    att: bool = False
    details: bool = False
    choices: Choices = field(default_factory=Choices)
    timeout_s: float = 600.0
    device: str = "auto"
    rocprof: bool = True


def profile_program(options: Options, folder: Path, tell: Tell = lambda _: None) -> Documents:
    """Run the program as often as needed, keep everything in `folder`, return the verdict."""
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    program = passes.resolve(options.program)
    found = rocprofv3.installed()
    target = choose(
        options.device,
        rocprofv3_installed=found is not None,
        rocprofv3_is_wrapper=found is not None and rocprofv3.is_wrapper(found),
    )
    if target.notice is not None:
        tell(target.notice)
    device = DeviceInfo(kind=target.kind, name=target.product, architecture=target.architecture)
    kernel = options.choices.kernel
    triton = folder / "triton"
    triton.mkdir()
    job = passes.Job(
        program=(program, *options.arguments),
        folder=folder,
        environment={**target.environment, **_triton_environment(triton, target.environment)},
        timeout_s=options.timeout_s,
        tell=tell,
    )
    if not options.rocprof:
        wall = np.array(passes.host_runs(job, options.runs))
        made = provenance([], None, None, started, platform.node(), device=device)
        return host_timed_document(stability(wall), made)

    profiler = rocprofv3.find(target.profiler)
    passes.warm_up(job)
    files = passes.timing_runs(job, profiler, options.runs)
    timing = [_one_run(written, triton) for written in files]
    times = runtime.measure(timing, kernel)
    if times.dominant is None:
        raise BadInput(
            f"{Path(program).name} launched no kernel",
            hint="check that it uses the GPU: the trace holds no dispatch",
        )
    if options.att and options.choices.select == "path":
        dag = graph.build_and_solve(representative(timing))
        times = dominant_by(times, options.choices.select, dag)
    else:
        times = runtime.dominated(times, options.choices.select)
    assert times.dominant is not None
    dominant = times.kernels[times.dominant]
    notes: list[str] = []
    counted: list[Trace] = []
    if options.counters:
        gpu = lookup(dominant.agent) if dominant.agent else None
        if gpu is None:
            notes.append("No counters were collected: this GPU's architecture is not known.")
        else:
            groups = counter_groups(gpu.architecture, details=options.details)
            collected = passes.counter_passes(job, profiler, groups, kernel)
            notes += collected.notes
            counted = [_one_run(files, triton) for files in collected.files]
    att: tuple[Path, ...] = ()
    if options.att:
        traced = passes.thread_trace(job, profiler, plain_name(dominant.name))
        notes += traced.notes
        att = traced.folders
    return analyze_recording(
        Recording(tuple(timing), tuple(counted)),
        read_att(att, tell),
        options.choices,
        device=device,
        notes=notes,
        started=started,
        host=platform.node(),
        relative_to=folder,
        tell=tell,
    )


def _one_run(files: Sequence[Path], triton: Path) -> Trace:
    """All processes of one run. Which run a file belongs to is known here, not guessed."""
    return named(merge(read_traces(files)), triton)


def _triton_environment(folder: Path, given: Mapping[str, str]) -> dict[str, str]:
    """Triton's driver says what made each kernel, and its tuner keeps the warm-up's choice."""
    cached = given.get("TRITON_CACHE_AUTOTUNING") or "1"
    return {VARIABLE: str(folder.resolve()), "TRITON_CACHE_AUTOTUNING": cached}
