"""The user's own files that a program is compiled from: its sources and what they include.

Read by the text: a file named in an `#include` that is not compiled counts too, and one named by
a macro is not found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.optimize.find_source import MAX_SOURCE_BYTES

MAX_FILES = 2000
# What comes with a machine, not with a program.
_SYSTEM = tuple(map(Path, ("/usr", "/opt", "/lib", "/lib64", "/nix", "/etc", "/proc", "/sys")))
_INCLUDE = re.compile(
    r'^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*[<"]([^<>"\n]+)[>"]', re.M
)
_FOLDER_OPTIONS = ("-I", "-iquote", "-isystem", "-idirafter")


def own_files(sources: Mapping[Path, str], flags: Sequence[str]) -> dict[Path, str]:
    """Path -> text, the sources first."""
    folders, forced = _options(flags)
    found: dict[Path, str] = {}
    todo = [*sources, *forced]
    while todo:
        path = todo.pop(0)
        if path in found:
            continue
        found[path] = sources[path] if path in sources else _text(path)
        if len(found) > MAX_FILES:
            raise BadInput(f"{next(iter(sources)).name} includes more than {MAX_FILES} files")
        places = [path.parent, *(source.parent for source in sources), *folders]
        for name in _INCLUDE.findall(found[path]):
            todo += [each for place in places if (each := _own(place / name)) is not None]
    return found


def _options(flags: Sequence[str]) -> tuple[list[Path], list[Path]]:
    """Folders that are searched, and files that are included by an option."""
    folders: list[Path] = []
    forced: list[Path] = []
    for word, value in zip(flags, [*flags[1:], ""], strict=False):
        option = next((o for o in _FOLDER_OPTIONS if word.startswith(o)), None)
        if option is not None:
            folders.append(Path(word.removeprefix(option) or value))
        elif word == "-include" and (path := _own(Path(value))) is not None:
            forced.append(path)
    return folders, forced


def _own(path: Path) -> Path | None:
    """Where a compiler would find it, if it is a file of the user's."""
    try:
        full = path.resolve()
        if any(full.is_relative_to(folder) for folder in _SYSTEM) or not full.is_file():
            return None
        return (
            Path(os.path.normpath(path.absolute()))
            if full.stat().st_size <= MAX_SOURCE_BYTES
            else None
        )
    except (OSError, ValueError):
        return None


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None
