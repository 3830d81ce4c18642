"""One queue, one packet at a time: dispatch, wait, and the dispatch's own timestamps."""

from __future__ import annotations

import contextlib
import ctypes as c
import time
from dataclasses import dataclass

from rocm_perf_lab.replay import hsa as h

FOREVER = (1 << 64) - 1
PACKETS = 1024


class Fault(Exception):
    """The GPU stopped: a memory fault, an illegal instruction, an abort."""


@dataclass(frozen=True)
class Dispatched:
    gpu_ns: float
    wall_s: float


class Launcher:
    def __init__(self, hsa: h.Hsa, gpu: h.Agent, cooperative: bool) -> None:
        self.hsa, self.gpu = hsa, gpu
        self._done = hsa.signal(0)
        self._failure: str | None = None
        self._on_error = h.QueueError(self._failed)  # kept: C holds only its address
        self._on_event = h.Event(self._event)
        with contextlib.suppress(h.HsaError):  # a tool may have the only one there can be
            hsa.amd_register_system_event_handler(self._on_event, None)
        queue = c.POINTER(h.Queue)()
        kind = h.QUEUE_COOPERATIVE if cooperative else h.QUEUE_SINGLE
        whole = (1 << 32) - 1
        hsa.queue_create(
            gpu.handle, PACKETS, kind, self._on_error, None, whole, whole, c.byref(queue)
        )
        self.queue = queue.contents
        self.queue_address = c.addressof(self.queue)
        hsa.amd_profiling_set_profiler_enabled(self.queue_address, 1)
        frequency = c.c_uint64()
        hsa.system_get_info(h.SYSTEM_TIMESTAMP_FREQUENCY, c.byref(frequency))
        self._ns_per_tick = 1e9 / (frequency.value or 1_000_000_000)

    def _failed(self, status: int, _queue: object, _data: object) -> None:
        self._failure = self._failure or self.hsa.status_text(status)
        self.hsa.signal_store_screlease(self._done, -1)

    def _event(self, event: c._Pointer[h.MemoryFault], _data: object) -> int:
        if event.contents.type == 0:
            self._failure = f"memory fault at {event.contents.address:#x}"
            self.hsa.signal_store_screlease(self._done, -1)
        return h.STATUS_SUCCESS

    def dispatch(self, packet: h.Packet) -> Dispatched:
        hsa = self.hsa
        hsa.signal_store_relaxed(self._done, 1)
        packet.completion = self._done
        index = hsa.queue_add_write_index_scacq_screl(self.queue_address, 1)
        slot = self.queue.base_address + index % self.queue.size * c.sizeof(h.Packet)
        # The first word makes the packet valid: last, and in one store.
        c.memmove(slot + 4, c.addressof(packet) + 4, c.sizeof(h.Packet) - 4)
        started = time.perf_counter()
        c.c_uint32.from_address(slot).value = packet.setup << 16 | h.DISPATCH_HEADER
        hsa.signal_store_screlease(self.queue.doorbell, index)
        hsa.signal_wait_scacquire(self._done, h.CONDITION_LT, 1, FOREVER, h.WAIT_BLOCKED)
        wall = time.perf_counter() - started
        if self._failure is not None:
            raise Fault(self._failure)
        taken = h.DispatchTime()
        hsa.amd_profiling_get_dispatch_time(self.gpu.handle, self._done, c.byref(taken))
        return Dispatched((taken.end - taken.start) * self._ns_per_tick, wall)

    def close(self) -> None:
        self.hsa.queue_destroy(self.queue_address)
