"""Device operations: kernels and copies of a trace in one table, ordered by time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.analyze.graph.columns import NONE
from rocm_perf_lab.analyze.graph.edges import Bools, Index, Ints
from rocm_perf_lab.analyze.graph.unrecorded_copies import ONLY_THE_CALL, call_copies
from rocm_perf_lab.trace.trace import Trace

UNKNOWN = "(unknown kernel)"


@dataclass(frozen=True)
class Operations:
    """One row per dispatch or copy, by start. Times are ns after `origin_ns`."""

    start: Ints
    duration: Ints
    process: Index
    stream: Index
    queue: Index  # NONE for copies
    agent: Index
    correlation: Ints
    is_copy: Bools
    name: Index  # -> names
    names: tuple[str, ...]  # kernels first, then kinds of copy
    kernel_names: int  # how many of `names` are kernels
    origin_ns: int
    call: Ints  # row of the trace's regions, of a copy known only from it; NONE for the rest

    def __len__(self) -> int:
        return len(self.start)

    @property
    def end(self) -> Ints:
        return self.start + self.duration

    @property
    def span_ns(self) -> int:
        return int(self.end.max()) if len(self) else 0


def operations(trace: Trace) -> Operations:
    d, c = trace.dispatches, trace.copies
    kernels = sorted(
        {k.name for k in trace.kernels} | ({UNKNOWN} if np.any(d.kernel < 0) else set())
    )
    name_id = {name: i for i, name in enumerate(kernels)}
    # One place more, so that kernel -1 finds the unknown one.
    of_kernel = np.array([*(name_id[k.name] for k in trace.kernels), name_id.get(UNKNOWN, 0)])
    of_kernel = of_kernel.astype(np.int32)
    copy_kinds = np.unique(c.kind)
    told = call_copies(trace)
    call_kinds, call_kind = np.unique(trace.regions.name[told.region], return_inverse=True)
    names = (
        *kernels,
        *(trace.strings[k] if k >= 0 else "copy" for k in copy_kinds.tolist()),
        *(f"{trace.strings[k]} {ONLY_THE_CALL}" for k in call_kinds.tolist()),
    )
    copy_name = np.append(
        len(kernels) + np.searchsorted(copy_kinds, c.kind),
        len(kernels) + len(copy_kinds) + call_kind,
    )

    def both(dispatch: npt.NDArray[Any], copy: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.concatenate([dispatch, copy.astype(dispatch.dtype)]) if len(copy) else dispatch

    copy_process = np.append(c.process, trace.regions.process[told.region])
    copy_stream = np.append(c.stream, told.stream).astype(np.int64)
    unknown = np.full(len(told.region), NONE)
    start = both(d.start_ns, np.append(c.start_ns, told.start))
    end = both(d.end_ns, np.append(c.end_ns, told.end))
    copies = len(start) - len(d)
    order: Ints | slice = slice(None)  # kernels alone are in order, and so their columns' own
    is_copy = np.zeros(len(start), np.bool_)
    if copies or np.any(start[1:] < start[:-1]):
        order = np.lexsort((end, start))
        is_copy = order >= len(d)
    origin = int(start.min()) if len(start) else 0
    # A copy belongs to the device its stream's kernels run on, else to the GPU it touches, else
    # to any GPU of its process.
    gpu = np.array([*(a.kind == "GPU" for a in trace.agents), False])
    copy_agent = np.where(
        gpu[c.dst_agent], c.dst_agent, np.where(gpu[c.src_agent], c.src_agent, NONE)
    )
    process_agent = np.full(len(trace.processes) + 1, NONE)
    process_agent[d.process] = d.agent
    copy_agent = np.append(copy_agent, unknown)
    copy_agent = np.where(copy_agent >= 0, copy_agent, process_agent[copy_process])
    stream_agent = np.full(int(max(d.stream.max(initial=0), copy_stream.max(initial=0))) + 2, NONE)
    stream_agent[d.stream] = d.agent
    stream_agent[-1] = NONE
    copy_agent = np.where(stream_agent[copy_stream] >= 0, stream_agent[copy_stream], copy_agent)
    return Operations(
        start=start[order] - origin,
        duration=np.maximum(end - start, 0)[order],
        process=both(d.process, copy_process)[order],
        stream=both(d.stream, copy_stream)[order],
        queue=both(d.queue, np.full(copies, NONE))[order],
        agent=both(d.agent, copy_agent)[order],
        correlation=both(d.correlation, np.append(c.correlation, unknown))[order],
        is_copy=is_copy,
        name=both(of_kernel[d.kernel], copy_name)[order],
        names=names,
        kernel_names=len(kernels),
        origin_ns=origin,
        call=both(np.broadcast_to(np.int64(NONE), len(d) + len(c)), told.region)[order],
    )
