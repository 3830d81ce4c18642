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
from rocm_perf_lab.trace.trace import Frames, Operators, Regions, Trace

_COVERS = 0.5
_MOST_CALLS, _WORTH_NAMING = 3, 0.05
# HSA's calls lie inside HIP's, and say less to who wrote the program.
_OUTER = ("hip", "cuda")
_MARKERS = ("MARKER", "OPERATOR")
_WAITS = re.compile(r"Synchronize(_spt)?$|(Stream|Event)Query|signal_wait")
# Frames that are not the program's own: Python's, the framework's, and callables without a file.
_FRAMEWORKS = "torch torchvision triton transformers numpy"
_PYTHONS_OWN = (
    "abc asyncio codecs collections concurrent contextlib copy ctypes dataclasses enum functools "
    "gc heapq importlib inspect io itertools json logging multiprocessing operator os pathlib "
    "pickle queue random re runpy selectors shutil signal socket socketserver ssl subprocess "
    "tempfile threading tokenize traceback types typing unittest warnings weakref zipfile"
)
_FOREIGN = re.compile(
    r"^<|(site|dist)-packages|/lib/python3|"
    rf"^({'|'.join((_FRAMEWORKS + ' ' + _PYTHONS_OWN).split())})\b"
)
_UNTOLD = re.compile(r"^<|^ProfilerStep")  # names of no place: the rest are annotations
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
    operator: str | None  # or a module, or a range the program annotated
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
        waits = np.array([*(bool(_WAITS.search(s)) for s in run.strings), False])[r.name]
        self._busy = self.calls & ~waits
        self._near = {
            kind: _Near(table, anatomy.ops.origin_ns)
            for kind, table in (("call", r), ("operator", run.operators), ("frame", run.frames))
            if table is not None
        }
        names = run.frames.names if run.frames is not None else ()
        self._python = np.array([bool(_PYTHON_FILE.search(n)) for n in names], np.bool_)
        self._annotated = np.array([not _UNTOLD.search(n) for n in names], np.bool_) & ~self._python
        self._own = self._python & np.array([not _FOREIGN.search(n) for n in names], np.bool_)

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
        return Culprit(
            start_ns=low,
            ns=high - low,
            cause=cause,
            ended_by=ended_by,
            call=name,
            calls=count,
            operator=self._innermost("operator", low, high, thread)
            or self._innermost("frame", low, high, thread, self._annotated),
            frame=self._innermost("frame", low, high, thread, self._python),
            own_frame=self._innermost("frame", low, high, thread, self._own),
        )

    def calls_in(self, low: int, high: int) -> tuple[tuple[str, int, int], ...]:
        """The calls that fill most of a stretch: name, how many, ns; the largest first."""
        run = self._a.run
        rows, took = self._near["call"].within(low, high)
        mine = self._busy[rows]
        name = run.regions.name[rows[mine]]
        total = np.bincount(name, took[mine], minlength=len(run.strings))
        count = np.bincount(name, minlength=len(run.strings))
        order = np.lexsort((np.arange(len(total)), -total))[:_MOST_CALLS]
        return tuple(
            (run.strings[i], int(count[i]), int(total[i]))
            for i in order.tolist()
            if total[i] >= _WORTH_NAMING * (high - low) > 0
        )

    def _call(self, low: int, high: int, thread: int, among: Bools) -> tuple[str | None, int]:
        """The call that fills most of the stretch, if it fills half of it, and how many of it."""
        r = self._a.run.regions
        rows, took = self._near["call"].within(low, high)
        mine = among[rows] & ((r.thread[rows] == thread) | (thread < 0))
        rows, took = rows[mine], took[mine]
        if not len(rows):
            return None, 0
        total = np.bincount(r.name[rows], took)
        most = int(np.argmax(total))
        if total[most] < _COVERS * (high - low):
            return None, 0
        each = took[r.name[rows] == most]
        alone = each.max() >= _COVERS * (high - low)
        return self._a.run.strings[most], 1 if alone else len(each)

    def _innermost(
        self, kind: str, low: int, high: int, thread: int, names: Bools | None = None
    ) -> str | None:
        """`names`: those that count."""
        near = self._near.get(kind)
        if near is None or isinstance(near.table, Regions):
            return None
        table = near.table
        rows, took = near.within(low, high)
        rows = rows[took >= _COVERS * (high - low)]
        if names is not None:
            rows = rows[names[table.name[rows]]]
        own = rows[table.thread[rows] == thread]
        rows = own if len(own) else rows
        if not len(rows):
            return None
        last = rows[np.lexsort((-table.end_ns[rows], table.start_ns[rows]))[-1]]
        return table.names[int(table.name[last])]


class _Near:
    """The rows of a table that a stretch of time touches, without a look at all of them."""

    def __init__(self, table: Regions | Operators | Frames, origin_ns: int) -> None:
        self.table = table
        start = table.start_ns - origin_ns
        self._order = np.argsort(start, kind="stable")
        self._start = start[self._order]
        self._end = (table.end_ns - origin_ns)[self._order]
        self._reach = np.maximum.accumulate(self._end)  # none before ends later

    def within(self, low: int, high: int) -> tuple[Ints, Ints]:
        """Rows, and how much of the stretch each fills."""
        first = int(np.searchsorted(self._reach, low, side="right"))
        last = int(np.searchsorted(self._start, high, side="left"))
        part = slice(first, max(first, last))
        took = np.minimum(self._end[part], high) - np.maximum(self._start[part], low)
        return self._order[part][took > 0], took[took > 0]


def python_recorded(run: Trace) -> bool:
    return run.frames is not None and any(_PYTHON_FILE.search(n) for n in run.frames.names)


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
