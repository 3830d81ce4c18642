"""HIP through ctypes: the few calls a driver needs, each of which raises where HIP fails."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = 1, 2, 3
# hipDeviceProp_t as of HIP 6: where the fields are that Triton asks for.
_PROPERTIES_BYTES = 1472
_PROPERTIES = {
    "max_shared_mem": (296, ctypes.c_size_t), "max_num_regs": (304, ctypes.c_int),
    "multiprocessor_count": (388, ctypes.c_int), "sm_clock_rate": (348, ctypes.c_int),
    "mem_clock_rate": (608, ctypes.c_int), "mem_bus_width": (612, ctypes.c_int),
    "warpSize": (308, ctypes.c_int), "max_threads_per_sm": (624, ctypes.c_int),
    "cooperativeLaunch": (688, ctypes.c_int), "total_memory": (288, ctypes.c_size_t),
    "major": (360, ctypes.c_int), "minor": (364, ctypes.c_int), "l2_bytes": (616, ctypes.c_int),
}  # fmt: skip
_ARCHITECTURE = 1160
_NUM_REGS, _LOCAL_BYTES, _MAX_THREADS = 4, 3, 0  # hipFunction_attribute
_HOST, _DEVICE, _MANAGED = 1, 2, 3  # hipMemoryType


class HipError(RuntimeError):
    pass


def library_path() -> str | None:
    """The runtime named by the environment; None leaves it to the loader."""
    return os.environ.get("TRITON_LIBHIP_PATH") or None


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    names = [library_path()] if library_path() else []
    names += ["libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"]
    problem: OSError | None = None
    for name in names:
        try:
            found = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            problem = problem or error
            continue
        found.hipGetErrorString.restype = ctypes.c_char_p
        found.hipModuleLaunchKernel.argtypes = _LAUNCH
        found.hipModuleLaunchCooperativeKernel.argtypes = _LAUNCH[:-1]
        return found
    raise HipError(f"no HIP runtime: {problem}")


_LAUNCH: list[Any] = [ctypes.c_void_p, *[ctypes.c_uint] * 7, *[ctypes.c_void_p] * 3]


def check(status: int, what: str) -> None:
    if status:
        text = library().hipGetErrorString(status).decode("utf-8", "replace")
        raise HipError(f"{what}: {text} ({status})")


def call(name: str, *arguments: Any) -> None:
    check(getattr(library(), name)(*arguments), name)


def available() -> bool:
    """Whether there is a runtime with a device behind it."""
    count = ctypes.c_int(0)
    try:
        return library().hipGetDeviceCount(ctypes.byref(count)) == 0 and count.value > 0
    except (HipError, AttributeError):
        return False


def runtime_version() -> str:
    number = ctypes.c_int()
    call("hipRuntimeGetVersion", ctypes.byref(number))
    return f"{number.value // 10_000_000}.{number.value // 100_000 % 100}.{number.value % 100_000}"


def device_count() -> int:
    count = ctypes.c_int(0)
    call("hipGetDeviceCount", ctypes.byref(count))
    return count.value


def current_device() -> int:
    device = ctypes.c_int(0)
    with _in_no_time():
        call("hipGetDevice", ctypes.byref(device))
    return device.value


def set_device(device: int) -> None:
    call("hipSetDevice", ctypes.c_int(device))


@lru_cache(maxsize=16)
def properties(device: int) -> dict[str, Any]:
    raw = ctypes.create_string_buffer(_PROPERTIES_BYTES)
    call("hipGetDevicePropertiesR0600", raw, ctypes.c_int(device))
    found: dict[str, Any] = {
        name: kind.from_buffer(raw, offset).value for name, (offset, kind) in _PROPERTIES.items()
    }
    found["arch"] = raw.raw[_ARCHITECTURE:].split(b"\0", 1)[0].decode()
    found["name"] = raw.raw[:256].split(b"\0", 1)[0].decode()
    return found


def malloc(size: int) -> int:
    address = ctypes.c_void_p()
    with _in_no_time():
        call("hipMalloc", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
    return address.value or 0


def memory() -> tuple[int, int]:
    """Free and all bytes of the device."""
    free_bytes, total = ctypes.c_size_t(), ctypes.c_size_t()
    call("hipMemGetInfo", ctypes.byref(free_bytes), ctypes.byref(total))
    return free_bytes.value, total.value


def free(address: int) -> None:
    with _in_no_time():
        call("hipFree", ctypes.c_void_p(address))


def release(address: int) -> None:
    """Free at the end of an object's life, when nobody can be told of a fault any more."""
    with _in_no_time():
        library().hipFree(ctypes.c_void_p(address))


def copy(to: int, source: int, size: int, kind: int) -> None:
    if size:
        call(
            "hipMemcpy",
            ctypes.c_void_p(to),
            ctypes.c_void_p(source),
            ctypes.c_size_t(size),
            ctypes.c_int(kind),
        )


def fill(address: int, byte: int, size: int) -> None:
    if size:
        call("hipMemset", ctypes.c_void_p(address), ctypes.c_int(byte), ctypes.c_size_t(size))


_launched = False
launches = 0  # so far


