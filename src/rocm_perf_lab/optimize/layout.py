"""What a captured kernel can reach, by type: buffers of typed columns, and scalars among arguments.

Types come from the debug information of the captured code object, else from the kernel's demangled
name, else from what the bytes look like. Pointers are followed wherever they lie: in arguments, in
structures passed by value, in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.codeobject.dwarf_types import (
    Array,
    Opaque,
    Pointer,
    Scalar,
    Struct,
    Type,
    parameters,
)
from rocm_perf_lab.codeobject.kernels import read_code_object
from rocm_perf_lab.replay import arguments, builds
from rocm_perf_lab.replay.compare import TYPES, ElementType, element_type, values
from rocm_perf_lab.replay.format import Capture
from rocm_perf_lab.replay.sources import Source
from rocm_perf_lab.schema.capture import Region

MAX_TARGETS = 1024  # pointers that are followed
MAX_LEAVES = 512  # fields of one element
_LOOKED_AT = 1 << 20  # bytes of a buffer that tell what it holds

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Leaf:
    """A field of an element that is a number."""

    offset: int
    type: ElementType
    boolean: bool = False


@dataclass(frozen=True)
class Buffer:
    """What a pointer points to, as far as the next target or the region's end."""

    name: str
    address: int
    size: int
    element_bytes: int
    leaves: tuple[Leaf, ...]
    const: bool  # reached by pointers to const only
    holds_pointers: bool = False

    @property
    def count(self) -> int:
        return self.size // self.element_bytes


@dataclass(frozen=True)
class Argument:
    """A number among the arguments."""

    name: str
    offset: int  # in the argument block
    type: ElementType
    boolean: bool
    data: bytes

    @property
    def value(self) -> float | int:
        found = values(np.frombuffer(self.data, dtype=np.uint8), self.type)[0].item()
        return float(found) if self.type.floating else int(found)


@dataclass(frozen=True)
class Layout:
    buffers: tuple[Buffer, ...]
    scalars: tuple[Argument, ...]
    work_items: tuple[int, ...]  # of a workgroup and of the grid, each way


Debug = Callable[[str], bytes | None]  # a kernel's symbol -> a build with debug information


def no_debug(symbol: str) -> bytes | None:
    return None


def read_layout(capture: Capture, debug: Debug = no_debug) -> Layout:
    """`debug` is asked only where the captured code object and the kernel's name do not do."""
    finder = _Finder(capture)
    for argument, kind in _typed_arguments(capture, debug):
        data = bytes.fromhex(argument.value_hex or "")
        if not data:
            continue
        name = argument.name or f"argument {argument.number}"
        finder.block(name, argument.offset, data, kind)
    finder.follow()
    dispatch = capture.dispatch
    return Layout(
        (*finder.buffers(), *finder.variables()),
        tuple(finder.scalars),
        (*dispatch.workgroup, *dispatch.grid),
    )


def captured_bytes(capture: Capture, address: int, size: int) -> Bytes:
    """Of a region, or of a module's variables."""
    region = _region(capture.regions, address)
    if region is not None:
        source = Source(capture, region.before, region.after, region.size)
        return source.before(address - region.base, size)
    segments = capture.kernel_code_object.segments
    segment = next(s for s in segments if s.address <= address < s.address + s.size)
    return Source(capture, segment.before, [], segment.size).before(address - segment.address, size)


# ---- types


@dataclass(frozen=True)
class _TypedArgument:
    number: int
    name: str
    offset: int
    value_hex: str | None


def _typed_arguments(capture: Capture, debug: Debug) -> Iterator[tuple[_TypedArgument, Type]]:
    dispatch = capture.dispatch
    explicit = arguments.typed(dispatch)
    named = [_by_name(text, argument.kind, argument.size) for argument, text in explicit]
    known = _parameters(capture.kernel_hsaco(), dispatch.kernel.symbol, len(explicit))
    if known is None and not all(map(_plain, named)):
        known = _parameters(debug(dispatch.kernel.symbol), dispatch.kernel.symbol, len(explicit))
    for number, (argument, _) in enumerate(explicit):
        yield (
            _TypedArgument(number, argument.name, argument.offset, argument.value_hex),
            (known or named)[number],
        )


def _parameters(image: bytes | None, symbol: str, count: int) -> list[Type] | None:
    """By debug information, if it speaks of all of them."""
    found = parameters(read_code_object(image).elf, symbol) if image else None
    return found if found is not None and len(found) == count else None


def _plain(kind: Type | None) -> bool:
    """Whether a name says all there is to say."""
    if isinstance(kind, Pointer):
        return _plain(kind.to())
    return isinstance(kind, Scalar | Array)


