"""The wave files of a thread trace: se<SE>_sm<SIMD>_sl<slot>_wv<n>.json, one per wave."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace import att_json as js
from rocm_perf_lab.trace.att_trace import (
    Instructions,
    States,
    WaitDependencies,
    Waves,
    index_column,
    int_column,
)
from rocm_perf_lab.trace.trace import IntColumn

_WAVE_FILE = re.compile(r"se(\d{1,6})_sm(\d{1,6})_sl(\d{1,6})_wv(\d{1,9})\.json")
_LIMIT = 1 << 62
_ABSENT = -_LIMIT

Span = tuple[int, int] | None  # begin and end, as filenames.json has them


def wave_files(
    folder: Path, names: Mapping[str, Any], notes: list[str]
) -> tuple[list[tuple[str, Span]], int]:
    """Wave files to read, in order, and how many names were refused.

    filenames.json decides: a wave file it does not name is left from an earlier recording.
    """
    with os.scandir(folder) as entries:
        present = {entry.name for entry in entries if _WAVE_FILE.fullmatch(entry.name)}
    tree = names.get("wave_filenames")
    listed: dict[str, Span] = dict(_leaves(tree))
    refused = [name for name in listed if not _WAVE_FILE.fullmatch(name)]
    for name in refused:
        del listed[name]
    if refused:
        notes.append(f"filenames.json names {len(refused)} files that are no wave files.")
    if not names:
        listed = dict.fromkeys(present)
    elif left_out := len(present - listed.keys()):
        notes.append(f"{left_out} wave files are not named in filenames.json and were left out.")
    return sorted(listed.items(), key=lambda item: _coordinates(item[0])), len(refused)


def _leaves(tree: object) -> Iterator[tuple[str, Span]]:
    """The [file, begin, end] leaves, at whatever depth they lie."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            pending.extend(node.values())
        elif isinstance(node, list) and node and isinstance(node[0], str):
            yield node[0], _span(node)


def _span(leaf: list[object]) -> Span:
    if len(leaf) < 3:
        return None
    return js.as_int(leaf[1], _ABSENT), js.as_int(leaf[2], _ABSENT)


def _coordinates(name: str) -> tuple[int, ...]:
    match = _WAVE_FILE.fullmatch(name)
    return tuple(int(part) for part in match.groups()) if match else ()


@dataclass
class Gathered:
    """What the wave files add up to; each file's own objects are dropped at once."""

    rows: list[tuple[int, ...]] = field(default_factory=list)
    instruction_rows: list[Sequence[npt.NDArray[Any]]] = field(default_factory=list)
    state_rows: list[js.Rows] = field(default_factory=list)
    wait_line: list[int] = field(default_factory=list)
    wait_size: list[int] = field(default_factory=list)
    dependency: list[int] = field(default_factory=list)
    waits_in_wave: list[int] = field(default_factory=list)
    missing: int = 0
    unreadable: list[str] = field(default_factory=list)
    dropped: int = 0

    def waves(self) -> Waves:
        table = np.array(self.rows, dtype=np.int64).reshape(len(self.rows), 9)
        se, simd, slot, wave_id, cu = table[:, :5].astype(np.int32).T.copy()
        begin, end, num_insts, num_stitched = table[:, 5:].T.copy()
        return Waves(
            se=se,
            simd=simd,
            slot=slot,
            wave_id=wave_id,
            cu=cu,
            begin=begin,
            end=end,
            num_insts=num_insts,
            num_stitched=num_stitched,
            first=_offsets([len(columns[0]) for columns in self.instruction_rows]),
            first_state=_offsets([len(rows) for rows in self.state_rows]),
            first_wait=_offsets(self.waits_in_wave),
        )

    def instructions(self) -> Instructions:
        dtypes = (np.int64, np.int8, np.int32, np.int32, np.int32)
        columns = [
            np.concatenate([part[i] for part in self.instruction_rows])
            if self.instruction_rows
            else np.empty(0, dtype=dtype)
            for i, dtype in enumerate(dtypes)
        ]
        return Instructions(_owners([len(part[0]) for part in self.instruction_rows]), *columns)

    def states(self) -> States:
        if self.state_rows:
            rows = np.concatenate(self.state_rows)
        else:
            rows = np.empty((0, 2), dtype=np.int64)
        wave = _owners([len(part) for part in self.state_rows])
        return States(wave=wave, state=rows[:, 0].astype(np.int8), duration=rows[:, 1].copy())

    def wait_dependencies(self) -> WaitDependencies:
        return WaitDependencies(
            wave=_owners(self.waits_in_wave),
            line=index_column(self.wait_line),
            first=_offsets(self.wait_size),
            dependency=index_column(self.dependency),
        )


def _offsets(lengths: Sequence[int]) -> IntColumn:
    return np.concatenate([[0], np.cumsum(int_column(lengths))]).astype(np.int64)


