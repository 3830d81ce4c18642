"""A JSON trace, plain or gzipped: rocprofv3's, or PyTorch's profiler's."""

from __future__ import annotations

import codecs
import gc
import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace.kineto import looks_like_kineto, read_kineto
from rocm_perf_lab.trace.kineto_events import of_objects, scanned
from rocm_perf_lab.trace.rocprofv3_json import read_rocprofv3
from rocm_perf_lab.trace.sqlite_file import reason
from rocm_perf_lab.trace.trace import Trace

GZIP = b"\x1f\x8b"
_LARGEST = 1 << 31
_PIECE = 1 << 20


def read_json(path: Path) -> list[Trace]:
    with _reading(path) as file:
        events = scanned(_pieces(file, path))
    if events is not None:
        return read_kineto(events, path)
    with _without_collector():
        root = load(path)
        if looks_like_kineto(root):
            return read_kineto(of_objects(root), path)
        if not isinstance(root, dict):
            raise BadInput(f"{path} is JSON but not a trace: its root is no object.")
        return read_rocprofv3(root, path)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Looking for cycles among millions of fresh objects takes longer than parsing them."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@contextmanager
def _reading(path: Path) -> Iterator[BinaryIO]:
    """The file, unpacked."""
    try:
        with path.open("rb") as plain:
            packed = plain.read(2) == GZIP
        with gzip.open(path) if packed else path.open("rb") as file:
            yield cast("BinaryIO", file)
    except (OSError, EOFError, zlib.error) as error:
        what = reason(error) if isinstance(error, OSError) else str(error)
        raise BadInput(f"{path} cannot be read: {what}.") from error


def _pieces(file: BinaryIO, path: Path) -> Iterator[bytes]:
    total = 0
    while piece := file.read(_PIECE):
        yield piece if total else piece.removeprefix(codecs.BOM_UTF8)
        total += len(piece)
        if total > _LARGEST:
            raise _too_large(path)


def _too_large(path: Path) -> BadInput:
    return BadInput(
        f"{path} holds more than {_LARGEST >> 30} GiB of JSON.", "Record it with -f rocpd."
    )


def load(path: Path) -> Any:
    with _reading(path) as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise _too_large(path)
    # Some recorded argument strings are not UTF-8. The bytes go before the objects come.
    text = data.decode("utf-8-sig", "replace")
    del data
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise BadInput(f"{path} is cut short or is no JSON{where}.") from error
