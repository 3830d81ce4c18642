"""Chrome's trace-event JSON: opens in chrome://tracing, Perfetto and others."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence

from rocm_perf_lab.report.exports.slices import Slice, path_of, without_overlap


def chrome(slices: Sequence[Slice], about: Mapping[str, str]) -> Iterator[str]:
    """In pieces: a long run is not held twice."""
    placed = without_overlap(slices)
    tracks = {track: i for i, track in enumerate(dict.fromkeys(s.track for s in placed), 1)}
    origin = min((s.start_ns for s in placed), default=0)
    yield '{"displayTimeUnit":"ns","otherData":' + _json(dict(about)) + ',"traceEvents":[\n'
    yield _json({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": about["name"]}})
    for track, tid in tracks.items():
        name = {"ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "args": {"name": track}}
        yield ",\n" + _json(name)
    for s in placed:
        yield ",\n" + _json(
            {
                "ph": "X",
                "name": s.name,
                "cat": s.category,
                "pid": 1,
                "tid": tracks[s.track],
                "ts": (s.start_ns - origin) / 1e3,
                "dur": s.duration_ns / 1e3,
                "args": s.arguments,
            }
        )
    path = path_of(placed)
    for number, (a, b) in enumerate(itertools.pairwise(path), 1):
        arrow = {"name": "critical path", "cat": "path", "id": number, "pid": 1}
        # At its very end a slice is over for some viewers: the arrow leaves just before.
        leaves = a.start_ns + max(a.duration_ns - 1, 0) - origin
        begin = {"ph": "s", "tid": tracks[a.track], "ts": leaves / 1e3}
        end = {"ph": "f", "bp": "e", "tid": tracks[b.track], "ts": (b.start_ns - origin) / 1e3}
        yield ",\n" + _json({**arrow, **begin}) + ",\n" + _json({**arrow, **end})
    yield "\n]}\n"


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
