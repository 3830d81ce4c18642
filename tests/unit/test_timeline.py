"""The timeline holds every operation however few blocks it draws."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rocm_perf_lab.analyze.graph import build_and_solve
from rocm_perf_lab.analyze.graph import timeline as module
from rocm_perf_lab.analyze.graph.finding import Blocks, Timeline
from rocm_perf_lab.analyze.graph.gaps import CAUSES
from rocm_perf_lab.trace.trace import Trace
from support.traces import TraceBuilder


def drawn(trace: Trace) -> Timeline:
    found = build_and_solve(trace).timeline
    assert found is not None
    return found


def test_lanes_are_streams_with_copies_apart() -> None:
    found = drawn(
        TraceBuilder()
        .dispatch("a", 0, 10, stream=0)
        .dispatch("b", 5, 20, stream=1)
        .copy("MEMORY_COPY_HOST_TO_DEVICE", 20, 30, stream=1)
        .build()
    )
    assert [(lane.label, lane.is_copy, lane.operations) for lane in found.lanes] == [
        ("stream 0", False, 1),
        ("stream 1", False, 1),
        ("stream 1 · copies", True, 1),
    ]
    assert found.merged_below_ns == 0


def test_the_path_is_whole_from_start_to_end() -> None:
    found = drawn(
        TraceBuilder()
        .call("hipLaunchKernel", 0, 2, correlation=1)
        .dispatch("a", 10, 30, correlation=1)
        .call("hipLaunchKernel", 40, 45, correlation=2)
        .dispatch("b", 60, 90, correlation=2)
        .build()
    )
    p = found.path
    assert int(p.start[0]) == 0 and int((p.start + p.duration)[-1]) == found.span_ns
    assert np.array_equal(p.start[1:], (p.start + p.duration)[:-1])
    names = [found.names[i] for i in p.name]
    assert names[0] == "a" and names[-1] == "b" and set(names[1:-1]) <= set(CAUSES)


def test_a_long_run_is_drawn_in_few_blocks_and_nothing_is_lost() -> None:
    builder = TraceBuilder()
    rng = np.random.default_rng(0)
    clock = 0
    for i in range(20_000):
        took = int(rng.integers(1, 100))
        builder.dispatch("abc"[i % 3], clock, clock + took, stream=i % 4)
        clock += took + 5
    builder.dispatch("long", clock, clock + clock // 10)
    found = drawn(builder.build())
    blocks = [lane.blocks for lane in found.lanes]
    assert sum(len(b.start) for b in blocks) <= module.MOST_BLOCKS
    assert sum(int(b.count.sum()) for b in blocks) == 20_001
    assert len(found.path.start) <= module.MOST_PATH_BLOCKS
    long = found.names.index("long")
    alone = [b.count[b.name == long] for b in blocks]
    assert [int(c) for counts in alone for c in counts] == [1]  # what can be seen is not merged


def test_a_threads_calls_have_a_lane_cut_to_the_time_the_device_worked() -> None:
    found = drawn(
        TraceBuilder()
        .call("hipMalloc", 0, 5)  # over before the device began
        .call("hipLaunchKernel", 6, 12, correlation=1)
        .call("hsa_signal_wait", 12, 20)  # HSA's own
        .dispatch("a", 10, 30, correlation=1)
        .call("hipDeviceSynchronize", 13, 40)
        .call("hipFree", 50, 60)
        .build()
    )
    (host,) = [lane for lane in found.lanes if lane.is_host]
    assert host.label == "host calls" and found.lanes[-1] is host
    rows = zip(host.blocks.start, host.blocks.duration, host.blocks.name, strict=True)
    assert [(int(s), int(d), found.names[n]) for s, d, n in rows] == [
        (0, 2, "hipLaunchKernel"),
        (3, 17, "hipDeviceSynchronize"),
    ]
    assert set(found.names[-found.call_names :]) == {"hipLaunchKernel", "hipDeviceSynchronize"}


def test_many_threads_and_calls_are_drawn_in_few_lanes_and_blocks() -> None:
    builder = TraceBuilder()
    for i in range(20_000):
        builder.call("hipLaunchKernel", 10 * i, 10 * i + 1 + i % 12, thread=i % 12)
    builder.dispatch("a", 0, 200_000)
    found = drawn(builder.build())
    hosts = [lane for lane in found.lanes if lane.is_host]
    assert [lane.label for lane in hosts] == [f"host thread {n}" for n in range(1, 9)]
    assert sum(len(lane.blocks.start) for lane in hosts) <= module.MOST_CALL_BLOCKS
    assert found.lanes_left_out == 4


columns = st.lists(
    st.tuples(st.integers(0, 1000), st.integers(0, 200), st.integers(0, 3), st.integers(0, 1)),
    min_size=1,
    max_size=60,
)


@given(columns, st.integers(1, 300))
def test_merging_keeps_sums_and_bounds(rows: list[tuple[int, int, int, int]], quantum: int) -> None:
    start, duration, name, on_path = (np.array(c) for c in zip(*sorted(rows), strict=True))
    b: Blocks = module._blocks(start, duration, name, on_path, quantum)
    assert b.count.sum() == len(rows)
    assert b.busy.sum() == duration.sum()
    assert b.on_path.sum() == on_path.sum()
    assert (b.start + b.duration).max() == (start + duration).max()
    assert set(b.name.tolist()) <= set(name.tolist())
    assert np.all(b.duration[b.count > 1] < 2 * quantum)
