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

from rocm_perf_triton import hip, torch_answers

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


def _to_device(torch: Any, tensor: Any, copied: bool = True) -> Any:
    """The same tensor in device memory, strides and all; its values where they are `copied`."""
    source = tensor.untyped_storage()
    size = source.nbytes()
    if size == 0 or _memory.holds(source.data_ptr()):
        return tensor
    address, buffer = _memory.allocate(size)
    raw = torch.frombuffer(buffer, dtype=torch.uint8)
    weakref.finalize(buffer, _memory.release, address)  # the tensor's storage holds the buffer
    if copied:
        ctypes.memmove(address, source.data_ptr(), size)
    moved = torch.empty(0, dtype=tensor.dtype)
    moved.set_(raw.untyped_storage(), tensor.storage_offset(), tensor.size(), tensor.stride())
    if tensor.requires_grad and tensor.is_leaf:
        moved.requires_grad_(True)
    return moved


def _storage_on_device(torch: Any, storage: Any) -> Any:
    flat = torch.empty(0, dtype=torch.uint8).set_(storage)
    return _to_device(torch, flat).untyped_storage()


def _plain_memory(torch: Any, tensor: Any) -> bool:
    """Whether a tensor has host memory of its own: no sparse one, and none of vmap's wrappers."""
    wrapped = torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    return not wrapped and tensor.layout is torch.strided and tensor.device.type == "cpu"


# What these return has no values yet, unless torch was told to be deterministic and fills it.
_EMPTY = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}
_GPU = re.compile(r"(cuda|hip)(:\d+)?")
_ON_GPU, _ON_CPU = "gpu", "cpu"


def _name_device(args: Any, at: int) -> Any:
    """Where a device may stand, a bare number is the accelerator's."""
    if len(args) <= at or type(args[at]) is not int:
        return args
    return (*args[:at], f"cuda:{args[at]}", *args[at + 1 :])


def _each(value: Any, function: Any) -> Any:
    """`function` of what a tuple or list holds, be it one with names as of `torch.sort`."""
    kind = type(value)
    if kind in (tuple, list) or kind.__module__ == "torch.return_types":
        return kind([function(item) for item in value])
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return kind(*(function(item) for item in value))
    return value


class _Call:
    """A call of torch as the CPU shall see it, and where its caller wants the result."""

    def __init__(self, torch: Any, args: Any, kwargs: Any) -> None:
        self.torch = torch
        self.wanted: str | None = None  # the device named among the arguments
        self.touches_gpu = False  # an input is in device memory
        self.inputs: set[int] = set()  # storages of the inputs
        self.copied = True  # whether the result has values worth it
        self.args = tuple(self._plain(a) for a in args)
        self.kwargs = {k: self._plain(v) for k, v in kwargs.items() if k != "pin_memory"}
        if type(kwargs.get("device")) is int:
            self.wanted, self.kwargs["device"] = _ON_GPU, "cpu"

    def _plain(self, value: Any) -> Any:
        torch = self.torch
        if isinstance(value, torch.Tensor):
            if _plain_memory(torch, value):
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
        return _each(value, self._plain)

    def place(self, result: Any) -> Any:
        """The result where it belongs: with its inputs, unless a device was named."""
        torch = self.torch
        if isinstance(result, (tuple, list)):
            return _each(result, self.place)
        if type(result) is not torch.Tensor or not _plain_memory(torch, result):
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
                result.data = _to_device(torch, result.detach(), self.copied)
            return result
        return _to_device(torch, result, self.copied)


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
                call.copied = name not in _EMPTY or torch.are_deterministic_algorithms_enabled()
                if name in _IN_SINGLE and call.touches_gpu:
                    return call.place(_in_single(torch, function, call.args, call.kwargs))
                return call.place(function(*call.args, **call.kwargs))
            finally:
                busy[0] = False

    mode = OnDevice()
    mode.__enter__()
    torch.version.hip = hip.runtime_version()  # what programs tell AMD's GPUs by
    torch_answers.install(torch, lambda storage: _storage_on_device(torch, storage))


# A GPU adds up in single precision where the CPU's torch adds up in half, gradients above all.
_IN_SINGLE = ("layer_norm", "group_norm", "rms_norm")


def _in_single(torch: Any, function: Any, args: Any, kwargs: Any) -> Any:
    def widened(value: Any) -> Any:
        half = isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16)
        return value.float() if half else value

    given = args[0] if args else kwargs["input"]
    result = function(*map(widened, args), **{k: widened(v) for k, v in kwargs.items()})
    return result.to(given.dtype)


# What a tensor in device memory says of itself.
_ATTRIBUTES: dict[str, Any] = {
    "device": lambda torch: torch.device("cuda", 0),
    "is_cuda": lambda torch: True,
    "is_cpu": lambda torch: False,
}
