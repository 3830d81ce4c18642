// Division helpers, 8-bit floats, dot products, byte arithmetic, cube maps.
#pragma once

#include "math.h"

namespace gpu::GPU_EXEC_NS {

inline i32 exponent(float x) { return i32((as_u32(x) >> 23) & 255); }
inline i32 exponent(double x) { return i32((as_u64(x) >> 52) & 2047); }

// Which way v_div_scale moves its operand. The quotient and the inverse that decide are compared, not
// computed, and all cases are weighed at once: a loop over lanes has no branches.
template <class M>
struct DivScale {
  M up, down, carry;
  DivScale(M far, M small_b, M inverse, M quotient, M tiny, M is_b, M is_c) {
    const M late = ~far & ~small_b;
    up = (far & is_b) | (~far & small_b) | (late & ~inverse & ((quotient & is_c) | (~quotient & tiny)));
    down = late & inverse & (~quotient | is_b);
    carry = far | (late & quotient);
  }
};
// a: the operand to scale, b: denominator, c: numerator. The flag asks div_fmas to undo it.
inline float div_scale_f32(float a, float b, float c, bool& carry) {
  const auto when = [](bool x) { return ones<u32>(x); };
  const float ab = __builtin_fabsf(b), ac = __builtin_fabsf(c);
  const u32 finite = when(ab < __builtin_inff()), some = ~when(b == 0.0f) & ~when(c == 0.0f);
  // |c / b| < 2^-126 takes a b that can be scaled down without loss.
  const u32 quotient = finite & when(ab >= 0x1p-63f) & when(ac * 0x1p64f < ab * 0x1p-62f);
  const DivScale<u32> s(when(exponent(c) - exponent(b) >= 96), when(ab < 0x1p-126f), finite & when(ab > 0x1p126f),
                        quotient, when(exponent(c) <= 23), when(as_u32(a) == as_u32(b)), when(as_u32(a) == as_u32(c)));
  carry = (s.carry & some) != 0;
  const u32 r = choose(s.up, as_u32(a * 0x1p64f), choose(s.down, as_u32(a * 0x1p-64f), as_u32(a)));
  return as_f32(choose(some, r, 0x7fc00000u));
}
inline double div_scale_f64(double a, double b, double c, bool& carry) {
  const auto when = [](bool x) { return ones<u64>(x); };
  const double ab = __builtin_fabs(b), ac = __builtin_fabs(c);
  const u64 finite = when(ab < __builtin_inf()), some = ~when(b == 0.0) & ~when(c == 0.0);
  // 2^-1075 < |c / b| < 2^-1022: what rounds to 0 is none.
  const u64 quotient =
      finite & when(ab >= 0x1p-512) & when(ac * 0x1p512 < ab * 0x1p-510) & when(ac * 0x1p600 > ab * 0x1p-475);
  const i64 eb = i64((as_u64(b) >> 52) & 2047), ec = i64((as_u64(c) >> 52) & 2047);
  const DivScale<u64> s(when(ec - eb >= 768), when(ab < 0x1p-1022), finite & when(ab > 0x1p1022), quotient,
                        when(ec <= 53), when(as_u64(a) == as_u64(b)), when(as_u64(a) == as_u64(c)));
  carry = (s.carry & some) != 0;
  const u64 r = choose(s.up, as_u64(a * 0x1p128), choose(s.down, as_u64(a * 0x1p-128), as_u64(a)));
  return as_f64(choose(some, r, u64(0x7ff8000000000000)));
}
// x rounded to odd, given the sign of what was lost: scaling it afterwards rounds once.
inline double to_odd(double x, double lost) {
  if (lost == 0.0 || !(__builtin_fabs(x) < __builtin_inf())) return x;
  u64 b = as_u64(x);
  if ((lost > 0.0) != (x > 0.0)) --b;
  return as_f64(b | 1);
}
inline float div_fmas_f32(float a, float b, float c, bool scaled) {
  if (!scaled) return __builtin_fmaf(a, b, c);
  const double p = double(a) * double(b), s = p + double(c), t = s - p;
  const double lost = (p - (s - t)) + (double(c) - t);
  return float(std::ldexp(to_odd(s, lost), exponent(c) > 127 ? 64 : -64));
}
inline double div_fmas_f64(double a, double b, double c, bool scaled) {
  const double r = __builtin_fma(a, b, c);
  if (!scaled) return r;
  const bool up = exponent(c) > 1023;
  if (up || !(__builtin_fabs(r) < 0x1p-894)) return ldexp_f64(r, up ? 128 : -128);
  // What a denormal keeps are multiples of `unit`. Where r, itself rounded, lies half-way between two
  // of them, the part it lost decides.
  constexpr double unit = 0x1p-946;
  const double p = a * b, pe = __builtin_fma(a, b, -p), s = p + c, t = s - p;
  const double se = (p - (s - t)) + (c - t), lost = (s - r) + (se + pe);
  const double large = __builtin_copysign(0x1p-894, r), kept = (r + large) - large;
  const bool half = __builtin_fabs(r - kept) == unit / 2 && lost != 0.0;
  return ldexp_f64(half ? r + __builtin_copysign(unit / 2, lost) : kept, -128);
}
inline float div_fixup_f32(float q, float d, float n) {
  const u32 sign = (as_u32(d) ^ as_u32(n)) & 0x80000000u, quiet = 0x400000u;
  const float inf = __builtin_inff(), ad = __builtin_fabsf(d), an = __builtin_fabsf(n);
  u32 r = sign | (as_u32(q) & 0x7fffffffu);
  r = __builtin_fabsf(q) < inf ? r : as_u32(n / d);  // the quotient overflowed on the way
  r = ((ad == inf) | (an == 0.0f) | (exponent(n) - exponent(d) < -150)) ? sign : r;
  r = ((ad == 0.0f) | (an == inf)) ? sign | 0x7f800000u : r;
  r = ((ad == 0.0f) & (an == 0.0f)) | ((ad == inf) & (an == inf)) ? 0xffc00000u : r;
  r = d != d ? as_u32(d) | quiet : r;
  return as_f32(n != n ? as_u32(n) | quiet : r);
}
inline double div_fixup_f64(double q, double d, double n) {
  const u64 top = u64(1) << 63, sign = (as_u64(d) ^ as_u64(n)) & top, quiet = u64(1) << 51;
  const double inf = __builtin_inf(), ad = __builtin_fabs(d), an = __builtin_fabs(n);
  u64 r = sign | (as_u64(q) & ~top);
  r = __builtin_fabs(q) < inf ? r : as_u64(n / d);  // the quotient overflowed on the way
  r = ((ad == inf) | (an == 0.0) | (exponent(n) - exponent(d) < -1075)) ? sign : r;
  r = ((ad == 0.0) | (an == inf)) ? sign | 0x7ff0000000000000ull : r;
  r = ((ad == 0.0) & (an == 0.0)) | ((ad == inf) & (an == inf)) ? 0xfff8000000000000ull : r;
  r = d != d ? as_u64(d) | quiet : r;
  return as_f64(n != n ? as_u64(n) | quiet : r);
}
inline float div_fixup_f16(float q, float d, float n) {
  const u32 sign = (as_u32(d) ^ as_u32(n)) & 0x80000000u;
  const float inf = __builtin_inff(), ad = __builtin_fabsf(d), an = __builtin_fabsf(n);
  if (n != n) return n;
  if (d != d) return d;
  if ((ad == 0.0f && an == 0.0f) || (ad == inf && an == inf)) return as_f32(0xffc00000u);
  if (ad == 0.0f || an == inf) return as_f32(sign | 0x7f800000u);
  if (ad == inf || an == 0.0f) return as_f32(sign);
  return as_f32(sign | (as_u32(q) & 0x7fffffffu));
}
inline u64 mad_u64(u32 a, u32 b, u64 c, bool& carry) {
  const u64 r = u64(a) * b + c;
  carry = r < c;
  return r;
}
inline i64 mad_i64(i32 a, i32 b, i64 c, bool& carry) {
  i64 r = 0;
  carry = __builtin_add_overflow(i64(a) * b, c, &r);
  return r;
}

// 2/pi to 1280 bits, most significant word first.
inline constexpr u32 kTwoOverPi[40] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d};
inline double trig_preop(double a, u32 segment) {
  u32 shift = (segment & 31) * 53;
  const i32 e = exponent(a);
  if (e > 1077) shift += u32(e - 1077);
  // Bits [shift, shift + 53) after the binary point, zero past the 1201 kept by hardware.
  const auto word = [](u32 n) { return n < 37 ? kTwoOverPi[n] : n == 37 ? kTwoOverPi[n] & 0xffff8000u : 0u; };
  const u32 first = shift / 32, skip = shift % 32;
  const u64 high = (u64(word(first)) << 32) | word(first + 1), low = u64(word(first + 2)) << 32;
  const u64 bits = ((high << skip) | (skip ? low >> (64 - skip) : 0)) >> 11;
  i32 scale = -53 - i32(shift);
  if (e >= 1968) scale += 128;
  return ldexp_f64(double(bits), scale);
}

