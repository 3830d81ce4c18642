// sin, cos, tan and their inverses; arguments of any size are reduced exactly enough.
#pragma once

#include "math_reduction.h"

FN Pair<double> half_pi(double) { return {1.5707963267948966, 6.123233995736766e-17}; }
FN Pair<float> half_pi(float) { return {1.57079637f, -4.37113883e-08f}; }

// Least relative error on [-pi/4, pi/4] (Remez), each coefficient rounded before the next was fitted:
// 2^-28 and 2^-33 for floats, 2^-58 and 2^-64 for doubles.
FN double sin_tail(double z) { return polynomial(z,
      1.5895433264429227e-10, -2.5050734388796323e-08, 2.7557313538511456e-06,
      -0.00019841269829358522, 0.00833333333332184, -0.1666666666666663); }
FN float sin_tail(float z) { return polynomial(z, -0.000195182845f, 0.00833218917f, -0.166666552f); }
FN double cos_tail(double z) { return polynomial(z,
      -1.1358732777992736e-11, 2.0875705115014247e-09, -2.7557314215299166e-07,
      2.480158728899748e-05, -0.0013888888888873338, 0.041666666666666595); }
FN float cos_tail(float z) { return polynomial(z, 2.44323273e-05f, -0.00138873095f, 0.0416666456f); }

// What r lacks to the sine, and 1 - z/2 to the cosine, z being r squared as far as it fits.
template <typename T> FN T sin_beyond(T r, T rest, T z) { return fma_(r * z, sin_tail(z), rest); }
template <typename T> FN T cos_beyond(T r, T rest, T z) {
  return fma_(z * z, cos_tail(z), -fma_(T(0.5), fma_(r, r, -z), r * rest));
}
template <typename T> FN T flipped(T x, u32 sign) {  // by a sign's place, bit 31
  typedef typename Real<T>::U U;
  return bits<T>((U)(bits<U>(x) ^ (U)(sign & 0x80000000u) << (8 * sizeof(T) - 32)));
}
template <typename T> FN u32 sign_word(T x) { return (u32)(bits<typename Real<T>::U>(x) >> (8 * sizeof(T) - 32)); }
template <typename T> FN T sincos_of(Angle<T> a, u32 sign, T& cosine) {
  T r = a.left, z = r * r;
  T s = r + sin_beyond(r, a.rest, z), c = T(1) + fma_(T(-0.5), z, cos_beyond(r, a.rest, z));
  bool odd = a.quadrant & 1;
  cosine = flipped(odd ? s : c, (a.quadrant + 1) << 30);
  return flipped(odd ? c : s, a.quadrant << 30 ^ sign);
}
template <typename T> FN T sincos_(T x, T& cosine) { return sincos_of(reduce_trig(abs_(x)), sign_word(x), cosine); }
template <typename T> FN T sin_(T x) {
  T c;
  return sincos_(x, c);
}
template <typename T> FN T cos_(T x) {
  T c;
  (void)sincos_(x, c);
  return c;
}
template <typename T> FN T tan_(T x) {
  Angle<T> a = reduce_trig(abs_(x));
  T r = a.left, z = r * r, half = T(-0.5) * z;
  // The two errors add up here, so that the sine's correction is itself corrected, by the cosine.
  Pair<T> s = fast_sum(r, sin_beyond(r, fma_(half, a.rest, a.rest), z)), c = fast_sum(T(1), half);
  c = fast_sum(c.hi, c.lo + cos_beyond(r, a.rest, z));
  bool odd = a.quadrant & 1;
  T t = value((odd ? c : s) / (odd ? s : c));
  return flipped(t, a.quadrant << 31 ^ sign_word(x));
}
// sin(pi x), cos(pi x): the reduction is exact. Neither is -0 but where x is negative, and then the sine.
template <typename T> FN T sincospi_(T x, T& cosine) {
  T a = abs_(x), half = a * T(0.5), turn = half - floor_(half);
  a = a > T(1) ? turn + turn : a;
  T shifted = (a + a) + whole_number(a), n = shifted - whole_number(a), f = fma_(T(-0.5), n, a), left = f * Constants<T>::pi;
  T rest = fma_(f, Constants<T>::pi_lo, fma_(f, Constants<T>::pi, -left));
  T sine = sincos_of(Angle<T>{low_word(shifted), left, rest}, 0, cosine);
  cosine += T(0);
  return flipped(sine + T(0), sign_word(x));
}
template <typename T> FN T sinpi_(T x) {
  T c;
  return sincospi_(x, c);
}
template <typename T> FN T cospi_(T x) {
  T c;
  (void)sincospi_(x, c);
  return c;
}
template <typename T> FN T tanpi_(T x) {
  T c, s = sincospi_(x, c);
  return s / c;
}

