"""Which code objects a replay needs: those that memory, arguments and variables point into."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.errors import Refused
from rocm_perf_lab.replay.format import Capture
from rocm_perf_lab.replay.parts import Part
from rocm_perf_lab.replay.pointers import Move, Moves
from rocm_perf_lab.replay.sources import Source

_AT_ONCE = 32 << 20


def code_objects(capture: Capture, memory: Sequence[Part], refuse: bool) -> set[int]:
    """The kernel's own, and all that is pointed into; `refuse`: memory must not point into any."""
    places = _Places(capture)
    needed = {capture.dispatch.code_object, *_of_memory(places, memory, refuse)}
    needed |= places.find(0, np.frombuffer(capture.kernarg, dtype=np.uint8))[1]
    todo = list(needed)
    while todo:
        for segment in capture.code_objects[todo.pop()].segments:
            data = Source(capture, segment.before, [], segment.size).before(0, segment.size)
            fresh = places.find(segment.address, data)[1] - needed
            needed |= fresh
            todo += fresh
    return needed


class _Places:
    """Where the captured process had its code objects."""

    def __init__(self, capture: Capture) -> None:
        self._order = sorted(capture.code_objects, key=lambda code: code.load_base)
        self._moves = Moves([Move(o.load_base, o.load_base + o.load_size, 0) for o in self._order])

    def find(self, address: int, data: npt.NDArray[np.uint8]) -> tuple[list[int], set[int]]:
        """Offsets of words that point into code objects, and which these are."""
        offsets, which = self._moves.find(address, data)
        return offsets.tolist(), {self._order[i].index for i in which.tolist()}


def _of_memory(places: _Places, parts: Sequence[Part], refuse: bool) -> set[int]:
    """Code objects that captured memory points into."""
    found: set[int] = set()
    for part in parts:
        assert part.source is not None
        for low, high in part.source.stored():
            for at in range(low, high, _AT_ONCE):
                data = part.source.before(at, min(_AT_ONCE, high - at))
                offsets, indices = places.find(part.address + at, data)
                if not offsets:
                    continue
                found |= indices
                if refuse:
                    first = offsets[0]
                    value = int.from_bytes(data[first : first + 8].tobytes(), "little")
                    raise Refused(
                        f"the word at {part.address + at + first:#x} holds {value:#x}, an "
                        "address of code or of a module variable, and code moves in a replay",
                        hint="--translate-pointers moves every such word with the code",
                    )
    return found
