"""Thread traces (rocprofv3 --att): `find` the decoded folders, `read` one into columns.

What is missing or broken inside a folder is counted and said in `AttTrace.notes`; only a
folder that is no thread trace at all is an error.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rocm_perf_lab.errors import BadInput
from rocm_perf_lab.trace import att_json as js
from rocm_perf_lab.trace.att_trace import (
    NOT_RECORDED,
    AttFolder,
    AttTrace,
    Code,
    OccupancyEvents,
    PerfCounters,
    Realtime,
    StatsCsv,
    int_column,
)
from rocm_perf_lab.trace.att_waves import read_waves, wave_files
from rocm_perf_lab.trace.trace import IndexColumn

__all__ = ["AttFolder", "AttTrace", "find", "read"]

_FOLDER = re.compile(r"ui_output_agent_(\d{1,18})_dispatch_(\d{1,18})")
_RAW = re.compile(r"(\d{1,10})_(\d{1,18})_shader_engine_\d+_(\d{1,18})\.att")
_OBJECT = re.compile(r"_(gfx[0-9a-f]{3,4})_code_object_id_\d+\.out$")
_COUNTS = ("hit", "latency", "stall", "idle")


def find(paths: Path | Sequence[Path]) -> list[AttFolder]:
    """The decoded thread traces at or under the given paths, by dispatch, agent and path."""
    roots = [paths] if isinstance(paths, Path) else list(paths)
    found: dict[Path, AttFolder] = {}
    raw_traces = 0
    for root in roots:
        if not root.is_dir():
            raise BadInput(
                f"{root} is not a folder.",
                hint="Name the folder given to rocprofv3 -d, or a ui_output_agent_* folder in it.",
            )
        for folder, names in _walk(root):
            raw_traces += sum(name.endswith(".att") for name in names)
            if "code.json" in names or folder.name.startswith("ui_output_"):
                found.setdefault(folder.resolve(), _describe(folder))
    if not found:
        where = ", ".join(str(root) for root in roots) or "an empty list of folders"
        if raw_traces:
            raise BadInput(
                f"{where} holds {raw_traces} raw .att files but no decoded ui_output_* folder.",
                hint="Run rocprofv3 --att with librocprof-trace-decoder.so on --att-library-path.",
            )
        raise BadInput(
            f"No ui_output_* folder of a thread trace in {where}.",
            hint="Record one with rocprofv3 --att --output-format csv json.",
        )
    return sorted(
        found.values(),
        key=lambda f: (f.dispatch_id or 0, f.agent_handle or 0, str(f.path)),
    )


def _walk(root: Path) -> Iterator[tuple[Path, list[str]]]:
    for here, below, names in os.walk(root):
        folder = Path(here)
        if folder.name.startswith("ui_output_"):
            below.clear()
        below.sort()
        yield folder, names


def _describe(folder: Path) -> AttFolder:
    match = _FOLDER.match(folder.resolve().name)
    stats = folder.parent / f"stats_{folder.name}.csv"
    databases = {*folder.parent.glob("*_results.db"), *folder.parent.glob("*/*_results.db")}
    agent, dispatch = (int(match[1]), int(match[2])) if match else (None, None)
    return AttFolder(
        path=folder,
        agent_handle=agent,
        dispatch_id=dispatch,
        stats_csv=stats if stats.is_file() else None,
        databases=tuple(sorted(databases)),
        architecture=_architecture(folder.parent),
        process_ids=_process_ids(folder.parent, agent, dispatch),
    )


def _architecture(beside: Path) -> str | None:
    """That of the code objects the decoder read, if they are of one."""
    objects = [*beside.glob("*_code_object_id_*.out"), *beside.glob("*/*_code_object_id_*.out")]
    found = {match[1] for path in objects if (match := _OBJECT.search(path.name))}
    return found.pop() if len(found) == 1 else None


def _process_ids(beside: Path, agent: int | None, dispatch: int | None) -> tuple[int, ...]:
    """Of the raw traces that the folder may have been decoded from: their names begin with it."""
    raw = [*beside.glob("*.att"), *beside.glob("*/*.att")]
    found = (_RAW.fullmatch(path.name) for path in raw)
    mine = {int(m[1]) for m in found if m and (int(m[2]), int(m[3])) == (agent, dispatch)}
    return tuple(sorted(mine))


def read(folder: Path | AttFolder) -> AttTrace:
    """Read one `ui_output_*` folder."""
    place = folder if isinstance(folder, AttFolder) else _describe(folder)
    if not place.path.is_dir():
        raise BadInput(f"{place.path} is not a folder.")
    notes: list[str] = []
    stats_rows = _stats_rows(place, notes)
    code, code_is_null = _read_code(place, stats_rows, notes)
    names = _optional(place.path / "filenames.json", notes, expected=True)
    files, refused = wave_files(place.path, names, notes)
    gathered = read_waves(place.path, files, notes)
    counters = names.get("counter_names")
    occupancy, kernels = _read_occupancy(place.path, notes)
    return AttTrace(
        folder=place,
        gfxip=_gfxip(names),
        code=code,
        code_is_null=code_is_null,
        thread_trace=bool(names.get("thread_trace", True)),
        stats=_stats(stats_rows),
        waves=gathered.waves(),
        instructions=gathered.instructions(),
        states=gathered.states(),
        waits=gathered.wait_dependencies(),
        occupancy=occupancy,
        occupancy_kernels=kernels,
        realtime=_read_realtime(place.path, notes),
        perf_counters=_read_perf_counters(place.path, notes),
        counter_names=tuple(js.as_text(n) for n in counters) if isinstance(counters, list) else (),
        waves_listed=len(files) + refused,
        waves_missing=refused + gathered.missing,
        waves_unreadable=len(gathered.unreadable),
        rows_dropped=gathered.dropped,
        notes=tuple(notes),
    )


def _optional(path: Path, notes: list[str], *, expected: bool = False) -> dict[str, Any]:
    """A JSON object that may be absent: then, or when it is broken, an empty one and a note."""
    try:
        return js.load_object(path)
    except js.UnreadableError as error:
        if expected or str(error) != "missing":
            notes.append(f"{path.name}: {error}.")
        return {}


def _gfxip(names: Mapping[str, Any]) -> int | None:
    value = js.as_small(names.get("gfxip"))
    if value > 0:
        return value
    return 9 if names.get("gfxv") == "vega" else None


# --- code and its sums -------------------------------------------------------------------


def _stats_rows(place: AttFolder, notes: list[str]) -> list[Mapping[str, object]] | None:
    if place.stats_csv is None:
        return None
    try:
        rows = js.csv_rows(place.stats_csv)
    except js.UnreadableError as error:
        notes.append(f"{place.stats_csv.name}: {error}.")
        return None
    if not rows:
        notes.append(f"{place.stats_csv.name} holds its header and nothing else.")
    return rows


def _stats(rows: list[Mapping[str, object]] | None) -> StatsCsv | None:
    if rows is None:
        return None
    kept = [r for r in rows if not _is_label(js.as_text(r.get("isa")))]
    columns = {
        name: int_column([js.as_int(row.get(name), 0) for row in kept])
        for name in ("codeobj", "vaddr", *_COUNTS)
    }
    return StatsCsv(**columns)


def _is_label(isa: str) -> bool:
    return isa.lstrip().startswith(";")


def _read_code(
    place: AttFolder, stats_rows: list[Mapping[str, object]] | None, notes: list[str]
) -> tuple[Code, bool]:
    path = place.path / "code.json"
    is_null = False
    try:
        rows, is_null = js.code_rows(js.load(path), path)
    except js.UnreadableError as error:
        if not stats_rows:
            raise BadInput(
                f"{path} is {error}, so {place.path.name} is not a usable thread trace."
                if str(error) == "missing"
                else f"{path} cannot be used: {error}.",
                hint="Record it again with rocprofv3 --att --output-format csv json.",
            ) from None
        notes.append(f"code.json: {error}; the code lines come from {_name(place.stats_csv)}.")
        rows = [{**row, "line": index} for index, row in enumerate(stats_rows)]
    if any(js.as_int(row.get(name), 0) < 0 for row in rows for name in _COUNTS):
        raise BadInput(
            f"{path} holds a negative count or number of cycles, so it is no thread trace's code."
        )
    kept = [row for row in rows if isinstance(row.get("isa"), str) and "line" in row]
    if len(kept) < len(rows):
        notes.append(f"code.json: {len(rows) - len(kept)} lines without text or number left out.")
    isa = tuple(js.as_text(row["isa"]) for row in kept)
    columns = {
        name: int_column([js.as_int(row.get(name), NOT_RECORDED) for row in kept])
        for name in ("line", "codeobj", "vaddr", *_COUNTS)
    }
    source = tuple(js.as_text(row.get("source")) for row in kept)
    label = np.array([_is_label(text) for text in isa], dtype=np.bool_)
    return Code(isa=isa, source=source, label=label, **columns), is_null


def _name(path: Path | None) -> str:
    return path.name if path else "the stats CSV"


# --- the files about the whole shader engine ----------------------------------------------


def _rows_by_engine(
    document: Mapping[str, Any], width: int, prefix: str = ""
) -> Iterator[tuple[int, js.Rows]]:
    """Lists of integer rows under keys that are (or end in) a shader engine's number."""
    for key in sorted(document, key=lambda key: (len(key), key)):
        if key.startswith(prefix) and key[len(prefix) :].isdecimal():
            rows, _ = js.integer_rows(document[key], width)
            yield js.as_small(key[len(prefix) :]), rows


