"""Every error a user can meet, each with its exit code.

PerfLabError
├── GateFailed      1  a gate failed: regression, nothing accepted where one was demanded
├── UsageError      2  the command line cannot be carried out as written
├── BadInput        3  a file, database, trace or program is not what it must be
│   └── TimedOut    3  a program was still running at its limit
├── MissingTool     4  a tool or device is missing
└── Refused         5  refused for safety

Raise the class that fits, with one sentence saying what is wrong and where, and a hint
saying what to do. Only `cli.main` prints errors and exits.
"""

from __future__ import annotations


class PerfLabError(Exception):
    exit_code = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class GateFailed(PerfLabError):
    exit_code = 1


class UsageError(PerfLabError):
    exit_code = 2


class BadInput(PerfLabError):
    exit_code = 3


class TimedOut(BadInput):
    pass


class MissingTool(PerfLabError):
    exit_code = 4


class Refused(PerfLabError):
    exit_code = 5


def plain(text: str) -> str:
    """Names from programs, files and databases: nothing in them may steer a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)


def plain_lines(text: str) -> str:
    return "\n".join(plain(line.replace("\t", " ")) for line in text.split("\n"))
