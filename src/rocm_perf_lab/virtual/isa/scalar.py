"""Scalar instructions: SOP1, SOP2, SOPK, SOPC, SOPP and SMEM.

Bodies are C++ statements over the sources a, b (k: the 16-bit immediate), the result d and scc.
"""

# ruff: noqa: E501 - a row of a table is one line
from __future__ import annotations

from rocm_perf_lab.virtual.isa.op import Op, rows

_BITWISE = {
    "and": "a & b", "or": "a | b", "xor": "a ^ b", "andn2": "a & ~b", "orn2": "a | ~b",
    "nand": "~(a & b)", "nor": "~(a | b)", "xnor": "~(a ^ b)",
}  # fmt: skip

_SOP2 = """
0  s_add_u32    u32: u32 u32 :: d = a + b; scc = d < a
1  s_sub_u32    u32: u32 u32 :: d = a - b; scc = b > a
2  s_add_i32    i32: i32 i32 :: scc = __builtin_add_overflow(a, b, &d)
3  s_sub_i32    i32: i32 i32 :: scc = __builtin_sub_overflow(a, b, &d)
4  s_addc_u32   u32: u32 u32 :: const u64 t = u64(a) + b + scc; d = u32(t); scc = (t >> 32) != 0
5  s_subb_u32   u32: u32 u32 :: const u64 t = u64(a) - b - scc; d = u32(t); scc = (t >> 32) != 0
6  s_min_i32    i32: i32 i32 :: scc = a < b; d = scc ? a : b
7  s_min_u32    u32: u32 u32 :: scc = a < b; d = scc ? a : b
8  s_max_i32    i32: i32 i32 :: scc = a > b; d = scc ? a : b
9  s_max_u32    u32: u32 u32 :: scc = a > b; d = scc ? a : b
10 s_cselect_b32 b32: b32 b32 :: d = scc ? a : b
11 s_cselect_b64 b64: b64 b64 :: d = scc ? a : b
28 s_lshl_b32   b32: b32 u32 :: d = a << (b & 31); scc = d != 0
29 s_lshl_b64   b64: b64 u32 :: d = a << (b & 63); scc = d != 0
30 s_lshr_b32   b32: b32 u32 :: d = a >> (b & 31); scc = d != 0
31 s_lshr_b64   b64: b64 u32 :: d = a >> (b & 63); scc = d != 0
32 s_ashr_i32   i32: i32 u32 :: d = a >> (b & 31); scc = d != 0
33 s_ashr_i64   i64: i64 u32 :: d = a >> (b & 63); scc = d != 0
34 s_bfm_b32    b32: b32 b32 :: d = ((1u << (a & 31)) - 1) << (b & 31)
35 s_bfm_b64    b64: b32 b32 :: d = ((u64(1) << (a & 63)) - 1) << (b & 63)
36 s_mul_i32    i32: i32 i32 :: d = i32(u32(a) * u32(b))
37 s_bfe_u32    u32: u32 u32 :: d = u32(bfe_u64(a, b & 31, (b >> 16) & 127, 32)); scc = d != 0
38 s_bfe_i32    i32: i32 u32 :: d = i32(bfe_i64(a, b & 31, (b >> 16) & 127, 32)); scc = d != 0
39 s_bfe_u64    u64: u64 u32 :: d = bfe_u64(a, b & 63, (b >> 16) & 127, 64); scc = d != 0
40 s_bfe_i64    i64: i64 u32 :: d = bfe_i64(a, b & 63, (b >> 16) & 127, 64); scc = d != 0
41 s_cbranch_g_fork :b64 b64 :: :: kind=unmodelled
42 s_absdiff_i32 i32: i32 i32 :: const u32 t = u32(a) - u32(b); d = i32(t) < 0 ? i32(0u - t) : i32(t); scc = d != 0
44 s_mul_hi_u32 u32: u32 u32 :: d = u32((u64(a) * b) >> 32)
45 s_mul_hi_i32 i32: i32 i32 :: d = i32((i64(a) * b) >> 32)
46 s_lshl1_add_u32 u32: u32 u32 :: const u64 t = (u64(a) << 1) + b; d = u32(t); scc = (t >> 32) != 0
47 s_lshl2_add_u32 u32: u32 u32 :: const u64 t = (u64(a) << 2) + b; d = u32(t); scc = (t >> 32) != 0
48 s_lshl3_add_u32 u32: u32 u32 :: const u64 t = (u64(a) << 3) + b; d = u32(t); scc = (t >> 32) != 0
49 s_lshl4_add_u32 u32: u32 u32 :: const u64 t = (u64(a) << 4) + b; d = u32(t); scc = (t >> 32) != 0
50 s_pack_ll_b32_b16 b32: b32 b32 :: d = (a & 0xffff) | (b << 16)
51 s_pack_lh_b32_b16 b32: b32 b32 :: d = (a & 0xffff) | (b & 0xffff0000)
52 s_pack_hh_b32_b16 b32: b32 b32 :: d = (a >> 16) | (b & 0xffff0000)
"""

