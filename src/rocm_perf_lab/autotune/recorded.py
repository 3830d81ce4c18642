"""Recorded spaces: Kernel Tuner cache files, every configuration with its time or its failure.

Kernel Tuner appends to a cache and closes it only at the end, so the last braces may be missing.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocm_perf_lab.autotune import space as space_module
from rocm_perf_lab.autotune.space import Space
from rocm_perf_lab.errors import BadInput

_MAX_BYTES = 2 << 30

# What Kernel Tuner writes in place of a time, and what we call it.
_FAILURES = {
    "InvalidConfig": "invalid",
    "CompilationFailedConfig": "build_failed",
    "RuntimeFailedConfig": "failed",
}


@dataclass(frozen=True)
class Record:
    status: str  # "ok" or a failure
    times_ms: tuple[float, ...]  # single measurements; the recorded time alone where none are kept
    time_ms: float | None


@dataclass(frozen=True)
class RecordedSpace:
    space: Space
    records: tuple[Record, ...]  # one per row of the space
    device: str | None
    kernel: str | None

    def optimum_ms(self) -> float | None:
        return min((r.time_ms for r in self.records if r.time_ms is not None), default=None)


def load(path: Path) -> RecordedSpace:
    data = _parse(_read(path), path)
    cache = data.get("cache")
    if not isinstance(cache, dict) or not cache:
        raise BadInput(f"{path} is not a Kernel Tuner cache: it has no recorded configurations")
    names = data.get("tune_params_keys") or list(data.get("tune_params") or ())
    rows = list(cache.values())
    if not all(isinstance(row, dict) for row in rows):
        raise BadInput(f"{path}: a recorded configuration is not an object")
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise BadInput(f"{path} does not say which parameters were tuned (tune_params_keys)")
    objective = data.get("objective", "time")
    objective = objective if isinstance(objective, str) and objective in rows[0] else "time"
    configurations, records = [], []
    for key, row in cache.items():
        missing = [n for n in names if n not in row]
        if missing:
            raise BadInput(f"{path}: the configuration {key} has no {missing[0]}")
        configurations.append({n: row[n] for n in names})
        records.append(_record(row, objective))
    space = space_module.from_configurations(configurations, str(path))
    if space.size != len(records):
        raise BadInput(f"{path} records a configuration twice")
    return RecordedSpace(
        space, tuple(records), _text(data, "device_name"), _text(data, "kernel_name")
    )


def _record(row: dict[str, Any], objective: str) -> Record:
    time = row.get(objective)
    if isinstance(time, bool) or not isinstance(time, (int, float)):
        return Record(_FAILURES.get(str(time), "failed"), (), None)
    if not math.isfinite(time) or time <= 0 or time >= 1e20:
        return Record("failed", (), None)
    kept = row.get("times")
    times = tuple(
        float(t)
        for t in (kept if isinstance(kept, list) else [])
        if isinstance(t, (int, float)) and not isinstance(t, bool) and math.isfinite(t) and t > 0
    )
    return Record("ok", times or (float(time),), float(time))


def _text(data: dict[str, Any], key: str) -> str | None:
    value = data.get(key)
    return value if isinstance(value, str) else None


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if zipped else path.open("rb") as stream:
            raw = stream.read(_MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    if len(raw) > _MAX_BYTES:
        raise BadInput(f"{path} holds more than {_MAX_BYTES >> 30} GiB")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not a text file") from None


def _parse(text: str, path: Path) -> dict[str, Any]:
    stripped = text.strip()
    # A cache left open ends after an entry, or in the middle of one: drop the torn tail.
    ends = ["", "}}", "}", "}}}"]
    attempts = [stripped + end for end in ends]
    attempts += [stripped.rstrip(",") + end for end in ends]
    cut = stripped.rfind("},")
    if cut > 0:
        attempts += [stripped[: cut + 1] + "}}"]
    for attempt in attempts:
        try:
            data = json.loads(attempt)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict):
            return data
    raise BadInput(f"{path} is not JSON, nor a Kernel Tuner cache that was left open")
