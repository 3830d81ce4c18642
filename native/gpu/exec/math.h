// Arithmetic of single lanes that C++ has no operator for. Branch-free where it is cheap, so
// that loops over lanes vectorise.
#pragma once

#include <cmath>

#include "lane.h"

namespace gpu::GPU_EXEC_NS {

inline u32 umin(u32 a, u32 b) { return a < b ? a : b; }
inline u32 umax(u32 a, u32 b) { return a > b ? a : b; }
inline i32 imin(i32 a, i32 b) { return a < b ? a : b; }
inline i32 imax(i32 a, i32 b) { return a > b ? a : b; }
inline i32 sat_i32(i64 x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : i32(x); }
inline u32 sat_u32(u64 x) { return x > UINT32_MAX ? UINT32_MAX : u32(x); }
inline i32 sat_i16(i64 x) { return x > 32767 ? 32767 : x < -32768 ? -32768 : i32(x); }
inline u32 clamp_i16(i32 x) { return u32(x > 32767 ? 32767 : x < -32768 ? -32768 : x) & 0xffffu; }
inline i32 sext24(i32 a) { return i32(u32(a) << 8) >> 8; }
inline u32 pack16(u32 lo, u32 hi) { return (lo & 0xffffu) | (hi << 16); }
inline u64 pair(float lo, float hi) { return as_u32(lo) | (u64(as_u32(hi)) << 32); }

inline u64 bfe_u64(u64 a, u32 offset, u32 width, u32 bits) {
  if (width == 0) return 0;
  a >>= offset;
  return width >= bits ? a : a & ((u64(1) << width) - 1);
}
inline i64 bfe_i64(i64 a, u32 offset, u32 width, u32 bits) {
  if (width == 0) return 0;
  a >>= offset;
  if (width + offset >= bits || width >= 64) return a;
  return i64(u64(a) << (64 - width)) >> (64 - width);
}
inline i32 bfe_i32(i32 a, u32 offset, u32 width) {
  const i32 x = a >> offset;
  const u32 up = offset + width >= 32 ? 0 : (32 - width) & 31;
  return width == 0 ? 0 : i32(u32(x) << up) >> up;
}

inline u32 reverse32(u32 x) {
  x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
  x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
  x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
  x = ((x >> 8) & 0x00ff00ffu) | ((x & 0x00ff00ffu) << 8);
  return (x >> 16) | (x << 16);
}
inline u32 popcount32(u32 x) {
  x -= (x >> 1) & 0x55555555u;
  x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
  x = (x + (x >> 4)) & 0x0f0f0f0fu;
  return (x * 0x01010101u) >> 24;
}
inline u32 first_high(u32 x) { return x ? u32(__builtin_clz(x)) : ~0u; }
inline u32 first_low(u32 x) { return x ? u32(__builtin_ctz(x)) : ~0u; }
inline u64 quads_any(u64 a) { return (a | (a >> 1) | (a >> 2) | (a >> 3)) & 0x1111111111111111ull; }
inline u64 whole_quads(u64 a) { return quads_any(a) * 15; }
inline u64 quad_mask(u64 a) {
  u64 q = quads_any(a), r = 0;
  for (int n = 0; n < 16; ++n) r |= ((q >> (4 * n)) & 1) << n;
  return r;
}
inline u64 spread_bits(u32 a) {
  u64 r = 0;
  for (int n = 0; n < 32; ++n) r |= u64((a >> n) & 1) << (2 * n);
  return r;
}

// Minimum and maximum with IEEE mode: a signalling NaN comes back quiet, a quiet one loses.
inline float min_f32(float a, float b) {
  const u32 x = as_u32(a), y = as_u32(b);
  u32 r = a < b ? x : b < a ? y : x | y;
  r = b != b ? x : r;
  r = a != a ? y : r;
  r = ((b != b) & ((y & 0x400000u) == 0)) ? y | 0x400000u : r;
  r = ((a != a) & ((x & 0x400000u) == 0)) ? x | 0x400000u : r;
  return as_f32(r);
}
inline float max_f32(float a, float b) {
  const u32 x = as_u32(a), y = as_u32(b);
  u32 r = a > b ? x : b > a ? y : x & y;
  r = b != b ? x : r;
  r = a != a ? y : r;
  r = ((b != b) & ((y & 0x400000u) == 0)) ? y | 0x400000u : r;
  r = ((a != a) & ((x & 0x400000u) == 0)) ? x | 0x400000u : r;
  return as_f32(r);
}
inline float med3_f32(float a, float b, float c) {
  const float lo = min_f32(a, b), hi = max_f32(a, b);
  const float m = max_f32(lo, min_f32(hi, c));
  return ((a != a) | (b != b) | (c != c)) ? min_f32(lo, c) : m;
}
inline double min_f64(double a, double b) {
  const u64 x = as_u64(a), y = as_u64(b), quiet = u64(1) << 51;
  u64 r = a < b ? x : b < a ? y : x | y;
  r = b != b ? x : r;
  r = a != a ? y : r;
  r = ((b != b) & ((y & quiet) == 0)) ? y | quiet : r;
  r = ((a != a) & ((x & quiet) == 0)) ? x | quiet : r;
  return as_f64(r);
}
inline double max_f64(double a, double b) {
  const u64 x = as_u64(a), y = as_u64(b), quiet = u64(1) << 51;
  u64 r = a > b ? x : b > a ? y : x & y;
  r = b != b ? x : r;
  r = a != a ? y : r;
  r = ((b != b) & ((y & quiet) == 0)) ? y | quiet : r;
  r = ((a != a) & ((x & quiet) == 0)) ? x | quiet : r;
  return as_f64(r);
}
inline float ds_min(float m, float x) { return min_f32(m, x); }
inline float ds_max(float m, float x) { return max_f32(m, x); }
inline double ds_min(double m, double x) { return min_f64(m, x); }
inline double ds_max(double m, double x) { return max_f64(m, x); }

inline float flush_f32(float a) { return (as_u32(a) & 0x7f800000u) ? a : as_f32(as_u32(a) & 0x80000000u); }
inline float round_f16(float a) { return f16_to_f32(f32_to_f16(a)); }
// The product is exact; the sum is rounded to odd, so that rounding it to half is the only rounding.
inline float fma_f16(float a, float b, float c) {
  const float p = a * b, s = p + c, t = s - p, lost = (p - (s - t)) + (c - t);
  const u32 away = (lost > 0.0f) != (s > 0.0f) ? 1u : 0u, odd = (as_u32(s) - away) | 1u;
  return ((lost != 0.0f) & (__builtin_fabsf(s) < __builtin_inff())) ? as_f32(odd) : s;
}
inline float mul_legacy(float a, float b) { return a == 0.0f || b == 0.0f ? 0.0f : a * b; }

// Conversions saturate and send NaN to 0.
inline i32 cvt_i32(float a) {
  const i32 r = a >= 2147483648.0f ? INT32_MAX : a < -2147483648.0f ? INT32_MIN : i32(a == a ? a : 0.0f);
  return r;
}
inline i32 cvt_i32(double a) {
  return a >= 2147483647.0 ? INT32_MAX : a <= -2147483648.0 ? INT32_MIN : i32(a == a ? a : 0.0);
}
inline u32 cvt_u32(float a) {
  const float x = a > 0.0f ? a : 0.0f;
  const bool high = x >= 2147483648.0f;
  const float y = high ? x - 2147483648.0f : x;
  const u32 r = u32(i32(y < 2147483648.0f ? y : 0.0f)) + (high ? 0x80000000u : 0u);
  return x >= 4294967296.0f ? ~0u : r;
}
inline u32 cvt_u32(double a) { return a >= 4294967295.0 ? ~0u : a > 0.0 ? u32(i64(a)) : 0u; }
inline float cvt_f32_u32(u32 a) { return float(double(i32(a ^ 0x80000000u)) + 2147483648.0); }
inline u32 cvt_u16(float a) { return a >= 65535.0f ? 65535u : a > 0.0f ? u32(i32(a)) : 0u; }
inline i32 cvt_i16(float a) { return a >= 32767.0f ? 32767 : a <= -32768.0f ? -32768 : a == a ? i32(a) : 0; }
inline u32 cvt_u8(float a) {
  const float r = __builtin_rintf(a);
  return r >= 255.0f ? 255u : r > 0.0f ? u32(i32(r)) : 0u;
}
inline u32 norm_i16(float a) {
  const float c = a != a ? 0.0f : a > 1.0f ? 1.0f : a < -1.0f ? -1.0f : a;
  return u32(i32(__builtin_rintf(c * 32767.0f)));
}
inline u32 norm_u16(float a) {
  const float c = a != a ? 0.0f : a > 1.0f ? 1.0f : a < 0.0f ? 0.0f : a;
  return u32(i32(__builtin_rintf(c * 65535.0f)));
}
inline u32 sat_pk_u8(u32 a) {
  const i32 lo = i16(a), hi = i16(a >> 16);
  return u32(lo < 0 ? 0 : lo > 255 ? 255 : lo) | (u32(hi < 0 ? 0 : hi > 255 ? 255 : hi) << 8);
}
inline u32 f16_toward_zero(float f) {
  const u32 x = as_u32(f), sign = (x >> 16) & 0x8000u, a = x & 0x7fffffffu;
  if (a > 0x7f800000u) return sign | 0x7e00u | ((a >> 13) & 0x3ffu);
  if (a == 0x7f800000u) return sign | 0x7c00u;
  if (a >= 0x47800000u) return sign | 0x7bffu;
  if (a < 0x38800000u) return sign | u32(i32(as_f32(a) * 0x1p24f));
  return sign | ((a - (112u << 23)) >> 13);
}

inline float fract_f32(float a) {
  const float r = a - __builtin_floorf(a);
  return r < 1.0f ? r : r == r ? 0x1.fffffep-1f : r;
}
inline float fract_f16(float a) {
  const float r = a - __builtin_floorf(a);
  return r <= 0x1.ffcp-1f ? r : r == r ? 0x1.ffcp-1f : r;
}
inline double fract_f64(double a) {
  const double r = a - __builtin_floor(a);
  return r < 1.0 ? r : r == r ? 0x1.fffffffffffffp-1 : r;
}
inline i32 frexp_exp_f64(double a) {
  const u64 x = as_u64(a), scaled = as_u64(a * 0x1p54);
  const i32 e = i32((x >> 52) & 2047), small = i32((scaled >> 52) & 2047) - 54;
  const i32 r = (e == 0 ? small : e) - 1022;
  return ((a == 0.0) | (e == 2047)) ? 0 : r;
}
inline double frexp_mant_f64(double a) {
  constexpr u64 field = u64(2047) << 52, half = u64(1022) << 52;
  const u64 x = as_u64(a), normal = (x & field) ? x : as_u64(a * 0x1p54);
  return ((a == 0.0) | ((x & field) == field)) ? a : as_f64((normal & ~field) | half);
}
// a 2^e rounded once: the first two factors never make a number small enough to lose bits.
inline double ldexp_f64(double a, i32 e) {
  const auto power = [](i32 n) { return as_f64(u64(u32(n + 1023)) << 52); };
  i32 n = e > 3000 ? 3000 : e < -3000 ? -3000 : e;
  double y = a;
  for (int step = 0; step < 2; ++step) {
    const i32 by = n > 1023 ? 1023 : n < -1022 ? -969 : 0;
    y = by ? y * power(by) : y;
    n -= by;
  }
  return y * power(n > 1023 ? 1023 : n < -1022 ? -1022 : n);
}

// Transcendentals in double, good to about 1e-13 before the one rounding to f32.
inline double exp2_poly(double x) {
  x = x > 2000.0 ? 2000.0 : x < -2000.0 ? -2000.0 : x;
  const double n = __builtin_rint(x), t = (x - n) * 0.693147180559945309417;
  double p = 1.0 / 6227020800.0;
  p = p * t + 1.0 / 479001600.0;
  p = p * t + 1.0 / 39916800.0;
  p = p * t + 1.0 / 3628800.0;
  p = p * t + 1.0 / 362880.0;
  p = p * t + 1.0 / 40320.0;
  p = p * t + 1.0 / 5040.0;
  p = p * t + 1.0 / 720.0;
  p = p * t + 1.0 / 120.0;
  p = p * t + 1.0 / 24.0;
  p = p * t + 1.0 / 6.0;
  p = p * t + 0.5;
  p = p * t + 1.0;
  p = p * t + 1.0;
  // The exponent, through the low bits of n + 1.5 * 2^52; |n| is limited to keep it normal.
  const double m = n > 1000.0 ? 1000.0 : n < -1000.0 ? -1000.0 : n;
  const u64 bits = (as_u64(m + 0x1.8p52) + 1023) << 52;
  return p * as_f64(bits);
}
inline float exp2_f32(float a) {
  const float r = flush_f32(float(exp2_poly(double(a == a ? a : 0.0f))));
  return a == a ? r : a + a;
}
inline double exp2_f64(double a) { return a == a ? exp2_poly(a) : a; }
inline double log2_poly(double a) {  // a positive, finite, normal
  const u64 x = as_u64(a);
  const u64 top = x - 0x3fe6a09e667f3bcdull;  // exponent relative to sqrt(1/2)
  const i32 e = i32(u32(top >> 32)) >> 20;
  const double m = as_f64(x - (u64(u32(e)) << 52));
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 1.0 / 19.0;
  p = p * z + 1.0 / 17.0;
  p = p * z + 1.0 / 15.0;
  p = p * z + 1.0 / 13.0;
  p = p * z + 1.0 / 11.0;
  p = p * z + 1.0 / 9.0;
  p = p * z + 1.0 / 7.0;
  p = p * z + 1.0 / 5.0;
  p = p * z + 1.0 / 3.0;
  p = p * z + 1.0;
  return double(e) + 2.885390081777926814719849362 * s * p;
}
inline float log2_f32(float a) {
  const float x = flush_f32(a);
  const bool usual = x > 0.0f && x < __builtin_inff();
  const float r = float(log2_poly(double(usual ? x : 1.0f)));
  const float odd = x == 0.0f ? -__builtin_inff() : x < 0.0f ? as_f32(0xffc00000u) : x;
  return usual ? r : odd != odd ? odd + odd : odd;
}
inline double log2_f64(double a) {
  return a > 0.0 && a < __builtin_inf() ? log2_poly(a) : a == 0.0 ? -__builtin_inf() : a < 0.0 ? __builtin_nan("") : a;
}
// sin(2 pi t) for |t| <= 1/4.
inline double sin_turn(double t) {
  const double x = t * 6.283185307179586476925, z = x * x;
  double p = -1.0 / 121645100408832000.0;
  p = p * z + 1.0 / 355687428096000.0;
  p = p * z - 1.0 / 1307674368000.0;
  p = p * z + 1.0 / 6227020800.0;
  p = p * z - 1.0 / 39916800.0;
  p = p * z + 1.0 / 362880.0;
  p = p * z - 1.0 / 5040.0;
  p = p * z + 1.0 / 120.0;
  p = p * z - 1.0 / 6.0;
  return x + x * z * p;
}
inline double sin_f64(double a) {  // a in revolutions
  if (!(__builtin_fabs(a) < __builtin_inf())) return __builtin_nan("");
  double t = a - __builtin_rint(a);
  t = t > 0.25 ? 0.5 - t : t < -0.25 ? -0.5 - t : t;
  return sin_turn(t);
}
inline double cos_f64(double a) {
  if (!(__builtin_fabs(a) < __builtin_inf())) return __builtin_nan("");
  const double t = __builtin_fabs(a - __builtin_rint(a));
  return sin_turn(0.25 - t);
}
// Hardware's valid input is [-256, 256]; beyond it the fraction is lost.
inline float sin_f32(float a) { return __builtin_fabsf(a) > 256.0f ? 0.0f : float(sin_f64(a)); }
inline float cos_f32(float a) { return __builtin_fabsf(a) > 256.0f ? 1.0f : float(cos_f64(a)); }

// Conditions as words of ones: what is chosen with them stays free of branches.
template <class M>
inline M ones(bool when) {
  return when ? ~M(0) : M(0);
}
template <class M>
inline M choose(M when, M x, M y) {
  return (x & when) | (y & ~when);
}

// Which of the ten classes of v_cmp_class, as its bit.
template <class M>
inline M class_bit(M nan, M quiet, M neg, M inf, M zero, M denormal) {
  M bit = choose<M>(neg, 1 << 3, 1 << 8);
  bit = choose<M>(denormal, choose<M>(neg, 1 << 4, 1 << 7), bit);
  bit = choose<M>(zero, choose<M>(neg, 1 << 5, 1 << 6), bit);
  bit = choose<M>(inf, choose<M>(neg, 1 << 2, 1 << 9), bit);
  return choose<M>(nan, choose<M>(quiet, 1 << 1, 1 << 0), bit);
}
inline bool class_f32(u32 a, u32 mask) {
  const u32 m = a & 0x7fffffffu;
  return (mask & class_bit<u32>(ones<u32>(m > 0x7f800000u), ones<u32>((a & 0x400000u) != 0), ones<u32>(i32(a) < 0),
                                ones<u32>(m == 0x7f800000u), ones<u32>(m == 0), ones<u32>(m < 0x800000u))) != 0;
}
inline bool class_f16(u32 a, u32 mask) {
  const u32 m = a & 0x7fffu;
  return (mask & class_bit<u32>(ones<u32>(m > 0x7c00u), ones<u32>((a & 0x200u) != 0), ones<u32>((a & 0x8000u) != 0),
                                ones<u32>(m == 0x7c00u), ones<u32>(m == 0), ones<u32>(m < 0x400u))) != 0;
}
inline bool class_f64(u64 a, u32 mask) {
  const i64 m = i64(a & ~(u64(1) << 63)), inf = i64(0x7ff) << 52;
  return (mask & class_bit<u64>(ones<u64>(m > inf), ones<u64>((a & (u64(1) << 51)) != 0), ones<u64>(i64(a) < 0),
                                ones<u64>(m == inf), ones<u64>(m == 0), ones<u64>(m < (i64(1) << 52)))) != 0;
}

}  // namespace gpu::GPU_EXEC_NS
