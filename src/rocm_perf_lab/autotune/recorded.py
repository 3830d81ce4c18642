"""Recorded spaces: every configuration with its time or its failure.

Read are Kernel Tuner cache files of all ages and results in the T4 format. Kernel Tuner appends to
a cache and closes it only at the end, so the last braces may be missing.
"""

from __future__ import annotations

import gzip
import json
import math
import statistics
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocm_perf_lab.autotune import space as space_module
from rocm_perf_lab.autotune.space import Space
from rocm_perf_lab.errors import BadInput

_MAX_BYTES = 2 << 30
_FAILED_MS = 1e20  # what old caches hold in place of the time of a failure

# What recordings write in place of a time or beside it, and what we call it.
_FAILURES = {
    "ErrorConfig": "failed",
    "InvalidConfig": "invalid",
    "CompilationFailedConfig": "build_failed",
    "RuntimeFailedConfig": "failed",
    "constraints": "invalid",
    "compile": "build_failed",
    "runtime": "failed",
    "correctness": "wrong",
    "timeout": "timeout",
}
_MILLISECONDS = {"ms": 1.0, "s": 1e3, "us": 1e-3, "ns": 1e-6, "milliseconds": 1.0, "seconds": 1e3,
                 "microseconds": 1e-3, "nanoseconds": 1e-6}  # fmt: skip


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
    results = data.get("results")
    if isinstance(results, list):
        entries = _from_t4(results, data, path)
    else:
        entries = _from_cache(data, path)
    # A configuration that was recorded again counts as it was recorded last.
    found = {
        frozenset((n, space_module.value_key(v)) for n, v in c.items()): (c, r) for c, r in entries
    }
    configurations = [configuration for configuration, _ in found.values()]
    space = space_module.from_configurations(configurations, str(path))
    records = tuple(record for _, record in found.values())
    if all(record.time_ms is None for record in records):
        raise BadInput(f"{path} records no time: every configuration failed")
    return RecordedSpace(space, records, _text(data, "device_name"), _text(data, "kernel_name"))


_Entry = tuple[space_module.Configuration, Record]


def _from_cache(data: dict[str, Any], path: Path) -> Iterable[_Entry]:
    cache = data.get("cache")
    if not isinstance(cache, dict) or not cache:
        raise BadInput(
            f"{path} is neither a Kernel Tuner cache nor T4 results: no recorded configurations"
        )
    if not all(isinstance(row, dict) for row in cache.values()):
        raise BadInput(f"{path}: a recorded configuration is not an object")
    domains = data.get("tune_params")
    domains = domains if isinstance(domains, dict) else {}
    names = data.get("tune_params_keys") or list(domains) or _leading(*next(iter(cache.items())))
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise BadInput(f"{path} does not say which parameters were tuned (tune_params_keys)")
    for key, row in cache.items():
        values = {**_from_key(key, names, domains), **row}
        missing = [n for n in names if n not in values]
        if missing:
            raise BadInput(f"{path}: the configuration {key} has no {missing[0]}")
        yield {n: _plain(values[n]) for n in names}, _record(row)


def _leading(key: str, row: dict[str, Any]) -> list[str]:
    """Without a list of parameters: the first fields of a row, which its key repeats."""
    names = list(row)[: key.count(",") + 1]
    return names if key == ",".join(str(row[n]) for n in names) else []


def _from_key(key: str, names: list[str], domains: dict[str, Any]) -> dict[str, Any]:
    """The parameters as the key spells them, for rows that leave some out."""
    words = key.split(",")
    if len(words) != len(names):
        return {}
    found = {}
    for name, word in zip(names, words, strict=True):
        domain = domains.get(name)
        matching = [v for v in domain if str(v) == word] if isinstance(domain, list) else []
        if matching:
            found[name] = matching[0]
    return found


def _from_t4(results: list[Any], data: dict[str, Any], path: Path) -> Iterable[_Entry]:
    metadata = data.get("metadata")
    usual = metadata.get("timeunit") if isinstance(metadata, dict) else None
    if not results:
        raise BadInput(f"{path} has no results")
    for number, result in enumerate(results):
        configuration = result.get("configuration") if isinstance(result, dict) else None
        if not isinstance(configuration, dict) or not configuration:
            raise BadInput(f"{path}: result {number} has no configuration")
        row: dict[str, Any] = {"__error__": result.get("invalidity")}
        unit = usual
        for measurement in result.get("measurements") or ():
            if isinstance(measurement, dict) and measurement.get("name") == "time":
                row["time"] = measurement.get("value")
                unit = measurement.get("unit") or usual
        times = result.get("times")
        row["times"] = times.get("runtimes") if isinstance(times, dict) else None
        yield (
            {n: _plain(v) for n, v in configuration.items()},
            _record(row, _MILLISECONDS.get(str(unit), 1.0)),
        )


def _record(row: dict[str, Any], milliseconds: float = 1.0) -> Record:
    """A failure is named in place of the time, or beside it."""
    time = row.get("time")
    for word in (row.get("__error__"), time):
        if isinstance(word, str) and word in _FAILURES:
            return Record(_FAILURES[word], (), None)
    kept = row.get("times")
    times = tuple(
        milliseconds * float(t)
        for t in (kept if isinstance(kept, list) else [])
        if isinstance(t, (int, float)) and not isinstance(t, bool) and _is_time(float(t))
    )
    try:
        value = float(time) if isinstance(time, (int, float, str)) else math.nan
    except ValueError:
        value = math.nan
    if time is None and times:
        return Record("ok", times, statistics.fmean(times))
    if isinstance(time, bool) or not _is_time(value):
        return Record("failed", (), None)
    return Record("ok", times or (milliseconds * value,), milliseconds * value)


def _is_time(value: float) -> bool:
    return math.isfinite(value) and 0 < value < _FAILED_MS


def _plain(value: Any) -> space_module.Value:
    """A list or null as a parameter's value is a category."""
    if isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return json.dumps(value)


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
