"""Vector instructions that look across lanes or into parts of registers."""

# ruff: noqa: E501 - a row of a table is one line
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from support.isa_machine import LANES, Machine, assemble_all, edges, lanes_of

Array = npt.NDArray[Any]
F32, F64, U32, U64 = np.float32, np.float64, np.uint32, np.uint64


def test_carries_chain_into_wide_additions(tmp_path: Path) -> None:
    text = """
    v_add_co_u32 v10, vcc, v2, v4
    v_addc_co_u32 v11, vcc, v3, v5, vcc
    v_sub_co_u32_e64 v12, s[4:5], v2, v4
    v_subb_co_u32_e64 v13, s[4:5], v3, v5, s[4:5]
    s_endpgm"""
    m = Machine(assemble_all("gfx942", [text], tmp_path)[0] or b"")
    a, b = edges(U64, 1), edges(U64, 2)
    m.set_v(2, a)
    m.set_v(4, b)
    assert m.run() == "end"
    assert (m.get_v(10, U64) == a + b).all()
    assert (m.get_v(12, U64) == a - b).all()
    assert (lanes_of(m.get_pair(106)) == (a + b < a)).all()
    assert (lanes_of(m.get_pair(4)) == (a < b)).all()


def test_lane_moves(tmp_path: Path) -> None:
    text = """
    v_readfirstlane_b32 s4, v2
    v_readlane_b32 s5, v2, 17
    s_mov_b32 s6, 40
    v_readlane_b32 s7, v2, s6
    v_writelane_b32 v3, s5, 9
    v_mbcnt_lo_u32_b32 v4, -1, 0
    v_mbcnt_hi_u32_b32 v4, -1, v4
    v_cndmask_b32_e64 v5, v2, 1.0, s[8:9]
    v_accvgpr_write_b32 a3, v2
    v_accvgpr_read_b32 v6, a3
    v_swap_b32 v7, v8
    s_endpgm"""
    m = Machine(assemble_all("gfx942", [text], tmp_path)[0] or b"")
    values = edges(U32, 5)
    m.set_v(2, values)
    m.set_v(7, values)
    m.set_v(8, values[::-1])
    m.exec = 0xFFFF_FFFF_FFFF_FFF0
    m.pair(8, 0xF0F0_F0F0_F0F0_F0F0)
    assert m.run() == "end"
    assert [m.s[4], m.s[5], m.s[7]] == [values[4], values[17], values[40]]
    assert m.v[3][9] == values[17] and m.v[3][10] == 0
    assert (m.v[4][4:] == np.arange(4, 64)).all()
    picked = np.where(lanes_of(0xF0F0_F0F0_F0F0_F0F0), 0x3F800000, values)
    assert (m.v[5][4:] == picked[4:]).all() and (m.v[5][:4] == 0).all()
    assert (m.v[6][4:] == values[4:]).all()
    assert (m.v[7][4:] == values[::-1][4:]).all() and (m.v[8][4:] == values[4:]).all()


DPP: dict[str, Callable[[int], int | None]] = {
    "quad_perm:[3,0,2,1]": lambda i: (i & ~3) | [3, 0, 2, 1][i & 3],
    "row_shl:3": lambda i: i + 3 if (i & 15) + 3 < 16 else None,
    "row_shr:5": lambda i: i - 5 if (i & 15) >= 5 else None,
    "row_ror:4": lambda i: (i & ~15) | ((i - 4) & 15),
    "wave_shl:1": lambda i: i + 1 if i < 63 else None,
    "wave_rol:1": lambda i: (i + 1) & 63,
    "wave_shr:1": lambda i: i - 1 if i else None,
    "wave_ror:1": lambda i: (i - 1) & 63,
    "row_mirror": lambda i: (i & ~15) | (15 - (i & 15)),
    "row_half_mirror": lambda i: (i & ~7) | (7 - (i & 7)),
    "row_bcast:15": lambda i: (i & ~15) - 1 if i >= 16 else None,
    "row_bcast:31": lambda i: 31 if i >= 32 else None,
    "row_newbcast:6": lambda i: (i & ~15) | 6,
}


