// exp, log, pow and what follows from them. Polynomials: interpolation at Chebyshev nodes in 80
// digits, rounded; their own error stays below 1/8 ulp of the result.
#pragma once

#include "base.h"

template <typename T> struct Constants;
template <> struct Constants<double> {
  static constexpr double log2e = 1.4426950408889634, log2e_lo = 2.0355273740931033e-17;
  static constexpr double ln2 = 0.6931471805599453, ln2_lo = 2.3190468138462996e-17;
  static constexpr double log10e = 0.4342944819032518, log10e_lo = 1.098319650216765e-17;
  static constexpr double ln10 = 2.302585092994046, ln10_lo = -2.1707562233822494e-16;
  // ln2 in two parts, the first with trailing zeros: k * ln2_high is exact for |k| < 2^11.
  static constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  static constexpr double too_big = 710.0, too_small = -746.0;
  static constexpr double pi = 3.141592653589793, pi_lo = 1.2246467991473532e-16;
};
template <> struct Constants<float> {
  static constexpr float log2e = 1.44269502f, log2e_lo = 1.92596303e-08f;
  static constexpr float ln2 = 0.693147182f, ln2_lo = -1.90465421e-09f;
  static constexpr float log10e = 0.434294492f, log10e_lo = -1.01030103e-08f;
  static constexpr float ln10 = 2.302585125f, ln10_lo = -3.19754436e-08f;
  static constexpr float ln2_high = 6.9313812256e-01f, ln2_low = 9.0580006145e-06f;
  static constexpr float too_big = 89.0f, too_small = -104.0f;
  static constexpr float pi = 3.14159274f, pi_lo = -8.74227766e-08f;
};

FN double exp_tail(double r) { return polynomial(r, 
      2.0915442297780116e-09, 2.5106274733573296e-08, 2.75572718102198e-07, 2.755725283351691e-06,
      2.4801587327007187e-05, 0.00019841269876864356, 0.0013888888888883327, 0.008333333333325544,
      0.04166666666666667, 0.1666666666666667, 0.5); }
FN float exp_tail(float r) { return polynomial(r, 
      0.000198919806f, 0.00139345415f, 0.00833331048f, 0.0416664556f, 0.166666672f, 0.5f); }

// exp(r) - 1 as a pair, |r| <= ln2/2, r a pair.
template <typename T> FN Pair<T> expm1_small(Pair<T> r) {
  T square = r.hi * r.hi;
  T tail = square * exp_tail(r.hi) + r.lo * (T(1) + r.hi);
  return fast_sum(r.hi, tail);
}
// x = k ln2 + r
template <typename T> FN Pair<T> reduce_exp(T x, int& k) {
  T n = rint_(x * Constants<T>::log2e);
  k = (int)n;
  T high = fma_(-n, Constants<T>::ln2_high, x);
  return fast_sum(high, -n * Constants<T>::ln2_low);
}
template <typename T> FN Pair<T> reduce_exp(Pair<T> x, int& k) {
  T n = rint_(x.hi * Constants<T>::log2e);
  k = (int)n;
  T high = fma_(-n, Constants<T>::ln2_high, x.hi);
  Pair<T> r = fast_sum(high, -n * Constants<T>::ln2_low);
  return fast_sum(r.hi, r.lo + x.lo);
}
// exp of a pair whose high part is in range.
template <typename T> FN INLINED T exp_pair(Pair<T> x) {
  if (x.hi > Constants<T>::too_big) return inf_<T>();
  if (x.hi < Constants<T>::too_small) return 0;
  int k;
  Pair<T> e = expm1_small(reduce_exp(x, k));
  Pair<T> s = fast_sum(T(1), e.hi);
  return ldexp_(s.hi + (s.lo + e.lo), k);
}
// exp(x) as a pair, scaled by 2^k.
template <typename T> FN Pair<T> exp_scaled(T x, int& k) {
  Pair<T> e = expm1_small(reduce_exp(x, k));
  Pair<T> s = fast_sum(T(1), e.hi);
  return fast_sum(s.hi, s.lo + e.lo);
}

