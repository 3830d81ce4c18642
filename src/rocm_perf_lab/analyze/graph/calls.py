"""Host API calls that order device work: what each does, on which stream, for which operation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from rocm_perf_lab.analyze.graph.columns import NONE, TimeIndex, dense, stable_order
from rocm_perf_lab.analyze.graph.edges import Bools, Index, Ints, Small
from rocm_perf_lab.analyze.graph.operations import Operations
from rocm_perf_lab.trace.trace import Trace


class Role(IntEnum):
    OTHER = 0
    DEVICE_SYNC = 1
    STREAM_SYNC = 2
    EVENT_SYNC = 3
    EVENT_RECORD = 4
    STREAM_WAIT = 5
    COPY = 6  # returns when its copy is done
    COPY_ASYNC = 7  # may return early; pageable memory makes it wait all the same
    GRAPH_LAUNCH = 8
    STREAM_CREATE = 9


ROLES = {
    "hipDeviceSynchronize": Role.DEVICE_SYNC,
    "hipCtxSynchronize": Role.DEVICE_SYNC,
    "hipDeviceReset": Role.DEVICE_SYNC,
    # Freeing memory waits for the device, since work in flight may still use it.
    "hipFree": Role.DEVICE_SYNC,
    "hipHostFree": Role.DEVICE_SYNC,
    "hipFreeHost": Role.DEVICE_SYNC,
    "hipFreeArray": Role.DEVICE_SYNC,
    "hipModuleUnload": Role.DEVICE_SYNC,
    "hipStreamSynchronize": Role.STREAM_SYNC,
    "hipEventSynchronize": Role.EVENT_SYNC,
    "hipEventRecord": Role.EVENT_RECORD,
    "hipEventRecordWithFlags": Role.EVENT_RECORD,
    "hipStreamWaitEvent": Role.STREAM_WAIT,
    "hipGraphLaunch": Role.GRAPH_LAUNCH,
    "hipStreamCreate": Role.STREAM_CREATE,
    "hipStreamCreateWithFlags": Role.STREAM_CREATE,
    "hipStreamCreateWithPriority": Role.STREAM_CREATE,
    "hipExtStreamCreateWithCUMask": Role.STREAM_CREATE,
}
PER_THREAD_SUFFIX = "_spt"
LEGACY_HANDLE, PER_THREAD_HANDLE = 1, 2  # hipStreamLegacy, hipStreamPerThread
NULL_KEY = 0
NON_BLOCKING = 1  # hipStreamNonBlocking
LONG_AGO = -(1 << 62)


def role(name: str) -> Role:
    base = name.removesuffix(PER_THREAD_SUFFIX)
    if base.startswith("cuda"):  # as PyTorch names them where it was built for CUDA
        base = "hip" + base.removeprefix("cuda")
    if base in ROLES:
        return ROLES[base]
    if base.startswith(("hipMemcpy", "hipMemset")):
        return Role.COPY_ASYNC if "Async" in base else Role.COPY
    return Role.OTHER


@dataclass(frozen=True)
class Calls:
    """The calls that matter, by start. Times are ns after the operations' origin."""

    process: Ints
    thread: Ints
    role: Ints
    enter: Ints
    leave: Ints
    event: Ints  # dense over (process, event handle), NONE without
    stream: Ints  # index as in Operations, NONE unknown or without
    on_null_stream: Bools
    of_operation: Ints  # per operation: the call that enqueued it, NONE unknown
    launch_time: Ints  # per operation: when it was enqueued; its start where unknown
    null_streams: Ints  # indices of the streams that handle 0 stood for
    blocking: Small  # per stream: 1 waits for the null stream, 0 does not, NONE not known
    thread_silent_since: Ints  # per call: when the thread's previous call of any kind returned
    region: Ints  # per call: its row of the trace's regions

    def __len__(self) -> int:
        return len(self.enter)

    def rows(self, *roles: Role) -> Ints:
        return np.flatnonzero(np.isin(self.role, roles))


