"""Command templates: split into arguments first, then filled in, so a value is never more than
one argument and no shell sees it. With --shell only harmless values are filled in."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from rocm_perf_lab.errors import Refused, UsageError, plain

_PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")

_HARMLESS = re.compile(r"[A-Za-z0-9_@%+=:,./-]*")

# Places that every template may name besides the parameters.
RESERVED = ("workdir", "log", "gpu")


@dataclass(frozen=True)
class Template:
    text: str
    arguments: tuple[str, ...]  # each still with its {places}
    shell: bool = False

    def fill(self, values: Mapping[str, object]) -> list[str]:
        """The command to run; with --shell, /bin/sh runs the line."""
        if self.shell:
            check_for_shell({name: values[name] for name in names_in(self)})
            return ["/bin/sh", "-c", _fill(self.text, values)]
        return [_fill(argument, values) for argument in self.arguments]


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


def check_for_shell(values: Mapping[str, object]) -> None:
    """Nothing that means anything to a shell, however the template quotes it: a value inside
    double quotes, or handed on to a second shell, would be run."""
    for name, value in values.items():
        text = spelled(value)
        if _HARMLESS.fullmatch(text) is None:
            raise Refused(
                f"--shell: a value of {plain(name)}, {plain(text)[:50]!r}, "
                "could be run as a command",
                hint="with --shell values are made of letters, digits and _@%+=:,./- only; "
                "without --shell any value is one argument",
            )


def _fill(text: str, values: Mapping[str, object]) -> str:
    def place(match: re.Match[str]) -> str:
        name = match.group(1)
        return match.group(0)[0] if name is None else spelled(values[name])

    return _PLACE.sub(place, text)
