"""The arguments of HIP calls that order work: streams, events, flags.

rocprofv3 records every argument as type, name and text. A handle is recognised by its type (as
HIP's headers or the demangler spell it) or, for the rest, by its usual name; a pointer to a
handle (`hipStreamCreate`) is not one.
"""

from __future__ import annotations

from rocm_perf_lab.trace.columns import MISSING

STREAM, EVENT, FLAGS = "stream_handle", "event_handle", "flags"
ROLES = (STREAM, EVENT, FLAGS)

_BY_TYPE = {
    "hipStream_t": STREAM,
    "ihipStream_t*": STREAM,
    "hipEvent_t": EVENT,
    "ihipEvent_t*": EVENT,
}
_BY_NAME = {
    "stream": STREAM,
    "hStream": STREAM,
    "launch_stream": STREAM,
    "event": EVENT,
    "hEvent": EVENT,
    "flags": FLAGS,
}
NAMES = tuple(_BY_NAME)
TYPES = tuple(
    spelling for name in _BY_TYPE for spelling in dict.fromkeys((name, name.replace("*", " *")))
)
_NULLS = frozenset(("nullptr", "(nil)", "nil", "null", "0", "0x0", ""))


def role(type_name: str, name: str) -> str | None:
    """Which column of `Regions` an argument belongs to, if any."""
    spelled = type_name.replace("struct ", "").replace("const ", "").replace(" ", "")
    if spelled in _BY_TYPE:
        return _BY_TYPE[spelled]
    if spelled.rstrip("*") != spelled and spelled not in ("void*", ""):
        return None
    return _BY_NAME.get(name)


def value(text: str) -> int:
    """A recorded value as an integer: 0x…, decimal, or one of the ways to write null."""
    text = text.strip()
    if text.lower() in _NULLS:
        return 0
    if len(text) > 20:
        return MISSING
    try:
        number = int(text, 16) if text[:2].lower() == "0x" else int(text)
    except ValueError:
        return MISSING
    # Handles are addresses; those above 2^63 do not exist on Linux.
    return number if 0 <= number < 1 << 63 else MISSING