FN double atan_tail(double z) { return polynomial(z, 
      0.011950712850879827, -0.02726530574090698, 0.03722983758734335, -0.042941447461704016,
      0.04754599295852244, -0.05262451340358059, 0.05882304422748316, -0.06666664332718701,
      0.07692307615820015, -0.09090909089280703, 0.111111111110903, -0.14285714285714146,
      0.19999999999999998, -0.3333333333333333); }
FN float atan_tail(float z) { return polynomial(z, 
      0.050466489f, -0.0862409845f, 0.110712878f, -0.142841473f, 0.199999765f, -0.333333343f); }
// atan of a pair in [0, 1], as a pair.
template <typename T> FN Pair<T> atan_unit(Pair<T> t) {
  bool high = t.hi > T(0.41421357);
  Pair<T> u = high ? (t + T(-1)) / (t + T(1)) : t;
  T z = u.hi * u.hi;
  T tail = u.hi * z * atan_tail(z) + u.lo * (T(1) - z);
  Pair<T> r = fast_sum(u.hi, tail);
  if (!high) return r;
  Pair<T> quarter = half_pi(T(0));
  return Pair<T>{quarter.hi * T(0.5), quarter.lo * T(0.5)} + r;
}
template <typename T> FN T atan_(T x) {
  T a = abs_(x);
  if (isnan_(x)) return x;
  if (a < (T)1e-10) return x;
  if (a > (T)1e18) return copysign_(half_pi(T(0)).hi, x);
  bool inverted = a > T(1);
  Pair<T> t = {a, T(0)};
  if (inverted) t = Pair<T>{T(1), T(0)} / t;
  Pair<T> r = atan_unit(t);
  if (inverted) r = half_pi(T(0)) + -r;
  return copysign_(value(r), x);
}
template <typename T> FN T atan2_(T y, T x) {
  if (isnan_(x) || isnan_(y)) return x + y;
  T ax = abs_(x), ay = abs_(y);
  Pair<T> pi = {Constants<T>::pi, Constants<T>::pi_lo};
  Pair<T> r;
  if (ay == T(0)) r = {T(0), T(0)};
  else if (isinf_(ax) && isinf_(ay)) r = {half_pi(T(0)).hi * T(0.5), T(0)};
  else if (isinf_(ax)) r = {T(0), T(0)};
  else if (ax == T(0) || isinf_(ay)) r = half_pi(T(0));
  else {
    int e = exponent_(ax > ay ? ax : ay);
    int d = exponent_(ay) - exponent_(ax);
    if (d > 70) r = half_pi(T(0));
    else if (d < -70 && !signbit_(x)) return copysign_(ay / ax, y);
    else if (d < -70) r = {T(0), T(0)};
    else {
      Pair<T> sx = {ldexp_(ax, -e), T(0)}, sy = {ldexp_(ay, -e), T(0)};
      r = atan_unit(ay > ax ? sx / sy : sy / sx);
      if (ay > ax) r = half_pi(T(0)) + -r;
    }
  }
  if (signbit_(x)) r = pi + -r;
  return copysign_(value(r), y);
}

