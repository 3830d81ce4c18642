"""What a kernel writes, found by running it on poisoned memory.

A byte that ends the same whatever was there before was written, also where it was right already.
A buffer that shows in results only through what is written there is an output: nothing of it is
read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.optimize.input_sets import (
    MAX_CHANGED_BYTES,
    POISON,
    InputSet,
    Spans,
    Subject,
    changes,
)
from rocm_perf_lab.optimize.layout import Buffer, Layout
from rocm_perf_lab.optimize.trial import Trial
from rocm_perf_lab.replay.compare import Bytes, identical
from rocm_perf_lab.replay.session import Fill

# A NaN, which swallows what is added to it, and a small number, which does not.
POISONS = (POISON, 0x3C)
MAX_BUFFERS = 32  # tried one by one

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Written:
    spans: dict[int, Spans]  # by the buffer's address
    outputs: frozenset[int]


def find_written(trial: Trial, buffers: Sequence[Buffer]) -> Written:
    free = [b for b in buffers if not b.const]
    ranges = [(b.address, b.size) for b in free]
    spans: dict[int, Spans] = {}
    outputs: set[int] = set()
    for number, buffer in enumerate(free):
        # Poison in the place of pointers leads nowhere.
        if buffer.holds_pointers or buffer.size > MAX_CHANGED_BYTES or number >= MAX_BUFFERS:
            continue
        left = [trial.leaves([Fill(buffer.address, buffer.size, p)], ranges) for p in POISONS]
        first, second = left
        if first is None or second is None:
            continue  # it reads there, and what it reads matters a great deal
        sure, depends = _told_apart(buffer, first[number], second[number])
        if not sure.any():
            continue
        found = _spans(sure)
        others = _same_but(first, second, number)
        if others and not depends.any():
            outputs.add(buffer.address)
        elif not _unread(trial, buffer, found, ranges):
            continue
        spans[buffer.address] = found
    return Written(spans, frozenset(outputs))


def _told_apart(buffer: Buffer, first: Bytes, second: Bytes) -> tuple[Mask, Mask]:
    """Bytes written whatever was there, and bytes that what was there shows in. The bytes of a
    number go together."""
    same = first == second
    kept = (first == POISONS[0]) & (second == POISONS[1])
    depends = ~same & ~kept
    step = buffer.element_bytes
    whole = buffer.count * step
    for leaf in buffer.leaves:
        size = leaf.type.size
        for mask, both in ((same, np.all), (depends, np.any)):
            rows = mask[:whole].reshape(-1, step)[:, leaf.offset : leaf.offset + size]
            rows[:] = both(rows, axis=1, keepdims=True)
    return same, depends


def _same_but(first: Sequence[Bytes], second: Sequence[Bytes], number: int) -> bool:
    pairs = enumerate(zip(first, second, strict=True))
    return all(identical(a, b) for i, (a, b) in pairs if i != number)


def _unread(trial: Trial, buffer: Buffer, spans: Spans, ranges: Sequence[tuple[int, int]]) -> bool:
    """Whether poison in these places alone shows nowhere."""
    subject = Subject(Layout((buffer,), (), ()), {buffer.address: spans})
    capture = trial.session.capture
    left = [
        trial.leaves(changes(capture, subject, InputSet("", poison=p)), ranges) for p in POISONS
    ]
    first, second = left
    if first is None or second is None:
        return False
    return all(identical(a, b) for a, b in zip(first, second, strict=True))


def _spans(mask: Mask) -> Spans:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return tuple(
        (int(low), int(high - low)) for low, high in zip(edges[::2], edges[1::2], strict=True)
    )