// exp alone, without pairs: least squares at Chebyshev nodes of the relative error, 2^-57 at most.
FN double exp_short_tail(double r) { return polynomial(r,
      2.5028743300104997e-08, 2.763143310281207e-07, 2.7557494816438805e-06, 2.480148942451215e-05,
      0.00019841269610468499, 0.0013888888947649982, 0.008333333333445603, 0.04166666666651215,
      0.1666666666666649, 0.5000000000000013); }
FN float exp_short_tail(float r) { return exp_tail(r); }
// 2^n exp(r + rest), |r| <= ln2/2; `shifted` is n beside whole_number().
template <typename T> FN T exp_parts(T shifted, T r, T rest) {
  int n = (int)(low_word(shifted) - low_word(whole_number(r)));
  return ldexp_(T(1) + (r + fma_(r * r, exp_short_tail(r), rest)), n);
}
// Beyond `low` and `high` the parts mean nothing; NaN is neither.
template <typename T> FN T exp_within(T x, T low, T high, T result) {
  result = x > high ? inf_<T>() : result;
  return x < low ? T(0) : result;
}
template <typename T> FN T exp_(T x) {
  T shifted = fma_(x, Constants<T>::log2e, whole_number(x)), n = shifted - whole_number(x);
  T high = fma_(-n, Constants<T>::ln2_high, x), r = fma_(-n, Constants<T>::ln2_low, high);
  T rest = fma_(-n, Constants<T>::ln2_low, high - r);
  return exp_within(x, Constants<T>::too_small, Constants<T>::too_big, exp_parts(shifted, r, rest));
}
template <typename T> FN T exp2_(T x) {
  T shifted = x + whole_number(x), f = x - (shifted - whole_number(x));
  T r = f * Constants<T>::ln2, rest = fma_(f, Constants<T>::ln2_lo, fma_(f, Constants<T>::ln2, -r));
  return exp_within(x, T(-2000), T(2000), exp_parts(shifted, r, rest));
}
template <typename T> FN T exp10_(T x) {
  T shifted = fma_(x, Constants<T>::ln10 * Constants<T>::log2e, whole_number(x)), n = shifted - whole_number(x);
  Pair<T> p = product(x, Constants<T>::ln10);
  p.lo = fma_(-n, Constants<T>::ln2_low, fma_(x, Constants<T>::ln10_lo, p.lo));
  Pair<T> r = fast_sum(fma_(-n, Constants<T>::ln2_high, p.hi), p.lo);
  return exp_within(x, T(-400), T(400), exp_parts(shifted, r.hi, r.lo));
}

template <typename T> FN T expm1_(T x) {
  if (isnan_(x) || x == T(0)) return x;
  if (x > Constants<T>::too_big) return inf_<T>();
  if (x < T(-60)) return -1;
  int k;
  Pair<T> e = expm1_small(reduce_exp(x, k));
  if (k == 0) return value(e);
  if (k == Real<T>::max_exponent) {
    Pair<T> s = fast_sum(T(1), e.hi);
    return ldexp_(s.hi + (s.lo + e.lo), k);
  }
  // 2^k e + (2^k - 1)
  T scale = ldexp_(T(1), k);
  Pair<T> whole = k < 64 ? sum(scale, T(-1)) : Pair<T>{scale, T(-1)};
  Pair<T> s = sum(whole.hi, ldexp_(e.hi, k));
  return s.hi + (s.lo + (whole.lo + ldexp_(e.lo, k)));
}

FN double atanh_tail(double z) { return polynomial(z, 
      0.053848237436904034, 0.052277640201288667, 0.05883424442783862, 0.06666647852697478,
      0.07692307885876093, 0.09090909089792047, 0.11111111111114337, 0.14285714285714282, 0.2); }
