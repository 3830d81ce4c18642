"""Edits of a text by byte offsets, applied together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    begin: int
    end: int
    text: str


def insert(at: int, text: str) -> Edit:
    return Edit(at, at, text)


def apply(text: str, edits: Iterable[Edit]) -> str:
    """`text` is bytes read as Latin-1; edits do not overlap."""
    for edit in sorted(edits, key=lambda e: (e.begin, e.end), reverse=True):
        text = text[: edit.begin] + edit.text + text[edit.end :]
    return text


def indentation(text: str, at: int) -> str:
    """The white space that begins the line of `at`."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:at]
    return line[: len(line) - len(line.lstrip())]


def on_line_start(text: str, at: int) -> bool:
    start = text.rfind("\n", 0, at) + 1
    return not text[start:at].strip()
