"""What is compiled for the analyses (native/loops): loops over whole traces, and names.

Arrays go by address: callers see to their types and sizes. Python's lock is free meanwhile.
"""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.errors import MissingTool

NAME = "librocm_perf_loops.so"
_PACKAGE = Path(__file__).resolve().parent
_WHOLE, _SIZE, _AT, _FLAG = ctypes.c_int64, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int
_SIZES = ctypes.POINTER(ctypes.c_size_t)
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "rpl_forward": (None, [_WHOLE, _AT, _AT, _AT, _AT]),
    "rpl_backward": (None, [_WHOLE, _AT, _AT, _AT, _AT]),
    "rpl_read_pages": (
        _FLAG,
        [_AT, _WHOLE, _AT, _AT, _WHOLE, _WHOLE, _AT, _AT, _WHOLE, _AT, _AT, _AT, _AT, _AT],
    ),
    "rpl_distinct": (_WHOLE, [_AT, _AT, _AT, _WHOLE, _AT, _AT]),
    "rpl_matching": (None, [_AT, _AT, _AT, _WHOLE, _AT, _AT, _WHOLE, _AT]),
    "rpl_kineto_open": (_AT, []),
    "rpl_kineto_close": (None, [_AT]),
    "rpl_kineto_feed": (_WHOLE, [_AT, _AT, _SIZE, _FLAG]),
    "rpl_kineto_rows": (_WHOLE, [_AT, _FLAG]),
    "rpl_kineto_names": (None, [_AT, _FLAG, _AT]),
    "rpl_kineto_kinds": (None, [_AT, _FLAG, _AT]),
    "rpl_kineto_times": (None, [_AT, _FLAG, _AT, _AT]),
    "rpl_kineto_field": (_FLAG, [_AT, _FLAG, _FLAG, _AT]),
    "rpl_kineto_texts": (_AT, [_AT, _FLAG, _SIZES]),
    "rpl_kineto_facts": (_AT, [_AT, _SIZES]),
    "rpl_kineto_most_allocated": (ctypes.c_double, [_AT]),
    "rpl_demangle": (_SIZE, [ctypes.c_char_p, _AT, _SIZE]),
}


def library_folders() -> list[Path]:
    """Where native libraries may be: ROCM_PERF_NATIVE_LIB, else the installed package's lib/ and
    a checkout's build tree."""
    if override := os.environ.get("ROCM_PERF_NATIVE_LIB"):
        return [Path(override)]
    return [_PACKAGE / "lib", _PACKAGE.parent.parent / "build" / "native" / "lib"]


@functools.cache
def library() -> ctypes.CDLL:
    for folder in library_folders():
        try:
            found = ctypes.CDLL(str(folder / NAME))
            for name, (result, arguments) in _SIGNATURES.items():
                function = getattr(found, name)
                function.restype, function.argtypes = result, arguments
        except (OSError, AttributeError):
            continue
        return found
    raise MissingTool(
        f"{NAME} is not built, or is of another version",
        "in a checkout run `make native`; ROCM_PERF_NATIVE_LIB names a folder that has it",
    )


def address(column: npt.NDArray[Any]) -> int:
    """Of a column's first value; its values lie side by side."""
    assert column.flags.c_contiguous
    return int(column.ctypes.data)


def addresses(columns: list[npt.NDArray[Any]]) -> npt.NDArray[np.uintp]:
    return np.array([address(column) for column in columns], dtype=np.uintp)