def launch(
    cooperative: bool, function: int, shape: tuple[int, ...], stream: int, values: Any
) -> None:
    """`shape` is grid and block, three numbers each, and the bytes of dynamic LDS."""
    global _launched, launches
    _launched = True
    launches += 1
    if cooperative:
        call("hipModuleLaunchCooperativeKernel", function, *shape, stream, values)
    else:
        call("hipModuleLaunchKernel", function, *shape, stream, values, None)


def synchronize() -> None:
    global _launched
    _launched = False
    call("hipDeviceSynchronize")


def finish_pending() -> None:
    """Wait where a kernel was launched since somebody last waited."""
    if _launched:
        synchronize()


def modelled_time(on: bool) -> None:
    """Whether events tell the model's time; only the virtual GPU can be asked."""
    global _timing
    _timing = on
    library().hsa_rocm_perf_modelled_time(ctypes.c_int(on))


_timing = False


@contextlib.contextmanager
def _in_no_time() -> Iterator[None]:
    """In a benchmark: what PyTorch's allocator, which keeps memory, and Triton's launcher do
    without asking the runtime."""
    if not _timing:
        yield
        return
    library().hsa_rocm_perf_call_begins(ctypes.c_uint64(0), ctypes.c_uint64(0))
    try:
        yield
    finally:
        library().hsa_rocm_perf_call_ends(ctypes.c_int(1))


def forget_caches() -> None:
    """The virtual GPU's caches as after other traffic: cold."""
    library().hsa_rocm_perf_forget_caches()


class _PointerAttributes(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int), ("device", ctypes.c_int), ("device_pointer", ctypes.c_void_p),
        ("host_pointer", ctypes.c_void_p), ("managed", ctypes.c_int), ("flags", ctypes.c_uint),
        ("room", ctypes.c_byte * 64),
    ]  # fmt: skip


def device_address(address: int) -> int | None:
    """What a kernel may use for this address; None where the device cannot reach it."""
    found = _PointerAttributes()
    with _in_no_time():
        status = library().hipPointerGetAttributes(ctypes.byref(found), ctypes.c_void_p(address))
        if status:
            library().hipGetLastError()  # not an error of the program's
            return None
    return found.device_pointer if found.type in (_HOST, _DEVICE, _MANAGED) else None


def load_kernel(name: str, image: bytes) -> tuple[int, int, int, int, int]:
    """Module, function, registers, spilled words and the largest workgroup of a code object."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("hipModuleLoadData", ctypes.byref(module), image)
    call("hipModuleGetFunction", ctypes.byref(function), module, name.encode())

    def attribute(which: int) -> int:
        value = ctypes.c_int(0)
        call("hipFuncGetAttribute", ctypes.byref(value), ctypes.c_int(which), function)
        return value.value

    return (
        module.value or 0,
        function.value or 0,
        attribute(_NUM_REGS),
        attribute(_LOCAL_BYTES) // 4,
        attribute(_MAX_THREADS),
    )


def unload(module: int) -> None:
    call("hipModuleUnload", ctypes.c_void_p(module))


class Event:
    """An event with the interface of torch's."""

    def __init__(self, enable_timing: bool = True, **_: Any) -> None:
        self._event = ctypes.c_void_p()
        call("hipEventCreate", ctypes.byref(self._event))

    def __del__(self) -> None:
        if getattr(self, "_event", None):
            library().hipEventDestroy(self._event)

    def record(self, stream: Any = None) -> None:
        handle = getattr(stream, "cuda_stream", stream) or 0
        call("hipEventRecord", self._event, ctypes.c_void_p(handle))

    def synchronize(self) -> None:
        call("hipEventSynchronize", self._event)

    def query(self) -> bool:
        return int(library().hipEventQuery(self._event)) == 0

    def wait(self, stream: Any = None) -> None:
        handle = getattr(stream, "cuda_stream", stream) or 0
        call("hipStreamWaitEvent", ctypes.c_void_p(handle), self._event, ctypes.c_uint(0))

    def elapsed_time(self, end: Event) -> float:
        end.synchronize()
        milliseconds = ctypes.c_float()
        call("hipEventElapsedTime", ctypes.byref(milliseconds), self._event, end._event)
        return milliseconds.value


class Stream:
    """A stream with the interface of torch's, and the context torch makes of one."""

    def __init__(self, handle: int | None = None, **_: Any) -> None:
        self._owned = handle is None
        raw = ctypes.c_void_p(handle or 0)
        if self._owned:
            call("hipStreamCreate", ctypes.byref(raw))
        self.cuda_stream = raw.value or 0

    def __del__(self) -> None:
        if getattr(self, "_owned", False):
            library().hipStreamDestroy(ctypes.c_void_p(self.cuda_stream))

    def synchronize(self) -> None:
        call("hipStreamSynchronize", ctypes.c_void_p(self.cuda_stream))

    def wait_stream(self, other: Stream) -> None:
        event = Event()
        event.record(other)
        event.wait(self)

    def wait_event(self, event: Event) -> None:
        event.wait(self)

    def record_event(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event

    def query(self) -> bool:
        return int(library().hipStreamQuery(ctypes.c_void_p(self.cuda_stream))) == 0


_streams = [0]


def current_stream(device: int | None = None) -> int:
    return _streams[-1]


class using_stream:  # noqa: N801 - named as what it does in a `with`
    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> Any:
        _streams.append(getattr(self.stream, "cuda_stream", self.stream) or 0)
        return self.stream

    def __exit__(self, *_: object) -> None:
        _streams.pop()
