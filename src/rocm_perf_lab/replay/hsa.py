"""The part of libhsa-runtime64 that replay calls, by ctypes: real ROCr or the virtual GPU's.

Only a replay worker loads this library, and only after it holds the captured addresses.
Every call that fails raises `HsaError` with the call's name and ROCr's own words.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Handle = c.c_uint64  # every HSA object is a 64-bit handle in a struct of its own

STATUS_SUCCESS = 0
DEVICE_GPU = 1
AGENT_NAME, AGENT_DEVICE = 0, 17
ISA_NAME_LENGTH, ISA_NAME = 0, 1
POOL_SEGMENT, POOL_FLAGS, POOL_ALLOC_ALLOWED, POOL_GRANULE = 0, 1, 5, 6
SEGMENT_GLOBAL = 0
POOL_KERNARG, POOL_FINE, POOL_COARSE = 1, 2, 4
SYMBOL_KERNARG_SIZE, SYMBOL_GROUP_SIZE, SYMBOL_PRIVATE_SIZE, SYMBOL_DYNAMIC_STACK = 11, 13, 14, 15
SYMBOL_KERNEL_OBJECT = 22
SYSTEM_TIMESTAMP_FREQUENCY = 3
EXTENSION_LOADER = 0x201
LOADED_DELTA, LOADED_BASE, LOADED_SIZE = 8, 9, 10
QUEUE_SINGLE, QUEUE_COOPERATIVE = 1, 2
CONDITION_LT = 2
WAIT_BLOCKED = 0
ACCESS_RW = 3
MEMORY_TYPE_NONE = 0
# A kernel dispatch with the barrier bit and SYSTEM acquire and release scopes.
DISPATCH_HEADER = 2 | 1 << 8 | 2 << 9 | 2 << 11


class HsaError(Exception):
    def __init__(self, call: str, status: int, text: str) -> None:
        super().__init__(f"{call}: {text}")
        self.call, self.status = call, status


class Queue(c.Structure):
    _fields_ = [
        ("type", c.c_uint32),
        ("features", c.c_uint32),
        ("base_address", c.c_uint64),
        ("doorbell", Handle),
        ("size", c.c_uint32),
        ("reserved1", c.c_uint32),
        ("id", c.c_uint64),
    ]


class Packet(c.Structure):
    _fields_ = [
        ("header", c.c_uint16),
        ("setup", c.c_uint16),
        ("workgroup", c.c_uint16 * 3),
        ("reserved0", c.c_uint16),
        ("grid", c.c_uint32 * 3),
        ("private_bytes", c.c_uint32),
        ("group_bytes", c.c_uint32),
        ("kernel_object", c.c_uint64),
        ("kernarg", c.c_uint64),
        ("reserved2", c.c_uint64),
        ("completion", Handle),
    ]


class DispatchTime(c.Structure):
    _fields_ = [("start", c.c_uint64), ("end", c.c_uint64)]


class Access(c.Structure):
    _fields_ = [("permissions", c.c_uint32), ("agent", Handle)]


class MemoryFault(c.Structure):
    _fields_ = [("type", c.c_uint32), ("agent", Handle), ("address", c.c_uint64)]


@dataclass(frozen=True)
class Agent:
    handle: int
    gpu: bool
    name: str  # "gfx942"
    isa: str  # "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", "" for a CPU


@dataclass(frozen=True)
class Pool:
    handle: int
    agent: Agent
    flags: int
    granule: int


QueueError = c.CFUNCTYPE(None, c.c_int, c.c_void_p, c.c_void_p)
Event = c.CFUNCTYPE(c.c_int, c.POINTER(MemoryFault), c.c_void_p)
_VisitHandle = c.CFUNCTYPE(c.c_int, Handle, c.c_void_p)
_VisitLoaded = c.CFUNCTYPE(c.c_int, Handle, Handle, c.c_void_p)

_POINTER, _SIZE, _U32, _U64, _I64 = c.c_void_p, c.c_size_t, c.c_uint32, c.c_uint64, c.c_int64

# name -> argument types; all of these answer a status.
_CALLS: dict[str, tuple[Any, ...]] = {
    "hsa_init": (),
    "hsa_shut_down": (),
    "hsa_system_get_info": (_U32, _POINTER),
    "hsa_system_get_major_extension_table": (c.c_uint16, c.c_uint16, _SIZE, _POINTER),
    "hsa_iterate_agents": (_VisitHandle, _POINTER),
    "hsa_agent_get_info": (Handle, _U32, _POINTER),
    "hsa_agent_iterate_isas": (Handle, _VisitHandle, _POINTER),
    "hsa_isa_get_info_alt": (Handle, _U32, _POINTER),
    "hsa_amd_agent_iterate_memory_pools": (Handle, _VisitHandle, _POINTER),
    "hsa_amd_memory_pool_get_info": (Handle, _U32, _POINTER),
    "hsa_amd_memory_pool_allocate": (Handle, _SIZE, _U32, _POINTER),
    "hsa_amd_memory_pool_free": (_POINTER,),
    "hsa_amd_agents_allow_access": (_U32, _POINTER, _POINTER, _POINTER),
    "hsa_amd_memory_fill": (_POINTER, _U32, _SIZE),
    "hsa_amd_memory_async_copy": (
        _POINTER, Handle, _POINTER, Handle, _SIZE, _U32, _POINTER, Handle,
    ),
    "hsa_amd_vmem_address_reserve": (_POINTER, _SIZE, _U64, _U64),
    "hsa_amd_vmem_address_free": (_POINTER, _SIZE),
    "hsa_amd_vmem_handle_create": (Handle, _SIZE, _U32, _U64, _POINTER),
    "hsa_amd_vmem_handle_release": (Handle,),
    "hsa_amd_vmem_map": (_POINTER, _SIZE, _SIZE, Handle, _U64),
    "hsa_amd_vmem_unmap": (_POINTER, _SIZE),
    "hsa_amd_vmem_set_access": (_POINTER, _SIZE, _POINTER, _SIZE),
    "hsa_rocm_perf_vmem_pieces": (_POINTER, _POINTER, _SIZE),  # the virtual GPU's alone
    "hsa_code_object_reader_create_from_memory": (_POINTER, _SIZE, _POINTER),
    "hsa_code_object_reader_destroy": (Handle,),
    "hsa_executable_create_alt": (_U32, _U32, c.c_char_p, _POINTER),
    "hsa_executable_load_agent_code_object": (Handle, Handle, Handle, c.c_char_p, _POINTER),
    "hsa_executable_freeze": (Handle, c.c_char_p),
    "hsa_executable_destroy": (Handle,),
    "hsa_executable_get_symbol_by_name": (Handle, c.c_char_p, _POINTER, _POINTER),
    "hsa_executable_symbol_get_info": (Handle, _U32, _POINTER),
    "hsa_queue_create": (
        Handle, _U32, _U32, QueueError, _POINTER, _U32, _U32, c.POINTER(c.POINTER(Queue)),
    ),
    "hsa_queue_destroy": (_POINTER,),
    "hsa_signal_create": (_I64, _U32, _POINTER, _POINTER),
    "hsa_signal_destroy": (Handle,),
    "hsa_amd_profiling_set_profiler_enabled": (_POINTER, c.c_int),
    "hsa_amd_profiling_get_dispatch_time": (Handle, Handle, _POINTER),
    "hsa_amd_register_system_event_handler": (Event, _POINTER),
}  # fmt: skip

# The others: name -> (result, argument types).
_PLAIN: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "hsa_signal_store_relaxed": (None, (Handle, _I64)),
    "hsa_signal_store_screlease": (None, (Handle, _I64)),
    "hsa_signal_wait_scacquire": (_I64, (Handle, _U32, _I64, _U64, _U32)),
    "hsa_queue_add_write_index_scacq_screl": (_U64, (_POINTER, _U64)),
    "hsa_queue_load_read_index_scacquire": (_U64, (_POINTER,)),
}


class _LoaderTable(c.Structure):
    """Version 1.01 of the loader extension; ROCr exports these functions in no other way."""

    _fields_ = [
        ("query_host_address", _POINTER),
        ("query_segment_descriptors", _POINTER),
        ("query_executable", _POINTER),
        ("iterate_loaded", _POINTER),
        ("loaded_info", _POINTER),
    ]


class Hsa:
    """The library, initialised. Calls keep HSA's names without `hsa_`."""

    def __init__(self, path: str) -> None:
        library = c.CDLL(path)
        self._status_text = library.hsa_status_string
        self._status_text.argtypes = (c.c_int, c.POINTER(c.c_char_p))
        self.virtual = hasattr(library, "hsa_rocm_perf_vmem_pieces")
        self._calls: dict[str, Callable[..., Any]] = {}
        for name, types in _CALLS.items():
            self._calls[name] = self._checked(library, name, types)
        for name, (result, types) in _PLAIN.items():
            function = getattr(library, name)
            function.argtypes, function.restype = types, result
            self._calls[name] = function
        self.init()
        table = _LoaderTable()
        self.system_get_major_extension_table(EXTENSION_LOADER, 1, c.sizeof(table), c.byref(table))
        self._iterate_loaded = c.CFUNCTYPE(c.c_int, Handle, _VisitLoaded, _POINTER)(
            table.iterate_loaded
        )
        self._loaded_info = c.CFUNCTYPE(c.c_int, Handle, _U32, _POINTER)(table.loaded_info)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            return self._calls[f"hsa_{name}"]
        except KeyError:
            raise AttributeError(name) from None

    def _checked(self, library: c.CDLL, name: str, types: tuple[Any, ...]) -> Callable[..., Any]:
        # A runtime older than ROCm 6.0 has no vmem_*: said when one is called.
        function = getattr(library, name, None)
        if function is None:

            def missing(*_: object) -> None:
                raise HsaError(name, -1, "this ROCr does not have it: ROCm 6.0 or later is needed")

            return missing
        function.argtypes, function.restype = types, c.c_int

        def call(*arguments: object) -> None:
            if status := function(*arguments):
                raise HsaError(name, status, self.status_text(status))

        return call

    def status_text(self, status: int) -> str:
        text = c.c_char_p()
        if self._status_text(status, c.byref(text)) or not text.value:
            return f"status {status:#x}"
        return text.value.decode("utf-8", "replace").strip()

    def _handles(self, iterate: Callable[..., None], *before: int) -> list[int]:
        found: list[int] = []

        def visit(handle: int, _: object) -> int:
            found.append(handle)
            return STATUS_SUCCESS

        iterate(*before, _VisitHandle(visit), None)
        return found

    def agents(self) -> list[Agent]:
        return [self._agent(handle) for handle in self._handles(self.iterate_agents)]

    def _agent(self, handle: int) -> Agent:
        kind, name = c.c_uint32(), c.create_string_buffer(64)
        self.agent_get_info(handle, AGENT_DEVICE, c.byref(kind))
        self.agent_get_info(handle, AGENT_NAME, name)
        gpu = kind.value == DEVICE_GPU
        isas = self._handles(self.agent_iterate_isas, handle) if gpu else []
        return Agent(handle, gpu, name.value.decode("latin-1"), self._isa(isas[0]) if isas else "")

    def _isa(self, handle: int) -> str:
        length = c.c_uint32()
        self.isa_get_info_alt(handle, ISA_NAME_LENGTH, c.byref(length))
        text = c.create_string_buffer(length.value + 1)
        self.isa_get_info_alt(handle, ISA_NAME, text)
        return text.value.decode("latin-1")

    def pools(self, agent: Agent) -> list[Pool]:
        """The pools of global memory that can be allocated from."""
        found: list[Pool] = []
        for handle in self._handles(self.amd_agent_iterate_memory_pools, agent.handle):
            segment, flags = c.c_uint32(), c.c_uint32()
            allowed, granule = c.c_bool(), c.c_size_t()
            for attribute, value in (
                (POOL_SEGMENT, segment),
                (POOL_ALLOC_ALLOWED, allowed),
            ):
                self.amd_memory_pool_get_info(handle, attribute, c.byref(value))
            if segment.value != SEGMENT_GLOBAL or not allowed.value:
                continue
            self.amd_memory_pool_get_info(handle, POOL_FLAGS, c.byref(flags))
            self.amd_memory_pool_get_info(handle, POOL_GRANULE, c.byref(granule))
            found.append(Pool(handle, agent, flags.value, granule.value or 4096))
        return found

    def signal(self, value: int) -> int:
        made = Handle()
        self.signal_create(value, 0, None, c.byref(made))
        return made.value

    def allocate(self, pool: Pool, size: int) -> int:
        at = c.c_void_p()
        self.amd_memory_pool_allocate(pool.handle, size, 0, c.byref(at))
        return at.value or 0

    def allow(self, agents: list[Agent], address: int) -> None:
        handles = (Handle * len(agents))(*(agent.handle for agent in agents))
        self.amd_agents_allow_access(len(agents), handles, None, address)

    def loaded(self, executable: int) -> list[tuple[int, int, int]]:
        """Base, size and delta of each code object the executable has loaded."""
        handles: list[int] = []

        def visit(_executable: int, handle: int, _: object) -> int:
            handles.append(handle)
            return STATUS_SUCCESS

        if status := self._iterate_loaded(executable, _VisitLoaded(visit), None):
            raise HsaError("loader iterate", status, self.status_text(status))
        rows: list[tuple[int, int, int]] = []
        for handle in handles:
            base, size, delta = c.c_uint64(), c.c_uint64(), c.c_int64()
            for what, value in ((LOADED_BASE, base), (LOADED_SIZE, size), (LOADED_DELTA, delta)):
                if status := self._loaded_info(handle, what, c.byref(value)):
                    raise HsaError("loader info", status, self.status_text(status))
            rows.append((base.value, size.value, delta.value))
        return rows
