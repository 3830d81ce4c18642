"""Device time per operator of a framework: the one that made the launching call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.trace.columns import MISSING, positions
from rocm_perf_lab.trace.trace import Copies, Dispatches, IndexColumn, IntColumn, Operators, Trace

NO_OPERATOR = "(no operator)"  # the runtime call that launched it stands before it, if known
EARLIER = "(launched before the recording began)"


@dataclass(frozen=True)
class OperatorTime:
    name: str
    calls: int  # of the operator, launching or not; 0 for work without an operator
    launches: int
    device_ns: int
    share: float  # of the time of all kernels and copies


@dataclass(frozen=True)
class SelfTimes:
    """Stretches in which an operator ran on the host and none of its callees did."""

    name: IndexColumn  # -> Operators.names
    start: IntColumn
    end: IntColumn


def self_times(ops: Operators, origin_ns: int) -> SelfTimes:
    """By a stack per thread; times are after the origin."""
    name: list[int] = []
    start: list[int] = []
    end: list[int] = []

    def add(who: int, begin: int, stop: int) -> None:
        if stop > begin:
            name.append(who)
            start.append(begin)
            end.append(stop)

    order = np.lexsort((-ops.end_ns, ops.start_ns, ops.thread, ops.process))
    columns = (ops.process, ops.thread, ops.name, ops.start_ns - origin_ns, ops.end_ns - origin_ns)
    stack: list[tuple[int, int]] = []  # name, end
    where: tuple[int, int] | None = None
    now = 0
    rows = zip(*(column[order].tolist() for column in columns), strict=True)
    for process, thread, who, begin, stop in rows:
        if (process, thread) != where:
            while stack:
                owner, until = stack.pop()
                add(owner, now, until)
                now = max(now, until)
            where, now = (process, thread), begin
        while stack and stack[-1][1] <= begin:
            owner, until = stack.pop()
            add(owner, now, until)
            now = max(now, until)
        if stack:
            add(stack[-1][0], now, begin)
        now = begin
        stack.append((who, stop))
    while stack:
        owner, until = stack.pop()
        add(owner, now, until)
        now = max(now, until)
    return SelfTimes(np.array(name, np.int32), np.array(start, np.int64), np.array(end, np.int64))


def operator_times(run: Trace) -> tuple[OperatorTime, ...]:
    """The most device time first; empty where the trace records no operator."""
    ops = run.operators
    if ops is None or not len(ops):
        return ()
    d, c = run.dispatches, run.copies
    row = np.concatenate([_operator_of(run, t.process, t.correlation) for t in (d, c)])
    length = np.concatenate([d.end_ns - d.start_ns, c.end_ns - c.start_ns])
    # Work without an operator is told by the call that launched it: a graph launch, say.
    call = np.concatenate([_call_of(run, t.process, t.correlation) for t in (d, c)])
    names = [
        *ops.names,
        *(f"{text} {NO_OPERATOR}" for text in run.strings),
        NO_OPERATOR,
        EARLIER,
    ]
    n = len(names)
    earlier = np.concatenate([launched_earlier(run, t) for t in (d, c)])
    by_call = np.where(call >= 0, len(ops.names) + call, np.where(earlier, n - 1, n - 2))
    name = np.where(row >= 0, np.append(ops.name, -1)[row], by_call)
    device = np.zeros(n, np.int64)
    np.add.at(device, name, length)
    launches = np.bincount(name, minlength=n)
    calls = np.bincount(ops.name, minlength=n)
    whole = int(length.sum())
    order = np.lexsort((np.arange(n), -device))
    return tuple(
        OperatorTime(
            name=names[i],
            calls=int(calls[i]),
            launches=int(launches[i]),
            device_ns=int(device[i]),
            share=int(device[i]) / whole if whole else 0.0,
        )
        for i in order.tolist()
        if launches[i]
    )


def launched_earlier(run: Trace, table: Dispatches | Copies) -> npt.NDArray[np.bool_]:
    """Which operations were launched before the recording began: launches are recorded and theirs
    is not, though it had a smaller number than any call or they run before the first."""
    r = run.regions
    result = np.zeros(len(table), np.bool_)
    for process in np.unique(table.process).tolist():
        calls = np.flatnonzero((r.process == process) & (r.correlation > 0))
        mine = table.process == process
        launched = mine & np.isin(table.correlation, r.correlation[calls])
        if not launched.any():
            continue  # calls of another kind: markers, say
        first = int(r.correlation[calls].min())
        smaller = (table.correlation > 0) & (table.correlation < first)
        result |= mine & ~launched & (smaller | (table.start_ns < r.start_ns[calls].min()))
    return result


def _operator_of(run: Trace, process: IndexColumn, correlation: IntColumn) -> IntColumn:
    """Row of the operator that launched each operation, -1 unknown."""
    ops = run.operators
    assert ops is not None
    at = _positions(ops.launch_process, ops.launch_correlation, process, correlation)
    return np.where(at >= 0, np.append(ops.launch_operator, -1)[at], -1).astype(np.int64)


def _call_of(run: Trace, process: IndexColumn, correlation: IntColumn) -> IntColumn:
    """Name of the runtime call that launched each operation, -1 unknown."""
    r = run.regions
    at = _positions(r.process, r.correlation, process, correlation)
    return np.where(at >= 0, np.append(r.name, -1)[at], -1).astype(np.int64)


def _positions(
    process: IndexColumn, correlation: IntColumn, of: IndexColumn, wanted: IntColumn
) -> IntColumn:
    """Where each wanted correlation id stands; ids are unique within a process only."""
    if not len(correlation) or not len(wanted):
        return np.full(len(wanted), -1, np.int64)
    width = int(max(correlation.max(), wanted.max(initial=0))) + 2
    known = process.astype(np.int64) * width + np.maximum(correlation, -1)
    asked = np.where(wanted >= 0, of.astype(np.int64) * width + wanted, MISSING)
    return positions(known, asked)
