"""Device memory as arrays: what a kernel takes for a pointer, and numpy's way in and out."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from rocm_perf_triton import hip


@dataclass(frozen=True)
class Dtype:
    """An element type by the name torch has for it, which is the name Triton knows."""

    name: str
    itemsize: int
    storage: str  # numpy's type of the same bits

    def __str__(self) -> str:
        return self.name


_PLAIN = ("float16", "float32", "float64", "int8", "int16", "int32", "int64",
          "uint8", "uint16", "uint32", "uint64", "bool")  # fmt: skip
DTYPES = {name: Dtype(name, np.dtype(name).itemsize, name) for name in _PLAIN}
DTYPES["bfloat16"] = Dtype("bfloat16", 2, "uint16")
# exponent bits, mantissa bits, bias, whether zero's negative is the only NaN (FNUZ)
_EIGHT_BIT = {
    "float8_e4m3fnuz": (4, 3, 8, True), "float8_e5m2fnuz": (5, 2, 16, True),
    "float8_e4m3fn": (4, 3, 7, False), "float8_e5m2": (5, 2, 15, False),
}  # fmt: skip
DTYPES |= {name: Dtype(name, 1, "uint8") for name in _EIGHT_BIT}


def dtype_of(given: Any) -> Dtype:
    """An element type from its name, numpy's type, torch's type or Triton's."""
    if isinstance(given, Dtype):
        return given
    name = given if isinstance(given, str) else str(given)
    name = name.split(".")[-1]
    short = {"fp16": "float16", "fp32": "float32", "fp64": "float64", "bf16": "bfloat16",
             "fp8e4b8": "float8_e4m3fnuz", "fp8e5b16": "float8_e5m2fnuz",
             "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2", "i1": "bool"}  # fmt: skip
    name = short.get(name, name)
    if name not in DTYPES:
        with contextlib.suppress(TypeError):
            name = np.dtype(given).name
    if name not in DTYPES:
        raise TypeError(f"{given} is no element type of a kernel: there are {', '.join(DTYPES)}")
    return DTYPES[name]


@lru_cache(maxsize=8)
def _values(name: str) -> Any:
    """The 256 numbers of an 8-bit format."""
    exponent_bits, mantissa_bits, bias, fnuz = _EIGHT_BIT[name]
    codes = np.arange(256)
    mantissa = codes & (1 << mantissa_bits) - 1
    exponent = codes >> mantissa_bits & (1 << exponent_bits) - 1
    normal = np.ldexp(1.0 + mantissa / 2.0**mantissa_bits, exponent - bias)
    tiny = np.ldexp(mantissa / 2.0**mantissa_bits, 1 - bias)
    values = np.where(exponent == 0, tiny, normal) * np.where(codes >> 7, -1.0, 1.0)
    top = (1 << exponent_bits) - 1
    if fnuz:
        values[0x80] = np.nan
    elif name == "float8_e4m3fn":
        values[(codes & 0x7F) == 0x7F] = np.nan
    else:
        special = exponent == top
        values[special] = np.where(mantissa[special], np.nan, np.copysign(np.inf, values[special]))
    return values.astype(np.float32)


def encode(values: Any, dtype: Dtype) -> Any:
    """numpy's values as the bits of a type numpy has not, rounded to nearest even."""
    if dtype.name == "bfloat16":
        bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        nan = np.isnan(values)
        return np.where(nan, bits >> 16 | 0x40, rounded).astype(np.uint16)
    if dtype.name not in _EIGHT_BIT:
        return np.ascontiguousarray(values, dtype=dtype.storage)
    table = _values(dtype.name)
    finite = np.flatnonzero(np.isfinite(table) & (np.arange(256) < 128))
    order = finite[np.argsort(table[finite])]
    numbers = table[order].astype(np.float64)
    wide = np.abs(np.asarray(values, dtype=np.float64))
    above = np.clip(np.searchsorted(numbers, wide), 1, len(numbers) - 1)
    low, high = numbers[above - 1], numbers[above]
    up = (wide - low > high - wide) | ((wide - low == high - wide) & (order[above] % 2 == 0))
    codes = np.where(up, order[above], order[above - 1])
    fnuz = _EIGHT_BIT[dtype.name][3]
    not_a_number = 0x80 if fnuz else 0x7F
    step = numbers[-1] - numbers[-2]
    over = wide >= numbers[-1] + step / 2
    infinite = 0x7C if dtype.name == "float8_e5m2" else not_a_number
    codes = np.where(over, infinite, codes)
    sign = np.signbit(values) & (codes != 0) if fnuz else np.signbit(values)
    codes = np.where(sign, codes | 0x80, codes)
    return np.where(np.isnan(values), not_a_number, codes).astype(np.uint8)


def decode(bits: Any, dtype: Dtype) -> Any:
    if dtype.name == "bfloat16":
        return (bits.astype(np.uint32) << 16).view(np.float32)
    return _values(dtype.name)[bits] if dtype.name in _EIGHT_BIT else bits


