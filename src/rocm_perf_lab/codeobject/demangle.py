"""Names of kernels as their source has them."""

from __future__ import annotations

import ctypes
import functools

from rocm_perf_lab.loops import library


@functools.lru_cache(maxsize=1 << 14)
def demangle(symbol: str) -> str:
    """The symbol itself where it is not mangled, or its name would be beyond any use."""
    if not symbol.startswith("_Z"):
        return symbol
    given, room = symbol.encode(errors="replace"), 1024
    while True:
        text = ctypes.create_string_buffer(room)
        size = library().rpl_demangle(given, text, room)
        if size <= room:
            return text.raw[:size].decode(errors="replace")
        room = size
