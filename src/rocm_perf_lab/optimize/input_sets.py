"""Other inputs for a captured kernel: what can be changed without making it another program.

Only buffers that the kernel's own signature calls floating point, and whose captured bytes look
like it, get new values. Integers stay: they may be sizes, offsets or indices, and a random one
would send even the correct kernel out of bounds. Every set is tried on the original first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.replay import arguments
from rocm_perf_lab.replay.compare import ElementType, element_type, values
from rocm_perf_lab.replay.format import Capture
from rocm_perf_lab.replay.session import Fill, Replace
from rocm_perf_lab.replay.sources import Source
from rocm_perf_lab.schema.capture import Region

POISON = 0xFF  # a NaN in every floating-point format, -1 in every integer
OTHER_POISON = 0x7F
# One for each further set, so that a kernel that looks at what is there sees something else each
# time: large, small and positive, small and negative, zero.
STALE = (OTHER_POISON, 0x3C, 0xBC, 0x00)
GUARD = 0xA5
MAX_CHANGED_BYTES = 1 << 30  # of one set; larger buffers keep their captured values
_LOOKED_AT = 1 << 20  # bytes of a buffer that tell what it holds

Numbers = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, Numbers, ElementType], Numbers]
Change = Replace | Fill


@dataclass(frozen=True)
class Buffer:
    """What a pointer argument points to, as far as the next pointer or the region's end."""

    name: str
    address: int
    size: int
    type: ElementType | None
    written: tuple[tuple[int, int], ...]  # (address, size) the captured run changed
    region: Region

    @property
    def floating(self) -> bool:
        return self.type is not None and self.type.floating


@dataclass(frozen=True)
class InputSet:
    name: str
    changes: tuple[Change, ...]
    guard: int = GUARD


def buffers(capture: Capture) -> list[Buffer]:
    found: list[Buffer] = []
    pointers = sorted(arguments.pointers(capture.dispatch), key=lambda pointer: pointer[1])
    starts = sorted({address for _, address, _ in pointers})
    for name, address, kind in pointers:
        region = next((r for r in capture.regions if r.base <= address < r.base + r.size), None)
        if region is None or any(b.address == address for b in found):
            continue  # null, or the same memory under a second name
        later = [start for start in starts if address < start < region.base + region.size]
        end = min([*later, region.base + region.size])
        written = []
        for extent in region.after:
            low = max(address, region.base + extent.offset)
            high = min(end, region.base + extent.offset + extent.size)
            if low < high:
                written.append((low, high - low))
        found.append(
            Buffer(name, address, end - address, element_type(kind), tuple(written), region)
        )
    return found


def holds_numbers(capture: Capture, buffer: Buffer) -> bool:
    """Whether the captured bytes can be what the signature says. Small integers and pointers,
    read as floats, are denormals, NaNs or absurdly large."""
    kind = buffer.type
    if kind is None or not kind.floating or (buffer.address % kind.size):
        return False
    numbers = values(_captured(capture, buffer, min(buffer.size, _LOOKED_AT)), kind)
    nonzero = numbers[numbers != 0]
    if not len(nonzero):
        return True
    smallest = {"f64": 1e-300, "f32": 1e-37, "f16": 6e-5, "bf16": 1e-37}[kind.name]
    with np.errstate(invalid="ignore"):
        size = np.abs(nonzero)
        odd = ~np.isfinite(nonzero) | (size < smallest) | (size > 1 / smallest)
    return bool(odd.mean() < 0.01)


def _captured(capture: Capture, buffer: Buffer, size: int) -> npt.NDArray[np.uint8]:
    region = buffer.region
    source = Source(capture, region.before, region.after, region.size)
    whole = size - size % (buffer.type.size if buffer.type else 1)
    return source.before(buffer.address - region.base, whole)


def poison(outputs: Sequence[Buffer], byte: int = POISON) -> tuple[Fill, ...]:
    return tuple(Fill(address, size, byte) for b in outputs for address, size in b.written)