// 8-bit floats of gfx942 (FNUZ): fp8 is e4m3 with bias 8, bf8 e5m2 with bias 16; 0x80 is NaN.
template <int kMantissa>
inline float f8_to_f32(u32 v) {
  constexpr int bits = 7 - kMantissa, bias = (1 << (bits - 1));
  if (v == 0x80) return as_f32(0x7fc00000u);
  const u32 m = v & ((1u << kMantissa) - 1), e = (v >> kMantissa) & ((1u << bits) - 1);
  const float sign = v & 0x80 ? -1.0f : 1.0f;
  const int power = int(e ? e : 1) - bias - kMantissa;
  return sign * float(e ? m | (1u << kMantissa) : m) * as_f32(u32(127 + power) << 23);
}
template <int kMantissa>
inline u32 f32_to_f8(float f) {
  constexpr int bits = 7 - kMantissa, bias = (1 << (bits - 1));
  const u32 x = as_u32(f), sign = (x >> 24) & 0x80u;
  if ((x & 0x7fffffffu) >= 0x7f800000u) return 0x80;  // NaN, and infinity has no code
  const double a = __builtin_fabs(double(f));
  int e = 0;
  (void)std::frexp(a, &e);
  int power = e - 1 < 1 - bias ? 1 - bias : e - 1;  // exponent of the target's leading bit
  double q = std::rint(std::ldexp(a, kMantissa - power));
  if (q >= double(2 << kMantissa)) q *= 0.5, ++power;
  const u32 code =
      q < double(1 << kMantissa) ? u32(q) : (u32(power + bias) << kMantissa) + (u32(q) - (1u << kMantissa));
  if (code > 0x7f) return 0x80;     // past the largest value; runtimes clamp before converting
  return code ? sign | code : 0;    // there is no negative zero
}
inline float fp8_to_f32(u32 v) { return f8_to_f32<3>(v); }
inline float bf8_to_f32(u32 v) { return f8_to_f32<2>(v); }
inline u32 f32_to_fp8(float f) { return f32_to_f8<3>(f); }
inline u32 f32_to_bf8(float f) { return f32_to_f8<2>(f); }
// Stochastic rounding: noise from the top bits is added below the kept mantissa, which is then cut.
inline float add_noise(float a, u32 noise, int drop) {
  const u32 x = as_u32(a);
  if ((x & 0x7f800000u) == 0x7f800000u) return a;
  const u32 sum = x + (noise >> (32 - drop));
  return as_f32(sum & ~((1u << drop) - 1));
}

