"""Constraints between device operations: streams, queues, events, graphs, the null stream.

Edges here run between rows of `Operations`.
"""

from __future__ import annotations

import numpy as np

from rocm_perf_lab.analyze.graph.calls import Calls, Role
from rocm_perf_lab.analyze.graph.columns import (
    NONE,
    TimeIndex,
    expand,
    latest_in_group,
    previous_in_group,
    stable_order,
)
from rocm_perf_lab.analyze.graph.edges import (
    NEVER,
    SEAM_NS,
    Bools,
    Confidence,
    Edges,
    Ints,
    Kind,
    edges,
)
from rocm_perf_lab.analyze.graph.operations import Operations

EXPANSION_LIMIT = 4  # sources an event may gather through waits, per call on average
DEEPEST_CHAIN = 64  # streams that only wait, one handing its event to the next


def stream_order(ops: Operations, calls: Calls | None) -> Edges:
    """Each operation after the one before it in its stream.

    Inside one graph launch the streams are the ones the runtime spread the graph over: GRAPH.
    """
    before = previous_in_group(ops.stream)
    dst = np.flatnonzero(before >= 0)
    src = before[dst]
    beside = side_by_side(ops, src, dst)
    if beside.any():
        # Where operations of a stream do run side by side, the one after them waits for all.
        longest = latest_in_group(ops.stream, ops.end)[dst]
        more = (longest != src) & ~side_by_side(ops, longest, dst)
        src, dst = np.append(src, longest[more]), np.append(dst, dst[more])
        beside = np.append(beside, np.zeros(int(more.sum()), np.bool_))
    result = edges(src, dst, Kind.STREAM, Confidence.HIGH, beside)
    if calls is None:
        return result
    call = calls.of_operation
    same_launch = (call[src] >= 0) & (call[src] == call[dst])
    same_launch &= calls.role[call[src]] == Role.GRAPH_LAUNCH
    result.kind[same_launch] = Kind.GRAPH
    result.confidence[same_launch] = Confidence.MEDIUM
    return result


def queue_order(ops: Operations) -> Edges:
    """Each dispatch after the one before it in its hardware queue, where streams do not say so.

    A queue starts packets in order. Whether it also lets one finish first shows in the trace: a
    queue on which operations of different streams run side by side orders only their starts.
    """
    before = previous_in_group(ops.queue)
    dst = np.flatnonzero(before >= 0)
    src = before[dst]
    crossing = (ops.stream[src] != ops.stream[dst]) | (ops.stream[src] < 0)
    src, dst = src[crossing], dst[crossing]
    concurrent = np.zeros(int(ops.queue.max(initial=0)) + 1, np.bool_)
    concurrent[ops.queue[dst[side_by_side(ops, src, dst)]]] = True
    return edges(src, dst, Kind.QUEUE, Confidence.MEDIUM, concurrent[ops.queue[dst]])


def side_by_side(ops: Operations, src: Ints, dst: Ints) -> Bools:
    return ops.start[src] + ops.duration[src] - ops.start[dst] > SEAM_NS


class Frontier:
    """What a stream is still waiting for at a moment of the host's time."""

    def __init__(self, ops: Operations, calls: Calls) -> None:
        self._ops, self._calls = ops, calls
        self.by_launch = TimeIndex.of(ops.stream, calls.launch_time)
        records = calls.rows(Role.EVENT_RECORD)
        self._records = records
        self._by_event = TimeIndex.of(calls.event[records], calls.enter[records])
        waits = calls.rows(Role.STREAM_WAIT)
        waits = waits[calls.stream[waits] >= 0]
        record = self.recorded(calls.event[waits], calls.enter[waits])
        self.waits, self.wait_records = waits[record >= 0], record[record >= 0]
        self._by_wait = TimeIndex.of(calls.stream[self.waits], calls.enter[self.waits])
        self._blocking_of = _blocking_streams(ops, calls)
        self.truncated = False

    def recorded(self, event: Ints, time: Ints) -> Ints:
        """The call that last recorded the event before the time, NONE: a wait for it is void."""
        row = self._by_event.last_before(event, time, strictly=True)
        return np.where(row >= 0, self._records[row], NONE) if len(self._records) else row

    def at(self, rows: Ints, null_too: bool = True) -> tuple[Ints, Ints]:
        """What was ahead of each of these calls in its stream, as pairs (position in `rows`,
        operation): the last operation enqueued before it and, through waits enqueued after that
        one, what their events stood for in turn. `null_too`: the null stream stands for the
        blocking streams of its process as well."""
        calls = self._calls
        question = np.arange(len(rows))
        asked, found = [], []
        budget = EXPANSION_LIMIT * (len(rows) + len(calls)) + 1000
        for _ in range(DEEPEST_CHAIN):
            stream, time = calls.stream[rows], calls.enter[rows]
            null = np.flatnonzero(calls.on_null_stream[rows] & null_too)
            process = calls.process[rows[null]]
            low = np.searchsorted(self._blocking_of[0], process, side="left")
            high = np.searchsorted(self._blocking_of[0], process, side="right")
            if int((high - low).sum()) <= budget:
                owner, position = expand(low, high)
                budget -= len(owner)
                question = np.append(question, question[null[owner]])
                time = np.append(time, time[null[owner]])
                stream = np.append(stream, self._blocking_of[1][position])
            else:
                self.truncated = True

            op = self.by_launch.last_before(stream, time, strictly=True)
            hit = op >= 0
            asked.append(question[hit])
            found.append(op[hit])
            since = np.where(hit, calls.launch_time[op], NEVER)
            low, high = self._by_wait.between(stream, since, time)
            if not (high > low).any():
                break
            if int((high - low).sum()) > budget:
                self.truncated = True
                break
            owner, position = expand(low, high)
            budget -= len(owner)
            question = question[owner]
            rows = self.wait_records[self._by_wait.order[position]]
        else:
            self.truncated = True
        pairs = np.unique(np.concatenate(asked) * len(self._ops) + np.concatenate(found))
        return np.divmod(pairs, len(self._ops))


