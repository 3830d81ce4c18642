// Floating point of six and four bits (OCP microscaling formats), for hip_fp6.h and hip_fp4.h: no
// infinity, no NaN, conversions to nearest even that stop at the largest value.
#pragma once
#if defined(__clang__)
#pragma clang system_header
#endif

#include <hip/hip_fp8.h>

#if defined(__cplusplus)
// Conversions round to nearest whatever is asked for, as AMD's do.
enum hipRoundMode { hipRoundNearest = 0, hipRoundZero = 1, hipRoundPosInf = 2, hipRoundMinInf = 3 };

namespace hip_detail {
template <int Exponent, int Mantissa> struct tiny {
  static constexpr int bias = (1 << (Exponent - 1)) - 1;
  static constexpr unsigned top = (1u << (Exponent + Mantissa)) - 1;
  static __HIP_HALF_FN__ unsigned encode(float f) {
    unsigned u = __hip_float_bits(f), a = u & 0x7fffffffu, sign = u >> 31 << (Exponent + Mantissa);
    if (a > 0x7f800000u) return top;
    int e = (int)(a >> 23) - 127, lowest = 1 - bias, drop = 23 - Mantissa;
    if (e > 1 << Exponent) return sign | top;
    unsigned m = (a & 0x7fffffu) | (e == -127 ? 0 : 0x800000u), r;
    if (e < lowest) r = __hip_round_shift(m, drop + lowest - e, false, 0);
    else r = ((unsigned)(e - lowest) << Mantissa) + __hip_round_shift(m, drop, false, 0);
    return sign | (r < top ? r : top);
  }
  static __HIP_HALF_FN__ float decode(unsigned b) {
    unsigned a = b & top, e = a >> Mantissa, m = a & ((1u << Mantissa) - 1);
    float scale = __hip_bits_float((unsigned)((e ? (int)e : 1) - bias + 127 - Mantissa) << 23);
    float value = (float)(int)(m + (e ? 1u << Mantissa : 0u)) * scale;
    return b >> (Exponent + Mantissa) & 1 ? -value : value;
  }
};
}  // namespace hip_detail

