// Roots, remainders, neighbours.
#pragma once

#include "math_trig.h"

// The cube root of m in [1/2, 4) to 20 bits, and 1 / (3 root^2) as exactly.
FN float cbrt_guess(float m) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __builtin_amdgcn_exp2f(__builtin_amdgcn_logf(m) * (1.0f / 3.0f));
#else
  return exp2_(log2_(m) * (1.0f / 3.0f));
#endif
}
template <typename T> FN T cbrt_(T x) {
  T a = abs_(x);
  if (!(a > T(0)) || isinf_(a)) return x;
  int e = exponent_(a);
  int third = (e + 3 * 4096) / 3 - 4096;
  T m = ldexp_(mantissa_(a), e - 3 * third);  // [1/2, 4)
  float guess = cbrt_guess((float)m);
  T r = guess, slope = reciprocal(3.0f * guess * guess);
  // Newton's step brings a double to 40 bits; the last one has its remainder exact.
  if (sizeof(T) == 8) r = fma_(m - r * r * r, slope, r);
  Pair<T> square = product(r, r);
  Pair<T> cube = product(square.hi, r);
  T rest = (m - cube.hi) - fma_(square.lo, r, cube.lo);
  return copysign_(ldexp_(fma_(rest, slope, r), third), x);
}
template <typename T> FN T hypot_(T x, T y) {
  T a = abs_(x), b = abs_(y);
  T big = a > b ? a : b, small = a > b ? b : a;
  int e = exponent_(big);
  T p = ldexp_(big, -e), q = ldexp_(small, -e);
  Pair<T> square = product(q, q);
  T r = ldexp_(sqrt_(fma_(p, p, square.hi) + square.lo), e);
  if (isinf_(a) || isinf_(b)) return inf_<T>();
  if (isnan_(a) || isnan_(b)) return a + b;
  return big == T(0) ? T(0) : r;
}
template <typename T> FN T rhypot_(T x, T y) { return T(1) / hypot_(x, y); }
FN float rsqrt_(float x) {
#if defined(__HIP_DEVICE_COMPILE__)
  bool small = x < 1.17549435e-38f;  // the instruction reads subnormal numbers as 0
  float r = __builtin_amdgcn_rsqf(small ? x * 16777216.0f : x);
  return small ? r * 4096.0f : r;
#else
  return (float)(1.0 / __builtin_sqrt((double)x));
#endif
}
FN double rsqrt_(double x) {
#if defined(__HIP_DEVICE_COMPILE__)
  double r = __builtin_amdgcn_rsq(x);
  double h = fma_(-x * r, r, 1.0);
  double better = fma_(r * h, fma_(h, 0.375, 0.5), r);
  return x > 0.0 && x < inf_<double>() ? better : r;
#else
  if (!(x > 0.0) || isinf_(x)) return 1.0 / sqrt_(x);
  double r = 1.0 / sqrt_(x);
  Pair<double> p = product(r, r);
  return fma_(r * 0.5, fma_(-x, p.hi, 1.0) - x * p.lo, r);
#endif
}
template <typename T> FN T rcbrt_(T x) { return T(1) / cbrt_(x); }

// x - n y exactly, n truncated; the low bits of n (its sign apart) in `quotient`.
template <typename T> FN T fmod_bits(T x, T y, u32& quotient) {
  T a = abs_(x), b = abs_(y);
  quotient = 0;
  if (!(a < inf_<T>()) || isnan_(y) || b == T(0)) return nan_<T>();
  if (isinf_(b) || a < b) return x;
  int ea = exponent_(a), eb = exponent_(b);
  // Whole numbers of `digits` bits; each turn takes so many bits of the quotient that the product
  // with the divisor leaves a remainder a T can hold. The estimate is never too small.
  constexpr int digits = Real<T>::mantissa + 1, most = sizeof(T) == 8 ? 24 : 11;
  T rest = ldexp_(a, digits - ea), divisor = ldexp_(b, digits - eb), inverse = reciprocal(divisor);
  if (rest >= divisor) {
    rest -= divisor;
    quotient = 1;
  }
  for (int left = ea - eb; left > 0; left -= most) {
    int step = left < most ? left : most;
    T top = ldexp_(rest, step), q = trunc_(fma_(top, inverse, T(0.01)));
    rest = fma_(-q, divisor, top);
    if (rest < T(0)) {
      rest += divisor;
      q -= T(1);
    }
    quotient = (quotient << step) + (u32)q;
  }
  return copysign_(ldexp_(rest, eb - digits), x);
}
template <typename T> FN T fmod_(T x, T y) {
  u32 q;
  return fmod_bits(x, y, q);
}
template <typename T> FN T remquo_(T x, T y, int& quotient) {
  u32 q;
  quotient = 0;
  T r = fmod_bits(x, y, q);
  if (isnan_(r) || isinf_(y)) return r;
  T a = abs_(r), b = abs_(y);
  // Half of y may not be representable: compare the distances instead.
  T other = b - a;
  if (a > other || (a == other && (q & 1))) {
    r = copysign_(other, signbit_(x) ? T(1) : T(-1));
    ++q;
  }
  if (r == T(0)) r = copysign_(T(0), x);
  quotient = (int)(q & 0x7fffffff);
  if (signbit_(x) != signbit_(y)) quotient = -quotient;
  return r;
}
template <typename T> FN T remainder_(T x, T y) {
  int q;
  return remquo_(x, y, q);
}
template <typename T> FN T nextafter_(T x, T y) {
  if (isnan_(x) || isnan_(y)) return x + y;
  if (x == y) return y;
  typedef typename Real<T>::U U;
  if (x == T(0)) return bits<T>((U)((U)1 | (signbit_(y) ? Real<T>::sign : (U)0)));
  U b = bits<U>(x);
  return bits<T>((U)((x < y) == (x > T(0)) ? b + 1 : b - 1));
}
template <typename T> FN T fdim_(T x, T y) { return isnan_(x) || isnan_(y) ? x + y : x > y ? x - y : T(0); }
template <typename T> FN T logb_(T x) {
  if (isnan_(x)) return x;
  if (isinf_(x)) return inf_<T>();
  if (x == T(0)) return -inf_<T>();
  return (T)(exponent_(x) - 1);
}
