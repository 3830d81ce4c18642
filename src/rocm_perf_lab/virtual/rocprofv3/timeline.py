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
from dataclasses import dataclass, field
from typing import NamedTuple

from rocm_perf_lab.virtual.rocprofv3.costs import Costs
from rocm_perf_lab.virtual.rocprofv3.log import Call, Launch, Memory, ProcessLog, Return, Transfer

NON_BLOCKING = 1  # hipStreamNonBlocking
LEGACY, PER_THREAD = 1, 2  # hipStreamLegacy, hipStreamPerThread
# The runtime's fill kernel (ROCm clr, KernelBlitManager::fillBuffer1D): 16 bytes to a work-item.
FILL_ITEM_BYTES, FILL_WORKGROUP = 16, 256
_ELEMENT_BITS = re.compile(r"D(8|16|32)(Async)?$")  # hipMemsetD32 counts words, hipMemset bytes
STAGED_BYTES = 64 << 10  # a pageable source up to this size is copied aside by the call

DEVICE_SYNC = frozenset(
    "hipDeviceSynchronize hipCtxSynchronize hipDeviceReset hipFree hipHostFree hipFreeHost "
    "hipFreeArray hipModuleUnload".split()
)
RECORD = frozenset(("hipEventRecord", "hipEventRecordWithFlags"))


class StreamKey(NamedTuple):
    """A created stream by its handle; a default stream by its device, or by its thread too."""

    handle: int
    device: int = 0
    thread: int = 0


@dataclass
class Stream:
    number: int
    device: int
    blocking: bool  # waits for the null stream
    legacy: bool = False
    done: int = 0  # when its work so far ends
    waits: int = 0  # what events make its next work wait for
    capturing: bool = False  # into a graph: calls submit nothing


@dataclass(frozen=True)
class CallSpan:
    call: Call
    thread: int
    start: int
    end: int


@dataclass(frozen=True)
class LaunchSpan:
    launch: Launch
    thread: int
    stream: int
    start: int
    end: int


@dataclass(frozen=True)
class CopySpan:
    transfer: Transfer
    thread: int
    stream: int
    start: int
    end: int


@dataclass(frozen=True)
class FillSpan:
    """hipMemset, which AMD's runtime does with a kernel of its own."""

    call: Call
    thread: int
    stream: int
    agent: int
    size: int
    plane: bool  # rows with a pitch
    start: int
    end: int


@dataclass(frozen=True)
class MemorySpan:
    memory: Memory
    thread: int
    start: int
    end: int


@dataclass
class Timeline:
    start: int
    end: int = 0
    calls: list[CallSpan] = field(default_factory=list)
    launches: list[LaunchSpan] = field(default_factory=list)
    copies: list[CopySpan] = field(default_factory=list)
    fills: list[FillSpan] = field(default_factory=list)
    memory: list[MemorySpan] = field(default_factory=list)


