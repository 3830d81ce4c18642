"""Run a program with the capture library in it and keep one of its dispatches."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from rocm_perf_lab import __version__, scratch
from rocm_perf_lab.analyze.kernel_pattern import kernel_pattern
from rocm_perf_lab.collect import process, run_folder
from rocm_perf_lab.collect.program import resolve
from rocm_perf_lab.collect.standard_input import Feed, nothing
from rocm_perf_lab.device.target import ProfilingTarget, choose
from rocm_perf_lab.errors import BadInput, MissingTool, Refused, UsageError
from rocm_perf_lab.replay import finish, native_log
from rocm_perf_lab.replay.format import ROOT
from rocm_perf_lab.replay.hash_ahead import hashing
from rocm_perf_lab.report.units import size
from rocm_perf_lab.schema.capture import CaptureDocument
from rocm_perf_lab.schema.common import DeviceInfo, Provenance
from rocm_perf_lab.virtual import native
from rocm_perf_lab.workflow.provenance import without_secrets

LIBRARY = "librocm_perf_capture.so"
_POLL_S = 0.2
_NAMED = 8  # kernels in a sentence

Tell = Callable[[str], None]


@dataclass(frozen=True)
class CaptureOptions:
    program: str
    arguments: tuple[str, ...]
    kernel: str
    index: int = 0
    out: Path | None = None  # None: a new folder under ROOT
    max_bytes: int | None = None
    timeout_s: float = 600.0
    device: str = "auto"
    compress: bool = False
    stdin: Feed = nothing


@dataclass(frozen=True)
class Made:
    folder: Path
    manifest: CaptureDocument
    failure: str | None  # how the program ended afterwards, if not well


def capture_program(options: CaptureOptions, tell: Tell = lambda _: None) -> Made:
    _check_regex(options.kernel)
    program = resolve(options.program)
    target = choose(options.device, rocprofv3_installed=True)
    if target.notice is not None:
        tell(target.notice)
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    with _new_folder(options.out, Path(program).name) as new:
        try:
            with hashing(new.folder) as hashes:
                outcome = _run(program, options, target, new.folder, tell)
            manifest = finish.finish(
                new.folder,
                provenance(target, started, new.folder),
                compress=options.compress,
                hashed=hashes.known(),
            )
        except OSError as error:
            raise BadInput(
                f"the capture cannot be written: {error.strerror or error}",
                hint="make room, or choose another place with --out",
            ) from None
    assert new.final is not None
    return Made(new.final, manifest, outcome)


def _check_regex(pattern: str) -> None:
    kernel_pattern(pattern)
    if "\n" in pattern or not pattern:
        raise UsageError("--kernel must be a regular expression on one line")


@contextlib.contextmanager
def _new_folder(out: Path | None, label: str) -> Iterator[run_folder.Run]:
    """A folder to fill that gets its name, and becomes the newest capture, only in the end."""
    if out is None:
        with run_folder.new_run(Path(ROOT), label) as run:
            yield run
        assert run.final is not None
        run.final.chmod(0o700)
        return
    if out.is_symlink() or (out.exists() and not (out.is_dir() and not any(out.iterdir()))):
        raise BadInput(f"{out} exists already", hint="choose another place with --out")
    with contextlib.ExitStack() as stack:
        try:
            out.absolute().parent.mkdir(parents=True, exist_ok=True)
            partial = stack.enter_context(scratch.folder(".partial-", out.absolute().parent))
        except OSError as error:
            raise BadInput(f"cannot write to {out.parent}: {error.strerror}") from None
        run = run_folder.Run(partial)
        yield run
        partial.rename(out)
        run.final = out


def _environment(target: ProfilingTarget, folder: Path) -> dict[str, str]:
    _, name = native.tool(LIBRARY)
    tools = f"{os.environ.get('HSA_TOOLS_LIB', '')} {name}".strip()
    return {
        **target.environment,
        "ROCM_PERF_CAPTURE": str(folder.absolute()),
        "HSA_TOOLS_LIB": tools,
        # ROCm 6.2 and later look at HSA_TOOLS_LIB only if nothing else registers.
        "HSA_TOOLS_DISABLE_REGISTER": "1",
    }


def _run(
    program: str, options: CaptureOptions, target: ProfilingTarget, folder: Path, tell: Tell
) -> str | None:
    """Run the program; a sentence if it did not end well although the capture was made."""
    limit = options.max_bytes
    config = [f"kernel {options.kernel}", f"index {options.index}"]
    config += [f"max {limit}"] if limit is not None else []
    with observed(program, options, config, target, folder, tell) as (outcome, sentence):
        if (folder / native_log.LINES).exists():
            return None if outcome.ok else sentence
        raise why_not(options, folder, sentence, outcome)


@contextlib.contextmanager
def observed(
    program: str,
    options: CaptureOptions,
    config: Sequence[str],
    target: ProfilingTarget,
    folder: Path,
    tell: Tell,
) -> Iterator[tuple[process.Ended, str]]:
    """Run the program with the library in it: how it ended, and that as a sentence."""
    (folder / native_log.CONFIG).write_text("".join(f"{line}\n" for line in config), "utf-8")
    environment = _environment(target, folder)
    tell(f"running {Path(program).name}")
    with scratch.folder("rocm-perf-") as temporary:
        log = temporary / "log"
        with _told(folder, tell):
            try:
                with options.stdin() as given:
                    outcome = process.run(
                        [program, *options.arguments], log, environment, options.timeout_s, given
                    )
            except OSError as error:
                raise BadInput(f"cannot run {program}: {error.strerror}") from None
        yield outcome, f"{Path(program).name} {outcome.sentence(options.timeout_s)}"


@contextlib.contextmanager
def _told(folder: Path, tell: Tell) -> Iterator[None]:
    """Say what the library does while the program runs."""
    over = threading.Event()

    def watch() -> None:
        said, last = 0, False
        while not last:
            last = over.wait(_POLL_S)
            said += _tell_new(native_log.lines(folder, native_log.STATUS)[said:], tell)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _tell_new(rows: list[list[str]], tell: Tell) -> int:
    for row in rows:
        if row[0] == "found" and len(row) == 4:
            kernel = native_log.string(row[3])
            tell(f"capturing {kernel}: {row[1]} regions, at most {size(int(row[2]))}")
        elif row[0] == "captured":
            tell("captured; the program runs on to its end")
    return len(rows)


def why_not(
    options: CaptureOptions, folder: Path, sentence: str, outcome: process.Ended
) -> BadInput | Refused | MissingTool:
    status = {row[0]: row for row in native_log.lines(folder, native_log.STATUS) if row}
    tail = f"its last lines were:\n  {outcome.tail()}" if outcome.tail() else "it wrote nothing"
    for row in native_log.lines(folder, "problem"):
        if row[0] == "version":
            return MissingTool(native_log.string(row[1]))
        return BadInput(
            f"--kernel {options.kernel} is not understood: {native_log.string(row[1])}",
            hint="kernel names are matched with ECMAScript regular expressions",
        )
    if "refused" in status:
        found = int(status["found"][2])
        limit = options.max_bytes or 0
        return Refused(
            f"the capture would take up to {size(found)}, more than --max-size "
            f"{size(limit)}; nothing was written",
            hint="allow more with --max-size",
        )
    if "failed" in status:
        return BadInput(
            f"the capture cannot be written: {native_log.string(status['failed'][1])}",
            hint="make room, or choose another place with --out",
        )
    if "fault" in status:
        return BadInput(
            f"the kernel did not run to its end (HSA status {status['fault'][1]}): there is "
            "nothing to compare a replay with",
            hint=tail,
        )
    if "found" in status:
        return BadInput(f"{sentence} while the capture was being made", hint=tail)
    if not outcome.ok:
        return BadInput(f"{sentence} before a kernel matched", hint=tail)
    return _never_matched(options, folder, "loaded" in status)


def _never_matched(options: CaptureOptions, folder: Path, loaded: bool) -> BadInput:
    program = Path(options.program).name
    if not loaded:
        return BadInput(f"{program} never used the GPU", hint="the HSA runtime was not started")
    names = {
        native_log.string(row[0]): native_log.string(row[1])
        for row in native_log.lines(folder, native_log.KERNELS)
        if len(row) == 2
    }
    if not names:
        return BadInput(f"{program} launched no kernel")
    counts = {
        native_log.string(row[1]): int(row[0])
        for row in native_log.lines(folder, native_log.COUNTS)
        if len(row) == 2
    }
    pattern = re.compile(options.kernel)
    matching = [n for n, shown in names.items() if pattern.search(n) or pattern.search(shown)]
    if matching and options.index:
        most = max(counts.get(name, 0) for name in matching)
        return BadInput(
            f"no kernel that matches {options.kernel} was launched {options.index + 1} times; "
            f"the most was {most}",
            hint="--index counts from 0",
        )
    shown = sorted(names.values())
    more = f" and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    return BadInput(
        f"no kernel that {program} launched matches {options.kernel}; launched were: "
        + ", ".join(shown[:_NAMED])
        + more
    )


def provenance(target: ProfilingTarget, started: str, folder: Path) -> Provenance:
    agents = native_log.read(folder).agents
    gpu = next((agent for agent in agents if agent.label.startswith("gpu")), None)
    return Provenance(
        tool_version=__version__,
        command=without_secrets(["rocm-perf", *sys.argv[1:]]),
        started=started,
        host=platform.node(),
        device=DeviceInfo(
            kind=target.kind,
            name=gpu.product or gpu.name if gpu else None,
            architecture=gpu.name if gpu else None,
        ),
        rocm=None,
        inputs=[],
    )


def parse_size(text: str) -> int:
    """500M, 8G, 1.5GB, 1GiB, plain bytes; decimal units unless an i says otherwise."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kKMGT]?)(i?)[bB]?", text.strip())
    if match is None:
        raise UsageError(f"--max-size {text} is not a size", hint="like 500M, 8G or 1GiB")
    power = " kMGT".index(match[2].replace("K", "k") or " ")
    return int(float(match[1]) * (1024 if match[3] else 1000) ** power)
