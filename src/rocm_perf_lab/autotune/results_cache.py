"""Results as they come, one JSON line each, so that a killed run resumes.

A line is keyed by the hash of everything that decides a time: command, parameters, the files the
command names, device and ROCm version. Appends are single writes under a lock, so two processes
may share a file; a torn last line is skipped.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rocm_perf_lab.autotune.evaluation import Measurement
from rocm_perf_lab.autotune.space import Configuration
from rocm_perf_lab.errors import BadInput

_VERSION = 1


def key(identity: Mapping[str, Any], parameters: Configuration) -> str:
    text = json.dumps([_VERSION, identity, parameters], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def parameters_key(parameters: Configuration) -> str:
    return json.dumps(parameters, sort_keys=True)


class ResultsCache:
    """Null object where no file is given: remembers nothing, costs nothing."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.skipped = 0
        self._known: dict[str, Measurement] = {}
        self._parameters: dict[str, Configuration] = {}
        if path is None:
            return
        try:
            if path.exists():
                self._read(path)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
        except OSError as error:
            raise BadInput(f"cannot use the cache {path}: {error.strerror}") from None

    def get(self, key: str) -> Measurement | None:
        return self._known.get(key)

    def known(self) -> list[tuple[Configuration, str]]:
        """Parameters and key of everything in the file."""
        return [(parameters, key) for key, parameters in self._parameters.items()]

    def put(self, key: str, parameters: Configuration, found: Measurement) -> None:
        """`found` replaces what the file says of this key: leaders are written again, whole."""
        self._known[key] = found
        if self.path is None:
            return
        line = json.dumps(
            {
                "key": key,
                "parameters": parameters,
                "status": found.status,
                "samples_ms": found.samples_ms,
                "reason": found.reason,
                "runtime_features": found.runtime_features,
                "static_features": found.static_features,
                "device": found.device,
            },
            sort_keys=True,
        )
        with _locked(self.path) as file:
            end = os.fstat(file).st_size
            # After a kill in mid-write the torn line must not swallow the next one.
            start = "\n" if end and os.pread(file, 1, end - 1) != b"\n" else ""
            os.write(file, f"{start}{line}\n".encode())
            os.fsync(file)

    def _read(self, path: Path) -> None:
        with path.open("r", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    data = json.loads(line)
                    measured = Measurement(
                        str(data["status"]),
                        tuple(float(s) for s in data["samples_ms"]),
                        data.get("reason"),
                        dict(data.get("runtime_features") or {}),
                        dict(data.get("static_features") or {}),
                        dict(data.get("device") or {}),
                    )
                    self._known[str(data["key"])] = measured
                    self._parameters[str(data["key"])] = dict(data["parameters"])
                except (ValueError, TypeError, KeyError, AttributeError):
                    self.skipped += bool(line.strip())


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int]:
    try:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError as error:
        raise BadInput(f"cannot write the cache {path}: {error.strerror}") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)
