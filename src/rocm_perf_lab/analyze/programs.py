"""Whether recordings are of one program: runs of different ones have no mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rocm_perf_lab.analyze.kernel_class import is_helper
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.trace import Trace

# Runs that spend this much of their kernels' time, each, in kernels they share are of one program.
_COMMON = 0.5


def one_program(runs: Sequence[Trace], passes: Sequence[Trace] = ()) -> None:
    """Refuse runs of different programs, naming them.

    Two runs are of one program if they spend most of their time in the same kernels; with the same
    command line one kernel in common is enough, since a library may choose others. The runtime's
    own kernels are every program's, and count only where there are no others. Counter passes may
    hold a few kernels of many: those must be the program's.
    """
    programs: list[list[Trace]] = []
    for run in (*runs, *passes):
        if not len(run.dispatches):
            continue
        part = any(run is other for other in passes)
        home = next((p for p in programs if any(_alike(run, o, part) for o in p)), None)
        if home is None:
            programs.append([run])
        else:
            home.append(run)
    if len(programs) > 1:
        listed = "; ".join(_described(program) for program in programs[:6])
        more = f"; and {len(programs) - 6} more" if len(programs) > 6 else ""
        raise BadInput(
            f"these are recordings of {len(programs)} different programs: {listed}{more}",
            hint="analyze one program at a time; repeated runs, passes and processes of it may mix",
        )


def _alike(a: Trace, b: Trace, part: bool) -> bool:
    """`part`: the first may hold some of its kernels only."""
    times = [_times(trace) for trace in (a, b)]
    common = times[0].keys() & times[1].keys()
    shares = [sum(t[name] for name in common) / max(sum(t.values()), 1) for t in times]
    commands = [{p.command for p in t.processes if p.command} for t in (a, b)]
    if commands[0] & commands[1]:
        return bool(common)
    return shares[0] >= _COMMON and (part or shares[1] >= _COMMON)


def _times(trace: Trace) -> dict[str, int]:
    """Kernel -> time in it, at least 1; the runtime's own only where there are no others."""
    d = trace.dispatches
    total = np.bincount(
        d.kernel, np.maximum(d.end_ns - d.start_ns, 1), minlength=len(trace.kernels)
    )
    times: dict[str, int] = {}
    for kernel, ns in zip(trace.kernels, total.tolist(), strict=True):
        times[kernel.name] = times.get(kernel.name, 0) + int(ns)
    own = {name: ns for name, ns in times.items() if not is_helper(name)}
    return own or times


def _described(program: Sequence[Trace]) -> str:
    first = program[0]
    commands = (p.command.split() for p in first.processes if p.command)
    words = next((command for command in commands if command), None)
    files = sorted({str(s.path) for trace in program for s in trace.sources})
    longest = max(_times(first).items(), key=lambda kernel: kernel[1])[0]
    what = words[0].rpartition("/")[2] if words else longest[:60]
    return f"{what} ({files[0]}{f' and {len(files) - 1} more' if len(files) > 1 else ''})"
