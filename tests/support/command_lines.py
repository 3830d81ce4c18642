"""Command lines written in texts, held to the options that the commands have."""

from __future__ import annotations

import importlib
import re
import shlex
from functools import cache

import typer

from rocm_perf_lab.cli.main import COMMANDS, PASS_THROUGH

GLOBAL = {"--help", "-h", "--debug", "--version"}


def in_text(text: str) -> list[str]:
    """Lines of code blocks, with or without a prompt, and words set as code."""
    text = text.replace("\\\n", " ")
    blocks = re.findall(r"```(?:sh|text|)\n(.*?)```", text, re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    lines += re.findall(r"`(rocm-perf [^`\n]+)`", prose)
    return [line for line in lines if line.startswith("rocm-perf ")]


@cache
def options(name: str, sub: str | None = None) -> frozenset[str]:
    """Of a command, or of a subcommand with those of the command."""
    command = typer.main.get_command(importlib.import_module(COMMANDS[name][0]).app)
    found = {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
    if sub is not None:
        below = getattr(command, "commands", {})[sub]
        found |= {o for p in below.params for o in (*p.opts, *p.secondary_opts)}
    return frozenset(found)


@cache
def subcommands(name: str) -> frozenset[str]:
    command = typer.main.get_command(importlib.import_module(COMMANDS[name][0]).app)
    return frozenset(getattr(command, "commands", {}))


def mistakes(line: str) -> list[str]:
    """What a command line names that does not exist; the program's own arguments are not ours."""
    try:
        words = shlex.split(line, comments=True)[1:]
    except ValueError as error:
        return [f"{line}: {error}"]
    if not words or words[0] in GLOBAL or words[0] in PASS_THROUGH:
        return []
    if words[0] not in COMMANDS:
        return [] if not re.fullmatch(r"[a-z][a-z-]*", words[0]) else [f"no command {words[0]}"]
    own = words[1 : words.index("--")] if "--" in words else words[1:]
    sub = own[0] if own and own[0] in subcommands(words[0]) else None
    known = options(words[0], sub) | GLOBAL
    return [
        f"{words[0]} has no option {word}"
        for word in own
        if word.startswith("--") and word.partition("=")[0] not in known
    ]
