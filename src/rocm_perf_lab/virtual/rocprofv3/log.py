"""The recorder's log of one process, as typed records in the order they happened.

A process that was killed leaves a log without an end, perhaps with half a line; what is whole
counts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocm_perf_lab.errors import BadInput

CLOCK_ORIGIN_NS = 1_000_000_000  # where the clock of every process begins (device_clock.cpp)


@dataclass
class Call:
    """A HIP call."""

    correlation: int
    thread: int  # from 0, in the order in which they first did something
    name: str
    arguments: tuple[tuple[str, str, str], ...]  # type, name, text
    start: int
    end: int = 0  # of one that never returned, the end of the log


@dataclass
class Launch:
    number: int  # from 1, in the order of submission
    correlation: int
    thread: int
    stream: int
    queue: int
    agent: int
    kernel: int  # kernel object
    workgroup: tuple[int, int, int]
    grid: tuple[int, int, int]
    lds: int
    scratch: int
    counted: bool
    traced: bool
    start: int = 0
    end: int = 0  # 0: it did not run to its end


@dataclass(frozen=True)
class ModelledLaunch:
    """What the models say of a launch."""

    duration_ns: int
    cycles: int
    clock_mhz: float
    detailed_fraction: float
    compute_units: int
    sampling_error: float  # standard error of the duration, as a share, where a part was simulated
    # base name -> (xcc, shader engine, instance) -> value
    counters: dict[str, dict[tuple[int, int, int], float]]


@dataclass
class Transfer:
    """A copy, or without a source a fill: hipMemset, which AMD's runtime does with a kernel."""

    correlation: int
    thread: int
    stream: int
    target: int
    target_agent: int
    size: int
    source: int | None
    source_agent: int
    groups: int  # of a fill's kernel
    rows: bool  # filled with a pitch
    start: int = 0
    end: int = 0  # 0: it was not done


@dataclass
class Memory:
    """An allocation, or with `size` None the end of one."""

    correlation: int
    thread: int
    address: int
    size: int | None
    agent: int | None
    start: int
    end: int = 0  # of the call that it is part of


@dataclass(frozen=True)
class Code:
    number: int
    agent: int
    base: int
    size: int
    delta: int
    uri: str
    file: Path | None


@dataclass(frozen=True)
class Symbol:
    kernel: int  # kernel object
    name: str
    shown: str
    code: int  # number of the last code object before it


@dataclass
class ThreadTrace:
    waves: list[dict[str, Any]] = field(default_factory=list)
    occupancy: list[int] = field(default_factory=list)


@dataclass
class ProcessLog:
    pid: int
    parent: int
    command: tuple[str, ...]
    real_start: int
    real_end: int | None = None
    calls: list[Call] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)
    modelled: dict[int, ModelledLaunch] = field(default_factory=dict)
    codes: list[Code] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    agents: list[tuple[int, bool, str]] = field(default_factory=list)  # node, GPU?, name
    traces: dict[int, ThreadTrace] = field(default_factory=dict)

    start: int = CLOCK_ORIGIN_NS
    end: int = CLOCK_ORIGIN_NS

    @property
    def finished(self) -> list[Launch]:
        return [launch for launch in self.launches if launch.end]

    def begin_at(self, start: int) -> None:
        """Every process has a clock of its own; in a recording they have their places."""
        by = start - self.start
        self.start, self.end = start, self.end + by
        for group in (self.calls, self.launches, self.transfers, self.memory):
            for work in group:
                if work.end:
                    work.start, work.end = work.start + by, work.end + by


def read_logs(folder: Path) -> list[ProcessLog]:
    """The logs of every process that used the device, the first to start first."""
    found = [read_log(path) for path in sorted(folder.glob("*.log"))]
    return sorted((log for log in found if log), key=lambda log: (log.real_start, log.pid))


def read_log(path: Path) -> ProcessLog | None:
    if not path.stat().st_mode & 0o200:
        raise BadInput(
            f"the recording of process {path.stem} is incomplete: its log could not be written",
            hint=f"make room on the disk of {path.parent}, or choose another with TMPDIR",
        )
    reader: _Reader | None = None
    with path.open(encoding="ascii", newline="\n") as lines:
        for line in lines:
            if not line.endswith("\n"):
                break
            record = json.loads(line)
            if reader is None:
                reader = _Reader(_process(record), path.parent)
            else:
                reader.take(record)
    return reader.close() if reader else None


def _process(r: dict[str, Any]) -> ProcessLog:
    command = _text(r["command"]).split("\0")
    return ProcessLog(r["pid"], r["ppid"], tuple(command[:-1]), r["real"])


