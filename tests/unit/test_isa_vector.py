"""Vector ALU semantics against numpy: every lane, edge values included."""

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
F16, F32, F64 = np.float16, np.float32, np.float64
U16, I16, U32, I32, U64, I64 = np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64
PLACE = (2, 4, 6)  # registers of the sources; the result is v[10:11]


def wrap(f: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(f(*args))

    return run


def big(f: Callable[..., int], out: Any) -> Callable[..., Array]:
    """A reference over Python's integers, wrapped to the result's width."""
    bits = np.dtype(out).itemsize * 8

    def run(*args: Array) -> Array:
        values = [f(*(int(x) for x in lane)) & (2**bits - 1) for lane in zip(*args, strict=True)]
        return np.array(values, dtype=f"u{bits // 8}").view(out)

    return run


def fma32(a: Array, b: Array, c: Array) -> Array:
    """Exact product and sum, rounded once, by way of fractions."""
    from fractions import Fraction

    out = []
    for x, y, z in zip(a.astype(F64), b.astype(F64), c.astype(F64), strict=True):
        if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
            out.append(F32(x * y + z))
            continue
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        if exact == 0:
            out.append(F32(x * y + z))
            continue
        near = F32(float(exact))
        choices = [near, np.nextafter(near, F32(np.inf)), np.nextafter(near, F32(-np.inf))]
        finite = [v for v in choices if np.isfinite(v)]
        if not np.isfinite(near):
            out.append(near)
            continue
        best = min(finite, key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view(U32)) & 1))
        out.append(best)
    return np.array(out, dtype=F32)


def median(a: Array, b: Array, c: Array) -> Array:
    return np.median(np.stack([a, b, c]), axis=0).astype(a.dtype)


def bits_of(x: Array) -> Array:
    return x.view(f"u{x.dtype.itemsize}")


def class_mask(x: Array) -> Array:
    u = bits_of(x)
    quiet = 1 << (np.finfo(x.dtype).nmant - 1)
    neg = np.signbit(x)
    tiny = np.finfo(x.dtype).tiny
    nan, inf, zero = np.isnan(x), np.isinf(x), x == 0
    sub = ~zero & (np.abs(x) < tiny)
    bit = np.where(
        nan,
        np.where(u & u.dtype.type(quiet), 1, 0),
        np.where(
            inf,
            np.where(neg, 2, 9),
            np.where(
                zero, np.where(neg, 5, 6), np.where(sub, np.where(neg, 4, 7), np.where(neg, 3, 8))
            ),
        ),
    )
    return np.asarray(bit)


def sext(x: int, bits: int) -> int:
    x &= 2**bits - 1
    return x - 2**bits if x >> (bits - 1) else x


def sat(x: int, low: int, high: int) -> int:
    return max(low, min(high, x))


def byte(x: int, n: int) -> int:
    return (x >> (8 * n)) & 255


def perm(a: int, b: int, sel: int) -> int:
    data = a << 32 | b
    out = 0
    for n in range(4):
        s = byte(sel, n)
        value = (
            byte(data, s)
            if s < 8
            else 255 * (data >> (16 * (s - 8) + 15) & 1)
            if s < 12
            else 0
            if s == 12
            else 255
        )
        out |= value << (8 * n)
    return out


