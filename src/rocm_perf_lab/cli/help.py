"""The part of a help text that every command has: lines to copy."""

from __future__ import annotations


def examples(*lines: str) -> str:
    # \\b: Click keeps the lines of this paragraph as they are.
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