def _text(value: str) -> str:
    """Bytes came as Latin-1."""
    if value.isascii():
        return value
    return value.encode("latin-1").decode("utf-8", "replace")


class _Reader:
    def __init__(self, log: ProcessLog, folder: Path) -> None:
        self.log, self.folder = log, folder
        self.threads: dict[int, int] = {}
        self.calls: dict[int, Call] = {}  # by correlation
        self.launches: dict[int, Launch] = {}
        self.transfers: dict[int, Transfer] = {}

    def close(self) -> ProcessLog:
        log = self.log
        log.calls, log.launches = list(self.calls.values()), list(self.launches.values())
        log.transfers = list(self.transfers.values())
        log.calls.sort(key=lambda call: call.correlation)
        for group in (log.calls, log.launches, log.transfers, log.memory):
            log.end = max([log.end, *(work.end or work.start for work in group)])
        for call in log.calls:
            call.end = call.end or log.end
        for memory in log.memory:
            around = self.calls.get(memory.correlation)
            memory.end = max(memory.start, around.end if around else 0)
        return log

    def take(self, r: dict[str, Any]) -> None:
        log, kind = self.log, r["r"]
        if kind == "enter":
            arguments = tuple((_text(t), _text(n), _text(v)) for t, n, v in r["a"])
            self.calls[r["c"]] = Call(r["c"], self._thread(r), r["n"], arguments, r["b"])
        elif kind == "exit" and r["c"] in self.calls:
            call = self.calls[r["c"]]
            call.end = max(call.start + 1, r["e"])  # a poll in vain takes no time of the clock
        elif kind == "dispatch":
            self.launches[r["d"]] = self._launch(r)
        elif kind == "done" and r["ok"]:
            log.modelled[r["d"]] = _modelled(r)
        elif kind in ("copy", "fill"):
            self.transfers[r["n"]] = self._transfer(r)
        elif kind in ("dispatched", "transferred"):
            work = self.launches[r["d"]] if kind == "dispatched" else self.transfers[r["n"]]
            work.start, work.end = r["b"], r["e"]
        elif kind in ("alloc", "free"):
            place = (r["c"], self._thread(r), r["at"], r.get("size"), r.get("agent"))
            log.memory.append(Memory(*place, r["b"]))
        elif kind == "code":
            file = self.folder / r["file"] if r["file"] else None
            code = (r["id"], r["agent"], r["base"], r["size"], r["delta"])
            log.codes.append(Code(*code, _text(r["uri"]), file))
        elif kind == "symbol":
            last = log.codes[-1].number if log.codes else 0
            log.symbols.append(Symbol(r["k"], _text(r["name"]), _text(r["shown"]), last))
        elif kind == "agent":
            log.agents.append((r["node"], bool(r["gpu"]), _text(r["name"])))
        elif kind == "wave":
            log.traces.setdefault(r["d"], ThreadTrace()).waves.append(r)
        elif kind == "occupancy":
            log.traces.setdefault(r["d"], ThreadTrace()).occupancy = r["rows"]
        elif kind == "end":
            log.real_end = r["real"]

    def _thread(self, r: dict[str, Any]) -> int:
        return self.threads.setdefault(r["t"], len(self.threads))

    def _launch(self, r: dict[str, Any]) -> Launch:
        return Launch(
            number=r["d"],
            correlation=r["c"],
            thread=self._thread(r),
            stream=r["s"],
            queue=r["q"],
            agent=r["agent"],
            kernel=r["k"],
            workgroup=tuple(r["w"]),
            grid=tuple(r["g"]),
            lds=r["lds"],
            scratch=r["scratch"],
            counted=bool(r["want"] & 1),
            traced=bool(r["want"] & 2),
        )

    def _transfer(self, r: dict[str, Any]) -> Transfer:
        return Transfer(
            correlation=r["c"],
            thread=self._thread(r),
            stream=r["s"],
            target=r["to"],
            target_agent=r["ta"],
            size=r["size"],
            source=r.get("from"),
            source_agent=r.get("fa", 0),
            groups=r.get("groups", 0),
            rows=bool(r.get("rows", 0)),
        )


def _modelled(r: dict[str, Any]) -> ModelledLaunch:
    counters = {
        name: {(xcc, engine, instance): value for xcc, engine, instance, value in rows}
        for name, rows in r.get("counters", {}).items()
    }
    return ModelledLaunch(
        r["ns"], r["cycles"], r["mhz"], r["detail"], r["cus"], r["sampling"], counters
    )
