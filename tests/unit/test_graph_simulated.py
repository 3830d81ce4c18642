"""The graph of a simulated program predicts what the simulator does with faster kernels."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_perf_lab.analyze.graph import build_and_solve
from support.hip_programs import Machine, Step, simulate

STREAMS, EVENTS, KERNELS = 3, 2, ("a", "b", "c")

streams = st.integers(1, STREAMS)
# Long enough that no host call is still on its way when the device gets there.
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


if __name__ == "__main__":
    test_what_if_equals_simulating_the_faster_kernel()
