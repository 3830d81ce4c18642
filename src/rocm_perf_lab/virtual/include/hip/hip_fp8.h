// 8-bit floating point: E4M3 and E5M2, in the FNUZ forms gfx942 computes with (one zero, one NaN at
// 0x80, bias one higher) and the OCP forms. Conversions saturate or not as asked.
#pragma once
#if defined(__clang__)
#pragma clang system_header
#endif

#include <hip/hip_bf16.h>

#if defined(__cplusplus)

#define HIP_FP8_TYPE_FNUZ 1
#define HIP_FP8_TYPE_OCP 1

typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;
enum __hip_saturation_t { __HIP_NOSAT = 0, __HIP_SATFINITE = 1 };
enum __hip_fp8_interpretation_t { __HIP_E4M3 = 0, __HIP_E5M2 = 1, __HIP_E4M3_FNUZ = 2, __HIP_E5M2_FNUZ = 3 };

namespace hip_detail {
struct Fp8Format { int mantissa, bias; bool fnuz; };
__HIP_SMALL_FN__ Fp8Format fp8_format(__hip_fp8_interpretation_t kind) {
  bool e5 = kind == __HIP_E5M2 || kind == __HIP_E5M2_FNUZ, fnuz = kind >= __HIP_E4M3_FNUZ;
  return {e5 ? 2 : 3, (e5 ? 15 : 7) + (fnuz ? 1 : 0), fnuz};
}
__HIP_SMALL_FN__ unsigned char to_fp8(float f, __hip_saturation_t saturate, __hip_fp8_interpretation_t kind) {
  Fp8Format k = fp8_format(kind);
  unsigned u = __hip_float_bits(f), sign = u >> 24 & 0x80u, a = u & 0x7fffffffu;
  unsigned nan = k.fnuz ? 0x80u : sign | 0x7fu;
  // The largest finite value, as bits without the sign.
  unsigned top = k.fnuz ? 0x7fu : k.mantissa == 3 ? 0x7eu : 0x7bu;
  unsigned overflow = saturate ? sign | top : k.fnuz ? 0x80u : k.mantissa == 3 ? sign | 0x7fu : sign | 0x7cu;
  if (a > 0x7f800000u) return (unsigned char)nan;
  if (a == 0x7f800000u) return (unsigned char)overflow;
  if (a == 0) return (unsigned char)(k.fnuz ? 0 : sign);
  int e = (int)(a >> 23) - 127;
  unsigned m = (a & 0x7fffffu) | (e == -127 ? 0 : 0x800000u), r;
  if (e == -127) e = -126;
  int lowest = 1 - k.bias, drop = 23 - k.mantissa;
  if (e < lowest) r = __hip_round_shift(m, drop + lowest - e, sign != 0, 0);
  else if (e > 40) return (unsigned char)overflow;
  else r = ((unsigned)(e - lowest) << k.mantissa) + __hip_round_shift(m, drop, sign != 0, 0);
  if (r > top) return (unsigned char)overflow;
  if (r == 0) return (unsigned char)(k.fnuz ? 0 : sign);
  return (unsigned char)(sign | r);
}
__HIP_SMALL_FN__ float from_fp8(unsigned char b, __hip_fp8_interpretation_t kind) {
  Fp8Format k = fp8_format(kind);
  unsigned a = b & 0x7fu, e = a >> k.mantissa, m = a & ((1u << k.mantissa) - 1);
  float sign = b & 0x80 ? -1.0f : 1.0f;
  if (k.fnuz && b == 0x80) return __builtin_nanf("");
  if (!k.fnuz && k.mantissa == 3 && a == 0x7f) return __builtin_nanf("");
  if (!k.fnuz && k.mantissa == 2 && e == 31) return m ? __builtin_nanf("") : sign * __builtin_inff();
  unsigned scale_exponent = (unsigned)((e ? (int)e : 1) - k.bias + 127 - k.mantissa);
  float scale = __hip_bits_float(scale_exponent << 23);
  return sign * (float)(int)(m + (e ? 1u << k.mantissa : 0u)) * scale;
}
}  // namespace hip_detail

