"""Source files and lines of a code object's instructions, inlined calls included."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from dataclasses import dataclass

from rocm_perf_lab.device.native import library


@dataclass(frozen=True)
class Frame:
    function: str
    file: str
    line: int  # 0: the compiler made this up


class Sources:
    """Nothing is known where the object has no debug information, or hostile information."""

    def __init__(self, image: bytes) -> None:
        self._handle = library().rpl_sources_open(image, len(image))
        if self._handle:
            weakref.finalize(self, library().rpl_sources_close, self._handle)
        self._text = ctypes.create_string_buffer(4096)

    def chain(self, address: int) -> tuple[Frame, ...]:
        """The innermost frame first, its callers after it."""
        rows = self._rows(library().rpl_sources_at, address)
        return tuple(Frame(function, file, int(number)) for function, file, number in rows)

    def files(self) -> dict[str, int]:
        """Every file that code was compiled from, with the number of its rows in the line table."""
        return {path: int(count) for path, count in self._rows(library().rpl_sources_files)}

    def _rows(self, ask: Callable[..., int], *about: int) -> list[list[str]]:
        if not self._handle:
            return []
        while (size := ask(self._handle, *about, self._text, len(self._text))) > len(self._text):
            self._text = ctypes.create_string_buffer(size)
        lines = self._text.value.decode("utf-8", "replace").split("\n")
        return [line.split("\t") for line in lines[:-1]]