def _owners(lengths: Sequence[int]) -> npt.NDArray[np.int32]:
    return np.repeat(np.arange(len(lengths), dtype=np.int32), int_column(lengths))


def read_waves(folder: Path, files: Sequence[tuple[str, Span]], notes: list[str]) -> Gathered:
    gathered = Gathered()
    for name, span in files:
        try:
            _read_wave(js.read_bytes(folder / name), name, span, gathered)
        except js.UnreadableError as error:
            if str(error) == "missing":
                gathered.missing += 1
            else:
                gathered.unreadable.append(f"{name}: {error}")
    if gathered.missing:
        notes.append(f"{gathered.missing} of {len(files)} wave files named are missing.")
    if gathered.unreadable:
        notes.append(
            f"{len(gathered.unreadable)} of {len(files)} wave files cannot be read "
            f"(first: {gathered.unreadable[0]})."
        )
    if gathered.dropped:
        notes.append(f"{gathered.dropped} instruction or state rows are malformed and left out.")
    return gathered


def _read_wave(raw: bytes, name: str, span: Span, into: Gathered) -> None:
    instructions, rest = js.take_rows(raw, "instructions", 5)
    timeline, rest = js.take_rows(rest, "timeline", 2)
    document = js.parse(rest)
    wave = document.get("wave") if isinstance(document, dict) else None
    if not isinstance(wave, dict):
        raise js.UnreadableError("no `wave` in it")
    dropped = 0
    if instructions is None:
        instructions, dropped = js.integer_rows(wave.get("instructions"), 5)
    if timeline is None:
        timeline, bad = js.integer_rows(wave.get("timeline"), 2)
        dropped += bad
    instructions, bad = _in_range(instructions, (_LIMIT, 127, *[js.INT32_MAX] * 3))
    dropped += bad
    timeline, bad = _in_range(timeline, (127, js.INT32_MAX))
    dropped += bad
    if (instructions[:, 2:4] < 0).any() or (timeline[:, 1] < 0).any():
        raise BadInput(
            f"{name} holds a negative number of cycles, so it is no wave of a thread trace."
        )
    begin = js.as_int(wave.get("begin"), span[0] if span else _ABSENT)
    end = js.as_int(wave.get("end"), span[1] if span else _ABSENT)
    if _ABSENT in (begin, end) or end < begin:
        raise js.UnreadableError("its begin and end make no sense")
    se, simd, slot, wave_id = _coordinates(name)
    into.rows.append(
        (
            se,
            js.as_small(wave.get("simd"), simd),
            js.as_small(wave.get("slot"), slot),
            wave_id,
            js.as_small(wave.get("cu")),
            begin,
            end,
            js.as_int(document.get("num_insts")),
            js.as_int(document.get("num_stitched")),
        )
    )
    time, category, stall, duration, line = instructions.T
    into.instruction_rows.append(
        (
            time.copy(),
            category.astype(np.int8),
            stall.astype(np.int32),
            duration.astype(np.int32),
            line.astype(np.int32),
        )
    )
    into.state_rows.append(timeline)
    into.waits_in_wave.append(_read_waits(wave.get("waitcnt"), into))
    into.dropped += dropped


def _in_range(rows: js.Rows, limits: Sequence[int]) -> tuple[js.Rows, int]:
    good = (np.abs(rows) <= np.array(limits, dtype=np.int64)).all(axis=1)
    return (rows, 0) if good.all() else (rows[good], int((~good).sum()))


def _read_waits(value: object, into: Gathered) -> int:
    """[[line, [[dependency, 0], …]], …]; a dependency may also stand there as a bare number."""
    entries = value if isinstance(value, list) else []
    try:
        lines = [entry[0] for entry in entries]
        found = [[dependency[0] for dependency in entry[1]] for entry in entries]
    except (TypeError, LookupError):
        lines, found = [], []
    if not lines or not _are_lines([*lines, *chain.from_iterable(found)]):
        kept = [entry for entry in map(_wait_entry, entries) if entry is not None]
        lines, found = [line for line, _ in kept], [dependencies for _, dependencies in kept]
    into.wait_line += lines
    into.wait_size += map(len, found)
    into.dependency += chain.from_iterable(found)
    return len(lines)


def _are_lines(numbers: list[Any]) -> bool:
    if set(map(type, numbers)) != {int}:
        return False
    return bool(min(numbers) >= 0 and max(numbers) <= js.INT32_MAX)


def _wait_entry(entry: object) -> tuple[int, list[int]] | None:
    """One entry at a time, for lists that are not quite as they should be."""
    if not (isinstance(entry, list) and len(entry) >= 2 and isinstance(entry[1], list)):
        return None
    numbers = [entry[0], *(d[0] if isinstance(d, list) and d else d for d in entry[1])]
    return (numbers[0], numbers[1:]) if len(numbers) > 1 and _are_lines(numbers) else None
