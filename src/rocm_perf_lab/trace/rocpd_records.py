"""What `rocpd_writer` writes: plain tuples with names, cheap enough for millions of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Shape = tuple[int, int, int]


class Argument(NamedTuple):
    type: str
    name: str
    value: str


class Value(NamedTuple):
    """A counter's value in one hardware instance."""

    counter: str
    value: float
    xcc: int | None = None
    shader_engine: int | None = None
    instance: int | None = None


class Dispatch(NamedTuple):
    kernel: int
    agent: int
    start: int
    end: int
    workgroup: Shape = (256, 1, 1)
    grid: Shape = (256, 1, 1)
    queue: int = 1
    stream: int = 1
    tid: int = 1
    correlation: int = 0
    lds: int = 0
    scratch: int = 0
    graph_exec: int = 0
    graph_node: int = 0
    dispatch_id: int | None = None
    values: Sequence[Value] = ()


class Call(NamedTuple):
    """A host API call; one that takes no time is written as a sample, as rocprofv3 does."""

    name: str
    start: int
    end: int
    tid: int = 1
    correlation: int = 0
    category: str = "HIP_RUNTIME_API_EXT"
    args: Sequence[Argument] = ()


class Copy(NamedTuple):
    kind: str
    start: int
    end: int
    size: int
    tid: int = 1
    correlation: int = 0
    stream: int | None = None
    source: int | None = None
    target: int | None = None
    source_address: int = 0
    target_address: int = 0


class Allocation(NamedTuple):
    type: str  # ALLOC | FREE | REALLOC | RECLAIM
    level: str  # REAL | VIRTUAL | SCRATCH
    start: int
    end: int
    size: int
    address: int = 0
    agent: int | None = None
    tid: int = 1
    correlation: int = 0
