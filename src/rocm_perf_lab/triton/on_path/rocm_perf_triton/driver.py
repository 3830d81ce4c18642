"""The driver: AMD's, with HIP in the place of torch."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

import triton.backends.amd.driver as _amd

from rocm_perf_triton import benchmark, check_version, hip, launch, log, torch_layer

# Set by rocm-perf: this program runs on a virtual GPU.
VIRTUAL = os.environ.get("ROCM_PERF_DEVICE", "").startswith("virtual")
_BENCHMARK_CACHE_BYTES = 256 << 20  # what AMD's driver clears between timed launches


class Utils:
    """What Triton's compiled kernels ask of a device."""

    def get_device_properties(self, device: int) -> dict[str, Any]:
        return hip.properties(device)

    def load_binary(
        self, name: str, image: bytes, shared: int, device: int
    ) -> tuple[int, int, int, int, int]:
        log.loaded(name, image)
        return hip.load_kernel(name, image)

    def unload_module(self, module: int) -> None:
        hip.unload(module)


class Interface:
    """The part of torch.cuda that Triton's own code uses."""

    Event = hip.Event
    Stream = hip.Stream
    ExternalStream = hip.Stream
    synchronize = staticmethod(lambda device=None: hip.synchronize())
    current_device = staticmethod(hip.current_device)
    set_device = staticmethod(hip.set_device)
    device_count = staticmethod(hip.device_count)
    stream = hip.using_stream
    is_available = staticmethod(hip.available)

    @staticmethod
    def current_stream(device: Any = None) -> hip.Stream:
        return hip.Stream(hip.current_stream())

    @staticmethod
    def default_stream(device: Any = None) -> hip.Stream:
        return hip.Stream(0)


class Cache:
    """Memory as large as the caches, to be written between timed launches."""

    def __init__(self) -> None:
        self.address = hip.malloc(_BENCHMARK_CACHE_BYTES)

    def __del__(self) -> None:
        if getattr(self, "address", 0) and hip is not None:  # it goes first at exit
            hip.release(self.address)

    def data_ptr(self) -> int:
        return self.address

    def zero_(self) -> None:
        hip.fill(self.address, 0, _BENCHMARK_CACHE_BYTES)


def _torch_for_rocm_works() -> bool:
    return bool(_amd.HIPDriver.is_active())


if VIRTUAL:  # torch says that it is ROCm's then, and AMD's driver would believe it
    _amd.HIPDriver.is_active = staticmethod(lambda: False)


class HipDriver(_amd.HIPDriver):  # type: ignore[misc]
    def __init__(self) -> None:
        # Not AMD's: it imports torch and compiles C.
        import triton

        check_version(triton.__version__)
        self.utils = Utils()
        self.launcher_cls = launch.Launcher
        self.get_current_device = hip.current_device
        self.set_current_device = hip.set_device
        self.get_current_stream = hip.current_stream
        self.get_device_capability = _capability
        _mend(triton)
        if VIRTUAL:
            benchmark.install(triton)
            torch_layer.install_when_imported()

    @staticmethod
    def is_active() -> bool:
        if VIRTUAL:
            return hip.available()
        return not _torch_for_rocm_works() and hip.available()

    def get_device_interface(self) -> Any:
        return torch_layer.interface() or Interface

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cuda", 0) if torch_layer.interface() else torch.device("cpu")

    def get_benchmarker(self) -> Any:
        from triton.testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        return Cache()

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
        memory = Block(size)
        hip.fill(memory.address, 0, size)
        return memory


class Block:
    """Device memory that a launch owns."""

    def __init__(self, size: int) -> None:
        self.address = hip.malloc(size)

    def __del__(self) -> None:
        if getattr(self, "address", 0) and hip is not None:  # it goes first at exit
            hip.release(self.address)

    def data_ptr(self) -> int:
        return self.address


def _capability(device: int | None = None) -> tuple[int, int]:
    found = hip.properties(hip.current_device() if device is None else device)
    return found["major"], found["minor"]


def _mend(triton: Any) -> None:
    """What versions of Triton need that have torch, or ROCm's linker, in their way."""
    from triton.backends.amd import compiler

    version = tuple(int(n) for n in triton.__version__.split(".")[:2])
    backend = compiler.HIPBackend
    backend.is_within_2gb = staticmethod(_is_within_2gb)
    if version < (3, 6) and "TRITON_HIP_LLD_PATH" not in os.environ:
        linker = _linker()
        if linker:
            os.environ["TRITON_HIP_LLD_PATH"] = linker


def _is_within_2gb(argument: Any) -> bool:
    """Whether buffer instructions, with their 32-bit offsets, reach all of an argument.

    What is not a tensor itself may point into one and be meant to reach backwards.
    """
    if hasattr(argument, "ptr_range"):
        return bool(argument.ptr_range() <= 2**31 - 1)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(argument, torch.Tensor):
        return bool(argument.untyped_storage().size() <= 2**31 - 1)
    return False


def _linker() -> str | None:
    names = ["ld.lld", *(f"ld.lld-{n}" for n in range(24, 15, -1))]
    return next((path for path in map(shutil.which, names) if path), None)


def _stand_alone() -> None:
    """On the virtual GPU `torch.cuda` says that there is a device: it is this driver's."""
    import triton.backends.nvidia.driver as nvidia

    for driver in (nvidia.CudaDriver, _amd.HIPDriver):
        driver.is_active = staticmethod(lambda: False)


if VIRTUAL:
    _stand_alone()
    torch_layer.install_when_imported()
