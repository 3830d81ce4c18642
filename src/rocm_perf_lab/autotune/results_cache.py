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
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rocm_perf_lab.autotune.evaluation import STATUSES, Measurement
from rocm_perf_lab.autotune.space import Configuration
from rocm_perf_lab.errors import BadInput

_VERSION = 1
_LONGEST_LINE = 1 << 20


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
        self.failure: str | None = None  # why the file does not hold what was measured
        self._known: dict[str, Measurement] = {}
        self._parameters: dict[str, Configuration] = {}
        if path is None:
            return
        try:
            if path.exists():
                if not path.is_file():
                    raise BadInput(f"the cache {path} is not a file")
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
                "samples": found.samples,
                "reason": found.reason,
                "runtime_features": found.runtime_features,
                "static_features": found.static_features,
                "device": found.device,
            },
            sort_keys=True,
        )
        try:
            with _locked(self.path) as file:
                end = os.fstat(file).st_size
                # After a kill in mid-write the torn line must not swallow the next one.
                start = "\n" if end and os.pread(file, 1, end - 1) != b"\n" else ""
                os.write(file, f"{start}{line}\n".encode())
                os.fsync(file)
        except OSError as error:
            self.failure = error.strerror  # a full disk is no reason to lose the run

    def _read(self, path: Path) -> None:
        with path.open("rb") as file:
            while line := file.readline(_LONGEST_LINE + 1):
                if len(line) > _LONGEST_LINE:
                    raise BadInput(f"the cache {path} has a line of more than 1 MiB")
                try:
                    key, parameters, measured = _entry(json.loads(line))
                except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                    self.skipped += bool(line.strip())
                    continue
                self._known[key] = measured
                self._parameters[key] = parameters


def _entry(data: Any) -> tuple[str, Configuration, Measurement]:
    """One line; ValueError, TypeError or KeyError for what no run of ours writes."""
    samples = tuple(float(s) for s in data.get("samples", data.get("samples_ms")))
    if data["status"] not in STATUSES or not all(0 < s < math.inf for s in samples):
        raise ValueError(data["status"])
    if data["status"] == "ok" and not samples:
        raise ValueError("no sample")
    parameters = dict(data["parameters"])
    if not all(isinstance(v, (bool, int, float, str)) for v in parameters.values()):
        raise TypeError("parameters")
    reason = data.get("reason")
    measured = Measurement(
        data["status"],
        samples,
        None if reason is None else str(reason),
        dict(data.get("runtime_features") or {}),
        dict(data.get("static_features") or {}),
        dict(data.get("device") or {}),
    )
    return str(data["key"]), parameters, measured


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)
