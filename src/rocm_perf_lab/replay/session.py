"""Replay a captured dispatch as often as wanted: the Python interface.

    with ReplaySession(Path("capture")) as replay:
        print(replay.run([ORIGINAL] * 10).gpu_ns(ORIGINAL))     # ten dispatches, state restored

        candidate = replay.load(Path("faster.hsaco"))           # another build of the kernel
        result = replay.run(abba(ORIGINAL, candidate, pairs=50))
        result.gpu_ns(ORIGINAL), result.gpu_ns(candidate)       # samples in the order they ran
        result.verdict(candidate)                               # against the captured output

        replay.set_state(                                       # other inputs
            [Replace(address, new_bytes), Fill(output, size, 0xA5)],
            arguments={24: (1023).to_bytes(4, "little")}, guard=0x5A)
        replay.keep_reference(ORIGINAL)                         # its output is what must come out
        replay.run([candidate]).verdict(candidate)
        replay.set_state()                                      # as captured again

One worker process lives as long as the session, so a measurement costs a restore of what the kernel
writes, a dispatch, and a comparison. Every dispatch starts from the restored state unless
`recopy=False`. Outputs are compared over all memory of the capture, module variables, and the guard
bytes around regions (what lies on their pages beside them); the first dispatch of each build in
each state is checked for writes anywhere. GPU times are the dispatch's own timestamps: modelled
where the device is virtual (`session.timing`).

Errors: `BadInput` (capture or code object not usable), `Refused` (cannot be replayed faithfully),
`AddressTaken`, `ReplayFailed` (a step on the device failed, a fault, a crash); after `ReplayFailed`
the session is over.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol

from rocm_perf_lab import errors
from rocm_perf_lab.collect.process import python
from rocm_perf_lab.device import discover
from rocm_perf_lab.errors import BadInput, GateFailed, PerfLabError
from rocm_perf_lab.replay import arguments as argument_table
from rocm_perf_lab.replay import builds
from rocm_perf_lab.replay.format import Capture, open_capture
from rocm_perf_lab.virtual import device_names

Tell = Callable[[str], None]
ORIGINAL = 0
ATTEMPTS = 8  # processes, each with another address layout, before an address counts as taken
Verdict = Literal["identical", "within_tolerance", "different"]


class Confinement(Protocol):
    """A sandbox for the worker: how its command line and environment become confined ones."""

    @property
    def work(self) -> Path: ...  # a folder both sides see

    def wrap(self, command: Sequence[str]) -> list[str]: ...

    def environment(self, extra: Mapping[str, str]) -> dict[str, str]: ...


class ReplayFailed(GateFailed):
    """A step on the device failed."""


class AddressTaken(ReplayFailed):
    """A captured address is not to be had in this process, or was moved by HSA."""

    exit_code = 2


@dataclass(frozen=True)
class Replace:
    """Bytes to start from instead of the captured ones."""

    address: int
    data: bytes


@dataclass(frozen=True)
class Fill:
    """One byte over a range, instead of the captured bytes: poison."""

    address: int
    size: int
    byte: int


@dataclass(frozen=True)
class Sample:
    build: int
    gpu_ns: float
    wall_s: float
    outcome: Mapping[str, Any] | None  # verdict, digest, differences; None: not compared


@dataclass(frozen=True)
class RunResult:
    samples: tuple[Sample, ...]
    wall_s: float  # of the whole run, restores and comparisons included
    looked_s: float  # of that, looking through all memory for writes nobody expected
    written_bytes: int  # what is restored before a dispatch
    notes: tuple[str, ...]

    def gpu_ns(self, build: int = ORIGINAL) -> list[float]:
        return [sample.gpu_ns for sample in self.samples if sample.build == build]

    def verdict(self, build: int = ORIGINAL) -> Verdict | None:
        """The worst of the build's outcomes."""
        order: tuple[Verdict, ...] = ("identical", "within_tolerance", "different")
        found = [
            order.index(sample.outcome["verdict"])
            for sample in self.samples
            if sample.build == build and sample.outcome is not None
        ]
        return order[max(found)] if found else None

    def differences(self, build: int = ORIGINAL) -> list[Mapping[str, Any]]:
        """Of the build's first dispatch that did not give the expected bytes."""
        for sample in self.samples:
            if sample.build == build and sample.outcome and sample.outcome["differences"]:
                return list(sample.outcome["differences"])
        return []

    def distinct_outputs(self, build: int = ORIGINAL) -> int:
        """More than one: the kernel's result depends on the order of its waves."""
        return len({s.outcome["digest"] for s in self.samples if s.build == build and s.outcome})


