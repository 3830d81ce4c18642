"""What a program says and writes: streams, files of its working folder, exit code.

Original and changed build run in the sandbox, in a copy of the folder the user stands in, under one
name. The original runs twice: words that differ between its own runs say nothing about a change.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rocm_perf_lab import beneath
from rocm_perf_lab.device.target import choose
from rocm_perf_lab.errors import BadInput, UsageError
from rocm_perf_lab.optimize.sandbox import Sandbox

LIMIT_S = 600.0
TOLERANCE = 1e-5  # that of results in single precision
READ = 16 << 20  # bytes of a stream or file that are compared as text; more goes by its hash
COPIED, ENTRIES = 64 << 20, 2000  # of the user's folder; what is beyond is linked to
_STREAMS = ("stdout", "stderr")
_OURS = "rocm-perf: "
_PLACE, _WORK = "place", "output"
# The streams go to files: what is printed must not mix, and the sandbox bounds files.
_SPLIT = (
    "import os,sys\n"
    "for n, p in ((1, sys.argv[1]), (2, sys.argv[2])):\n"
    "    os.dup2(os.open(p, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600), n)\n"
    "os.execv(sys.argv[3], sys.argv[3:])\n"
)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf)\b", re.IGNORECASE)
# A number with such a unit is what a change is meant to change.
_RATE = re.compile(
    r"x\b|\s*(?:[nmu\u00b5\u03bc]?s|[mun]?secs?|(?:milli|micro|nano)?seconds?|minutes?|cycles?"
    r"|[kmgtp]?i?b(?:ytes?)?/s|[kmgtp]i?bps|[kmgtp]?(?:fl|i)?ops?(?:/s)?|fps|[kmg]?hz"
    r"|\S+/s(?:ec)?)(?![a-z0-9])",
    re.IGNORECASE,
)
_TIMED = re.compile(
    r"\b(?:time|took|elapsed|duration|latency|bandwidth|throughput|speed-?up|[gt]?flops?)\b"
    r"[\s:=]*(?:[(\[][^()\[\]]*[)\]][\s:=]*)?$",
    re.IGNORECASE,
)
# Where a program tells how far off it is, and that is nearly nothing both times, it is the same.
_ERROR = re.compile(r"err|diff|deviat|resid|delta|off by", re.IGNORECASE)


@dataclass(frozen=True)
class Rule:
    """How much of a difference counts: `ignore`, `exact`, or numbers up to a tolerance."""

    mode: str = "numbers"
    tolerance: float = TOLERANCE

    def __str__(self) -> str:
        return f"numbers:{self.tolerance:g}" if self.mode == "numbers" else self.mode


def parse_rule(text: str) -> Rule:
    if text in ("ignore", "exact"):
        return Rule(text, 0.0)
    if text == "numbers":
        return Rule()
    try:
        tolerance = float(text.removeprefix("numbers:")) if text.startswith("numbers:") else -1.0
    except ValueError:
        tolerance = -1.0
    if not 0 <= tolerance < 1:
        raise UsageError(
            f"--output {text} is not understood",
            hint="ignore, exact, numbers, or numbers:TOL with a tolerance from 0 to 1",
        )
    return Rule("numbers", tolerance)


@dataclass(frozen=True)
class Content:
    """A stream or a file: its text, or only its hash where it is none."""

    digest: str
    text: str | None = None


@dataclass(frozen=True)
class Ran:
    exit_code: int
    parts: Mapping[str, Content]  # stdout, stderr, and files by their names


@dataclass(frozen=True)
class Expected:
    """The original's own runs."""

    first: Ran
    second: Ran

    def masked(self) -> list[str]:
        """What is left out of the comparison, in words."""
        found = []
        for name in sorted({*self.first.parts, *self.second.parts}):
            one, two = self.first.parts.get(name), self.second.parts.get(name)
            if one is None or two is None or one.text is None or two.text is None:
                if one != two:
                    found.append(f"{name} as a whole differs between runs of the original")
            elif places := _changing(one.text, two.text):
                lines = sorted({line + 1 for line, _ in places})
                shown = ", ".join(map(str, lines[:8])) + (" …" if len(lines) > 8 else "")
                found.append(f"{name}: line {shown} differs between runs of the original")
        return found


# ---- running


