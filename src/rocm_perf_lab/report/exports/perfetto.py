"""Perfetto's own trace format: protobuf track events, flow arrows along the critical path.

Only the dozen fields that are needed are written, by hand: field numbers are those of Perfetto's
protos/perfetto/trace (trace_packet.proto, track_event/track_event.proto).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from rocm_perf_lab.report.exports.slices import Slice, path_of, without_overlap

_SEQUENCE = 1
_BEGIN, _END = 1, 2
_PROCESS = 1


def perfetto(slices: Sequence[Slice], about: Mapping[str, str]) -> Iterator[bytes]:
    placed = without_overlap(slices)
    tracks = {track: i for i, track in enumerate(dict.fromkeys(s.track for s in placed), 2)}
    process = _number(1, 1) + _text(6, about["name"])
    yield _packet(_bytes(60, _number(1, _PROCESS) + _bytes(3, process)), cleared=True)
    for track, uuid in tracks.items():
        # Ordered as listed, under the process.
        yield _packet(_bytes(60, _number(1, uuid) + _number(5, _PROCESS) + _text(2, track)))
    leaving: dict[int, int] = {}
    arriving: dict[int, int] = {}
    path = path_of(placed)
    for flow, (a, b) in enumerate(itertools.pairwise(path), 1):
        leaving[id(a)], arriving[id(b)] = flow, flow
    events: list[tuple[int, int, int, bytes]] = []
    for order, s in enumerate(placed):
        uuid = tracks[s.track]
        body = _number(9, _BEGIN) + _number(11, uuid) + _text(22, s.category) + _text(23, s.name)
        for key, value in s.arguments.items():
            shown = _text(6, value) if isinstance(value, str) else _number(4, value)
            body += _bytes(4, _text(10, key) + shown)
        if id(s) in leaving:
            body += _fixed64(47, leaving[id(s)])
        if id(s) in arriving:
            body += _fixed64(48, arriving[id(s)])
        events.append((s.start_ns, 1, order, body))
        # Slices that end together: the inner one, begun later, first. And ends before begins.
        end = _number(9, _END) + _number(11, uuid)
        last = 0 if s.duration_ns else 2
        events.append((s.start_ns + s.duration_ns, last, -order, end))
    for when, _, _, body in sorted(events, key=lambda e: e[:3]):
        yield _packet(_number(8, when) + _bytes(11, body))


def _packet(content: bytes, cleared: bool = False) -> bytes:
    flags = _number(13, 1) if cleared else b""  # SEQ_INCREMENTAL_STATE_CLEARED
    return _bytes(1, content + _number(10, _SEQUENCE) + flags)


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode("utf-8", "replace"))


def _fixed64(field: int, value: int) -> bytes:
    return _varint(field << 3 | 1) + value.to_bytes(8, "little")
