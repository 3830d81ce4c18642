"""The runs of one profile, in order: warm-up, timing, counters, thread trace.

Timing runs and counter runs are separate: counter collection serialises dispatches.
"""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rocm_perf_lab.collect import process, rocprofv3
from rocm_perf_lab.collect.standard_input import Feed, nothing
from rocm_perf_lab.errors import BadInput, MissingTool, TimedOut

Tell = Callable[[str], None]

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
_LEAST_BYTES = 64 << 10  # a disk with less is full


@dataclass(frozen=True)
class Job:
    """What to run, and where its files go."""

    program: tuple[str, ...]  # resolved program and its arguments
    folder: Path
    environment: Mapping[str, str]
    timeout_s: float
    tell: Tell
    stdin: Feed = nothing
    ignore_failure: bool = False  # a program that exits with another code than 0 is measured too

    def log(self, name: str) -> Path:
        logs = self.folder / "logs"
        logs.mkdir(exist_ok=True)
        return logs / f"{name}.txt"

    def output(self, name: str) -> Path:
        out = self.folder / name
        out.mkdir()
        return out


@dataclass
class CounterPasses:
    """Per pass, the files its processes wrote; and what went wrong with the others."""

    files: list[tuple[Path, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ThreadTraces:
    folders: tuple[Path, ...]
    notes: tuple[str, ...]


def host_run(job: Job, number: int, runs: int) -> float:
    """The program alone: wall milliseconds by the host's clock."""
    return _plain(job, f"run {number} of {runs}").wall_ms


def warm_up(job: Job) -> None:
    _plain(job, "warm-up")


def timing_run(job: Job, profiler: rocprofv3.Profiler, number: int, runs: int) -> list[Path]:
    """The trace files one run wrote."""
    name = f"trace-{number}"
    out = job.output(name)
    command = rocprofv3.trace_command(profiler, out, job.program)
    outcome = _run(job, command, name, f"timing run {number} of {runs}")
    found = rocprofv3.outputs(out)
    if not outcome.ok and not (job.ignore_failure and outcome.exit_code is not None and found):
        raise _failure(job, outcome, f"under rocprofv3 (timing run {number} of {runs})")
    if not found:
        raise BadInput(
            f"rocprofv3 wrote no trace in timing run {number} of {runs}: "
            "the program launched no kernel, or never initialised HIP",
            hint=f"its last lines were:\n  {outcome.tail()}",
        )
    return found


def counter_passes(
    job: Job,
    profiler: rocprofv3.Profiler,
    groups: Sequence[Sequence[str]],
    kernel_regex: str | None,
    done: CounterPasses,
) -> None:
    """One run per group, or one for all where the version takes several; `done` grows with each.

    A pass that fails costs its counters, not the profile: they become null with this reason. A
    counter that the profiler names when it fails costs itself only.
    """
    batches = [groups] if profiler.repeats_pmc else [[group] for group in groups]
    for i, batch in enumerate(batches, 1):
        name = f"counters-{i}"
        out = job.output(name)
        what = f"counter pass {i} of {len(batches)}"
        command = rocprofv3.counter_command(profiler, batch, out, job.program, kernel_regex)
        outcome = _run(job, command, name, what)
        found = rocprofv3.outputs(out)
        failed = not outcome.ok and not (job.ignore_failure and outcome.exit_code is not None)
        refused = [] if not failed else _named(outcome, batch)
        if refused:
            lines = [line.strip() for line in outcome.tail(3).split("\n")]
            said = next(line for line in lines if any(c in line for c in refused))
            done.notes.append(f"left out of counter pass {i}: {said}")
            rest = [[c for c in group if c not in refused] for group in batch]
            out = job.output(f"{name}-again")
            command = rocprofv3.counter_command(profiler, rest, out, job.program, kernel_regex)
            outcome = _run(job, command, f"{name}-again", what)
            found = rocprofv3.outputs(out)
            failed = not outcome.ok
        if failed or not found:
            what = outcome.sentence(job.timeout_s) if not outcome.ok else "wrote no counters"
            counters = ", ".join(c for group in batch for c in group)
            note = f"counter pass {i} {what}; not collected: {counters}"
            done.notes.append(note + _last_lines(outcome))
            continue
        done.files += by_pass(out, found)


def _last_lines(outcome: process.Ended) -> str:
    lines = [line.strip() for line in outcome.tail(3).split("\n")]
    return f"; its last lines: {' / '.join(filter(None, lines))}" if any(lines) else ""


def _named(outcome: process.Ended, batch: Sequence[Sequence[str]]) -> list[str]:
    """Counters asked for that the last lines name; none where they name all, or none."""
    words = set(re.findall(r"\w+", outcome.tail(3)))
    asked = [c for group in batch for c in group]
    named = [c for c in dict.fromkeys(asked) if c in words]
    return named if len(named) < len(set(asked)) / 2 else []


def by_pass(out: Path, files: Sequence[Path]) -> list[tuple[Path, ...]]:
    """Files of one rocprofv3 run by pass: several passes lie in pass_<n>/ or pmc_<n>/."""
    passes: dict[str, list[Path]] = {}
    for file in files:
        folder = file.relative_to(out).parts[0]
        own = folder if re.fullmatch(r"(pass|pmc)_\d+", folder) else ""
        passes.setdefault(own, []).append(file)
    return [tuple(found) for found in passes.values()]


def thread_trace(
    job: Job, profiler: rocprofv3.Profiler, kernel: str, launch: int | None = None
) -> ThreadTraces:
    """One thread-trace run limited to `kernel`, and to one launch of it where the profiler can;
    once more on CU 0 if no wave was caught, and then of any launch."""
    if not profiler.takes_att:
        raise MissingTool(
            "the installed rocprofv3 has no --att (thread trace)",
            hint="ROCm 7.0 or later has it; run without --att",
        )
    notes: list[str] = []
    regex = rocprofv3.kernel_regex(kernel)
    attempts: list[tuple[str, int | None, int | None]] = [("att", None, launch)]
    attempts.append(("att-cu0", 0, launch))
    if launch is not None and launch > 1 and profiler.takes_ranges:
        attempts.append(("att-any", None, None))
    for name, target_cu, which in attempts:
        out = job.output(name)
        command = rocprofv3.att_command(profiler, out, job.program, regex, target_cu, which)
        outcome = _run(job, command, name, "thread trace" if target_cu is None else "on CU 0")
        if not outcome.ok and not (job.ignore_failure and outcome.exit_code is not None):
            said = outcome.sentence(job.timeout_s)
            notes.append(f"the thread-trace run {said}{_last_lines(outcome)}")
            break
        if any(out.rglob("se*_sm*_sl*_wv*.json")):
            return ThreadTraces((out,), ())
        notes.append(f"no wave of {kernel} was traced on {'CU 0' if target_cu == 0 else 'CU 1'}")
    return ThreadTraces((), tuple(notes))


def _plain(job: Job, what: str) -> process.Ended:
    outcome = _run(job, job.program, what.replace(" ", "-"), what)
    if not outcome.ok and not (job.ignore_failure and outcome.exit_code is not None):
        raise _failure(job, outcome, f"({what}, without a profiler)")
    return outcome


def _run(job: Job, command: Sequence[str], name: str, what: str) -> process.Ended:
    job.tell(what)
    try:
        with job.stdin() as given:
            outcome = process.run(command, job.log(name), job.environment, job.timeout_s, given)
    except OSError as error:
        if error.errno in _DISK and error.errno is not None:
            raise _disk(job.folder, error.errno) from None
        raise BadInput(f"cannot run {command[0]}: {error.strerror}") from None
    if outcome.cut_bytes:
        kept = f"{process.LOG_BYTES >> 20} MiB and the end"
        job.tell(f"{what}: of the output the log keeps the first {kept}")
    return outcome


def _failure(job: Job, outcome: process.Ended, where: str) -> BadInput:
    tail = outcome.tail()
    for full in (job.folder, Path(tempfile.gettempdir())):
        # A program, or its profiler, that fails on a full disk is not the one to blame.
        if outcome.log_errno in _DISK or _space(full) < _LEAST_BYTES:
            return _disk(full, outcome.log_errno or errno.ENOSPC, tail)
    program = Path(job.program[0]).name
    hint = f"its last lines were:\n  {tail}" if tail else "it wrote nothing"
    if outcome.exit_code is None:
        hint += "\n  a longer limit: --timeout SECONDS"
    elif not outcome.ok:
        hint += "\n  --ignore-failure profiles it nevertheless"
    kind = TimedOut if outcome.exit_code is None else BadInput
    return kind(f"{program} {outcome.sentence(job.timeout_s)} {where}", hint=hint)


def _disk(folder: Path, number: int, tail: str = "") -> BadInput:
    hint = "make room, or choose another place with --out (and TMPDIR)"
    return BadInput(
        f"{folder} cannot be written: {os.strerror(number)}",
        hint=f"{hint}\n  the last lines were:\n  {tail}" if tail else hint,
    )


def _space(folder: Path) -> int:
    try:
        found = os.statvfs(folder)
    except OSError:
        return _LEAST_BYTES
    return found.f_bavail * found.f_frsize
