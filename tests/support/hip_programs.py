"""Little HIP programs and what they would do on a machine whose latencies are known.

`simulate` runs a program in its own words and records it as rocprofv3 would. It knows nothing of
the graph: re-running it with a faster kernel is the oracle for the graph's what-ifs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from rocm_perf_lab.trace.trace import Trace
from support.traces import TraceBuilder

NULL = 0


@dataclass(frozen=True)
class Step:
    """One host statement. `what`: cpu, launch, copy, copy_async, record, wait, stream_sync,
    event_sync, device_sync."""

    what: str
    stream: int = NULL  # 0: the null stream
    event: int = 0
    kernel: str = ""
    ns: int = 0  # of the kernel or copy, or of the host's own work


@dataclass(frozen=True)
class Machine:
    """Latencies, by default the ones the graph expects where a trace shows no example."""

    call: int = 1_000
    launch_call: int = 3_000
    launch: int = 5_000  # from the launch call to the earliest start
    stream: int = 1_000
    event: int = 5_000
    legacy: int = 1_000
    sync: int = 5_000
    room: int | None = None  # operations a queue holds before launches wait; None: no end
    queues: int | None = None  # streams share this many queues; None: one each
    blocking: bool = True  # streams are created with flags 0: the null stream waits for them
    jitter: float = 0.0  # each latency of each step is up to this share longer, always alike


_USUAL = Machine()


@dataclass
class _Run:
    base: Machine
    machine: Machine
    speed: Mapping[str, float | None]
    builder: TraceBuilder = field(default_factory=TraceBuilder)
    now: int = 1_000_000
    correlation: int = 0
    stream_end: dict[int, int] = field(default_factory=dict)
    queue_end: dict[int, int] = field(default_factory=dict)
    queued: dict[int, list[int]] = field(default_factory=dict)  # ends, per queue
    pending: dict[int, int] = field(default_factory=dict)  # waits not yet met by an operation
    events: dict[int, int] = field(default_factory=dict)
    first: int | None = None
    last: int = 0
    steps: int = 0

    def call(
        self,
        name: str,
        cost: int,
        until: int = 0,
        *,
        stream: int | None = None,
        event: int | None = None,
        flags: int | None = None,
    ) -> int:
        enter = self.now
        self.now = max(enter + cost, until)
        self.correlation += 1
        self.builder.call(
            name,
            enter,
            self.now,
            correlation=self.correlation,
            stream=stream,
            event=event,
            flags=flags,
        )
        return enter

    def operation(self, step: Step, enter: int, is_copy: bool) -> int:
        m, s = self.machine, step.stream
        ready = [enter + m.launch]
        if s in self.pending:
            ready.append(self.pending.pop(s) + m.event)
        if s in self.stream_end:
            ready.append(self.stream_end[s] + m.stream)
        queue = s if m.queues is None else s % m.queues
        if not is_copy:
            ready.append(self.queue_end.get(queue, 0))
        if m.blocking:
            others = [t for t in self.stream_end if (t == NULL) != (s == NULL)]
            ready += [self.stream_end[t] + m.legacy for t in others]
        start = max(ready)
        speed = self.speed.get(step.kernel, 1.0)
        ns = 0 if speed is None else -int(-step.ns // speed)
        end = start + ns
        self.stream_end[s] = end
        if not is_copy:
            self.queue_end[queue] = end
            self.queued.setdefault(queue, []).append(end)
        self.first = start if self.first is None else min(self.first, start)
        self.last = max(self.last, end)
        if is_copy:
            self.builder.copy(step.kernel, start, end, stream=s, correlation=self.correlation + 1)
        else:
            self.builder.dispatch(
                step.kernel, start, end, stream=s, queue=queue, correlation=self.correlation + 1
            )
        return end

    def frontier(self, stream: int) -> int:
        """When what is now in the stream has ended, without the event's own latency."""
        streams = [stream]
        if self.machine.blocking and stream == NULL:
            streams = list(self.stream_end)
        reached = [self.stream_end.get(s, 0) for s in streams]
        return max([*reached, self.pending.get(stream, 0)])

    def when_there_is_room(self, stream: int) -> int:
        m = self.machine
        ends = self.queued.get(stream if m.queues is None else stream % m.queues, [])
        return ends[-m.room] if m.room is not None and len(ends) >= m.room else -m.sync

    def shaken(self) -> Machine:
        chance = Random(self.steps)
        names = ("call", "launch_call", "launch", "stream", "event", "legacy", "sync")
        longer: dict[str, Any] = {
            n: int(getattr(self.base, n) * chance.uniform(1, 1 + self.base.jitter)) for n in names
        }
        return replace(self.base, **longer)

    def step(self, step: Step) -> None:
        self.steps += 1
        self.machine = self.shaken() if self.base.jitter else self.base
        m, handle = self.machine, step.stream and 0x1000 + step.stream
        match step.what:
            case "cpu":
                self.now += step.ns
            case "launch":
                there_is_room = self.when_there_is_room(step.stream)
                self.operation(step, max(self.now, there_is_room), is_copy=False)
                self.call("hipLaunchKernel", m.launch_call, there_is_room + m.sync, stream=handle)
            case "copy_async":
                self.operation(step, self.now, is_copy=True)
                self.call("hipMemcpyAsync", m.call, stream=handle)
            case "copy":
                end = self.operation(Step("copy", NULL, 0, step.kernel, step.ns), self.now, True)
                self.call("hipMemcpy", m.call, end + m.sync)
            case "record":
                self.events[step.event] = self.frontier(step.stream)
                self.call("hipEventRecord", m.call, stream=handle, event=step.event)
            case "wait":
                if step.event in self.events:
                    met = max(self.pending.get(step.stream, 0), self.events[step.event])
                    self.pending[step.stream] = met
                self.call("hipStreamWaitEvent", m.call, stream=handle, event=step.event)
            case "stream_sync":
                self.call(
                    "hipStreamSynchronize",
                    m.call,
                    self.frontier(step.stream) + m.sync,
                    stream=handle,
                )
            case "event_sync":
                until = self.events.get(step.event)
                until = 0 if until is None else until + m.sync
                self.call("hipEventSynchronize", m.call, until, event=step.event)
            case "device_sync":
                self.call(
                    "hipDeviceSynchronize",
                    m.call,
                    max(self.stream_end.values(), default=0) + m.sync,
                )
            case other:
                raise AssertionError(other)


def simulate(
    program: Sequence[Step],
    machine: Machine = _USUAL,
    speed: Mapping[str, float | None] | None = None,
) -> tuple[Trace, int]:
    """The trace, and its makespan. `speed`: kernel -> how much faster, None infinitely."""
    run = _Run(machine, machine, speed or {})
    flags = 0 if machine.blocking else 1
    for _ in {s.stream for s in program if s.stream}:
        run.call("hipStreamCreateWithFlags", machine.call, flags=flags)
    for step in program:
        run.step(step)
    return run.builder.build(), run.last - (run.first or 0)
