"""Vector ALU instructions: VOP1, VOP2 and the VOP3-only ones.

A body is the C++ expression of one lane's result over its sources a, b, c. Flags:
``old`` the destination is also the last source; ``opsel`` a 16-bit VOP3 instruction whose
op_sel chooses halves and preserves the other half of the destination; ``sat=`` the expression
used with the clamp bit on an integer instruction; ``nosdwa``/``nodpp``/``novop3`` encodings
that do not exist.
"""

# ruff: noqa: E501 - a row of a table is one line
from __future__ import annotations

from dataclasses import replace

from rocm_perf_lab.virtual.isa.op import Op, rows

_VOP2 = """
0  v_cndmask_b32 b32: b32 b32 mask :: :: kind=cndmask
1  v_add_f32 f32: f32 f32 :: a + b
2  v_sub_f32 f32: f32 f32 :: a - b
3  v_subrev_f32 f32: f32 f32 :: b - a
4  v_fmac_f64 f64: f64 f64 :: __builtin_fma(a, b, c) :: old nosdwa
5  v_mul_f32 f32: f32 f32 :: a * b
6  v_mul_i32_i24 i32: i32 i32 :: i32(u32(sext24(a)) * u32(sext24(b)))
7  v_mul_hi_i32_i24 i32: i32 i32 :: i32((i64(sext24(a)) * sext24(b)) >> 32)
8  v_mul_u32_u24 u32: u32 u32 :: (a & 0xffffff) * (b & 0xffffff)
9  v_mul_hi_u32_u24 u32: u32 u32 :: u32((u64(a & 0xffffff) * (b & 0xffffff)) >> 32)
10 v_min_f32 f32: f32 f32 :: min_f32(a, b)
11 v_max_f32 f32: f32 f32 :: max_f32(a, b)
12 v_min_i32 i32: i32 i32 :: a < b ? a : b
13 v_max_i32 i32: i32 i32 :: a > b ? a : b
14 v_min_u32 u32: u32 u32 :: a < b ? a : b
15 v_max_u32 u32: u32 u32 :: a > b ? a : b
16 v_lshrrev_b32 b32: u32 b32 :: b >> (a & 31)
17 v_ashrrev_i32 i32: u32 i32 :: b >> (a & 31)
18 v_lshlrev_b32 b32: u32 b32 :: b << (a & 31)
19 v_and_b32 b32: b32 b32 :: a & b
20 v_or_b32 b32: b32 b32 :: a | b
21 v_xor_b32 b32: b32 b32 :: a ^ b
22 v_mac_f32 f32: f32 f32 :: a * b + c :: old @gfx90a
23 v_madmk_f32 f32: f32 lit f32 :: a * b + c :: nosdwa nodpp novop3 @gfx90a
24 v_madak_f32 f32: f32 f32 lit :: a * b + c :: nosdwa nodpp novop3 @gfx90a
23 v_fmamk_f32 f32: f32 lit f32 :: __builtin_fmaf(a, b, c) :: nosdwa nodpp novop3 @gfx942
24 v_fmaak_f32 f32: f32 f32 lit :: __builtin_fmaf(a, b, c) :: nosdwa nodpp novop3 @gfx942
25 v_add_co_u32 u32: u32 u32 :: u64(a) + b :: kind=carry_out
26 v_sub_co_u32 u32: u32 u32 :: u64(a) - b :: kind=carry_out
27 v_subrev_co_u32 u32: u32 u32 :: u64(b) - a :: kind=carry_out
28 v_addc_co_u32 u32: u32 u32 mask :: u64(a) + b + c :: kind=carry_in
29 v_subb_co_u32 u32: u32 u32 mask :: u64(a) - b - c :: kind=carry_in
30 v_subbrev_co_u32 u32: u32 u32 mask :: u64(b) - a - c :: kind=carry_in
31 v_add_f16 f16: f16 f16 :: a + b
32 v_sub_f16 f16: f16 f16 :: a - b
33 v_subrev_f16 f16: f16 f16 :: b - a
34 v_mul_f16 f16: f16 f16 :: a * b
35 v_mac_f16 f16: f16 f16 :: round_f16(a * b) + c :: old
36 v_madmk_f16 f16: f16 lit f16 :: round_f16(a * b) + c :: nosdwa nodpp novop3
37 v_madak_f16 f16: f16 f16 lit :: round_f16(a * b) + c :: nosdwa nodpp novop3
38 v_add_u16 u16: u16 u16 :: a + b :: sat=umin(a+b,0xffffu)
39 v_sub_u16 u16: u16 u16 :: a - b :: sat=(a<b?0u:a-b)
40 v_subrev_u16 u16: u16 u16 :: b - a :: sat=(b<a?0u:b-a)
41 v_mul_lo_u16 u16: u16 u16 :: a * b :: sat=umin(a*b,0xffffu)
42 v_lshlrev_b16 b16: u16 b16 :: b << (a & 15)
43 v_lshrrev_b16 b16: u16 b16 :: b >> (a & 15)
44 v_ashrrev_i16 i16: u16 i16 :: b >> (a & 15)
45 v_max_f16 f16: f16 f16 :: max_f32(a, b)
46 v_min_f16 f16: f16 f16 :: min_f32(a, b)
47 v_max_u16 u16: u16 u16 :: a > b ? a : b
48 v_max_i16 i16: i16 i16 :: a > b ? a : b
49 v_min_u16 u16: u16 u16 :: a < b ? a : b
50 v_min_i16 i16: i16 i16 :: a < b ? a : b
51 v_ldexp_f16 f16d: f16d i16 :: ldexp_f64(a, b)
52 v_add_u32 u32: u32 u32 :: a + b :: sat=(a+b<a?~0u:a+b)
53 v_sub_u32 u32: u32 u32 :: a - b :: sat=(a<b?0u:a-b)
54 v_subrev_u32 u32: u32 u32 :: b - a :: sat=(b<a?0u:b-a)
55 v_dot2c_f32_f16 f32: b16p b16p :: dot2_f16(a, b, c) :: old nosdwa
56 v_dot2c_i32_i16 i32: b32 b32 :: i32(dot2_i16(a, b, c)) :: old nosdwa sat=sat_i32(dot2_i16(a,b,c))
57 v_dot4c_i32_i8 i32: b32 b32 :: i32(dot4_i8(a, b, c)) :: old nosdwa sat=sat_i32(dot4_i8(a,b,c))
58 v_dot8c_i32_i4 i32: b32 b32 :: i32(dot8_i4(a, b, c)) :: old nosdwa sat=sat_i32(dot8_i4(a,b,c))
59 v_fmac_f32 f32: f32 f32 :: __builtin_fmaf(a, b, c) :: old
60 v_pk_fmac_f16 f16dx2: f16dx2 f16dx2 :: fma_f16(a, b, c) :: old novop3
61 v_xnor_b32 b32: b32 b32 :: ~(a ^ b)
"""

