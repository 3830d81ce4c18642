"""The graph of a simulated program predicts what the simulator does with faster kernels."""

from __future__ import annotations

from random import Random
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_perf_lab.analyze.graph import build_and_solve
from support.hip_programs import Machine, Step, simulate

STREAMS, EVENTS, KERNELS = 3, 2, ("a", "b", "c")

streams = st.integers(1, STREAMS)
durations = st.integers(100, 100_000)
kernels = st.sampled_from(KERNELS)
step = st.one_of(
    st.builds(Step, st.just("launch"), streams, st.just(0), kernels, durations),
    st.builds(Step, st.just("launch"), streams, st.just(0), kernels, durations),
    st.builds(Step, st.just("record"), streams, st.integers(1, EVENTS)),
    st.builds(Step, st.just("wait"), streams, st.integers(1, EVENTS)),
    st.builds(Step, st.just("stream_sync"), streams),
    st.builds(Step, st.just("event_sync"), st.just(0), st.integers(1, EVENTS)),
    st.just(Step("device_sync")),
    st.builds(Step, st.just("cpu"), ns=st.integers(0, 50_000)),
    st.builds(Step, st.just("copy_async"), streams, st.just(0), st.just("H2D"), durations),
)
null_step = st.one_of(
    st.builds(Step, st.just("record"), st.just(0), st.integers(1, EVENTS)),
    st.just(Step("stream_sync")),
    st.builds(Step, st.just("launch"), st.just(0), st.just(0), kernels, durations),
    st.builds(Step, st.just("copy"), st.just(0), st.just(0), st.just("D2H"), durations),
)
programs = st.one_of(
    st.lists(step, min_size=1, max_size=40),
    st.lists(st.one_of(step, step, null_step), min_size=1, max_size=40),
)
machines = st.builds(Machine, queues=st.sampled_from([None, 1, 2]), blocking=st.booleans())


@given(programs, machines)
@settings(max_examples=200, deadline=None)
def test_what_if_equals_simulating_the_faster_kernel(program: list[Step], machine: Machine) -> None:
    trace, makespan = simulate(program, machine)
    finding = build_and_solve(trace)
    assert finding.replay_ns == finding.makespan_ns == makespan
    for kernel in finding.kernels:
        if kernel.is_copy:
            continue
        for what_if in kernel.what_if:
            _, truth = simulate(program, machine, {kernel.name: what_if.speedup})
            assert what_if.makespan_ns == truth, (kernel, what_if, truth)


def test_unknown_and_unsteady_latencies_are_learnt_from_the_trace() -> None:
    """Latencies other than expected, and each up to twice as long from one time to the next."""
    chance = Random(0)
    errors = []
    for _ in range(30):
        machine = Machine(
            call=chance.randint(300, 2_000),
            launch_call=chance.randint(2_000, 6_000),
            launch=chance.randint(3_000, 15_000),
            stream=chance.randint(0, 5_000),
            event=chance.randint(0, 12_000),
            sync=chance.randint(2_000, 15_000),
            queues=chance.choice([None, 2]),
            blocking=False,
            jitter=1.0,
        )
        program = [_random_step(chance) for _ in range(150)]
        trace, _ = simulate(program, machine)
        finding = build_and_solve(trace)
        assert finding.coverage is not None and finding.coverage > 0.98
        for kernel in finding.kernels:
            for what_if in kernel.what_if:
                if not kernel.is_copy:
                    _, truth = simulate(program, machine, {kernel.name: what_if.speedup})
                    errors.append(abs(what_if.makespan_ns - truth) / truth)
    assert median(errors) < 0.005
    assert max(errors) < 0.08


@pytest.mark.parametrize("room", [4, 16, 100])
@pytest.mark.parametrize("lengths", [(50_000, 50_000), (200_000, 30_000)])
def test_a_host_held_back_by_a_full_queue_speeds_up_with_the_device(
    room: int, lengths: tuple[int, int]
) -> None:
    """Launch calls last as long as kernels do, at whatever depth the queue is full."""
    machine = Machine(room=room)
    program = [Step("launch", 1, 0, KERNELS[i % 2], lengths[i % 2]) for i in range(1000)]
    trace, makespan = simulate(program, machine)
    finding = build_and_solve(trace)
    assert finding.replay_ns == makespan
    assert finding.coverage == 1.0
    for kernel in finding.kernels:
        for what_if in kernel.what_if:
            _, truth = simulate(program, machine, {kernel.name: what_if.speedup})
            assert what_if.makespan_ns == pytest.approx(truth, rel=0.01)


@pytest.mark.parametrize("kernel_ns", [5_000, 28_000, 45_000])
def test_launches_that_are_slow_by_themselves_wait_for_nothing(kernel_ns: int) -> None:
    """Whether the device is done before the next launch, or falls behind."""
    program = [Step("launch", 1, 0, "a", kernel_ns) for _ in range(300)]
    trace, _ = simulate(program, Machine(launch_call=30_000, jitter=0.5))
    finding = build_and_solve(trace)
    assert next(e.count for e in finding.edges if e.kind == "HOST_SYNC") == 0


def _random_step(chance: Random) -> Step:
    stream, event = chance.randint(1, STREAMS), chance.randint(1, EVENTS)
    duration = int(chance.lognormvariate(9.9, 1))  # around 20 us
    return chance.choices(
        [
            Step("launch", stream, 0, chance.choice(KERNELS), duration),
            Step("record", stream, event),
            Step("wait", stream, event),
            Step("stream_sync", stream),
            Step("device_sync"),
            Step("cpu", ns=chance.randint(0, 30_000)),
            Step("copy_async", stream, 0, "H2D", duration),
        ],
        [60, 10, 10, 4, 2, 9, 5],
    )[0]
