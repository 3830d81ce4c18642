"""Texts of bounded size: a page of what there is, and how to get the rest."""

from __future__ import annotations

import io
import json

from pydantic import BaseModel
from rich.console import Console, RenderableType

WIDTH = 110


def rendered(content: RenderableType) -> str:
    """As in a terminal without colour."""
    out = io.StringIO()
    console = Console(
        file=out, width=WIDTH, color_system=None, highlight=False, markup=False, emoji=False
    )
    console.print(content)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def compact(document: BaseModel) -> str:
    return json.dumps(document.model_dump(mode="json"), allow_nan=False, separators=(",", ":"))


def page(text: str, offset: int, most: int, rest: str) -> str:
    """`most` characters from `offset`, ending with a line where one ends in the second half.

    A cut text says so and names the next offset; `rest` says which call takes it.
    """
    if offset >= len(text) > 0:
        return f"[nothing here: the text has {len(text)} characters, offset was {offset}]"
    end = min(len(text), offset + most)
    if end < len(text):
        line = text.rfind("\n", offset + most // 2, end)
        end = line + 1 if line >= 0 else end
    shown = text[offset:end]
    if offset == 0 and end == len(text):
        return shown
    there = f"characters {offset} to {end} of {len(text)}"
    if end == len(text):
        return f"{shown}\n[{there}; this is the end]"
    return f"{shown}\n[cut: {there}; the rest: {rest} with offset={end}]"