def calls(trace: Trace, ops: Operations) -> Calls:
    r = trace.regions
    used = np.unique(r.name)
    used = used[used >= 0]
    role_of = np.zeros(len(trace.strings) + 1, np.int64)
    per_thread_of = np.zeros(len(trace.strings) + 1, np.bool_)
    for index in used.tolist():
        role_of[index] = role(trace.strings[index])
        per_thread_of[index] = trace.strings[index].endswith(PER_THREAD_SUFFIX)

    region_of_op = _match(ops.process, ops.correlation, r.process, r.correlation)
    region_of_op = np.where(ops.call >= 0, ops.call, region_of_op)
    matters = role_of[r.name] != Role.OTHER
    matters[region_of_op[region_of_op >= 0]] = True
    kept = np.flatnonzero(matters)
    new_row = np.full(len(r) + 1, NONE, np.int64)
    new_row[kept] = np.arange(len(kept))
    of_op = np.where(region_of_op >= 0, new_row[region_of_op], NONE)

    process, thread = r.process[kept].astype(np.int64), r.thread[kept].astype(np.int64)
    roles = role_of[r.name[kept]]
    enter = r.start_ns[kept] - ops.origin_ns
    leave = np.maximum(r.end_ns[kept] - ops.origin_ns, enter)
    handle = r.stream_handle[kept]
    events = r.event_handle[kept]
    event = np.full(len(kept), NONE, np.int64)
    with_event = np.flatnonzero(events >= 0)
    event[with_event] = dense(process[with_event], events[with_event])

    # A stream's key: its handle; handles 0 and 1 are the null stream, a per-thread default
    # stream is told by its thread.
    key = np.where(handle == LEGACY_HANDLE, NULL_KEY, handle)
    key = np.where((handle < 0) & (roles == Role.COPY), NULL_KEY, key)
    own_default = (handle == PER_THREAD_HANDLE) | (per_thread_of[r.name[kept]] & (key == 0))
    key = np.where(own_default, -2 - thread, key)
    has_key = key != NONE

    op_rows = np.flatnonzero(of_op >= 0)
    call_stream = np.full(len(kept), NONE, np.int64)
    many = np.zeros(len(kept), np.bool_)
    if len(op_rows):
        first_rows = op_rows[::-1]  # the last write wins: the call's first operation
        call_stream[of_op[first_rows]] = ops.stream[first_rows]
        elsewhere = op_rows[ops.stream[op_rows] != call_stream[of_op[op_rows]]]
        many[of_op[elsewhere]] = True
    learnt = has_key & (call_stream >= 0) & (roles != Role.GRAPH_LAUNCH) & ~many
    # A plain launch's stream is the stream its operation ran on, handle or not.
    direct = (call_stream >= 0) & (roles != Role.GRAPH_LAUNCH)
    stream = _resolve(process, thread, key, enter, learnt, call_stream, has_key & ~direct)
    stream = np.where(stream < 0, call_stream, stream)

    on_null = key == NULL_KEY
    null_streams = np.unique(call_stream[learnt & on_null])
    launch_time = ops.start.copy()
    launch_time[op_rows] = enter[of_op[op_rows]]
    return Calls(
        process=process,
        thread=thread,
        role=roles,
        enter=enter,
        leave=leave,
        event=event,
        stream=stream,
        on_null_stream=on_null,
        of_operation=of_op,
        # An operation cannot begin before it is enqueued; clocks may disagree a little.
        launch_time=np.minimum(launch_time, ops.start),
        null_streams=null_streams,
        blocking=_blocking(roles, r.flags[kept], process, ops),
        thread_silent_since=_silent_since(trace, ops)[kept],
        region=kept,
    )


def _match(process: Index, wanted: Ints, other_process: Index, offered: Ints) -> Ints:
    """For each (process, correlation id) the region with it, NONE without."""
    result = np.full(len(wanted), NONE, np.int64)
    if not len(offered) or not len(wanted):
        return result
    row = TimeIndex.of(other_process, offered).last_before(process, wanted)
    hit = (row >= 0) & (wanted >= 0)
    hit[hit] = offered[row[hit]] == wanted[hit]
    result[hit] = row[hit]
    return result


def _resolve(
    process: Ints,
    thread: Ints,
    key: Ints,
    enter: Ints,
    learnt: Bools,
    call_stream: Ints,
    wanted: Bools,
) -> Ints:
    """Each call's stream: what its handle stood for at the launch nearest before, else after.

    Handles are reused after hipStreamDestroy, so the time matters; the null handle means
    another stream on another device, so the thread's own launches come first.
    """
    result = np.full(len(key), NONE, np.int64)
    rows = np.flatnonzero(learnt)
    asked = np.flatnonzero(wanted)
    if not len(rows) or not len(asked):
        return result
    anywhere = dense(process, key)
    within = dense(anywhere, thread)
    null = key == NULL_KEY
    for group, after in ((within, False), (within, True), (anywhere, False), (anywhere, True)):
        open_ = asked[(result[asked] < 0) & ((group is anywhere) | null[asked])]
        if not len(open_):
            continue
        line = TimeIndex.of(group[rows], enter[rows])
        find = line.first_after if after else line.last_before
        hit = find(group[open_], enter[open_])
        found = hit >= 0
        result[open_[found]] = call_stream[rows[hit[found]]]
    return result


def _blocking(roles: Ints, flags: Ints, process: Ints, ops: Operations) -> Small:
    """Which streams wait for the null stream, where all creations of a process agree.

    The created handle is an output of the call and not recorded, so mixed creations cannot be
    told apart.
    """
    created = np.flatnonzero(roles == Role.STREAM_CREATE)
    free = np.maximum(flags[created], 0) & NON_BLOCKING
    verdict = np.full(max(ops.process.max(initial=0), process.max(initial=0)) + 1, NONE, np.int8)
    for p in np.unique(process[created]).tolist():
        mine = free[process[created] == p]
        if mine.min() == mine.max():
            verdict[p] = 1 - mine[0]
    result = np.full(int(ops.stream.max(initial=0)) + 2, NONE, np.int8)
    result[ops.stream] = verdict[ops.process]
    result[-1] = NONE  # the place of "no stream"
    return result


def _silent_since(trace: Trace, ops: Operations) -> Ints:
    """Per region, the end of the thread's previous region, long ago for its first."""
    r = trace.regions
    order = stable_order(r.thread)
    result = np.full(len(r), LONG_AGO, np.int64)
    here, before = order[1:], order[:-1]
    same = r.thread[here] == r.thread[before]
    result[here[same]] = r.end_ns[before[same]] - ops.origin_ns
    return result
