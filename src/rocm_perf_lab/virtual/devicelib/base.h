// Names and bit casts shared by every part. The mathematics also compiles as plain C++ for the
// host (tests compare both), so that nothing but builtins is used in it.
#pragma once

#if defined(__HIP__)
#define FN static inline __attribute__((device))
#define EXPORT extern "C" __attribute__((device))
#define TABLE static __attribute__((constant)) const
#else
#define FN static inline
#define EXPORT extern "C"
#define TABLE static const
#endif

// Left to itself the compiler makes calls of the larger ones, and a call saves every register.
#define INLINED __attribute__((always_inline))

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned __int128 u128;

template <typename To, typename From> FN To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

FN u32 low_word(float x) { return bits<u32>(x); }
FN u32 low_word(double x) { return (u32)bits<u64>(x); }

// 2^x as the hardware has it, to a unit in the last place.
FN float exp2_instruction(float x) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __builtin_amdgcn_exp2f(x);
#else
  return __builtin_exp2f(x);
#endif
}

FN float fma_(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FN double fma_(double a, double b, double c) { return __builtin_fma(a, b, c); }
FN float abs_(float x) { return __builtin_fabsf(x); }
FN double abs_(double x) { return __builtin_fabs(x); }
FN float sqrt_(float x) { return __builtin_sqrtf(x); }
FN double sqrt_(double x) { return __builtin_sqrt(x); }
FN float rint_(float x) { return __builtin_rintf(x); }
FN double rint_(double x) { return __builtin_rint(x); }
FN float trunc_(float x) { return __builtin_truncf(x); }
FN double trunc_(double x) { return __builtin_trunc(x); }
FN float floor_(float x) { return __builtin_floorf(x); }
FN double floor_(double x) { return __builtin_floor(x); }
FN float copysign_(float x, float y) { return __builtin_copysignf(x, y); }
FN double copysign_(double x, double y) { return __builtin_copysign(x, y); }
FN bool isnan_(float x) { return x != x; }
FN bool isnan_(double x) { return x != x; }

template <typename T> struct Real;
template <> struct Real<float> {
  typedef u32 U;
  typedef int I;
  static constexpr int mantissa = 23, bias = 127, max_exponent = 128;
  static constexpr U sign = 0x80000000u;
};
template <> struct Real<double> {
  typedef u64 U;
  typedef i64 I;
  static constexpr int mantissa = 52, bias = 1023, max_exponent = 1024;
  static constexpr U sign = 0x8000000000000000ull;
};
template <typename T> FN T inf_() { return (T)__builtin_inf(); }
template <typename T> FN T nan_() { return (T)__builtin_nan(""); }
template <typename T> FN bool isinf_(T x) { return abs_(x) == inf_<T>(); }
template <typename T> FN bool finite_(T x) { return abs_(x) < inf_<T>(); }
template <typename T> FN bool signbit_(T x) { return (bits<typename Real<T>::U>(x) & Real<T>::sign) != 0; }

// A number whose last place is 1: what is added to it becomes whole and stands in its low bits. Unlike
// a conversion to an integer that means something for any number, NaN included.
FN float whole_number(float) { return 0x1.8p23f; }
FN double whole_number(double) { return 0x1.8p52; }

// x * 2^e, correctly rounded for all e.
FN float ldexp_(float x, int e) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __builtin_amdgcn_ldexpf(x, e);
#else
  return __builtin_ldexpf(x, e);
#endif
}
FN double ldexp_(double x, int e) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __builtin_amdgcn_ldexp(x, e);
#else
  return __builtin_ldexp(x, e);
#endif
}
// Mantissa in [0.5, 1) and exponent of a finite x that is not zero.
FN float mantissa_(float x) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __builtin_amdgcn_frexp_mantf(x);
#else
  int e; return __builtin_frexpf(x, &e);
#endif
}
FN double mantissa_(double x) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __builtin_amdgcn_frexp_mant(x);
#else
  int e; return __builtin_frexp(x, &e);
#endif
}
FN int exponent_(float x) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __builtin_amdgcn_frexp_expf(x);
#else
  int e; (void)__builtin_frexpf(x, &e); return e;
#endif
}
FN int exponent_(double x) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __builtin_amdgcn_frexp_exp(x);
#else
  int e; (void)__builtin_frexp(x, &e); return e;
#endif
}

// 1 / x to a few units in the last place, for x well inside the range: where a remainder makes up
// for the error, a division rounded correctly would be three times the work.
FN float reciprocal(float x) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __builtin_amdgcn_rcpf(x);
#else
  return 1.0f / x;
#endif
}
FN double reciprocal(double x) {
#if defined(__HIP_DEVICE_COMPILE__)
  double r = __builtin_amdgcn_rcp(x);
  return fma_(fma_(-x, r, 1.0), r, r);
#else
  return 1.0 / x;
#endif
}

// c0 + x (c1 + x (c2 + ...)), coefficients from the highest: polynomial(x, cn, ..., c0).
template <typename T, typename... C> FN T polynomial(T x, T highest, C... rest) {
  const T c[] = {(T)rest...};
  T r = highest;
  for (unsigned i = 0; i < sizeof...(rest); ++i) r = fma_(r, x, c[i]);
  return r;
}

// A number as the unevaluated sum hi + lo, |lo| <= ulp(hi)/2: twice the precision.
template <typename T> struct Pair { T hi, lo; };
template <typename T> FN Pair<T> fast_sum(T a, T b) {  // |a| >= |b|
  T s = a + b;
  return {s, b - (s - a)};
}
template <typename T> FN Pair<T> sum(T a, T b) {
  T s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
template <typename T> FN Pair<T> product(T a, T b) {
  T p = a * b;
  return {p, fma_(a, b, -p)};
}
template <typename T> FN Pair<T> operator+(Pair<T> a, Pair<T> b) {
  Pair<T> s = sum(a.hi, b.hi);
  return fast_sum(s.hi, s.lo + (a.lo + b.lo));
}
template <typename T> FN Pair<T> operator+(Pair<T> a, T b) {
  Pair<T> s = sum(a.hi, b);
  return fast_sum(s.hi, s.lo + a.lo);
}
template <typename T> FN Pair<T> operator*(Pair<T> a, Pair<T> b) {
  Pair<T> p = product(a.hi, b.hi);
  return fast_sum(p.hi, p.lo + fma_(a.hi, b.lo, a.lo * b.hi));
}
template <typename T> FN Pair<T> operator*(Pair<T> a, T b) {
  Pair<T> p = product(a.hi, b);
  return fast_sum(p.hi, fma_(a.lo, b, p.lo));
}
template <typename T> FN Pair<T> operator-(Pair<T> a) { return {-a.hi, -a.lo}; }
template <typename T> FN Pair<T> operator/(Pair<T> a, Pair<T> b) {
  T inverse = reciprocal(b.hi), q = a.hi * inverse;
  T r = fma_(-q, b.hi, a.hi);
  r = fma_(-q, b.lo, r + a.lo);
  return fast_sum(q, r * inverse);
}
template <typename T> FN Pair<T> square_root(Pair<T> a) {
  T s = sqrt_(a.hi);
  if (!(s > (T)0)) return {s, (T)0};
  T r = fma_(-s, s, a.hi) + a.lo;
  return fast_sum(s, r * reciprocal(s + s));
}
template <typename T> FN T value(Pair<T> a) { return a.hi + a.lo; }
