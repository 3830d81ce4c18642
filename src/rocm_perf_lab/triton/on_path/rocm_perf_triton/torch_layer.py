"""Torch's CPU build on the virtual GPU: `cuda` means memory that both sides can use.

Memory of the virtual GPU is memory of this process, so a CPU tensor may live in it: what torch
computes with the CPU and what kernels compute with it meet there. While this layer is on, tensors
asked for on "cuda", and results of functions of such tensors, live in that memory and say that
their device is cuda:0.
"""

from __future__ import annotations

import bisect
import ctypes
import importlib.abc
import importlib.machinery
import os
import re
import sys
import weakref
from typing import Any

from rocm_perf_triton import hip

_BOUNDS = "ROCM_PERF_VIRTUAL_BOUNDS"  # read by the virtual GPU when HIP is first called

_installed = False


def install_when_imported() -> None:
    """Now if torch is there already, else as soon as the program imports it."""
    if _installed:
        return
    if "torch" in sys.modules:
        if getattr(sys.modules["torch"], "overrides", None) is not None:
            _install(sys.modules["torch"])
        return
    if not any(isinstance(finder, _AfterTorch) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterTorch())


def interface() -> Any:
    """torch.cuda as this layer leaves it, where the layer is on."""
    return sys.modules["torch"].cuda if _installed else None


class _AfterTorch(importlib.abc.MetaPathFinder):
    """Lets torch be imported as ever, and installs the layer behind it."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            run(module)
            _install(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


class _Memory:
    """Which storages are device memory."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: dict[int, int] = {}

    def holds(self, address: int) -> bool:
        at = bisect.bisect_right(self.starts, address) - 1
        return at >= 0 and address < self.ends[self.starts[at]]

    def allocate(self, size: int) -> tuple[int, Any]:
        address = hip.malloc(size)
        bisect.insort(self.starts, address)
        self.ends[address] = address + max(size, 1)
        return address, (ctypes.c_char * max(size, 1)).from_address(address)

    def release(self, address: int) -> None:
        del self.ends[address]
        self.starts.remove(address)
        hip.release(address)


_memory = _Memory()


def _to_device(torch: Any, tensor: Any) -> Any:
    """The same tensor in device memory, strides and all."""
    source = tensor.untyped_storage()
    size = source.nbytes()
    if size == 0 or _memory.holds(source.data_ptr()):
        return tensor
    address, buffer = _memory.allocate(size)
    raw = torch.frombuffer(buffer, dtype=torch.uint8)
    weakref.finalize(buffer, _memory.release, address)  # the tensor's storage holds the buffer
    ctypes.memmove(address, source.data_ptr(), size)
    moved = torch.empty(0, dtype=tensor.dtype)
    moved.set_(raw.untyped_storage(), tensor.storage_offset(), tensor.size(), tensor.stride())
    if tensor.requires_grad and tensor.is_leaf:
        moved.requires_grad_(True)
    return moved


_GPU = re.compile(r"(cuda|hip)(:\d+)?")
_ON_GPU, _ON_CPU = "gpu", "cpu"


def _name_device(args: Any, at: int) -> Any:
    """Where a device may stand, a bare number is the accelerator's."""
    if len(args) <= at or type(args[at]) is not int:
        return args
    return (*args[:at], f"cuda:{args[at]}", *args[at + 1 :])