def abba(first: int, second: int, pairs: int) -> list[int]:
    """A B B A A B B A …: neither always runs first, and a drift falls on both."""
    order: list[int] = []
    for pair in range(pairs):
        order += [first, second] if pair % 2 == 0 else [second, first]
    return order


def choose_device(isa: str, wanted: str | None = None) -> discover.Device:
    """The device asked for, else the first that runs code of the capture's ISA."""
    if device_names.wanted(wanted).kind == "auto":
        for device in discover.devices():
            if device.usable and builds.same_isa(isa, device.architecture):
                return device
    device = discover.choose(wanted)
    if not builds.same_isa(isa, device.architecture):
        raise BadInput(
            f"the capture is of {isa}, and {device.name} is a {device.architecture}",
            hint="`rocm-perf device list` shows the devices there are",
        )
    return device


def accept(capture: Capture) -> None:
    """Refuse what the capture itself says cannot be replayed."""
    if not capture.manifest.complete:
        reasons = "; ".join(capture.manifest.reasons) or "no reason is given"
        raise errors.Refused(f"{capture.folder} cannot be replayed: {reasons}")


@dataclass
class _Process:
    """A worker that holds the captured addresses."""

    popen: subprocess.Popen[bytes]
    errors: Any  # a temporary file with what it wrote to stderr
    buffer: bytes = b""
    tell: Tell = field(default=lambda _: None)

    def ask(self, message: object, timeout_s: float | None = None) -> Any:
        assert self.popen.stdin is not None
        try:
            self.popen.stdin.write(json.dumps(message).encode("ascii") + b"\n")
            self.popen.stdin.flush()
        except (BrokenPipeError, OSError):
            raise self._died() from None
        limit = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            answer = json.loads(self._line(limit))
            if "tell" not in answer:
                return answer
            self.tell(answer["tell"])

    def _line(self, limit: float | None) -> bytes:
        assert self.popen.stdout is not None
        descriptor = self.popen.stdout.fileno()
        while b"\n" not in self.buffer:
            left = None if limit is None else max(0.0, limit - time.monotonic())
            if not select.select([descriptor], [], [], left)[0]:
                self.popen.kill()
                self.end()
                raise ReplayFailed(
                    "the replay did not end in time", hint="--timeout sets the limit in seconds"
                )
            part = os.read(descriptor, 1 << 20)
            if not part:
                raise self._died()
            self.buffer += part
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def _died(self) -> ReplayFailed:
        code = self.popen.wait()
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        return ReplayFailed(f"the replay {how}", hint=self.last_words() or None)

    def last_words(self) -> str:
        self.errors.seek(0)
        lines = self.errors.read().decode("utf-8", "replace").strip().splitlines()
        return "\n  ".join(lines[-12:])

    def end(self) -> None:
        """Ends by itself when its input does; a hung one is killed."""
        assert self.popen.stdin is not None
        with contextlib.suppress(OSError):
            self.popen.stdin.close()
        try:
            self.popen.wait(10)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
        assert self.popen.stdout is not None
        self.popen.stdout.close()
        self.errors.close()


