// The library's entry points, under the names ROCm's device library uses.
#pragma once

#include "math_special.h"

#define EXPORT1(NAME) \
  EXPORT float __ocml_##NAME##_f32(float x) { return NAME##_(x); } \
  EXPORT double __ocml_##NAME##_f64(double x) { return NAME##_(x); }
// Rare ones: a float's value comes from the double's.
#define EXPORT1_BY_DOUBLE(NAME) \
  EXPORT float __ocml_##NAME##_f32(float x) { return (float)NAME##_((double)x); } \
  EXPORT double __ocml_##NAME##_f64(double x) { return NAME##_(x); }
#define EXPORT2(NAME) \
  EXPORT float __ocml_##NAME##_f32(float x, float y) { return NAME##_(x, y); } \
  EXPORT double __ocml_##NAME##_f64(double x, double y) { return NAME##_(x, y); }

EXPORT1(sin) EXPORT1(cos) EXPORT1(tan) EXPORT1(asin) EXPORT1(acos) EXPORT1(atan)
EXPORT1(sinh) EXPORT1(cosh) EXPORT1(tanh) EXPORT1(asinh) EXPORT1(acosh) EXPORT1(atanh)
EXPORT1(expm1) EXPORT1(log1p) EXPORT1(logb)
// The compiler's own lowering of these is shorter, and as exact as a float can be expected to be.
#if defined(__HIP_DEVICE_COMPILE__)
#define EXPORT1_BUILTIN(NAME) \
  EXPORT float __ocml_##NAME##_f32(float x) { return __builtin_##NAME##f(x); } \
  EXPORT double __ocml_##NAME##_f64(double x) { return NAME##_(x); }
#else
#define EXPORT1_BUILTIN(NAME) EXPORT1(NAME)
#endif
EXPORT1_BUILTIN(exp) EXPORT1_BUILTIN(exp2) EXPORT1_BUILTIN(exp10)
EXPORT1_BUILTIN(log) EXPORT1_BUILTIN(log2) EXPORT1_BUILTIN(log10)
EXPORT1(cbrt) EXPORT1(rcbrt) EXPORT1(rsqrt) EXPORT1(sinpi) EXPORT1(cospi) EXPORT1(tanpi)
EXPORT1(erf) EXPORT1(erfc) EXPORT1(erfinv)
EXPORT1_BY_DOUBLE(erfcx) EXPORT1_BY_DOUBLE(erfcinv)
EXPORT1_BY_DOUBLE(normcdf) EXPORT1_BY_DOUBLE(normcdfinv) EXPORT1_BY_DOUBLE(tgamma)
EXPORT1_BY_DOUBLE(lgamma) EXPORT1_BY_DOUBLE(j0) EXPORT1_BY_DOUBLE(j1) EXPORT1_BY_DOUBLE(y0)
EXPORT1_BY_DOUBLE(y1)
EXPORT2(pow) EXPORT2(atan2) EXPORT2(hypot) EXPORT2(rhypot) EXPORT2(fmod) EXPORT2(remainder)
EXPORT2(nextafter) EXPORT2(fdim)

EXPORT float __ocml_i0_f32(float x) { return (float)bessel_i((double)x, 0); }
EXPORT double __ocml_i0_f64(double x) { return bessel_i(x, 0); }
EXPORT float __ocml_i1_f32(float x) { return (float)bessel_i((double)x, 1); }
EXPORT double __ocml_i1_f64(double x) { return bessel_i(x, 1); }
EXPORT float __ocml_sincos_f32(float x, float* c) { float k, s = sincos_(x, k); *c = k; return s; }
EXPORT double __ocml_sincos_f64(double x, double* c) { double k, s = sincos_(x, k); *c = k; return s; }
EXPORT float __ocml_sincospi_f32(float x, float* c) { float k, s = sincospi_(x, k); *c = k; return s; }
EXPORT double __ocml_sincospi_f64(double x, double* c) { double k, s = sincospi_(x, k); *c = k; return s; }
EXPORT float __ocml_pown_f32(float x, int n) { return pown_(x, n); }
EXPORT double __ocml_pown_f64(double x, int n) { return pown_(x, n); }
EXPORT float __ocml_remquo_f32(float x, float y, int* q) { int k; float r = remquo_(x, y, k); *q = k; return r; }
EXPORT double __ocml_remquo_f64(double x, double y, int* q) { int k; double r = remquo_(x, y, k); *q = k; return r; }
EXPORT float __ocml_jn_f32(int n, float x) { return (float)jn_(n, (double)x); }
EXPORT double __ocml_jn_f64(int n, double x) { return jn_(n, x); }
EXPORT float __ocml_yn_f32(int n, float x) { return (float)yn_(n, (double)x); }
EXPORT double __ocml_yn_f64(int n, double x) { return yn_(n, x); }
