"""What torch.cuda and torch.accelerator answer about the device: HIP's answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rocm_perf_triton import hip


class Properties:
    def __init__(self, device: int) -> None:
        found = hip.properties(device)
        self.name, self.gcnArchName = found["name"], found["arch"]
        self.multi_processor_count = found["multiprocessor_count"]
        self.total_memory, self.warp_size = found["total_memory"], found["warpSize"]
        self.major, self.minor = self.capability = found["major"], found["minor"]
        self.shared_memory_per_block = found["max_shared_mem"]
        self.shared_memory_per_multiprocessor = found["max_shared_mem"]
        self.L2_cache_size = found["l2_bytes"]
        self.max_threads_per_multi_processor = found["max_threads_per_sm"]
        self.regs_per_multiprocessor = found["max_num_regs"]


class Here:
    """A device to be on for a while: there is one, and it is this."""

    def __init__(self, device: Any = None) -> None:
        pass

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def index(device: Any = None) -> int:
    given = getattr(device, "index", device)
    return given if isinstance(given, int) else hip.current_device()


def properties(device: Any = None) -> Properties:
    return Properties(index(device))


def nothing(*_: Any, **__: Any) -> None:
    return None


def zero(*_: Any, **__: Any) -> int:
    return 0


def install(torch: Any, to_device: Callable[[Any], Any]) -> None:
    """`to_device` brings a storage into device memory."""
    common: dict[str, Any] = {
        "is_available": lambda: True, "device_count": hip.device_count,
        "synchronize": lambda device=None: hip.synchronize(), "empty_cache": nothing,
        "get_device_capability": lambda device=None: properties(device).capability,
        "current_stream": lambda device=None: hip.Stream(hip.current_stream()),
        "reset_peak_memory_stats": nothing, "reset_accumulated_memory_stats": nothing,
        "max_memory_allocated": zero, "memory_allocated": zero,
        "max_memory_reserved": zero, "memory_reserved": zero,
    }  # fmt: skip
    cuda = {
        **common,
        "init": nothing, "is_initialized": lambda: True, "current_device": hip.current_device,
        "set_device": lambda device=0: hip.set_device(index(device)),
        "get_device_properties": properties,
        "get_device_name": lambda device=None: properties(device).name,
        "Event": hip.Event, "Stream": hip.Stream, "ExternalStream": hip.Stream,
        "stream": hip.using_stream, "device": Here, "device_of": Here,
        "default_stream": lambda device=None: hip.Stream(0),
        "manual_seed": torch.default_generator.manual_seed,
        "manual_seed_all": torch.default_generator.manual_seed,
        "get_rng_state": lambda device=None: torch.get_rng_state(),
        "set_rng_state": lambda state, device=None: torch.set_rng_state(state),
        "mem_get_info": lambda device=None: hip.memory(), "ipc_collect": nothing,
        "can_device_access_peer": lambda device, other: index(device) != index(other),
        "is_current_stream_capturing": lambda: False, "reset_max_memory_allocated": nothing,
        "is_bf16_supported": lambda *_, **__: True, "initial_seed": torch.initial_seed,
        "get_arch_list": lambda: [properties().gcnArchName.split(":")[0]],
    }  # fmt: skip
    accelerator = {
        **common,
        "current_accelerator": lambda check_available=False: torch.device("cuda"),
        "current_device_index": hip.current_device, "current_device_idx": hip.current_device,
        "set_device_index": cuda["set_device"], "set_device_idx": cuda["set_device"],
        "get_memory_info": cuda["mem_get_info"], "device_index": Here,
    }  # fmt: skip
    for module, answers in ((torch.cuda, cuda), (getattr(torch, "accelerator", None), accelerator)):
        for name, answer in answers.items() if module is not None else ():
            setattr(module, name, answer)
    torch.Tensor.record_stream = nothing
    torch.Generator = _generators_anywhere(torch.Generator)
    torch.load = _loading(torch.load, to_device)


def _generators_anywhere(plain: Any) -> Any:
    """torch.Generator, whose numbers come from the CPU where a GPU is named."""

    class Kind(type(plain)):  # type: ignore[misc]
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, plain)

    class Generator(plain, metaclass=Kind):  # type: ignore[misc]
        def __new__(cls, device: Any = "cpu") -> Any:
            on_gpu = type(device) is int or str(device).startswith(("cuda", "hip"))
            return plain.__new__(cls, device="cpu" if on_gpu else device)

    return Generator


def _loading(load: Callable[..., Any], to_device: Callable[[Any], Any]) -> Callable[..., Any]:
    """torch.load, for files with tensors of a GPU and programs that want theirs on one."""

    def placed(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        def location(storage: Any, saved: str) -> Any:
            wanted = saved if map_location is None else str(map_location)
            return to_device(storage) if wanted.startswith("cuda") else storage

        ours = map_location is None or str(map_location).startswith(("cuda", "cpu"))
        return load(f, location if ours else map_location, *args, **kwargs)

    return placed
