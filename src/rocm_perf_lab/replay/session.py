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

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rocm_perf_lab import errors
from rocm_perf_lab.collect.worker import Tell
from rocm_perf_lab.device import discover
from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.replay import arguments as argument_table
from rocm_perf_lab.replay import builds
from rocm_perf_lab.replay.compare import Bytes
from rocm_perf_lab.replay.format import Capture, open_capture
from rocm_perf_lab.replay.worker_process import (
    AddressTaken,
    Confinement,
    ReplayFailed,
    result,
    start,
)
from rocm_perf_lab.virtual import device_names

ORIGINAL = 0
Verdict = Literal["identical", "within_tolerance", "different"]


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
class Seen:
    """A stretch of memory after a run: what it held before, should hold, and holds."""

    address: int
    initial: Bytes
    expected: Bytes
    got: Bytes


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


def capture_ranges(capture: Capture) -> list[tuple[int, int]]:
    return [(region.base, region.size) for region in capture.regions]


def _environment(device: discover.Device, wanted: str | None, timed: bool = True) -> dict[str, str]:
    base = discover.environment_for(device, wanted)
    # Asks the virtual GPU for modelled dispatch timestamps; means nothing to ROCr.
    timing = "model" if timed else "emulation"
    return {**base, "ROCM_PERF_VIRTUAL_TIMING": timing, "PYTHONSAFEPATH": "1"}


def reserve_check(
    ranges: Sequence[tuple[int, int]], device: discover.Device, isa: str
) -> dict[str, int]:
    """Map every range where it was and give it back; AddressTaken or ReplayFailed where not."""
    process = start(ranges, _environment(device, None))
    try:
        answer = process.ask(
            {"do": "reserve", "with": {"library": discover.hsa_library(device), "isa": isa}}
        )
        return dict(result(answer, ranges, process))
    finally:
        process.end()


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
        timed: bool = True,
        exact_bounds: bool = False,
        confinement: Confinement | None = None,
        tell: Tell = lambda _: None,
    ) -> None:
        """`timed` False: only what comes out is wanted, and no model of the time is run.
        `exact_bounds`: on a virtual GPU a kernel fails that leaves the captured memory, where it
        would else see the rest of its pages."""
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
            environment = _environment(self.device, device, timed)
            self._process = start(self._ranges, environment, confinement)
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
                # What ran on hardware may have read its pages to the end.
                exact_bounds=exact_bounds and self.capture.manifest.device.kind == "virtual",
            )
        except BaseException:
            self.close()
            raise
        self.isa: str = opened["isa"]
        self.notes: list[str] = opened["notes"]

    def _ask(self, do: str, **more: Any) -> Any:
        answer = self._process.ask({"do": do, "with": more}, self.timeout_s)
        return result(answer, self._ranges, self._process)

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
        grid: tuple[int, int, int] | None = None,
    ) -> None:
        """Start from the captured state with these changes. `arguments`: offset -> bytes; `grid`:
        work-items, in place of the captured ones.

        With any of these the captured output is not what must come out: keep a reference.
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
                altered=bool(changes) or changed or grid is not None,
                grid=grid,
            )
        self._changed_arguments = [(at, len(data)) for at, data in given.items()]

    _changed_arguments: Sequence[tuple[int, int]] = ()

    def keep_reference(self, build: int = ORIGINAL) -> None:
        """Run the build once; until the state changes, its output is the expected one."""
        self._ask("reference", build=build)

    def digest(self, ranges: Sequence[tuple[int, int]]) -> str:
        """Of the bytes that (address, size) hold now: after a run, what it left."""
        return str(self._ask("digest", ranges=[list(each) for each in ranges]))

    def noted(self, kind: str) -> list[dict[str, Any]]:
        """What the virtual GPU's checks (`rocm-perf check`) wrote down of all runs so far, of one
        kind; nothing where the worker's environment asks for none."""
        return list(self._ask("noted", kind=kind))

    def read(self, ranges: Sequence[tuple[int, int]]) -> list[Bytes]:
        """The bytes that (address, size) hold now: after a run, what it left."""
        return self._bytes("read", ranges, 1)[0]

    def look(self, ranges: Sequence[tuple[int, int]], build: int) -> list[Seen]:
        """After a run of the build: these bytes beside what they were and what they had to be."""
        three = self._bytes("look", ranges, 3, build=build)
        return [Seen(address, *parts) for (address, _), *parts in zip(ranges, *three, strict=True)]

    def _bytes(
        self, do: str, ranges: Sequence[tuple[int, int]], times: int, **more: Any
    ) -> list[list[Bytes]]:
        """All ranges one after the other, so many times over."""
        self._ask(do, ranges=[list(each) for each in ranges], **more)
        total = times * sum(size for _, size in ranges)
        data = np.frombuffer(self._process.take(total, self.timeout_s), dtype=np.uint8)
        ends = np.cumsum([size for _, size in ranges] * times)
        cut = np.split(data, ends[:-1]) if len(ends) else []
        return [cut[i * len(ranges) : (i + 1) * len(ranges)] for i in range(times)]

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

    def __exit__(self, *_: object) -> None:
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
    "Seen",
    "abba",
    "reserve_check",
]
