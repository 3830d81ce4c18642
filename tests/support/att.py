"""Thread traces made up for tests: hand-written ones, and random ones for the laws."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from rocm_perf_lab.trace import att, att_writer
from rocm_perf_lab.trace.att_trace import AttTrace
from rocm_perf_lab.trace.att_writer import CodeLine, Content, Wave

# Texts with the category the hardware gives them.
ISA = (
    ("v_add_f32_e32 v0, v1, v2", 6),
    ("v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]", 6),
    ("v_exp_f32_e32 v0, v1", 6),
    ("s_add_u32 s0, s0, 1", 2),
    ("s_load_dwordx2 s[4:5], s[0:1], 0x0", 1),
    ("global_load_dwordx4 v[0:3], v[4:5], off", 3),
    ("global_store_dword v[4:5], v0, off", 3),
    ("flat_load_dword v0, v[2:3]", 4),
    ("ds_read_b32 v0, v1", 5),
    ("s_waitcnt vmcnt(0)", 9),
    ("s_waitcnt lgkmcnt(0)", 9),
    ("s_waitcnt vmcnt(1) lgkmcnt(0)", 9),
    ("s_barrier", 9),
    ("s_nop 1", 9),
    ("s_cbranch_scc1 12", 7),
    ("s_cbranch_execz 3", 8),
    ("s_endpgm", 11),
)


def rows(values: Sequence[Sequence[int]], width: int) -> att_writer.Rows:
    return np.array(values, dtype=np.int64).reshape(len(values), width)


def wave(
    instructions: Sequence[Sequence[int]],
    *,
    begin: int = 0,
    end: int | None = None,
    timeline: Sequence[Sequence[int]] = (),
    waits: Sequence[tuple[int, Sequence[int]]] = (),
    se: int = 0,
    simd: int = 0,
    slot: int = 0,
    cu: int = 1,
) -> Wave:
    if end is None:
        end = max((row[0] + row[3] for row in instructions), default=begin)
    return Wave(se, simd, slot, cu, begin, end, rows(instructions, 5), rows(timeline, 2), waits)


def code(*isa: str) -> list[CodeLine]:
    """A label as line 0 and the given instructions as lines 1, 2, …"""
    return [
        CodeLine("; _Z6kernelv", "kernel()", 1, 0x100),
        *(CodeLine(text, f"k.cpp:{n}", 1, 0x100 + 8 * n) for n, text in enumerate(isa)),
    ]


def written(content: Content, directory: Path, dispatch_id: int = 1) -> AttTrace:
    return att.read(
        att_writer.write(content, directory, agent_handle=5600, dispatch_id=dispatch_id)
    )


@st.composite
def contents(draw: st.DrawFn) -> Content:
    """Any trace that could have been recorded: overlapping instructions and gaps included."""
    chosen = draw(st.lists(st.sampled_from(ISA), min_size=1, max_size=12))
    lines = code(*(text for text, _ in chosen))
    waves = []
    for number in range(draw(st.integers(0, 4))):
        begin = clock = draw(st.integers(0, 1 << 40))
        instructions = []
        for _ in range(draw(st.integers(0, 25))):
            clock += draw(st.integers(-20, 60))
            line = draw(st.integers(1, len(chosen)))
            stall = draw(st.integers(0, 500))
            duration = stall + draw(st.integers(0, 16))
            instructions.append([max(clock, 0), chosen[line - 1][1], stall, duration, line])
            clock += duration
        timeline = draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 900)), max_size=8))
        depends = st.tuples(
            st.integers(1, len(chosen)), st.lists(st.integers(1, len(chosen)), min_size=1)
        )
        waves.append(
            wave(
                instructions,
                begin=begin,
                end=max(clock, begin),
                timeline=timeline,
                waits=draw(st.lists(depends, max_size=4)),
                se=draw(st.integers(0, 3)),
                simd=number % 4,
                slot=draw(st.integers(0, 7)),
            )
        )
    event = st.tuples(
        st.integers(0, 1 << 40),
        st.integers(0, 15),
        st.integers(0, 3),
        st.integers(0, 7),
        st.integers(0, 1),
        st.integers(0, 2),
    )
    return Content(
        code=lines,
        waves=waves,
        gfxip=draw(st.sampled_from((9, 10, 11, 12))),
        occupancy={se: draw(st.lists(event, max_size=12)) for se in range(draw(st.integers(0, 2)))},
        kernels={1: "_Z6kernelv"},
        realtime={0: [[0, 0], [1884, 100]]} if draw(st.booleans()) else {},
    )
