"""The stand-in's timeline: what may overlap, what waits for what, and laws of any program."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from rocm_perf_lab.virtual.model_parameters import by_device
from rocm_perf_lab.virtual.rocprofv3.costs import costs
from rocm_perf_lab.virtual.rocprofv3.log import (
    Call,
    Entry,
    Launch,
    Memory,
    Outcome,
    ProcessLog,
    Return,
    Transfer,
)
from rocm_perf_lab.virtual.rocprofv3.spans import LaunchSpan, Timeline
from rocm_perf_lab.virtual.rocprofv3.timeline import simulate

GPU, OTHER, UNITS = 1, 2, 304
NULL = 0
NON_BLOCKING = 1


@dataclass
class Program:
    """A HIP program's log, said call by call."""

    log: ProcessLog = field(default_factory=lambda: ProcessLog(1, 0, ("app",), 0))
    correlation: int = 0
    launches: int = 0
    tid: int = 100

    def call(
        self, name: str, *arguments: tuple[str, str, str], inside: Entry | None = None
    ) -> Call:
        self.correlation += 1
        call = Call(self.correlation, self.tid, name, arguments, result=0)
        self.log.entries.append(call)
        if inside is not None:
            self.log.entries.append(inside)
        self.log.entries.append(Return(call))
        return call

    def stream(self, handle: int, flags: int = 0) -> int:
        call = self.call("hipStreamCreateWithFlags", ("unsigned int", "flags", str(flags)))
        call.given["stream"] = handle
        return handle

    def launch(self, stream: int = NULL, ns: int = 50_000, units: int = 8, gpu: int = GPU) -> None:
        self.submit("hipLaunchKernel", stream, 0, ns, units, gpu)

    def submit(
        self,
        name: str,
        stream: int | None,
        number: int,  # HIP's, of the stream
        ns: int = 50_000,
        units: int = 8,
        gpu: int = GPU,
    ) -> None:
        self.launches += 1
        shape = ((64, 1, 1), (64, 1, 1))
        place = (self.correlation + 1, self.tid, number, max(stream or 0, 1), gpu, 7)
        launch = Launch(self.launches, *place, *shape, 0, 0, False, False)
        self.log.outcomes[self.launches] = Outcome(ns, 0, 2100.0, 1.0, units, 0.0, {})
        arguments = [] if stream is None else [("hipStream_t", "stream", hex(stream))]
        self.call(name, *arguments, inside=launch)

    def copy(self, name: str, size: int, source: int, stream: int = NULL) -> None:
        transfer = Transfer(self.correlation + 1, self.tid, 0, 0x2000, GPU, source, 0, size)
        self.call(name, ("hipStream_t", "stream", hex(stream)), inside=transfer)

    def record(self, event: int, stream: int = NULL) -> None:
        arguments = (("hipEvent_t", "event", hex(event)), ("hipStream_t", "stream", hex(stream)))
        self.call("hipEventRecord", *arguments)

    def wait(self, stream: int, event: int) -> None:
        arguments = (("hipStream_t", "stream", hex(stream)), ("hipEvent_t", "event", hex(event)))
        self.call("hipStreamWaitEvent", *arguments)

    def run(self, serialise: bool = False) -> Timeline:
        gpus = {GPU: UNITS, OTHER: UNITS}
        return simulate(self.log, costs(), gpus, start=1000, serialise=serialise)


def spans(line: Timeline) -> list[tuple[int, int]]:
    return [(span.start, span.end) for span in line.launches]


def end_of(line: Timeline, name: str) -> int:
    return next(span.end for span in line.calls if span.call.name == name)


def test_a_stream_runs_in_order() -> None:
    program = Program()
    program.launch()
    program.launch()
    (_, end), (start, _) = spans(program.run())
    assert start == end + costs().between_kernels_ns


def test_streams_overlap_where_there_is_room() -> None:
    program = Program()
    a, b = program.stream(0xA000), program.stream(0xB000)
    program.launch(a)
    program.launch(b)
    (_, end), (start, _) = spans(program.run())
    assert start < end


def test_kernels_that_need_every_unit_do_not_overlap() -> None:
    program = Program()
    a, b = program.stream(0xA000), program.stream(0xB000)
    program.launch(a, units=200)
    program.launch(b, units=200)
    (_, end), (start, _) = spans(program.run())
    assert start >= end


def test_counters_serialise_dispatches() -> None:
    program = Program()
    a, b = program.stream(0xA000), program.stream(0xB000)
    program.launch(a)
    program.launch(b)
    (_, end), (start, _) = spans(program.run(serialise=True))
    assert start >= end