# name, asm with {d} {0} {1} {2}, types of sources, type of result, reference
CASES: list[tuple[str, tuple[Any, ...], Any, Callable[..., Any]]] = [
    ("v_add_f32 {d}, {0}, {1}", (F32, F32), F32, wrap(np.add)),
    ("v_sub_f32 {d}, {0}, {1}", (F32, F32), F32, wrap(np.subtract)),
    ("v_subrev_f32 {d}, {0}, {1}", (F32, F32), F32, wrap(lambda a, b: b - a)),
    ("v_mul_f32 {d}, {0}, {1}", (F32, F32), F32, wrap(np.multiply)),
    ("v_fma_f32 {d}, {0}, {1}, {2}", (F32, F32, F32), F32, wrap(fma32)),
    ("v_add_f64 {d}, {0}, {1}", (F64, F64), F64, wrap(np.add)),
    ("v_mul_f64 {d}, {0}, {1}", (F64, F64), F64, wrap(np.multiply)),
    ("v_add_f16 {d}, {0}, {1}", (F16, F16), F16, wrap(np.add)),
    ("v_mul_f16 {d}, {0}, {1}", (F16, F16), F16, wrap(np.multiply)),
    ("v_fma_f16 {d}, {0}, {1}, {2}", (F16, F16, F16), F16, wrap(lambda a, b, c: (a.astype(F64) * b + c).astype(F16))),
    ("v_min_f32 {d}, {0}, {1}", (F32, F32), F32, wrap(np.fmin)),
    ("v_max_f32 {d}, {0}, {1}", (F32, F32), F32, wrap(np.fmax)),
    ("v_min_f64 {d}, {0}, {1}", (F64, F64), F64, wrap(np.fmin)),
    ("v_max_f16 {d}, {0}, {1}", (F16, F16), F16, wrap(np.fmax)),
    ("v_max3_f32 {d}, {0}, {1}, {2}", (F32, F32, F32), F32, wrap(lambda a, b, c: np.fmax(np.fmax(a, b), c))),
    ("v_add_u32 {d}, {0}, {1}", (U32, U32), U32, wrap(np.add)),
    ("v_sub_u32 {d}, {0}, {1}", (U32, U32), U32, wrap(np.subtract)),
    ("v_mul_lo_u32 {d}, {0}, {1}", (U32, U32), U32, wrap(np.multiply)),
    ("v_mul_hi_u32 {d}, {0}, {1}", (U32, U32), U32, big(lambda a, b: a * b >> 32, U32)),
    ("v_mul_hi_i32 {d}, {0}, {1}", (I32, I32), I32, big(lambda a, b: a * b >> 32, I32)),
    ("v_mul_i32_i24 {d}, {0}, {1}", (I32, I32), I32, big(lambda a, b: sext(a, 24) * sext(b, 24), I32)),
    ("v_mul_hi_u32_u24 {d}, {0}, {1}", (U32, U32), U32, big(lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 32, U32)),
    ("v_mad_u32_u24 {d}, {0}, {1}, {2}", (U32, U32, U32), U32, big(lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c, U32)),
    ("v_mad_u64_u32 {d}, s[8:9], {0}, {1}, {2}", (U32, U32, U64), U64, big(lambda a, b, c: a * b + c, U64)),
    ("v_mad_i64_i32 {d}, s[8:9], {0}, {1}, {2}", (I32, I32, I64), I64, big(lambda a, b, c: a * b + c, I64)),
    ("v_lshl_add_u64 {d}, {0}, 3, {1}", (U64, U64), U64, big(lambda a, b: (a << 3) + b, U64)),
    ("v_lshlrev_b32 {d}, {0}, {1}", (U32, U32), U32, big(lambda a, b: b << (a & 31), U32)),
    ("v_ashrrev_i32 {d}, {0}, {1}", (U32, I32), I32, big(lambda a, b: b >> (a & 31), I32)),
    ("v_lshrrev_b64 {d}, {0}, {1}", (U32, U64), U64, big(lambda a, b: b >> (a & 63), U64)),
    ("v_ashrrev_i64 {d}, {0}, {1}", (U32, I64), I64, big(lambda a, b: b >> (a & 63), I64)),
    ("v_min_i32 {d}, {0}, {1}", (I32, I32), I32, np.minimum),
    ("v_max_u32 {d}, {0}, {1}", (U32, U32), U32, np.maximum),
    ("v_med3_i32 {d}, {0}, {1}, {2}", (I32, I32, I32), I32, median),
    ("v_med3_u32 {d}, {0}, {1}, {2}", (U32, U32, U32), U32, lambda a, b, c: np.sort(np.stack([a, b, c]), axis=0)[1]),
    ("v_bfe_u32 {d}, {0}, {1}, {2}", (U32, U32, U32), U32, big(lambda a, b, c: (a >> (b & 31)) & ((1 << (c & 31)) - 1), U32)),
    ("v_bfe_i32 {d}, {0}, {1}, {2}", (I32, U32, U32), I32, big(lambda a, b, c: (a >> (b & 31)) if (b & 31) + (c & 31) >= 32 else sext(a >> (b & 31), c & 31) if c & 31 else 0, I32)),
    ("v_bfi_b32 {d}, {0}, {1}, {2}", (U32, U32, U32), U32, lambda a, b, c: (a & b) | (~a & c)),
    ("v_alignbit_b32 {d}, {0}, {1}, {2}", (U32, U32, U32), U32, big(lambda a, b, c: (a << 32 | b) >> (c & 31), U32)),
    ("v_alignbyte_b32 {d}, {0}, {1}, {2}", (U32, U32, U32), U32, big(lambda a, b, c: (a << 32 | b) >> 8 * (c & 3), U32)),
    ("v_perm_b32 {d}, {0}, {1}, {2}", (U32, U32, U32), U32, big(perm, U32)),
    ("v_and_or_b32 {d}, {0}, {1}, {2}", (U32, U32, U32), U32, lambda a, b, c: (a & b) | c),
    ("v_xad_u32 {d}, {0}, {1}, {2}", (U32, U32, U32), U32, wrap(lambda a, b, c: (a ^ b) + c)),
    ("v_add_lshl_u32 {d}, {0}, {1}, {2}", (U32, U32, U32), U32, big(lambda a, b, c: ((a + b) & 0xFFFFFFFF) << (c & 31), U32)),
    ("v_sad_u8 {d}, {0}, {1}, {2}", (U32, U32, U32), U32, big(lambda a, b, c: sum(abs(byte(a, n) - byte(b, n)) for n in range(4)) + c, U32)),
    ("v_bfrev_b32 {d}, {0}", (U32,), U32, big(lambda a: int(f"{a:032b}"[::-1], 2), U32)),
    ("v_ffbh_u32 {d}, {0}", (U32,), U32, big(lambda a: 32 - a.bit_length() if a else -1, U32)),
    ("v_ffbl_b32 {d}, {0}", (U32,), U32, big(lambda a: (a & -a).bit_length() - 1, U32)),
    ("v_ffbh_i32 {d}, {0}", (I32,), I32, big(lambda a: 32 - (~a if a < 0 else a).bit_length() if a not in (0, -1) else -1, I32)),
    ("v_bcnt_u32_b32 {d}, {0}, {1}", (U32, U32), U32, big(lambda a, b: a.bit_count() + b, U32)),
    ("v_add_u16 {d}, {0}, {1}", (U16, U16), U16, wrap(np.add)),
    ("v_mul_lo_u16 {d}, {0}, {1}", (U16, U16), U16, wrap(np.multiply)),
    ("v_ashrrev_i16 {d}, {0}, {1}", (U16, I16), I16, big(lambda a, b: b >> (a & 15), I16)),
    ("v_mad_i16 {d}, {0}, {1}, {2}", (I16, I16, I16), I16, big(lambda a, b, c: a * b + c, I16)),
    ("v_add_u32_e64 {d}, {0}, {1} clamp", (U32, U32), U32, big(lambda a, b: sat(a + b, 0, 2**32 - 1), U32)),
    ("v_sub_u16_e64 {d}, {0}, {1} clamp", (U16, U16), U16, big(lambda a, b: sat(a - b, 0, 65535), U16)),
    ("v_add_i32 {d}, {0}, {1} clamp", (I32, I32), I32, big(lambda a, b: sat(a + b, -(2**31), 2**31 - 1), I32)),
    ("v_cvt_f32_i32 {d}, {0}", (I32,), F32, lambda a: a.astype(F32)),
    ("v_cvt_f32_u32 {d}, {0}", (U32,), F32, lambda a: a.astype(F32)),
    ("v_cvt_f64_u32 {d}, {0}", (U32,), F64, lambda a: a.astype(F64)),
    ("v_cvt_f32_f64 {d}, {0}", (F64,), F32, wrap(lambda a: a.astype(F32))),
    ("v_cvt_f16_f32 {d}, {0}", (F32,), F16, wrap(lambda a: a.astype(F16))),
    ("v_cvt_f32_f16 {d}, {0}", (F16,), F32, lambda a: a.astype(F32)),
    ("v_cvt_i32_f32 {d}, {0}", (F32,), I32, wrap(lambda a: np.clip(np.nan_to_num(np.trunc(a.astype(F64)), posinf=2**40, neginf=-(2**40)), -(2**31), 2**31 - 1).astype(I32))),
    ("v_cvt_u32_f32 {d}, {0}", (F32,), U32, wrap(lambda a: np.clip(np.nan_to_num(np.trunc(a.astype(F64)), posinf=2**40, neginf=-(2**40)), 0, 2**32 - 1).astype(U32))),
    ("v_cvt_i32_f64 {d}, {0}", (F64,), I32, wrap(lambda a: np.clip(np.nan_to_num(np.trunc(a), posinf=2**40, neginf=-(2**40)), -(2**31), 2**31 - 1).astype(I32))),
    ("v_cvt_f32_ubyte2 {d}, {0}", (U32,), F32, lambda a: ((a >> 16) & 255).astype(F32)),
    ("v_cvt_pk_i16_i32 {d}, {0}, {1}", (I32, I32), U32, big(lambda a, b: (sat(a, -32768, 32767) & 0xFFFF) | (sat(b, -32768, 32767) & 0xFFFF) << 16, U32)),
    ("v_rndne_f32 {d}, {0}", (F32,), F32, np.rint),
    ("v_trunc_f64 {d}, {0}", (F64,), F64, np.trunc),
    ("v_floor_f16 {d}, {0}", (F16,), F16, np.floor),
    ("v_ceil_f32 {d}, {0}", (F32,), F32, np.ceil),
    ("v_ldexp_f64 {d}, {0}, {1}", (F64, I32), F64, wrap(lambda a, b: np.ldexp(a, np.clip(b, -5000, 5000)))),
    ("v_frexp_mant_f64 {d}, {0}", (F64,), F64, lambda a: np.where(np.isfinite(a), np.frexp(a)[0], a)),
    ("v_frexp_exp_i32_f64 {d}, {0}", (F64,), I32, lambda a: np.where(np.isfinite(a), np.frexp(a)[1], 0).astype(I32)),
    ("v_sqrt_f64 {d}, {0}", (F64,), F64, wrap(np.sqrt)),
    ("v_pk_add_f16 {d}, {0}, {1}", (U32, U32), U32, wrap(lambda a, b: (a.view(F16) + b.view(F16)).view(U32))),
    ("v_pk_mul_lo_u16 {d}, {0}, {1}", (U32, U32), U32, wrap(lambda a, b: (a.view(U16) * b.view(U16)).view(U32))),
    ("v_pk_max_i16 {d}, {0}, {1}", (U32, U32), U32, lambda a, b: np.maximum(a.view(I16), b.view(I16)).view(U32)),
    ("v_pk_sub_i16 {d}, {0}, {1} clamp", (U32, U32), U32, lambda a, b: np.clip(a.view(I16).astype(I32) - b.view(I16), -32768, 32767).astype(I16).view(U32)),
    ("v_pk_mul_f32 {d}, {0}, {1}", (U64, U64), U64, wrap(lambda a, b: (a.view(F32) * b.view(F32)).view(U64))),
    ("v_pk_add_f32 {d}, {0}, {1} op_sel:[1,0] op_sel_hi:[0,1]", (U64, U64), U64, wrap(lambda a, b: (a.view(F32).reshape(-1, 2)[:, ::-1].ravel() + b.view(F32)).view(U64))),
    ("v_pk_mov_b32 {d}, {0}, {1} op_sel:[1,0]", (U64, U64), U64, lambda a, b: np.stack([a.view(U32)[1::2], b.view(U32)[0::2]], axis=1).ravel().view(U64)),
    ("v_dot4_i32_i8 {d}, {0}, {1}, {2}", (U32, U32, I32), I32, big(lambda a, b, c: sum(sext(byte(a, n), 8) * sext(byte(b, n), 8) for n in range(4)) + c, I32)),
    ("v_dot2_u32_u16 {d}, {0}, {1}, {2}", (U32, U32, U32), U32, big(lambda a, b, c: (a & 0xFFFF) * (b & 0xFFFF) + (a >> 16) * (b >> 16) + c, U32)),
    ("v_dot8_u32_u4 {d}, {0}, {1}, {2}", (U32, U32, U32), U32, big(lambda a, b, c: sum((a >> n & 15) * (b >> n & 15) for n in range(0, 32, 4)) + c, U32)),
    ("v_lerp_u8 {d}, {0}, {1}, {2}", (U32, U32, U32), U32, big(lambda a, b, c: sum(((byte(a, n) + byte(b, n) + (byte(c, n) & 1)) >> 1) << 8 * n for n in range(4)), U32)),
    ("v_add_f32_e64 {d}, -{0}, |{1}|", (F32, F32), F32, wrap(lambda a, b: -a + np.abs(b))),
    ("v_add_f64 {d}, -|{0}|, {1}", (F64, F64), F64, wrap(lambda a, b: -np.abs(a) + b)),
    ("v_mul_f32_e64 {d}, {0}, {1} clamp", (F32, F32), F32, wrap(lambda a, b: np.nan_to_num(np.clip(a * b, 0, 1)) + F32(0))),
    ("v_fma_mix_f32 {d}, {0}, {1}, {2} op_sel:[0,1,0] op_sel_hi:[1,1,0]", (U32, U32, F32), F32, wrap(lambda a, b, c: fma32(a.view(F16)[0::2].astype(F32), b.view(F16)[1::2].astype(F32), c))),
    ("v_add_f32_sdwa {d}, {0}, {1} dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD", (F32, F32), F32, wrap(np.add)),
    ("v_add_u32_sdwa {d}, {0}, {1} dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2 src1_sel:WORD_1", (U32, U32), U32, lambda a, b: ((a >> 16) & 255) + (b >> 16)),
    ("v_add_u32_sdwa {d}, sext({0}), {1} dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD", (U32, U32), U32, big(lambda a, b: ((sext(a >> 8, 8) + b) & 0xFFFF) << 16, U32)),
    ("v_or_b32_sdwa {d}, {0}, {1} dst_sel:BYTE_0 dst_unused:UNUSED_SEXT src0_sel:DWORD src1_sel:DWORD", (U32, U32), U32, big(lambda a, b: sext(a | b, 8), U32)),
]  # fmt: skip


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    def registers(types: tuple[Any, ...]) -> list[str]:
        return [
            f"v[{p}:{p + 1}]" if np.dtype(t).itemsize == 8 else f"v{p}"
            for p, t in zip(PLACE, types, strict=False)
        ]

    texts = []
    for text, types, out, _ in CASES:
        d = "v[10:11]" if np.dtype(out).itemsize == 8 else "v10"
        texts.append(text.format(*registers(types), d=d) + "\ns_endpgm")
    codes = assemble_all("gfx942", texts, tmp_path_factory.mktemp("isa"))
    return {case[0]: code for case, code in zip(CASES, codes, strict=True) if code}


