"""The streams of a process: which one a call means, and when the work on it may start and ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from rocm_perf_lab.virtual.rocprofv3.costs import Costs
from rocm_perf_lab.virtual.rocprofv3.log import Call

NON_BLOCKING = 1  # hipStreamNonBlocking
LEGACY, PER_THREAD = 1, 2  # hipStreamLegacy, hipStreamPerThread


@dataclass
class Thread:
    number: int
    clock: int
    device: int
    stack: list[tuple[Call, int]] = field(default_factory=list)  # open calls and their starts
    wait_until: int = 0  # what the innermost open call has to wait for


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


class Streams:
    def __init__(self, gpus: list[int], costs: Costs) -> None:
        self._gpus, self._costs = gpus, costs
        self._streams: dict[StreamKey, Stream] = {}
        self._by_number: dict[tuple[int, int], StreamKey] = {}  # device, HIP's number
        self._created: dict[int, list[StreamKey]] = {}

    def create(self, call: Call, thread: Thread) -> None:
        handle = next(iter(call.given.values()), 0)
        flags = call.number("flags") or 0
        key = StreamKey(handle)
        number = self._costs.first_created_stream + sum(map(len, self._created.values()))
        self._streams[key] = Stream(number, thread.device, not flags & NON_BLOCKING)
        self._created.setdefault(thread.device, []).append(key)

    def destroy(self, handle: int) -> None:
        self._streams.pop(StreamKey(handle), None)

    def end_capture(self) -> None:
        for stream in self._streams.values():
            stream.capturing = False

    def of_call(self, call: Call, thread: Thread) -> Stream:
        return self._stream(self._key_of(call, thread))

    def _key_of(self, call: Call, thread: Thread) -> StreamKey:
        handle = call.of_type("hipStream_t") or 0
        if handle == PER_THREAD or (handle == 0 and call.name.endswith("_spt")):
            return StreamKey(PER_THREAD, thread.device, thread.number + 1)
        return StreamKey(0, thread.device) if handle in (0, LEGACY) else StreamKey(handle)

    def _stream(self, key: StreamKey) -> Stream:
        stream = self._streams.get(key)
        if stream is None:
            # Default streams come into being with their first use.
            legacy = key.handle == 0
            place = self._gpus.index(key.device) if key.device in self._gpus else 0
            number = place if legacy else self._costs.first_default_stream + len(self._streams)
            stream = self._streams[key] = Stream(number, key.device, not legacy, legacy)
        return stream

    def of_work(self, correlation: int, agent: int, number: int, thread: Thread) -> Stream:
        """The stream of the call that submits; where it names none, by HIP's own number."""
        call = next((c for c, _ in reversed(thread.stack) if c.correlation == correlation), None)
        if call is not None and call.of_type("hipStream_t") is not None:
            key = self._key_of(call, thread)
            if not call.name.startswith("hipGraph"):
                self._by_number[agent, number] = key
            # A graph's nodes run one after another: what follows what inside is not recorded.
            return self._stream(key)
        if number == 0:
            return self._stream(StreamKey(0, agent))
        made = self._created.get(agent, [])
        guess = made[number - 1] if number <= len(made) else StreamKey(-number, agent)
        return self._stream(self._by_number.get((agent, number), guess))

    def ready(self, stream: Stream, submitted: int) -> int:
        """When the stream's next work may start; takes up what it was told to wait for."""
        ready = max(submitted, stream.done, stream.waits)
        stream.waits = 0
        for other in self._streams.values():
            if other.device != stream.device or other is stream:
                continue
            if (stream.legacy and other.blocking) or (stream.blocking and other.legacy):
                ready = max(ready, other.done)
        return ready

    def done(self, stream: Stream) -> int:
        done = max(stream.done, stream.waits)
        if stream.legacy:
            own = (s for s in self._streams.values() if s.device == stream.device and s.blocking)
            done = max([done, *(s.done for s in own)])
        return done

    def device_done(self, device: int) -> int:
        return max((s.done for s in self._streams.values() if s.device == device), default=0)