def _by_name(text: str | None, kind: str, size: int) -> Type:
    """From a demangled name: `float const*`, `int`; structures show only what they are called."""
    plain = (text or "").replace("__restrict__", "").replace("restrict", "").strip()
    if plain.endswith("const") and plain.removesuffix("const").rstrip().endswith("*"):
        plain = plain.removesuffix("const").rstrip()  # of the pointer itself
    if kind == "global_buffer" or plain.endswith("*"):
        inner = plain[:-1].strip() if plain.endswith("*") else ""
        pointee = _by_name(inner, "", 0) if inner else None
        const = inner.endswith("const") or (inner.startswith("const ") and "*" not in inner)
        return Pointer(const, lambda: pointee)
    found = element_type(plain)
    if found is None:
        return Opaque(size)
    scalar = _scalar(found, plain == "bool")
    return Array(scalar, size // found.size) if size > found.size else scalar


def _scalar(kind: ElementType, boolean: bool) -> Scalar:
    if boolean:
        return Scalar("bool", 1, "bool")
    sign = "float" if kind.floating else "signed" if kind.name[0] == "i" else "unsigned"
    return Scalar(kind.name, kind.size, sign)  # type: ignore[arg-type]


def _leaf_type(kind: Scalar) -> ElementType | None:
    found = element_type(kind.name)
    if found is not None and found.size == kind.size:
        return found
    letter = {"float": "f", "signed": "i"}.get(kind.kind, "u")
    return TYPES.get(f"{letter}{8 * kind.size}")


@dataclass(frozen=True)
class _Flat:
    leaves: tuple[Leaf, ...]
    pointers: tuple[tuple[int, Pointer], ...]


def flatten(kind: Type, at: int = 0) -> _Flat:
    """The numbers and pointers in a type. Bytes that a union reads in two ways are words, and none
    where one of them is a pointer."""
    if isinstance(kind, Scalar):
        found = _leaf_type(kind)
        return _Flat((Leaf(at, found, kind.kind == "bool"),) if found else (), ())
    if isinstance(kind, Pointer):
        return _Flat((), ((at, kind),))
    parts: list[_Flat] = []
    if isinstance(kind, Struct):
        named = element_type(kind.name)
        if named is not None and named.size == kind.size:
            return _Flat((Leaf(at, named),), ())
        parts = [flatten(each, at + offset) for offset, each in kind.fields]
        if kind.union:
            return _one_reading(parts)
    elif isinstance(kind, Array):
        step = kind.of.size
        parts = [flatten(kind.of, at + i * step) for i in range(min(kind.count, MAX_LEAVES))]
    return _Flat(
        tuple(leaf for part in parts for leaf in part.leaves)[:MAX_LEAVES],
        tuple(each for part in parts for each in part.pointers)[:MAX_LEAVES],
    )


def _one_reading(parts: Sequence[_Flat]) -> _Flat:
    if not parts or any(part.pointers for part in parts):
        return _Flat((), ())
    kinds = {leaf.type for part in parts for leaf in part.leaves}
    widest = max(parts, key=lambda part: sum(leaf.type.size for leaf in part.leaves))
    if len(kinds) == 1:
        return widest
    words = (Leaf(leaf.offset, TYPES[f"u{8 * leaf.type.size}"]) for leaf in widest.leaves)
    return _Flat(tuple(words), ())


# ---- memory


@dataclass(frozen=True)
class _Target:
    name: str
    address: int
    const: bool
    kind: Type | None


def _region(regions: Sequence[Region], address: int) -> Region | None:
    return next((r for r in regions if r.base <= address < r.base + r.size), None)


class _Finder:
    """Walks from the arguments to everything they point to."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._regions = [r for r in capture.regions if "kernarg" not in r.flags]
        self._targets: dict[int, list[_Target]] = {}
        self._todo: list[_Target] = []
        self.scalars: list[Argument] = []

    def block(self, name: str, offset: int, data: bytes, kind: Type) -> None:
        """One argument: numbers in it are scalars, pointers in it are targets."""
        flat = flatten(kind)
        if isinstance(kind, Opaque):
            flat = _Flat((), self._looks_like_pointers(data))
        single = len(flat.leaves) + len(flat.pointers) == 1
        for leaf in flat.leaves:
            raw = data[leaf.offset : leaf.offset + leaf.type.size]
            if len(raw) == leaf.type.size:
                label = name if single else f"{name}+{leaf.offset}"
                self.scalars.append(
                    Argument(label, offset + leaf.offset, leaf.type, leaf.boolean, raw)
                )
        for at, pointer in flat.pointers:
            address = int.from_bytes(data[at : at + 8], "little")
            label = name if single else f"{name}+{at}"
            self._add(_Target(label, address, pointer.const, pointer.to()))

    def _looks_like_pointers(self, data: bytes) -> tuple[tuple[int, Pointer], ...]:
        found = []
        for at in range(0, len(data) - 7, 8):
            if _region(self._regions, int.from_bytes(data[at : at + 8], "little")):
                found.append((at, Pointer(False, lambda: None)))
        return tuple(found)

    def _add(self, target: _Target) -> None:
        if len(self._targets) >= MAX_TARGETS or _region(self._regions, target.address) is None:
            return  # null, or nothing of ours
        known = self._targets.setdefault(target.address, [])
        if not known:
            self._todo.append(target)
        known.append(target)

    def follow(self) -> None:
        """Targets that lie in memory that targets point to, until there are no more."""
        seen: set[int] = set()
        while self._todo:
            target = self._todo.pop()
            if target.address in seen or target.kind is None:
                continue
            seen.add(target.address)
            flat = flatten(target.kind)
            step = target.kind.size
            if not flat.pointers or step <= 0:
                continue
            size = min(self._end(target.address) - target.address, MAX_TARGETS * step)
            data = captured_bytes(self._capture, target.address, size)
            for first in range(0, size - step + 1, step):
                for at, pointer in flat.pointers:
                    word = data[first + at : first + at + 8].tobytes()
                    address = int.from_bytes(word, "little")
                    self._add(_Target(f"{target.name}[]", address, pointer.const, pointer.to()))

    def _end(self, address: int) -> int:
        region = _region(self._regions, address)
        assert region is not None
        later = [start for start in self._targets if address < start < region.base + region.size]
        return min([*later, region.base + region.size])

    def buffers(self) -> Iterator[Buffer]:
        for address, targets in sorted(self._targets.items()):
            typed = next((t for t in targets if t.kind is not None and t.kind.size), targets[0])
            yield self._buffer(
                typed, self._end(address) - address, const=all(t.const for t in targets)
            )

    def variables(self) -> Iterator[Buffer]:
        """The module's own, constants too: inputs without a pointer to them. What is written there
        is compared where builds are told apart (replay/machine.py)."""
        code = read_code_object(self._capture.kernel_hsaco())
        captured = self._capture.kernel_code_object
        for variable, segment in builds.segment_variables(code, captured.segments):
            if variable.name.startswith("__"):  # the compiler's
                continue
            address = segment.address + variable.address - segment.linked_address
            data = captured_bytes(self._capture, address, variable.size).tobytes()
            if not self._looks_like_pointers(data):
                element, leaves = self._guessed(address, variable.size)
                yield Buffer(variable.name, address, variable.size, element, leaves, const=True)

    def _buffer(self, target: _Target, size: int, const: bool) -> Buffer:
        kind = target.kind
        flat = flatten(kind) if kind is not None and kind.size else None
        if flat is None or kind is None or kind.size > size:
            element, leaves = self._guessed(target.address, size)
            return Buffer(target.name, target.address, size, element, leaves, const)
        element, leaves = _collapsed(kind.size, flat)
        return Buffer(
            target.name, target.address, size, element, leaves, const, bool(flat.pointers)
        )

    def _guessed(self, address: int, size: int) -> tuple[int, tuple[Leaf, ...]]:
        """Nothing says what it is: numbers if it looks like them, else words, else bytes."""
        looked = captured_bytes(self._capture, address, min(size, _LOOKED_AT) // 4 * 4)
        if size >= 4 and address % 4 == 0 and looked.any() and looks_like(looked, TYPES["f32"]):
            return 4, (Leaf(0, TYPES["f32"]),)
        if size >= 4 and address % 4 == 0:
            return 4, (Leaf(0, TYPES["i32"]),)
        return 1, (Leaf(0, TYPES["u8"]),)


def _collapsed(size: int, flat: _Flat) -> tuple[int, tuple[Leaf, ...]]:
    """An element of equal numbers side by side is several elements."""
    if flat.leaves and not flat.pointers:
        first = flat.leaves[0].type
        places = [leaf.offset for leaf in flat.leaves]
        if all(leaf.type == first for leaf in flat.leaves) and places == list(
            range(0, size, first.size)
        ):
            return first.size, (Leaf(0, first, flat.leaves[0].boolean),)
    return size, flat.leaves


def looks_like(data: Bytes, kind: ElementType) -> bool:
    """Whether bytes can be what a type says. Small integers and pointers, read as floats, are
    denormals, NaNs or absurdly large."""
    numbers = values(data[: len(data) - len(data) % kind.size], kind)
    nonzero = numbers[numbers != 0]
    if not len(nonzero):
        return True
    smallest = {"f64": 1e-300, "f32": 1e-37, "f16": 6e-5, "bf16": 1e-37}[kind.name]
    with np.errstate(invalid="ignore"):
        size = np.abs(nonzero)
        odd = ~np.isfinite(nonzero) | (size < smallest) | (size > 1 / smallest)
    return bool(odd.mean() < 0.01)


def column(data: Bytes, buffer: Buffer, leaf: Leaf) -> Bytes:
    """The bytes of one field of every element, side by side; a copy."""
    whole = data[: buffer.count * buffer.element_bytes].reshape(-1, buffer.element_bytes)
    return np.ascontiguousarray(whole[:, leaf.offset : leaf.offset + leaf.type.size]).reshape(-1)


def put_column(data: Bytes, buffer: Buffer, leaf: Leaf, new: Bytes) -> None:
    whole = data[: buffer.count * buffer.element_bytes].reshape(-1, buffer.element_bytes)
    whole[:, leaf.offset : leaf.offset + leaf.type.size] = new.reshape(-1, leaf.type.size)
