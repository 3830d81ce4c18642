"""The result as a patch that `git apply` takes, and the one moment a user's file is written."""

from __future__ import annotations

import difflib
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from rocm_perf_lab import scratch
from rocm_perf_lab.errors import BadInput

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,\d{1,9})? @@")
_NO_NEWLINE = "\\ No newline at end of file\n"


def root_of(path: Path) -> Path:
    """The folder a patch's names are relative to: the git work tree, else where we are."""
    for folder in path.resolve().parents:
        if (folder / ".git").exists():
            return folder
    here = Path.cwd().resolve()
    return here if path.resolve().is_relative_to(here) else path.resolve().parent


def how_to_apply(patch: Path, source: Path) -> str:
    """The command that applies a patch of `source`, from where we are."""
    root, here = root_of(source), Path.cwd().resolve()
    near, far = shlex.quote(str(patch)), shlex.quote(str(patch.resolve()))
    at = shlex.quote(str(root))
    if not (root / ".git").exists():
        return f"patch -p1 -i {near}" if root == here else f"patch -d {at} -p1 -i {far}"
    # From a folder below the root git finds the names, but leaves out what lies elsewhere.
    below = here.is_relative_to(root) and source.resolve().is_relative_to(here)
    return f"git apply {near}" if below else f"git -C {at} apply {far}"


def make_patch(path: Path, before: str, after: str) -> str:
    """A unified diff; empty where nothing changed."""
    if before == after:
        return ""
    name = path.resolve().relative_to(root_of(path)).as_posix()
    old, new = (_quoted(f"{side}/{name}") for side in "ab")
    # A name with a space ends where the tab is.
    tab = "\t" if " " in name else ""
    head = f"diff --git {old} {new}\n--- {old}{tab}\n+++ {new}{tab}\n"
    return head + "".join(_hunks(_lines(before), _lines(after)))


def limits(known: Iterable[str]) -> str:
    """What stands above the patch, where git reads over it."""
    return "".join(f"# holds for launches as seen: {text}\n" for text in known)


def _lines(text: str) -> list[str]:
    """By newline only: other separators are part of their line, as git sees it."""
    lines = [line + "\n" for line in text.split("\n")]
    if text.endswith("\n") or not text:
        return lines[:-1]
    lines[-1] = lines[-1][:-1]
    return lines


def _hunks(before: list[str], after: list[str]) -> Iterator[str]:
    found = difflib.unified_diff(before, after)
    for line in list(found)[2:]:
        if line.endswith("\n"):
            yield line
        else:
            yield f"{line}\n{_NO_NEWLINE}"


def patched(text: str, diff: str) -> str | None:
    """The text with a unified diff of one file applied, to the line; None: it does not fit."""
    old = _lines(text)
    new: list[str] = []
    done = 0  # lines of the old text
    inside = False
    for line in _diff_lines(diff):
        if hunk := _HUNK.match(line):
            # A hunk that removes nothing names the line it follows.
            first = int(hunk[1]) - (hunk[2] != "0")
            if not done <= first <= len(old):
                return None
            new += old[done:first]
            done, inside = first, True
        elif inside and line[:1] in (" ", "-"):
            if done >= len(old) or old[done] != line[1:]:
                return None
            new += [line[1:]] if line[0] == " " else []
            done += 1
        elif inside and line[:1] == "+":
            new.append(line[1:])
        elif inside:
            return None
    return "".join([*new, *old[done:]])


def _diff_lines(diff: str) -> list[str]:
    """With their ends as they are in the file: the last may have none."""
    found: list[str] = []
    for line in _lines(diff):
        if line == _NO_NEWLINE and found:
            found[-1] = found[-1].removesuffix("\n")
        else:
            found.append(line)
    return found


def _quoted(name: str) -> str:
    if all(c.isprintable() and c not in '"\\' and ord(c) < 128 for c in name):
        return name
    body = "".join(
        chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:03o}" for b in name.encode()
    )
    return f'"{body}"'


def apply(path: Path, before: str, after: str) -> None:
    """Replace the file at once, if it is still what the search began with."""
    target = path.resolve()
    try:
        now = target.read_bytes()
        if now == after.encode():
            return
        if now != before.encode():
            raise BadInput(
                f"{path} changed while the search ran; it was left as it is",
                hint="write the result with --patch FILE and merge it",
            )
        with scratch.replacing(target, target.stat().st_mode & 0o7777) as file:
            file.write(after.encode())
        _sync_folder(target.parent)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