_SOP1 = """
0  s_mov_b32   b32: b32 :: d = a
1  s_mov_b64   b64: b64 :: d = a
2  s_cmov_b32  b32: b32 :: d = scc ? a : d :: old
3  s_cmov_b64  b64: b64 :: d = scc ? a : d :: old
4  s_not_b32   b32: b32 :: d = ~a; scc = d != 0
5  s_not_b64   b64: b64 :: d = ~a; scc = d != 0
6  s_wqm_b32   b32: b32 :: d = u32(whole_quads(a)); scc = d != 0
7  s_wqm_b64   b64: b64 :: d = whole_quads(a); scc = d != 0
8  s_brev_b32  b32: b32 :: d = reverse32(a)
9  s_brev_b64  b64: b64 :: d = (u64(reverse32(u32(a))) << 32) | reverse32(u32(a >> 32))
10 s_bcnt0_i32_b32 i32: b32 :: d = __builtin_popcount(~a); scc = d != 0
11 s_bcnt0_i32_b64 i32: b64 :: d = __builtin_popcountll(~a); scc = d != 0
12 s_bcnt1_i32_b32 i32: b32 :: d = __builtin_popcount(a); scc = d != 0
13 s_bcnt1_i32_b64 i32: b64 :: d = __builtin_popcountll(a); scc = d != 0
14 s_ff0_i32_b32 i32: b32 :: d = ~a ? __builtin_ctz(~a) : -1
15 s_ff0_i32_b64 i32: b64 :: d = ~a ? __builtin_ctzll(~a) : -1
16 s_ff1_i32_b32 i32: b32 :: d = a ? __builtin_ctz(a) : -1
17 s_ff1_i32_b64 i32: b64 :: d = a ? __builtin_ctzll(a) : -1
18 s_flbit_i32_b32 i32: b32 :: d = a ? __builtin_clz(a) : -1
19 s_flbit_i32_b64 i32: b64 :: d = a ? __builtin_clzll(a) : -1
20 s_flbit_i32 i32: i32 :: const u32 t = u32(a < 0 ? ~a : a); d = t ? __builtin_clz(t) : -1
21 s_flbit_i32_i64 i32: i64 :: const u64 t = u64(a < 0 ? ~a : a); d = t ? __builtin_clzll(t) : -1
22 s_sext_i32_i8 i32: i32 :: d = i8(a)
23 s_sext_i32_i16 i32: i32 :: d = i16(a)
24 s_bitset0_b32 b32: b32 :: d &= ~(1u << (a & 31)) :: old
25 s_bitset0_b64 b64: b32 :: d &= ~(u64(1) << (a & 63)) :: old
26 s_bitset1_b32 b32: b32 :: d |= 1u << (a & 31) :: old
27 s_bitset1_b64 b64: b32 :: d |= u64(1) << (a & 63) :: old
28 s_getpc_b64 b64: :: d = i->pc + 4
29 s_setpc_b64 :b64 :: :: kind=setpc
30 s_swappc_b64 b64: b64 :: :: kind=swappc
31 s_rfe_b64 :b64 :: :: kind=unmodelled
40 s_quadmask_b32 b32: b32 :: d = u32(quad_mask(a)); scc = d != 0
41 s_quadmask_b64 b64: b64 :: d = quad_mask(a); scc = d != 0
42 s_movrels_b32 b32: b32 :: :: kind=movrels
43 s_movrels_b64 b64: b64 :: :: kind=movrels
44 s_movreld_b32 b32: b32 :: :: kind=movreld
45 s_movreld_b64 b64: b64 :: :: kind=movreld
46 s_cbranch_join :b32 :: :: kind=unmodelled
48 s_abs_i32 i32: i32 :: d = a < 0 ? i32(0u - u32(a)) : a; scc = d != 0
50 s_set_gpr_idx_idx :b32 :: :: kind=gpr_idx_idx
53 s_andn1_wrexec_b64 b64: b64 :: w.exec = ~a & w.exec; d = w.exec; scc = d != 0
54 s_andn2_wrexec_b64 b64: b64 :: w.exec = a & ~w.exec; d = w.exec; scc = d != 0
55 s_bitreplicate_b64_b32 b64: b32 :: d = spread_bits(a) * 3
"""

