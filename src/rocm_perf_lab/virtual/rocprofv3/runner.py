"""Run a program with the recorder in it, once per pass, and write what rocprofv3 would."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_perf_lab import scratch
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.virtual import device_specs, native
from rocm_perf_lab.virtual.rocprofv3 import (
    agents,
    counters,
    database,
    json_output,
    names,
    tables,
    thread_trace,
)
from rocm_perf_lab.virtual.rocprofv3.counters import Wanted
from rocm_perf_lab.virtual.rocprofv3.log import CLOCK_ORIGIN_NS, ProcessLog, read_logs
from rocm_perf_lab.virtual.rocprofv3.options import Command, Pass
from rocm_perf_lab.virtual.rocprofv3.process_rows import ProcessRows

RECORDER = "librocm_perf_record.so"
# "1": times begin where the clock does and processes are numbered, so that the same program and
# input give the same bytes.
REPRODUCIBLE = "ROCM_PERF_REPRODUCIBLE"
_BETWEEN_PROCESSES_NS = 1_000_000
_GRACE_S = 5.0
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Ended:
    """How the program ended: its exit code, minus the signal where one ended it."""

    code: int
    interrupted: bool = False


def run(command: Command, tell: Tell) -> int:
    """All passes; the program's exit code, that of the first run that failed."""
    device = os.environ.get("ROCM_PERF_DEVICE") or device_specs.DEFAULT
    gpus = agents.gpus(device)
    plans = [(wanted, _plan(wanted, gpus)) for wanted in command.passes]
    for note in command.notes:
        tell(note)
    code = 0
    for wanted, counted in plans:
        with _private_folder() as folder:
            _write_config(folder, wanted, counted)
            ended = _execute(command.program, folder, device, tell)
            _write(wanted, counted, gpus, folder, ended, tell)
        code = code or ended.code
        if ended.interrupted:
            break
    return code


def _plan(wanted: Pass, gpus: Sequence[agents.Gpu]) -> list[Wanted]:
    """The counters of a pass, refused here if they cannot be had."""
    if not wanted.pmc:
        return []
    architectures = sorted({gpu.spec.architecture for gpu in gpus})
    if len(architectures) > 1:
        raise BadInput(f"counters of {' and '.join(architectures)} cannot be mixed in one run")
    counted = counters.resolve(wanted.pmc, counters.catalogue(architectures[0]))
    counters.check_slots(counted, architectures[0])
    return counted


@contextlib.contextmanager
def _private_folder() -> Iterator[Path]:
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(scratch.folder("rocm-perf-record-"))
        except OSError as error:
            raise BadInput(f"no folder for the recording: {error.strerror}", "set TMPDIR") from None
        yield folder


def _write_config(folder: Path, wanted: Pass, counted: Sequence[Wanted]) -> None:
    lines = [f"counter {base}" for base in sorted({b for c in counted for b in c.bases})]
    if wanted.include is not None:
        lines.append(f"include {wanted.include}")
    if wanted.exclude is not None:
        lines.append(f"exclude {wanted.exclude}")
    lines += [f"range {first} {last}" for first, last in wanted.ranges]
    if att := wanted.att:
        lines += ["att", f"target_cu {att.target_cu}", f"se_mask {att.shader_engines}"]
        lines += [f"simd_mask {att.simds}", f"consecutive {att.consecutive}"]
        lines += [f"agent {index + 1}" for index in att.gpus]
    (folder / "config").write_text("".join(f"{line}\n" for line in lines))


def _environment(folder: Path, device: str) -> dict[str, str]:
    library, name = native.tool(RECORDER)
    tools = f"{name} {os.environ.get('HSA_TOOLS_LIB', '')}".strip()
    return {
        **native.environment(device, os.environ),
        "ROCM_PERF_RECORD": str(folder),
        "ROCM_PERF_HIP_TOOL": str(library),
        "HSA_TOOLS_LIB": tools,
        "ROCM_PERF_VIRTUAL_TIMING": "model",  # one clock: the program's events and the recording
    }


