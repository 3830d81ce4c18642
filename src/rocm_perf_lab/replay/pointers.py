"""Words that point into loaded code objects, and where they point once the code has moved.

Code cannot be put back at its address: memory mapped by vmem_map is not executable, so the loader
chooses. What follows for a captured word that points into an image:
- in the argument block and in the images' own writable segments it is translated;
- in captured memory (a vtable pointer in an object, a stored function pointer) it is a reason to
  refuse, because a word that only looks like a pointer would be changed silently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Move:
    """An image's captured addresses [low, high) and how far it moved."""

    low: int
    high: int
    shift: int


class Moves:
    def __init__(self, moves: Sequence[Move]) -> None:
        ordered = sorted(moves, key=lambda m: m.low)
        self._low = np.array([m.low for m in ordered], dtype=np.uint64)
        self._high = np.array([m.high for m in ordered], dtype=np.uint64)
        # Two's complement: adding the shift modulo 2**64 is right for either sign.
        self._shift = np.array([m.shift % (1 << 64) for m in ordered], dtype=np.uint64)

    def find(
        self, address: int, data: Bytes
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Offsets of the aligned words in `data` (at `address`) that point into an image, and
        which image each points into, as an index into the moves sorted by address."""
        empty = np.empty(0, dtype=np.int64)
        skip = -address % 8
        count = (len(data) - skip) // 8
        if count <= 0 or not len(self._low):
            return empty, empty
        words = np.frombuffer(data[skip : skip + count * 8].tobytes(), dtype="<u8")
        near = np.flatnonzero((words >= self._low[0]) & (words < self._high.max()))
        if not len(near):
            return empty, empty
        values = words[near]
        image = np.searchsorted(self._low, values, side="right").astype(np.int64) - 1
        inside = values < self._high[image]
        return near[inside] * 8 + skip, image[inside]

    def translate(self, address: int, data: Bytes) -> int:
        """Move every such word in place; how many there were."""
        offsets, images = self.find(address, data)
        for offset, image in zip(offsets.tolist(), images.tolist(), strict=True):
            word = data[offset : offset + 8]
            value = np.frombuffer(word.tobytes(), dtype="<u8")[0]
            with np.errstate(over="ignore"):
                moved = value + self._shift[image]
            word[:] = np.frombuffer(moved.tobytes(), dtype=np.uint8)
        return len(offsets)
