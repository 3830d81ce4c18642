"""Kernel names in little space, such that different kernels still look different."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rocm_perf_lab.errors import plain

_PARAMETERS = re.compile(r"\([^()]*(?:\([^()]*\)[^()]*)*\)(?: const)?(?: \[clone .*)?$")
ELLIPSIS = "…"
_ROUNDS = 8


def short_name(name: str, width: int) -> str:
    """A kernel's name in at most `width` columns: no return type, then no parameters, then cut."""
    name = plain(name).removeprefix("void ")
    if len(name) > width:
        name = _PARAMETERS.sub("", name)
    return name if len(name) <= width else name[: width - 1] + ELLIPSIS


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Each name in at most `width` columns; names that differ are shown differing.

    Where cutting would make two rows look alike, what they have in common is left out instead:
    the namespaces first, then the middle, so that the arguments that differ stay.
    """
    short = [short_name(name, width) for name in names]
    for _ in range(_ROUNDS):  # those that differ late only share more among themselves
        groups: dict[str, list[int]] = {}
        for i, text in enumerate(short):
            groups.setdefault(text, []).append(i)
        alike = [rows for rows in groups.values() if len({names[i] for i in rows}) > 1]
        for rows in alike:
            for i, text in zip(rows, _told_apart([names[i] for i in rows], width), strict=True):
                short[i] = text
        if not alike:
            break
    return _numbered(short, names, width)


def _told_apart(names: Sequence[str], width: int) -> list[str]:
    whole = [plain(name).removeprefix("void ") for name in names]
    bare = [_PARAMETERS.sub("", name) for name in whole]
    texts = bare if len(set(bare)) == len(set(whole)) else whole
    common = _common(texts)
    head = _head(texts[0], max(width // 3, 4))
    room = width - len(head) - 1
    shown = []
    for text in texts:
        rest = text[common:]
        # Some of what stands before the difference helps to read it.
        before = text[max(common - max(room - len(rest), 0), 0) : common]
        part = before + rest
        cut = part if len(part) <= room else part[: room - 1] + ELLIPSIS
        shown.append(f"{head}{ELLIPSIS}{cut}")
    return shown


def _common(texts: Sequence[str]) -> int:
    """How many characters all begin with; the least and the greatest tell for those between."""
    low, high = min(texts), max(texts)
    return next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))


def _head(text: str, width: int) -> str:
    """The function's own name, its namespaces and arguments left off."""
    plain = text.split("<", 1)[0].replace("(anonymous namespace)::", "")
    return plain.rsplit("::", 1)[-1][:width]


def _numbered(short: list[str], names: Sequence[str], width: int) -> list[str]:
    """What still looks alike gets a number."""
    seen: dict[str, set[str]] = {}
    result = []
    for text, name in zip(short, names, strict=True):
        known = seen.setdefault(text, set())
        known.add(name)
        mark = f" #{len(known)}" if len(known) > 1 else ""
        result.append(text[: width - len(mark)] + mark if mark else text)
    return result


_RESOURCES = {"vgpr": "VGPRs", "sgpr": "SGPRs", "lds": "LDS", "workgroup": "workgroup size"}


def limiter_words(limiters: Sequence[str]) -> str:
    """What limits occupancy, as every command calls it."""
    return " and ".join(_RESOURCES.get(name, name) for name in limiters)
