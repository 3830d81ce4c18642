"""What the host did in a stretch of time in which the device waited, by name.

The call it was in, the framework's operator above it and the Python function above that, as far
as they were recorded. A name counts if it covers at least half of the stretch; of those that do,
the innermost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from rocm_perf_lab.analyze.graph.anatomy import Anatomy
from rocm_perf_lab.analyze.graph.edges import Bools, Ints
from rocm_perf_lab.analyze.graph.gaps import CAUSES, SYNC
from rocm_perf_lab.trace.trace import Frames, Operators, Regions

_COVERS = 0.5
# HSA's calls lie inside HIP's, and say less to who wrote the program.
_OUTER = ("hip", "cuda")
_MARKERS = ("MARKER", "OPERATOR")
_WAITS = ("Synchronize", "Synchronize_spt")
# Frames that are not the program's own: Python's, the framework's, and callables without a file.
_FOREIGN = re.compile(
    r"^<|^nn\.Module|^(torch|torchvision|triton|transformers|numpy|threading|contextlib|functools"
    r"|asyncio|importlib|multiprocessing|concurrent|runpy)\b|(site|dist)-packages|/lib/python3"
)
_PYTHON_FILE = re.compile(r"\.py\(\d+\): ")


@dataclass(frozen=True)
class Culprit:
    """A stretch of time without a kernel and what the host did in it."""

    start_ns: int  # after the first operation
    ns: int
    cause: str  # of CAUSES: the largest part of it
    ended_by: str | None  # the kernel that ended it
    call: str | None  # the runtime call that covers it
    calls: int  # how many of that call
    operator: str | None
    frame: str | None  # the innermost Python function
    own_frame: str | None  # the innermost that belongs to the program itself

    @property
    def known(self) -> bool:
        """Whether the recording names what went on."""
        return any((self.call, self.operator, self.frame))


class Witness:
    """Who was at work on the host, of one run."""

    def __init__(self, anatomy: Anatomy) -> None:
        self._a = anatomy
        run = anatomy.run
        outer = [s.startswith(_OUTER) for s in run.strings]
        marks = [any(m in s.upper() for m in _MARKERS) for s in run.strings]
        r = run.regions
        real = (r.name >= 0) & ~np.array([*marks, False])[r.category]
        hip = np.array([*outer, False])[r.name]
        self.calls = real & hip if (real & hip).any() else real
        # A host that waits for the device does not hold it up.
        waits = np.array([*(s.endswith(_WAITS) for s in run.strings), False])[r.name]
        self._busy = self.calls & ~waits

    def gap(self, row: int) -> Culprit:
        a, g = self._a, self._a.gaps
        mine = np.flatnonzero(g.of == row)
        parts = g.by_cause(mine)
        ender = int(g.ender[row])
        return self.stretch(
            int(g.low[row]),
            int(g.high[row]),
            cause=max(CAUSES, key=lambda cause: parts[cause]),
            ender=ender,
            ended_by=a.ops.names[a.ops.name[ender]] if ender >= 0 else None,
        )

    def stretch(
        self, low: int, high: int, cause: str, ender: int = -1, ended_by: str | None = None
    ) -> Culprit:
        a, run = self._a, self._a.run
        call_row = int(a.call[ender]) if ender >= 0 else -1
        thread = int(run.regions.thread[call_row]) if call_row >= 0 else -1
        name, count = self._call(low, high, thread, self.calls if cause == SYNC else self._busy)
        frames = run.frames
        inner, own = (None, None)
        if frames is not None:
            foreign = np.array([_foreign(n) for n in frames.names])
            inner = self._innermost(frames, low, high, thread, ~_nameless(frames)[frames.name])
            own = self._innermost(frames, low, high, thread, ~foreign[frames.name])
        return Culprit(
            start_ns=low,
            ns=high - low,
            cause=cause,
            ended_by=ended_by,
            call=name,
            calls=count,
            operator=self._innermost(run.operators, low, high, thread),
            frame=inner,
            own_frame=own,
        )

    def _inside(self, table: Regions | Operators | Frames, low: int, high: int) -> Ints:
        origin = self._a.ops.origin_ns
        start = np.maximum(table.start_ns - origin, low)
        took: Ints = np.maximum(np.minimum(table.end_ns - origin, high) - start, 0)
        return took

    def _call(self, low: int, high: int, thread: int, among: Bools) -> tuple[str | None, int]:
        """The call that fills most of the stretch, if it fills half of it, and how many of it."""
        r = self._a.run.regions
        mine = among & ((r.thread == thread) | (thread < 0))
        took = np.where(mine, self._inside(r, low, high), 0)
        rows = np.flatnonzero(took)
        if not len(rows):
            return None, 0
        total = np.bincount(r.name[rows], took[rows])
        most = int(np.argmax(total))
        if total[most] < _COVERS * (high - low):
            return None, 0
        each = took[rows[r.name[rows] == most]]
        alone = each.max() >= _COVERS * (high - low)
        return self._a.run.strings[most], 1 if alone else len(each)

    def _innermost(
        self,
        table: Operators | Frames | None,
        low: int,
        high: int,
        thread: int,
        among: Bools | None = None,
    ) -> str | None:
        if table is None or not len(table):
            return None
        covers = self._inside(table, low, high) >= _COVERS * (high - low)
        if among is not None:
            covers &= among
        own = covers & (table.thread == thread)
        rows = np.flatnonzero(own if own.any() else covers)
        if not len(rows):
            return None
        last = rows[np.lexsort((-table.end_ns[rows], table.start_ns[rows]))[-1]]
        return table.names[int(table.name[last])]


def _nameless(frames: Frames) -> Bools:
    return np.array([not _PYTHON_FILE.search(n) for n in frames.names])


def _foreign(name: str) -> bool:
    return bool(_FOREIGN.search(name)) or not _PYTHON_FILE.search(name)


def sentence(c: Culprit) -> str:
    """What a stretch was, without its length: "in hipMemcpy, of aten::copy_, of train.py(3): f"."""
    words = []
    if c.call:
        several = f"{c.calls:,} calls of " if c.calls > 1 else ""
        words.append(f"in {several}{c.call}")
    if c.operator:
        words.append(f"of {c.operator}" if words else f"in {c.operator}")
    frames = [f for f in dict.fromkeys((c.frame, c.own_frame)) if f]
    for frame in frames:
        words.append(f"under {frame}")
    return ", ".join(words)
