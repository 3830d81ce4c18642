"""The captured bytes of one part of memory, before and after the kernel."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.replay.format import Capture
from rocm_perf_lab.schema.capture import Extent

Bytes = npt.NDArray[np.uint8]


class Source:
    """Reads any range of a region or segment; a compressed extent is unpacked once in a row."""

    def __init__(
        self, capture: Capture, before: Sequence[Extent], after: Sequence[Extent], size: int
    ) -> None:
        self._capture, self.size = capture, size
        self._before, self._after = list(before), list(after)
        self._starts = {
            id(extents): [extent.offset for extent in extents]
            for extents in (self._before, self._after)
        }
        self._unpacked: tuple[Extent, Bytes] | None = None

    @property
    def write_set(self) -> list[tuple[int, int]]:
        return [(extent.offset, extent.offset + extent.size) for extent in self._after]

    def before(self, offset: int, size: int) -> Bytes:
        data = np.zeros(size, dtype=np.uint8)
        self._lay(self._before, offset, data)
        return data

    def after(self, offset: int, size: int) -> Bytes:
        data = self.before(offset, size)
        self._lay(self._after, offset, data)
        return data

    def stored(self) -> list[tuple[int, int]]:
        """Ranges of the state before that are not known to be zeros."""
        return [(e.offset, e.offset + e.size) for e in self._before if e.file is not None]

    def _lay(self, extents: list[Extent], offset: int, data: Bytes) -> None:
        end = offset + len(data)
        at = max(0, bisect_right(self._starts[id(extents)], offset) - 1)
        for extent in extents[at:]:
            if extent.offset >= end:
                break
            first, last = max(offset, extent.offset), min(end, extent.offset + extent.size)
            if first >= last:
                continue
            self._fill(extent, first, data[first - offset : last - offset])

    def _fill(self, extent: Extent, first: int, target: Bytes) -> None:
        inside = first - extent.offset
        if extent.file is None:
            target[:] = 0
        elif extent.encoding == "raw":
            piece = Extent.model_construct(
                offset=first,
                size=len(target),
                file=extent.file,
                at=extent.at + inside,
                stored=None,
                encoding="raw",
            )
            self._capture.read_extent_into(piece, target.data)
        else:
            if self._unpacked is None or self._unpacked[0] is not extent:
                whole = np.frombuffer(self._capture.read_extent(extent), dtype=np.uint8)
                self._unpacked = (extent, whole)
            target[:] = self._unpacked[1][inside : inside + len(target)]
