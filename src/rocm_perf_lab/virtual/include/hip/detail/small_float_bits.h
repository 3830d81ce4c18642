// float to 16 bits and back by integer arithmetic: the same on the host, whatever its compiler
// runtime has, and on the device.
#pragma once
#if defined(__clang__)
#pragma clang system_header
#endif

#include <hip/hip_vector_types.h>

#if defined(__HIP__)
#define __HIP_SMALL_FN__ static inline __attribute__((host, device, always_inline, unused))
#else
#define __HIP_SMALL_FN__ static inline __attribute__((unused))
#endif

#if defined(__cplusplus)
namespace hip_detail {
template <typename T> struct is_number { static constexpr bool value = false; };
#define __HIP_NUMBER__(T) template <> struct is_number<T> { static constexpr bool value = true; };
__HIP_NUMBER__(bool) __HIP_NUMBER__(char) __HIP_NUMBER__(signed char) __HIP_NUMBER__(unsigned char)
__HIP_NUMBER__(short) __HIP_NUMBER__(unsigned short) __HIP_NUMBER__(int) __HIP_NUMBER__(unsigned)
__HIP_NUMBER__(long) __HIP_NUMBER__(unsigned long) __HIP_NUMBER__(long long)
__HIP_NUMBER__(unsigned long long) __HIP_NUMBER__(float) __HIP_NUMBER__(double)
#undef __HIP_NUMBER__
template <typename H, typename N> struct small_float_result { typedef H type; };
template <typename H> struct small_float_result<H, float> { typedef float type; };
template <typename H> struct small_float_result<H, double> { typedef float type; };
}  // namespace hip_detail
#endif

__HIP_SMALL_FN__ unsigned __hip_float_bits(float f) { unsigned u; __builtin_memcpy(&u, &f, 4); return u; }
__HIP_SMALL_FN__ float __hip_bits_float(unsigned u) { float f; __builtin_memcpy(&f, &u, 4); return f; }

// A double cut to a float whose last bit tells that something was cut (rounding to odd): a smaller
// type made of it is rounded once, as if made of the double.
__HIP_SMALL_FN__ float __hip_double_to_odd(double d) {
  float f = (float)d;
  if (d != d || (double)f == d) return f;
  unsigned u = __hip_float_bits(f);
  if (__builtin_fabs((double)f) > __builtin_fabs(d)) --u;
  return __hip_bits_float(u | 1u);
}
#if defined(__cplusplus)
namespace hip_detail {
template <typename T> __HIP_SMALL_FN__ float to_odd(T v) { return sizeof(T) < 4 ? (float)v : __hip_double_to_odd((double)v); }
__HIP_SMALL_FN__ float to_odd(float v) { return v; }
}  // namespace hip_detail
#endif

// mode: 0 nearest even, 1 up, 2 down, 3 to zero
__HIP_SMALL_FN__ unsigned __hip_round_shift(unsigned mantissa, int shift, bool negative, int mode) {
  if (shift > 31) return (mode == 1 && !negative) || (mode == 2 && negative) ? mantissa != 0 : 0;
  unsigned kept = shift ? mantissa >> shift : mantissa, rest = shift ? mantissa & ((1u << shift) - 1) : 0;
  unsigned half = shift ? 1u << (shift - 1) : 1u;
  if (!shift) return kept;
  if (mode == 0) return kept + (rest > half || (rest == half && (kept & 1)));
  if ((mode == 1 && !negative) || (mode == 2 && negative)) return kept + (rest != 0);
  return kept;
}

__HIP_SMALL_FN__ unsigned short __hip_float_to_half_bits(float f, int mode = 0) {
  unsigned u = __hip_float_bits(f), sign = (u >> 16) & 0x8000u, a = u & 0x7fffffffu;
  bool negative = sign != 0;
  if (a > 0x7f800000u) return (unsigned short)(sign | 0x7e00u | ((a >> 13) & 0x3ffu));
  if (a == 0x7f800000u) return (unsigned short)(sign | 0x7c00u);
  if (a == 0) return (unsigned short)sign;
  int e = (int)(a >> 23) - 127;
  unsigned m = e == -127 ? (a & 0x7fffffu) : ((a & 0x7fffffu) | 0x800000u), r;
  if (e == -127) e = -126;
  if (e < -14) r = __hip_round_shift(m, 13 + (-14 - e), negative, mode);  // subnormal, or up to 2^-14
  else if (e > 15) r = 0x7c00u + (mode == 0 || (mode == 1 && !negative) || (mode == 2 && negative) ? 0 : -1);
  else {
    r = ((unsigned)(e + 14) << 10) + __hip_round_shift(m, 13, negative, mode);
    if (r >= 0x7c00u) r = 0x7c00u;
  }
  return (unsigned short)(sign | r);
}
__HIP_SMALL_FN__ float __hip_half_bits_to_float(unsigned short h) {
  unsigned sign = (unsigned)(h & 0x8000u) << 16, e = (h >> 10) & 31u, m = h & 0x3ffu;
  if (e == 31) return __hip_bits_float(sign | 0x7f800000u | m << 13);
  if (e) return __hip_bits_float(sign | (e + 112) << 23 | m << 13);
  float f = (float)(int)m * 5.9604644775390625e-08f;  // m * 2^-24
  return sign ? -f : f;
}
__HIP_SMALL_FN__ unsigned short __hip_float_to_bf16_bits(float f, int mode = 0) {
  unsigned u = __hip_float_bits(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return (unsigned short)(u >> 16 | 0x40u);
  unsigned r = __hip_round_shift(u & 0x7fffffffu, 16, u >> 31, mode);
  return (unsigned short)(r | (u >> 16 & 0x8000u));
}
__HIP_SMALL_FN__ float __hip_bf16_bits_to_float(unsigned short h) { return __hip_bits_float((unsigned)h << 16); }
