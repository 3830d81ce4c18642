"""Files of plain timings, as hyperfine's --export-json writes them: results[].times in seconds."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocm_perf_lab.errors import BadInput

MOST_BYTES = 256 << 20


@dataclass(frozen=True)
class Timing:
    name: str
    times_ms: tuple[float, ...]


def looks_like_timings(path: Path) -> bool:
    """A JSON object whose `results` is a list; rocprofv3's JSON has no such key."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return False
        with path.open("rb") as file:
            head = file.read(1 << 16)
        return head.lstrip()[:1] == b"{" and b'"results"' in head and b"rocprofiler" not in head
    except OSError:
        return False


def read_timings(path: Path) -> list[Timing]:
    try:
        content: Any = json.loads(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not JSON: {error}") from None
    results = content.get("results") if isinstance(content, dict) else None
    if not isinstance(results, list) or not results:
        raise BadInput(
            f"{path} holds no timings", hint="hyperfine --export-json writes results[].times"
        )
    return [_timing(path, i, result) for i, result in enumerate(results)]


def _timing(path: Path, index: int, result: Any) -> Timing:
    where = f"{path}: results[{index}]"
    times = result.get("times") if isinstance(result, dict) else None
    if not isinstance(times, list) or not times:
        raise BadInput(f"{where} has no times", hint="hyperfine writes them unless it is told not")
    for time in times:
        number = isinstance(time, (int, float)) and not isinstance(time, bool)
        if not number or not math.isfinite(time) or time <= 0:
            raise BadInput(f"{where}: {time!r} is not a time in seconds")
    name = result.get("command")
    return Timing(str(name) if name else f"result {index + 1}", tuple(1e3 * t for t in times))
