"""The vocabulary of the dispatch graph: kinds of constraint, confidence, and the edge columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Index = npt.NDArray[np.int32]  # rows and nodes: a trace has fewer than 2^31
Bools = npt.NDArray[np.bool_]
Small = npt.NDArray[np.int8]

NEVER = -(1 << 62)
ORIGIN = 0  # the node every replay starts from: the first device operation's start


class Kind(IntEnum):
    """Why one node cannot begin before another."""

    STREAM = 0
    QUEUE = 1
    EVENT = 2
    HOST_LAUNCH = 3
    HOST_SYNC = 4
    HOST_ORDER = 5
    LEGACY_DEFAULT_STREAM = 6
    GRAPH = 7
    INFERRED = 8


EdgeKind = Literal[
    "STREAM",
    "QUEUE",
    "EVENT",
    "HOST_LAUNCH",
    "HOST_SYNC",
    "HOST_ORDER",
    "LEGACY_DEFAULT_STREAM",
    "GRAPH",
    "INFERRED",
]
KINDS: tuple[EdgeKind, ...] = get_args(EdgeKind)  # by Kind


class Confidence(IntEnum):
    LOW = 0
    MEDIUM = 1
    HIGH = 2


@dataclass(frozen=True)
class Latency:
    """What to expect of an edge kind, in ns; see docs/dag.md for why.

    typical: used where the trace shows no example; ceiling: no estimate from the trace may be
    larger; jitter: an operation that begins this much later than every known constraint allows
    is still explained by the last of them, beyond it the delay is INFERRED.
    """

    typical: int
    ceiling: int
    jitter: int


LATENCIES = {
    Kind.STREAM: Latency(1_000, 10_000, 10_000),
    Kind.QUEUE: Latency(0, 10_000, 10_000),
    Kind.EVENT: Latency(5_000, 20_000, 30_000),
    Kind.HOST_LAUNCH: Latency(5_000, 20_000, 100_000),
    Kind.HOST_SYNC: Latency(5_000, 20_000, 0),
    Kind.HOST_ORDER: Latency(1_000, 10_000, 0),
    Kind.LEGACY_DEFAULT_STREAM: Latency(1_000, 10_000, 30_000),
    Kind.GRAPH: Latency(1_000, 10_000, 30_000),
    Kind.INFERRED: Latency(0, 0, 0),
}
# Host and device clocks are matched by the driver to within a few microseconds; a sync that
# seems to return earlier than this before the work it waited for did not wait for it.
CLOCK_SKEW_NS = 10_000
# Two operations of one in-order stream may overlap a little at the seam (568 ns at most on a
# recorded MI350X training step); more than this and they ran side by side.
SEAM_NS = 1_000
LOW_QUANTILE = 0.25


@dataclass(frozen=True)
class Edges:
    """Constraints as columns: node dst begins no earlier than `lag` after node src ends.

    `after_start`: it waits for src's start only. `rigid` is the part of the lag that is host
    time between two calls; the rest of the lag is the latency of the kind.
    """

    src: Index
    dst: Index
    kind: Small
    confidence: Small
    after_start: Bools
    rigid: Ints

    def __len__(self) -> int:
        return len(self.src)

    def of_kind(self, *kinds: Kind) -> Bools:
        table = np.zeros(len(Kind), np.bool_)
        table[list(kinds)] = True
        return table[self.kind]

    def take(self, which: Ints | Bools) -> Edges:
        return Edges(
            self.src[which],
            self.dst[which],
            self.kind[which],
            self.confidence[which],
            self.after_start[which],
            self.rigid[which],
        )


def edges(
    src: npt.NDArray[Any],
    dst: npt.NDArray[Any],
    kind: Kind,
    confidence: Confidence | Small,
    after_start: Bools | None = None,
    rigid: Ints | None = None,
) -> Edges:
    n = len(src)
    return Edges(
        src.astype(np.int32, copy=False),
        dst.astype(np.int32, copy=False),
        np.full(n, kind, np.int8),
        confidence if isinstance(confidence, np.ndarray) else np.full(n, confidence, np.int8),
        np.zeros(n, np.bool_) if after_start is None else after_start,
        np.zeros(n, np.int64) if rigid is None else rigid,
    )


def join(parts: Sequence[Edges]) -> Edges:
    return Edges(
        np.concatenate([np.empty(0, np.int32), *(p.src for p in parts)]),
        np.concatenate([np.empty(0, np.int32), *(p.dst for p in parts)]),
        np.concatenate([np.empty(0, np.int8), *(p.kind for p in parts)]),
        np.concatenate([np.empty(0, np.int8), *(p.confidence for p in parts)]),
        np.concatenate([np.empty(0, np.bool_), *(p.after_start for p in parts)]),
        np.concatenate([np.empty(0, np.int64), *(p.rigid for p in parts)]),
    )