def same(got: Array, want: Array, floats: Any = None) -> Array:
    """Lanes whose bits agree; any NaN equals any NaN, since payloads are not specified."""
    if floats:
        lanes = same(got.view(floats), want.view(floats)).reshape(len(got), -1)
        return np.asarray(lanes.all(axis=1))
    if want.dtype.kind == "f":
        return (bits_of(got) == bits_of(want)) | (np.isnan(got) & np.isnan(want))
    return got == want


@pytest.mark.parametrize("case", CASES, ids=[c[0] for c in CASES])
@pytest.mark.parametrize("exec_mask", [2**64 - 1, 0x8000_F0F0_1234_5671])
def test_vector_instruction_computes_what_numpy_does(
    machines: dict[str, bytes], case: tuple[Any, ...], exec_mask: int
) -> None:
    text, types, out, reference = case
    for seed in range(3):
        inputs = [edges(t, 10 * seed + n) for n, t in enumerate(types)]
        m = Machine(machines[text])
        for place, values in zip(PLACE, inputs, strict=False):
            m.set_v(place, values)
        m.v[10:12] = 0xDEADBEEF
        m.exec = exec_mask
        assert m.run() == "end"
        got, want = m.get_v(10, out), np.asarray(reference(*inputs))
        want = want.astype(out) if want.dtype != np.dtype(out) else want
        active = np.array([exec_mask >> lane & 1 for lane in range(LANES)], dtype=bool)
        floats = (
            {"f16": F16, "f32": F32}.get(text.split()[0][-3:]) if text.startswith("v_pk") else None
        )
        wrong = np.flatnonzero(active & ~same(got, want, floats))
        assert wrong.size == 0, [
            (int(w), [x[w] for x in inputs], got[w], want[w]) for w in wrong[:4]
        ]
        assert (m.v[10][~active] == 0xDEADBEEF).all()


