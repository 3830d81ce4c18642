"""What a trace holds, as numpy columns: the one shape every reader fills and every analysis reads.

A `Trace` is what one profiled process recorded, or several of them merged. Ids in the files are
unique only per (file, guid), so readers replace them by dense indices into the tuples kept here;
-1 means "not recorded". Times are nanoseconds of the recording machine's clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

IntColumn = npt.NDArray[np.int64]
IndexColumn = npt.NDArray[np.int32]
FloatColumn = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Source:
    """A file a trace was read from."""

    path: Path
    sha256: str
    format: str  # "rocpd" | "rocprofv3-json" | "csv" | "kineto"
    schema_version: str | None  # as detected from tables and columns, e.g. "3.0.2"


@dataclass(frozen=True)
class Process:
    pid: int | None = None
    parent_pid: int | None = None
    guid: str | None = None
    command: str | None = None  # never the environment: it holds secrets
    hostname: str | None = None
    machine_id: str | None = None
    start_ns: int | None = None  # of the process as recorded, or its first record
    end_ns: int | None = None
    source: int = 0  # index into Trace.sources


@dataclass(frozen=True)
class Agent:
    """A device. `properties` are the scalar facts the profiler recorded about it."""

    process: int
    kind: str  # "GPU" | "CPU" | "NIC"
    architecture: str  # "gfx942"
    model_name: str
    product_name: str
    handle: int | None = None  # names ui_output_agent_<handle>_… folders
    index: int | None = None  # node (absolute) index
    properties: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class KernelSymbol:
    """A kernel as loaded. VGPR counts are the true ones; `corrections` says what was mended."""

    process: int
    name: str  # demangled, as recorded
    mangled_name: str | None = None
    code_object_id: int | None = None
    sgprs: int | None = None
    arch_vgprs: int | None = None
    accum_vgprs: int | None = None
    total_vgprs: int | None = None  # allocated per lane, arch + accum
    static_lds_bytes: int | None = None
    scratch_bytes: int | None = None
    corrections: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dispatches:
    """One row per kernel launch, ordered by (start_ns, end_ns, process, dispatch_id)."""

    process: IndexColumn
    kernel: IndexColumn  # -> Trace.kernels
    agent: IndexColumn  # -> Trace.agents
    queue: IndexColumn  # dense over (process, queue id)
    stream: IndexColumn  # dense over (process, stream id), shared with Copies and Regions
    thread: IndexColumn  # dense over (process, tid), shared with Regions
    dispatch_id: IntColumn
    correlation: IntColumn  # internal correlation id (rocpd_event.stack_id), -1 unknown
    start_ns: IntColumn
    end_ns: IntColumn
    lds_bytes: IntColumn  # of the dispatch, dynamic included
    scratch_bytes: IntColumn
    workgroup: npt.NDArray[np.int32]  # (n, 3)
    grid: npt.NDArray[np.int64]  # (n, 3), in work-items
    graph_exec: IntColumn  # -1: not launched by a graph, or not recorded
    graph_node: IntColumn

    def __len__(self) -> int:
        return len(self.start_ns)


@dataclass(frozen=True)
class Copies:
    """One row per memory copy, ordered by start."""

    process: IndexColumn
    kind: IndexColumn  # -> Trace.strings, e.g. MEMORY_COPY_HOST_TO_DEVICE
    stream: IndexColumn
    thread: IndexColumn
    src_agent: IndexColumn
    dst_agent: IndexColumn
    correlation: IntColumn
    start_ns: IntColumn
    end_ns: IntColumn
    size_bytes: IntColumn

    def __len__(self) -> int:
        return len(self.start_ns)


@dataclass(frozen=True)
class Regions:
    """One row per host API call (HIP, HSA, markers), zero-length calls included, by start.

    The handles are the pointer values of the call's arguments: 0 is the null (default) handle,
    -1 means that the call has no such argument or that it was not recorded.
    """

    process: IndexColumn
    thread: IndexColumn
    name: IndexColumn  # -> Trace.strings, e.g. hipLaunchKernel
    category: IndexColumn  # -> Trace.strings, e.g. HIP_RUNTIME_API_EXT; -1 unknown
    correlation: IntColumn
    start_ns: IntColumn
    end_ns: IntColumn
    stream_handle: IntColumn
    event_handle: IntColumn
    flags: IntColumn

    def __len__(self) -> int:
        return len(self.start_ns)


@dataclass(frozen=True)
class Operators:
    """A framework's operators, and which of them launched the work of a correlation id."""

    names: tuple[str, ...]
    process: IndexColumn
    thread: IntColumn  # dense over (process, tid), shared with Regions
    name: IndexColumn  # -> names
    start_ns: IntColumn
    end_ns: IntColumn
    launch_process: IndexColumn  # one row per launch with a known operator
    launch_correlation: IntColumn
    launch_operator: IndexColumn  # -> rows of the columns above

    def __len__(self) -> int:
        return len(self.start_ns)


@dataclass(frozen=True)
class Frames:
    """What the host's program ran, as it names it: Python functions, modules, annotated ranges."""

    names: tuple[str, ...]  # "train.py(12): load"
    process: IndexColumn
    thread: IntColumn  # dense over (process, tid), shared with Regions
    name: IndexColumn  # -> names
    start_ns: IntColumn
    end_ns: IntColumn

    def __len__(self) -> int:
        return len(self.start_ns)


@dataclass(frozen=True)
class Counter:
    """One hardware counter over all dispatches; NaN where it was not collected.

    A counter has one value per hardware instance (XCC, shader engine, channel): `total` sums
    them, `maximum` is the largest, `instances` how many there were.
    """

    total: FloatColumn
    maximum: FloatColumn
    instances: IndexColumn


@dataclass(frozen=True)
class Trace:
    sources: tuple[Source, ...]
    processes: tuple[Process, ...]
    agents: tuple[Agent, ...]
    kernels: tuple[KernelSymbol, ...]
    strings: tuple[str, ...]
    dispatches: Dispatches
    copies: Copies
    regions: Regions
    counters: Mapping[str, Counter]  # by counter name, each of len(dispatches)
    virtual: bool = False  # recorded on a virtual GPU: a metadata row says so
    operators: Operators | None = None
    frames: Frames | None = None
    allocated_bytes: int | None = None  # the most device memory held at once, where recorded
    detailed: Mapping[str, float] = field(default_factory=dict)  # kernel -> part simulated
    # kernel -> standard error of its modelled time from simulating a part, as a share
    sampling_error: Mapping[str, float] = field(default_factory=dict)
    rocm_version: str | None = None
    notes: tuple[str, ...] = ()  # what the reader mended, dropped or doubts, in sentences