_VOP1 = """
0  v_nop : :: :: kind=nothing
1  v_mov_b32 b32: b32 :: a
2  v_readfirstlane_b32 sgpr: b32 :: :: kind=readfirstlane nosdwa nodpp novop3
3  v_cvt_i32_f64 i32: f64 :: cvt_i32(a)
4  v_cvt_f64_i32 f64: i32 :: double(a)
5  v_cvt_f32_i32 f32: i32 :: float(a)
6  v_cvt_f32_u32 f32: u32 :: cvt_f32_u32(a)
7  v_cvt_u32_f32 u32: f32 :: cvt_u32(a)
8  v_cvt_i32_f32 i32: f32 :: cvt_i32(a)
10 v_cvt_f16_f32 f16: f32 :: a
11 v_cvt_f32_f16 f32: f16 :: as_f32(as_u32(a) | (a != a ? 0x400000u : 0u))
12 v_cvt_rpi_i32_f32 i32: f32 :: cvt_i32(__builtin_floor(double(a) + 0.5))
13 v_cvt_flr_i32_f32 i32: f32 :: cvt_i32(__builtin_floorf(a))
14 v_cvt_off_f32_i4 f32: b32 :: float(i32(a << 28) >> 28) * 0.0625f
15 v_cvt_f32_f64 f32: f64 :: float(a)
16 v_cvt_f64_f32 f64: f32 :: double(a)
17 v_cvt_f32_ubyte0 f32: u32 :: float(i32(a & 255))
18 v_cvt_f32_ubyte1 f32: u32 :: float(i32((a >> 8) & 255))
19 v_cvt_f32_ubyte2 f32: u32 :: float(i32((a >> 16) & 255))
20 v_cvt_f32_ubyte3 f32: u32 :: float(i32(a >> 24))
21 v_cvt_u32_f64 u32: f64 :: cvt_u32(a)
22 v_cvt_f64_u32 f64: u32 :: double(a)
23 v_trunc_f64 f64: f64 :: __builtin_trunc(a)
24 v_ceil_f64 f64: f64 :: __builtin_ceil(a)
25 v_rndne_f64 f64: f64 :: __builtin_rint(a)
26 v_floor_f64 f64: f64 :: __builtin_floor(a)
27 v_fract_f32 f32: f32 :: fract_f32(a)
28 v_trunc_f32 f32: f32 :: __builtin_truncf(a)
29 v_ceil_f32 f32: f32 :: __builtin_ceilf(a)
30 v_rndne_f32 f32: f32 :: __builtin_rintf(a)
31 v_floor_f32 f32: f32 :: __builtin_floorf(a)
32 v_exp_f32 f32: f32 :: exp2_f32(a)
33 v_log_f32 f32: f32 :: log2_f32(a)
34 v_rcp_f32 f32: f32 :: flush_f32(1.0f / flush_f32(a))
35 v_rcp_iflag_f32 f32: f32 :: flush_f32(1.0f / flush_f32(a))
36 v_rsq_f32 f32: f32 :: float(1.0 / __builtin_sqrt(double(flush_f32(a))))
37 v_rcp_f64 f64: f64 :: 1.0 / a
38 v_rsq_f64 f64: f64 :: 1.0 / __builtin_sqrt(a)
39 v_sqrt_f32 f32: f32 :: __builtin_sqrtf(flush_f32(a))
40 v_sqrt_f64 f64: f64 :: __builtin_sqrt(a)
41 v_sin_f32 f32: f32 :: sin_f32(a)
42 v_cos_f32 f32: f32 :: cos_f32(a)
43 v_not_b32 b32: b32 :: ~a
44 v_bfrev_b32 b32: b32 :: reverse32(a)
45 v_ffbh_u32 u32: u32 :: first_high(a)
46 v_ffbl_b32 u32: b32 :: first_low(a)
47 v_ffbh_i32 i32: i32 :: i32(first_high(u32(a < 0 ? ~a : a)))
48 v_frexp_exp_i32_f64 i32: f64 :: frexp_exp_f64(a)
49 v_frexp_mant_f64 f64: f64 :: frexp_mant_f64(a)
50 v_fract_f64 f64: f64 :: fract_f64(a)
51 v_frexp_exp_i32_f32 i32: f32 :: frexp_exp_f64(double(a))
52 v_frexp_mant_f32 f32: f32 :: float(frexp_mant_f64(double(a)))
53 v_clrexcp : :: :: kind=nothing
55 v_screen_partition_4se_b32 b32: b32 :: :: kind=unmodelled
56 v_mov_b64 b64: b64 :: a :: @gfx942
57 v_cvt_f16_u16 f16: u16 :: float(i32(a))
58 v_cvt_f16_i16 f16: i16 :: float(a)
59 v_cvt_u16_f16 u16: f16 :: cvt_u16(a)
60 v_cvt_i16_f16 i16: f16 :: cvt_i16(a)
61 v_rcp_f16 f16d: f16d :: 1.0 / a
62 v_sqrt_f16 f16d: f16d :: __builtin_sqrt(a)
63 v_rsq_f16 f16d: f16d :: 1.0 / __builtin_sqrt(a)
64 v_log_f16 f16d: f16d :: log2_f64(a)
65 v_exp_f16 f16d: f16d :: exp2_f64(a)
66 v_frexp_mant_f16 f16: f16 :: float(frexp_mant_f64(double(a)))
67 v_frexp_exp_i16_f16 i16: f16 :: frexp_exp_f64(double(a))
68 v_floor_f16 f16: f16 :: __builtin_floorf(a)
69 v_ceil_f16 f16: f16 :: __builtin_ceilf(a)
70 v_trunc_f16 f16: f16 :: __builtin_truncf(a)
71 v_rndne_f16 f16: f16 :: __builtin_rintf(a)
72 v_fract_f16 f16: f16 :: fract_f16(a)
73 v_sin_f16 f16d: f16d :: sin_f64(a)
74 v_cos_f16 f16d: f16d :: cos_f64(a)
75 v_exp_legacy_f32 f32: f32 :: exp2_f32(a)
76 v_log_legacy_f32 f32: f32 :: log2_f32(a)
77 v_cvt_norm_i16_f16 i16: f16 :: norm_i16(a)
78 v_cvt_norm_u16_f16 u16: f16 :: norm_u16(a)
79 v_sat_pk_u8_i16 b16: b32 :: sat_pk_u8(a)
81 v_swap_b32 b32: b32 :: :: kind=swap nosdwa nodpp novop3
82 v_accvgpr_mov_b32 acc: acc :: a :: nosdwa nodpp novop3
84 v_cvt_f32_fp8 f32: fp8 :: fp8_to_f32(a & 255) :: @gfx942
85 v_cvt_f32_bf8 f32: bf8 :: bf8_to_f32(a & 255) :: @gfx942
86 v_cvt_pk_f32_fp8 b64: fp8 :: pair(fp8_to_f32(a & 255), fp8_to_f32((a >> 8) & 255)) :: @gfx942
87 v_cvt_pk_f32_bf8 b64: bf8 :: pair(bf8_to_f32(a & 255), bf8_to_f32((a >> 8) & 255)) :: @gfx942
"""