FN float atanh_tail(float z) { return polynomial(z, 
      0.115264259f, 0.142810673f, 0.200000077f); }
FN Pair<double> third(double) { return {0.3333333333333333, 1.850371707708594e-17}; }
FN Pair<float> third(float) { return {0.333333343f, -9.93410776e-09f}; }

// How exact a logarithm is: one that is rounded next, or one that a power multiplies.
enum class Needs { value, pair };
// 2 atanh(s), |s| <= 0.172
template <typename T> FN Pair<T> log_ratio(Pair<T> s, Needs needs) {
  Pair<T> c = third(T(0)), total;
  if (needs == Needs::value) {  // what is added to s is a hundredth of it
    T z = s.hi * s.hi;
    total = fast_sum(s.hi, fma_(s.hi * z, fma_(z, atanh_tail(z), c.hi), s.lo));
  } else {
    Pair<T> z = s * s;
    T tail = z.hi * atanh_tail(z.hi);
    Pair<T> q = fast_sum(c.hi, c.lo + tail);
    Pair<T> r = s * (z * q);
    total = fast_sum(s.hi, r.hi);
    total = fast_sum(total.hi, total.lo + (s.lo + r.lo));
  }
  return {total.hi + total.hi, total.lo + total.lo};
}
// log of a finite x > 0 given as a pair, as a pair.
template <typename T> FN INLINED Pair<T> log_pair(Pair<T> x, Needs needs) {
  int e = exponent_(x.hi);
  T m = mantissa_(x.hi);
  if (m < T(0.70710678)) {
    m += m;
    --e;
  }
  T low = ldexp_(x.lo, -e);
  Pair<T> top = fast_sum(m - T(1), low);  // exact
  Pair<T> bottom = sum(m, T(1)) + low;
  Pair<T> l = log_ratio(top / bottom, needs);
  T n = (T)e;
  Pair<T> a = product(n, Constants<T>::ln2);
  a.lo = fma_(n, Constants<T>::ln2_lo, a.lo);
  if (e == 0) return l;
  return fast_sum(a.hi, a.lo) + l;
}
template <typename T> FN bool log_special(T x, T& result) {
  if (isnan_(x) || x == inf_<T>()) { result = x; return true; }
  if (x == T(0)) { result = -inf_<T>(); return true; }
  if (x < T(0)) { result = nan_<T>(); return true; }
  return false;
}
template <typename T> FN T log_(T x) {
  T r;
  if (log_special(x, r)) return r;
  return value(log_pair(Pair<T>{x, T(0)}, Needs::value));
}
// log of a mantissa in another base plus the exponent times a constant.
template <typename T> FN T log2_(T x) {
  T r;
  if (log_special(x, r)) return r;
  int e = exponent_(x);
  T m = mantissa_(x);
  if (m < T(0.70710678)) { m += m; --e; }
  Pair<T> s = Pair<T>{m - T(1), T(0)} / sum(m, T(1));
  Pair<T> l = log_ratio(s, Needs::value) * Pair<T>{Constants<T>::log2e, Constants<T>::log2e_lo};
  return value(sum((T)e, l.hi) + l.lo);
}
template <typename T> FN T log10_(T x) {
  T r;
  if (log_special(x, r)) return r;
  return value(log_pair(Pair<T>{x, T(0)}, Needs::value) * Pair<T>{Constants<T>::log10e, Constants<T>::log10e_lo});
}
// log(1 + x) of a pair, as a pair; small x keeps its relative precision.
template <typename T> FN Pair<T> log1p_pair(Pair<T> x, Needs needs) {
  if (abs_(x.hi) < T(0.17)) {
    Pair<T> bottom = x + T(2);
    return log_ratio(x / bottom, needs);
  }
  return log_pair(x + T(1), needs);
}
template <typename T> FN T log1p_(T x) {
  if (isnan_(x) || x == inf_<T>() || x == T(0)) return x;
  if (x == T(-1)) return -inf_<T>();
  if (x < T(-1)) return nan_<T>();
  if (abs_(x) < (T)1e-30) return x;
  return value(log1p_pair(Pair<T>{x, T(0)}, Needs::value));
}

