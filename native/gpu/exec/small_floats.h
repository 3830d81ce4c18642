// Floats of 8 bits and bfloat16.
#pragma once

#include "lane.h"

namespace gpu::GPU_EXEC_NS {

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
  (void)__builtin_frexp(a, &e);
  int power = e - 1 < 1 - bias ? 1 - bias : e - 1;  // exponent of the target's leading bit
  double q = __builtin_rint(__builtin_ldexp(a, kMantissa - power));
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

}  // namespace gpu::GPU_EXEC_NS