APPROXIMATE: list[tuple[str, Callable[..., Any]]] = [
    ("v_exp_f32", np.exp2), ("v_log_f32", np.log2), ("v_rcp_f32", lambda a: 1.0 / a),
    ("v_rsq_f32", lambda a: 1.0 / np.sqrt(a)), ("v_sqrt_f32", np.sqrt),
    ("v_sin_f32", lambda a: np.sin(2 * np.pi * (a - np.rint(a)))), ("v_cos_f32", lambda a: np.cos(2 * np.pi * (a - np.rint(a)))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "reference"), APPROXIMATE)
def test_transcendentals_are_within_one_ulp(
    tmp_path: Path, name: str, reference: Callable[..., Any]
) -> None:
    code = assemble_all("gfx942", [f"{name} v10, v2\ns_endpgm"], tmp_path)[0]
    rng = np.random.default_rng(7)
    for scale in (0.01, 1.0, 20.0, 60.0):
        a = (rng.standard_normal(LANES) * scale).astype(F32)
        if name in ("v_log_f32", "v_rsq_f32", "v_sqrt_f32"):
            a = np.abs(a) + F32(1e-30)
        m = Machine(code or b"")
        m.set_v(2, a)
        assert m.run() == "end"
        want = np.asarray(wrap(reference)(a.astype(F64)))
        flushed = np.abs(want) < np.finfo(F32).tiny
        got = m.get_v(10, F32).astype(F64)
        ulp = np.spacing(np.abs(want).astype(F32)).astype(F64)
        error = np.where(flushed, 0, np.abs(got - want) / ulp)
        assert error.max() <= 1.0, (a[error.argmax()], got[error.argmax()], want[error.argmax()])


