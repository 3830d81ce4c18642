// hipFloatComplex, hipDoubleComplex and their functions.
#pragma once
#if defined(__clang__)
#pragma clang system_header
#endif

#include <hip/hip_vector_types.h>
#if !defined(__HIPCC_RTC__) && defined(__cplusplus)
#include <cmath>
#elif !defined(__HIPCC_RTC__)
#include <math.h>
#endif

#if defined(__HIP__)
#define __HIP_COMPLEX_FN__ static inline __attribute__((host, device, unused))
#else
#define __HIP_COMPLEX_FN__ static inline __attribute__((unused))
#endif

typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
typedef hipFloatComplex hipComplex;

#define __HIP_COMPLEX__(C, T, SUFFIX, SQRT, FABS)                                                          \
  __HIP_COMPLEX_FN__ T hipCreal##SUFFIX(C z) { return z.x; }                                               \
  __HIP_COMPLEX_FN__ T hipCimag##SUFFIX(C z) { return z.y; }                                               \
  __HIP_COMPLEX_FN__ C make_##C(T a, T b) { C z; z.x = a; z.y = b; return z; }                             \
  __HIP_COMPLEX_FN__ C hipConj##SUFFIX(C z) { return make_##C(z.x, -z.y); }                                \
  __HIP_COMPLEX_FN__ T hipCsqabs##SUFFIX(C z) { return z.x * z.x + z.y * z.y; }                            \
  __HIP_COMPLEX_FN__ C hipCadd##SUFFIX(C p, C q) { return make_##C(p.x + q.x, p.y + q.y); }                \
  __HIP_COMPLEX_FN__ C hipCsub##SUFFIX(C p, C q) { return make_##C(p.x - q.x, p.y - q.y); }                \
  __HIP_COMPLEX_FN__ C hipCmul##SUFFIX(C p, C q) {                                                         \
    return make_##C(p.x * q.x - p.y * q.y, p.y * q.x + p.x * q.y);                                         \
  }                                                                                                        \
  __HIP_COMPLEX_FN__ C hipCdiv##SUFFIX(C p, C q) {                                                         \
    T s = hipCsqabs##SUFFIX(q);                                                                            \
    return make_##C((p.x * q.x + p.y * q.y) / s, (p.y * q.x - p.x * q.y) / s);                             \
  }                                                                                                        \
  __HIP_COMPLEX_FN__ T hipCabs##SUFFIX(C z) {                                                              \
    T a = FABS(z.x), b = FABS(z.y), big = a > b ? a : b, small = a > b ? b : a;                            \
    if (big == 0 || small == 0) return big + small;                                                        \
    T r = small / big;                                                                                     \
    return big * SQRT(1 + r * r);                                                                          \
  }                                                                                                        \
  __HIP_COMPLEX_FN__ C hipCfma##SUFFIX(C p, C q, C r) {                                                    \
    return make_##C(p.x * q.x - p.y * q.y + r.x, p.y * q.x + p.x * q.y + r.y);                             \
  }
__HIP_COMPLEX__(hipFloatComplex, float, f, __builtin_sqrtf, __builtin_fabsf)
__HIP_COMPLEX__(hipDoubleComplex, double, , __builtin_sqrt, __builtin_fabs)
#undef __HIP_COMPLEX__
__HIP_COMPLEX_FN__ hipComplex make_hipComplex(float x, float y) { return make_hipFloatComplex(x, y); }
__HIP_COMPLEX_FN__ hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex z) { return make_hipDoubleComplex(z.x, z.y); }
__HIP_COMPLEX_FN__ hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex z) { return make_hipFloatComplex((float)z.x, (float)z.y); }
