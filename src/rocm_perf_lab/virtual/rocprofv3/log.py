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


@dataclass
class Call:
    """A HIP call. `given` are the handles and addresses it returned through pointers."""

    correlation: int
    thread: int
    name: str
    arguments: tuple[tuple[str, str, str], ...]  # type, name, text
    result: int | None = None  # None: it never returned
    given: dict[str, int] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        return next((value for _, own, value in self.arguments if own == name), None)

    def pointer(self, *names: str) -> int | None:
        """The first argument of these names, as an address."""
        found = next((v for _, own, v in self.arguments if own in names), None)
        return None if found is None else parse_pointer(found)

    def number(self, *names: str) -> int | None:
        found = next((v for _, own, v in self.arguments if own in names), None)
        try:
            return int(found, 0) if found is not None else None
        except ValueError:
            return None

    def of_type(self, kind: str) -> int | None:
        """The first argument of a handle type."""
        found = next((v for own, _, v in self.arguments if own.replace(" ", "") == kind), None)
        return None if found is None else parse_pointer(found)


@dataclass(frozen=True)
class Launch:
    number: int  # from 1, in the order of submission
    correlation: int
    thread: int
    stream: int  # HIP's own number of the stream, 0 the null stream
    queue: int
    agent: int
    kernel: int  # kernel object
    workgroup: tuple[int, int, int]
    grid: tuple[int, int, int]
    lds: int
    scratch: int
    counted: bool
    traced: bool


@dataclass(frozen=True)
class Outcome:
    """What the models say of a launch."""

    duration_ns: int
    cycles: int
    clock_mhz: float
    detailed_fraction: float
    compute_units: int
    sampling_error: float  # standard error of the duration, as a share, where a part was simulated
    # base name -> (xcc, shader engine, instance) -> value
    counters: dict[str, dict[tuple[int, int, int], float]]


@dataclass(frozen=True)
class Transfer:
    correlation: int
    thread: int
    stream: int
    target: int
    target_agent: int
    source: int
    source_agent: int
    size: int


@dataclass(frozen=True)
class Memory:
    """An allocation, or with `size` None the end of one."""

    correlation: int
    thread: int
    address: int
    size: int | None
    agent: int | None


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


@dataclass(frozen=True)
class Return:
    call: Call


Entry = Call | Return | Launch | Transfer | Memory


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
    entries: list[Entry] = field(default_factory=list)
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    codes: list[Code] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    agents: list[tuple[int, bool, str]] = field(default_factory=list)  # node, GPU?, name
    traces: dict[int, ThreadTrace] = field(default_factory=dict)

    @property
    def launches(self) -> list[Launch]:
        return [entry for entry in self.entries if isinstance(entry, Launch)]


def parse_pointer(text: str) -> int:
    if text in ("(nil)", "nullptr", ""):
        return 0
    try:
        return int(text, 0)
    except ValueError:
        return 0


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
    log: ProcessLog | None = None
    open_calls: dict[int, Call] = {}
    with path.open(encoding="ascii", newline="\n") as lines:
        for line in lines:
            if not line.endswith("\n"):
                break
            record = json.loads(line)
            if log is None:
                log = _process(record)
            else:
                _take(log, record, open_calls, path.parent)
    return log


def _process(r: dict[str, Any]) -> ProcessLog:
    command = _text(r["command"]).split("\0")
    return ProcessLog(r["pid"], r["ppid"], tuple(command[:-1]), r["real"])


def _text(value: str) -> str:
    """Bytes came as Latin-1."""
    if value.isascii():
        return value
    return value.encode("latin-1").decode("utf-8", "replace")


def _take(log: ProcessLog, r: dict[str, Any], open_calls: dict[int, Call], folder: Path) -> None:
    kind = r["r"]
    if kind == "enter":
        arguments = tuple((_text(t), _text(n), _text(v)) for t, n, v in r["a"])
        call = Call(r["c"], r["t"], r["n"], arguments)
        open_calls[call.correlation] = call
        log.entries.append(call)
    elif kind == "exit":
        ended = open_calls.pop(r["c"], None)
        if ended is not None:
            ended.result, ended.given = r["v"], r["o"]
            log.entries.append(Return(ended))
    elif kind == "dispatch":
        log.entries.append(_launch(r))
    elif kind == "done" and r["ok"]:
        log.outcomes[r["d"]] = _outcome(r)
    elif kind == "copy":
        ends = (r["to"], r["ta"], r["from"], r["fa"])
        log.entries.append(Transfer(r["c"], r["t"], r["s"], *ends, r["size"]))
    elif kind == "alloc":
        log.entries.append(Memory(r["c"], r["t"], r["at"], r["size"], r["agent"]))
    elif kind == "free":
        log.entries.append(Memory(r["c"], r["t"], r["at"], None, None))
    elif kind == "code":
        file = folder / r["file"] if r["file"] else None
        place = (r["base"], r["size"], r["delta"])
        log.codes.append(Code(r["id"], r["agent"], *place, _text(r["uri"]), file))
    elif kind == "symbol":
        code = log.codes[-1].number if log.codes else 0
        log.symbols.append(Symbol(r["k"], _text(r["name"]), _text(r["shown"]), code))
    elif kind == "agent":
        log.agents.append((r["node"], bool(r["gpu"]), _text(r["name"])))
    elif kind == "wave":
        log.traces.setdefault(r["d"], ThreadTrace()).waves.append(r)
    elif kind == "occupancy":
        log.traces.setdefault(r["d"], ThreadTrace()).occupancy = r["rows"]
    elif kind == "end":
        log.real_end = r["real"]


def _launch(r: dict[str, Any]) -> Launch:
    return Launch(
        number=r["d"],
        correlation=r["c"],
        thread=r["t"],
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


def _outcome(r: dict[str, Any]) -> Outcome:
    counters = {
        name: {(xcc, engine, instance): value for xcc, engine, instance, value in rows}
        for name, rows in r.get("counters", {}).items()
    }
    return Outcome(r["ns"], r["cycles"], r["mhz"], r["detail"], r["cus"], r["sampling"], counters)
