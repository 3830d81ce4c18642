"""What the capture library left in a folder, read: lines of words, strings in hexadecimal.

It is written by the program's own process, which may be anything: every line is checked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.schema.capture import Extent

LINES, STATUS, KERNELS, COUNTS, CONFIG = "native", "status", "kernels", "counts", "config"
LAUNCHES = "launches"
OWN_FILES = (LINES, STATUS, KERNELS, COUNTS, CONFIG, LAUNCHES, "claimed", "problem")


@dataclass(frozen=True)
class Agent:
    label: str
    name: str
    product: str
    isa: str


@dataclass
class Area:
    base: int
    size: int
    failure: str
    before: list[Extent] = field(default_factory=list)
    after: list[Extent] = field(default_factory=list)


@dataclass
class RegionLine(Area):
    kind: str = "pool"
    agent: str | None = None
    flags: int = 0


@dataclass
class SegmentLine(Area):
    linked: int = 0
    writable: bool = True


@dataclass
class CodeLine:
    index: int
    base: int
    size: int
    delta: int
    agent: str | None
    uri: str
    stored: bool
    segments: list[SegmentLine] = field(default_factory=list)


@dataclass
class NativeLog:
    agents: list[Agent] = field(default_factory=list)
    packet: bytes = b""
    symbol: str = ""
    demangled: str = ""
    index: int = 0
    number: int = 0
    kernarg_bytes: int = 0
    agent: str | None = None
    queue: tuple[int, int, int, int] = (0, 0, 0, 0)
    code: list[CodeLine] = field(default_factory=list)
    regions: list[RegionLine] = field(default_factory=list)
    pointers: list[tuple[int, int, int]] = field(default_factory=list)  # address, value, code
    pointer_count: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read(folder: Path) -> NativeLog:
    try:
        text = (folder / LINES).read_text("ascii")
        return _parse(text)
    except (OSError, ValueError, IndexError) as error:
        raise BadInput(f"what the capture library wrote cannot be read: {error}") from None


def lines(folder: Path, name: str) -> list[list[str]]:
    """The whole lines of one of its small files, as words; none if it is not there."""
    try:
        text = (folder / name).read_text("ascii", errors="replace")
    except OSError:
        return []
    return [line.split() for line in text.split("\n")[:-1]]


def string(word: str) -> str:
    return "" if word == "-" else bytes.fromhex(word).decode("utf-8", "replace")


def _parse(text: str) -> NativeLog:
    log = NativeLog()
    files: list[str] = []
    area: Area | None = None
    rows = [line.split() for line in text.split("\n")]
    if rows[0] != ["version", "1"] or rows[-2] != ["end"]:
        raise ValueError("it is not whole")
    for kind, *words in rows[1:-2]:
        match kind:
            case "b" | "a":
                if area is None:
                    raise ValueError("an extent of nothing")
                number = int(words[2])
                extent = Extent(
                    offset=int(words[0]),
                    size=int(words[1]),
                    file=None if number < 0 else files[number],
                    at=int(words[3]),
                )
                (area.before if kind == "b" else area.after).append(extent)
            case "region":
                region = RegionLine(
                    int(words[0]), int(words[1]), string(words[5]),
                    kind=words[2], agent=_label(words[3]), flags=int(words[4]),
                )  # fmt: skip
                log.regions.append(region)
                area = region
            case "segment":
                segment = SegmentLine(
                    int(words[0]), int(words[1]), string(words[4]),
                    linked=int(words[2]), writable=words[3] == "1",
                )  # fmt: skip
                log.code[-1].segments.append(segment)
                area = segment
            case "code":
                log.code.append(
                    CodeLine(
                        int(words[0]), int(words[1]), int(words[2]), int(words[3]),
                        _label(words[4]), string(words[5]), words[6] == "1",
                    )
                )  # fmt: skip
            case "file":
                files.append(words[1])
            case "pointer":
                log.pointers.append((int(words[0]), int(words[1]), int(words[2])))
            case "pointers":
                log.pointer_count = int(words[0])
            case "agent":
                log.agents.append(Agent(words[0], *map(string, words[1:4])))
            case "packet":
                log.packet = bytes.fromhex(words[0])
            case "kernel":
                log.symbol, log.demangled = string(words[0]), string(words[1])
                log.index, log.number, log.kernarg_bytes = map(int, words[2:5])
                log.agent = _label(words[5])
            case "queue":
                log.queue = (int(words[0]), int(words[1]), int(words[2]), int(words[3]))
            case "problem":
                log.problems.append(string(words[0]))
            case "note":
                log.notes.append(string(words[0]))
            case _:
                raise ValueError(f"unknown line {kind!r}")
    return log


def _label(word: str) -> str | None:
    return None if word == "-" else word
