// 4-bit floating point, E2M1: two values in a byte, the first in the low bits.
#pragma once
#if defined(__clang__)
#pragma clang system_header
#endif

#include <hip/detail/tiny_float.h>

#if defined(__cplusplus)
typedef __hip_fp8_storage_t __hip_fp4_storage_t;
typedef __hip_fp8_storage_t __hip_fp4x2_storage_t;
typedef __hip_fp8x2_storage_t __hip_fp4x4_storage_t;
enum __hip_fp4_interpretation_t { __HIP_E2M1 = 0 };
__HIP_TINY_TYPES__(__hip_fp4, e2m1, 2, 1, 4)
namespace hip_detail {
template <typename T> __HIP_SMALL_FN__ __hip_fp4_storage_t fp4_of(__hip_fp4_interpretation_t, T v, one) {
  return __hip_fp4_e2m1(v).__x;
}
template <typename T> __HIP_SMALL_FN__ __hip_fp4x2_storage_t fp4_of(__hip_fp4_interpretation_t, T v, two) {
  return __hip_fp4x2_e2m1(v).__x;
}
}  // namespace hip_detail
__HIP_TINY_CONVERSIONS__(fp4)
__HIP_SMALL_FN__ __half_raw __hip_cvt_fp4_to_halfraw(__hip_fp4_storage_t x, __hip_fp4_interpretation_t) {
  return __hip_half_from(hip_detail::tiny<2, 1>::decode(x));
}
__HIP_SMALL_FN__ __half2_raw __hip_cvt_fp4x2_to_halfraw2(__hip_fp4x2_storage_t x, __hip_fp4_interpretation_t k) {
  __half2_raw r;
  r.x = __hip_cvt_fp4_to_halfraw(x & 15, k).x;
  r.y = __hip_cvt_fp4_to_halfraw(x >> 4, k).x;
  return r;
}
#endif
