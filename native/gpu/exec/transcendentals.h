// Exponential, logarithm, sine and cosine, in double and good to about 1e-13 before the one rounding to f32.
#pragma once

#include "floats.h"

namespace gpu::GPU_EXEC_NS {

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

}  // namespace gpu::GPU_EXEC_NS
