"""Given these recorded calls and operations, this is what constrained what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rocm_perf_lab.analyze.graph import DagFinding, KernelOnGraph, build_and_solve
from rocm_perf_lab.analyze.graph.calls import Role, role
from rocm_perf_lab.analyze.graph.edges import Kind
from rocm_perf_lab.schema.common import DeviceInfo, Provenance, to_json
from rocm_perf_lab.schema.dag import DagDocument, to_document
from rocm_perf_lab.trace.merge import merge
from support.traces import TraceBuilder

TESTS = Path(__file__).parents[1]
US = 1_000
MS = 1_000_000
A, B, C = 0x10, 0x20, 0x30  # stream handles
E1, E2 = 0x100, 0x200  # event handles


def edge_counts(finding: DagFinding) -> dict[str, int]:
    return {e.kind: e.count for e in finding.edges if e.count}


def path_kinds(finding: DagFinding) -> dict[str, int]:
    return {e.kind: e.on_path for e in finding.edges if e.on_path}


def kernel(finding: DagFinding, name: str) -> KernelOnGraph:
    return next(k for k in finding.kernels if k.name == name)


def what_if(finding: DagFinding, name: str) -> list[int]:
    return [w.makespan_ns for w in kernel(finding, name).what_if]


class Program(TraceBuilder):
    """Launch calls 3 us long, one per dispatch, numbered as they come; time 0 is 1 ms."""

    def call(self, name: str, start: int, end: int, **more: Any) -> Program:
        super().call(name, start + MS, end + MS, **more)
        return self

    def dispatch(self, kernel: str, start: int, end: int, **more: Any) -> Program:
        super().dispatch(kernel, start + MS, end + MS, **more)
        return self

    def copy(self, kind: str, start: int, end: int, **more: Any) -> Program:
        super().copy(kind, start + MS, end + MS, **more)
        return self

    def launch(
        self, name: str, call: int, start: int, end: int, handle: int, stream: int, **more: int
    ) -> Program:
        number = len(self._regions) + 1
        thread = more.pop("thread", 1)
        self.call(
            "hipLaunchKernel", call, call + 3 * US, correlation=number, stream=handle, thread=thread
        )
        queue = more.pop("queue", stream)
        self.dispatch(name, start, end, stream=stream, queue=queue, correlation=number, **more)
        return self


def test_an_empty_trace_has_no_graph_and_says_so() -> None:
    finding = build_and_solve(TraceBuilder().build())
    assert finding.scope == "empty"
    assert finding.makespan_ns == finding.critical_path_ns == 0
    assert finding.coverage is None and "no device operation" in finding.reasons["coverage"]
    assert finding.kernels == () and finding.path == ()


def test_calls_without_device_work_are_an_empty_trace() -> None:
    trace = TraceBuilder().call("hipMalloc", 0, 5, correlation=1).build()
    assert build_and_solve(trace).scope == "empty"


def test_one_dispatch_is_its_own_critical_path() -> None:
    finding = build_and_solve(TraceBuilder().dispatch("k", 100, 400).build())
    assert finding.scope == "device-only"
    assert (finding.makespan_ns, finding.critical_path_ns, finding.replay_ns) == (300, 300, 300)
    assert finding.coverage == 1.0
    assert kernel(finding, "k").critical_path_score == 1.0
    assert kernel(finding, "k").drag_ns == 300
    assert what_if(finding, "k") == [240, 150, 0]


def test_a_zero_length_dispatch_takes_no_time() -> None:
    finding = build_and_solve(TraceBuilder().dispatch("k", 100, 100).build())
    assert finding.makespan_ns == 0
    assert finding.coverage is None and finding.reasons["coverage"] == "the trace spans no time"
    assert kernel(finding, "k").critical_path_score is None


def test_copies_alone_make_a_graph() -> None:
    trace = (
        TraceBuilder()
        .copy("MEMORY_COPY_HOST_TO_DEVICE", 0, 100)
        .copy("MEMORY_COPY_DEVICE_TO_HOST", 150, 300)
        .build()
    )
    finding = build_and_solve(trace)
    assert finding.makespan_ns == 300
    assert finding.path_by_cause_ns["copies"] == 250
    assert [k.is_copy for k in finding.kernels] == [True, True]
    assert finding.device.kernel_sum_ns == 0
    assert finding.device.idle_ns == 300


def test_device_only_gaps_have_no_known_cause() -> None:
    trace = TraceBuilder().dispatch("a", 0, 100 * US).dispatch("b", 900 * US, 1000 * US).build()
    finding = build_and_solve(trace)
    assert finding.scope == "device-only"
    assert any(note.startswith("device-only graph") for note in finding.notes)
    assert finding.device.idle_by_cause_ns["unknown"] == 800 * US
    assert finding.coverage == pytest.approx(0.2)
    assert kernel(finding, "a").launch_share is None
    # If the gap follows kernel a, halving a saves 50 us; if it is tied to the clock, nothing.
    half = kernel(finding, "a").what_if[1]
    assert (half.makespan_ns, half.pinned_makespan_ns) == (950 * US, 1000 * US)


def test_a_short_overlap_of_one_stream_is_the_seam_between_two_dispatches() -> None:
    trace = TraceBuilder().dispatch("a", 0, 10_000).dispatch("b", 9_861, 20_000).build()
    finding = build_and_solve(trace)
    assert finding.makespan_ns == 20_000
    assert finding.replay_error == 0
    assert what_if(finding, "a")[2] == 20_000 - 9_861  # b still starts no earlier than a
    assert sum(finding.path_by_cause_ns.values()) == 20_000


def test_a_launch_bound_program_gains_nothing_from_faster_kernels() -> None:
    program = Program()
    for i in range(50):
        program.launch("tiny", i * 20 * US, i * 20 * US + 6 * US, i * 20 * US + 8 * US, A, 1)
    finding = build_and_solve(program.build())
    tiny = kernel(finding, "tiny")
    assert finding.coverage == 1.0
    assert path_kinds(finding)["HOST_LAUNCH"] >= 1
    assert tiny.what_if[1].makespan_ns == finding.makespan_ns - 1 * US  # only the last one's
    assert tiny.launch_share == pytest.approx(49 * 18 / (49 * 18 + 100))
    assert finding.device.idle_by_cause_ns["launch"] == 49 * 6 * US
    assert finding.device.idle_by_cause_ns["host"] == 49 * 12 * US


def test_a_device_bound_program_gains_all_of_it() -> None:
    program = Program()
    for i in range(20):
        program.launch("big", i * 4 * US, 10 * US + i * 101 * US, 110 * US + i * 101 * US, A, 1)
    finding = build_and_solve(program.build())
    assert path_kinds(finding) == {"HOST_LAUNCH": 1, "STREAM": 19}
    assert kernel(finding, "big").launch_share == 0.0
    assert what_if(finding, "big")[1] == finding.makespan_ns - 20 * 50 * US


def test_an_event_makes_a_stream_wait_for_another() -> None:
    trace = (
        Program()
        .launch("produce", 0, 5 * US, 100 * US, A, 1)
        .call("hipEventRecord", 3 * US, 4 * US, stream=A, event=E1)
        .call("hipStreamWaitEvent", 4 * US, 5 * US, stream=B, event=E1)
        .launch("consume", 5 * US, 106 * US, 200 * US, B, 2)
        .build()
    )
    finding = build_and_solve(trace)
    assert edge_counts(finding)["EVENT"] == 1
    assert path_kinds(finding) == {"HOST_LAUNCH": 1, "EVENT": 1}
    assert finding.coverage == 1.0
    assert kernel(finding, "produce").drag_ns == 95 * US


def test_a_wait_refers_to_the_last_record_before_it() -> None:
    trace = (
        Program()
        .launch("first", 0, 5 * US, 100 * US, A, 1)
        .call("hipEventRecord", 3 * US, 4 * US, stream=A, event=E1)
        .launch("second", 4 * US, 9 * US, 50 * US, C, 3)
        .call("hipEventRecord", 7 * US, 8 * US, stream=C, event=E1)
        .call("hipStreamWaitEvent", 8 * US, 9 * US, stream=B, event=E1)
        .launch("third", 9 * US, 55 * US, 80 * US, B, 2)
        .build()
    )
    finding = build_and_solve(trace)
    assert edge_counts(finding)["EVENT"] == 1
    assert kernel(finding, "second").slack_ns == 20 * US  # third may end at 100 us
    assert not any("contradict" in note for note in finding.notes)


def test_a_wait_for_an_event_never_recorded_is_void() -> None:
    trace = (
        Program()
        .launch("a", 0, 5 * US, 100 * US, A, 1)
        .call("hipStreamWaitEvent", 4 * US, 5 * US, stream=B, event=E1)
        .call("hipEventRecord", 5 * US, 6 * US, stream=A, event=E1)
        .launch("b", 6 * US, 12 * US, 80 * US, B, 2)
        .build()
    )
    assert "EVENT" not in edge_counts(build_and_solve(trace))


def test_an_event_handed_on_by_an_empty_stream_still_orders() -> None:
    trace = (
        Program()
        .launch("warm", -100 * US, -90 * US, -80 * US, B, 2)
        .launch("a", 0, 5 * US, 100 * US, A, 1)
        .call("hipEventRecord", 3 * US, 4 * US, stream=A, event=E1)
        .call("hipStreamWaitEvent", 4 * US, 5 * US, stream=B, event=E1)
        .call("hipEventRecord", 5 * US, 6 * US, stream=B, event=E2)
        .call("hipStreamWaitEvent", 6 * US, 7 * US, stream=C, event=E2)
        .launch("c", 8 * US, 106 * US, 150 * US, C, 3)
        .build()
    )
    finding = build_and_solve(trace)
    assert path_kinds(finding)["EVENT"] == 1
    assert kernel(finding, "a").drag_ns == 93 * US  # then c waits for its own launch


def test_a_stream_handle_used_again_after_destroy_means_the_new_stream() -> None:
    trace = (
        Program()
        .launch("old", 0, 5 * US, 400 * US, A, 1)
        .launch("new", 50 * US, 55 * US, 60 * US, A, 2)
        .call("hipStreamSynchronize", 56 * US, 66 * US, stream=A)
        .launch("next", 70 * US, 75 * US, 500 * US, B, 3)
        .build()
    )
    finding = build_and_solve(trace)
    assert edge_counts(finding)["HOST_SYNC"] == 1
    assert not any("contradict" in note for note in finding.notes)


def test_a_synchronised_host_makes_the_next_launch_wait_for_the_device() -> None:
    trace = (
        Program()
        .launch("a", 0, 5 * US, 100 * US, A, 1)
        .call("hipDeviceSynchronize", 4 * US, 108 * US)
        .launch("b", 120 * US, 126 * US, 200 * US, A, 1)
        .build()
    )
    finding = build_and_solve(trace)
    assert path_kinds(finding) == {"HOST_LAUNCH": 2, "HOST_SYNC": 1}
    assert finding.path_by_cause_ns["sync"] == 8 * US
    assert finding.path_by_cause_ns["host"] == 12 * US
    assert finding.path_by_cause_ns["launch"] == 6 * US
    assert what_if(finding, "a")[2] == 195 * US - 95 * US


@pytest.mark.parametrize(
    ("call", "handles"),
    [
        ("hipStreamSynchronize", {"stream": A}),
        ("hipEventSynchronize", {"event": E1}),
        ("hipFree", {}),
        ("hipMemcpy", {}),
    ],
)
def test_calls_that_wait(call: str, handles: dict[str, int]) -> None:
    program = (
        Program()
        .launch("a", 0, 5 * US, 100 * US, A, 1)
        .call("hipEventRecord", 3 * US, 4 * US, stream=A, event=E1)
        .call("hipStreamCreate", 3 * US, 4 * US)
    )
    if call == "hipMemcpy":
        program.call(call, 5 * US, 125 * US, correlation=77)
        program.copy("D2H", 101 * US, 115 * US, stream=1, correlation=77)
    else:
        program.call(call, 5 * US, 106 * US, **handles)
    program.launch("b", 130 * US, 136 * US, 200 * US, B, 2)
    finding = build_and_solve(program.build())
    assert path_kinds(finding)["HOST_SYNC"] == 1
    # Without a, the copy itself arrives 5 us after its call.
    assert kernel(finding, "a").drag_ns == (91 if call == "hipMemcpy" else 95) * US


def test_an_asynchronous_copy_that_waited_all_the_same_is_seen() -> None:
    trace = (
        Program()
        .call("hipMemcpyAsync", 0, 60 * US, correlation=50, stream=A)
        .copy("H2D", 8 * US, 50 * US, stream=1, correlation=50)
        .launch("k", 70 * US, 76 * US, 100 * US, A, 1)
        .build()
    )
    finding = build_and_solve(trace)
    assert path_kinds(finding)["HOST_SYNC"] == 1
    # From the copy's start to the return of its call; its call is what the copy begins with.
    assert finding.path_by_cause_ns["copies"] == 52 * US


def test_a_sync_that_returned_before_the_work_ended_did_not_wait_for_it() -> None:
    trace = (
        Program()
        .launch("a", 0, 5 * US, 500 * US, A, 1)
        .call("hipFree", 4 * US, 10 * US)
        .launch("b", 20 * US, 26 * US, 600 * US, B, 2)
        .build()
    )
    finding = build_and_solve(trace)
    assert "HOST_SYNC" not in edge_counts(finding)
    assert any("contradict" in note for note in finding.notes)


def test_the_null_stream_waits_for_blocking_streams_and_they_for_it() -> None:
    def program(flags: int) -> DagFinding:
        return build_and_solve(
            Program()
            .call("hipStreamCreateWithFlags", -20 * US, -19 * US, flags=flags)
            .launch("a", 0, 5 * US, 100 * US, A, 1)
            .launch("null", 4 * US, 102 * US, 200 * US, 0, 9)
            .launch("b", 8 * US, 202 * US, 300 * US, B, 2)
            .build()
        )

    blocking = program(flags=0)
    assert edge_counts(blocking)["LEGACY_DEFAULT_STREAM"] == 2
    assert path_kinds(blocking)["LEGACY_DEFAULT_STREAM"] == 2
    assert "LEGACY_DEFAULT_STREAM" not in edge_counts(program(flags=1))


def test_a_stream_seen_running_beside_the_null_stream_is_not_blocking() -> None:
    trace = (
        Program()
        .launch("a", 0, 5 * US, 100 * US, A, 1)
        .launch("null", 4 * US, 10 * US, 200 * US, 0, 9)
        .launch("a", 8 * US, 210 * US, 300 * US, A, 1)
        .build()
    )
    assert "LEGACY_DEFAULT_STREAM" not in edge_counts(build_and_solve(trace))


def test_streams_sharing_a_queue_wait_for_each_other() -> None:
    trace = (
        Program()
        .launch("a", 0, 5 * US, 100 * US, A, 1, queue=7)
        .launch("b", 4 * US, 101 * US, 200 * US, B, 2, queue=7)
        .build()
    )
    finding = build_and_solve(trace)
    assert path_kinds(finding) == {"HOST_LAUNCH": 1, "QUEUE": 1}


def test_a_queue_seen_running_two_streams_at_once_orders_only_their_starts() -> None:
    trace = (
        Program()
        .launch("a", 0, 5 * US, 100 * US, A, 1, queue=7)
        .launch("b", 4 * US, 9 * US, 50 * US, B, 2, queue=7)
        .build()
    )
    finding = build_and_solve(trace)
    assert finding.makespan_ns == 95 * US
    assert kernel(finding, "b").slack_ns == 50 * US


def test_one_stream_on_two_queues_is_still_one_stream() -> None:
    trace = (
        Program()
        .launch("a", 0, 5 * US, 100 * US, A, 1, queue=1)
        .launch("b", 4 * US, 101 * US, 200 * US, A, 1, queue=2)
        .build()
    )
    assert path_kinds(build_and_solve(trace)) == {"HOST_LAUNCH": 1, "STREAM": 1}


def test_a_graph_launch_covers_kernels_on_several_streams() -> None:
    trace = (
        Program()
        .launch("before", -100 * US, -95 * US, -10 * US, A, 1)
        .call("hipGraphLaunch", 0, 5 * US, correlation=99, stream=A)
        .dispatch("g1", 8 * US, 50 * US, stream=1, queue=1, correlation=99)
        .dispatch("g2", 8 * US, 90 * US, stream=4, queue=4, correlation=99)
        .dispatch("g3", 51 * US, 60 * US, stream=1, queue=1, correlation=99)
        .launch("after", 6 * US, 92 * US, 150 * US, A, 1)
        .build()
    )
    finding = build_and_solve(trace)
    # before -> g2, g1 -> g3, g2 -> after; before -> g1 and g3 -> after are plain stream order
    assert edge_counts(finding)["GRAPH"] == 3
    assert path_kinds(finding)["GRAPH"] == 1
    assert kernel(finding, "g2").drag_ns == 31 * US  # then g3 holds "after" back
    assert kernel(finding, "g3").slack_ns == 31 * US


def test_work_of_one_process_never_waits_for_another() -> None:
    one = Program(pid=1).launch("a", 0, 5 * US, 100 * US, A, 1).build()
    two = Program(pid=2).launch("b", 98 * US, 103 * US, 200 * US, A, 1).build()
    finding = build_and_solve(merge([one, two]))
    assert what_if(finding, "a") == [195 * US] * 3
    assert any("2 processes" in note for note in finding.notes)


def test_a_second_thread_may_have_waited_for_the_first() -> None:
    trace = (
        Program()
        .launch("forward", 0, 5 * US, 500 * US, A, 1)
        .call("hipStreamSynchronize", 4 * US, 506 * US, stream=A)
        .launch("backward", 520 * US, 526 * US, 900 * US, B, 2, thread=2)
        .build()
    )
    half = kernel(build_and_solve(trace), "forward").what_if[1]
    assert half.makespan_ns == 895 * US - 247_500
    assert half.pinned_makespan_ns == 895 * US  # only a guess


def test_time_no_constraint_explains_is_inferred_and_not_covered() -> None:
    trace = (
        Program()
        .launch("a", 0, 5 * US, 100 * US, A, 1)
        .launch("b", 4 * US, 1 * MS, 2 * MS, A, 1)
        .build()
    )
    finding = build_and_solve(trace)
    assert path_kinds(finding) == {"HOST_LAUNCH": 1, "INFERRED": 1}
    assert finding.critical_path_ns == 1095 * US
    assert finding.coverage == pytest.approx(1095 / 1995)


def test_operations_recorded_before_their_launch_call_do_no_harm() -> None:
    trace = (
        Program()
        .launch("a", 10 * US, 8 * US, 20 * US, A, 1)  # the clocks disagree by 2 us
        .call("hipStreamSynchronize", 14 * US, 18 * US, stream=A)
        .launch("b", 30 * US, 29 * US, 40 * US, A, 1)
        .build()
    )
    finding = build_and_solve(trace)
    assert finding.replay_error == 0
    assert finding.makespan_ns == 32 * US


def test_kernels_off_the_path_have_slack_and_no_drag() -> None:
    trace = (
        Program()
        .launch("long", 0, 5 * US, 500 * US, A, 1)
        .launch("short", 4 * US, 9 * US, 100 * US, B, 2)
        .build()
    )
    short = kernel(build_and_solve(trace), "short")
    assert (short.slack_ns, short.drag_ns, short.path_ns) == (400 * US, 0, 0)
    assert short.what_if_method == "unchanged"
    assert short.critical_path_score == 0.0


def test_a_long_path_is_reported_by_its_ends() -> None:
    program = TraceBuilder()
    for i in range(2000):
        program.dispatch(f"k{i % 2}", i * 100, i * 100 + 90)
    finding = build_and_solve(program.build())
    assert finding.path_operations == 2000
    assert len(finding.path) == 201
    assert finding.path[100].name is None
    assert sum(run.operations for run in finding.path) == 2000


def test_a_run_of_one_kernel_is_one_row() -> None:
    program = TraceBuilder()
    for i in range(2000):
        program.dispatch("k", i * 100, i * 100 + 90)
    (run,) = build_and_solve(program.build()).path
    assert (run.name, run.operations, run.operation_ns) == ("k", 2000, 2000 * 90)
    assert run.entered_by == {"STREAM": 1999, "INFERRED": 1}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hipMemcpy", Role.COPY),
        ("hipMemcpyAsync", Role.COPY_ASYNC),
        ("hipMemcpyAsync_spt", Role.COPY_ASYNC),
        ("hipMemcpyDtoHAsync", Role.COPY_ASYNC),
        ("hipMemcpyWithStream", Role.COPY),
        ("hipStreamSynchronize_spt", Role.STREAM_SYNC),
        ("hipLaunchKernel", Role.OTHER),  # known by its dispatch, not by its name
        ("hsa_signal_wait_scacquire", Role.OTHER),
    ],
)
def test_what_a_call_does(name: str, expected: Role) -> None:
    assert role(name) == expected


def test_the_same_trace_gives_the_same_finding() -> None:
    rng = np.random.default_rng(1)
    program = TraceBuilder()
    time = 0
    for i in range(300):
        time += int(rng.integers(0, 50))
        program.dispatch(f"k{i % 7}", time, time + int(rng.integers(0, 90)), stream=i % 4)
    assert build_and_solve(program.build()) == build_and_solve(program.build())


def test_dag_json_holds_the_finding() -> None:
    trace = Program().launch("k", 0, 5 * US, 100 * US, A, 1).build()
    device = DeviceInfo(kind="unknown", name=None, architecture=None)
    provenance = Provenance(
        tool_version="0", command=[], started=None, host=None, device=device, rocm=None, inputs=[]
    )
    for finding in (build_and_solve(trace), build_and_solve(TraceBuilder().build())):
        document = to_document(finding, provenance)
        assert DagDocument.model_validate_json(to_json(document)) == document
        assert document.makespan_ns == finding.makespan_ns
        assert len(document.edges) == len(Kind)