class _Call:
    """A call of torch as the CPU shall see it, and where its caller wants the result."""

    def __init__(self, torch: Any, args: Any, kwargs: Any) -> None:
        self.torch = torch
        self.wanted: str | None = None  # the device named among the arguments
        self.touches_gpu = False  # an input is in device memory
        self.inputs: set[int] = set()  # storages of the inputs
        self.args = tuple(self._plain(a) for a in args)
        self.kwargs = {k: self._plain(v) for k, v in kwargs.items() if k != "pin_memory"}
        if type(kwargs.get("device")) is int:
            self.wanted, self.kwargs["device"] = _ON_GPU, "cpu"

    def _plain(self, value: Any) -> Any:
        torch = self.torch
        if isinstance(value, torch.Tensor):
            if value.layout is torch.strided and value.device.type == "cpu":
                storage = value.untyped_storage().data_ptr()
                self.inputs.add(storage)
                self.touches_gpu |= _memory.holds(storage)
            return value
        if isinstance(value, str) and (value == "cpu" or _GPU.fullmatch(value)):
            self.wanted = _ON_CPU if value == "cpu" else _ON_GPU
            return "cpu"
        if isinstance(value, torch.device):
            self.wanted = _ON_GPU if value.type == "cuda" else _ON_CPU
            return torch.device("cpu") if value.type == "cuda" else value
        if type(value) in (tuple, list):
            return type(value)(self._plain(item) for item in value)
        return value

    def place(self, result: Any) -> Any:
        """The result where it belongs: with its inputs, unless a device was named."""
        torch = self.torch
        if type(result) in (tuple, list):
            return type(result)(self.place(item) for item in result)
        plain = type(result) is torch.Tensor and result.layout is torch.strided
        if not plain or result.device.type != "cpu":
            return result
        here = _memory.holds(result.untyped_storage().data_ptr())
        if self.wanted == _ON_CPU:
            return result.clone() if here else result
        if here or not (self.wanted == _ON_GPU or self.touches_gpu):
            return result
        if self.wanted is None and result.untyped_storage().data_ptr() in self.inputs:
            return result  # a view of an input, which stays one
        if self.wanted is None or result.grad_fn is not None:
            # The same tensor: autograd knows it, or somebody else has it (a gradient).
            with torch.no_grad():
                result.data = _to_device(torch, result.detach())
            return result
        return _to_device(torch, result)