@pytest.mark.parametrize("bound", ["", " bound_ctrl:1"])
def test_dpp_reads_the_lanes_it_names(tmp_path: Path, bound: str) -> None:
    texts = [f"v_mov_b32_dpp v3, v2 {c} row_mask:0xd bank_mask:0xb{bound}\ns_endpgm" for c in DPP]
    for (control, source), code in zip(
        DPP.items(), assemble_all("gfx942", texts, tmp_path), strict=True
    ):
        m = Machine(code or b"")
        m.set_v(2, np.arange(100, 164, dtype=U32))
        m.set_v(3, np.arange(64, dtype=U32))
        m.exec = 0xFFFF_FFFF_FFFF_FDFF
        assert m.run() == "end"
        for lane in range(LANES):
            enabled = (0xD >> (lane // 16)) & 1 and (0xB >> (lane // 4 % 4)) & 1 and lane != 9
            origin = source(lane)
            if not enabled:
                want = lane
            elif origin is not None and origin != 9:
                want = 100 + origin
            else:
                want = 0 if bound else lane
            assert m.v[3][lane] == want, (control, lane)


def test_sdwa_preserves_what_it_does_not_write(tmp_path: Path) -> None:
    text = "v_add_u16_sdwa v3, v2, v4 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0\ns_endpgm"
    m = Machine(assemble_all("gfx942", [text], tmp_path)[0] or b"")
    a, b, old = edges(U32, 1), edges(U32, 2), edges(U32, 3)
    m.set_v(2, a)
    m.set_v(4, b)
    m.set_v(3, old)
    m.run()
    assert (m.v[3] == ((((a >> 16) + b) & 0xFFFF) << 16 | (old & 0xFFFF))).all()


def test_op_sel_chooses_halves(tmp_path: Path) -> None:
    text = "v_mad_u16 v3, v2, v4, v6 op_sel:[1,0,1,1]\nv_pk_add_u16 v5, v2, v4 op_sel:[1,1] op_sel_hi:[0,0]\ns_endpgm"
    m = Machine(assemble_all("gfx942", [text], tmp_path)[0] or b"")
    a, b, c, old = (edges(U32, n) for n in range(4))
    for place, values in ((2, a), (4, b), (6, c), (3, old)):
        m.set_v(place, values)
    m.run()
    high = ((a >> 16) * (b & 0xFFFF) + (c >> 16)) & 0xFFFF
    assert (m.v[3] == (high << 16 | (old & 0xFFFF))).all()
    assert (m.v[5] == ((((a >> 16) + (b >> 16)) & 0xFFFF) | (((a + b) & 0xFFFF) << 16))).all()


def eight_bit_values(kind: str) -> Array:
    """The 256 values of an 8-bit float of gfx942: no infinity, no negative zero, 0x80 is NaN."""
    mantissa, bias = (3, 8) if kind == "fp8" else (2, 16)
    out = []
    for code in range(256):
        e, f = (code & 127) >> mantissa, code & ((1 << mantissa) - 1)
        size = (f + (1 << mantissa if e else 0)) * 2.0 ** (max(e, 1) - bias - mantissa)
        out.append(-size if code & 128 else size)
    out[0x80] = np.nan
    return np.array(out)


@pytest.mark.parametrize("kind", ["fp8", "bf8"])
def test_eight_bit_floats_convert_both_ways(tmp_path: Path, kind: str) -> None:
    table = eight_bit_values(kind)
    text = f"""
    v_cvt_f32_{kind} v10, v2
    v_cvt_f32_{kind}_sdwa v11, v2 src0_sel:BYTE_3
    v_cvt_pk_f32_{kind} v[12:13], v2
    v_cvt_pk_{kind}_f32 v14, v3, v4 op_sel:[0,0,1]
    v_cvt_sr_{kind}_f32 v15, v3, v5 op_sel:[0,0,1,1]
    s_endpgm"""
    code = assemble_all("gfx942", [text], tmp_path)[0] or b""
    finite = np.flatnonzero(~np.isnan(table))
    for part in range(4):
        m = Machine(code)
        codes = np.arange(64 * part, 64 * part + 64, dtype=U32)
        m.set_v(2, codes | codes[::-1] << 8 | 0x77 << 24)
        rng = np.random.default_rng(part)
        top = table[finite].max()
        x = (rng.standard_normal(LANES) * top / 4).clip(-top, top).astype(F32)
        x[:8] = (table[finite][40:48] + table[finite][41:49]).astype(F32) / 2  # ties
        x[8:10] = [np.inf, top * 4]
        m.set_v(3, x)
        m.set_v(4, np.zeros(LANES, F32))
        m.set_v(5, np.zeros(LANES, U32))
        m.v[14:16] = 0xAAAAAAAA
        assert m.run() == "end"
        got = m.get_v(10, F32)
        assert ((got == table[codes]) | (np.isnan(got) & np.isnan(table[codes]))).all()
        assert (m.get_v(11, F32) == table[0x77]).all()
        second = m.get_v(13, F32)
        assert ((second == table[codes[::-1]]) | np.isnan(table[codes[::-1]])).all()
        assert (m.v[14] & 0xFFFF == 0xAAAA).all() and (m.v[14] >> 24 == 0).all()
        assert (m.v[15] & 0xFFFFFF == 0xAAAAAA).all()
        for lane, value in enumerate(x.astype(F64)):
            code8 = int(m.v[14][lane] >> 16 & 255)
            if abs(value) > top * 1.05:
                assert code8 == 0x80
                continue
            distance = np.abs(table[finite] - value)
            nearest = finite[distance == distance.min()]
            even = [c for c in nearest if c % 2 == 0] if len(nearest) > 1 else list(nearest)
            assert code8 in even or table[code8] == table[even[0]], (value, code8, nearest)
            # No noise: truncation toward zero.
            cut = table[int(m.v[15][lane] >> 24)]
            assert abs(cut) <= abs(value) and abs(value - cut) <= abs(value) / 4 + 2.0**-9
