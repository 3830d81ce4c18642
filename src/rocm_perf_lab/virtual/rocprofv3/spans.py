"""What the simulation gives: every call, launch, copy and fill with its place in time."""

from __future__ import annotations

from dataclasses import dataclass, field

from rocm_perf_lab.virtual.rocprofv3.log import Call, Launch, Memory, Transfer


@dataclass(frozen=True)
class CallSpan:
    call: Call
    thread: int
    start: int
    end: int


@dataclass(frozen=True)
class LaunchSpan:
    launch: Launch
    thread: int
    stream: int
    start: int
    end: int


@dataclass(frozen=True)
class CopySpan:
    transfer: Transfer
    thread: int
    stream: int
    start: int
    end: int


@dataclass(frozen=True)
class FillSpan:
    """hipMemset, which AMD's runtime does with a kernel of its own."""

    call: Call
    thread: int
    stream: int
    agent: int
    size: int
    plane: bool  # rows with a pitch
    start: int
    end: int


@dataclass(frozen=True)
class MemorySpan:
    memory: Memory
    thread: int
    start: int
    end: int


@dataclass
class Timeline:
    start: int
    end: int = 0
    calls: list[CallSpan] = field(default_factory=list)
    launches: list[LaunchSpan] = field(default_factory=list)
    copies: list[CopySpan] = field(default_factory=list)
    fills: list[FillSpan] = field(default_factory=list)
    memory: list[MemorySpan] = field(default_factory=list)
