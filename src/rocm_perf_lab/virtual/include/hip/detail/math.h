// The C99 and CUDA mathematics of device code.
//
// Functions that the compiler lowers well are builtins; the others are in the device library
// (virtual/devicelib), which `rocm-perf hipcc` links as bitcode. Included before any standard
// header, so that <cmath> finds the device overloads and keeps its own for the host.
#pragma once
#pragma clang system_header

#include <hip/detail/attributes.h>

#if defined(__HIP__)

#define __HIP_OCML1__(name) \
  extern "C" __attribute__((device, const)) float __ocml_##name##_f32(float); \
  extern "C" __attribute__((device, const)) double __ocml_##name##_f64(double);
#define __HIP_OCML2__(name) \
  extern "C" __attribute__((device, const)) float __ocml_##name##_f32(float, float); \
  extern "C" __attribute__((device, const)) double __ocml_##name##_f64(double, double);
__HIP_OCML1__(sin)
__HIP_OCML1__(cos)
__HIP_OCML1__(tan)
__HIP_OCML1__(asin)
__HIP_OCML1__(acos)
__HIP_OCML1__(atan)
__HIP_OCML1__(sinh)
__HIP_OCML1__(cosh)
__HIP_OCML1__(tanh)
__HIP_OCML1__(asinh)
__HIP_OCML1__(acosh)
__HIP_OCML1__(atanh)
__HIP_OCML1__(expm1)
__HIP_OCML1__(log1p)
__HIP_OCML1__(cbrt)
__HIP_OCML1__(erf)
__HIP_OCML1__(erfc)
__HIP_OCML1__(erfcx)
__HIP_OCML1__(erfinv)
__HIP_OCML1__(erfcinv)
__HIP_OCML1__(tgamma)
__HIP_OCML1__(lgamma)
__HIP_OCML1__(sinpi)
__HIP_OCML1__(cospi)
__HIP_OCML1__(tanpi)
__HIP_OCML1__(rcbrt)
__HIP_OCML1__(j0)
__HIP_OCML1__(j1)
__HIP_OCML1__(y0)
__HIP_OCML1__(y1)
__HIP_OCML1__(normcdf)
__HIP_OCML1__(normcdfinv)
__HIP_OCML1__(logb)
__HIP_OCML1__(exp)
__HIP_OCML1__(exp2)
__HIP_OCML1__(exp10)
__HIP_OCML1__(log)
__HIP_OCML1__(log2)
__HIP_OCML1__(log10)
__HIP_OCML1__(i0)
__HIP_OCML1__(i1)
__HIP_OCML2__(pow)
__HIP_OCML2__(atan2)
__HIP_OCML2__(hypot)
__HIP_OCML2__(fmod)
__HIP_OCML2__(remainder)
__HIP_OCML2__(nextafter)
__HIP_OCML2__(fdim)
__HIP_OCML2__(rhypot)
#undef __HIP_OCML1__
#undef __HIP_OCML2__
extern "C" {
#define __HIP_OCML__(R, NAME, ...) __attribute__((device)) R NAME(__VA_ARGS__);
__HIP_OCML__(float, __ocml_sincos_f32, float, float*)
__HIP_OCML__(double, __ocml_sincos_f64, double, double*)
__HIP_OCML__(float, __ocml_sincospi_f32, float, float*)
__HIP_OCML__(double, __ocml_sincospi_f64, double, double*)
__HIP_OCML__(float, __ocml_pown_f32, float, int)
__HIP_OCML__(double, __ocml_pown_f64, double, int)
__HIP_OCML__(float, __ocml_remquo_f32, float, float, int*)
__HIP_OCML__(double, __ocml_remquo_f64, double, double, int*)
__HIP_OCML__(float, __ocml_jn_f32, int, float)
__HIP_OCML__(double, __ocml_jn_f64, int, double)
__HIP_OCML__(float, __ocml_yn_f32, int, float)
__HIP_OCML__(double, __ocml_yn_f64, int, double)
__HIP_OCML__(float, __ocml_rsqrt_f32, float)
__HIP_OCML__(double, __ocml_rsqrt_f64, double)
#define __HIP_ROUNDED__(OP, ARGS32, ARGS64) \
  __HIP_OCML__(float, __ocml_##OP##_rtp_f32, ARGS32) __HIP_OCML__(float, __ocml_##OP##_rtn_f32, ARGS32) \
  __HIP_OCML__(float, __ocml_##OP##_rtz_f32, ARGS32) __HIP_OCML__(double, __ocml_##OP##_rtp_f64, ARGS64) \
  __HIP_OCML__(double, __ocml_##OP##_rtn_f64, ARGS64) __HIP_OCML__(double, __ocml_##OP##_rtz_f64, ARGS64)
#define __HIP_COMMA__ ,
__HIP_ROUNDED__(add, float __HIP_COMMA__ float, double __HIP_COMMA__ double)
__HIP_ROUNDED__(sub, float __HIP_COMMA__ float, double __HIP_COMMA__ double)
__HIP_ROUNDED__(mul, float __HIP_COMMA__ float, double __HIP_COMMA__ double)
__HIP_ROUNDED__(div, float __HIP_COMMA__ float, double __HIP_COMMA__ double)
__HIP_ROUNDED__(fma, float __HIP_COMMA__ float __HIP_COMMA__ float, double __HIP_COMMA__ double __HIP_COMMA__ double)
__HIP_ROUNDED__(sqrt, float, double)
#undef __HIP_ROUNDED__
#undef __HIP_COMMA__
#undef __HIP_OCML__
}

#if defined(__HIP_DEVICE_COMPILE__)
#define __HIP_LDEXP__(x, e) __builtin_ldexp(x, e)
#else
#define __HIP_LDEXP__(x, e) (x)
#endif

#pragma push_macro("__F__")
#define __F__ __HIP_DEVICE_FN__

namespace hip_detail {
template <bool B, typename T> struct math_if {};
template <typename T> struct math_if<true, T> { typedef T type; };
template <typename T> struct is_integer { static constexpr bool value = false; };
#define __HIP_INTEGER__(T) template <> struct is_integer<T> { static constexpr bool value = true; };
__HIP_INTEGER__(bool) __HIP_INTEGER__(char) __HIP_INTEGER__(signed char) __HIP_INTEGER__(unsigned char)
__HIP_INTEGER__(short) __HIP_INTEGER__(unsigned short) __HIP_INTEGER__(int) __HIP_INTEGER__(unsigned)
__HIP_INTEGER__(long) __HIP_INTEGER__(unsigned long) __HIP_INTEGER__(long long) __HIP_INTEGER__(unsigned long long)
#undef __HIP_INTEGER__
template <typename T> struct is_real { static constexpr bool value = is_integer<T>::value; };
template <> struct is_real<float> { static constexpr bool value = true; };
template <> struct is_real<double> { static constexpr bool value = true; };
template <typename T, typename U> struct same { static constexpr bool value = false; };
template <typename T> struct same<T, T> { static constexpr bool value = true; };
// Arguments of different arithmetic types: float only where all are float.
template <typename T, typename U> struct mixed
    : math_if<is_real<T>::value && is_real<U>::value && !same<T, U>::value, double> {};
template <typename T> struct integer_arg : math_if<is_integer<T>::value, double> {};
template <typename T, typename U, typename V> struct mixed3
    : math_if<is_real<T>::value && is_real<U>::value && is_real<V>::value && !(same<T, U>::value && same<T, V>::value && !is_integer<T>::value), double> {};
template <typename T, typename U, typename R> struct mixed_or_integer
    : math_if<is_real<T>::value && is_real<U>::value && !(same<T, U>::value && !is_integer<T>::value), R> {};
}  // namespace hip_detail

#define __HIP_MATH1__(name, f32, f64) \
  __F__ float name(float x) { return f32(x); } \
  __F__ double name(double x) { return f64(x); } \
  __F__ float name##f(float x) { return f32(x); } \
  template <typename T> __F__ typename hip_detail::integer_arg<T>::type name(T x) { return f64((double)x); }
#define __HIP_MATH2__(name, f32, f64) \
  __F__ float name(float x, float y) { return f32(x, y); } \
  __F__ double name(double x, double y) { return f64(x, y); } \
  __F__ float name##f(float x, float y) { return f32(x, y); } \
  template <typename T> __F__ typename hip_detail::integer_arg<T>::type name(T x, T y) { return f64((double)x, (double)y); } \
  template <typename T, typename U> __F__ typename hip_detail::mixed<T, U>::type name(T x, U y) { return f64((double)x, (double)y); }

__HIP_MATH1__(sin, __ocml_sin_f32, __ocml_sin_f64)
__HIP_MATH1__(cos, __ocml_cos_f32, __ocml_cos_f64)
__HIP_MATH1__(tan, __ocml_tan_f32, __ocml_tan_f64)
__HIP_MATH1__(asin, __ocml_asin_f32, __ocml_asin_f64)
__HIP_MATH1__(acos, __ocml_acos_f32, __ocml_acos_f64)
__HIP_MATH1__(atan, __ocml_atan_f32, __ocml_atan_f64)
__HIP_MATH1__(sinh, __ocml_sinh_f32, __ocml_sinh_f64)
__HIP_MATH1__(cosh, __ocml_cosh_f32, __ocml_cosh_f64)
__HIP_MATH1__(tanh, __ocml_tanh_f32, __ocml_tanh_f64)
__HIP_MATH1__(asinh, __ocml_asinh_f32, __ocml_asinh_f64)
__HIP_MATH1__(acosh, __ocml_acosh_f32, __ocml_acosh_f64)
__HIP_MATH1__(atanh, __ocml_atanh_f32, __ocml_atanh_f64)
__HIP_MATH1__(expm1, __ocml_expm1_f32, __ocml_expm1_f64)
__HIP_MATH1__(log1p, __ocml_log1p_f32, __ocml_log1p_f64)
__HIP_MATH1__(cbrt, __ocml_cbrt_f32, __ocml_cbrt_f64)
__HIP_MATH1__(erf, __ocml_erf_f32, __ocml_erf_f64)
__HIP_MATH1__(erfc, __ocml_erfc_f32, __ocml_erfc_f64)
__HIP_MATH1__(erfcx, __ocml_erfcx_f32, __ocml_erfcx_f64)
__HIP_MATH1__(erfinv, __ocml_erfinv_f32, __ocml_erfinv_f64)
__HIP_MATH1__(erfcinv, __ocml_erfcinv_f32, __ocml_erfcinv_f64)
__HIP_MATH1__(tgamma, __ocml_tgamma_f32, __ocml_tgamma_f64)
__HIP_MATH1__(lgamma, __ocml_lgamma_f32, __ocml_lgamma_f64)
__HIP_MATH1__(sinpi, __ocml_sinpi_f32, __ocml_sinpi_f64)
__HIP_MATH1__(cospi, __ocml_cospi_f32, __ocml_cospi_f64)
__HIP_MATH1__(tanpi, __ocml_tanpi_f32, __ocml_tanpi_f64)
__HIP_MATH1__(rcbrt, __ocml_rcbrt_f32, __ocml_rcbrt_f64)
__HIP_MATH1__(j0, __ocml_j0_f32, __ocml_j0_f64)
__HIP_MATH1__(j1, __ocml_j1_f32, __ocml_j1_f64)
__HIP_MATH1__(y0, __ocml_y0_f32, __ocml_y0_f64)
__HIP_MATH1__(y1, __ocml_y1_f32, __ocml_y1_f64)
__HIP_MATH1__(normcdf, __ocml_normcdf_f32, __ocml_normcdf_f64)
__HIP_MATH1__(normcdfinv, __ocml_normcdfinv_f32, __ocml_normcdfinv_f64)
__HIP_MATH1__(cyl_bessel_i0, __ocml_i0_f32, __ocml_i0_f64)
__HIP_MATH1__(cyl_bessel_i1, __ocml_i1_f32, __ocml_i1_f64)
__HIP_MATH1__(logb, __ocml_logb_f32, __ocml_logb_f64)
__HIP_MATH1__(exp, __builtin_expf, __ocml_exp_f64)
__HIP_MATH1__(exp2, __builtin_exp2f, __ocml_exp2_f64)
__HIP_MATH1__(exp10, __builtin_exp10f, __ocml_exp10_f64)
__HIP_MATH1__(log, __builtin_logf, __ocml_log_f64)
__HIP_MATH1__(log2, __builtin_log2f, __ocml_log2_f64)
__HIP_MATH1__(log10, __builtin_log10f, __ocml_log10_f64)
__HIP_MATH1__(sqrt, __builtin_sqrtf, __builtin_sqrt)
__HIP_MATH1__(floor, __builtin_floorf, __builtin_floor)
__HIP_MATH1__(ceil, __builtin_ceilf, __builtin_ceil)
__HIP_MATH1__(trunc, __builtin_truncf, __builtin_trunc)
__HIP_MATH1__(rint, __builtin_rintf, __builtin_rint)
__HIP_MATH1__(nearbyint, __builtin_nearbyintf, __builtin_nearbyint)
__HIP_MATH1__(round, __builtin_roundf, __builtin_round)
__HIP_MATH1__(fabs, __builtin_fabsf, __builtin_fabs)
__HIP_MATH1__(rsqrt, __ocml_rsqrt_f32, __ocml_rsqrt_f64)
__HIP_MATH2__(pow, __ocml_pow_f32, __ocml_pow_f64)
__HIP_MATH2__(atan2, __ocml_atan2_f32, __ocml_atan2_f64)
__HIP_MATH2__(hypot, __ocml_hypot_f32, __ocml_hypot_f64)
__HIP_MATH2__(fmod, __ocml_fmod_f32, __ocml_fmod_f64)
__HIP_MATH2__(remainder, __ocml_remainder_f32, __ocml_remainder_f64)
__HIP_MATH2__(nextafter, __ocml_nextafter_f32, __ocml_nextafter_f64)
__HIP_MATH2__(fdim, __ocml_fdim_f32, __ocml_fdim_f64)
__HIP_MATH2__(rhypot, __ocml_rhypot_f32, __ocml_rhypot_f64)
__HIP_MATH2__(fmin, __builtin_fminf, __builtin_fmin)
__HIP_MATH2__(fmax, __builtin_fmaxf, __builtin_fmax)
__HIP_MATH2__(copysign, __builtin_copysignf, __builtin_copysign)
#undef __HIP_MATH1__
#undef __HIP_MATH2__

__F__ float pow(float x, int n) { return __ocml_pown_f32(x, n); }
__F__ double pow(double x, int n) { return __ocml_pown_f64(x, n); }
__F__ float powif(float x, int n) { return __ocml_pown_f32(x, n); }
__F__ double powi(double x, int n) { return __ocml_pown_f64(x, n); }

__F__ float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__F__ double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
__F__ float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
template <typename T, typename U, typename V>
__F__ typename hip_detail::mixed3<T, U, V>::type fma(T x, U y, V z) { return __builtin_fma((double)x, (double)y, (double)z); }
#if defined(__HIP_DEVICE_COMPILE__)
__F__ _Float16 fma(_Float16 x, _Float16 y, _Float16 z) { return __builtin_fmaf16(x, y, z); }
__F__ _Float16 pow(_Float16 x, int n) { return (_Float16)__ocml_pown_f32((float)x, n); }
#endif

__F__ float ldexp(float x, int e) { return __HIP_LDEXP__(x, e); }
__F__ double ldexp(double x, int e) { return __HIP_LDEXP__(x, e); }
__F__ float ldexpf(float x, int e) { return __HIP_LDEXP__(x, e); }
__F__ float scalbn(float x, int e) { return ldexp(x, e); }
__F__ double scalbn(double x, int e) { return ldexp(x, e); }
__F__ float scalbnf(float x, int e) { return ldexp(x, e); }
template <typename T> __F__ typename hip_detail::integer_arg<T>::type ldexp(T x, int e) { return ldexp((double)x, e); }
template <typename T> __F__ typename hip_detail::integer_arg<T>::type scalbn(T x, int e) { return ldexp((double)x, e); }
__F__ int __hip_exponent(long e) { return e > 100000 ? 100000 : e < -100000 ? -100000 : (int)e; }
__F__ float scalbln(float x, long e) { return ldexp(x, __hip_exponent(e)); }
__F__ double scalbln(double x, long e) { return ldexp(x, __hip_exponent(e)); }
__F__ float scalblnf(float x, long e) { return ldexp(x, __hip_exponent(e)); }
template <typename T> __F__ typename hip_detail::integer_arg<T>::type scalbln(T x, long e) { return scalbln((double)x, e); }

#define __HIP_CLASSIFY__(T, FABS, INF) \
  __F__ bool isnan(T x) { return __builtin_isnan(x); } \
  __F__ bool isinf(T x) { return FABS(x) == INF; } \
  __F__ bool isfinite(T x) { return FABS(x) < INF; } \
  __F__ bool isnormal(T x) { return __builtin_isnormal(x); } \
  __F__ bool signbit(T x) { return __builtin_signbit(x); } \
  __F__ int fpclassify(T x) { return __builtin_fpclassify(0, 1, 4, 3, 2, x); } \
  __F__ bool isgreater(T x, T y) { return __builtin_isgreater(x, y); } \
  __F__ bool isgreaterequal(T x, T y) { return __builtin_isgreaterequal(x, y); } \
  __F__ bool isless(T x, T y) { return __builtin_isless(x, y); } \
  __F__ bool islessequal(T x, T y) { return __builtin_islessequal(x, y); } \
  __F__ bool islessgreater(T x, T y) { return __builtin_islessgreater(x, y); } \
  __F__ bool isunordered(T x, T y) { return __builtin_isunordered(x, y); }
__HIP_CLASSIFY__(float, __builtin_fabsf, __builtin_inff())
__HIP_CLASSIFY__(double, __builtin_fabs, __builtin_inf())
#undef __HIP_CLASSIFY__
#define __HIP_COMPARE__(NAME) \
  template <typename T, typename U> \
  __F__ typename hip_detail::mixed_or_integer<T, U, bool>::type NAME(T x, U y) { return NAME((double)x, (double)y); }
__HIP_COMPARE__(isgreater) __HIP_COMPARE__(isgreaterequal) __HIP_COMPARE__(isless)
__HIP_COMPARE__(islessequal) __HIP_COMPARE__(islessgreater) __HIP_COMPARE__(isunordered)
#undef __HIP_COMPARE__
template <typename T> __F__ typename hip_detail::math_if<hip_detail::is_integer<T>::value, bool>::type isnormal(T x) { return x != 0; }
template <typename T> __F__ typename hip_detail::math_if<hip_detail::is_integer<T>::value, bool>::type signbit(T x) { return x < 0; }
template <typename T> __F__ typename hip_detail::math_if<hip_detail::is_integer<T>::value, int>::type fpclassify(T x) { return fpclassify((double)x); }
// The names the C library's macros use.
#define __HIP_CLASSIFY__(NAME, LIBRARY) \
  __F__ bool LIBRARY(double x) { return NAME(x); } \
  __F__ bool LIBRARY##f(float x) { return NAME(x); }
__HIP_CLASSIFY__(isnan, __isnan) __HIP_CLASSIFY__(isinf, __isinf)
__HIP_CLASSIFY__(isfinite, __finite) __HIP_CLASSIFY__(signbit, __signbit)
#undef __HIP_CLASSIFY__
template <typename T> __F__ typename hip_detail::math_if<hip_detail::is_integer<T>::value, bool>::type isnan(T) { return false; }
template <typename T> __F__ typename hip_detail::math_if<hip_detail::is_integer<T>::value, bool>::type isinf(T) { return false; }
template <typename T> __F__ typename hip_detail::math_if<hip_detail::is_integer<T>::value, bool>::type isfinite(T) { return true; }

__F__ float frexp(float x, int* e) { return __builtin_frexpf(x, e); }
__F__ double frexp(double x, int* e) { return __builtin_frexp(x, e); }
__F__ float frexpf(float x, int* e) { return __builtin_frexpf(x, e); }
template <typename T> __F__ typename hip_detail::integer_arg<T>::type frexp(T x, int* e) { return __builtin_frexp((double)x, e); }
__F__ float modf(float x, float* whole) {
  float t = __builtin_truncf(x);
  *whole = t;
  return __builtin_copysignf(__builtin_isinf(x) ? 0.0f : x - t, x);
}
__F__ double modf(double x, double* whole) {
  double t = __builtin_trunc(x);
  *whole = t;
  return __builtin_copysign(__builtin_isinf(x) ? 0.0 : x - t, x);
}
__F__ float modff(float x, float* whole) { return modf(x, whole); }
__F__ int ilogb(float x) {
  if (x == 0.0f || __builtin_isnan(x)) return -2147483647 - 1;
  if (__builtin_isinf(x)) return 2147483647;
  int e;
  (void)__builtin_frexpf(x, &e);
  return e - 1;
}
__F__ int ilogb(double x) {
  if (x == 0.0 || __builtin_isnan(x)) return -2147483647 - 1;
  if (__builtin_isinf(x)) return 2147483647;
  int e;
  (void)__builtin_frexp(x, &e);
  return e - 1;
}
__F__ int ilogbf(float x) { return ilogb(x); }
template <typename T> __F__ typename hip_detail::math_if<hip_detail::is_integer<T>::value, int>::type ilogb(T x) { return ilogb((double)x); }
__F__ float remquo(float x, float y, int* q) { return __ocml_remquo_f32(x, y, q); }
__F__ double remquo(double x, double y, int* q) { return __ocml_remquo_f64(x, y, q); }
__F__ float remquof(float x, float y, int* q) { return __ocml_remquo_f32(x, y, q); }
template <typename T, typename U>
__F__ typename hip_detail::mixed_or_integer<T, U, double>::type remquo(T x, U y, int* q) { return __ocml_remquo_f64((double)x, (double)y, q); }
__F__ float nan(const char*, float) { return __builtin_nanf(""); }
__F__ double nan(const char*) { return __builtin_nan(""); }
__F__ float nanf(const char*) { return __builtin_nanf(""); }

// Round to integer: the library's `long` results saturate as the hardware's conversion does.
#define __HIP_TO_LONG__(name, round) \
  __F__ long name(float x) { return (long)round##f(x); } \
  __F__ long name(double x) { return (long)round(x); } \
  __F__ long name##f(float x) { return (long)round##f(x); } \
  __F__ long long l##name(float x) { return (long long)round##f(x); } \
  __F__ long long l##name(double x) { return (long long)round(x); } \
  __F__ long long l##name##f(float x) { return (long long)round##f(x); } \
  template <typename T> __F__ typename hip_detail::math_if<hip_detail::is_integer<T>::value, long>::type name(T x) { return name((double)x); } \
  template <typename T> __F__ typename hip_detail::math_if<hip_detail::is_integer<T>::value, long long>::type l##name(T x) { return l##name((double)x); }
__HIP_TO_LONG__(lround, __builtin_round)
__HIP_TO_LONG__(lrint, __builtin_rint)
#undef __HIP_TO_LONG__

__F__ void sincos(float x, float* s, float* c) { *s = __ocml_sincos_f32(x, c); }
__F__ void sincos(double x, double* s, double* c) { *s = __ocml_sincos_f64(x, c); }
__F__ void sincosf(float x, float* s, float* c) { *s = __ocml_sincos_f32(x, c); }
__F__ void sincospi(float x, float* s, float* c) { *s = __ocml_sincospi_f32(x, c); }
__F__ void sincospi(double x, double* s, double* c) { *s = __ocml_sincospi_f64(x, c); }
__F__ void sincospif(float x, float* s, float* c) { *s = __ocml_sincospi_f32(x, c); }
__F__ float jn(int n, float x) { return __ocml_jn_f32(n, x); }
__F__ double jn(int n, double x) { return __ocml_jn_f64(n, x); }
__F__ float jnf(int n, float x) { return __ocml_jn_f32(n, x); }
__F__ float yn(int n, float x) { return __ocml_yn_f32(n, x); }
__F__ double yn(int n, double x) { return __ocml_yn_f64(n, x); }
__F__ float ynf(int n, float x) { return __ocml_yn_f32(n, x); }
__F__ float fdividef(float x, float y) { return x / y; }
__F__ float saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }

__F__ float norm3df(float a, float b, float c) { return __ocml_hypot_f32(__ocml_hypot_f32(a, b), c); }
__F__ double norm3d(double a, double b, double c) { return __ocml_hypot_f64(__ocml_hypot_f64(a, b), c); }
__F__ float norm4df(float a, float b, float c, float d) { return __ocml_hypot_f32(__ocml_hypot_f32(a, b), __ocml_hypot_f32(c, d)); }
__F__ double norm4d(double a, double b, double c, double d) { return __ocml_hypot_f64(__ocml_hypot_f64(a, b), __ocml_hypot_f64(c, d)); }
__F__ float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
__F__ double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
__F__ float rnorm4df(float a, float b, float c, float d) { return 1.0f / norm4df(a, b, c, d); }
__F__ double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
__F__ float normf(int dim, const float* a) { float r = 0; for (int i = 0; i < dim; ++i) r = __ocml_hypot_f32(r, a[i]); return r; }
__F__ double norm(int dim, const double* a) { double r = 0; for (int i = 0; i < dim; ++i) r = __ocml_hypot_f64(r, a[i]); return r; }
__F__ float rnormf(int dim, const float* a) { return 1.0f / normf(dim, a); }
__F__ double rnorm(int dim, const double* a) { return 1.0 / norm(dim, a); }

__F__ int abs(int x) { return x < 0 ? -x : x; }
__F__ long abs(long x) { return x < 0 ? -x : x; }
__F__ long long abs(long long x) { return x < 0 ? -x : x; }
__F__ long labs(long x) { return x < 0 ? -x : x; }
__F__ long long llabs(long long x) { return x < 0 ? -x : x; }
__F__ float abs(float x) { return __builtin_fabsf(x); }
__F__ double abs(double x) { return __builtin_fabs(x); }

// The fast intrinsics: what the hardware's own instructions give.
__F__ float __cosf(float x) { return __builtin_amdgcn_cosf(x * 0.15915494309189535f); }
__F__ float __sinf(float x) { return __builtin_amdgcn_sinf(x * 0.15915494309189535f); }
__F__ float __tanf(float x) { return __sinf(x) * __builtin_amdgcn_rcpf(__cosf(x)); }
__F__ void __sincosf(float x, float* s, float* c) { *s = __sinf(x); *c = __cosf(x); }
__F__ float __expf(float x) { return __builtin_amdgcn_exp2f(x * 1.4426950408889634f); }
__F__ float __exp10f(float x) { return __builtin_amdgcn_exp2f(x * 3.3219280948873623f); }
__F__ float __exp2f(float x) { return __builtin_amdgcn_exp2f(x); }
__F__ float __log2f(float x) { return __builtin_amdgcn_logf(x); }
__F__ float __logf(float x) { return __builtin_amdgcn_logf(x) * 0.6931471805599453f; }
__F__ float __log10f(float x) { return __builtin_amdgcn_logf(x) * 0.3010299956639812f; }
__F__ float __powf(float x, float y) { return __builtin_amdgcn_exp2f(y * __builtin_amdgcn_logf(x)); }
__F__ float __fdividef(float x, float y) { return x / y; }
__F__ float __saturatef(float x) { return saturatef(x); }
__F__ float __frsqrt_rn(float x) { return __builtin_amdgcn_rsqf(x); }
__F__ float __frcp_rn(float x) { return 1.0f / x; }
__F__ float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
__F__ double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
__F__ double __drcp_rn(double x) { return 1.0 / x; }

// Contraction must not join what the programmer rounded apart.
#define __HIP_ROUND_NEAREST__(T, P) \
  __F__ T __##P##add_rn(T x, T y) { _Pragma("clang fp contract(off)") return x + y; } \
  __F__ T __##P##sub_rn(T x, T y) { _Pragma("clang fp contract(off)") return x - y; } \
  __F__ T __##P##mul_rn(T x, T y) { _Pragma("clang fp contract(off)") return x * y; } \
  __F__ T __##P##div_rn(T x, T y) { return x / y; }
__HIP_ROUND_NEAREST__(float, f)
__HIP_ROUND_NEAREST__(double, d)
#undef __HIP_ROUND_NEAREST__
__F__ float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__F__ double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
#define __HIP_ROUND_DIRECTED__(R, D) \
  __F__ float __fadd_##R(float x, float y) { return __ocml_add_##D##_f32(x, y); } \
  __F__ float __fsub_##R(float x, float y) { return __ocml_sub_##D##_f32(x, y); } \
  __F__ float __fmul_##R(float x, float y) { return __ocml_mul_##D##_f32(x, y); } \
  __F__ float __fdiv_##R(float x, float y) { return __ocml_div_##D##_f32(x, y); } \
  __F__ float __frcp_##R(float x) { return __ocml_div_##D##_f32(1.0f, x); } \
  __F__ float __fsqrt_##R(float x) { return __ocml_sqrt_##D##_f32(x); } \
  __F__ float __fmaf_##R(float x, float y, float z) { return __ocml_fma_##D##_f32(x, y, z); } \
  __F__ double __dadd_##R(double x, double y) { return __ocml_add_##D##_f64(x, y); } \
  __F__ double __dsub_##R(double x, double y) { return __ocml_sub_##D##_f64(x, y); } \
  __F__ double __dmul_##R(double x, double y) { return __ocml_mul_##D##_f64(x, y); } \
  __F__ double __ddiv_##R(double x, double y) { return __ocml_div_##D##_f64(x, y); } \
  __F__ double __drcp_##R(double x) { return __ocml_div_##D##_f64(1.0, x); } \
  __F__ double __dsqrt_##R(double x) { return __ocml_sqrt_##D##_f64(x); } \
  __F__ double __fma_##R(double x, double y, double z) { return __ocml_fma_##D##_f64(x, y, z); }
__HIP_ROUND_DIRECTED__(rd, rtn)
__HIP_ROUND_DIRECTED__(ru, rtp)
__HIP_ROUND_DIRECTED__(rz, rtz)
#undef __HIP_ROUND_DIRECTED__

// min and max, as CUDA has them outside namespace std.
#define __HIP_MIN_MAX__(T) \
  __HIP_BOTH_FN__ T min(T x, T y) { return y < x ? y : x; } \
  __HIP_BOTH_FN__ T max(T x, T y) { return x < y ? y : x; }
__HIP_MIN_MAX__(int) __HIP_MIN_MAX__(unsigned) __HIP_MIN_MAX__(long) __HIP_MIN_MAX__(unsigned long)
__HIP_MIN_MAX__(long long) __HIP_MIN_MAX__(unsigned long long)
#undef __HIP_MIN_MAX__
__HIP_BOTH_FN__ float min(float x, float y) { return __builtin_fminf(x, y); }
__HIP_BOTH_FN__ float max(float x, float y) { return __builtin_fmaxf(x, y); }
__HIP_BOTH_FN__ double min(double x, double y) { return __builtin_fmin(x, y); }
__HIP_BOTH_FN__ double max(double x, double y) { return __builtin_fmax(x, y); }
// Short types stay as they are; of two types both become double, as with every other function of
// two numbers in AMD's compiler: max(-1, 2u) is 2, not 4294967295.
#define __HIP_MIN_MAX__(NAME) \
  template <typename T> __HIP_BOTH_FN__ typename hip_detail::math_if<hip_detail::is_integer<T>::value, T>::type NAME(T x, T y) { \
    return (T)NAME((long long)x, (long long)y); \
  } \
  template <typename T, typename U> \
  __HIP_BOTH_FN__ typename hip_detail::mixed<T, U>::type NAME(T x, U y) { return NAME((double)x, (double)y); }
__HIP_MIN_MAX__(min) __HIP_MIN_MAX__(max)
#undef __HIP_MIN_MAX__

// namespace std finds the device overloads too; declared before <cmath>, they keep its own
// constexpr versions (which would call host library functions) out of device code.
#if defined(_LIBCPP_BEGIN_NAMESPACE_STD)
_LIBCPP_BEGIN_NAMESPACE_STD
#else
namespace std {
#endif
using ::abs; using ::labs; using ::llabs; using ::acos; using ::acosh;
using ::asin; using ::asinh; using ::atan; using ::atan2; using ::atanh;
using ::cbrt; using ::ceil; using ::copysign; using ::cos; using ::cosh;
using ::erf; using ::erfc; using ::exp; using ::exp2; using ::expm1;
using ::fabs; using ::fdim; using ::floor; using ::fma; using ::fmax;
using ::fmin; using ::fmod; using ::frexp; using ::hypot; using ::ilogb;
using ::isfinite; using ::isgreater; using ::isgreaterequal; using ::isinf; using ::isless;
using ::islessequal; using ::islessgreater; using ::isnan; using ::isnormal; using ::isunordered;
using ::fpclassify; using ::signbit; using ::ldexp; using ::lgamma; using ::llrint;
using ::llround; using ::log; using ::log10; using ::log1p; using ::log2;
using ::logb; using ::lrint; using ::lround; using ::modf; using ::nan;
using ::nearbyint; using ::nextafter; using ::pow; using ::remainder; using ::remquo;
using ::rint; using ::round; using ::scalbln; using ::scalbn; using ::sin;
using ::sinh; using ::sqrt; using ::tan; using ::tanh; using ::tgamma;
using ::trunc; using ::acosf; using ::acoshf; using ::asinf; using ::asinhf;
using ::atan2f; using ::atanf; using ::atanhf; using ::cbrtf; using ::ceilf;
using ::copysignf; using ::cosf; using ::coshf; using ::erfcf; using ::erff;
using ::exp2f; using ::expf; using ::expm1f; using ::fabsf; using ::fdimf;
using ::floorf; using ::fmaf; using ::fmaxf; using ::fminf; using ::fmodf;
using ::frexpf; using ::hypotf; using ::ilogbf; using ::ldexpf; using ::lgammaf;
using ::llrintf; using ::llroundf; using ::log10f; using ::log1pf; using ::log2f;
using ::logbf; using ::logf; using ::lrintf; using ::lroundf; using ::modff;
using ::nearbyintf; using ::nextafterf; using ::powf; using ::remainderf; using ::remquof;
using ::rintf; using ::roundf; using ::scalblnf; using ::scalbnf; using ::sinf;
using ::sinhf; using ::sqrtf; using ::tanf; using ::tanhf; using ::tgammaf;
using ::truncf;
#if defined(_LIBCPP_END_NAMESPACE_STD)
_LIBCPP_END_NAMESPACE_STD
#else
}  // namespace std
#endif

#undef __F__
#pragma pop_macro("__F__")

#endif