// Floats have their own: one polynomial from 0 to 1 in place of two ranges and pairs throughout.
// base + or - atan(top / bottom), top <= bottom, rounded once: what the quotient lost is carried on.
FN float atan_quotient(float top, float bottom, Pair<float> base, bool minus) {
  float inverse = reciprocal(bottom), t = top * inverse, lost = fma_(-t, bottom, top) * inverse;
  float z = t * t;
  float p = polynomial(z, -0.00179359387f, 0.0109144812f, -0.0311776139f, 0.0579573587f,
                       -0.0840343684f, 0.109521814f, -0.142642409f, 0.199985489f, -0.333332986f);
  float rest = fma_(t * z, p, lost * fma_(-0.5f, z, 1.0f));
  if (minus) {
    t = -t;
    rest = -rest;
  }
  float s = base.hi + t;
  return s + (((base.hi - s) + t) + (base.lo + rest));
}
FN float atan_(float x) {
  float a = abs_(x);
  bool inverted = a > 1.0f;
  float bottom = inverted ? a < 1e30f ? a : 1e30f : 1.0f;
  float r = atan_quotient(inverted ? 1.0f : a, bottom, inverted ? half_pi(0.0f) : Pair<float>{0.0f, 0.0f}, inverted);
  return a < 1e-10f ? x : copysign_(r, x);
}
FN float atan2_(float y, float x) {
  float ax = abs_(x), ay = abs_(y);
  bool steep = ay > ax, behind = signbit_(x);
  float top = steep ? ax : ay, bottom = steep ? ay : ax;
  int e = exponent_(bottom);
  float infinite = inf_<float>();
  // Equal infinities are a quotient of 1, a zero over anything one of 0.
  float t = top == infinite ? 1.0f : ldexp_(top, -e), b = bottom == infinite || bottom == 0.0f ? 1.0f : ldexp_(bottom, -e);
  if (bottom == infinite && top != infinite) t = 0.0f;
  Pair<float> pi = {Constants<float>::pi, Constants<float>::pi_lo};
  Pair<float> base = steep ? half_pi(0.0f) : behind ? pi : Pair<float>{0.0f, 0.0f};
  float r = atan_quotient(t, b, base, steep != behind);
  // Too small for the scaled quotient: the division itself.
  if (!steep && !behind && t < 1e-18f && bottom != infinite && bottom != 0.0f) r = ay / ax;
  return isnan_(x) || isnan_(y) ? x + y : copysign_(r, y);
}

FN double asin_tail(double z) { return polynomial(z, 
      0.029727286869498975, -0.01942149876336336, 0.019678367430162, 0.002995311657156326,
      0.009332327156165665, 0.009619629203687472, 0.01156672237119713, 0.013963758735074137,
      0.01735281769074104, 0.02237215740373685, 0.030381944476347046, 0.04464285714254326,
      0.07500000000000122, 0.16666666666666666); }
FN float asin_tail(float z) { return polynomial(z, 
      0.0337402821f, 0.0171215869f, 0.0311060008f, 0.0445989892f, 0.0750009567f, 0.166666657f); }
// asin of a pair in [0, 1/2] whose square is z, as a pair.
template <typename T> FN Pair<T> asin_small(Pair<T> x, T z) {
  return fast_sum(x.hi, fma_(x.hi * z, asin_tail(z), x.lo));
}
// asin of a in [0, 1], or the half of acos from 1/2 on, as a pair.
template <typename T> FN Pair<T> asin_half(T a) {
  bool big = a >= T(0.5);
  T z = big ? (T(1) - a) * T(0.5) : a * a;  // the first is exact
  Pair<T> s = {a, T(0)};
  if (big) s = square_root(Pair<T>{z, T(0)});
  return asin_small(s, z);
}
template <typename T> FN T asin_(T x) {
  T a = abs_(x);
  if (!(a <= T(1))) return nan_<T>();
  Pair<T> r = asin_half(a);
  if (a >= T(0.5)) r = half_pi(T(0)) + Pair<T>{T(-2) * r.hi, T(-2) * r.lo};
  return copysign_(value(r), x);
}
template <typename T> FN T acos_(T x) {
  T a = abs_(x);
  if (!(a <= T(1))) return nan_<T>();
  Pair<T> s = asin_half(a), base = half_pi(T(0));
  if (a >= T(0.5)) {
    s = {T(-2) * s.hi, T(-2) * s.lo};
    base = signbit_(x) ? Pair<T>{Constants<T>::pi, Constants<T>::pi_lo} : Pair<T>{T(0), T(0)};
    if (!signbit_(x)) s = -s;
  } else if (!signbit_(x)) {
    s = -s;
  }
  return value(base + s);
}