__HIP_SMALL_FN__ __hip_fp8_storage_t __hip_cvt_float_to_fp8(float f, __hip_saturation_t s, __hip_fp8_interpretation_t k) { return hip_detail::to_fp8(f, s, k); }
__HIP_SMALL_FN__ __hip_fp8_storage_t __hip_cvt_double_to_fp8(double f, __hip_saturation_t s, __hip_fp8_interpretation_t k) { return hip_detail::to_fp8(__hip_double_to_odd(f), s, k); }
__HIP_SMALL_FN__ __hip_fp8x2_storage_t __hip_cvt_float2_to_fp8x2(float2 f, __hip_saturation_t s, __hip_fp8_interpretation_t k) {
  return (__hip_fp8x2_storage_t)(hip_detail::to_fp8(f.x, s, k) | hip_detail::to_fp8(f.y, s, k) << 8);
}
__HIP_SMALL_FN__ __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t x, __hip_fp8_interpretation_t k) {
  __half_raw r; r.x = __hip_float_to_half_bits(hip_detail::from_fp8(x, k)); return r;
}
__HIP_SMALL_FN__ __hip_fp8_storage_t __hip_cvt_halfraw_to_fp8(__half_raw x, __hip_saturation_t s, __hip_fp8_interpretation_t k) {
  return hip_detail::to_fp8(__hip_half_bits_to_float(x.x), s, k);
}
__HIP_SMALL_FN__ __hip_fp8_storage_t __hip_cvt_bfloat16raw_to_fp8(__hip_bfloat16_raw x, __hip_saturation_t s, __hip_fp8_interpretation_t k) {
  return hip_detail::to_fp8(__hip_bf16_bits_to_float(x.x), s, k);
}
// The pairs: each half as above, the first in the low bits.
__HIP_SMALL_FN__ __hip_fp8x2_storage_t __hip_cvt_double2_to_fp8x2(double2 d, __hip_saturation_t s, __hip_fp8_interpretation_t k) {
  return __hip_cvt_float2_to_fp8x2(float2(__hip_double_to_odd(d.x), __hip_double_to_odd(d.y)), s, k);
}
__HIP_SMALL_FN__ __hip_fp8x2_storage_t __hip_cvt_halfraw2_to_fp8x2(__half2_raw x, __hip_saturation_t s, __hip_fp8_interpretation_t k) {
  return __hip_cvt_float2_to_fp8x2(float2(__hip_half_bits_to_float(x.x), __hip_half_bits_to_float(x.y)), s, k);
}
__HIP_SMALL_FN__ __hip_fp8x2_storage_t __hip_cvt_bfloat16raw2_to_fp8x2(__hip_bfloat162_raw x, __hip_saturation_t s, __hip_fp8_interpretation_t k) {
  return __hip_cvt_float2_to_fp8x2(float2(__hip_bf16_bits_to_float(x.x), __hip_bf16_bits_to_float(x.y)), s, k);
}
__HIP_SMALL_FN__ __half2_raw __hip_cvt_fp8x2_to_halfraw2(__hip_fp8x2_storage_t x, __hip_fp8_interpretation_t k) {
  __half2_raw r;
  r.x = __hip_cvt_fp8_to_halfraw((__hip_fp8_storage_t)(x & 255), k).x;
  r.y = __hip_cvt_fp8_to_halfraw((__hip_fp8_storage_t)(x >> 8), k).x;
  return r;
}