def _blocking_streams(ops: Operations, calls: Calls) -> tuple[Ints, Ints]:
    """(process, stream) of the streams known to wait for the null stream, by process."""
    process_of = np.full(len(calls.blocking), NONE, np.int64)
    process_of[ops.stream] = ops.process
    blocking = calls.blocking == 1
    blocking[calls.null_streams] = False
    streams = np.flatnonzero(blocking)
    streams = streams[stable_order(process_of[streams])]
    return process_of[streams], streams


def event_waits(ops: Operations, calls: Calls, frontier: Frontier) -> Edges:
    """hipStreamWaitEvent: the stream's next operation after what the event stood for."""
    waits, records = frontier.waits, frontier.wait_records
    dst = frontier.by_launch.first_after(calls.stream[waits], calls.enter[waits])
    live = dst >= 0
    question, src = frontier.at(records[live])
    dst = dst[live][question]
    useful = (src != dst) & (ops.stream[src] != ops.stream[dst])
    return edges(src[useful], dst[useful], Kind.EVENT, Confidence.HIGH)


def graph_boundaries(ops: Operations, calls: Calls, frontier: Frontier) -> Edges:
    """A graph begins after its launch stream's earlier work and holds back its later work."""
    call = calls.of_operation
    inside = np.flatnonzero((call >= 0) & (calls.role[call] == Role.GRAPH_LAUNCH))
    if not len(inside):
        return _none(Kind.GRAPH)
    order = inside[np.lexsort((inside, ops.stream[inside], call[inside]))]
    new = np.ones(len(order), np.bool_)
    new[1:] = (call[order][1:] != call[order][:-1]) | (
        ops.stream[order][1:] != ops.stream[order][:-1]
    )
    first, last = order[new], order[np.append(new[1:], True)]
    launch = call[first]
    elsewhere = calls.stream[launch] != ops.stream[first]
    first, last, launch = first[elsewhere], last[elsewhere], launch[elsewhere]
    question, src = frontier.at(launch)
    later = frontier.by_launch.first_after(calls.stream[launch], calls.enter[launch])
    held = (later >= 0) & (later != last)
    return edges(
        np.concatenate([src, last[held]]),
        np.concatenate([first[question], later[held]]),
        Kind.GRAPH,
        Confidence.MEDIUM,
    )


def legacy_default_stream(ops: Operations, calls: Calls) -> Edges:
    """The null stream waits for every blocking stream, and they wait for it."""
    if not len(calls.null_streams):
        return _none(Kind.LEGACY_DEFAULT_STREAM)
    on_null = np.isin(ops.stream, calls.null_streams)
    eligible = ~on_null & (ops.stream >= 0)
    eligible &= calls.blocking[ops.stream] != 0
    null_ops, others = np.flatnonzero(on_null), np.flatnonzero(eligible)
    if not len(null_ops) or not len(others):
        return _none(Kind.LEGACY_DEFAULT_STREAM)
    device = ops.process * (int(ops.agent.max()) + 2) + ops.agent + 1
    launched = calls.launch_time
    null_line = TimeIndex.of(device[null_ops], launched[null_ops])
    order = others[np.lexsort((launched[others], ops.stream[others]))]
    stream = ops.stream[order]
    after = null_line.first_after(device[order], launched[order])
    before = null_line.last_before(device[order], launched[order], strictly=True)
    change = stream[1:] != stream[:-1]
    last = np.append((after[1:] != after[:-1]) | change, True) & (after >= 0)
    first = np.append(True, (before[1:] != before[:-1]) | change) & (before >= 0)
    src = np.concatenate([order[last], null_ops[before[first]]])
    dst = np.concatenate([null_ops[after[last]], order[first]])
    other = np.where(on_null[src], ops.stream[dst], ops.stream[src])
    known = calls.blocking[other] == 1
    # Not told by the calls: a stream caught running beside the null stream is non-blocking.
    free = np.unique(other[side_by_side(ops, src, dst)])
    kept = known | ~np.isin(other, free)
    sure = np.where(known, Confidence.HIGH, Confidence.MEDIUM).astype(np.int8)
    return edges(src[kept], dst[kept], Kind.LEGACY_DEFAULT_STREAM, sure[kept])


def _none(kind: Kind) -> Edges:
    empty = np.empty(0, np.int64)
    return edges(empty, empty, kind, Confidence.LOW)