def test_work_that_names_no_stream_is_known_by_hips_number() -> None:
    """A graph's nodes have numbers of their own, and say nothing of whose number that is."""
    program = Program()
    a, b = program.stream(0xA000), program.stream(0xB000)
    program.submit("hipLaunchKernel", b, number=7)
    program.submit("hipGraphLaunch", a, number=7)
    program.submit("hipLaunchByPtr", None, number=7)
    program.submit("hipLaunchByPtr", None, number=1)
    seen = [span.stream for span in program.run().launches]
    assert seen == [seen[1] + 1, seen[1], seen[1] + 1, seen[1]]


def test_an_event_orders_two_streams() -> None:
    program = Program()
    a, b = program.stream(0xA000), program.stream(0xB000)
    program.launch(a)
    program.record(0xE000, a)
    program.launch(a)  # after the record: not waited for
    program.wait(b, 0xE000)
    program.launch(b)
    (_, first), (_, second), (start, _) = spans(program.run())
    assert first < start < second


def test_the_null_stream_waits_for_blocking_streams_and_they_for_it() -> None:
    program = Program()
    a = program.stream(0xA000)
    program.launch(a)
    program.launch(NULL)
    program.launch(a)
    (_, first), (second, third), (fourth, _) = spans(program.run())
    assert first <= second and third <= fourth


def test_a_non_blocking_stream_minds_its_own_business() -> None:
    program = Program()
    a = program.stream(0xA000, NON_BLOCKING)
    program.launch(NULL)
    program.launch(a)
    (_, end), (start, _) = spans(program.run())
    assert start < end


def test_a_synchronisation_returns_after_the_work() -> None:
    program = Program()
    program.launch(ns=1_000_000)
    program.call("hipDeviceSynchronize")
    line = program.run()
    assert end_of(line, "hipDeviceSynchronize") >= line.launches[0].end + costs().wake_up_ns


def test_a_null_stream_waits_for_its_own_device_only() -> None:
    program = Program()
    program.launch(program.stream(0xA000), ns=50_000_000)
    program.call("hipSetDevice", ("int", "deviceId", "1"))
    program.launch(gpu=OTHER)
    program.call("hipStreamSynchronize", ("hipStream_t", "stream", "0x0"))
    line = program.run()
    (_, long), (_, short) = spans(line)
    assert short < end_of(line, "hipStreamSynchronize") < long


def test_a_plain_copy_waits_and_an_asynchronous_one_from_pinned_memory_does_not() -> None:
    program = Program()
    program.log.entries.append(Memory(0, program.tid, 0x5000_0000, 1 << 24, 0))
    program.copy("hipMemcpy", 1 << 24, 0x7000_0000)
    program.copy("hipMemcpyAsync", 1 << 24, 0x5000_0000)
    line = program.run()
    waits, hurries = line.copies
    assert end_of(line, "hipMemcpy") >= waits.end
    assert end_of(line, "hipMemcpyAsync") < hurries.end
    assert waits.end - waits.start > (1 << 24) / 64  # 64 B/ns is more than the bus gives


def test_a_small_asynchronous_copy_of_pageable_memory_is_copied_aside() -> None:
    for size, waits in ((64 << 10, False), ((64 << 10) + 1, True)):
        program = Program()
        program.launch(ns=10**9)  # what the copy comes after
        program.copy("hipMemcpyAsync", size, 0x7000_0000)
        line = program.run()
        assert (end_of(line, "hipMemcpyAsync") > line.copies[0].end) is waits


def test_the_host_fills_and_reads_the_buffer_that_pageable_memory_goes_through() -> None:
    paid = costs()
    took = {way: [paid.staged_ns(way, size) for size in (4096, 1 << 20)] for way in ("H2D", "D2H")}
    assert took["H2D"] == [152, 38_836]
    assert took["D2H"] == [13_078, 287_941]
    assert paid.staged_ns("H2D", (1 << 20) + 1) == paid.staged_ns("D2D", 4096) == 0

    def ended(source: int) -> int:
        program = Program()
        program.log.entries.append(Memory(0, program.tid, 0x5000_0000, 1 << 20, 0))
        program.copy("hipMemcpy", 1 << 20, source)
        return end_of(program.run(), "hipMemcpy")

    assert ended(0x7000_0000) - ended(0x5000_0000) == took["H2D"][1]


