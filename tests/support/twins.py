"""Twins of recorded kernels: a thread trace made of steps, in a run with calls of a given size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rocm_perf_lab.analyze.thread_trace import ThreadTraceFinding, summarize
from rocm_perf_lab.schema.analysis import KernelVerdict
from rocm_perf_lab.trace.att_writer import CodeLine, Content
from rocm_perf_lab.trace.trace import Agent
from support.analysis import documents
from support.att import code, wave, written
from support.traces import MI300X, TraceBuilder

SMEM, SALU, VMEM, LDS, VALU, JUMP, WAIT, END = 1, 2, 3, 5, 6, 7, 9, 11
# isa, category, stall, issue; a fifth number is idle time before it
Step = tuple[str, int, int, int] | tuple[str, int, int, int, int]
MI350X = replace(
    MI300X,
    architecture="gfx950",
    product_name="AMD Instinct MI350X",
    properties={
        **MI300X.properties,
        "cu_count": 256,
        "simd_count": 1024,
        "lds_size_in_kb": 160,
        "max_engine_clk_fcompute": 2200,
        "gfx_target_version": 90500,
        "mem_banks": ({"width": 8192, "mem_clk_max": 2000, "size_in_bytes": 309220868096},),
    },
)


def traced(
    steps: Sequence[Step],
    folder: Path,
    waves: int = 2,
    lines: Sequence[CodeLine] | None = None,
    dispatch_id: int = 1,
    times: int = 1,
) -> ThreadTraceFinding:
    """Every wave executes the steps one after the other, `times` times, on a SIMD of its own."""
    found = []
    for simd in range(waves):
        now, rows = 0, []
        for _ in range(times):
            for line, (_, category, stall, issue, *idle) in enumerate(steps, 1):
                now += idle[0] if idle else 0
                rows.append([now, category, stall, stall + issue, line])
                now += stall + issue
        found.append(wave(rows, end=now, simd=simd))
    content = Content(code=lines or code(*(step[0] for step in steps)), waves=found)
    return summarize(written(content, folder, dispatch_id))


def run(
    workgroups: int = 8192,
    us: float | Sequence[float] = 500.0,
    block: int = 256,
    agent: Agent = MI300X,
    lds: int = 0,
    gap_us: float = 1.0,
    **kernel: object,
) -> TraceBuilder:
    """Calls of `kernel()`, one for each duration."""
    builder = TraceBuilder(agent=agent)
    builder.kernel("kernel()", **{"mangled_name": "_Z6kernelv", **kernel})
    at = 0
    for each in [us] if isinstance(us, float | int) else us:
        end = at + int(1000 * each)
        grid = (workgroups * block, 1, 1)
        builder.dispatch("kernel()", at, end, grid=grid, workgroup=(block, 1, 1), lds=lds)
        at = end + int(1000 * gap_us)
    return builder


def verdict(att: ThreadTraceFinding, builder: TraceBuilder | None = None) -> KernelVerdict:
    found = documents((builder or run()).build(), att=[att]).analysis
    assert found is not None
    return next(k for k in found.kernels if k.kernel == "kernel()")