// What kind of whole number y is: 0 none, 1 odd, 2 even.
template <typename T> FN int parity(T y) {
  T a = abs_(y);
  if (a >= (T)((typename Real<T>::U)2 << Real<T>::mantissa)) return 2;
  if (trunc_(a) != a) return 0;
  T half = a * T(0.5);
  return trunc_(half) == half ? 2 : 1;
}
template <typename T> FN T pow_(T x, T y) {
  if (x == T(1) || y == T(0)) return 1;
  if (isnan_(x) || isnan_(y)) return x + y;
  T a = abs_(x);
  int kind = parity(y);
  T sign = signbit_(x) && kind == 1 ? T(-1) : T(1);
  if (isinf_(y)) {
    if (a == T(1)) return 1;
    return (a > T(1)) == (y > T(0)) ? inf_<T>() : T(0);
  }
  if (a == T(0)) return y > T(0) ? sign * T(0) : sign * inf_<T>();
  if (isinf_(a)) return y > T(0) ? sign * inf_<T>() : sign * T(0);
  if (x < T(0) && kind == 0) return nan_<T>();
  Pair<T> l = log_pair(Pair<T>{a, T(0)}, Needs::pair);
  Pair<T> p = product(y, l.hi);
  if (!finite_(p.hi)) return p.hi > T(0) ? sign * inf_<T>() : sign * T(0);
  p = fast_sum(p.hi, fma_(y, l.lo, p.lo));
  return sign * exp_pair(p);
}
template <typename T> FN T pown_(T x, int n) {
  u32 left = n < 0 ? 0u - (u32)n : (u32)n;
  if (left > 64) return pow_(x, (T)n);
  Pair<T> base = {x, T(0)}, r = {T(1), T(0)};
  for (; left; left >>= 1) {
    if (left & 1) r = r * base;
    if (left > 1) base = base * base;
  }
  T v = value(r);
  if (!finite_(r.hi) || !finite_(base.hi) || abs_(r.hi) < (T)1e-30) return pow_(x, (T)n);
  if (n < 0) v = value(Pair<T>{T(1), T(0)} / r);
  return v;
}

FN double sinh_tail(double z) { return polynomial(z, 
      2.8445264169895285e-15, 7.646625361656657e-13, 1.6059048396350562e-10,
      2.505210836405804e-08, 2.755731922404034e-06, 0.00019841269841269773, 0.008333333333333333,
      0.16666666666666666); }
FN float sinh_tail(float z) { return polynomial(z, 
      2.80628024e-06f, 0.000198381022f, 0.00833333936f, 0.166666672f); }
template <typename T> FN T sinh_(T x) {
  T a = abs_(x);
  if (isnan_(x) || isinf_(x)) return x;
  if (a < T(1)) return fma_(x * (x * x), sinh_tail(x * x), x);
  if (a > Constants<T>::too_big + T(1)) return copysign_(inf_<T>(), x);
  int k;
  Pair<T> e = exp_scaled(a, k);
  Pair<T> i = Pair<T>{T(1), T(0)} / e;
  Pair<T> d = e + Pair<T>{-ldexp_(i.hi, -2 * k), -ldexp_(i.lo, -2 * k)};
  return copysign_(ldexp_(value(d), k - 1), x);
}
template <typename T> FN T cosh_(T x) {
  T a = abs_(x);
  if (isnan_(x)) return x;
  if (a > Constants<T>::too_big + T(1)) return inf_<T>();
  int k;
  Pair<T> e = exp_scaled(a, k);
  Pair<T> i = Pair<T>{T(1), T(0)} / e;
  Pair<T> d = e + Pair<T>{ldexp_(i.hi, -2 * k), ldexp_(i.lo, -2 * k)};
  return ldexp_(value(d), k - 1);
}
FN double tanh_tail(double z) { return polynomial(z, 
      -2.9555557089291693e-06, 1.324798616162539e-05, -3.799588576826041e-05,
      9.650537188707392e-05, -0.00023903920619156426, 0.0005900137844913381,
      -0.0014558329594307647, 0.0035921279362012355, -0.008863235525360695, 0.021869488536032666,
      -0.05396825396825225, 0.13333333333333333, -0.3333333333333333); }
