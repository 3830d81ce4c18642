"""Scalar instructions, control flow, modes, faults, counters and observers."""

# ruff: noqa: E501 - a row of a table is one line
from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.isa_machine import LANES, Machine, assemble_all

M32, M64 = 2**32 - 1, 2**64 - 1
LONG = st.one_of(st.integers(0, M64), st.sampled_from([0, 1, M64, 2**63, 2**32]))


def s32(x: int) -> int:
    return x - 2**32 if x >> 31 else x


def s64(x: int) -> int:
    return x - 2**64 if x >> 63 else x


def bfe(x: int, field: int, bits: int, signed: bool) -> int:
    offset, width = field & (bits - 1), field >> 16 & 127
    value = (s32(x) if bits == 32 else s64(x)) if signed else x
    value >>= offset
    if width == 0:
        return 0
    if signed and offset + width >= bits:
        return value
    value &= (1 << width) - 1
    return value - (1 << width) if signed and value >> (width - 1) else value


def overflow(x: int) -> int:
    return int(not -(2**31) <= x < 2**31)


# mnemonic, bits of (result, a, b), reference(a, b, scc) -> (result, scc or None when kept)
SOP2: list[tuple[str, tuple[int, int, int], Callable[[int, int, int], tuple[int, int | None]]]] = [
    ("s_add_u32", (32, 32, 32), lambda a, b, c: (a + b, int(a + b > M32))),
    ("s_sub_u32", (32, 32, 32), lambda a, b, c: (a - b, int(b > a))),
    ("s_add_i32", (32, 32, 32), lambda a, b, c: (a + b, overflow(s32(a) + s32(b)))),
    ("s_addc_u32", (32, 32, 32), lambda a, b, c: (a + b + c, int(a + b + c > M32))),
    ("s_subb_u32", (32, 32, 32), lambda a, b, c: (a - b - c, int(b + c > a))),
    ("s_min_i32", (32, 32, 32), lambda a, b, c: (min(s32(a), s32(b)), int(s32(a) < s32(b)))),
    ("s_max_u32", (32, 32, 32), lambda a, b, c: (max(a, b), int(a > b))),
    ("s_cselect_b64", (64, 64, 64), lambda a, b, c: (a if c else b, None)),
    ("s_andn2_b64", (64, 64, 64), lambda a, b, c: (a & ~b, int(a & ~b & M64 != 0))),
    ("s_xnor_b32", (32, 32, 32), lambda a, b, c: (~(a ^ b), int(~(a ^ b) & M32 != 0))),
    ("s_lshl_b64", (64, 64, 32), lambda a, b, c: (a << (b & 63), int(a << (b & 63) & M64 != 0))),
    (
        "s_ashr_i64",
        (64, 64, 32),
        lambda a, b, c: (s64(a) >> (b & 63), int(s64(a) >> (b & 63) != 0)),
    ),
    ("s_mul_i32", (32, 32, 32), lambda a, b, c: (a * b, None)),
    ("s_mul_hi_u32", (32, 32, 32), lambda a, b, c: (a * b >> 32, None)),
    ("s_mul_hi_i32", (32, 32, 32), lambda a, b, c: (s32(a) * s32(b) >> 32, None)),
    (
        "s_bfe_u32",
        (32, 32, 32),
        lambda a, b, c: (bfe(a, b, 32, False), int(bfe(a, b, 32, False) != 0)),
    ),
    (
        "s_bfe_i32",
        (32, 32, 32),
        lambda a, b, c: (bfe(a, b, 32, True), int(bfe(a, b, 32, True) != 0)),
    ),
    (
        "s_bfe_u64",
        (64, 64, 32),
        lambda a, b, c: (bfe(a, b, 64, False), int(bfe(a, b, 64, False) != 0)),
    ),
    ("s_bfm_b32", (32, 32, 32), lambda a, b, c: (((1 << (a & 31)) - 1) << (b & 31), None)),
    (
        "s_absdiff_i32",
        (32, 32, 32),
        lambda a, b, c: (abs(s32(s32(a) - s32(b) & M32)), int((a - b) & M32 != 0)),
    ),
    ("s_lshl3_add_u32", (32, 32, 32), lambda a, b, c: ((a << 3) + b, int((a << 3) + b > M32))),
    ("s_pack_lh_b32_b16", (32, 32, 32), lambda a, b, c: (a & 0xFFFF | b & 0xFFFF0000, None)),
]
SOP1: list[tuple[str, tuple[int, int], Callable[[int], tuple[int, int | None]]]] = [
    ("s_not_b64", (64, 64), lambda a: (~a, int(~a & M64 != 0))),
    ("s_brev_b32", (32, 32), lambda a: (int(f"{a:032b}"[::-1], 2), None)),
    ("s_brev_b64", (64, 64), lambda a: (int(f"{a:064b}"[::-1], 2), None)),
    ("s_bcnt1_i32_b64", (32, 64), lambda a: (a.bit_count(), int(a != 0))),
    ("s_bcnt0_i32_b32", (32, 32), lambda a: (32 - a.bit_count(), int(a != M32))),
    ("s_ff1_i32_b64", (32, 64), lambda a: ((a & -a).bit_length() - 1, None)),
    ("s_ff0_i32_b32", (32, 32), lambda a: ((~a & M32 & -(~a & M32)).bit_length() - 1, None)),
    ("s_flbit_i32_b32", (32, 32), lambda a: (32 - a.bit_length() if a else -1, None)),
    ("s_flbit_i32_b64", (32, 64), lambda a: (64 - a.bit_length() if a else -1, None)),
    ("s_sext_i32_i8", (32, 32), lambda a: ((a & 255) - 256 * (a >> 7 & 1), None)),
    ("s_abs_i32", (32, 32), lambda a: (abs(s32(a)), int(a != 0))),
    (
        "s_wqm_b64",
        (64, 64),
        lambda a: (sum(15 << n for n in range(0, 64, 4) if a >> n & 15), int(a != 0)),
    ),
    (
        "s_quadmask_b32",
        (32, 32),
        lambda a: (sum(1 << n // 4 for n in range(0, 32, 4) if a >> n & 15), int(a != 0)),
    ),
    (
        "s_bitreplicate_b64_b32",
        (64, 32),
        lambda a: (sum(3 << 2 * n for n in range(32) if a >> n & 1), None),
    ),
]


def reg(start: int, bits: int) -> str:
    return f"s{start}" if bits == 32 else f"s[{start}:{start + 1}]"


@pytest.fixture(scope="module")
def codes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    texts = {n: f"{n} {reg(10, w[0])}, {reg(4, w[1])}, {reg(6, w[2])}" for n, w, _ in SOP2}
    texts |= {n: f"{n} {reg(10, w[0])}, {reg(4, w[1])}" for n, w, _ in SOP1}
    found = assemble_all(
        "gfx942", [t + "\ns_endpgm" for t in texts.values()], tmp_path_factory.mktemp("scalar")
    )
    return {name: code for name, code in zip(texts, found, strict=True) if code}


SLOW = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)


@pytest.mark.parametrize("case", SOP2, ids=[c[0] for c in SOP2])
@SLOW
@given(a=LONG, b=LONG, scc=st.integers(0, 1))
def test_two_sources(
    codes: dict[str, bytes], case: tuple[Any, ...], a: int, b: int, scc: int
) -> None:
    name, (out, wa, wb), reference = case
    a, b = a & (2**wa - 1), b & (2**wb - 1)
    m = Machine(codes[name])
    m.pair(4, a)
    m.s[6] = b & M32
    if wb == 64:
        m.pair(6, b)
    m.scc = scc
    assert m.run() == "end"
    want, flag = reference(a, b, scc)
    assert m.get_pair(10) & (2**out - 1) == want & (2**out - 1)
    assert m.scc == (scc if flag is None else flag)


@pytest.mark.parametrize("case", SOP1, ids=[c[0] for c in SOP1])
@SLOW
@given(a=LONG)
def test_one_source(codes: dict[str, bytes], case: tuple[Any, ...], a: int) -> None:
    name, (out, wa), reference = case
    a &= 2**wa - 1
    m = Machine(codes[name])
    m.pair(4, a)
    assert m.run() == "end"
    want, flag = reference(a)
    assert m.get_pair(10) & (2**out - 1) == want & (2**out - 1)
    assert flag is None or m.scc == flag


def machine(tmp_path: Path, text: str, isa: str = "gfx942", **keywords: Any) -> Machine:
    return Machine(assemble_all(isa, [text + "\ns_endpgm"], tmp_path)[0] or b"", isa, **keywords)


def test_a_loop_with_branches_and_calls(tmp_path: Path) -> None:
    text = """
      s_mov_b32 s4, 0
      s_movk_i32 s5, 0x64
    loop:
      s_add_u32 s4, s4, s5
      s_getpc_b64 s[8:9]
      s_add_u32 s8, s8, callee-.
      s_addc_u32 s9, s9, 0
      s_swappc_b64 s[10:11], s[8:9]
      s_sub_u32 s5, s5, 1
      s_cmp_lg_u32 s5, 0
      s_cbranch_scc1 loop
      s_branch done
    callee:
      s_add_u32 s6, s6, 1
      s_setpc_b64 s[10:11]
    done:
      s_nop 0"""
    text = text.replace("callee-.", "callee-loop-8")
    m = machine(tmp_path, text)
    assert m.run() == "end"
    assert m.s[4] == 5050 and m.s[6] == 100


def test_divergence_by_saveexec(tmp_path: Path) -> None:
    text = """
      v_cmp_gt_u32 vcc, 20, v2
      s_and_saveexec_b64 s[4:5], vcc
      s_cbranch_execz over
      v_add_u32 v3, 5, v2
    over:
      s_andn2_b64 exec, s[4:5], exec
      v_mov_b32 v3, 9
      s_mov_b64 exec, s[4:5]"""
    m = machine(tmp_path, text)
    lane = np.arange(LANES, dtype=np.uint32)
    m.set_v(2, lane)
    assert m.run() == "end"
    assert (m.v[3] == np.where(lane < 20, lane + 5, 9)).all() and m.exec == M64


def test_waves_stop_at_barriers_sleep_and_budgets(tmp_path: Path) -> None:
    m = machine(
        tmp_path,
        "s_barrier\ns_sleep 1\ns_add_u32 s4, s4, 1\nloop:\ns_add_u32 s4, s4, 1\ns_branch loop",
    )
    assert m.run() == "barrier"
    assert m.run() == "sleep"
    assert m.run(budget=101) == "budget"
    assert m.executed == 103 and m.s[4] == 51
    assert m.run(budget=2) == "budget" and m.s[4] == 52


def test_traps_and_unknown_words_are_faults(tmp_path: Path) -> None:
    m = machine(tmp_path, "s_trap 3\ns_trap 2")
    assert m.run() == "fault" and m.fault()["kind"] == "trap" and m.fault()["pc"] == 4
    m = Machine(bytes.fromhex("000080bf") + bytes.fromhex("ffffffc7deadbeef"))
    assert m.run() == "fault"
    assert m.fault()["kind"] == "illegal_instruction" and m.fault()["address"] == 0xEFBEADDEC7FFFFFF
    m = Machine(bytes.fromhex("000080bf"))
    assert m.run() == "fault" and m.fault()["kind"] == "unmapped"  # ran off the end
    m = machine(tmp_path, "s_setpc_b64 s[4:5]")
    assert m.run() == "fault" and m.fault()["kind"] == "unmapped"


def test_registers_past_the_allocation_are_faults(tmp_path: Path) -> None:
    m = machine(tmp_path, "v_mov_b32 v7, 1\nv_mov_b32 v8, 1", vgprs=8, agprs=4)
    assert m.run() == "fault" and m.fault()["kind"] == "illegal_register" and m.fault()["pc"] == 4
    m = machine(tmp_path, "v_accvgpr_write_b32 a4, v0", vgprs=8, agprs=4)
    assert m.run() == "fault" and m.fault()["kind"] == "illegal_register"


def test_mode_rules_rounding_and_denormals(tmp_path: Path) -> None:
    text = """
      v_add_f32 v10, v2, v4
      s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1
      v_add_f32 v11, v2, v4
      v_add_f64 v[14:15], v[6:7], v[8:9]
      s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3
      v_add_f32 v12, v2, v4
      s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xc0
      v_mul_f32 v13, v3, v5
      s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf0
      v_mul_f32 v16, v3, v5
      s_getreg_b32 s4, hwreg(HW_REG_MODE, 4, 4)"""
    m = machine(tmp_path, text)
    m.set_v(2, np.full(LANES, 1.0, np.float32))
    m.set_v(4, np.full(LANES, 1e-10, np.float32))
    m.set_v(3, np.full(LANES, 1e-30, np.float32))
    m.set_v(5, np.full(LANES, 1e-10, np.float32))
    m.set_v(6, np.full(LANES, 1.0))
    m.set_v(8, np.full(LANES, 1e-20))
    assert m.run() == "end"
    up = np.nextafter(np.float32(1), np.float32(2))
    assert [m.get_v(n, np.float32)[0] for n in (10, 11, 12)] == [1.0, up, 1.0]
    assert m.get_v(14, np.float64)[0] == 1.0  # double precision has its own field
    assert m.get_v(13, np.float32)[0] == 0.0 and m.get_v(16, np.float32)[0] == np.float32(
        1e-30
    ) * np.float32(1e-10)
    assert m.s[4] == 15


def test_register_indexing(tmp_path: Path) -> None:
    text = """
      s_mov_b32 s4, 3
      s_set_gpr_idx_on s4, gpr_idx(SRC0)
      v_mov_b32 v20, v2
      s_set_gpr_idx_mode gpr_idx(DST)
      v_mov_b32 v30, v2
      s_set_gpr_idx_idx s5
      v_mov_b32 v30, v3
      s_set_gpr_idx_off
      v_mov_b32 v40, v2"""
    m = machine(tmp_path, text)
    m.s[5] = 7
    for n in range(10):
        m.v[n] = 100 + n
    assert m.run() == "end"
    assert m.v[20][0] == 105 and m.v[33][0] == 102 and m.v[37][0] == 103 and m.v[40][0] == 102


def test_instructions_are_counted_by_class(tmp_path: Path) -> None:
    text = """
      v_add_f32 v1, v2, v3
      v_fma_f64 v[4:5], v[4:5], v[4:5], v[4:5]
      v_exp_f32 v6, v7
      v_add_u32 v6, v7, v8
      v_lshl_add_u64 v[4:5], v[4:5], 0, v[4:5]
      v_cvt_f32_i32 v6, v7
      v_mov_b32 v6, v7
      s_add_u32 s4, s4, s5
      s_waitcnt vmcnt(0)
      ds_read_b32 v9, v0
      s_branch next
    next:
      s_nop 0"""
    m = machine(tmp_path, text)
    assert m.run() == "end"
    want = {
        "VALU_ADD_F32": 1, "VALU_FMA_F64": 1, "VALU_TRANS_F32": 1, "VALU_INT32": 1, "VALU_INT64": 1, "VALU_CVT": 1,
        "VALU": 1, "SALU": 1, "WAITCNT": 1, "LDS_LOAD": 1, "BRANCH": 1, "OTHER": 1, "ENDPGM": 1, "VALU_MUL_F32": 0,
    }  # fmt: skip
    assert {name: m.count(name) for name in want} == want
    assert m.executed == 13


class Seen(ctypes.Structure):
    _fields_ = (
        ("pc", ctypes.c_uint64), ("exec", ctypes.c_uint64), ("mask", ctypes.c_uint64), ("first", ctypes.c_uint64),
        ("space", ctypes.c_uint32), ("size", ctypes.c_uint32),
    )  # fmt: skip


def test_observers_see_every_instruction_and_its_addresses(tmp_path: Path) -> None:
    m = machine(
        tmp_path,
        "v_mov_b32 v4, 1\ns_mov_b64 exec, 0xff0\nglobal_load_dword v5, v[2:3], off offset:8\nds_read_b64 v[6:7], v9\ns_load_dwordx2 s[8:9], s[4:5], 0x10",
    )
    data = np.zeros(100, np.uint32)
    base = m.map(data)
    m.set_v(2, np.uint64(base) + 4 * np.arange(LANES, dtype=np.uint64))
    m.set_v(9, np.full(LANES, 24, np.uint32))
    m.pair(4, base)
    room = (Seen * 8)()
    assert m.lib.isa_observe(m.handle, 100, ctypes.addressof(room), 8) == 6
    seen = [(e.exec, e.mask, e.first, e.space, e.size) for e in room[:6]]
    assert seen[0] == (M64, 0, 0, 0, 0)
    assert seen[2] == (0xFF0, 0xFF0, base + 8 + 16, 1, 4)
    assert seen[3] == (0xFF0, 0xFF0, 24, 2, 8)
    assert seen[4] == (0xFF0, 1, base + 16, 4, 8)