#define __HIP_FP8_TYPE__(NAME, KIND)                                                                              \
  struct __hip_fp8_##NAME {                                                                                       \
    __hip_fp8_storage_t __x;                                                                                      \
    static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;                                   \
    static constexpr __hip_fp8_interpretation_t __default_interpret = KIND;                                       \
    __hip_fp8_##NAME() = default;                                                                                 \
    template <typename T, typename hip_detail::enable_if<hip_detail::is_number<T>::value, int>::type = 0>         \
    __HIP_HALF_FN__ __hip_fp8_##NAME(T f) : __x(hip_detail::to_fp8(hip_detail::to_odd(f), __HIP_SATFINITE, KIND)) {} \
    __HIP_HALF_FN__ __hip_fp8_##NAME(const __half& f) : __x(hip_detail::to_fp8((float)f, __HIP_SATFINITE, KIND)) {} \
    __HIP_HALF_FN__ __hip_fp8_##NAME(const __hip_bfloat16& f) : __x(hip_detail::to_fp8((float)f, __HIP_SATFINITE, KIND)) {} \
    __HIP_HALF_FN__ operator float() const { return hip_detail::from_fp8(__x, KIND); }                            \
    __HIP_HALF_FN__ operator __half() const { return __hip_half_from((float)*this); }                             \
    __HIP_HALF_FN__ operator __hip_bfloat16() const { return __hip_bf16_from((float)*this); }                     \
    __HIP_HALF_FN__ explicit operator bool() const { return (float)*this != 0.0f; }                               \
    template <typename T, typename hip_detail::enable_if<hip_detail::is_number<T>::value, int>::type = 0>         \
    __HIP_HALF_FN__ explicit operator T() const { return (T)hip_detail::from_fp8(__x, KIND); }                    \
  };                                                                                                              \
  struct __hip_fp8x2_##NAME {                                                                                     \
    __hip_fp8x2_storage_t __x;                                                                                    \
    static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;                                   \
    static constexpr __hip_fp8_interpretation_t __default_interpret = KIND;                                       \
    __hip_fp8x2_##NAME() = default;                                                                               \
    __HIP_HALF_FN__ __hip_fp8x2_##NAME(float2 f) : __x(__hip_cvt_float2_to_fp8x2(f, __HIP_SATFINITE, KIND)) {}    \
    __HIP_HALF_FN__ __hip_fp8x2_##NAME(double2 f) : __x(__hip_cvt_double2_to_fp8x2(f, __HIP_SATFINITE, KIND)) {}  \
    __HIP_HALF_FN__ __hip_fp8x2_##NAME(__half2 f) : __x(__hip_cvt_halfraw2_to_fp8x2(f, __HIP_SATFINITE, KIND)) {} \
    __HIP_HALF_FN__ __hip_fp8x2_##NAME(__hip_bfloat162 f) : __x(__hip_cvt_bfloat16raw2_to_fp8x2(f, __HIP_SATFINITE, KIND)) {} \
    __HIP_HALF_FN__ operator float2() const {                                                                     \
      return float2(hip_detail::from_fp8(__x & 255, KIND), hip_detail::from_fp8(__x >> 8, KIND));                 \
    }                                                                                                             \
    __HIP_HALF_FN__ operator __half2() const { return __half2(__hip_cvt_fp8x2_to_halfraw2(__x, KIND)); }          \
    __HIP_HALF_FN__ explicit operator __hip_bfloat162() const { return __float22bfloat162_rn((float2)*this); }    \
  };                                                                                                              \
  struct __hip_fp8x4_##NAME {                                                                                     \
    __hip_fp8x4_storage_t __x;                                                                                    \
    static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;                                   \
    static constexpr __hip_fp8_interpretation_t __default_interpret = KIND;                                       \
    __hip_fp8x4_##NAME() = default;                                                                               \
    __HIP_HALF_FN__ __hip_fp8x4_##NAME(float4 f) : __x(pack(float2(f.x, f.y), float2(f.z, f.w))) {}               \
    __HIP_HALF_FN__ __hip_fp8x4_##NAME(double4 f) : __x(pack(double2(f.x, f.y), double2(f.z, f.w))) {}            \
    __HIP_HALF_FN__ __hip_fp8x4_##NAME(__half2 low, __half2 high) : __x(pack(low, high)) {}                       \
    __HIP_HALF_FN__ __hip_fp8x4_##NAME(__hip_bfloat162 low, __hip_bfloat162 high) : __x(pack(low, high)) {}       \
    __HIP_HALF_FN__ operator float4() const {                                                                     \
      return float4(hip_detail::from_fp8(__x & 255, KIND), hip_detail::from_fp8(__x >> 8 & 255, KIND),            \
                    hip_detail::from_fp8(__x >> 16 & 255, KIND), hip_detail::from_fp8(__x >> 24, KIND));          \
    }                                                                                                             \
   private:                                                                                                       \
    template <typename P> static __HIP_HALF_FN__ __hip_fp8x4_storage_t pack(P low, P high) {                      \
      return (unsigned)__hip_fp8x2_##NAME(low).__x | (unsigned)__hip_fp8x2_##NAME(high).__x << 16;                \
    }                                                                                                             \
  };
__HIP_FP8_TYPE__(e4m3_fnuz, __HIP_E4M3_FNUZ)
__HIP_FP8_TYPE__(e5m2_fnuz, __HIP_E5M2_FNUZ)
__HIP_FP8_TYPE__(e4m3, __HIP_E4M3)
__HIP_FP8_TYPE__(e5m2, __HIP_E5M2)
#undef __HIP_FP8_TYPE__
#endif
