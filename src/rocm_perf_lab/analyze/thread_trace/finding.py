"""What a thread trace says about a kernel. Definitions of every number: docs/thread-trace.md.

Parts that the files show as they are stand in the schema as these very classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rocm_perf_lab.analyze.thread_trace.residency import EngineOccupancy, WaveDurations
from rocm_perf_lab.analyze.thread_trace.sums import Agreement, Sums
from rocm_perf_lab.analyze.thread_trace.traffic import Traffic
from rocm_perf_lab.trace.trace import IntColumn


@dataclass(frozen=True)
class Lines:
    """One row per instruction of the code, in the profiler's order."""

    isa: tuple[str, ...]
    source: tuple[str, ...]
    kernel: IntColumn  # -> ThreadTraceFinding.kernels, -1 unknown
    kind: npt.NDArray[np.int8]  # -> classes.CLASSES
    number: IntColumn
    codeobj: IntColumn
    vaddr: IntColumn
    sums: Sums

    def __len__(self) -> int:
        return len(self.isa)


@dataclass(frozen=True)
class Totals:
    """Sums over some instructions, in cycles but for `hit`."""

    name: str
    hit: int
    latency: int = field(metadata={"description": "from the first attempt to issue until done"})
    stall: int
    idle: int = field(
        metadata={"description": "between the end of the instruction before and this one"}
    )


@dataclass(frozen=True)
class WaitsFor:
    """A memory instruction that a wait waited for."""

    number: int
    isa: str
    source: str | None
    kind: str
    cycles: float
    share: float = field(metadata={"description": "of the cycles of the wait"})
    inferred: bool = field(metadata={"description": "from operands, not recorded"})


@dataclass(frozen=True)
class StallSite:
    number: int
    vaddr: int
    isa: str
    source: str | None
    kind: str
    reason: str  # "memory wait" | "barrier" | "issue stall" | "delay" | "end of wave"
    hit: int
    cycles: int
    share: float  # of all cycles of traced waves
    waits_for: tuple[WaitsFor, ...]


@dataclass(frozen=True)
class ExposedLatency:
    """A memory instruction and the cycles waits lost on it: what was not hidden."""

    number: int
    isa: str
    source: str | None
    kind: str
    hit: int
    cycles: float
    cycles_per_hit: float
    share: float  # of all cycles of traced waves


@dataclass(frozen=True)
class Access:
    """A vector memory instruction with a remark, and the cycles lost at it and on it."""

    number: int
    isa: str
    source: str | None
    bytes_per_lane: int
    kinds: tuple[str, ...] = field(metadata={"description": "narrow, uncoalesced, repeated"})
    remark: str
    hit: int
    cycles: float = field(metadata={"description": "lost issuing it, and at waits for it"})
    share: float  # of all cycles of traced waves


@dataclass(frozen=True)
class Cause:
    """A part of the waves' time that was not issuing instructions."""

    name: str = field(metadata={"description": "a field of fractions"})
    words: str
    share: float


@dataclass(frozen=True)
class Fractions:
    """Shares of all cycles of traced waves; docs/thread-trace.md defines each."""

    wait_vmem: float
    wait_lds: float
    wait_smem: float
    wait_other: float
    wait_unresolved: float
    barrier: float
    delay: float
    end_of_wave: float
    stall_mfma: float
    stall_valu: float
    stall_vmem: float
    stall_lds: float
    stall_smem: float
    stall_salu: float
    stall_other: float
    issue: float
    between: float
    exec_state: float | None
    wait_state: float | None
    stall_state: float | None
    idle_state: float | None


@dataclass(frozen=True, kw_only=True)
class ThreadTraceSummary:
    """What every file shows of a trace."""

    folder: str
    kernel: str | None = field(metadata={"description": "the kernel it was recorded for"})
    symbols: tuple[str, ...] = field(
        metadata={"description": "labels of the code that was executed"}
    )
    agent_handle: int | None
    dispatch_id: int | None
    gfxip: int | None
    usable: bool
    reason: str | None  # why it is not usable
    hint: str | None
    duration_means: str  # "stall + issue" or "stall + execution"
    sums_from: str  # "waves" | "profiler"
    kernels: tuple[Totals, ...]
    classes: tuple[Totals, ...]
    without_line: Totals
    agreement: tuple[Agreement, ...]
    lines_of_kernel: int | None = field(
        default=None, metadata={"description": "instructions of the kernel it was recorded for"}
    )
    lines_executed: int | None = field(
        default=None, metadata={"description": "of them, those that a traced wave ran"}
    )
    span_cycles: int | None = field(
        default=None,
        metadata={"description": "from the first begin of a traced wave to the last end"},
    )
    waves: WaveDurations | None
    waves_missing: int
    state_cycles: Mapping[str, int] | None
    fractions: Fractions | None
    causes: tuple[Cause, ...] = field(metadata={"description": "of lost time, the largest first"})
    stall_sites: tuple[StallSite, ...]
    accesses: tuple[Access, ...] = field(
        metadata={"description": "narrow, uncoalesced and repeated loads"}
    )
    exposed_latency: tuple[ExposedLatency, ...]
    traffic: Traffic | None = field(
        default=None,
        metadata={"description": "what the executed loads and stores asked for, per lane"},
    )
    fetch_of_between: float | None = field(
        default=None,
        metadata={
            "description": (
                "of the time between instructions, that before entering another 64 B of code"
            )
        },
    )
    waits_recorded_share: float | None  # of memory-wait cycles, by recorded dependencies
    waits_inferred_share: float | None
    issue_utilisation: float | None
    valu_issue_utilisation: float | None
    mfma_issue_utilisation: float | None
    mfma_pipe_utilisation: float | None = field(
        metadata={
            "description": (
                "estimate: matrix instructions x cycles of each, over the traced SIMDs' time"
            )
        }
    )
    mean_waves_per_simd: float | None
    peak_waves_per_simd: int | None
    shader_mhz: float | None
    reasons: Mapping[str, str]  # field that is null -> why
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ThreadTraceFinding(ThreadTraceSummary):
    process_ids: tuple[int, ...]  # that it may be of; () not known
    lines: Lines
    source_lines: tuple[Totals, ...]
    small_reads: tuple[Access, ...]  # less than 16 bytes a lane of memory or LDS, in loops
    occupancy: tuple[EngineOccupancy, ...]
