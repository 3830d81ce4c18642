// An angle in quadrants of pi/2: how many, of which the lowest two bits count, and what is left, in
// [-pi/4, pi/4], as a number and its correction. `left` and `rest` need not be a Pair: where `left`
// is small `rest` may have more than half a unit of its last place.
#pragma once

#include "math_exp_log.h"

template <typename T> struct Angle {
  u32 quadrant;
  T left, rest;
};

// pi/2 in three parts, each a T, the first two rounded towards zero.
template <typename T> struct HalfPi;
template <> struct HalfPi<float> {
  static constexpr float first = 0x1.921fb4p0f, second = 0x1.4442dp-24f, third = 0x1.84698ap-48f;
  static constexpr float inverse = 0x1.45f306p-1f;
  static constexpr float near = 0x1p17f;  // as far as AMD's library goes without the large reduction
};
template <> struct HalfPi<double> {
  static constexpr double first = 0x1.921fb54442d18p0, second = 0x1.1a62633145c06p-54, third = 0x1.c1cd129024e09p-107;
  static constexpr double inverse = 0x1.45f306dc9c883p-1;
  static constexpr double near = 0x1p30;
};

// a - n pi/2 for 0 <= a < near. The first difference is exact: beyond 1/2 both sides are multiples of
// a's unit, and what is left is less than 1. So are `left` and its distance from there, since the
// second product is either smaller or on a finer grid than what it is taken from.
template <typename T> FN Angle<T> reduce_near(T a) {
  T shifted = fma_(a, HalfPi<T>::inverse, whole_number(a)), n = shifted - whole_number(a);
  T exact = fma_(-n, HalfPi<T>::first, a);
  T left = exact - n * HalfPi<T>::second;
  T rest = fma_(-n, HalfPi<T>::second, exact - left);
  return {low_word(shifted), left, fma_(-n, HalfPi<T>::third, rest)};
}

// Bits 53 k to 53 k + 53 of 2/pi, counted from the first whose product with `a` is not a multiple of
// 4; 2^128 times as much where a is 2^945 or more. An instruction of the GPU (V_TRIG_PREOP_F64).
FN double two_over_pi(double a, u32 k) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __builtin_amdgcn_trig_preop(a, (int)k);
#else
  static const u64 words[20] = {  // the most significant first; hardware keeps 1201 bits
      0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
      0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
      0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full,
      0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull,
      0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6800ull, 0};
  int e = (int)(bits<u64>(a) >> 52);
  u32 skip = 53 * k + (e > 1077 ? (u32)(e - 1077) : 0u), word = skip / 64, shift = skip % 64;
  u64 high = word < 20 ? words[word] : 0, low = word + 1 < 20 ? words[word + 1] : 0;
  u64 part = (shift ? high << shift | low >> (64 - shift) : high) >> 11;
  return ldexp_((double)part, (e >= 1968 ? 75 : -53) - (int)skip);
#endif
}

// x mod 4
FN double modulo_four(double x) {
  x *= 0.25;
  return (x - floor_(x)) * 4.0;
}
// Any finite a from 2^17 on. A float times 53 bits fits a double and its remainder: one product for
// what comes before the point, up to 55 bits, one for the fraction and a last one for those floats
// whose fraction begins with 30 noughts.
FN Angle<float> reduce_far(float x) {
  double a = x;
  Pair<double> whole = product(a, two_over_pi(a, 0)), part = product(a, two_over_pi(a, 1));
  double first = modulo_four(whole.hi) + whole.lo;
  double shifted = first + part.hi + whole_number(a), n = shifted - whole_number(a);
  double turn = ((first - n) + part.hi) + fma_(a, two_over_pi(a, 2), part.lo), r = turn * 1.5707963267948966;
  float left = (float)r;
  return {low_word(shifted), left, (float)(r - (double)left)};
}
// The same for doubles, to 2^-117: one comes within 2^-61 of a multiple of pi/2.
FN Angle<double> reduce_far(double x) {
  double a = x < 0x1p945 ? x : x * 0x1p-128;
  Pair<double> p0 = product(a, two_over_pi(x, 0)), p1 = product(a, two_over_pi(x, 1)), p2 = product(a, two_over_pi(x, 2));
  Pair<double> whole = fast_sum(modulo_four(p0.hi), p0.lo), first = sum(whole.hi, p1.hi);
  double shifted = first.hi + whole_number(a), n = shifted - whole_number(a);
  Pair<double> low = sum(p1.lo, p2.hi), turn = sum(first.hi - n, first.lo + whole.lo);
  turn = turn + Pair<double>{low.hi, low.lo + fma_(a, two_over_pi(x, 3), p2.lo)};
  Pair<double> r = turn * Pair<double>{1.5707963267948966, 6.123233995736766e-17};
  return {low_word(shifted), r.hi, r.lo};
}
// |x|; infinities and NaN leave NaN.
template <typename T> FN Angle<T> reduce_trig(T a) {
  if (a < HalfPi<T>::near) return reduce_near(a);
  Angle<T> r = reduce_far(a);
  if (!(a < inf_<T>())) r.left = nan_<T>();
  return r;
}