def _execute(program: Sequence[str], folder: Path, device: str, tell: Tell) -> Ended:
    environment = _environment(folder, device)
    try:
        process = subprocess.Popen(list(program), env=environment)
    except OSError as error:
        raise BadInput(f"cannot run {program[0]}: {error.strerror}") from None
    asked: list[int] = []

    def pass_on(number: int, _: object) -> None:
        asked.append(number)
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)

    before = {n: signal.signal(n, pass_on) for n in _PASSED_ON}
    try:
        code = _wait(process, asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if asked:
        tell(f"interrupted: what {Path(program[0]).name} did until then is kept")
    elif code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        tell(f"{Path(program[0]).name} was killed by {name}: what it did until then is kept")
    elif code:
        tell(f"{Path(program[0]).name} exited with code {code}")
    return Ended(code, bool(asked))


def _wait(process: subprocess.Popen[bytes], asked: list[int]) -> int:
    """To the program's end; a while after it was asked to end, it is killed."""
    deadline: float | None = None
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(0.5)
        if asked and deadline is None:
            deadline = time.monotonic() + _GRACE_S
        if deadline is not None and time.monotonic() > deadline:
            process.kill()


def _write(
    wanted: Pass,
    counted: list[Wanted],
    gpus: list[agents.Gpu],
    folder: Path,
    ended: Ended,
    tell: Tell,
) -> None:
    # A process that links HIP but never initialises it has no agents.
    logs = [log for log in read_logs(folder) if log.agents]
    recordings = _recordings(logs, wanted, counted, gpus)
    taken: set[Path] = set()
    for recording in recordings:
        base = _base(wanted, recording.log)
        if base in taken:
            base = base.with_name(f"{base.name}_{recording.log.pid}")
            tell(f"several processes: the files of {recording.log.pid} are called {base.name}_*")
        taken.add(base)
        try:
            _write_one(recording, base, tell)
        except (OSError, sqlite3.Error) as error:
            raise BadInput(
                f"cannot write {base}_*: {getattr(error, 'strerror', None) or error}",
                hint="make room, or choose another place with -d",
            ) from None
    _say_what_is_missing(wanted, recordings, ended, tell)


def _write_one(recording: ProcessRows, base: Path, tell: Tell) -> None:
    wanted = recording.wanted
    base.parent.mkdir(parents=True, exist_ok=True)
    if wanted.att:
        thread_trace.write(recording, wanted.directory / wanted.subdirectory, base)
    if "rocpd" in wanted.formats:
        path = base.with_name(f"{base.name}_results.db")
        database.write(recording, path, names.hostname())
        tell(f"Opened result file: {path}")
    if "json" in wanted.formats:
        json_output.write(recording, base.with_name(f"{base.name}_results.json"), names.hostname())
    tables.write(recording, base)


def _recordings(
    logs: list[ProcessLog], wanted: Pass, counted: list[Wanted], gpus: list[agents.Gpu]
) -> list[ProcessRows]:
    reproducible = os.environ.get(REPRODUCIBLE, "") not in ("", "0")
    known = counters.catalogue(gpus[0].spec.architecture) if counted else None
    numbers = {log.pid: i if reproducible else log.pid for i, log in enumerate(logs, 1)}
    made: list[ProcessRows] = []
    for log in logs:
        start = CLOCK_ORIGIN_NS if reproducible else log.real_start
        # A process that began after another had ended comes after it in virtual time too.
        for other in made:
            if other.log.real_end is not None and other.log.real_end <= log.real_start:
                start = max(start, other.log.end + _BETWEEN_PROCESSES_NS)
        log.begin_at(start)
        parent = numbers.get(log.parent, 0 if reproducible else log.parent)
        pid = numbers[log.pid]
        made.append(ProcessRows(log, gpus, wanted, pid, parent, counted, known))
    return made


def _base(wanted: Pass, log: ProcessLog) -> Path:
    """Path of the files, up to `_results.db` and the like."""
    text = names.expand(
        wanted.file or names.DEFAULT,
        pid=log.pid,
        parent=log.parent,
        hostname=names.hostname(),
        program=log.command[0] if log.command else "",
        environment=os.environ,
    )
    return wanted.directory / wanted.subdirectory / text


def _say_what_is_missing(
    wanted: Pass, recordings: list[ProcessRows], ended: Ended, tell: Tell
) -> None:
    if not recordings:
        tell("the program did not use the GPU: no files were written")
        return
    launches = [launch for r in recordings for launch in r.log.launches]
    shown = sorted({r.kernels[i.kernel].shown for r in recordings for i in r.log.launches})
    ran = ", ".join(shown[:5]) + (", ..." if len(shown) > 5 else "") if shown else "none"
    chosen = "no kernel that was launched matches"
    if wanted.att and not any(launch.traced for launch in launches):
        tell(f"nothing was traced: {chosen}; launched were: {ran}")
    elif wanted.att and not any(t.waves for r in recordings for t in r.log.traces.values()):
        where = f"compute unit {wanted.att.target_cu}, engines {wanted.att.shader_engines:#x}"
        tell(f"no wave ran on {where}: try --att-target-cu 0 or more --att-shader-engine-mask")
    if wanted.pmc and not any(launch.counted for launch in launches):
        tell(f"no counters were collected: {chosen}; launched were: {ran}")
    unfinished = sum(len(r.log.launches) - len(r.log.finished) for r in recordings)
    if unfinished:
        tell(f"{unfinished} dispatches did not run to their end and are left out")