def input_sets(capture: Capture, outputs: Sequence[Buffer], seed: int = 0) -> Iterator[InputSet]:
    """`outputs` are the buffers that may be poisoned: the kernel never reads them."""
    own = {b.address for b in outputs}
    data = [b for b in buffers(capture) if b.address not in own and holds_numbers(capture, b)]
    yield InputSet("captured", (), 0)
    yield InputSet("captured, outputs poisoned", poison(outputs))
    if not data:
        # Nothing may be changed but what must not matter: stale memory and its surroundings.
        for byte in STALE:
            name = f"captured, stale memory {byte:#04x}"
            yield InputSet(name, poison(outputs, byte), byte ^ 0xFF)
        return
    for (name, draw), stale in zip(_DRAWS.items(), STALE, strict=True):
        rng = np.random.default_rng([seed, len(name), sum(name.encode())])
        left = MAX_CHANGED_BYTES
        changes: list[Change] = []
        for buffer in data:
            if buffer.size > left:
                continue
            left -= buffer.size
            changes.append(Replace(buffer.address, _drawn(capture, buffer, rng, draw)))
        yield InputSet(name, (*changes, *poison(outputs, stale)))


def _drawn(capture: Capture, buffer: Buffer, rng: np.random.Generator, draw: Draw) -> bytes:
    kind = buffer.type
    assert kind is not None
    raw = _captured(capture, buffer, buffer.size)
    captured = values(raw, kind).astype(np.float64)
    return _encode(draw(rng, captured, kind), kind)


def _encode(numbers: Numbers, kind: ElementType) -> bytes:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if kind.numpy is not None:
            return numbers.astype(kind.numpy).tobytes()
        # bfloat16 is the upper half of a float; to nearest, ties to even, NaNs kept.
        bits = numbers.astype("<f4").view("<u4").astype(np.uint64)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return np.where(np.isnan(numbers), 0x7FC0, rounded).astype("<u2").tobytes()


# ---- what is drawn; a buffer of zeros says nothing of its range, so -1 to 1 is taken


def _range(captured: Numbers) -> tuple[float, float]:
    finite = captured[np.isfinite(captured)]
    if not len(finite) or finite.min() == finite.max() == 0:
        return -1.0, 1.0
    low, high = np.clip([finite.min(), finite.max()], -1e300, 1e300).tolist()
    return (low, high) if low < high else (low - abs(low) / 2, high + abs(high) / 2)


def _same_range(rng: np.random.Generator, captured: Numbers, kind: ElementType) -> Numbers:
    return rng.uniform(*_range(captured), len(captured))


def _magnitudes(rng: np.random.Generator, captured: Numbers, kind: ElementType) -> Numbers:
    """Each value scaled by its own power of two."""
    reach = 4 if kind.size == 2 else 12
    drawn = rng.uniform(*_range(captured), len(captured))
    return drawn * np.exp2(rng.integers(-reach, reach + 1, len(captured)))


def _special(rng: np.random.Generator, captured: Numbers, kind: ElementType) -> Numbers:
    """The same range with zeros, infinities, NaNs, denormals and extremes strewn in."""
    drawn = rng.uniform(*_range(captured), len(captured))
    limits = {"f64": (1.7e308, 5e-310), "f32": (3.3e38, 1e-40), "f16": (6e4, 1e-7)}
    most, least = limits.get(kind.name, (3.3e38, 1e-40))
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, most, -most, least, -least])
    # Rarely, or every result would be NaN and equal to every other.
    places = np.flatnonzero(rng.random(len(drawn)) < min(1 / 64, 64 / max(len(drawn), 1)))
    drawn[places] = rng.choice(special, len(places))
    return drawn


def _zeros_and_ones(rng: np.random.Generator, captured: Numbers, kind: ElementType) -> Numbers:
    """Sums and products of these are exact: lower precision shows as soon as they grow."""
    return rng.integers(0, 2, len(captured)).astype(np.float64)


_DRAWS: dict[str, Draw] = {
    "another seed": _same_range,
    "other magnitudes": _magnitudes,
    "special values": _special,
    "zeros and ones": _zeros_and_ones,
}
