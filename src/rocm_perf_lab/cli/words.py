"""Where a command's own words end and the program's begin."""

from __future__ import annotations

import difflib
from typing import Any

from rocm_perf_lab.errors import UsageError


def arrange(command: Any, args: list[str]) -> list[str]:
    """`profile ./app --size 4` means `profile ./app -- --size 4`: like `run`, what follows the
    program is the program's. Options of ours may follow it too, but not mixed with others."""
    options = {
        name: not getattr(parameter, "is_flag", False)
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("-")
    } | {"-h": False, "--help": False}
    at = 0
    while at < len(args) and args[at].startswith("-") and args[at] != "--":
        at += 2 if options.get(args[at], False) else 1
    rest = args[at + 1 :]
    if at >= len(args) or "--" in args[at:]:
        return args
    words = [word for word in rest if word.startswith("-") and len(word) > 1]
    foreign = [word for word in words if word.partition("=")[0] not in options]
    if not foreign:
        return args
    near = difflib.get_close_matches(foreign[0], options, n=1, cutoff=0.8)
    if near or len(foreign) < len(words):
        raise UsageError(
            f"no option of {command.name} is called {foreign[0]}",
            hint=(f"did you mean {near[0]}? " if near else "")
            + f"Arguments of {args[at]} go after two dashes: {args[at]} -- {foreign[0]} …",
        )
    return [*args[: at + 1], "--", *rest]
