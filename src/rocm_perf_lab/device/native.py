"""The virtual GPU's library, for what it knows of code: text and source of instructions."""

from __future__ import annotations

import ctypes
import functools

from rocm_perf_lab.virtual.native import HSA_LIBRARY, library_dir

_TEXT, _SIZE, _ADDRESS = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64
_SIGNATURES = {
    "rpl_disassemble": (ctypes.c_uint, [_TEXT, _TEXT, _SIZE, _ADDRESS, _TEXT, _SIZE]),
    "rpl_sources_open": (ctypes.c_void_p, [_TEXT, _SIZE]),
    "rpl_sources_at": (_SIZE, [ctypes.c_void_p, _ADDRESS, _TEXT, _SIZE]),
    "rpl_sources_files": (_SIZE, [ctypes.c_void_p, _TEXT, _SIZE]),
    "rpl_sources_close": (None, [ctypes.c_void_p]),
    "rpl_is_library_code": (ctypes.c_int, [_TEXT]),
}


@functools.lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    found = ctypes.CDLL(str(library_dir() / HSA_LIBRARY))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    return found