_SAVEEXEC = {
    32: ("and", "a & w.exec"), 33: ("or", "a | w.exec"), 34: ("xor", "a ^ w.exec"),
    35: ("andn2", "a & ~w.exec"), 36: ("orn2", "a | ~w.exec"), 37: ("nand", "~(a & w.exec)"),
    38: ("nor", "~(a | w.exec)"), 39: ("xnor", "~(a ^ w.exec)"),
    51: ("andn1", "~a & w.exec"), 52: ("orn1", "~a | w.exec"),
}  # fmt: skip

_SOPC = """
12 s_bitcmp0_b32 :b32 u32 :: scc = ((a >> (b & 31)) & 1) == 0
13 s_bitcmp1_b32 :b32 u32 :: scc = ((a >> (b & 31)) & 1) == 1
14 s_bitcmp0_b64 :b64 u32 :: scc = ((a >> (b & 63)) & 1) == 0
15 s_bitcmp1_b64 :b64 u32 :: scc = ((a >> (b & 63)) & 1) == 1
16 s_setvskip :b32 b32 :: :: kind=unmodelled
17 s_set_gpr_idx_on :b32 imm4 :: :: kind=gpr_idx_on
18 s_cmp_eq_u64 :u64 u64 :: scc = a == b
19 s_cmp_lg_u64 :u64 u64 :: scc = a != b
"""

_SOPK = """
0  s_movk_i32  i32: :: d = k
1  s_cmovk_i32 i32: :: d = scc ? k : d :: old
14 s_addk_i32  i32: :: const i32 t = d; scc = __builtin_add_overflow(t, k, &d) :: old
15 s_mulk_i32  i32: :: d = i32(u32(d) * u32(k)) :: old
16 s_cbranch_i_fork :b64 :: :: kind=unmodelled
17 s_getreg_b32 b32: :: :: kind=getreg hwreg
18 s_setreg_b32 :b32 :: :: kind=setreg hwreg
20 s_setreg_imm32_b32 :lit :: :: kind=setreg hwreg
21 s_call_b64 b64: :: :: kind=call
"""

_SOPP = """
0  s_nop :uimm ::
1  s_endpgm :optimm :: :: kind=endpgm
2  s_branch :target :: :: kind=branch cond=true
3  s_wakeup : ::
4  s_cbranch_scc0 :target :: :: kind=branch cond=!w.scc
5  s_cbranch_scc1 :target :: :: kind=branch cond=w.scc
6  s_cbranch_vccz :target :: :: kind=branch cond=w.vcc==0
7  s_cbranch_vccnz :target :: :: kind=branch cond=w.vcc!=0
8  s_cbranch_execz :target :: :: kind=branch cond=w.exec==0
9  s_cbranch_execnz :target :: :: kind=branch cond=w.exec!=0
10 s_barrier : :: :: kind=barrier
11 s_setkill :uimm :: :: kind=unmodelled
12 s_waitcnt :waitcnt :: :: kind=waitcnt
13 s_sethalt :uimm ::
14 s_sleep :uimm :: :: kind=sleep
15 s_setprio :uimm ::
16 s_sendmsg :sendmsg ::
17 s_sendmsghalt :sendmsg :: :: kind=endpgm
18 s_trap :uimm :: :: kind=trap
19 s_icache_inv : ::
20 s_incperflevel :uimm ::
21 s_decperflevel :uimm ::
22 s_ttracedata : ::
23 s_cbranch_cdbgsys :target :: :: kind=branch cond=false
24 s_cbranch_cdbguser :target :: :: kind=branch cond=false
25 s_cbranch_cdbgsys_or_user :target :: :: kind=branch cond=false
26 s_cbranch_cdbgsys_and_user :target :: :: kind=branch cond=false
27 s_endpgm_saved : :: :: kind=endpgm
28 s_set_gpr_idx_off : :: :: kind=gpr_idx_off
29 s_set_gpr_idx_mode :gpridx :: :: kind=gpr_idx_mode
30 s_endpgm_ordered_ps_done : :: :: kind=endpgm
"""

