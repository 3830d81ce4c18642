"""What was tried, and the proof: one JSON line an entry, each sealed over all before it.

A line is {"index", "previous", "kind", "data", "hash"}; `hash` is SHA-256 over the line without
it, and `previous` the hash of the line before. An entry is on disk before anything is done that
rests on it. A process killed while writing leaves a last line without its end: that line never
happened.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocm_perf_lab.errors import BadInput

FIRST = "0" * 64  # what the first entry follows
MAX_LINE_BYTES, MAX_BYTES = 64 << 20, 1 << 30
_FIELDS = {"index", "previous", "kind", "data", "hash"}


@dataclass(frozen=True)
class Entry:
    index: int
    previous: str
    kind: str
    data: Mapping[str, Any]
    hash: str


@dataclass(frozen=True)
class Read:
    entries: tuple[Entry, ...]
    torn_bytes: int  # of a last line that was not finished

    @property
    def head(self) -> str:
        return self.entries[-1].hash if self.entries else FIRST

    def of_kind(self, kind: str) -> list[Entry]:
        return [entry for entry in self.entries if entry.kind == kind]


def read(path: Path) -> Read:
    """Every entry, each seal checked; BadInput names the first line that is not as written."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadInput(f"{path} is too large to be a ledger")
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read the ledger {path}: {error.strerror}") from None
    return parse(data, str(path))


def parse(data: bytes, name: str) -> Read:
    whole, newline, torn = data.rpartition(b"\n")
    entries: list[Entry] = []
    previous = FIRST
    for number, line in enumerate(whole.split(b"\n") if newline else [], start=1):
        entry = _entry(line, f"{name}, line {number}")
        if entry.index != number - 1 or entry.previous != previous:
            raise BadInput(
                f"{name}, line {number} does not follow the line before it",
                hint="entries were removed, added or put in another order",
            )
        entries.append(entry)
        previous = entry.hash
    return Read(tuple(entries), len(torn))


def _entry(line: bytes, where: str) -> Entry:
    if len(line) > MAX_LINE_BYTES:
        raise BadInput(f"{where} is too long")
    try:
        fields = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise BadInput(f"{where} is not JSON") from None
    if not isinstance(fields, dict) or set(fields) != _FIELDS:
        raise BadInput(f"{where} is not an entry of a ledger")
    index, kind, data = fields["index"], fields["kind"], fields["data"]
    if type(index) is not int or not isinstance(kind, str) or not isinstance(data, dict):
        raise BadInput(f"{where} is not an entry of a ledger")
    try:
        as_written = _canonical(fields) == line
    except (ValueError, RecursionError):  # 1e999 is JSON, and no number
        raise BadInput(f"{where} holds what no ledger can: a number without end") from None
    sealed = fields.pop("hash")
    if _hash(fields) != sealed or not as_written:
        raise BadInput(f"{where} was changed: its hash does not fit", hint="do not trust this run")
    return Entry(index, str(fields["previous"]), kind, data, sealed)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _canonical(fields: Mapping[str, Any]) -> bytes:
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def _hash(fields: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(fields)).hexdigest()


class Ledger:
    """One writer at a time; what it finds is checked, what was torn is cut off."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._descriptor = os.open(path, flags, 0o600)
        try:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise BadInput(
                    f"another run is writing to {path}", hint="wait for it, or choose another --out"
                ) from None
            found = read(path)
            if found.torn_bytes:
                os.ftruncate(self._descriptor, path.stat().st_size - found.torn_bytes)
        except BaseException:
            os.close(self._descriptor)
            raise
        self.path = path
        self.entries = list(found.entries)

    @property
    def head(self) -> str:
        return self.entries[-1].hash if self.entries else FIRST

    def append(self, kind: str, data: Mapping[str, Any]) -> Entry:
        fields: dict[str, Any] = {
            "index": len(self.entries), "previous": self.head, "kind": kind, "data": dict(data),
        }  # fmt: skip
        fields["hash"] = _hash(fields)
        line = _canonical(fields) + b"\n"
        written = 0
        while written < len(line):
            written += os.write(self._descriptor, line[written:])
        os.fsync(self._descriptor)
        # As a reader will see it, not as the caller's objects are.
        entry = _entry(line[:-1], str(self.path))
        self.entries.append(entry)
        return entry

    def close(self) -> None:
        os.close(self._descriptor)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
