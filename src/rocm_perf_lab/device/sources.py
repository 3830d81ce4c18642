"""Source lines of a code object's instructions, inlined calls included."""

from __future__ import annotations

import ctypes
import weakref
from dataclasses import dataclass

from rocm_perf_lab.device.native import library


@dataclass(frozen=True)
class Frame:
    function: str
    file: str
    line: int  # 0: the compiler made this up


class Sources:
    """Empty chains where the object has no debug information."""

    def __init__(self, image: bytes) -> None:
        self._handle = library().rpl_sources_open(image, len(image))
        if self._handle:
            weakref.finalize(self, library().rpl_sources_close, self._handle)
        self._text = ctypes.create_string_buffer(4096)

    def chain(self, address: int) -> tuple[Frame, ...]:
        """The innermost frame first, its callers after it."""
        if not self._handle:
            return ()
        while True:
            size = library().rpl_sources_at(self._handle, address, self._text, len(self._text))
            if size <= len(self._text):
                break
            self._text = ctypes.create_string_buffer(size)
        lines = self._text.value.decode("utf-8", "replace").splitlines()
        parts = (line.split("\t") for line in lines)
        return tuple(Frame(function, file, int(number)) for function, file, number in parts)