@pytest.mark.parametrize(("suffix", "dtype"), [("f32", F32), ("f64", F64), ("f16", F16)])
def test_division_sequence_is_correctly_rounded(tmp_path: Path, suffix: str, dtype: Any) -> None:
    """div_scale, Newton steps, div_fmas, div_fixup as LLVM emits them give IEEE division."""
    if suffix == "f32":
        text = """
        v_div_scale_f32 v10, s[4:5], v4, v4, v2
        v_div_scale_f32 v11, vcc, v2, v4, v2
        v_rcp_f32 v12, v10
        v_fma_f32 v13, -v10, v12, 1.0
        v_fma_f32 v12, v13, v12, v12
        v_mul_f32 v13, v11, v12
        v_fma_f32 v14, -v10, v13, v11
        v_fma_f32 v13, v14, v12, v13
        v_fma_f32 v10, -v10, v13, v11
        v_div_fmas_f32 v10, v10, v12, v13
        v_div_fixup_f32 v20, v10, v4, v2"""
    elif suffix == "f64":
        text = """
        v_div_scale_f64 v[10:11], s[4:5], v[4:5], v[4:5], v[2:3]
        v_rcp_f64 v[12:13], v[10:11]
        v_div_scale_f64 v[16:17], vcc, v[2:3], v[4:5], v[2:3]
        v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0
        v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]
        v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0
        v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]
        v_mul_f64 v[14:15], v[16:17], v[12:13]
        v_fma_f64 v[10:11], -v[10:11], v[14:15], v[16:17]
        v_div_fmas_f64 v[10:11], v[10:11], v[12:13], v[14:15]
        v_div_fixup_f64 v[20:21], v[10:11], v[4:5], v[2:3]"""
    else:
        text = """
        v_cvt_f32_f16 v10, v2
        v_cvt_f32_f16 v11, v4
        v_rcp_f32 v11, v11
        v_mul_f32 v10, v10, v11
        v_cvt_f16_f32 v10, v10
        v_div_fixup_f16 v20, v10, v4, v2"""
    code = assemble_all("gfx942", [text + "\ns_endpgm"], tmp_path)[0]
    for seed in range(60 if suffix != "f16" else 30):
        rng = np.random.default_rng(seed)
        bits = np.dtype(dtype).itemsize
        a = np.frombuffer(rng.bytes(LANES * bits), dtype=dtype).copy()
        b = np.frombuffer(rng.bytes(LANES * bits), dtype=dtype).copy()
        if seed % 3 == 0:
            a, b = edges(dtype, seed), edges(dtype, seed + 1)
        if seed >= 30:  # quotients around and below the smallest normal number
            info = np.finfo(dtype)
            b = np.ldexp(rng.uniform(1, 2, LANES), rng.integers(-20, 100, LANES)).astype(dtype)
            drop = rng.integers(-2, 60 if suffix == "f64" else 28, LANES)
            exponent = np.frexp(b)[1] + info.minexp - drop
            a = np.ldexp(
                rng.choice([1.0, 1.5, 2 - info.eps, *rng.uniform(1, 2, 8)], LANES), exponent
            )
            a = a.astype(dtype)
        if suffix == "f16":  # this sequence is the fast one: keep to normal numbers
            a, b = edges(dtype, seed), np.abs(edges(dtype, seed + 1)) + F16(1)
        m = Machine(code or b"")
        m.set_v(2, a)
        m.set_v(4, b)
        assert m.run() == "end"
        with np.errstate(all="ignore"):
            want = a / b
        got = m.get_v(20, dtype)
        wrong = np.flatnonzero(~same(got, want))
        if suffix == "f16":
            wrong = wrong[
                np.abs(got[wrong].astype(F64) - want[wrong]) > np.spacing(np.abs(want[wrong]))
            ]
        assert wrong.size == 0, [(a[w], b[w], got[w], want[w]) for w in wrong[:4]]


