"""When everything happened: a deterministic simulation over the recorded order of calls.

Every host thread has a clock that a call moves on by what such a call costs; device work starts
when it has been submitted, when its stream's work before it and the events it waits for are done,
and when the device has room. How long a kernel runs is the models' word. Host code between calls
is not modelled: it takes a fixed time. docs/virtual-profiling.md describes the rules.
"""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Mapping

from rocm_perf_lab.virtual.rocprofv3.costs import Costs
from rocm_perf_lab.virtual.rocprofv3.log import Call, Launch, Memory, ProcessLog, Return, Transfer
from rocm_perf_lab.virtual.rocprofv3.spans import (
    CallSpan,
    CopySpan,
    FillSpan,
    LaunchSpan,
    MemorySpan,
    Timeline,
)
from rocm_perf_lab.virtual.rocprofv3.streams import Streams, Thread

# The runtime's fill kernel (ROCm clr, KernelBlitManager::fillBuffer1D): 16 bytes to a work-item.
FILL_ITEM_BYTES, FILL_WORKGROUP = 16, 256
_ELEMENT_BITS = re.compile(r"D(8|16|32)(Async)?$")  # hipMemsetD32 counts words, hipMemset bytes
STAGED_BYTES = 64 << 10  # a pageable source up to this size is copied aside by the call

DEVICE_SYNC = frozenset(
    "hipDeviceSynchronize hipCtxSynchronize hipDeviceReset hipFree hipHostFree hipFreeHost "
    "hipFreeArray hipModuleUnload".split()
)
RECORD = frozenset(("hipEventRecord", "hipEventRecordWithFlags"))


class _Units:
    """Compute units in use over time. Only the latest spans are remembered: earlier ones are over
    for every thread of a program that synchronises now and then."""

    REMEMBERED = 256

    def __init__(self, total: int) -> None:
        self.total = total
        self.spans: list[tuple[int, int, int]] = []  # end, start, units: by end

    def place(self, ready: int, duration: int, units: int) -> int:
        """The earliest start from `ready` on at which the units are free to the end."""
        units = min(max(units, 1), self.total)
        start = ready
        while True:
            first = bisect.bisect_right(self.spans, (start, 1 << 62, 0))
            live = [s for s in self.spans[first:] if s[1] < start + max(duration, 1)]
            if _peak(live) + units <= self.total:
                break
            start = min(span[0] for span in live)
        bisect.insort(self.spans, (start + duration, start, units))
        del self.spans[: -self.REMEMBERED]
        return start


def _peak(spans: list[tuple[int, int, int]]) -> int:
    """The most units in use at once. Spans are few; their starts are where use can peak."""
    if len(spans) < 2:
        return sum(units for _, _, units in spans)
    return max(sum(units for end, start, units in spans if start <= at < end) for _, at, _ in spans)


def simulate(
    log: ProcessLog,
    costs: Costs,
    compute_units: Mapping[int, int],  # by agent
    *,
    start: int,
    serialise: bool = False,
) -> Timeline:
    """`serialise`: one dispatch at a time, as while counters are collected."""
    return _Simulation(log, costs, compute_units, start, serialise).run()


