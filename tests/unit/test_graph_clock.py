"""The clocks of host and device disagree by microseconds: nothing that matters may hang on it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocm_perf_lab.analyze.graph import DagFinding, build_and_solve
from rocm_perf_lab.analyze.graph.clock import aligned
from rocm_perf_lab.trace.trace import Trace
from support.analysis import documents
from support.traces import TraceBuilder

US = 1_000


def steps(count: int = 30) -> Trace:
    """A launch, and its result read back by a blocking copy, again and again."""
    trace, now = TraceBuilder(), 1_000_000
    for i in range(count):
        trace.call("hipLaunchKernel", now, now + 3 * US, correlation=2 * i + 1, stream=0)
        end = now + 45 * US
        trace.dispatch("k", now + 5 * US, end, correlation=2 * i + 1)
        trace.call("hipMemcpy", now + 4 * US, end + 26 * US, correlation=2 * i + 2, stream=0)
        trace.copy("MEMORY_COPY_DEVICE_TO_HOST", end + US, end + 21 * US, correlation=2 * i + 2)
        now = end + 46 * US
    return trace.build()


def shifted(trace: Trace, ns: int) -> Trace:
    """The device's clock off by so much."""
    d, c = trace.dispatches, trace.copies
    return replace(
        trace,
        dispatches=replace(d, start_ns=d.start_ns + ns, end_ns=d.end_ns + ns),
        copies=replace(c, start_ns=c.start_ns + ns, end_ns=c.end_ns + ns),
    )


def kernels_of_the_path(finding: DagFinding) -> float:
    return finding.path_by_cause_ns["kernels"] / finding.makespan_ns


@pytest.mark.parametrize("us", [-20, -10, -5, 5, 10, 20, 60])
def test_a_shift_of_the_devices_clock_does_not_cut_a_copy_from_its_call(us: int) -> None:
    whole = build_and_solve(steps())
    assert kernels_of_the_path(whole) == pytest.approx(0.44, abs=0.01)
    found = build_and_solve(shifted(steps(), us * US))
    assert found.coverage == pytest.approx(1.0)
    assert kernels_of_the_path(found) == pytest.approx(kernels_of_the_path(whole), abs=0.01)
    waits = [next(e.on_path for e in f.edges if e.kind == "HOST_SYNC") for f in (whole, found)]
    assert waits[0] == waits[1]


@pytest.mark.parametrize("us", [-20, 20])
def test_where_clocks_were_off_a_note_says_by_how_much(us: int) -> None:
    assert build_and_solve(steps()).notes == ()
    (note,) = build_and_solve(shifted(steps(), us * US)).notes
    assert "clocks of host and device disagree by 15 us" in note
    assert ("earlier" if us < 0 else "later") in note


def test_what_contradicts_by_more_than_clocks_do_moves_nothing() -> None:
    trace = shifted(steps(), -500 * US)
    assert aligned(trace) == (trace, ())


def test_copies_on_the_device_say_nothing_of_clocks() -> None:
    """Their calls do not wait for them."""
    trace = (
        TraceBuilder()
        .call("hipMemcpy", 0, 5 * US, correlation=1, stream=0)
        .copy("MEMORY_COPY_DEVICE_TO_DEVICE", 8 * US, 50 * US, correlation=1)
        .build()
    )
    assert aligned(trace)[1] == ()


def test_operations_launched_before_the_recording_began_are_said_to_be() -> None:
    trace = TraceBuilder()
    for i in range(3):
        trace.dispatch("early", i * 100 * US, (i * 100 + 90) * US, correlation=i + 1)
    for i in range(20):
        at = (300 + 100 * i) * US
        trace.call("hipLaunchKernel", at, at + 3 * US, correlation=10 + i, stream=0)
        trace.dispatch("late", at + 5 * US, at + 90 * US, correlation=10 + i)
    found = documents(trace.build())
    assert found.dag is not None
    assert any(n.startswith("3 operations were launched before") for n in found.dag.notes)
    assert any(n.startswith("3 operations were launched before") for n in found.profile.notes)


def test_where_only_ranges_were_recorded_nothing_is_said_of_earlier_launches() -> None:
    trace = TraceBuilder().call("step", 0, 900 * US, correlation=50, category="MARKER_CORE_API")
    for i in range(5):
        trace.dispatch("k", i * 100 * US, (i * 100 + 90) * US, correlation=i + 1)
    assert not any("before the recording" in n for n in build_and_solve(trace.build()).notes)
