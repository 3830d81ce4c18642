// Floats: minimum, rounding, conversion, class and parts of a number.
#pragma once

#include "integers.h"

namespace gpu::GPU_EXEC_NS {

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

// x rounded to odd, given the sign of what was lost: scaling it afterwards rounds once.
inline double to_odd(double x, double lost) {
  if (lost == 0.0 || !(__builtin_fabs(x) < __builtin_inf())) return x;
  u64 b = as_u64(x);
  if ((lost > 0.0) != (x > 0.0)) --b;
  return as_f64(b | 1);
}
inline float mix_to_f16(float a, float b, float c) {
  const double p = double(a) * double(b), s = p + double(c), t = s - p;
  const double lost = (p - (s - t)) + (double(c) - t);
  return f64_to_f32_odd(to_odd(s, lost == lost ? lost : 0.0));
}

// Conversions saturate and send NaN to 0.
inline i32 cvt_i32(float a) {
  const i32 r = a >= 2147483648.0f ? kMostI32 : a < -2147483648.0f ? kLeastI32 : i32(a == a ? a : 0.0f);
  return r;
}
inline i32 cvt_i32(double a) {
  return a >= 2147483647.0 ? kMostI32 : a <= -2147483648.0 ? kLeastI32 : i32(a == a ? a : 0.0);
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
inline u32 f16_toward_zero(float f) {
  const u32 x = as_u32(f), sign = (x >> 16) & 0x8000u, a = x & 0x7fffffffu;
  if (a > 0x7f800000u) return sign | 0x7e00u | ((a >> 13) & 0x3ffu);
  if (a == 0x7f800000u) return sign | 0x7c00u;
  if (a >= 0x47800000u) return sign | 0x7bffu;
  if (a < 0x38800000u) return sign | u32(i32(as_f32(a) * 0x1p24f));
  return sign | ((a - (112u << 23)) >> 13);
}

inline i32 exponent(float x) { return i32((as_u32(x) >> 23) & 255); }
inline i32 exponent(double x) { return i32((as_u64(x) >> 52) & 2047); }
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
