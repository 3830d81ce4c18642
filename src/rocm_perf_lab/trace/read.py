"""Files in, traces out: the format is told by a file's content, never by its name."""

from __future__ import annotations

import codecs
import ctypes
import hashlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from io import BufferedReader
from pathlib import Path

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.counter_csv import looks_like_table, read_csv
from rocm_perf_lab.trace.json_file import GZIP, read_json
from rocm_perf_lab.trace.rocpd import read_rocpd
from rocm_perf_lab.trace.sqlite_file import MAGIC, check_regular, reason
from rocm_perf_lab.trace.trace import Trace

_CHUNK = 1 << 20
_ELF = b"\x7fELF"


def read_traces(paths: Iterable[Path | str]) -> list[Trace]:
    """One `Trace` per recorded process of each file, in the order given.

    A file given twice, a link to it included, is read once. A file that cannot be read raises
    `BadInput` naming it.
    """
    files: dict[Path, Path] = {}
    for given in map(Path, paths):
        try:
            whole = given.resolve()
        except (OSError, RuntimeError):  # a circle of links
            whole = given.absolute()
        files.setdefault(whole, given)
    return [trace for path in files.values() for trace in read_file(path)]


def read_file(path: Path) -> list[Trace]:
    if check_regular(path) == 0:
        raise BadInput(f"{path} is empty (0 bytes): the recording was never written to it.")
    # Hashing releases the interpreter lock, so it costs next to nothing beside the reader. Its
    # handle stays open until the reader is done: closing it would drop the reader's file lock.
    try:
        with path.open("rb") as file, ThreadPoolExecutor(1) as beside:
            digest = beside.submit(_sha256, file)
            traces = _reader(path)(path)
            sha256 = digest.result()
    except MemoryError as error:
        raise BadInput(f"{path} needs more memory than there is.") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}.") from error
    _give_back()
    return [
        replace(trace, sources=tuple(replace(s, sha256=sha256) for s in trace.sources))
        for trace in traces
    ]


def _give_back() -> None:
    """What reading needed beside its result goes back to the machine: glibc would keep it, and
    the analysis after it takes as much again."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def readable(path: Path) -> bool:
    """Whether a file is of a kind that is read here; what it holds is another question."""
    try:
        return path.is_file() and _kind(path) is not None
    except BadInput:  # nobody may read it
        return False


def _kind(path: Path) -> Callable[[Path], list[Trace]] | None:
    head = _start(path, 512)
    if head.startswith(MAGIC):
        return read_rocpd
    if head.startswith(GZIP) or head.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"["):
        return read_json
    if looks_like_table(_start(path, 1 << 17)):
        return read_csv
    return None


def _reader(path: Path) -> Callable[[Path], list[Trace]]:
    found = _kind(path)
    if found is not None:
        return found
    if _start(path, 4) == _ELF:
        raise BadInput(
            f"{path} is a program, not a trace.",
            f"Profile it first: rocm-perf profile ./{path.name}",
        )
    raise BadInput(
        f"{path} is neither a rocpd database nor a JSON trace nor a counter table.",
        "Give rocprofv3's *_results.db, *_results.json or CSV files, or a PyTorch profiler trace.",
    )


def _start(path: Path, count: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}.") from error


def _sha256(file: BufferedReader) -> str:
    digest = hashlib.sha256()
    chunk = memoryview(bytearray(_CHUNK))  # one for all: fresh memory costs more than the copy
    while count := file.readinto(chunk):
        digest.update(chunk[:count])
    return digest.hexdigest()
