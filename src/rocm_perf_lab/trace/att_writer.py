"""Write a decoded thread trace exactly as rocprofv3 --att does: files, keys, order, quoting."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

HEADER = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"
VERSION = "3.0.0"

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CodeLine:
    """A line of code; its number is its place in the list. "; name" makes it a kernel's label."""

    isa: str
    source: str = ""
    codeobj: int = 1
    vaddr: int = 0

    @property
    def is_label(self) -> bool:
        return self.isa.startswith(";")


@dataclass(frozen=True)
class Wave:
    se: int
    simd: int
    slot: int
    cu: int
    begin: int
    end: int
    instructions: Rows  # (n, 5): time, category, stall, duration, line
    timeline: Rows  # (n, 2): state, duration
    waits: Sequence[tuple[int, Sequence[int]]] = ()  # line, the lines it waits for


@dataclass(frozen=True)
class Content:
    code: Sequence[CodeLine]
    waves: Sequence[Wave]
    gfxip: int = 9
    # Per shader engine: time, cu, simd, slot, 1 start or 0 end, kernel id
    occupancy: Mapping[int, Sequence[Sequence[int]]] = field(default_factory=dict)
    kernels: Mapping[int, str] = field(default_factory=dict)
    realtime: Mapping[int, Sequence[Sequence[int]]] = field(default_factory=dict)
    realtime_frequency_hz: int = 100_000_000
    perf_counters: Mapping[int, Sequence[Sequence[int]]] = field(default_factory=dict)
    counter_names: Sequence[str] = ()


def write(content: Content, directory: Path, *, agent_handle: int, dispatch_id: int) -> Path:
    """Write the `ui_output_*` folder and its stats CSV under `directory`; returns the folder."""
    folder = directory / f"ui_output_agent_{agent_handle}_dispatch_{dispatch_id}"
    folder.mkdir(parents=True)
    sums = line_sums(content.code, content.waves)
    _dump(folder / "code.json", _code(content.code, sums))
    (directory / f"stats_{folder.name}.csv").write_text(_stats(content.code, sums))
    listing: dict[str, Any] = {}
    counts: dict[tuple[int, int, int], int] = {}
    for wave in content.waves:
        if not len(wave.instructions) and len(wave.timeline) < 3:
            continue  # the profiler writes no file for a wave of which it saw nothing
        place = (wave.se, wave.simd, wave.slot)
        wave_id = counts[place] = counts.get(place, -1) + 1
        name = f"se{wave.se}_sm{wave.simd}_sl{wave.slot}_wv{wave_id}.json"
        slots = listing.setdefault(str(wave.se), {}).setdefault(str(wave.simd), {})
        slots.setdefault(str(wave.slot), {})[str(wave_id)] = [name, wave.begin, wave.end]
        _dump(folder / name, _wave(wave, wave_id))
    _dump(folder / "filenames.json", _filenames(content, listing))
    _dump(folder / "occupancy.json", _occupancy(content))
    for state in range(1, 5):
        name = f"wstates{state}.json"
        if curve := _state_curve(state, content.waves):
            _dump(folder / name, {"name": name, **curve})
    if content.realtime:
        _dump(folder / "realtime.json", _realtime(content))
    for engine, rows in content.perf_counters.items():
        _dump(folder / f"se{engine}_perfcounter.json", {"data": [list(row) for row in rows]})
    return folder


def line_sums(code: Sequence[CodeLine], waves: Sequence[Wave]) -> Rows:
    """Hit, latency, stall and idle of every code line, as the profiler adds them up."""
    sums = np.zeros((len(code), 4), dtype=np.int64)
    is_label = np.array([line.is_label for line in code], dtype=np.bool_)
    for wave in waves:
        # An instruction without an address is recorded as line 0 and not counted.
        time, _, stall, duration, line = wave.instructions[~is_label[wave.instructions[:, 4]]].T
        busy_until = np.maximum.accumulate(np.concatenate([[wave.begin], time + duration]))
        idle = np.maximum(time - busy_until[:-1], 0)
        np.add.at(sums, line, np.stack([np.ones_like(time), duration, stall, idle], axis=1))
    return sums


def _dump(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, sort_keys=True, separators=(",", ":")))


def _code(code: Sequence[CodeLine], sums: Rows) -> dict[str, Any]:
    rows = [
        [line.isa, 0, number, line.source, line.codeobj, line.vaddr, *sums[number].tolist()]
        for number, line in enumerate(code)
    ]
    return {"code": rows or None, "header": HEADER, "version": VERSION}


def _stats(code: Sequence[CodeLine], sums: Rows) -> str:
    text = io.StringIO()
    table = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    table.writerow(
        ["CodeObj", "Vaddr", "Instruction", "Hitcount", "Latency", "Stall", "Idle", "Source"]
    )
    order = sorted(range(len(code)), key=lambda n: (code[n].codeobj, code[n].vaddr, n))
    for number in order:
        line = code[number]
        counts = sums[number].tolist()
        table.writerow([line.codeobj, line.vaddr, line.isa, *counts, line.source])
    return text.getvalue()


def _wave(wave: Wave, wave_id: int) -> dict[str, Any]:
    waits = [[line, [[number, 0] for number in found]] for line, found in wave.waits if found]
    return {
        "duration": wave.end - wave.begin,
        "name": f"SE{wave.se}",
        "num_insts": len(wave.instructions),
        "num_stitched": len(wave.instructions),
        "wave": {
            "begin": wave.begin,
            "cu": wave.cu,
            "end": wave.end,
            "id": wave_id,
            # An empty list is never begun, and so is null.
            "instructions": wave.instructions.tolist() or None,
            "simd": wave.simd,
            "slot": wave.slot,
            "timeline": wave.timeline.tolist() or None,
            "waitcnt": waits or None,
        },
    }


def _filenames(content: Content, listing: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "counter_names": list(content.counter_names),
        "gfxip": content.gfxip,
        "gfxv": "navi" if content.gfxip > 9 else "vega",
        "global_begin_time": 0,
        "version": VERSION,
        "wave_filenames": listing or None,
    }


def _occupancy(content: Content) -> dict[str, Any]:
    return {
        **{str(engine): [list(row) for row in rows] for engine, rows in content.occupancy.items()},
        "dispatches": {str(number): name for number, name in content.kernels.items()},
        "version": VERSION,
    }


def _state_curve(state: int, waves: Sequence[Wave]) -> dict[str, list[int]]:
    """How many waves are in `state`, as a step function."""
    change: dict[int, int] = {}
    for wave in waves:
        clock = wave.begin
        for found, duration in wave.timeline.tolist():
            if found == state:
                change[clock] = change.get(clock, 0) + 1
                change[clock + duration] = change.get(clock + duration, 0) - 1
            clock += duration
    times = sorted(change)
    levels = np.cumsum([change[time] for time in times], dtype=np.int64)
    return {"state": levels.tolist(), "time": times} if times else {}


def _realtime(content: Content) -> dict[str, Any]:
    metadata = {
        "descriptor": "[gfx_clock, realtime_clock]",
        "frequency": content.realtime_frequency_hz,
    }
    engines = {f"SE{e}": [list(row) for row in rows] for e, rows in content.realtime.items()}
    return {**engines, "metadata": metadata}