FN double tanh_(double x) {
  double a = abs_(x);
  if (isnan_(x)) return x;
  if (a < 0.55) return copysign_(fma_(a * (x * x), tanh_tail(x * x), a), x);  // of -0 too
  if (a > 22.0) return copysign_(1.0, x);
  int k;  // 1 - 2 / (exp(2a) + 1)
  Pair<double> e = exp_scaled(a + a, k);
  e = Pair<double>{ldexp_(e.hi, k), ldexp_(e.lo, k)} + 1.0;
  Pair<double> q = Pair<double>{-2.0, 0.0} / e;
  return copysign_(value(q + 1.0), x);
}
// Both ways at once, by the GPU's own exp2 and reciprocal; from 0.8 on it is 1 - 2 / (exp(2a) + 1).
FN float tanh_(float x) {
  float a = abs_(x), z = x * x;
  float low = fma_(a * z, polynomial(z, 0.00158703804f, -0.00741416961f, 0.0213065259f, -0.0538535975f, 0.133322418f,
                                     -0.333332986f), a);
  float most = a < 16.0f ? a : 16.0f, p = most * 2.88539004f, lost = fma_(most, 2.88539004f, -p);
  float e = exp2_instruction(p), d = e + 1.0f, inverse = reciprocal(d);
  float low_part = fma_(e, fma_(most, 2.66995155e-08f, 0.693147182f * lost), e - (d - 1.0f));
  float rest = fma_(-low_part, inverse, fma_(-d, inverse, 1.0f));
  float high = fma_(-2.0f, fma_(rest, inverse, inverse), 1.0f);
  return copysign_(a >= 0.8f ? high : low, x);
}
template <typename T> FN T asinh_(T x) {
  T a = abs_(x);
  if (!finite_(x) || a < (T)1e-30) return x;
  Pair<T> r;
  if (a > T(1e8)) {
    r = log_pair(Pair<T>{a, T(0)}, Needs::value) + Pair<T>{Constants<T>::ln2, Constants<T>::ln2_lo};
  } else {  // log1p(a + a^2 / (1 + sqrt(1 + a^2)))
    Pair<T> z = product(a, a);
    Pair<T> s = square_root(z + T(1)) + T(1);
    r = log1p_pair(z / s + a, Needs::value);
  }
  return copysign_(value(r), x);
}
template <typename T> FN T acosh_(T x) {
  if (isnan_(x) || x == inf_<T>()) return x;
  if (x < T(1)) return nan_<T>();
  if (x > T(1e8)) return value(log_pair(Pair<T>{x, T(0)}, Needs::value) + Pair<T>{Constants<T>::ln2, Constants<T>::ln2_lo});
  T d = x - T(1);  // log1p(d + sqrt(d (d + 2)))
  Pair<T> s = square_root(Pair<T>{d, T(0)} * sum(d, T(2)));
  return value(log1p_pair(s + d, Needs::value));
}
template <typename T> FN T atanh_(T x) {
  T a = abs_(x);
  if (isnan_(x) || a < (T)1e-30) return x;
  if (a > T(1)) return nan_<T>();
  if (a == T(1)) return copysign_(inf_<T>(), x);
  Pair<T> l;
  if (a < T(0.17)) l = log_ratio(Pair<T>{a, T(0)}, Needs::value);
  else l = log_pair(sum(T(1), a) / sum(T(1), -a), Needs::value);
  return copysign_(T(0.5) * value(l), x);
}
