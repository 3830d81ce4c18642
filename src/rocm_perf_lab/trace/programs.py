"""Whether recordings are of one program: runs of different ones have no mean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.trace import Trace

# Runs that have this much of their kernels in common are of one program, whatever its command.
_COMMON = 0.5


def one_program(runs: Sequence[Trace]) -> None:
    """Refuse runs of different programs, naming them.

    Two runs are of one program if they share a command line, or most of their kernels.
    """
    programs: list[list[Trace]] = []
    for run in runs:
        if not len(run.dispatches):
            continue
        home = next((p for p in programs if any(_alike(run, other) for other in p)), None)
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


def _alike(a: Trace, b: Trace) -> bool:
    commands = [{p.command for p in t.processes if p.command} for t in (a, b)]
    if commands[0] & commands[1]:
        return True
    names = [{kernel.name for kernel in t.kernels} for t in (a, b)]
    fewest = min(len(names[0]), len(names[1]))
    return len(names[0] & names[1]) >= _COMMON * max(fewest, 1)


def _described(program: Sequence[Trace]) -> str:
    first = program[0]
    command = next((p.command for p in first.processes if p.command), None)
    files = sorted({str(s.path) for trace in program for s in trace.sources})
    what = Path(command.split()[0]).name if command else first.kernels[0].name[:60]
    return f"{what} ({files[0]}{f' and {len(files) - 1} more' if len(files) > 1 else ''})"
