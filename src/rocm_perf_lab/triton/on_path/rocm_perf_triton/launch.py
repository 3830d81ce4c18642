"""Launching a compiled kernel: Triton's arguments as HIP wants them."""

from __future__ import annotations

import ctypes
import operator
import re
import struct
from collections.abc import Callable, Iterator
from typing import Any

from rocm_perf_triton import hip, log

_INTEGERS = {
    "i1": ctypes.c_int8, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32,
    "i64": ctypes.c_int64, "u1": ctypes.c_uint8, "u8": ctypes.c_uint8, "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
}  # fmt: skip
# Kernels end with pointers to scratch that versions of Triton count differently; HIP reads as many
# as the code object has, so there may be more here.
_SCRATCH_POINTERS = 2


def _half(value: float) -> Any:
    return ctypes.c_uint16(int.from_bytes(struct.pack("<e", value), "little"))


def _brain(value: float) -> Any:
    bits = int.from_bytes(struct.pack("<f", value), "little")
    if value != value:
        return ctypes.c_uint16(bits >> 16 | 0x40)
    return ctypes.c_uint16((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)


_FLOATS: dict[str, Callable[[float], Any]] = {
    "fp16": _half, "bf16": _brain, "fp32": ctypes.c_float, "f32": ctypes.c_float,
    "fp64": ctypes.c_double,
}  # fmt: skip

Packer = Callable[[Any], Any]


def _whole(value: Any, signed: bool) -> int:
    """As AMD's driver reads one: no fraction, and no more than a C long of this kind holds."""
    number = operator.index(value)
    lowest = -(2**63) if signed else 0
    if not lowest <= number < lowest + 2**64:
        raise OverflowError(
            f"{number} does not fit into 64 bits{'' if signed else ' without a sign'}"
        )
    return number


def _pointer(value: Any) -> Any:
    if value is None:
        return ctypes.c_void_p(0)
    if isinstance(value, int):
        return ctypes.c_void_p(value)
    return ctypes.c_void_p(value.data_ptr())


def packer(kind: str) -> Packer:
    if kind.startswith("*"):
        return _pointer
    if kind in _INTEGERS:
        integer, signed = _INTEGERS[kind], kind.startswith("i")
        return lambda value: integer(_whole(value, signed))
    if kind in _FLOATS:
        return _FLOATS[kind]
    raise TypeError(f"an argument of type {kind} is none this driver knows")


def rank_of(descriptor: str) -> int:
    """How many dimensions ``tensordesc<fp16[64, 32],...>`` has."""
    shape = re.search(r"\[([^\]]*)\]", descriptor)
    given = re.search(r",input_rank=(\d+)", descriptor)
    if given:
        return int(given[1])
    return shape[1].count(",") + 1 if shape else 0


def descriptor_parts(descriptor: Any) -> list[Any]:
    """A descriptor made on the host, taken apart: shape and strides are passed twice."""
    extent = [*descriptor.shape, *descriptor.strides]
    flags = []
    if hasattr(descriptor, "padding"):  # 3.5
        flags.append(descriptor.padding == "nan")
    if hasattr(descriptor, "round_f32_to_tf32"):  # 3.7
        flags.append(descriptor.round_f32_to_tf32)
    return [descriptor.base, *extent, *flags, *extent]


def flatten(kind: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """Leaves of a signature with their values: tuples open up, descriptors become their parts."""
    if isinstance(kind, (tuple, list)):
        for inner, item in zip(kind, value, strict=True):
            yield from flatten(inner, item)
    elif kind == "constexpr":
        return
    elif kind.startswith("tensordesc"):
        rank = rank_of(kind)
        values = descriptor_parts(value)
        flags = len(values) - 1 - 4 * rank
        kinds = ["*", *["i64"] * (2 * rank), *["i1"] * flags, *["i32"] * rank, *["i64"] * rank]
        yield from zip(kinds, values, strict=True)
    else:
        yield kind, value


class Launcher:
    """What Triton calls with a grid, a stream, a function and the kernel's arguments."""

    def __init__(self, source: Any, metadata: Any) -> None:
        log.made_by(source, metadata)
        self.signature = tuple(source.signature.values())
        self.threads = metadata.num_warps * metadata.warp_size
        self.shared = metadata.shared
        self.cooperative = bool(metadata.launch_cooperative_grid)
        self.scratch = (
            (getattr(metadata, "global_scratch_size", 0) or 0,
             getattr(metadata, "global_scratch_align", 1) or 1, "_allocator"),
            (getattr(metadata, "profile_scratch_size", 0) or 0,
             getattr(metadata, "profile_scratch_align", 1) or 1, "_profile_allocator"),
        )  # fmt: skip
        flat = not any(
            isinstance(k, (tuple, list)) or k.startswith("tensordesc") for k in self.signature
        )
        self._packers = (
            [None if k == "constexpr" else packer(k) for k in self.signature] if flat else None
        )

    def _values(self, arguments: tuple[Any, ...]) -> list[Any]:
        if self._packers is not None:
            return [p(a) for p, a in zip(self._packers, arguments, strict=True) if p is not None]
        pairs = flatten(self.signature, arguments)
        return [packer(kind)(value) for kind, value in pairs]

    def _scratch(self, blocks: int, stream: int) -> tuple[list[Any], list[Any]]:
        """Pointers for the kernel, and what keeps them alive until it is launched."""
        pointers, owners = [], []
        for size, align, allocator in self.scratch:
            owner = None
            if size:
                from triton.runtime import _allocation

                given = getattr(_allocation, allocator)
                given = given.get() if hasattr(given, "get") else given  # a plain function in 3.4
                owner = given(blocks * size, align, stream)
            owners.append(owner)
            pointers.append(_pointer(owner))
        return pointers, owners

    def __call__(
        self, grid_x: int, grid_y: int, grid_z: int, stream: int, function: int,
        kernel_metadata: Any, launch_metadata: Any, enter_hook: Any, exit_hook: Any,
        *arguments: Any,
    ) -> None:  # fmt: skip
        if enter_hook is not None:
            enter_hook(launch_metadata)
        if grid_x * grid_y * grid_z > 0:
            with staged(arguments) as reachable:
                values = self._values(reachable)
                pointers, _owners = self._scratch(grid_x * grid_y * grid_z, stream)
                values += pointers[:_SCRATCH_POINTERS]
                parameters = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
                shape = (grid_x, grid_y, grid_z, self.threads, 1, 1, self.shared)
                hip.launch(self.cooperative, function, shape, stream, parameters)
        if exit_hook is not None:
            exit_hook(launch_metadata)


class staged:  # noqa: N801 - used in a `with`
    """Arguments in host memory the device cannot reach (CPU tensors) are copied there and back."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self.arguments = arguments
        self.copies: list[tuple[int, int, int]] = []  # host address, device address, bytes

    def __enter__(self) -> tuple[Any, ...]:
        if not any(_on_host(a) for a in self.arguments):
            return self.arguments
        return tuple(self._reachable(a) for a in self.arguments)

    def _reachable(self, argument: Any) -> Any:
        if not _on_host(argument) or hip.device_address(argument.data_ptr()) is not None:
            return argument
        storage = argument.untyped_storage()
        base, size = storage.data_ptr(), storage.nbytes()
        known = next((c for c in self.copies if c[0] == base), None)
        if known is None:
            known = (base, hip.malloc(size), size)
            self.copies.append(known)
            hip.copy(known[1], base, size, hip.HOST_TO_DEVICE)
        return known[1] + argument.data_ptr() - base

    def __exit__(self, kind: Any, *_: object) -> None:
        for host, device, size in self.copies:
            if kind is None:
                hip.synchronize()
                hip.copy(host, device, size, hip.DEVICE_TO_HOST)
            hip.free(device)


def _on_host(argument: Any) -> bool:
    """A tensor, or what a library wraps around one, in memory not known to be the device's."""
    return hasattr(argument, "untyped_storage") and not getattr(argument, "is_cuda", False)
