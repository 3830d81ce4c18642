"""The run as a picture needs it: lanes of operations and the critical path, at most a few thousand
blocks however long the run. Neighbours too short to be seen are one block that says how many.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rocm_perf_lab.analyze.graph.columns import grouped, stable_order
from rocm_perf_lab.analyze.graph.edges import Bools, Ints
from rocm_perf_lab.analyze.graph.finding import Blocks, Lane, Timeline
from rocm_perf_lab.analyze.graph.gaps import CAUSES, split
from rocm_perf_lab.analyze.graph.graph import Graph
from rocm_perf_lab.analyze.graph.host_lanes import host_calls
from rocm_perf_lab.analyze.graph.operations import Operations
from rocm_perf_lab.analyze.graph.path_columns import Path
from rocm_perf_lab.trace.columns import ranks
from rocm_perf_lab.trace.trace import Trace

MOST_BLOCKS = 4000  # over all lanes
MOST_PATH_BLOCKS = 1500
MOST_LANES = 40
MOST_CALL_BLOCKS = 1500


def timeline(run: Trace, graph: Graph, ops: Operations, path: Path) -> Timeline:
    on_path = np.zeros(len(ops), np.int64)
    op = graph.nodes.operation[path.nodes]
    on_path[op[op >= 0]] = 1
    lanes, left_out = _lanes(run, ops)
    quantum, cut = _merged(
        [
            (ops.start[r], ops.duration[r], ops.name[r].astype(np.int64), on_path[r])
            for _, _, r in lanes
        ],
        ops.span_ns,
        MOST_BLOCKS,
    )
    calls = host_calls(run, ops)
    first_call = len(ops.names) + len(CAUSES)
    nothing = [np.zeros(len(lane.start), np.int64) for lane in calls.lanes]
    drawn = _merged(
        [
            (lane.start, lane.duration, lane.name + first_call, none)
            for lane, none in zip(calls.lanes, nothing, strict=True)
        ],
        ops.span_ns,
        MOST_CALL_BLOCKS,
    )[1]
    return Timeline(
        span_ns=ops.span_ns,
        names=(*ops.names, *CAUSES, *calls.names),
        call_names=len(calls.names),
        kernel_names=ops.kernel_names,
        copy_names=len(ops.names) - ops.kernel_names,
        lanes=(
            *(
                Lane(label, is_copy, len(rows), int(ops.duration[rows].sum()), blocks)
                for (label, is_copy, rows), blocks in zip(lanes, cut, strict=True)
            ),
            *(
                Lane(lane.label, False, len(lane.start), int(lane.duration.sum()), blocks, True)
                for lane, blocks in zip(calls.lanes, drawn, strict=True)
            ),
        ),
        lanes_left_out=left_out + calls.left_out,
        path=_path_blocks(graph, ops, path),
        merged_below_ns=quantum,
    )


def _lanes(run: Trace, ops: Operations) -> tuple[list[tuple[str, bool, Ints]], int]:
    """One per (process, device, stream; kernels and copies apart), busiest kept, in that order."""
    if not len(ops):
        return [], 0
    lane_of = np.where(ops.stream >= 0, 2 * ops.stream.astype(np.int64), 2 * ops.queue + 1)
    found, of_row = grouped(ops.process, ops.agent, ops.is_copy, lane_of)
    order = stable_order(of_row)
    bounds = np.searchsorted(of_row[order], np.arange(len(found) + 1))
    rows = [order[bounds[i] : bounds[i + 1]] for i in range(len(found))]
    busy = [int(ops.duration[r].sum()) for r in rows]
    kept = sorted(sorted(range(len(found)), key=lambda i: (-busy[i], i))[:MOST_LANES])
    several = len(run.processes) > 1
    gpus = [i for i, agent in enumerate(run.agents) if agent.kind == "GPU"]
    lanes: list[tuple[str, bool, Ints]] = []
    for i in kept:
        row = found[i]
        process, agent, lane = int(ops.process[row]), int(ops.agent[row]), int(lane_of[row])
        is_copy = bool(ops.is_copy[row])
        words = []
        if several:
            words.append(f"process {run.processes[process].pid or process}")
        if len(gpus) > 1 and agent in gpus:
            words.append(f"GPU {gpus.index(agent)}")
        kind = "queue" if lane % 2 and lane > 0 else "stream"
        words.append(f"{kind} {lane // 2}" if lane >= 0 else "unknown stream")
        if is_copy:
            words.append("copies")
        lanes.append((" · ".join(words), is_copy, rows[i]))
    return lanes, len(found) - len(kept)


Columns = tuple[Ints, Ints, Ints, Ints]  # start, duration, name, on_path


def _merged(lanes: Sequence[Columns], span: int, most: int) -> tuple[int, list[Blocks]]:
    total = sum(len(start) for start, *_ in lanes)
    quantum = 0
    cut = [_blocks(*lane, 0) for lane in lanes]
    while total > most:
        quantum = max(2 * quantum, span // most, 1)
        cut = [_blocks(*lane, quantum) for lane in lanes]
        total = sum(len(b.start) for b in cut)
    return quantum, cut


def _blocks(start: Ints, duration: Ints, name: Ints, on_path: Ints, quantum: int) -> Blocks:
    """Operations shorter than the quantum that start in the same quantum become one block."""
    name = name.astype(np.int64)
    if not quantum or not len(start):
        return Blocks(start, duration, duration, name, np.ones(len(start), np.int64), on_path)
    small = duration < quantum
    bucket = start // quantum
    fresh: Bools = np.ones(len(start), np.bool_)
    fresh[1:] = ~(small[1:] & small[:-1] & (bucket[1:] == bucket[:-1]))
    first = np.flatnonzero(fresh)
    group = np.cumsum(fresh) - 1
    end = np.maximum.reduceat(start + duration, first)
    return Blocks(
        start=start[first],
        duration=end - start[first],
        busy=np.add.reduceat(duration, first),
        name=_largest(group, name, duration, len(first)),
        count=np.diff(np.append(first, len(start))),
        on_path=np.add.reduceat(on_path, first),
    )


def _largest(group: Ints, name: Ints, duration: Ints, groups: int) -> Ints:
    """Per group, the name with the largest sum of durations."""
    width = int(name.max()) + 1
    key, inverse = ranks(group * width + name)
    total = np.zeros(len(key), np.int64)
    np.add.at(total, inverse, duration)
    order = np.lexsort((total, key // width))
    best = np.zeros(groups, np.int64)
    best[key[order] // width] = key[order] % width  # the last write, the largest, stays
    return best


def _path_blocks(graph: Graph, ops: Operations, path: Path) -> Blocks:
    start = graph.nodes.start[path.nodes]
    op = graph.nodes.operation[path.nodes]
    real = (op >= 0) & (path.node_ns > 0)
    pieces = [(start[real], path.node_ns[real], ops.name[op[real]].astype(np.int64))]
    came_from = start - path.edge_ns
    for cause, begin, stop in split(graph, path.edge, came_from, start):
        waited = stop > begin
        which = np.full(int(waited.sum()), len(ops.names) + CAUSES.index(cause), np.int64)
        pieces.append((begin[waited], (stop - begin)[waited], which))
    starts, durations, names = (
        np.concatenate([p[i] for p in pieces]).astype(np.int64) for i in range(3)
    )
    order = np.argsort(starts, kind="stable")
    ones = np.ones(len(order), np.int64)
    columns = (starts[order], durations[order], names[order], ones)
    return _merged([columns], ops.span_ns, MOST_PATH_BLOCKS)[1][0]