COMPARES: dict[str, Callable[[Any, Any], Any]] = {
    "lt": np.less, "eq": np.equal, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "lg": lambda a, b: (a < b) | (a > b), "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "u": lambda a, b: np.isnan(a) | np.isnan(b), "nlt": lambda a, b: ~(a < b), "neq": lambda a, b: ~(a == b),
    "nge": lambda a, b: ~(a >= b), "tru": lambda a, b: np.ones(LANES, bool), "f": lambda a, b: np.zeros(LANES, bool),
}  # fmt: skip


@pytest.mark.parametrize(("suffix", "dtype"), [("f32", F32), ("f64", F64), ("f16", F16)])
def test_float_compares(tmp_path: Path, suffix: str, dtype: Any) -> None:
    pair = dtype == F64
    a, b = ("v[2:3]", "v[4:5]") if pair else ("v2", "v4")
    texts = [
        f"v_cmp_{name}_{suffix} vcc, {a}, {b}\nv_cmp_{name}_{suffix} s[4:5], -{a}, {b}\ns_endpgm"
        for name in COMPARES
    ]
    for code, reference in zip(
        assemble_all("gfx942", texts, tmp_path), COMPARES.values(), strict=True
    ):
        x, y = edges(dtype, 3), edges(dtype, 4)
        y[::3] = x[::3]
        m = Machine(code or b"")
        m.exec = 0xFFFF_0FFF_FFFF_FFF7
        m.set_v(2, x)
        m.set_v(4, y)
        assert m.run() == "end"
        active = lanes_of(m.exec)
        assert (lanes_of(m.get_pair(106)) == (reference(x, y) & active)).all()
        assert (lanes_of(m.get_pair(4)) == (reference(-x, y) & active)).all()


