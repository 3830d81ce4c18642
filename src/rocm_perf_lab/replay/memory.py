"""Device memory of a replay: captured spans mapped at their addresses, and copies to and from it.

Device memory is never touched by the host directly: copies go through a pinned buffer, because
memory mapped by vmem_map is the GPU's and need not be visible to the CPU.
"""

from __future__ import annotations

import contextlib
import ctypes as c
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.replay import hsa as h
from rocm_perf_lab.replay.address_space import Holding, Span

Bytes = npt.NDArray[np.uint8]
STAGING_BYTES = 32 << 20
BATCH = 1024  # copies under way at once


class Relocated(Exception):
    """An address was not to be had: HSA answered success and another one."""

    def __init__(self, span: Span, got: int | None) -> None:
        super().__init__(f"{span.base:#x}")
        self.span, self.got = span, got


class MapFailed(Exception):
    """A step of mapping a span failed."""

    def __init__(self, span: Span, error: h.HsaError) -> None:
        super().__init__(str(error))
        self.span, self.error = span, error


@dataclass(frozen=True)
class Buffer:
    """Pinned host memory, seen by numpy."""

    address: int
    bytes: Bytes


class DeviceMemory:
    def __init__(self, hsa: h.Hsa, gpu: h.Agent) -> None:
        self.hsa, self.gpu = hsa, gpu
        agents = hsa.agents()
        self.cpu = next(agent for agent in agents if not agent.gpu)
        self._device_pool = self._choose(hsa.pools(gpu), h.POOL_COARSE)
        self._host_pool = self._choose(hsa.pools(self.cpu), h.POOL_FINE, without=h.POOL_KERNARG)
        self._kernarg_pool = self._choose(hsa.pools(self.cpu), h.POOL_KERNARG)
        self._signal = hsa.signal(0)
        self._mapped: list[tuple[Span, int]] = []
        self._reserved: list[Span] = []
        self._allocated: list[int] = []
        self._staging = self.host_buffer(STAGING_BYTES)

    @staticmethod
    def _choose(pools: list[h.Pool], flag: int, without: int = 0) -> h.Pool:
        """The pool that fits best; where none has the flag, any will do."""
        rank = sorted(pools, key=lambda p: (not p.flags & flag, bool(p.flags & without)))
        return rank[0]

    # ---- mapping

    def map(self, span: Span, holding: Holding) -> None:
        """Reserve and map one span where it was captured."""
        hsa, pool = self.hsa, self._device_pool
        size = -(-span.size // pool.granule) * pool.granule
        at, handle = c.c_void_p(), h.Handle()
        holding.release(span)
        try:
            hsa.amd_vmem_address_reserve(c.byref(at), size, span.base, 0)
            if at.value != span.base:
                hsa.amd_vmem_address_free(at, size)
                raise Relocated(span, at.value)
            whole = Span(span.base, size)
            self._reserved.append(whole)
            hsa.amd_vmem_handle_create(pool.handle, size, h.MEMORY_TYPE_NONE, 0, c.byref(handle))
            try:
                hsa.amd_vmem_map(span.base, size, 0, handle.value, 0)
            except h.HsaError:
                hsa.amd_vmem_handle_release(handle.value)
                raise
            self._mapped.append((whole, handle.value))
            access = h.Access(h.ACCESS_RW, self.gpu.handle)
            hsa.amd_vmem_set_access(span.base, size, c.byref(access), 1)
        except h.HsaError as error:
            raise MapFailed(span, error) from None

    def narrow(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Of what is mapped let kernels see these (base, size) only, and fault on the rest of their
        pages. Where the GPU is a virtual one; others have pages."""
        if not self.hsa.virtual:
            return
        pieces = sorted((base, base + size) for base, size in ranges if size)
        for span, _ in self._mapped:
            inside = [end for piece in pieces if span.base <= piece[0] < span.end for end in piece]
            words = (c.c_uint64 * len(inside))(*inside)
            self.hsa.rocm_perf_vmem_pieces(span.base, words, len(inside) // 2)

    def close(self) -> None:
        """Give everything back; what fails here has nobody left to care."""
        for span, handle in reversed(self._mapped):
            with contextlib.suppress(h.HsaError):
                self.hsa.amd_vmem_unmap(span.base, span.size)
            with contextlib.suppress(h.HsaError):
                self.hsa.amd_vmem_handle_release(handle)
        for span in reversed(self._reserved):
            with contextlib.suppress(h.HsaError):
                self.hsa.amd_vmem_address_free(span.base, span.size)
        for address in self._allocated:
            with contextlib.suppress(h.HsaError):
                self.hsa.amd_memory_pool_free(address)
        self._mapped, self._reserved, self._allocated = [], [], []

    # ---- memory of our own

    def host_buffer(self, size: int) -> Buffer:
        return self._buffer(self._host_pool, size)

    def kernarg_buffer(self, size: int) -> Buffer:
        return self._buffer(self._kernarg_pool, size)

    def _buffer(self, pool: h.Pool, size: int) -> Buffer:
        size = max(size, 64)
        address = self.hsa.allocate(pool, size)
        self._allocated.append(address)
        self.hsa.allow([self.gpu], address)
        view = np.ctypeslib.as_array((c.c_uint8 * size).from_address(address))
        return Buffer(address, view)

    def device_buffer(self, size: int) -> int:
        address = self.hsa.allocate(self._device_pool, max(size, 64))
        self._allocated.append(address)
        return address

    def free(self, address: int) -> None:
        self._allocated.remove(address)
        self.hsa.amd_memory_pool_free(address)

    def fill_zero(self, address: int, size: int) -> None:
        """The runtime fills whole words; the ends, and what it will not fill, are copied."""
        head = min(size, -address % 4)
        words = (size - head) // 4
        tail = size - head - words * 4
        rest = [(address, head), (address + size - tail, tail)]
        if words:
            try:
                self.hsa.amd_memory_fill(address + head, 0, words)
            except h.HsaError:
                rest.append((address + head, words * 4))
        for at, length in rest:
            for done in range(0, length, STAGING_BYTES):
                step = min(STAGING_BYTES, length - done)
                self.write(at + done, np.zeros(step, dtype=np.uint8))

    # ---- copies

    def copy(self, moves: Iterable[tuple[int, int, int]]) -> None:
        """(to, from, size) within the device, all at once."""
        self._batch(moves, self.gpu, self.gpu)

    def write(self, address: int, data: Bytes) -> None:
        self.write_all([(address, data)])

    def write_all(self, pieces: Iterable[tuple[int, Bytes]]) -> None:
        """(address, bytes) of many pieces, small ones several at a time."""
        moves: list[tuple[int, int, int]] = []
        used = 0
        for address, data in pieces:
            for at in range(0, len(data), STAGING_BYTES):
                part = data[at : at + STAGING_BYTES]
                if used + len(part) > STAGING_BYTES:
                    self._batch(moves, self.gpu, self.cpu)
                    moves, used = [], 0
                self._staging.bytes[used : used + len(part)] = part
                moves.append((address + at, self._staging.address + used, len(part)))
                used += -(-len(part) // 64) * 64
        self._batch(moves, self.gpu, self.cpu)

    def read(self, address: int, size: int) -> Iterator[tuple[int, Bytes]]:
        """(offset, bytes) of device memory; the bytes are overwritten by the next step."""
        for _, at, data in self.read_all([(address, size)]):
            yield at, data

    def read_all(self, ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, Bytes]]:
        """(which of the ranges, offset in it, bytes), small ones several at a time; the bytes are
        good until the next step."""
        rows: list[tuple[int, int, int, int, int]] = []  # range, offset, address, size, place
        used = 0
        for index, (address, size) in enumerate(ranges):
            for at in range(0, size, STAGING_BYTES):
                step = min(STAGING_BYTES, size - at)
                if used + step > STAGING_BYTES:
                    yield from self._read_rows(rows)
                    rows, used = [], 0
                rows.append((index, at, address + at, step, used))
                used += -(-step // 64) * 64
        yield from self._read_rows(rows)

    def _read_rows(
        self, rows: list[tuple[int, int, int, int, int]]
    ) -> Iterator[tuple[int, int, Bytes]]:
        start = self._staging.address
        self._batch([(start + to, at, size) for _, _, at, size, to in rows], self.cpu, self.gpu)
        for index, offset, _, size, to in rows:
            yield index, offset, self._staging.bytes[to : to + size]

    def gather(self, moves: list[tuple[int, int, int]]) -> None:
        """(to, from, size) from the device to pinned host memory."""
        self._batch(moves, self.cpu, self.gpu)

    def _batch(self, moves: Iterable[tuple[int, int, int]], to: h.Agent, source: h.Agent) -> None:
        queue = [move for move in moves if move[2]]
        for first in range(0, len(queue), BATCH):
            part = queue[first : first + BATCH]
            self.hsa.signal_store_relaxed(self._signal, len(part))
            for target, origin, size in part:
                self.hsa.amd_memory_async_copy(
                    target, to.handle, origin, source.handle, size, 0, None, self._signal
                )
            left = self.hsa.signal_wait_scacquire(
                self._signal, h.CONDITION_LT, 1, (1 << 64) - 1, h.WAIT_BLOCKED
            )
            if left < 0:
                raise h.HsaError("hsa_amd_memory_async_copy", int(left), "a copy failed")
