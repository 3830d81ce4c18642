"""A run's folder: under construction with a hidden name, complete once it has its own.

.rocpd_profile/
  20260131T120000Z-vcopy/   profile.json … trace-1/ counters-1/ att/ logs/
  20260131T120000Z.2-vcopy/ a second run that ended within that second
  latest -> 20260131T120000Z.2-vcopy
  .partial-…/               a run in progress; what a killed one left goes with the next run
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from rocm_perf_lab import scratch
from rocm_perf_lab.errors import BadInput

ROOT = ".rocpd_profile"
LATEST = "latest"
# A run's documents. One without the first is no run.
PROFILE = "profile.json"
DOCUMENTS = {
    "profile": PROFILE,
    "roofline": "roofline.json",
    "dag": "dag.json",
    "analysis": "analysis.json",
    "thread_trace": "thread_trace.json",
    "timeline": "timeline.json",
}
_PARTIAL = ".partial-"


@dataclass
class Run:
    folder: Path  # to fill
    final: Path | None = None  # its name once it is complete
    warnings: list[str] = field(default_factory=list)


@contextlib.contextmanager
def new_run(root: Path, label: str) -> Iterator[Run]:
    """A folder to fill. It gets its name and becomes `latest` only if the block ends well."""
    with contextlib.ExitStack() as stack:
        try:
            root.mkdir(parents=True, exist_ok=True)
            partial = stack.enter_context(scratch.folder(_PARTIAL, root))
        except OSError as error:
            raise BadInput(
                f"cannot create a run folder under {root}: {error.strerror}",
                hint="choose another place with --out",
            ) from None
        run = Run(partial)
        yield run
        run.final = _finish(partial, root, label)
        run.warnings += _point_latest(root, run.final)


_PYTHON = re.compile(r"(python|pypy)[0-9.]*")
_WITH_VALUE = {"-W", "-X", "--check-hash-based-pycs"}


def label_of(program: str, arguments: Sequence[str] = ()) -> str:
    """What a run is called: the program, or the script that Python runs."""
    name = Path(program).name
    if not _PYTHON.fullmatch(name):
        return name
    words = iter(arguments)
    for word in words:
        if word in _WITH_VALUE:
            next(words, None)
        elif word == "-m":
            return next(words, name)
        elif word == "-c":
            return name
        elif not word.startswith("-"):
            return Path(word).stem or name
    return name


def _finish(partial: Path, root: Path, label: str) -> Path:
    partial.chmod(0o755 & ~_umask())
    stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", label)[:60]
    for attempt in range(1, 10_000):
        final = root / (f"{stamp}-{plain}" if attempt == 1 else f"{stamp}.{attempt}-{plain}")
        if final.exists():
            continue
        # A rename onto an existing non-empty folder fails, so two runs cannot share a name.
        try:
            partial.rename(final)
        except OSError:
            continue
        return final
    raise BadInput(f"cannot name a run folder {stamp}-{plain} under {root}")


def _point_latest(root: Path, final: Path) -> list[str]:
    """What went wrong with the link is no reason to lose the run."""
    link = root / LATEST
    if link.exists() and not link.is_symlink():
        return [f"{link} is no link made by rocm-perf; it is left as it is, and {final} is kept"]
    temporary = root / f"{_PARTIAL}{os.getpid()}-link"
    try:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        temporary.symlink_to(final.name)
        temporary.replace(link)
    except OSError as error:
        return [f"{link} cannot be made: {error.strerror}; {final} is kept"]
    return []


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_file(path: Path, text: str) -> None:
    """Whole or not at all: written beside its place, then renamed."""
    write_bytes(path, text.encode("utf-8", "surrogateescape"))


def write_bytes(path: Path, data: bytes) -> None:
    write_pieces(path, [data])


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    with scratch.replacing(path, 0o644 & ~_umask()) as file:
        file.writelines(pieces)