class _Memory:
    def __init__(self, size: int) -> None:
        self.size = size
        self.address = hip.malloc(size)

    def __del__(self) -> None:
        if getattr(self, "address", 0) and hip is not None:  # it goes first at exit
            hip.release(self.address)


class Array:
    """An array in device memory, with what Triton asks of a tensor."""

    def __init__(
        self, memory: _Memory, dtype: Dtype, shape: tuple[int, ...], strides: tuple[int, ...],
        offset: int = 0,
    ) -> None:  # fmt: skip
        self._memory, self._offset = memory, offset
        self.dtype, self.shape, self._strides = dtype, shape, strides

    def data_ptr(self) -> int:
        return self._memory.address + self._offset * self.dtype.itemsize

    def ptr_range(self) -> int:
        """Bytes a kernel may reach: knowing them lets Triton use buffer instructions."""
        return self._memory.size

    def stride(self, dim: int | None = None) -> Any:
        return self._strides if dim is None else self._strides[dim]

    @property
    def strides(self) -> tuple[int, ...]:
        return self._strides

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def numel(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def element_size(self) -> int:
        return self.dtype.itemsize

    def is_contiguous(self) -> bool:
        return self._strides == contiguous(self.shape)

    @property
    def T(self) -> Array:  # noqa: N802 - numpy's and torch's name
        return Array(self._memory, self.dtype, self.shape[::-1], self._strides[::-1], self._offset)

    def reshape(self, *shape: Any) -> Array:
        wanted = tuple(shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)
        if not self.is_contiguous():
            raise ValueError("only a contiguous array can be reshaped without a copy")
        known = int(np.prod([n for n in wanted if n >= 0], dtype=np.int64))
        wanted = tuple(self.numel() // max(known, 1) if n < 0 else n for n in wanted)
        if int(np.prod(wanted, dtype=np.int64)) != self.numel():
            raise ValueError(f"{self.numel()} elements have no shape {wanted}")
        return Array(self._memory, self.dtype, wanted, contiguous(wanted), self._offset)

    view = reshape

    def numpy(self) -> Any:
        """A copy in host memory; types numpy has not come as float32."""
        return decode(self.bits(), self.dtype)

    def bits(self) -> Any:
        """The elements as numpy's type of their size."""
        if self.numel() == 0:
            return np.empty(self.shape, dtype=self.dtype.storage)
        reach = 1 + sum((n - 1) * s for n, s in zip(self.shape, self._strides, strict=True))
        flat = np.empty(reach, dtype=self.dtype.storage)
        hip.synchronize()
        hip.copy(flat.ctypes.data, self.data_ptr(), flat.nbytes, hip.DEVICE_TO_HOST)
        steps = tuple(s * self.dtype.itemsize for s in self._strides)
        return np.lib.stride_tricks.as_strided(flat, self.shape, steps).copy()

    def copy_(self, other: Any) -> Array:
        if not self.is_contiguous():
            raise ValueError("only a contiguous array can be written as a whole")
        if isinstance(other, Array) and other.dtype == self.dtype and other.is_contiguous():
            if other.shape != self.shape:
                raise ValueError(f"shapes {other.shape} and {self.shape} differ")
            hip.copy(self.data_ptr(), other.data_ptr(), self.nbytes, hip.DEVICE_TO_DEVICE)
            return self
        values = other.numpy() if isinstance(other, Array) else np.asarray(other)
        bits = np.ascontiguousarray(np.broadcast_to(encode(values, self.dtype), self.shape))
        hip.copy(self.data_ptr(), bits.ctypes.data, bits.nbytes, hip.HOST_TO_DEVICE)
        return self

    @property
    def nbytes(self) -> int:
        return self.numel() * self.dtype.itemsize

    def zero_(self) -> Array:
        if self.is_contiguous():
            hip.fill(self.data_ptr(), 0, self.nbytes)
            return self
        return self.copy_(0)

    def fill_(self, value: Any) -> Array:
        return self.copy_(np.full(self.shape, value))

    def clone(self) -> Array:
        return empty(self.shape, self.dtype).copy_(self)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"Array(shape={self.shape}, dtype={self.dtype}, address={self.data_ptr():#x})"


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    steps, step = [], 1
    for n in reversed(shape):
        steps.append(step)
        step *= max(n, 1)
    return tuple(reversed(steps))


def empty(shape: Any, dtype: Any = "float32") -> Array:
    sizes = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
    kind = dtype_of(dtype)
    count = int(np.prod(sizes, dtype=np.int64))
    return Array(_Memory(count * kind.itemsize), kind, sizes, contiguous(sizes))


def zeros(shape: Any, dtype: Any = "float32") -> Array:
    return empty(shape, dtype).zero_()


def array(values: Any, dtype: Any = None) -> Array:
    """Device memory holding these values, in their own type or another."""
    host = np.asarray(values)
    kind = dtype_of(dtype if dtype is not None else host.dtype)
    return empty(host.shape, kind).copy_(host)


def empty_like(other: Any, dtype: Any = None) -> Array:
    return empty(other.shape, other.dtype if dtype is None else dtype)


def zeros_like(other: Any, dtype: Any = None) -> Array:
    return empty_like(other, dtype).zero_()
