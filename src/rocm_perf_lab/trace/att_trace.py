"""What a decoded thread trace (one `ui_output_*` folder) holds, as numpy columns.

Times are shader clocks of the traced shader engine. Line numbers are the profiler's own: they
name rows of `Code`, which is why waves, dependencies and code fit together without addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.trace.trace import IndexColumn, IntColumn

ByteColumn = npt.NDArray[np.int8]
BoolColumn = npt.NDArray[np.bool_]

NOT_RECORDED = -1  # in Code.hit and its kin: the file has no such column


@dataclass(frozen=True)
class AttFolder:
    """A `ui_output_*` folder and what lies beside it."""

    path: Path
    agent_handle: int | None  # rocpd_info_agent.extdata.id.handle
    dispatch_id: int | None
    stats_csv: Path | None
    databases: tuple[Path, ...]
    architecture: str | None = None  # by the code objects beside it, e.g. gfx942
    process_ids: tuple[int, ...] = ()  # of the processes whose raw trace of it lies beside


@dataclass(frozen=True)
class Code:
    """One row per line of code.json, in its order; a label row names the kernel that follows."""

    isa: tuple[str, ...]
    source: tuple[str, ...]  # "file:line", callers of inlined code after " -> "; "" if unknown
    label: BoolColumn
    line: IntColumn
    codeobj: IntColumn
    vaddr: IntColumn
    hit: IntColumn
    latency: IntColumn
    stall: IntColumn
    idle: IntColumn

    def __len__(self) -> int:
        return len(self.line)


@dataclass(frozen=True)
class StatsCsv:
    """The profiler's own sums per instruction, labels left out."""

    codeobj: IntColumn
    vaddr: IntColumn
    hit: IntColumn
    latency: IntColumn
    stall: IntColumn
    idle: IntColumn

    def __len__(self) -> int:
        return len(self.vaddr)


@dataclass(frozen=True)
class Waves:
    """One row per traced wave, ordered by (se, simd, slot, wave_id).

    `first` has one element more than there are waves: wave w owns instructions
    first[w]:first[w + 1]. The two offsets that follow do the same for states and dependencies.
    """

    se: IndexColumn
    simd: IndexColumn
    slot: IndexColumn
    wave_id: IndexColumn
    cu: IndexColumn
    begin: IntColumn
    end: IntColumn
    num_insts: IntColumn  # as the profiler counted; -1 not recorded
    num_stitched: IntColumn
    first: IntColumn
    first_state: IntColumn
    first_wait: IntColumn

    def __len__(self) -> int:
        return len(self.begin)


@dataclass(frozen=True)
class Instructions:
    """One row per executed instruction, wave by wave, in execution order."""

    wave: IndexColumn
    time: IntColumn  # first attempt to issue; issued at time + stall, done at time + duration
    category: ByteColumn
    stall: IndexColumn
    duration: IndexColumn
    line: IndexColumn

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True)
class States:
    """One row per stretch of a wave in one state, end to end from the wave's begin."""

    wave: IndexColumn
    state: ByteColumn
    duration: IntColumn


@dataclass(frozen=True)
class WaitDependencies:
    """One row per recorded wait that found something outstanding, in execution order.

    Row r waits for the lines dependency[first[r]:first[r + 1]].
    """

    wave: IndexColumn
    line: IndexColumn
    first: IntColumn
    dependency: IndexColumn

    def __len__(self) -> int:
        return len(self.line)


@dataclass(frozen=True)
class OccupancyEvents:
    """Waves starting and ending on every compute unit of the traced shader engines."""

    se: IndexColumn
    time: IntColumn
    cu: IndexColumn
    simd: IndexColumn
    slot: IndexColumn
    start: BoolColumn
    kernel: IndexColumn

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True)
class Realtime:
    """Pairs of shader clock and constant-rate clock readings."""

    se: IndexColumn
    shader_clock: IntColumn
    realtime_clock: IntColumn
    frequency_hz: int | None


@dataclass(frozen=True)
class PerfCounters:
    se: IndexColumn
    time: IntColumn
    events: npt.NDArray[np.int64]  # (n, 4)
    cu: IndexColumn
    bank: IndexColumn


@dataclass(frozen=True)
class AttTrace:
    folder: AttFolder
    gfxip: int | None  # 9, 10, 11, 12
    code: Code
    code_is_null: bool  # code.json says `"code": null`: the decoder saw no wave
    thread_trace: bool  # False: the folder holds PC samples only
    stats: StatsCsv | None
    waves: Waves
    instructions: Instructions
    states: States
    waits: WaitDependencies
    occupancy: OccupancyEvents
    occupancy_kernels: Mapping[int, str]
    realtime: Realtime
    perf_counters: PerfCounters
    counter_names: tuple[str, ...]
    waves_listed: int  # wave files that filenames.json names, or that lie there without it
    waves_missing: int
    waves_unreadable: int
    rows_dropped: int  # instruction rows that are not five small integers
    notes: tuple[str, ...]  # what was missing, mended or doubted, in sentences


def int_column(values: object) -> IntColumn:
    return np.asarray(values, dtype=np.int64)


def index_column(values: object) -> IndexColumn:
    return np.asarray(values, dtype=np.int32)