@contextmanager
def place(box: Sandbox) -> Iterator[Path]:
    """A copy of what the sandbox shows of the folder the user stands in: programs find their files
    from there, and write to it."""
    beneath.remove(box.work, _PLACE)
    beneath.make_folder(box.work, _PLACE)
    folder, here = box.work / _PLACE, Path.cwd().resolve()
    if any(here.is_relative_to(path) for path in box.readable):
        _copy(here, folder, box.work.resolve())
    else:
        for path in (p for p in box.readable if p.parent == here and p.is_file()):
            shutil.copy2(path, folder / path.name)
    try:
        yield folder
    finally:
        beneath.remove(box.work, _PLACE)


def _copy(source: Path, target: Path, never: Path) -> None:
    """Files as copies, as far as that is reasonable; what is large or hidden is linked to."""
    left, entries = COPIED, ENTRIES
    queue = [(source, target)]
    while queue:
        here, there = queue.pop(0)
        try:
            found = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in found:
            path, new = Path(entry.path), there / entry.name
            if never.is_relative_to(path.resolve()):
                continue  # the run's own folder
            entries -= 1
            hidden = entry.name.startswith(".")
            if entry.is_dir(follow_symlinks=False) and entries > 0 and not hidden:
                new.mkdir()
                queue.append((path, new))
                continue
            size = entry.stat(follow_symlinks=False).st_size
            if entry.is_file(follow_symlinks=False) and entries > 0 and size <= left:
                left -= size
                shutil.copy2(path, new)
            else:
                new.symlink_to(path.resolve())


def run(box: Sandbox, program: Path, arguments: Sequence[str], device: str) -> Ran:
    """BadInput where it was stopped by a limit."""
    work, name = box.work / _WORK, "program"
    beneath.remove(box.work, _WORK)
    beneath.make_folder(box.work, _WORK)
    inside = replace(box, work=work)
    shutil.copy2(program, work / name)  # under one name: it may print it
    streams = [str(work / stream) for stream in _STREAMS]
    words = [sys.executable, "-I", "-c", _SPLIT, *streams, str(work / name), *arguments]
    try:
        with place(inside) as folder:
            before = _stamps(folder)
            extra = choose(device, rocprofv3_installed=True).environment
            ended = inside.run(words, extra, wall_s=LIMIT_S, cwd=folder)
            if ended.exit_code is None:
                raise BadInput(f"the program {ended.sentence()}")
            parts = _written(folder, before)
        with _opened(work) as place_of:
            for stream in _STREAMS:
                parts[stream] = _without_ours(_content(stream, place_of))
    except (OSError, RecursionError) as error:  # folders may be nested without end
        raise BadInput(f"what the program wrote cannot be read: {error}"[:300]) from None
    finally:
        beneath.remove(box.work, _WORK)
    return Ran(ended.exit_code, parts)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


Stamp = tuple[int, int, int]


def _entries(folder: Path) -> Iterator[tuple[str, str, int, os.stat_result]]:
    """Shown name, name, descriptor of its folder, status: no link is followed, for the program
    that wrote here may have made any."""
    for at, _, names, descriptor in os.fwalk(folder, follow_symlinks=False):
        for name in sorted(names):
            shown = str((Path(at) / name).relative_to(folder))
            yield shown, name, descriptor, os.stat(name, dir_fd=descriptor, follow_symlinks=False)


def _stamps(folder: Path) -> dict[str, Stamp]:
    return {shown: _stamp(found) for shown, _, _, found in _entries(folder)}


def _stamp(found: os.stat_result) -> Stamp:
    return found.st_ino, found.st_size, found.st_mtime_ns


def _written(folder: Path, before: Mapping[str, Stamp]) -> dict[str, Content]:
    """Files that are new or were changed, and those that are gone."""
    parts: dict[str, Content] = {}
    gone = set(before)
    for shown, name, descriptor, found in _entries(folder):
        gone.discard(shown)
        if before.get(shown) == _stamp(found):
            continue
        parts[shown] = _content(name, descriptor)
    return {**parts, **dict.fromkeys(gone, Content("removed"))}


def _content(name: str, folder: int) -> Content:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISREG(found.st_mode):
        return Content(f"no plain file: {stat.filemode(found.st_mode)}")
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, dir_fd=folder), "rb") as file:
        digest, kept = hashlib.sha256(), b""
        while piece := file.read(1 << 20):
            digest.update(piece)
            kept += piece if len(kept) <= READ else b""
    text = None
    if len(kept) <= READ and b"\0" not in kept:
        try:
            text = kept.decode("utf-8")
        except UnicodeDecodeError:
            text = None
    return Content(digest.hexdigest(), text)


def _without_ours(found: Content) -> Content:
    """A stream without what this tool's own libraries said in the program's process."""
    if found.text is None or _OURS not in found.text:
        return found
    kept = "".join(x for x in found.text.splitlines(True) if not x.startswith(_OURS))
    return Content(hashlib.sha256(kept.encode()).hexdigest(), kept)