inline float bf16_to_f32(u32 v) { return as_f32(v << 16); }
inline u32 f32_to_bf16(float f) {
  const u32 x = as_u32(f);
  if (f != f) return (x >> 16) | 0x40u;
  return (x + 0x7fffu + ((x >> 16) & 1)) >> 16;
}
inline u32 pk_add_f16(u32 m, u32 x) {
  return pack16(f32_to_f16(f16_to_f32(m & 0xffff) + f16_to_f32(x & 0xffff)),
                f32_to_f16(f16_to_f32(m >> 16) + f16_to_f32(x >> 16)));
}
inline u32 pk_add_bf16(u32 m, u32 x) {
  return pack16(f32_to_bf16(bf16_to_f32(m & 0xffff) + bf16_to_f32(x & 0xffff)),
                f32_to_bf16(bf16_to_f32(m >> 16) + bf16_to_f32(x >> 16)));
}

inline float dot2_f16(u32 a, u32 b, float c) {
  const float lo = __builtin_fmaf(f16_to_f32(a & 0xffff), f16_to_f32(b & 0xffff), c);
  return __builtin_fmaf(f16_to_f32(a >> 16), f16_to_f32(b >> 16), lo);
}
inline i64 dot2_i16(u32 a, u32 b, i32 c) { return i64(i16(a)) * i16(b) + i64(i16(a >> 16)) * i16(b >> 16) + c; }
inline u64 dot2_u16(u32 a, u32 b, u32 c) { return u64(a & 0xffff) * (b & 0xffff) + u64(a >> 16) * (b >> 16) + c; }
inline i64 dot4_i8(u32 a, u32 b, i32 c) {
  i64 r = c;
  for (int n = 0; n < 32; n += 8) r += i32(i8(a >> n)) * i32(i8(b >> n));
  return r;
}
inline u64 dot4_u8(u32 a, u32 b, u32 c) {
  u64 r = c;
  for (int n = 0; n < 32; n += 8) r += ((a >> n) & 255) * ((b >> n) & 255);
  return r;
}
inline i64 dot8_i4(u32 a, u32 b, i32 c) {
  i64 r = c;
  for (int n = 0; n < 32; n += 4) r += (i32((a >> n) << 28) >> 28) * (i32((b >> n) << 28) >> 28);
  return r;
}
inline u64 dot8_u4(u32 a, u32 b, u32 c) {
  u64 r = c;
  for (int n = 0; n < 32; n += 4) r += ((a >> n) & 15) * ((b >> n) & 15);
  return r;
}
inline float mix_to_f16(float a, float b, float c) {
  const double p = double(a) * double(b), s = p + double(c), t = s - p;
  const double lost = (p - (s - t)) + (double(c) - t);
  return f64_to_f32_odd(to_odd(s, lost == lost ? lost : 0.0));
}