_SMEM = """
0  s_load_dword b32: :: :: kind=sload
1  s_load_dwordx2 b64: :: :: kind=sload
2  s_load_dwordx4 b128: :: :: kind=sload
3  s_load_dwordx8 b256: :: :: kind=sload
4  s_load_dwordx16 b512: :: :: kind=sload
5  s_scratch_load_dword b32: :: :: kind=sload scratch
6  s_scratch_load_dwordx2 b64: :: :: kind=sload scratch
7  s_scratch_load_dwordx4 b128: :: :: kind=sload scratch
8  s_buffer_load_dword b32: :: :: kind=sload buffer
9  s_buffer_load_dwordx2 b64: :: :: kind=sload buffer
10 s_buffer_load_dwordx4 b128: :: :: kind=sload buffer
11 s_buffer_load_dwordx8 b256: :: :: kind=sload buffer
12 s_buffer_load_dwordx16 b512: :: :: kind=sload buffer
16 s_store_dword b32: :: :: kind=sstore store
17 s_store_dwordx2 b64: :: :: kind=sstore store
18 s_store_dwordx4 b128: :: :: kind=sstore store
21 s_scratch_store_dword b32: :: :: kind=sstore scratch store
22 s_scratch_store_dwordx2 b64: :: :: kind=sstore scratch store
23 s_scratch_store_dwordx4 b128: :: :: kind=sstore scratch store
24 s_buffer_store_dword b32: :: :: kind=sstore buffer store
25 s_buffer_store_dwordx2 b64: :: :: kind=sstore buffer store
26 s_buffer_store_dwordx4 b128: :: :: kind=sstore buffer store
32 s_dcache_inv : :: :: bare
33 s_dcache_wb : :: :: bare
34 s_dcache_inv_vol : :: :: bare
35 s_dcache_wb_vol : :: :: bare
36 s_memtime b64: :: :: bare kind=memtime
37 s_memrealtime b64: :: :: bare kind=memrealtime
40 s_dcache_discard : :: :: discard
41 s_dcache_discard_x2 : :: :: discard
"""

_COMPARE = {"eq": "==", "lg": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}


def _sop2() -> list[Op]:
    ops = rows(_SOP2, "SOP2", "salu")
    for index, (name, expr) in enumerate(_BITWISE.items()):
        for offset, t in enumerate(("b32", "b64")):
            body = f"d = {expr}; scc = d != 0"
            ops.append(
                Op(f"s_{name}_{t}", "SOP2", 12 + 2 * index + offset, t, (t, t), body, "salu")
            )
    return ops


def scalar_ops() -> list[Op]:
    ops = _sop2() + rows(_SOP1, "SOP1", "salu")
    ops += [
        Op(f"s_{name}_saveexec_b64", "SOP1", code, "b64", ("b64",),
           f"d = w.exec; w.exec = {expr}; scc = w.exec != 0", "salu")
        for code, (name, expr) in _SAVEEXEC.items()
    ]  # fmt: skip
    for index, (name, sign) in enumerate(_COMPARE.items()):
        for base, t in ((0, "i32"), (6, "u32")):
            ops.append(
                Op(
                    f"s_cmp_{name}_{t}",
                    "SOPC",
                    base + index,
                    "",
                    (t, t),
                    f"scc = a {sign} b",
                    "salu",
                )
            )
            value = "k" if t == "i32" else "u32(k & 0xffff)"
            ops.append(
                Op(f"s_cmpk_{name}_{t}", "SOPK", 2 + base + index, "", (t,),
                   f"scc = a {sign} {value}", "salu")
            )  # fmt: skip
    ops += rows(_SOPC, "SOPC", "salu") + rows(_SOPK, "SOPK", "salu")
    ops += rows(_SOPP, "SOPP", "nothing") + rows(_SMEM, "SMEM", "nothing")
    return ops