@pytest.mark.parametrize(
    ("suffix", "dtype"),
    [("i32", I32), ("u32", U32), ("i64", I64), ("u64", U64), ("i16", I16), ("u16", U16)],
)
def test_integer_compares_and_cmpx(tmp_path: Path, suffix: str, dtype: Any) -> None:
    pair = np.dtype(dtype).itemsize == 8
    a, b = ("v[2:3]", "v[4:5]") if pair else ("v2", "v4")
    names = {
        "lt": np.less,
        "eq": np.equal,
        "le": np.less_equal,
        "gt": np.greater,
        "ne": np.not_equal,
        "ge": np.greater_equal,
    }
    texts = [f"v_cmpx_{name}_{suffix} vcc, {a}, {b}\ns_endpgm" for name in names]
    for code, reference in zip(
        assemble_all("gfx942", texts, tmp_path), names.values(), strict=True
    ):
        x, y = edges(dtype, 3), edges(dtype, 4)
        y[::3] = x[::3]
        m = Machine(code or b"")
        m.set_v(2, x)
        m.set_v(4, y)
        assert m.run() == "end"
        assert (lanes_of(m.exec) == reference(x, y)).all()
        assert m.get_pair(106) == m.exec


def test_class_tests_every_kind_of_number(tmp_path: Path) -> None:
    for suffix, dtype, reg in (("f32", F32, "v2"), ("f64", F64, "v[2:3]"), ("f16", F16, "v2")):
        codes = assemble_all("gfx942", [f"v_cmp_class_{suffix} vcc, {reg}, v4\ns_endpgm"], tmp_path)
        x = edges(dtype, 2)
        for bit in range(10):
            m = Machine(codes[0] or b"")
            m.set_v(2, x)
            m.set_v(4, np.full(LANES, 1 << bit, dtype=U32))
            m.run()
            assert (lanes_of(m.get_pair(106)) == (class_mask(x) == bit)).all(), (suffix, bit)