inline u32 sad_u8(u32 a, u32 b) {
  u32 r = 0;
  for (int n = 0; n < 32; n += 8) {
    const i32 d = i32((a >> n) & 255) - i32((b >> n) & 255);
    r += u32(d < 0 ? -d : d);
  }
  return r;
}
inline u32 msad_u8(u32 a, u32 b) {
  u32 r = 0;
  for (int n = 0; n < 32; n += 8) {
    const i32 y = i32((b >> n) & 255), d = i32((a >> n) & 255) - y;
    r += y ? u32(d < 0 ? -d : d) : 0;
  }
  return r;
}
inline u32 sad_u16(u32 a, u32 b) {
  const i32 lo = i32(a & 0xffff) - i32(b & 0xffff), hi = i32(a >> 16) - i32(b >> 16);
  return u32(lo < 0 ? -lo : lo) + u32(hi < 0 ? -hi : hi);
}
inline u64 qsad(u64 a, u32 b, u64 c, bool masked) {
  u64 r = 0;
  for (int n = 0; n < 4; ++n) {
    const u32 window = u32(a >> (8 * n));
    const u32 sum = (masked ? msad_u8(window, b) : sad_u8(window, b)) + u32((c >> (16 * n)) & 0xffff);
    r |= u64(sum & 0xffff) << (16 * n);
  }
  return r;
}
inline u32 lerp_u8(u32 a, u32 b, u32 c) {
  u32 r = 0;
  for (int n = 0; n < 32; n += 8) r |= ((((a >> n) & 255) + ((b >> n) & 255) + ((c >> n) & 1)) >> 1) << n;
  return r;
}
inline u32 perm_b32(u32 a, u32 b, u32 sel) {
  u32 r = 0;
  for (int n = 0; n < 32; n += 8) {
    const u32 s = (sel >> n) & 255;
    const u32 plain = ((s & 4 ? a : b) >> (8 * (s & 3))) & 255,
              sign = ((s & 2 ? a : b) >> (s & 1 ? 31 : 15)) & 1 ? 255 : 0;
    r |= (s < 8 ? plain : s < 12 ? sign : s == 12 ? 0 : 255) << n;
  }
  return r;
}
inline int cube_axis(float x, float y, float z) {
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  return az >= ax && az >= ay ? 2 : ay >= ax ? 1 : 0;
}
inline float cube_id(float x, float y, float z) {
  const int axis = cube_axis(x, y, z);
  return axis == 2 ? (z < 0 ? 5.0f : 4.0f) : axis == 1 ? (y < 0 ? 3.0f : 2.0f) : (x < 0 ? 1.0f : 0.0f);
}
inline float cube_sc(float x, float y, float z) {
  const int axis = cube_axis(x, y, z);
  return axis == 2 ? (z < 0 ? -x : x) : axis == 1 ? x : (x < 0 ? z : -z);
}
inline float cube_tc(float x, float y, float z) { return cube_axis(x, y, z) == 1 ? (y < 0 ? -z : z) : -y; }
inline float cube_ma(float x, float y, float z) {
  const int axis = cube_axis(x, y, z);
  return 2.0f * (axis == 2 ? z : axis == 1 ? y : x);
}

}  // namespace gpu::GPU_EXEC_NS