// The scalar, pair and quadruple classes of one format. STEP bits lie between neighbours.
#define __HIP_TINY_TYPES__(BASE, NAME, E, M, STEP)                                                              \
  struct BASE##_##NAME {                                                                                        \
    BASE##_storage_t __x;                                                                                       \
    BASE##_##NAME() = default;                                                                                  \
    template <typename T, typename hip_detail::enable_if<hip_detail::is_number<T>::value, int>::type = 0>       \
    __HIP_HALF_FN__ explicit BASE##_##NAME(T v) : __x((BASE##_storage_t)hip_detail::tiny<E, M>::encode(hip_detail::to_odd(v))) {} \
    __HIP_HALF_FN__ explicit BASE##_##NAME(const __half& v) : BASE##_##NAME((float)v) {}                        \
    __HIP_HALF_FN__ explicit BASE##_##NAME(const __hip_bfloat16& v) : BASE##_##NAME((float)v) {}                \
    __HIP_HALF_FN__ operator float() const { return hip_detail::tiny<E, M>::decode(__x); }                      \
    __HIP_HALF_FN__ operator double() const { return (float)*this; }                                            \
    __HIP_HALF_FN__ operator __half_raw() const { return __hip_half_from((float)*this); }                       \
    __HIP_HALF_FN__ operator __hip_bfloat16_raw() const { return __hip_bf16_from((float)*this); }               \
  };                                                                                                            \
  struct BASE##x2_##NAME {                                                                                      \
    BASE##x2_storage_t __x;                                                                                     \
    BASE##x2_##NAME() = default;                                                                                \
    __HIP_HALF_FN__ explicit BASE##x2_##NAME(float2 v) : __x(pack(v.x, v.y)) {}                                 \
    __HIP_HALF_FN__ explicit BASE##x2_##NAME(double2 v) : __x(pack(v.x, v.y)) {}                                \
    __HIP_HALF_FN__ explicit BASE##x2_##NAME(__half2 v) : __x(pack((float)v.x, (float)v.y)) {}                  \
    __HIP_HALF_FN__ explicit BASE##x2_##NAME(__hip_bfloat162 v) : __x(pack((float)v.x, (float)v.y)) {}          \
    __HIP_HALF_FN__ operator float2() const {                                                                   \
      return float2(hip_detail::tiny<E, M>::decode(__x), hip_detail::tiny<E, M>::decode(__x >> STEP));          \
    }                                                                                                           \
    __HIP_HALF_FN__ operator double2() const { float2 f = *this; return double2(f.x, f.y); }                    \
    __HIP_HALF_FN__ operator __half2_raw() const { return __float22half2_rn(*this); }                           \
    __HIP_HALF_FN__ operator __hip_bfloat162_raw() const { return __float22bfloat162_rn(*this); }               \
    template <typename T> static __HIP_HALF_FN__ BASE##x2_storage_t pack(T low, T high) {                       \
      return (BASE##x2_storage_t)(BASE##_##NAME(low).__x | BASE##_##NAME(high).__x << STEP);                    \
    }                                                                                                           \
  };                                                                                                            \
  struct BASE##x4_##NAME {                                                                                      \
    BASE##x4_storage_t __x;                                                                                     \
    BASE##x4_##NAME() = default;                                                                                \
    __HIP_HALF_FN__ explicit BASE##x4_##NAME(float4 v) : __x(pack(float2(v.x, v.y), float2(v.z, v.w))) {}       \
    __HIP_HALF_FN__ explicit BASE##x4_##NAME(double4 v) : __x(pack(double2(v.x, v.y), double2(v.z, v.w))) {}    \
    __HIP_HALF_FN__ explicit BASE##x4_##NAME(__half2 low, __half2 high) : __x(pack(low, high)) {}               \
    __HIP_HALF_FN__ explicit BASE##x4_##NAME(__hip_bfloat162 low, __hip_bfloat162 high) : __x(pack(low, high)) {} \
    __HIP_HALF_FN__ operator float4() const {                                                                   \
      typedef hip_detail::tiny<E, M> Format;                                                                    \
      return float4(Format::decode(__x), Format::decode(__x >> STEP), Format::decode(__x >> 2 * STEP),          \
                    Format::decode(__x >> 3 * STEP));                                                           \
    }                                                                                                           \
    __HIP_HALF_FN__ operator double4() const { float4 f = *this; return double4(f.x, f.y, f.z, f.w); }          \
    template <typename P> static __HIP_HALF_FN__ BASE##x4_storage_t pack(P low, P high) {                       \
      return (BASE##x4_storage_t)((unsigned)BASE##x2_##NAME(low).__x | (unsigned)BASE##x2_##NAME(high).__x << 2 * STEP); \
    }                                                                                                           \
  };

// The conversions as functions: hip_detail::N_of picks the class by the interpretation `k`.
#define __HIP_TINY_CONVERT__(N, FROM, T, VALUE, STORAGE, WIDTH)                                                 \
  __HIP_SMALL_FN__ __hip_##STORAGE##_storage_t __hip_cvt_##FROM##_to_##STORAGE(T x, __hip_##N##_interpretation_t k, hipRoundMode) { \
    return hip_detail::N##_of(k, VALUE, WIDTH());                                                               \
  }
#define __HIP_TINY_CONVERSIONS__(N)                                                                             \
  __HIP_TINY_CONVERT__(N, float, float, x, N, hip_detail::one)                                                  \
  __HIP_TINY_CONVERT__(N, double, double, x, N, hip_detail::one)                                                \
  __HIP_TINY_CONVERT__(N, halfraw, __half_raw, __half(x), N, hip_detail::one)                                   \
  __HIP_TINY_CONVERT__(N, bfloat16raw, __hip_bfloat16_raw, __hip_bfloat16(x), N, hip_detail::one)               \
  __HIP_TINY_CONVERT__(N, float2, float2, x, N##x2, hip_detail::two)                                            \
  __HIP_TINY_CONVERT__(N, double2, double2, x, N##x2, hip_detail::two)                                          \
  __HIP_TINY_CONVERT__(N, halfraw2, __half2_raw, __half2(x), N##x2, hip_detail::two)                            \
  __HIP_TINY_CONVERT__(N, bfloat16raw2, __hip_bfloat162_raw, __hip_bfloat162(x), N##x2, hip_detail::two)
namespace hip_detail {
struct one {};
struct two {};
}  // namespace hip_detail
#endif
