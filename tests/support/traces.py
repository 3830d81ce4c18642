"""Traces for tests, said in a few words.

    trace = (
        TraceBuilder()
        .call("hipLaunchKernel", 0, 5, correlation=1, stream=0x10)
        .dispatch("gemm", 10, 30, stream=1, correlation=1, counters={"SQ_WAVES": [4, 4]})
        .copy("MEMORY_COPY_DEVICE_TO_HOST", 30, 40, size=4096)
        .build()
    )

Times are nanoseconds, ids whatever is convenient; the builder numbers them as a reader would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rocm_perf_lab.analyze.counters import JoinedCounters
from rocm_perf_lab.arch.counters import base_name
from rocm_perf_lab.trace.assemble import Measured, Raw, assemble
from rocm_perf_lab.trace.columns import MISSING
from rocm_perf_lab.trace.trace import Agent, FloatColumn, KernelSymbol, Process, Source, Trace

MI300X = Agent(
    process=0,
    kind="GPU",
    architecture="gfx942",
    model_name="",
    product_name="AMD Instinct MI300X",
    handle=5600,
    index=4,
    properties={
        "cu_count": 304,
        "simd_count": 1216,
        "simd_per_cu": 4,
        "max_waves_per_simd": 8,
        "max_waves_per_cu": 32,
        "lds_size_in_kb": 64,
        "wave_front_size": 64,
        "num_xcc": 8,
        "max_engine_clk_fcompute": 2100,
        "gfx_target_version": 90402,
        "mem_banks": ({"width": 8192, "mem_clk_max": 1300, "size_in_bytes": 206141652992},),
    },
)

Shape = tuple[int, int, int]
Counters = Mapping[str, float | Sequence[float]]  # several values: one per XCC


@dataclass
class TraceBuilder:
    agent: Agent = MI300X
    pid: int = 100
    command: str = "./app"
    machine_id: str = "machine"
    virtual: bool = False
    _kernels: dict[str, KernelSymbol] = field(default_factory=dict)
    _strings: dict[str, int] = field(default_factory=dict)
    _dispatches: list[dict[str, int]] = field(default_factory=list)
    _copies: list[dict[str, int]] = field(default_factory=list)
    _regions: list[dict[str, int]] = field(default_factory=list)
    _counters: list[tuple[int, str, float]] = field(default_factory=list)

    def kernel(self, name: str, **facts: Any) -> TraceBuilder:
        """Say more about a kernel than its name (vgprs, LDS …) before it is dispatched."""
        known: dict[str, Any] = {
            "process": 0,
            "mangled_name": None,
            "code_object_id": 1,
            "sgprs": 16,
            "arch_vgprs": 32,
            "accum_vgprs": 0,
            "total_vgprs": 32,
            "static_lds_bytes": 0,
            "scratch_bytes": 0,
        }
        self._kernels[name] = KernelSymbol(name=name, **{**known, **facts})
        return self

    def dispatch(
        self,
        kernel: str,
        start: int,
        end: int,
        *,
        stream: int = 0,
        queue: int = 0,
        thread: int = 1,
        correlation: int = -1,
        workgroup: Shape = (256, 1, 1),
        grid: Shape = (65536, 1, 1),
        lds: int = 0,
        scratch: int = 0,
        graph_exec: int = -1,
        graph_node: int = -1,
        counters: Counters | None = None,
    ) -> TraceBuilder:
        if kernel not in self._kernels:
            self.kernel(kernel)
        row = len(self._dispatches)
        self._dispatches.append(
            {
                "process": 0,
                "kernel": list(self._kernels).index(kernel),
                "agent": 0,
                "queue": queue,
                "stream": stream,
                "thread": thread,
                "dispatch_id": row + 1,
                "correlation": correlation,
                "start_ns": start,
                "end_ns": end,
                "lds_bytes": lds,
                "scratch_bytes": scratch,
                "graph_exec": graph_exec,
                "graph_node": graph_node,
                **{f"workgroup_{a}": v for a, v in zip("xyz", workgroup, strict=True)},
                **{f"grid_{a}": v for a, v in zip("xyz", grid, strict=True)},
            }
        )
        for name, values in (counters or {}).items():
            each = values if isinstance(values, Sequence) else [values]
            self._counters += [(row, name, float(value)) for value in each]
        return self

    def call(
        self,
        name: str,
        start: int,
        end: int,
        *,
        correlation: int = -1,
        thread: int = 1,
        stream: int | None = None,
        event: int | None = None,
        flags: int | None = None,
        category: str = "HIP_RUNTIME_API_EXT",
    ) -> TraceBuilder:
        """A host API call; stream and event are handles, 0 the null one."""
        self._regions.append(
            {
                "process": 0,
                "thread": thread,
                "name": self._string(name),
                "category": self._string(category),
                "correlation": correlation,
                "start_ns": start,
                "end_ns": end,
                "stream_handle": MISSING if stream is None else stream,
                "event_handle": MISSING if event is None else event,
                "flags": MISSING if flags is None else flags,
            }
        )
        return self

    def copy(
        self,
        kind: str,
        start: int,
        end: int,
        *,
        size: int = 0,
        stream: int = 0,
        thread: int = 1,
        correlation: int = -1,
    ) -> TraceBuilder:
        self._copies.append(
            {
                "process": 0,
                "kind": self._string(kind),
                "stream": stream,
                "thread": thread,
                "src_agent": -1,
                "dst_agent": -1,
                "correlation": correlation,
                "start_ns": start,
                "end_ns": end,
                "size_bytes": size,
            }
        )
        return self

    def build(self, path: str = "test_results.db") -> Trace:
        names = sorted({name for _, name, _ in self._counters})
        return assemble(
            Raw(
                sources=(Source(Path(path), "0" * 64, "rocpd", "3.0.0"),),
                processes=(
                    Process(
                        pid=self.pid,
                        parent_pid=1,
                        guid="0",
                        command=self.command,
                        hostname="host",
                        machine_id=self.machine_id,
                        start_ns=None,
                        end_ns=None,
                        source=0,
                    ),
                ),
                agents=(self.agent,),
                kernels=list(self._kernels.values()),
                strings=list(self._strings),
                dispatches=_columns(self._dispatches),
                copies=_columns(self._copies),
                regions=_columns(self._regions),
                measured=Measured(
                    names=tuple(names),
                    dispatch=np.array([row for row, _, _ in self._counters], dtype=np.int64),
                    counter=np.array(
                        [names.index(n) for _, n, _ in self._counters], dtype=np.int64
                    ),
                    value=np.array([value for _, _, value in self._counters], dtype=np.float64),
                ),
                virtual=self.virtual,
            )
        )

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))


def _columns(rows: list[dict[str, int]]) -> dict[str, Any]:
    if not rows:
        nothing = np.zeros(0, dtype=np.int64)
        return {"start_ns": nothing, "end_ns": nothing}
    return {name: np.array([row[name] for row in rows], dtype=np.int64) for name in rows[0]}


def check_trace(trace: Trace) -> None:
    """What holds for every `Trace`, whatever it was read from."""
    d, c, r = trace.dispatches, trace.copies, trace.regions
    for table in (d, c, r):
        for column in vars(table).values():
            assert len(column) == len(table)
            assert not np.any(column < -1)
        assert np.all(table.end_ns >= table.start_ns)
        assert np.all(np.diff(table.start_ns) >= 0)
        _within(table.process, trace.processes, missing=False)
    _within(d.kernel, trace.kernels, missing=False)
    for column in (d.agent, c.src_agent, c.dst_agent):
        _within(column, trace.agents)
    for column in (c.kind, r.name, r.category):
        _within(column, trace.strings)
    keys = np.stack([d.start_ns, d.end_ns, d.process, d.dispatch_id])
    assert np.array_equal(np.lexsort(keys[::-1]), np.arange(len(d)))
    assert d.workgroup.shape == d.grid.shape == (len(d), 3)
    for counter in trace.counters.values():
        assert len(counter.total) == len(counter.maximum) == len(counter.instances) == len(d)
        known = counter.instances > 0
        assert np.array_equal(known, np.isfinite(counter.total))
        assert np.any(known)
    for process in trace.processes:
        assert 0 <= process.source < len(trace.sources)
        if process.start_ns is not None and process.end_ns is not None:
            assert process.start_ns <= process.end_ns
    names = [*trace.strings, *trace.notes, *(k.name for k in trace.kernels), *trace.counters]
    "".join(names).encode()  # no lone surrogates


def _within(column: Any, items: Sequence[Any], missing: bool = True) -> None:
    assert np.all(column >= (-1 if missing else 0)) and np.all(column < max(len(items), 0))


def per_dispatch(joined: JoinedCounters, counter: str) -> FloatColumn:
    """A counter's total for each dispatch of the timing run; NaN where it has none."""
    column = np.full(len(joined.kernel_of), np.nan)
    for trace, rows in zip(joined.passes, joined.aligned, strict=True):
        for name, values in trace.counters.items():
            if base_name(name) == base_name(counter):
                take = (rows >= 0) & np.isnan(column)
                column[take] = values.total[rows[take]]
    return column