_VOP3 = """
448 v_mad_legacy_f32 f32: f32 f32 f32 :: mul_legacy(a, b) + c :: @gfx90a
449 v_mad_f32 f32: f32 f32 f32 :: a * b + c :: @gfx90a
450 v_mad_i32_i24 i32: i32 i32 i32 :: i32(u32(sext24(a)) * u32(sext24(b)) + u32(c)) :: sat=sat_i32(i64(sext24(a))*sext24(b)+c)
451 v_mad_u32_u24 u32: u32 u32 u32 :: (a & 0xffffff) * (b & 0xffffff) + c :: sat=sat_u32(u64(a&0xffffff)*(b&0xffffff)+c)
452 v_cubeid_f32 f32: f32 f32 f32 :: cube_id(a, b, c)
453 v_cubesc_f32 f32: f32 f32 f32 :: cube_sc(a, b, c)
454 v_cubetc_f32 f32: f32 f32 f32 :: cube_tc(a, b, c)
455 v_cubema_f32 f32: f32 f32 f32 :: cube_ma(a, b, c)
456 v_bfe_u32 u32: u32 u32 u32 :: (a >> (b & 31)) & ((1u << (c & 31)) - 1)
457 v_bfe_i32 i32: i32 u32 u32 :: bfe_i32(a, b & 31, c & 31)
458 v_bfi_b32 b32: b32 b32 b32 :: (a & b) | (~a & c)
459 v_fma_f32 f32: f32 f32 f32 :: __builtin_fmaf(a, b, c)
460 v_fma_f64 f64: f64 f64 f64 :: __builtin_fma(a, b, c)
461 v_lerp_u8 u32: u32 u32 u32 :: lerp_u8(a, b, c)
462 v_alignbit_b32 b32: b32 b32 u32 :: (a << 1 << (31 - (c & 31))) | (b >> (c & 31))
463 v_alignbyte_b32 b32: b32 b32 u32 :: (a << 1 << (31 - 8 * (c & 3))) | (b >> (8 * (c & 3)))
464 v_min3_f32 f32: f32 f32 f32 :: min_f32(min_f32(a, b), c)
465 v_min3_i32 i32: i32 i32 i32 :: imin(imin(a, b), c)
466 v_min3_u32 u32: u32 u32 u32 :: umin(umin(a, b), c)
467 v_max3_f32 f32: f32 f32 f32 :: max_f32(max_f32(a, b), c)
468 v_max3_i32 i32: i32 i32 i32 :: imax(imax(a, b), c)
469 v_max3_u32 u32: u32 u32 u32 :: umax(umax(a, b), c)
470 v_med3_f32 f32: f32 f32 f32 :: med3_f32(a, b, c)
471 v_med3_i32 i32: i32 i32 i32 :: imax(imin(a, b), imin(imax(a, b), c))
472 v_med3_u32 u32: u32 u32 u32 :: umax(umin(a, b), umin(umax(a, b), c))
473 v_sad_u8 u32: u32 u32 u32 :: sad_u8(a, b) + c :: sat=sat_u32(u64(sad_u8(a,b))+c)
474 v_sad_hi_u8 u32: u32 u32 u32 :: (sad_u8(a, b) << 16) + c
475 v_sad_u16 u32: u32 u32 u32 :: sad_u16(a, b) + c :: sat=sat_u32(u64(sad_u16(a,b))+c)
476 v_sad_u32 u32: u32 u32 u32 :: (a > b ? a - b : b - a) + c :: sat=sat_u32(u64(a>b?a-b:b-a)+c)
477 v_cvt_pk_u8_f32 b32: f32 u32 b32 :: (c & ~(255u << (8 * (b & 3)))) | (cvt_u8(a) << (8 * (b & 3)))
478 v_div_fixup_f32 f32: f32 f32 f32 :: div_fixup_f32(a, b, c)
479 v_div_fixup_f64 f64: f64 f64 f64 :: div_fixup_f64(a, b, c)
480 v_div_scale_f32 f32: f32 f32 f32 :: div_scale_f32(a, b, c, carry) :: kind=div_scale
481 v_div_scale_f64 f64: f64 f64 f64 :: div_scale_f64(a, b, c, carry) :: kind=div_scale
482 v_div_fmas_f32 f32: f32 f32 f32 :: div_fmas_f32(a, b, c, carry) :: kind=div_fmas
483 v_div_fmas_f64 f64: f64 f64 f64 :: div_fmas_f64(a, b, c, carry) :: kind=div_fmas
484 v_msad_u8 u32: u32 u32 u32 :: msad_u8(a, b) + c :: sat=sat_u32(u64(msad_u8(a,b))+c)
485 v_qsad_pk_u16_u8 b64: b64 b32 b64 :: qsad(a, b, c, false)
486 v_mqsad_pk_u16_u8 b64: b64 b32 b64 :: qsad(a, b, c, true)
487 v_mqsad_u32_u8 b128: b64 b32 b128 :: :: kind=mqsad
488 v_mad_u64_u32 u64: u32 u32 u64 :: mad_u64(a, b, c, carry) :: kind=div_scale
489 v_mad_i64_i32 i64: i32 i32 i64 :: mad_i64(a, b, c, carry) :: kind=div_scale
490 v_mad_legacy_f16 f16: f16 f16 f16 :: round_f16(a * b) + c
491 v_mad_legacy_u16 u16: u16 u16 u16 :: a * b + c :: sat=umin(a*b+c,0xffffu)
492 v_mad_legacy_i16 i16: i16 i16 i16 :: a * b + c :: sat=sat_i16(i64(a)*b+c)
493 v_perm_b32 b32: b32 b32 b32 :: perm_b32(a, b, c)
494 v_fma_legacy_f16 f16: f16 f16 f16 :: fma_f16(a, b, c)
495 v_div_fixup_legacy_f16 f16: f16 f16 f16 :: div_fixup_f16(a, b, c)
497 v_mad_u32_u16 u32: u16 u16 u32 :: a * b + c :: opsel sat=sat_u32(u64(a)*b+c)
498 v_mad_i32_i16 i32: i16 i16 i32 :: i32(u32(a * b) + u32(c)) :: opsel sat=sat_i32(i64(a)*b+c)
499 v_xad_u32 u32: u32 u32 u32 :: (a ^ b) + c
500 v_min3_f16 f16: f16 f16 f16 :: min_f32(min_f32(a, b), c) :: opsel
501 v_min3_i16 i16: i16 i16 i16 :: imin(imin(a, b), c) :: opsel
502 v_min3_u16 u16: u16 u16 u16 :: umin(umin(a, b), c) :: opsel
503 v_max3_f16 f16: f16 f16 f16 :: max_f32(max_f32(a, b), c) :: opsel
504 v_max3_i16 i16: i16 i16 i16 :: imax(imax(a, b), c) :: opsel
505 v_max3_u16 u16: u16 u16 u16 :: umax(umax(a, b), c) :: opsel
506 v_med3_f16 f16: f16 f16 f16 :: med3_f32(a, b, c) :: opsel
507 v_med3_i16 i16: i16 i16 i16 :: imax(imin(a, b), imin(imax(a, b), c)) :: opsel
508 v_med3_u16 u16: u16 u16 u16 :: umax(umin(a, b), umin(umax(a, b), c)) :: opsel
509 v_lshl_add_u32 u32: u32 u32 u32 :: (a << (b & 31)) + c
510 v_add_lshl_u32 u32: u32 u32 u32 :: (a + b) << (c & 31)
511 v_add3_u32 u32: u32 u32 u32 :: a + b + c
512 v_lshl_or_b32 b32: b32 u32 b32 :: (a << (b & 31)) | c
513 v_and_or_b32 b32: b32 b32 b32 :: (a & b) | c
514 v_or3_b32 b32: b32 b32 b32 :: a | b | c
515 v_mad_f16 f16: f16 f16 f16 :: round_f16(a * b) + c :: opsel
516 v_mad_u16 u16: u16 u16 u16 :: a * b + c :: opsel sat=umin(a*b+c,0xffffu)
517 v_mad_i16 i16: i16 i16 i16 :: a * b + c :: opsel sat=sat_i16(i64(a)*b+c)
518 v_fma_f16 f16: f16 f16 f16 :: fma_f16(a, b, c) :: opsel
519 v_div_fixup_f16 f16: f16 f16 f16 :: div_fixup_f16(a, b, c) :: opsel
520 v_lshl_add_u64 u64: u64 u32 u64 :: (a << (b & 7)) + c :: @gfx942
640 v_add_f64 f64: f64 f64 :: a + b
641 v_mul_f64 f64: f64 f64 :: a * b
642 v_min_f64 f64: f64 f64 :: min_f64(a, b)
643 v_max_f64 f64: f64 f64 :: max_f64(a, b)
644 v_ldexp_f64 f64: f64 i32 :: ldexp_f64(a, b)
645 v_mul_lo_u32 u32: u32 u32 :: a * b
646 v_mul_hi_u32 u32: u32 u32 :: u32((u64(a) * b) >> 32)
647 v_mul_hi_i32 i32: i32 i32 :: i32((i64(a) * b) >> 32)
648 v_ldexp_f32 f32: f32 i32 :: float(ldexp_f64(a, b))
649 v_readlane_b32 sgpr: b32 slane :: :: kind=readlane
650 v_writelane_b32 b32: sb32 slane :: :: kind=writelane
651 v_bcnt_u32_b32 u32: b32 u32 :: popcount32(a) + b
652 v_mbcnt_lo_u32_b32 u32: b32 u32 :: :: kind=mbcnt_lo
653 v_mbcnt_hi_u32_b32 u32: b32 u32 :: :: kind=mbcnt_hi
655 v_lshlrev_b64 b64: u32 b64 :: b << (a & 63)
656 v_lshrrev_b64 b64: u32 b64 :: b >> (a & 63)
657 v_ashrrev_i64 i64: u32 i64 :: b >> (a & 63)
658 v_trig_preop_f64 f64: f64 u32 :: trig_preop(a, b)
659 v_bfm_b32 b32: b32 b32 :: ((1u << (a & 31)) - 1) << (b & 31)
660 v_cvt_pknorm_i16_f32 b32: f32 f32 :: pack16(norm_i16(a), norm_i16(b))
661 v_cvt_pknorm_u16_f32 b32: f32 f32 :: pack16(norm_u16(a), norm_u16(b))
662 v_cvt_pkrtz_f16_f32 b32: f32 f32 :: pack16(f16_toward_zero(a), f16_toward_zero(b))
663 v_cvt_pk_u16_u32 b32: u32 u32 :: pack16(umin(a, 0xffff), umin(b, 0xffff))
664 v_cvt_pk_i16_i32 b32: i32 i32 :: pack16(clamp_i16(a), clamp_i16(b))
665 v_cvt_pknorm_i16_f16 b32: f16 f16 :: pack16(norm_i16(a), norm_i16(b)) :: opsel
666 v_cvt_pknorm_u16_f16 b32: f16 f16 :: pack16(norm_u16(a), norm_u16(b)) :: opsel
668 v_add_i32 i32: i32 i32 :: i32(u32(a) + u32(b)) :: sat=sat_i32(i64(a)+b)
669 v_sub_i32 i32: i32 i32 :: i32(u32(a) - u32(b)) :: sat=sat_i32(i64(a)-b)
670 v_add_i16 i16: i16 i16 :: a + b :: opsel sat=sat_i16(i64(a)+b)
671 v_sub_i16 i16: i16 i16 :: a - b :: opsel sat=sat_i16(i64(a)-b)
672 v_pack_b32_f16 b32: f16 f16 :: pack16(f32_to_f16(a), f32_to_f16(b)) :: opsel
673 v_mul_legacy_f32 f32: f32 f32 :: mul_legacy(a, b)
674 v_cvt_pk_fp8_f32 b32: f32 f32 :: f32_to_fp8(a) | (f32_to_fp8(b) << 8) :: dst16 @gfx942
675 v_cvt_pk_bf8_f32 b32: f32 f32 :: f32_to_bf8(a) | (f32_to_bf8(b) << 8) :: dst16 @gfx942
676 v_cvt_sr_fp8_f32 b32: f32 b32 :: f32_to_fp8(add_noise(a, b, 20)) :: dst8 @gfx942
677 v_cvt_sr_bf8_f32 b32: f32 b32 :: f32_to_bf8(add_noise(a, b, 21)) :: dst8 @gfx942
"""

