"""VOP3P: packed 16- and 32-bit math, mixed precision, dot products, accumulation moves."""

from __future__ import annotations

from rocm_perf_lab.virtual.isa.op import Op, rows

# In xNx2 types the body is the result of one half, applied to both.
_VOP3P = """
0  v_pk_mad_i16 i16x2: i16x2 i16x2 i16x2 :: a * b + c :: sat=sat_i16(i64(a)*b+c)
1  v_pk_mul_lo_u16 u16x2: u16x2 u16x2 :: a * b :: sat=umin(a*b,0xffffu)
2  v_pk_add_i16 i16x2: i16x2 i16x2 :: a + b :: sat=sat_i16(i64(a)+b)
3  v_pk_sub_i16 i16x2: i16x2 i16x2 :: a - b :: sat=sat_i16(i64(a)-b)
4  v_pk_lshlrev_b16 u16x2: u16x2 u16x2 :: b << (a & 15)
5  v_pk_lshrrev_b16 u16x2: u16x2 u16x2 :: b >> (a & 15)
6  v_pk_ashrrev_i16 i16x2: u16x2 i16x2 :: b >> (a & 15)
7  v_pk_max_i16 i16x2: i16x2 i16x2 :: a > b ? a : b
8  v_pk_min_i16 i16x2: i16x2 i16x2 :: a < b ? a : b
9  v_pk_mad_u16 u16x2: u16x2 u16x2 u16x2 :: a * b + c :: sat=umin(a*b+c,0xffffu)
10 v_pk_add_u16 u16x2: u16x2 u16x2 :: a + b :: sat=umin(a+b,0xffffu)
11 v_pk_sub_u16 u16x2: u16x2 u16x2 :: a - b :: sat=(a<b?0u:a-b)
12 v_pk_max_u16 u16x2: u16x2 u16x2 :: a > b ? a : b
13 v_pk_min_u16 u16x2: u16x2 u16x2 :: a < b ? a : b
14 v_pk_fma_f16 f16dx2: f16dx2 f16dx2 f16dx2 :: fma_f16(a, b, c)
15 v_pk_add_f16 f16x2: f16x2 f16x2 :: a + b
16 v_pk_mul_f16 f16x2: f16x2 f16x2 :: a * b
17 v_pk_min_f16 f16x2: f16x2 f16x2 :: min_f32(a, b)
18 v_pk_max_f16 f16x2: f16x2 f16x2 :: max_f32(a, b)
32 v_fma_mix_f32 f32: mix mix mix :: __builtin_fmaf(a, b, c)
33 v_fma_mixlo_f16 f16: mix mix mix :: mix_to_f16(a, b, c) :: dstlo
34 v_fma_mixhi_f16 f16: mix mix mix :: mix_to_f16(a, b, c) :: dsthi
35 v_dot2_f32_f16 f32: b16x2 b16x2 f32 :: dot2_f16(a, b, c)
38 v_dot2_i32_i16 i32: w16x2 w16x2 i32 :: i32(dot2_i16(a, b, c)) :: sat=sat_i32(dot2_i16(a,b,c))
39 v_dot2_u32_u16 u32: w16x2 w16x2 u32 :: u32(dot2_u16(a, b, c)) :: sat=sat_u32(dot2_u16(a,b,c))
40 v_dot4_i32_i8 i32: b32 b32 i32 :: i32(dot4_i8(a, b, c)) :: sat=sat_i32(dot4_i8(a,b,c))
41 v_dot4_u32_u8 u32: b32 b32 u32 :: u32(dot4_u8(a, b, c)) :: sat=sat_u32(dot4_u8(a,b,c))
42 v_dot8_i32_i4 i32: b32 b32 i32 :: i32(dot8_i4(a, b, c)) :: sat=sat_i32(dot8_i4(a,b,c))
43 v_dot8_u32_u4 u32: b32 b32 u32 :: u32(dot8_u4(a, b, c)) :: sat=sat_u32(dot8_u4(a,b,c))
48 v_pk_fma_f32 f32x2: f32x2 f32x2 f32x2 :: __builtin_fmaf(a, b, c)
49 v_pk_mul_f32 f32x2: f32x2 f32x2 :: a * b
50 v_pk_add_f32 f32x2: f32x2 f32x2 :: a + b
51 v_pk_mov_b32 b32x2: b32x2 b32x2 :: :: kind=pk_mov
88 v_accvgpr_read_b32 b32: acc :: a
89 v_accvgpr_write_b32 acc: b32 :: a
"""


def packed_ops() -> list[Op]:
    return rows(_VOP3P, "VOP3P", "valu")
