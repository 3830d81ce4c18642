"""Names of kernels as their source has them, by the C++ runtime's own demangler."""

from __future__ import annotations

import ctypes
import functools
import re

LONGEST = 4096  # of a symbol worth reading: beyond, a demangler's answer is no use to anyone

# Clang's types of 16 bits, which demanglers know late or by another name: each is passed as another
# built-in type, that no kernel uses, and named afterwards.
_HALVES = {"DF16b": ("Df", "decimal32", "__bf16"), "DF16_": ("Dd", "decimal64", "_Float16")}
# What may stand before the next type: literals, vectors, substitutions and arrays hold numbers that
# are no length of a name.
_TOKEN = re.compile(r"L[a-z]n?\d+E|Dv\d+_|[ST][0-9A-Z]*_|A\d+_|DF16b|DF16_|\d+|.", re.DOTALL)


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


@functools.lru_cache(maxsize=1 << 14)
def demangle(symbol: str) -> str:
    """The symbol itself where it is not mangled or no demangler is there."""
    library = _runtime()
    if library is None or not symbol.startswith("_Z") or len(symbol) > LONGEST:
        return symbol
    if any(name in symbol for _, name, _ in _HALVES.values()):
        return _by_runtime(library, symbol)
    found = _by_runtime(library, _passed(symbol))
    if found.startswith("_Z"):
        return symbol
    for _, name, meant in _HALVES.values():
        found = found.replace(name, meant)
    return found


def _passed(symbol: str) -> str:
    """With the types of 16 bits as others; names, whatever they hold, stay as they are."""
    parts, at = [], 0
    while at < len(symbol):
        match = _TOKEN.match(symbol, at)
        assert match is not None
        token, at = match[0], match.end()
        if token in _HALVES:
            token = _HALVES[token][0]
        elif token.isdecimal():
            end = at + int(token[:6])
            token, at = token + symbol[at:end], min(end, len(symbol))
        parts.append(token)
    return "".join(parts)


def _by_runtime(library: ctypes.CDLL, symbol: str) -> str:
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