def _start(
    ranges: Sequence[tuple[int, int]],
    environment: Mapping[str, str],
    confinement: Confinement | None = None,
) -> _Process:
    """A worker that holds every range; several are tried, for each gets another layout."""
    taken: tuple[int, int] = (0, 0)
    command = python("rocm_perf_lab.replay.worker")
    if confinement is not None:
        command = confinement.wrap(command)
        environment = confinement.environment(environment)
    for _ in range(ATTEMPTS):
        log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        popen = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=dict(environment),
        )
        process = _Process(popen, log)
        answer = process.ask({"ranges": list(ranges)})
        if "held" in answer:
            return process
        taken = (answer["taken"][0], answer["taken"][1])
        process.end()
    raise AddressTaken(
        f"the pages at {taken[0]:#x} ({taken[1]} bytes){_of_region(ranges, taken)} are taken in "
        f"{ATTEMPTS} of {ATTEMPTS} processes",
        hint="something maps memory there in every process: a preloaded library, a sanitizer",
    )


def _of_region(ranges: Sequence[tuple[int, int]], span: Sequence[int]) -> str:
    """Which captured region lies on a span, in words."""
    inside = [base for base, size in ranges if base < span[0] + span[1] and base + size > span[0]]
    return f" of region {inside[0]:#x}" if inside else ""


def capture_ranges(capture: Capture) -> list[tuple[int, int]]:
    return [(region.base, region.size) for region in capture.regions]


def _environment(device: discover.Device, wanted: str | None) -> dict[str, str]:
    base = discover.environment_for(device, wanted)
    # Asks the virtual GPU for modelled dispatch timestamps; means nothing to ROCr.
    return {**base, "ROCM_PERF_VIRTUAL_TIMING": "model", "PYTHONSAFEPATH": "1"}


def reserve_check(
    ranges: Sequence[tuple[int, int]], device: discover.Device, isa: str
) -> dict[str, int]:
    """Map every range where it was and give it back; AddressTaken or ReplayFailed where not."""
    process = _start(ranges, _environment(device, None))
    try:
        answer = process.ask(
            {"do": "reserve", "with": {"library": discover.hsa_library(device), "isa": isa}}
        )
        return dict(_result(answer, ranges, process))
    finally:
        process.end()


def _result(answer: Any, ranges: Sequence[tuple[int, int]], process: _Process) -> Any:
    if "ok" in answer:
        return answer["ok"]
    error = answer["error"]
    kind, message = error["kind"], error["message"]
    if kind == "relocated":
        place = _of_region(ranges, error["span"])
        got = f"; HSA offered {error['got']:#x}" if error["got"] else ""
        raise AddressTaken(f"the pages at {error['span'][0]:#x}{place} could not be had{got}")
    if kind == "map_failed":
        place = _of_region(ranges, error["span"])
        size = error["span"][1]
        raise ReplayFailed(f"the {size} bytes at {error['span'][0]:#x}{place}: {message}")
    if kind == "fault":
        raise ReplayFailed(f"the kernel failed: {message}", hint=process.last_words() or None)
    found: type[PerfLabError] = getattr(errors, kind, ReplayFailed)
    raise found(message, hint=error.get("hint") or process.last_words() or None)