def expect(box: Sandbox, program: Path, arguments: Sequence[str], device: str) -> Expected:
    first, second = (run(box, program, arguments, device) for _ in range(2))
    if first.exit_code != second.exit_code:
        raise BadInput(
            f"the program exits with {first.exit_code} and then with {second.exit_code}: its "
            "output cannot be compared",
            hint="--output ignore leaves it out",
        )
    return Expected(first, second)


# ---- comparing


def differs(expected: Expected, got: Ran, rule: Rule) -> str | None:
    """What of the changed program's output is not the original's; None: nothing."""
    if rule.mode == "ignore":
        return None
    first = expected.first
    if got.exit_code != first.exit_code:
        return f"the program exits with {got.exit_code} instead of {first.exit_code}"
    for name in sorted({*first.parts, *got.parts}):
        one, two, other = (ran.parts.get(name) for ran in (first, expected.second, got))
        if one == other or (one is None) != (two is None):
            continue
        if one is None or other is None:
            return f"the program {'now writes' if one is None else 'no longer writes'} {name}"
        if one.text is None or other.text is None:
            if one == two:
                return f"{name} differs"
            continue
        steady = two.text if two is not None and two.text is not None else one.text
        if why := _text_differs(one.text, steady, other.text, rule):
            return f"{name}: {why}"
    return None


def _text_differs(one: str, two: str, other: str, rule: Rule) -> str | None:
    old, new = one.split("\n"), other.split("\n")
    if len(one.split("\n")) != len(two.split("\n")):
        return None  # as a whole it differs between runs of the original
    if len(old) != len(new):
        return f"{len(new)} lines instead of {len(old)}"
    free = _changing(one, two)
    largest = max((abs(n) for n in _numbers(one) if abs(n) < float("inf")), default=0.0)
    for number, (left, right) in enumerate(zip(old, new, strict=True)):
        if left == right or _same_line(left, right, number, free, rule, largest):
            continue
        return f"line {number + 1} is {right[:120]!r} instead of {left[:120]!r}"
    return None


def _same_line(
    left: str, right: str, number: int, free: set[tuple[int, int]], rule: Rule, largest: float
) -> bool:
    old, new = _tokens(left), _tokens(right)
    if (number, -1) in free:
        return True
    if len(old) != len(new):
        return False
    return all(
        a == b or (number, at) in free or _same_number(old, at, a, b, rule, left, largest)
        for at, (a, b) in enumerate(zip(old, new, strict=True))
    )


def _same_number(
    words: Sequence[str], at: int, a: str, b: str, rule: Rule, line: str, largest: float
) -> bool:
    if not (_NUMBER.fullmatch(a) and _NUMBER.fullmatch(b)):
        return False
    if rule.mode != "numbers":
        return False
    rest, before = "".join(words[at + 1 :]), "".join(words[:at])
    if _RATE.match(rest) or _TIMED.search(before):
        return True
    x, y = float(a), float(b)
    if not (_decimal(a) or _decimal(b) or math.isnan(x)):
        return False
    if (
        x == y
        or (math.isnan(x) and math.isnan(y))
        or abs(x - y) <= rule.tolerance * max(abs(x), abs(y))
    ):
        return True
    if _ERROR.search(line) and max(abs(x), abs(y)) <= rule.tolerance:
        return True
    return abs(x - y) <= rule.tolerance * min(1.0, largest)


def _decimal(word: str) -> bool:
    """What is written without a point and an exponent counts something: it has no rounding."""
    return any(character in word for character in ".eE")


def _numbers(text: str) -> Iterator[float]:
    for match in _NUMBER.finditer(text):
        if _decimal(match[0]):
            yield float(match[0])


def _tokens(line: str) -> list[str]:
    """Numbers and what stands between them."""
    found, at = [], 0
    for match in _NUMBER.finditer(line):
        found += [line[at : match.start()], match[0]]
        at = match.end()
    return [*found, line[at:]]


def _changing(one: str, two: str) -> set[tuple[int, int]]:
    """(line, token) that differ between two runs of the original; token -1: the whole line."""
    found: set[tuple[int, int]] = set()
    for number, (left, right) in enumerate(zip(one.split("\n"), two.split("\n"), strict=False)):
        old, new = _tokens(left), _tokens(right)
        if len(old) != len(new):
            found.add((number, -1))
        else:
            found |= {
                (number, at) for at, (a, b) in enumerate(zip(old, new, strict=True)) if a != b
            }
    return found