class _Simulation:
    def __init__(
        self,
        log: ProcessLog,
        costs: Costs,
        compute_units: Mapping[int, int],
        start: int,
        serialise: bool,
    ) -> None:
        self.log, self.costs, self.serialise = log, costs, serialise
        self.units = {agent: _Units(count) for agent, count in compute_units.items()}
        self.gpus = sorted(compute_units)
        self.line = Timeline(start)
        self.threads: dict[int, Thread] = {}
        self.latest: Thread | None = None
        self.streams = Streams(self.gpus, costs)
        self.events: dict[int, int] = {}
        self.captured_events: set[int] = set()
        self.engines: dict[tuple[str, int], int] = {}
        self.queue_done: dict[tuple[int, int], int] = {}
        self.pinned: list[tuple[int, int]] = []  # begin, end of host memory the device can reach
        self.last_dispatch = 0

    def run(self) -> Timeline:
        for entry in self.log.entries:
            if isinstance(entry, Call):
                self._enter(entry)
            elif isinstance(entry, Return):
                self._return(entry.call)
            elif isinstance(entry, Launch):
                self._launch(entry)
            elif isinstance(entry, Transfer):
                self._copy(entry)
            else:
                self._memory(entry)
        for thread in self.threads.values():  # calls that never returned
            while thread.stack:
                self._return(thread.stack[-1][0])
        ends = [span.end for group in (self.line.calls, self.line.launches) for span in group]
        ends += [span.end for span in self.line.copies]
        ends += [span.end for span in self.line.fills]
        self.line.end = max(ends, default=self.line.start) + self.costs.call_ns
        self.line.calls.sort(key=lambda span: span.call.correlation)
        return self.line

    # Host

    def _thread(self, tid: int) -> Thread:
        thread = self.threads.get(tid)
        if thread is None:
            # A new thread was started by somebody: not before the latest call there was.
            clock = self.latest.clock if self.latest else self.line.start
            thread = Thread(len(self.threads), clock, self.gpus[0] if self.gpus else 0)
            self.threads[tid] = thread
        self.latest = thread
        return thread

    def _enter(self, call: Call) -> None:
        thread = self._thread(call.thread)
        if not thread.stack:
            thread.clock += self.costs.between_calls_ns
        thread.stack.append((call, thread.clock))
        thread.wait_until = 0
        thread.clock += self.costs.before_work(call.name)

    def _return(self, call: Call) -> None:
        thread = self._thread(call.thread)
        begun = next((start for open_, start in thread.stack if open_ is call), thread.clock)
        thread.stack = [(open_, at) for open_, at in thread.stack if open_ is not call]
        if call.result in (0, None):
            self._effect(call, thread)
        rest = self.costs.of(call.name) - self.costs.before_work(call.name)
        thread.clock = max(thread.clock, thread.wait_until) + max(rest, 0)
        thread.wait_until = 0
        self.line.calls.append(CallSpan(call, thread.number, begun, thread.clock))

    def _wait(self, thread: Thread, until: int) -> None:
        """The call returns only after `until`; waking up takes time if it had to sleep."""
        if until > thread.clock:
            thread.wait_until = max(thread.wait_until, until + self.costs.wake_up_ns)

    def _effect(self, call: Call, thread: Thread) -> None:
        """What a call does to the order of things, beyond the work it submitted."""
        name = call.name.removesuffix("_spt")
        if name == "hipSetDevice":
            number = call.number("deviceId", "device") or 0
            if number < len(self.gpus):
                thread.device = self.gpus[number]
        elif name in DEVICE_SYNC:
            self._wait(thread, self.streams.device_done(thread.device))
        elif name in ("hipStreamSynchronize", "hipStreamQuery"):
            self._wait(thread, self.streams.done(self.streams.of_call(call, thread)))
        elif name in ("hipEventSynchronize", "hipEventQuery"):
            self._wait(thread, self.events.get(call.of_type("hipEvent_t") or 0, 0))
        elif name == "hipStreamBeginCapture":
            self.streams.of_call(call, thread).capturing = True
        elif name == "hipStreamEndCapture":
            self.streams.end_capture()
            self.captured_events.clear()
        elif name in RECORD:
            stream, event = self.streams.of_call(call, thread), call.of_type("hipEvent_t") or 0
            if stream.capturing:
                self.captured_events.add(event)
                return
            self.captured_events.discard(event)
            self.events[event] = self.streams.done(stream)
        elif name == "hipStreamWaitEvent":
            stream, event = self.streams.of_call(call, thread), call.of_type("hipEvent_t") or 0
            if event in self.captured_events:
                stream.capturing = True
            done = self.events.get(event, 0)
            if not stream.capturing and done > stream.done:
                stream.waits = max(stream.waits, done + self.costs.signal_ns)
        elif name.startswith(("hipStreamCreate", "hipExtStreamCreate")):
            self.streams.create(call, thread)
        elif name == "hipStreamDestroy":
            self.streams.destroy(call.of_type("hipStream_t") or 0)
        elif name.startswith("hipMemset"):
            self._fill(call, thread)
        elif name in ("hipLaunchHostFunc", "hipStreamAddCallback"):
            stream = self.streams.of_call(call, thread)
            ready = self.streams.ready(stream, thread.clock)
            stream.done = ready + self.costs.host_function_ns
        elif name == "hipHostRegister":
            base, size = call.pointer("hostPtr", "ptr"), call.number("sizeBytes", "size")
            if base and size:
                bisect.insort(self.pinned, (base, base + size))

    # Device

    def _launch(self, launch: Launch) -> None:
        thread = self._thread(launch.thread)
        stream = self.streams.of_work(launch.correlation, launch.agent, launch.stream, thread)
        outcome = self.log.outcomes.get(launch.number)
        if outcome is None:
            return  # it never ran to its end: a fault, or the process was killed before
        if launch.correlation == 0:
            thread.clock += self.costs.packet_ns  # a program that writes packets itself
        ready = self.streams.ready(stream, thread.clock + self.costs.submit_to_start_ns)
        queue = (launch.agent, launch.queue)
        busy_until = self.queue_done.get(queue, 0)
        if busy_until:
            ready = max(ready, busy_until + self.costs.between_kernels_ns)
        if self.serialise:
            ready = max(ready, self.last_dispatch + self.costs.between_kernels_ns)
        duration = max(outcome.duration_ns, 1)
        units = self.units.get(launch.agent)
        start = units.place(ready, duration, outcome.compute_units) if units else ready
        end = start + duration
        stream.done = self.queue_done[queue] = end
        self.last_dispatch = max(self.last_dispatch, end)
        self.line.launches.append(LaunchSpan(launch, thread.number, stream.number, start, end))

    def _copy(self, transfer: Transfer) -> None:
        thread = self._thread(transfer.thread)
        gpu = max(transfer.source_agent, transfer.target_agent)
        stream = self.streams.of_work(transfer.correlation, gpu, transfer.stream, thread)
        way = direction(transfer, self.gpus)
        on_host = transfer.source if way == "H2D" else transfer.target
        staged = 0 if self._is_pinned(on_host) else self.costs.staged_ns(way, transfer.size)
        if way == "H2D":
            thread.clock += staged
        ready = self.streams.ready(stream, thread.clock + self.costs.submit_to_start_ns)
        start = max(ready, self.engines.get((way, gpu), 0))
        end = start + self.costs.copy_ns(way, transfer.size)
        self.engines[way, gpu] = stream.done = end
        self.line.copies.append(CopySpan(transfer, thread.number, stream.number, start, end))
        call = next((c for c, _ in thread.stack if c.correlation == transfer.correlation), None)
        if call is not None and self._blocks(call, transfer, way):
            self._wait(thread, end)
            if way == "D2H":
                thread.wait_until += staged

    def _blocks(self, call: Call, transfer: Transfer, way: str) -> bool:
        if "Async" not in call.name and call.name.startswith("hipMemcpy"):
            return way != "D2D"
        if way == "D2H":
            return not self._is_pinned(transfer.target)
        if way == "H2D":
            return transfer.size > STAGED_BYTES and not self._is_pinned(transfer.source)
        return False

    def _is_pinned(self, address: int) -> bool:
        at = bisect.bisect_right(self.pinned, (address, 1 << 64)) - 1
        return at >= 0 and address < self.pinned[at][1]

    def _fill(self, call: Call, thread: Thread) -> None:
        """hipMemset: a kernel of the runtime's; the host waits unless the call is Async."""
        stream = self.streams.of_call(call, thread)
        size, plane = _filled(call)
        if stream.capturing or not size:
            return
        ready = self.streams.ready(stream, thread.clock + self.costs.submit_to_start_ns)
        if self.serialise:
            ready = max(ready, self.last_dispatch + self.costs.between_kernels_ns)
        duration = self.costs.copy_ns("FILL", size)
        units = self.units.get(stream.device)
        start = units.place(ready, duration, fill_groups(size, units.total)) if units else ready
        stream.done = end = start + duration
        self.last_dispatch = max(self.last_dispatch, end)
        self.line.fills.append(
            FillSpan(
                call=call,
                thread=thread.number,
                stream=stream.number,
                agent=stream.device,
                size=size,
                plane=plane,
                start=start,
                end=end,
            )
        )
        if "Async" not in call.name:
            self._wait(thread, end)

    def _memory(self, memory: Memory) -> None:
        thread = self._thread(memory.thread)
        begun = thread.clock
        thread.clock += self.costs.memory_ns
        if memory.size is not None and memory.agent not in self.gpus:
            bisect.insort(self.pinned, (memory.address, memory.address + memory.size))
        self.line.memory.append(MemorySpan(memory, thread.number, begun, thread.clock))


def _filled(call: Call) -> tuple[int, bool]:
    """Bytes that a hipMemset sets, and whether they are rows with a pitch."""
    box = [int(n) for n in re.findall(r"\d+", call.text("extent") or "")]  # "{512, 16, 4}"
    elements = call.number("sizeBytes", "count", "width") or 0
    sides = box if len(box) == 3 else [elements, call.number("height") or 1]
    bits = _ELEMENT_BITS.search(call.name)
    return math.prod(sides) * (int(bits[1]) // 8 if bits else 1), math.prod(sides[1:]) > 1


def fill_groups(size: int, compute_units: int) -> int:
    """Workgroups of the runtime's fill kernel: one to a compute unit unless the memory is small."""
    return min(compute_units, -(-size // (FILL_ITEM_BYTES * FILL_WORKGROUP)))


def direction(transfer: Transfer, gpus: list[int]) -> str:
    source = "D" if transfer.source_agent in gpus else "H"
    target = "D" if transfer.target_agent in gpus else "H"
    return f"{source}2{target}"
