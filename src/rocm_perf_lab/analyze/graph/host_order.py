"""The host's side: which calls wait for the device, and what each launch follows on its thread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rocm_perf_lab.analyze.graph.calls import Calls, Role
from rocm_perf_lab.analyze.graph.columns import NONE, TimeIndex
from rocm_perf_lab.analyze.graph.device_order import Frontier
from rocm_perf_lab.analyze.graph.edges import (
    CLOCK_SKEW_NS,
    ORIGIN,
    Bools,
    Confidence,
    Edges,
    Index,
    Ints,
    Kind,
    Small,
    edges,
)
from rocm_perf_lab.analyze.graph.operations import Operations

# A thread silent this long may have been waiting for another thread.
SILENCE_NS = 50_000
MANY_THREADS = 16
# A queue may be full from this many operations on; a launch is slow from this long on.
FULL_QUEUE, FULL_QUEUE_NS = 64, 10_000
# A launch that waited for room returns this soon after it was made; clocks may be off a little.
PROMPT_NS, PROMPT_CLOCK_NS = 5_000, 2_000
# How many operations a queue holds at least, how many launches show it, and what part of the slow.
LEAST_DEPTH, FEWEST_WAITS, MOST_OF_THEM = 2, 8, 0.8


@dataclass(frozen=True)
class Syncs:
    """Pairs (call, operation): the call returned only after the operation had ended."""

    call: Ints
    operation: Ints
    confidence: Small
    contradicted: int  # pairs left out since the call returned before the operation ended


def syncs(ops: Operations, calls: Calls, frontier: Frontier) -> Syncs:
    call, operation, confidence = [], [], []

    def add(c: Ints, o: Ints, sure: Confidence = Confidence.HIGH) -> None:
        call.append(c)
        operation.append(o)
        confidence.append(np.full(len(c), sure, np.int8))

    own = np.flatnonzero(calls.of_operation >= 0)
    own_call = calls.of_operation[own]
    copies = np.isin(calls.role[own_call], (Role.COPY, Role.COPY_ASYNC))
    ended_inside = ops.start[own] + ops.duration[own] <= calls.leave[own_call]
    add(own_call[copies & ended_inside], own[copies & ended_inside])

    has_own = np.zeros(len(calls), np.bool_)
    has_own[own_call] = True
    on_stream = calls.rows(Role.STREAM_SYNC, Role.COPY)
    on_stream = on_stream[~has_own[on_stream]]
    question, op = frontier.at(on_stream, null_too=False)
    add(on_stream[question], op)
    on_null = on_stream[calls.on_null_stream[on_stream]]
    blocking = (calls.blocking[ops.stream] == 1) & ~np.isin(ops.stream, calls.null_streams)
    add(*_covered(ops, calls, on_null, np.flatnonzero(blocking)))

    events = calls.rows(Role.EVENT_SYNC)
    record = frontier.recorded(calls.event[events], calls.enter[events])
    events, record = events[record >= 0], record[record >= 0]
    question, op = frontier.at(record)
    add(events[question], op)

    add(*_covered(ops, calls, calls.rows(Role.DEVICE_SYNC), np.arange(len(ops))))

    add(*_full_queues(ops, calls), Confidence.MEDIUM)

    calls_of, ops_of, sure = (np.concatenate(c) for c in (call, operation, confidence))
    late = ops.start[ops_of] + ops.duration[ops_of] > calls.leave[calls_of] + CLOCK_SKEW_NS
    late |= ops.start[ops_of] >= calls.leave[calls_of]
    return Syncs(calls_of[~late], ops_of[~late], sure[~late], int(late.sum()))


def _full_queues(ops: Operations, calls: Calls) -> tuple[Ints, Ints]:
    """Launches that waited for room in their queue, with the operation whose end made it.

    Slow launches while an operation of their queue ended: far ahead of the device, or returning
    right after that end with as many in flight as other slow launches of the queue, the room that
    the queue has.
    """
    own = np.flatnonzero((calls.of_operation >= 0) & (ops.queue >= 0))
    call = calls.of_operation[own]
    took = calls.leave[call] - calls.enter[call]
    usual = 3 * np.quantile(took, 0.01) if len(took) else 0
    slow = took > FULL_QUEUE_NS
    own, call, took = own[slow], call[slow], took[slow]
    queue, leave = ops.queue[own], calls.leave[call]
    ended = TimeIndex.of(ops.queue, ops.end)
    launched = TimeIndex.of(ops.queue, calls.launch_time)
    seen = leave + PROMPT_CLOCK_NS
    ahead = launched.count_before(queue, calls.launch_time[own]) - ended.count_before(queue, seen)
    op = ended.last_before(queue, seen)
    inside = (op >= 0) & (ops.end[op] > calls.enter[call])
    prompt = leave - ops.end[op] <= np.maximum(PROMPT_NS, took // 4)
    full = (ahead >= FULL_QUEUE) & (took > usual)
    full |= prompt & _steady_depth(queue, ahead, inside & prompt)
    full &= inside
    return call[full], op[full]


def _steady_depth(queue: Index, ahead: Ints, waited: Bools) -> Bools:
    """Where nearly all slow launches of a queue seem to have waited with as many in flight."""
    result = np.zeros(len(queue), np.bool_)
    for q in np.unique(queue).tolist():
        mine = queue == q
        depths = ahead[mine & waited]
        if len(depths) < FEWEST_WAITS:
            continue
        depth = int(np.median(depths))
        same = mine & waited & (np.abs(ahead - depth) <= 1)
        if depth >= LEAST_DEPTH and same.sum() >= MOST_OF_THEM * mine.sum():
            result |= same
    return result


def _covered(ops: Operations, calls: Calls, rows: Ints, among: Ints) -> tuple[Ints, Ints]:
    """Device-wide waits: each sync with the last operation of every stream enqueued before it.

    An operation is given to the first sync after its launch only, and of those of one stream
    the last: linear in the operations, and the rest follows from order on the host's thread.
    """
    empty = np.empty(0, np.int64)
    if not len(rows) or not len(among):
        return empty, empty
    launched = among[np.lexsort((calls.launch_time[among], ops.stream[among]))]
    device, device_of_call = _devices(ops, calls, rows)
    threads = np.unique(calls.thread[rows])
    groups = [calls.thread[rows] == t for t in threads.tolist()]
    if len(groups) > MANY_THREADS:
        groups = [np.ones(len(rows), np.bool_)]
    call_parts, op_parts = [], []
    for group in groups:
        mine = rows[group]
        line = TimeIndex.of(device_of_call[group], calls.enter[mine])
        first = line.first_after(device[launched], calls.launch_time[launched])
        stream = ops.stream[launched]
        last = np.append((first[1:] != first[:-1]) | (stream[1:] != stream[:-1]), True)
        last &= first >= 0
        call_parts.append(mine[first[last]])
        op_parts.append(launched[last])
    return np.concatenate(call_parts), np.concatenate(op_parts)


def _devices(ops: Operations, calls: Calls, rows: Ints) -> tuple[Index, Ints]:
    """A device key per operation and per sync: the one its thread launched to last."""
    width = int(ops.agent.max(initial=0)) + 2
    several = np.zeros(int(max(ops.process.max(), calls.process.max())) + 1, np.bool_)
    known = ops.agent >= 0
    pairs = np.unique(ops.process[known] * width + ops.agent[known]) // width
    several[pairs[1:][pairs[1:] == pairs[:-1]]] = True
    agent = np.where(several[ops.process], ops.agent, NONE)
    launched = np.flatnonzero(calls.of_operation >= 0)
    launcher = calls.of_operation[launched]
    line = TimeIndex.of(calls.thread[launcher], calls.enter[launcher])
    row = line.last_before(calls.thread[rows], calls.enter[rows])
    call_agent = np.full(len(rows), NONE, np.int64)
    call_agent[row >= 0] = agent[launched[row[row >= 0]]]
    return ops.process * width + agent + 1, calls.process[rows] * width + call_agent + 1


@dataclass(frozen=True)
class Anchors:
    """Where each call hangs on the host's time: rigidly after the return of a blocking call.

    `row` indexes the blocking calls given; NONE: it hangs on the beginning of the trace.
    `guessed`: the return is another thread's, which this one may have waited for.
    """

    row: Ints
    guessed: Bools


def anchors(calls: Calls, blocking: Ints, asked: Ints) -> Anchors:
    leave = calls.leave[blocking]
    own_line = TimeIndex.of(calls.thread[blocking], leave)
    own = own_line.last_before(calls.thread[asked], calls.enter[asked])
    itself = (own >= 0) & (blocking[own] == asked) if len(blocking) else own >= 0
    own[itself] = own_line.last_before(
        calls.thread[asked[itself]], calls.enter[asked[itself]], strictly=True
    )
    threads = np.unique(calls.thread)
    if len(threads) < 2 or not len(blocking):
        return Anchors(own, np.zeros(len(asked), np.bool_))
    # Heads: calls that end a thread's silence during which another thread returned from a wait.
    everyone = TimeIndex.of(calls.process[blocking], leave)
    rows = np.arange(len(calls))
    trigger = everyone.last_before(calls.process, calls.enter)
    head = (trigger >= 0) & (calls.enter - SILENCE_NS > calls.thread_silent_since)
    head[head] &= (leave[trigger[head]] > calls.thread_silent_since[head]) & (
        calls.thread[blocking[trigger[head]]] != calls.thread[head]
    )
    heads = rows[head]
    line = TimeIndex.of(calls.thread[heads], calls.enter[heads])
    last_head = line.last_before(calls.thread[asked], calls.enter[asked])
    guess = np.where(last_head >= 0, trigger[heads[last_head]] if len(heads) else NONE, NONE)
    own_time = np.where(own >= 0, leave[own], -(1 << 62))
    guess_time = np.where(guess >= 0, leave[guess], -(1 << 62))
    guessed = guess_time > own_time
    return Anchors(np.where(guessed, guess, own), guessed)


@dataclass(frozen=True)
class Returns:
    """Returns of waiting calls as nodes to be, by time, and what they and the launches hang on."""

    rows: Ints  # into Calls: the calls that become nodes
    enter: Ints
    leave: Ints
    sync_return: Ints  # per sync pair: which of `rows`
    sync_operation: Ints
    sync_confidence: Small
    contradicted: int

    @staticmethod
    def of(ops: Operations, calls: Calls | None, frontier: Frontier | None) -> Returns:
        empty = np.empty(0, np.int64)
        if calls is None or frontier is None:
            return Returns(empty, empty, empty, empty, empty, empty.astype(np.int8), 0)
        waits = syncs(ops, calls, frontier)
        # A return after the last operation holds nothing back.
        live = calls.leave[waits.call] <= ops.span_ns
        live &= calls.leave[waits.call] > 0
        rows, which = np.unique(waits.call[live], return_inverse=True)
        rows_by_leave = np.argsort(calls.leave[rows], kind="stable")
        place = np.empty(len(rows), np.int64)
        place[rows_by_leave] = np.arange(len(rows))
        rows = rows[rows_by_leave]
        return Returns(
            rows,
            calls.enter[rows],
            calls.leave[rows],
            place[which],
            waits.operation[live],
            waits.confidence[live],
            waits.contradicted,
        )

    def edges(self, calls: Calls | None, returns: Index, node_of_op: Index) -> list[Edges]:
        if calls is None:
            return []
        launched = np.flatnonzero(calls.of_operation >= 0)
        launcher = calls.of_operation[launched]
        asked = np.concatenate([launcher, self.rows])
        anchor = anchors(calls, self.rows, asked)
        hangs = anchor.row >= 0
        src = np.full(len(asked), ORIGIN, np.int64)
        src[hangs] = returns[anchor.row[hangs]]
        since = np.zeros(len(asked), np.int64)
        since[hangs] = self.leave[anchor.row[hangs]]
        rigid = calls.enter[asked] - since
        sure = np.where(anchor.guessed, Confidence.LOW, Confidence.HIGH).astype(np.int8)
        n = len(launched)
        return [
            edges(src[:n], node_of_op[launched], Kind.HOST_LAUNCH, sure[:n], rigid=rigid[:n]),
            edges(src[n:], returns, Kind.HOST_ORDER, sure[n:], rigid=rigid[n:]),
            edges(
                node_of_op[self.sync_operation],
                returns[self.sync_return],
                Kind.HOST_SYNC,
                self.sync_confidence,
            ),
        ]