def test_a_launch_that_never_finished_is_left_out() -> None:
    program = Program()
    program.launch()
    program.launch()
    del program.log.outcomes[2]
    assert len(program.run().launches) == 1


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["launch", "record", "wait", "stream_sync", "device_sync", "copy"]),
        st.integers(0, 3),  # stream: 0 the null stream, 3 a non-blocking one
        st.integers(0, 1),  # event
        st.integers(1, 200_000),
        st.integers(1, 400),
        st.integers(0, 1),  # thread
    ),
    max_size=30,
)


@given(STEPS)
@settings(deadline=None, max_examples=150)
def test_laws_of_any_program(steps: list[tuple[str, int, int, int, int, int]]) -> None:
    program = Program()
    handles = [NULL, *(program.stream(0xA000 * i) for i in (1, 2))]
    handles.append(program.stream(0xF0000, NON_BLOCKING))
    for what, stream, event, ns, units, thread in steps:
        program.tid = 100 + thread
        at = handles[stream]
        if what == "launch":
            program.launch(at, ns, units)
        elif what == "record":
            program.record(0xE000 + event, at)
        elif what == "wait":
            program.wait(at, 0xE000 + event)
        elif what == "stream_sync":
            program.call("hipStreamSynchronize", ("hipStream_t", "stream", hex(at)))
        elif what == "device_sync":
            program.call("hipDeviceSynchronize")
        else:
            program.copy("hipMemcpy", ns, 0x7000_0000, at)
    line = program.run()
    assert line == program.run()
    assert all(span.start >= line.start and span.end > span.start for span in line.calls)
    calls = {span.call.correlation: span for span in line.calls}
    assert all(s.start >= calls[s.launch.correlation].start for s in line.launches)
    for thread in (0, 1):
        mine = [span for span in line.calls if span.thread == thread]
        assert all(a.end <= b.start for a, b in itertools.pairwise(mine))
    for stream in {span.stream for span in line.launches}:
        own = sorted(s for s in spans_of(line.launches, stream))
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(own))
    for moment in {span.start for span in line.launches}:
        busy = [s for s in line.launches if s.start <= moment < s.end]
        in_use = sum(min(program.log.outcomes[s.launch.number].compute_units, UNITS) for s in busy)
        assert in_use <= UNITS


def spans_of(launches: list[LaunchSpan], stream: int) -> list[tuple[int, int]]:
    return [(span.start, span.end) for span in launches if span.stream == stream]


# --- memory sets ---------------------------------------------------------------------------


def fills(program: Program) -> list[tuple[int, bool]]:
    return [(span.size, span.plane) for span in program.run().fills]


def argument(name: str, value: object, kind: str = "size_t") -> tuple[str, str, str]:
    return (kind, name, str(value))


def test_a_memset_is_work_of_the_runtime_with_the_bytes_it_sets() -> None:
    program = Program()
    program.call("hipMemset", argument("sizeBytes", 4096))
    program.call("hipMemsetD32Async", argument("count", 100))
    program.call("hipMemset2D", argument("width", 64), argument("height", 10))
    program.call("hipMemset3D", argument("extent", "{64, 10, 4}", "hipExtent"))
    program.call("hipMemset", argument("sizeBytes", 0))
    assert fills(program) == [(4096, False), (400, False), (640, True), (2560, True)]


def test_a_kernel_waits_for_the_memset_before_it_in_its_stream() -> None:
    program = Program()
    program.call("hipMemsetAsync", argument("sizeBytes", 1 << 30))
    program.launch()
    line = program.run()
    assert line.launches[0].start >= line.fills[0].end


def test_what_is_captured_into_a_graph_is_not_work_yet() -> None:
    program = Program()
    first, second = program.stream(0x100), program.stream(0x200)

    def on(stream: int, name: str, *more: tuple[str, str, str]) -> None:
        program.call(name, argument("stream", hex(stream), "hipStream_t"), *more)

    event = argument("event", "0x900", "hipEvent_t")
    on(first, "hipStreamBeginCapture")
    on(first, "hipMemsetAsync", argument("sizeBytes", 4096))
    on(first, "hipEventRecord", event)
    on(second, "hipStreamWaitEvent", event)  # joins the capture
    on(second, "hipMemsetAsync", argument("sizeBytes", 4096))
    on(first, "hipStreamEndCapture")
    on(second, "hipMemsetAsync", argument("sizeBytes", 8192))
    assert fills(program) == [(8192, False)]


def test_no_device_copies_faster_than_its_memory_and_link() -> None:
    for device, parameters in by_device().items():
        rates, memory = costs(device).copy_bytes_per_ns, parameters["mall_gbps"]["value"]
        assert rates["FILL"] <= memory and rates["D2D"] <= memory / 2, device
        assert rates["H2D"] <= 1.06 * parameters["host_gbps"]["value"], device