def _install(torch: Any) -> None:
    global _installed
    if _installed or getattr(torch.version, "hip", None) or torch.cuda.is_available():
        return
    _installed = True
    # On hardware torch gives tensors out of blocks of 2 MiB and more, and an access past a tensor's
    # end seldom faults. It is told here, and goes on; who asked for faults gets them.
    os.environ.setdefault(_BOUNDS, "report")
    from torch.overrides import TorchFunctionMode
    from torch.utils._device import _device_constructors

    busy, default = [False], [False]
    constructors = _device_constructors()
    set_default = torch.set_default_device

    def set_default_device(device: Any) -> None:
        default[0] = bool(device is not None and _GPU.fullmatch(str(device)))
        set_default("cpu" if default[0] else device)

    torch.set_default_device = set_default_device

    class OnDevice(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if function is torch.device:
                return function(*_name_device(args, 0), **(kwargs or {}))
            if busy[0]:
                return function(*args, **(kwargs or {}))
            busy[0] = True
            try:
                hip.finish_pending()
                name = getattr(function, "__name__", "")
                named = _name_device(args, 1) if name == "to" else args
                call = _Call(torch, named, kwargs or {})
                if name == "__get__" and call.touches_gpu:
                    attribute = getattr(getattr(function, "__self__", None), "__name__", "")
                    if attribute in _ATTRIBUTES:
                        return _ATTRIBUTES[attribute](torch)
                if name == "get_device" and call.touches_gpu:
                    return 0
                if default[0] and call.wanted is None and function in constructors:
                    call.wanted = _ON_GPU
                if name == "cuda":
                    call.wanted = _ON_GPU
                    return call.place(call.args[0])
                if name == "cpu":
                    call.wanted = _ON_CPU
                if name == "pin_memory":  # memory of the process is all the same here
                    return call.args[0].clone()
                return call.place(function(*call.args, **call.kwargs))
            finally:
                busy[0] = False

    mode = OnDevice()
    mode.__enter__()
    torch.version.hip = hip.runtime_version()  # what programs tell AMD's GPUs by
    _shim_cuda(torch)


# What a tensor in device memory says of itself.
_ATTRIBUTES: dict[str, Any] = {
    "device": lambda torch: torch.device("cuda", 0),
    "is_cuda": lambda torch: True,
    "is_cpu": lambda torch: False,
}


def _shim_cuda(torch: Any) -> None:
    """torch.cuda's questions about device, stream and events, answered by HIP."""
    cuda = torch.cuda

    class Properties:
        def __init__(self, device: int) -> None:
            found = hip.properties(device)
            self.name, self.gcnArchName = found["name"], found["arch"]
            self.multi_processor_count = found["multiprocessor_count"]
            self.total_memory, self.warp_size = found["total_memory"], found["warpSize"]
            self.major, self.minor = self.capability = found["major"], found["minor"]
            self.shared_memory_per_block = found["max_shared_mem"]
            self.max_threads_per_multi_processor = found["max_threads_per_sm"]
            self.regs_per_multiprocessor = found["max_num_regs"]

    def index(device: Any = None) -> int:
        given = getattr(device, "index", device)
        return given if isinstance(given, int) else hip.current_device()

    def properties(device: Any = None) -> Properties:
        return Properties(index(device))

    class Here:
        def __init__(self, device: Any = None) -> None:
            pass

        def __enter__(self) -> None:
            return None

        def __exit__(self, *_: object) -> None:
            return None

    answers: dict[str, Any] = {
        "is_available": lambda: True, "device_count": hip.device_count, "init": lambda: None,
        "is_initialized": lambda: True, "current_device": hip.current_device,
        "set_device": lambda device=0: hip.set_device(index(device)),
        "synchronize": lambda device=None: hip.synchronize(),
        "get_device_properties": properties,
        "get_device_name": lambda device=None: properties(device).name,
        "get_device_capability": lambda device=None: properties(device).capability,
        "Event": hip.Event, "Stream": hip.Stream, "ExternalStream": hip.Stream,
        "stream": hip.using_stream, "device": Here,
        "current_stream": lambda device=None: hip.Stream(hip.current_stream()),
        "default_stream": lambda device=None: hip.Stream(0),
        "empty_cache": lambda: None, "manual_seed": torch.default_generator.manual_seed,
        "manual_seed_all": torch.default_generator.manual_seed,
        "reset_peak_memory_stats": lambda device=None: None,
        "max_memory_allocated": lambda device=None: 0, "memory_allocated": lambda device=None: 0,
        "is_bf16_supported": lambda *_, **__: True,
        "mem_get_info": lambda device=None: hip.memory(),
        "get_arch_list": lambda: [properties().gcnArchName.split(":")[0]],
        "is_current_stream_capturing": lambda: False,
        "get_rng_state": lambda device="cuda": torch.get_rng_state(),
        "set_rng_state": lambda state, device="cuda": torch.set_rng_state(state),
        "initial_seed": torch.initial_seed,
    }  # fmt: skip
    for name, answer in answers.items():
        setattr(cuda, name, answer)
    _shim_accelerator(torch)


def _shim_accelerator(torch: Any) -> None:
    """What programs call that are written for whatever accelerator there is."""
    cuda = torch.cuda
    answers: dict[str, Any] = {
        "is_available": cuda.is_available, "device_count": cuda.device_count,
        "current_accelerator": lambda check_available=False: torch.device("cuda"),
        "current_device_index": cuda.current_device, "current_device_idx": cuda.current_device,
        "set_device_index": cuda.set_device, "set_device_idx": cuda.set_device,
        "synchronize": cuda.synchronize, "current_stream": cuda.current_stream,
        "empty_cache": cuda.empty_cache,
    }  # fmt: skip
    accelerator = getattr(torch, "accelerator", None)  # since 2.6
    for name, answer in answers.items():
        if hasattr(accelerator, name):
            setattr(accelerator, name, answer)
    plain = torch.Generator

    class Kind(type(plain)):  # type: ignore[misc]
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, plain)

    class Generator(plain, metaclass=Kind):  # type: ignore[misc, valid-type]
        def __new__(cls, device: Any = "cpu") -> Any:
            on_gpu = type(device) is int or _GPU.fullmatch(str(device))
            return plain.__new__(cls, device="cpu" if on_gpu else device)

    torch.Generator = Generator
