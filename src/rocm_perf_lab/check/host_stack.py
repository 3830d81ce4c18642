"""The host's call stack of an allocation or a call: lines of the program, from its debug data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from rocm_perf_lab.check.log import text
from rocm_perf_lab.device.sources import Sources
from rocm_perf_lab.schema.check import HostFrame
from rocm_perf_lab.trace.library_code import is_library_code

_MOST_BYTES = 1 << 30  # of a module that is read for its lines
_RUNTIME = ("libamdhip64.so", "libhsa-runtime64.so", "libhiprtc.so")
_BELOW = ("libc.so", "ld-linux", "libpthread.so")
# A Python program's lines are not on the host's stack; its interpreter's say nothing.
_INTERPRETER = ("python", "libpython", "libffi.so", "_ctypes.")


def frames(stack: Iterable[Mapping[str, Any]]) -> list[HostFrame]:
    """The innermost first, without the runtime's own and what starts every program."""
    found = []
    for frame in stack:
        module = text(frame["module"])
        name = Path(module).name
        if name.startswith((*_RUNTIME, *_BELOW, *_INTERPRETER)):
            continue
        offset = frame["address"] - frame["base"]
        lines = [
            HostFrame(
                module=name, function=f.function or None, file=f.file, line=f.line, offset=offset
            )
            for f in _chain(module, frame["base"], frame["address"])
            if f.line and f.file and not is_library_code(f.file)
        ]
        symbol = text(frame["symbol"]) if "symbol" in frame else None
        found += lines or [
            HostFrame(module=name, function=symbol, file=None, line=None, offset=offset)
        ]
    while found and found[-1].file is None and any(f.file for f in found):
        found.pop()  # what calls main has no lines
    return found


def asked_by(stack: Iterable[Mapping[str, Any]]) -> tuple[str | None, str | None]:
    """The HIP function that was called, and the module that called it."""
    function = None
    for frame in stack:
        module = text(frame["module"])
        if Path(module).name.startswith(_RUNTIME):
            symbol = text(frame.get("symbol", ""))
            function = symbol if symbol.startswith("hip") else function
        else:
            return function, module
    return function, None


def _chain(module: str, base: int, address: int) -> list[Any]:
    found = _sources(module)
    if found is None:
        return []
    sources, fixed = found
    return list(sources.chain(address if fixed else address - base))


@cache
def _sources(module: str) -> tuple[Sources, bool] | None:
    """With whether it is linked to a fixed address."""
    path = Path(module)
    try:
        if path.stat().st_size > _MOST_BYTES:
            return None
        image = path.read_bytes()
    except OSError:
        return None
    if image[:4] != b"\x7fELF":
        return None
    return Sources(image), image[16:18] == b"\x02\x00"