_COMPARES = {
    "f": "false", "lt": "a < b", "eq": "a == b", "le": "a <= b", "gt": "a > b",
    "lg": "(a < b) | (a > b)", "ge": "a >= b", "o": "(a == a) & (b == b)",
    "u": "(a != a) | (b != b)", "nge": "!(a >= b)", "nlg": "!((a < b) | (a > b))",
    "ngt": "!(a > b)", "nle": "!(a <= b)", "neq": "!(a == b)", "nlt": "!(a < b)", "tru": "true",
}  # fmt: skip
_INT_COMPARES = {
    "f": "false", "lt": "a < b", "eq": "a == b", "le": "a <= b", "gt": "a > b", "ne": "a != b",
    "ge": "a >= b", "t": "true",
}  # fmt: skip


def _compares() -> list[Op]:
    ops: list[Op] = []

    def add(name: str, code: int, types: tuple[str, str], body: str) -> None:
        x = "x" if name.startswith("v_cmpx") else ""
        flags = frozenset({"nodpp", "nosdwa"} if "64" in name else {"nodpp"})
        ops.append(Op(name, "VOPC", code, "mask", types, body, "cmp" + x, flags))

    for base, t in ((16, "f32"), (18, "f64"), (20, "f16")):
        for offset, x in enumerate(("", "x")):
            add(f"v_cmp{x}_class_{t}", base + offset, (f"{t}r", "b32"), f"class_{t}(a, b)")
    for base, t in ((32, "f16"), (64, "f32"), (96, "f64")):
        for offset, x in ((0, ""), (16, "x")):
            for index, (name, body) in enumerate(_COMPARES.items()):
                add(f"v_cmp{x}_{name}_{t}", base + offset + index, (t, t), body)
    for base, t in (
        (160, "i16"), (168, "u16"), (192, "i32"), (200, "u32"), (224, "i64"), (232, "u64"),
    ):  # fmt: skip
        for offset, x in ((0, ""), (16, "x")):
            for index, (name, body) in enumerate(_INT_COMPARES.items()):
                add(f"v_cmp{x}_{name}_{t}", base + offset + index, (t, t), body)
    return ops


def _without_sdwa(op: Op) -> Op:
    """SDWA selects parts of 32-bit registers: 64-bit operands have none, but for the pair of
    floats made of two 8-bit ones, which a word holds."""
    if any("64" in t for t in (op.dst, *op.src)) and not {"fp8", "bf8"} & set(op.src):
        return replace(op, flags=op.flags | {"nosdwa"})
    return op


def vector_ops() -> list[Op]:
    short = rows(_VOP2, "VOP2", "valu") + rows(_VOP1, "VOP1", "valu")
    return [_without_sdwa(op) for op in short] + _compares() + rows(_VOP3, "VOP3", "valu")