def _stack(parts: Sequence[tuple[int, js.Rows]], width: int) -> tuple[js.Rows, js.Rows]:
    """The engine of every row, and the rows."""
    if not parts:
        return np.empty(0, dtype=np.int64), np.empty((0, width), dtype=np.int64)
    engines = np.concatenate([np.full(len(rows), engine) for engine, rows in parts])
    return engines, np.concatenate([rows for _, rows in parts])


def _small(column: js.Rows) -> IndexColumn:
    return np.clip(column, -js.INT32_MAX, js.INT32_MAX).astype(np.int32)


def _read_occupancy(folder: Path, notes: list[str]) -> tuple[OccupancyEvents, dict[int, str]]:
    document = _optional(folder / "occupancy.json", notes, expected=True)
    # Newer files have more columns, and name them; the first six have kept their places.
    engines, rows = _stack(list(_rows_by_engine(document, 6)), 6)
    kernels = document.get("dispatches")
    names = {
        js.as_small(key): js.as_text(value)
        for key, value in (kernels.items() if isinstance(kernels, dict) else ())
    }
    events = OccupancyEvents(
        se=_small(engines),
        time=rows[:, 0],
        cu=_small(rows[:, 1]),
        simd=_small(rows[:, 2]),
        slot=_small(rows[:, 3]),
        start=rows[:, 4] != 0,
        kernel=_small(rows[:, 5]),
    )
    return events, names


def _read_realtime(folder: Path, notes: list[str]) -> Realtime:
    document = _optional(folder / "realtime.json", notes)
    engines, rows = _stack(list(_rows_by_engine(document, 2, prefix="SE")), 2)
    metadata = document.get("metadata")
    frequency = js.as_int(metadata.get("frequency")) if isinstance(metadata, dict) else -1
    return Realtime(
        se=_small(engines),
        shader_clock=rows[:, 0],
        realtime_clock=rows[:, 1],
        frequency_hz=frequency if frequency > 0 else None,
    )


def _read_perf_counters(folder: Path, notes: list[str]) -> PerfCounters:
    parts = []
    for path in sorted(folder.glob("se*_perfcounter.json")):
        engine = path.name[2 : -len("_perfcounter.json")]
        if engine.isdecimal():
            rows, _ = js.integer_rows(_optional(path, notes).get("data"), 7)
            parts.append((js.as_small(engine), rows))
    engines, rows = _stack(sorted(parts, key=lambda part: part[0]), 7)
    return PerfCounters(
        se=_small(engines),
        time=rows[:, 0],
        events=rows[:, 1:5],
        cu=_small(rows[:, 5]),
        bank=_small(rows[:, 6]),
    )
