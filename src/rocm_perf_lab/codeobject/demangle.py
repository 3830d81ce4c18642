"""Names of kernels as their source has them, by the C++ runtime's own demangler."""

from __future__ import annotations

import ctypes
import functools

LONGEST = 4096  # of a symbol worth reading: beyond, a demangler's answer is no use to anyone


@functools.lru_cache(maxsize=1)
def _runtime() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL("libstdc++.so.6")
        library.__cxa_demangle.restype = ctypes.c_void_p
        library.__cxa_demangle.argtypes = [
            ctypes.c_char_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int),
        ]
    except (OSError, AttributeError):
        return None
    return library


def demangle(symbol: str) -> str:
    """The symbol itself where it is not mangled or no demangler is there."""
    library = _runtime()
    if library is None or not symbol.startswith("_Z") or len(symbol) > LONGEST:
        return symbol
    status = ctypes.c_int()
    text = library.__cxa_demangle(symbol.encode(errors="replace"), None, None, status)
    if not text:
        return symbol
    try:
        return ctypes.string_at(text).decode(errors="replace")
    finally:
        free = ctypes.CDLL(None).free
        free.argtypes, free.restype = [ctypes.c_void_p], None
        free(text)