class ReplaySession:
    """See the top of this file."""

    def __init__(
        self,
        capture: Path,
        *,
        device: str | None = None,
        verify: bool = True,
        translate_pointers: bool = False,
        timeout_s: float | None = None,
        confinement: Confinement | None = None,
        tell: Tell = lambda _: None,
    ) -> None:
        self._shared = confinement.work if confinement else None
        self.capture = open_capture(capture, verify=verify, tell=tell)
        try:
            accept(self.capture)
            dispatch = self.capture.dispatch
            builds.check(
                self.capture.code_object(dispatch.code_object),
                dispatch,
                self.capture.kernel_code_object.file,
            )
            self.device = choose_device(self.capture.dispatch.isa, device)
            self.timing: Literal["modelled", "measured"] = (
                "modelled" if self.device.kind == "virtual" else "measured"
            )
            self.timeout_s = timeout_s
            self._ranges = capture_ranges(self.capture)
            environment = _environment(self.device, device)
            self._process = _start(self._ranges, environment, confinement)
        except BaseException:
            self.capture.close()
            raise
        self._process.tell = tell
        try:
            opened = self._ask(
                "open",
                capture=str(self.capture.folder.resolve()),
                library=discover.hsa_library(self.device),
                translate_memory=translate_pointers,
            )
        except BaseException:
            self.close()
            raise
        self.isa: str = opened["isa"]
        self.notes: list[str] = opened["notes"]

    def _ask(self, do: str, **more: Any) -> Any:
        answer = self._process.ask({"do": do, "with": more}, self.timeout_s)
        return _result(answer, self._ranges, self._process)

    def load(self, hsaco: Path | bytes) -> int:
        """Another build of the kernel: a code object, or a file that holds it. Its number."""
        what = "the candidate"
        if isinstance(hsaco, Path):
            if not hsaco.is_file():
                raise BadInput(f"{hsaco}: no such file")
            what, hsaco = str(hsaco), builds.find(hsaco, self.capture.dispatch)
        builds.check(hsaco, self.capture.dispatch, what)
        with tempfile.NamedTemporaryFile(suffix=".hsaco", dir=self._shared) as file:
            file.write(hsaco)
            file.flush()
            return int(self._ask("load", file=file.name, what=what)["build"])

    def set_state(
        self,
        changes: Sequence[Replace | Fill] = (),
        *,
        arguments: Mapping[int, bytes] | None = None,
        guard: int = 0,
    ) -> None:
        """Start from the captured state with these changes. `arguments`: offset -> bytes.

        With changes or arguments the captured output is not what must come out: keep a reference.
        """
        given = dict(arguments or {})
        captured = self.capture.kernarg
        changed = any(captured[at : at + len(data)] != data for at, data in given.items())
        with tempfile.TemporaryDirectory(dir=self._shared) as folder:
            rows: list[dict[str, Any]] = []
            for number, change in enumerate(changes):
                if isinstance(change, Fill):
                    rows.append(
                        {"address": change.address, "size": change.size, "fill": change.byte}
                    )
                else:
                    path = Path(folder) / str(number)
                    path.write_bytes(change.data)
                    rows.append({"address": change.address, "file": str(path)})
            back = [[at, captured[at : at + n].hex()] for at, n in self._changed_arguments]
            self._ask(
                "state",
                overrides=rows,
                arguments=[*back, *([at, data.hex()] for at, data in given.items())],
                guard=guard,
                altered=bool(changes) or changed,
            )
        self._changed_arguments = [(at, len(data)) for at, data in given.items()]

    _changed_arguments: Sequence[tuple[int, int]] = ()

    def keep_reference(self, build: int = ORIGINAL) -> None:
        """Run the build once; until the state changes, its output is the expected one."""
        self._ask("reference", build=build)

    def digest(self, ranges: Sequence[tuple[int, int]]) -> str:
        """Of the bytes that (address, size) hold now: after a run, what it left."""
        return str(self._ask("digest", ranges=[list(each) for each in ranges]))

    def run(
        self,
        order: Sequence[int],
        *,
        recopy: bool = True,
        flush: bool = False,
        compare: bool = True,
        dtype: str | None = None,
        tolerance: float | None = None,
    ) -> RunResult:
        started = time.perf_counter()
        answer = self._ask(
            "run",
            order=list(order),
            recopy=recopy,
            flush=flush,
            compare=compare,
            pointers=argument_table.pointers(self.capture.dispatch),
            dtype=dtype,
            tolerance=tolerance,
        )
        return RunResult(
            samples=tuple(Sample(*row) for row in answer["samples"]),
            wall_s=time.perf_counter() - started,
            looked_s=answer["looked_s"],
            written_bytes=answer["dirty_bytes"],
            notes=tuple(answer["notes"]),
        )

    def measure_restore(self, repeats: int = 10) -> dict[str, float]:
        """Seconds to put back what the kernel writes, and its bytes: for benchmarks."""
        return dict(self._ask("measure_restore", repeats=repeats))

    def close(self) -> None:
        self._process.end()
        self.capture.close()

    def __enter__(self) -> ReplaySession:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


__all__ = [
    "ORIGINAL",
    "AddressTaken",
    "Fill",
    "Replace",
    "ReplayFailed",
    "ReplaySession",
    "RunResult",
    "Sample",
    "abba",
    "reserve_check",
]