@dataclass
class _Thread:
    number: int
    clock: int
    device: int
    stack: list[tuple[Call, int]] = field(default_factory=list)  # open calls and their starts
    wait_until: int = 0  # what the innermost open call has to wait for


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
        self.threads: dict[int, _Thread] = {}
        self.latest: _Thread | None = None
        self.streams: dict[StreamKey, Stream] = {}
        self.by_number: dict[tuple[int, int], StreamKey] = {}  # device, HIP's number
        self.created: dict[int, list[StreamKey]] = {}
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

    def _thread(self, tid: int) -> _Thread:
        thread = self.threads.get(tid)
        if thread is None:
            # A new thread was started by somebody: not before the latest call there was.
            clock = self.latest.clock if self.latest else self.line.start
            thread = _Thread(len(self.threads), clock, self.gpus[0] if self.gpus else 0)
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

    def _wait(self, thread: _Thread, until: int) -> None:
        """The call returns only after `until`; waking up takes time if it had to sleep."""
        if until > thread.clock:
            thread.wait_until = max(thread.wait_until, until + self.costs.wake_up_ns)

    def _effect(self, call: Call, thread: _Thread) -> None:
        """What a call does to the order of things, beyond the work it submitted."""
        name = call.name.removesuffix("_spt")
        if name == "hipSetDevice":
            number = call.number("deviceId", "device") or 0
            if number < len(self.gpus):
                thread.device = self.gpus[number]
        elif name in DEVICE_SYNC:
            self._wait(thread, self._device_done(thread.device))
        elif name in ("hipStreamSynchronize", "hipStreamQuery"):
            self._wait(thread, self._stream_done(self._stream_of(call, thread)))
        elif name in ("hipEventSynchronize", "hipEventQuery"):
            self._wait(thread, self.events.get(call.of_type("hipEvent_t") or 0, 0))
        elif name == "hipStreamBeginCapture":
            self._stream_of(call, thread).capturing = True
        elif name == "hipStreamEndCapture":
            for captured in self.streams.values():
                captured.capturing = False
            self.captured_events.clear()
        elif name in RECORD:
            stream, event = self._stream_of(call, thread), call.of_type("hipEvent_t") or 0
            if stream.capturing:
                self.captured_events.add(event)
                return
            self.captured_events.discard(event)
            self.events[event] = self._stream_done(stream)
        elif name == "hipStreamWaitEvent":
            stream, event = self._stream_of(call, thread), call.of_type("hipEvent_t") or 0
            if event in self.captured_events:
                stream.capturing = True
            done = self.events.get(event, 0)
            if not stream.capturing and done > stream.done:
                stream.waits = max(stream.waits, done + self.costs.signal_ns)
        elif name.startswith(("hipStreamCreate", "hipExtStreamCreate")):
            self._create(call, thread)
        elif name == "hipStreamDestroy":
            self.streams.pop(StreamKey(call.of_type("hipStream_t") or 0), None)
        elif name.startswith("hipMemset"):
            self._fill(call, thread)
        elif name in ("hipLaunchHostFunc", "hipStreamAddCallback"):
            stream = self._stream_of(call, thread)
            ready = self._ready(stream, thread.clock)
            stream.done = ready + self.costs.host_function_ns
        elif name == "hipHostRegister":
            base, size = call.pointer("hostPtr", "ptr"), call.number("sizeBytes", "size")
            if base and size:
                bisect.insort(self.pinned, (base, base + size))

    def _create(self, call: Call, thread: _Thread) -> None:
        handle = next(iter(call.given.values()), 0)
        flags = call.number("flags") or 0
        key = StreamKey(handle)
        number = self.costs.first_created_stream + sum(map(len, self.created.values()))
        self.streams[key] = Stream(number, thread.device, not flags & NON_BLOCKING)
        self.created.setdefault(thread.device, []).append(key)

    # Streams

    def _stream_of(self, call: Call, thread: _Thread) -> Stream:
        return self._stream(self._key_of(call, thread))

    def _key_of(self, call: Call, thread: _Thread) -> StreamKey:
        handle = call.of_type("hipStream_t") or 0
        if handle == PER_THREAD or (handle == 0 and call.name.endswith("_spt")):
            return StreamKey(PER_THREAD, thread.device, thread.number + 1)
        return StreamKey(0, thread.device) if handle in (0, LEGACY) else StreamKey(handle)

    def _stream(self, key: StreamKey) -> Stream:
        stream = self.streams.get(key)
        if stream is None:
            # Default streams come into being with their first use.
            legacy = key.handle == 0
            place = self.gpus.index(key.device) if key.device in self.gpus else 0
            number = place if legacy else self.costs.first_default_stream + len(self.streams)
            stream = self.streams[key] = Stream(number, key.device, not legacy, legacy)
        return stream

    def _stream_of_work(self, correlation: int, agent: int, number: int, thread: _Thread) -> Stream:
        """The stream of the call that submits; where it names none, by HIP's own number."""
        call = next((c for c, _ in reversed(thread.stack) if c.correlation == correlation), None)
        if call is not None and call.of_type("hipStream_t") is not None:
            key = self._key_of(call, thread)
            if not call.name.startswith("hipGraph"):
                self.by_number[agent, number] = key
            # A graph's nodes run one after another: what follows what inside is not recorded.
            return self._stream(key)
        if number == 0:
            return self._stream(StreamKey(0, agent))
        made = self.created.get(agent, [])
        guess = made[number - 1] if number <= len(made) else StreamKey(-number, agent)
        return self._stream(self.by_number.get((agent, number), guess))

    def _ready(self, stream: Stream, submitted: int) -> int:
        """When the stream's next work may start; takes up what it was told to wait for."""
        ready = max(submitted, stream.done, stream.waits)
        stream.waits = 0
        for other in self.streams.values():
            if other.device != stream.device or other is stream:
                continue
            if (stream.legacy and other.blocking) or (stream.blocking and other.legacy):
                ready = max(ready, other.done)
        return ready

    def _stream_done(self, stream: Stream) -> int:
        done = max(stream.done, stream.waits)
        if stream.legacy:
            done = max([done, *(s.done for s in self.streams.values() if s.blocking)])
        return done

    def _device_done(self, device: int) -> int:
        return max((s.done for s in self.streams.values() if s.device == device), default=0)

    # Device

    def _launch(self, launch: Launch) -> None:
        thread = self._thread(launch.thread)
        stream = self._stream_of_work(launch.correlation, launch.agent, launch.stream, thread)
        outcome = self.log.outcomes.get(launch.number)
        if outcome is None:
            return  # it never ran to its end: a fault, or the process was killed before
        if launch.correlation == 0:
            thread.clock += self.costs.packet_ns  # a program that writes packets itself
        ready = self._ready(stream, thread.clock + self.costs.submit_to_start_ns)
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
        stream = self._stream_of_work(transfer.correlation, gpu, transfer.stream, thread)
        way = direction(transfer, self.gpus)
        ready = self._ready(stream, thread.clock + self.costs.submit_to_start_ns)
        start = max(ready, self.engines.get((way, gpu), 0))
        end = start + self.costs.copy_ns(way, transfer.size)
        self.engines[way, gpu] = stream.done = end
        self.line.copies.append(CopySpan(transfer, thread.number, stream.number, start, end))
        call = next((c for c, _ in thread.stack if c.correlation == transfer.correlation), None)
        if call is not None and self._blocks(call, transfer, way):
            self._wait(thread, end)

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

    def _fill(self, call: Call, thread: _Thread) -> None:
        """hipMemset: a kernel of the runtime's; the host waits unless the call is Async."""
        stream = self._stream_of(call, thread)
        size, plane = _filled(call)
        if stream.capturing or not size:
            return
        ready = self._ready(stream, thread.clock + self.costs.submit_to_start_ns)
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
