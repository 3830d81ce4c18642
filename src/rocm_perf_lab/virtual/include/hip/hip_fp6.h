// 6-bit floating point, E2M3 and E3M2: each value in a byte of its own.
#pragma once
#if defined(__clang__)
#pragma clang system_header
#endif

#include <hip/detail/tiny_float.h>

#if defined(__cplusplus)
typedef __hip_fp8_storage_t __hip_fp6_storage_t;
typedef __hip_fp8x2_storage_t __hip_fp6x2_storage_t;
typedef __hip_fp8x4_storage_t __hip_fp6x4_storage_t;
enum __hip_fp6_interpretation_t { __HIP_E3M2 = 0, __HIP_E2M3 = 1 };
__HIP_TINY_TYPES__(__hip_fp6, e2m3, 2, 3, 8)
__HIP_TINY_TYPES__(__hip_fp6, e3m2, 3, 2, 8)
namespace hip_detail {
template <typename T> __HIP_SMALL_FN__ __hip_fp6_storage_t fp6_of(__hip_fp6_interpretation_t k, T v, one) {
  return k == __HIP_E2M3 ? __hip_fp6_e2m3(v).__x : __hip_fp6_e3m2(v).__x;
}
template <typename T> __HIP_SMALL_FN__ __hip_fp6x2_storage_t fp6_of(__hip_fp6_interpretation_t k, T v, two) {
  return k == __HIP_E2M3 ? __hip_fp6x2_e2m3(v).__x : __hip_fp6x2_e3m2(v).__x;
}
}  // namespace hip_detail
__HIP_TINY_CONVERSIONS__(fp6)
__HIP_SMALL_FN__ __half_raw __hip_cvt_fp6_to_halfraw(__hip_fp6_storage_t x, __hip_fp6_interpretation_t k) {
  return __hip_half_from(k == __HIP_E2M3 ? hip_detail::tiny<2, 3>::decode(x) : hip_detail::tiny<3, 2>::decode(x));
}
__HIP_SMALL_FN__ __half2_raw __hip_cvt_fp6x2_to_halfraw2(__hip_fp6x2_storage_t x, __hip_fp6_interpretation_t k) {
  __half2_raw r;
  r.x = __hip_cvt_fp6_to_halfraw((__hip_fp6_storage_t)x, k).x;
  r.y = __hip_cvt_fp6_to_halfraw((__hip_fp6_storage_t)(x >> 8), k).x;
  return r;
}
#endif
