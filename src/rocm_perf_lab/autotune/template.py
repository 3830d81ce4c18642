"""Command templates: split into arguments first, then filled in, so a value is never more than
one argument and no shell sees it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from rocm_perf_lab.errors import UsageError

_PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")

# Places that every template may name besides the parameters.
RESERVED = ("workdir", "log", "gpu")


@dataclass(frozen=True)
class Template:
    text: str
    arguments: tuple[str, ...]  # each still with its {places}
    shell: bool = False

    def fill(self, values: Mapping[str, object]) -> list[str]:
        """The command to run. With --shell, values are quoted and /bin/sh runs the line."""
        if self.shell:
            return ["/bin/sh", "-c", _fill(self.text, values, quote=True)]
        return [_fill(argument, values, quote=False) for argument in self.arguments]


def parse(text: str, option: str, names: frozenset[str], shell: bool = False) -> Template:
    try:
        arguments = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"{option} {text!r} cannot be split into arguments: {error}") from None
    if not arguments:
        raise UsageError(f"{option} is empty")
    for match in _PLACE.finditer(text):
        name = match.group(1)
        if name is not None and name not in names and name not in RESERVED:
            raise UsageError(
                f"{option} names {{{name}}}, which is not a parameter of the space",
                hint=f"parameters: {', '.join(sorted(names))}; also {{{'}, {'.join(RESERVED)}}}; "
                "write {{ and }} for braces",
            )
    return Template(text, arguments, shell)


def names_in(template: Template) -> frozenset[str]:
    return frozenset(m.group(1) for m in _PLACE.finditer(template.text) if m.group(1) is not None)


def spelled(value: object) -> str:
    """A value as a command line wants it: 1 and 0 for booleans, no exponent games for integers."""
    if isinstance(value, bool):
        return "1" if value else "0"
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _fill(text: str, values: Mapping[str, object], quote: bool) -> str:
    def place(match: re.Match[str]) -> str:
        name = match.group(1)
        if name is None:
            return match.group(0)[0]
        value = spelled(values[name])
        return shlex.quote(value) if quote else value

    return _PLACE.sub(place, text)
