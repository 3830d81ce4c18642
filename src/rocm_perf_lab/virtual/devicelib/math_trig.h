// sin, cos, tan and their inverses; arguments of any size are reduced exactly enough.
#pragma once

#include "math_exp_log.h"

// 2/pi, 1280 bits, the most significant word first.
TABLE u64 two_over_pi[20] = {
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
    0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
    0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full,
    0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull,
    0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull
};

// The fraction of |x| * 2/pi after the nearest quadrant, in [-1/2, 1/2], as a signed 127-bit
// fixed-point number; `quadrant` gets the quadrant.
FN u128 reduce_bits(u64 mantissa, int exponent, int& quadrant) {
  // |x| = mantissa * 2^exponent. Bits of 2/pi whose product with x is a multiple of 4 are skipped.
  int skip = exponent - 2 > 0 ? exponent - 2 : 0;
  int word = skip >> 6, shift = skip & 63;
  u64 w[4];
  for (int i = 0; i < 4; ++i) {
    u64 hi = word + i < 20 ? two_over_pi[word + i] : 0, lo = word + i + 1 < 20 ? two_over_pi[word + i + 1] : 0;
    w[i] = shift ? hi << shift | lo >> (64 - shift) : hi;
  }
  // product = mantissa * w / 2^256 * 2^(exponent - skip): 320 bits, keep 256 below the top word.
  u128 p3 = (u128)mantissa * w[3], p2 = (u128)mantissa * w[2], p1 = (u128)mantissa * w[1], p0 = (u128)mantissa * w[0];
  u128 c = (p3 >> 64) + (u64)p2;
  u64 d2 = (u64)c;
  c = (c >> 64) + (p2 >> 64) + (u64)p1;
  u64 d1 = (u64)c;
  c = (c >> 64) + (p1 >> 64) + (u64)p0;
  u64 d0 = (u64)c;
  u64 top = (u64)((c >> 64) + (p0 >> 64));
  // The number is top.d0 d1 d2 * 2^(exponent - skip); that power is <= 2.
  int up = exponent - skip;
  if (up < 0) {  // small x: |x| 2/pi < 2^53 * 2^up
    int down = -up;
    for (; down >= 64; down -= 64) { d2 = d1; d1 = d0; d0 = top; top = 0; }
    if (down) {
      d2 = d2 >> down | d1 << (64 - down);
      d1 = d1 >> down | d0 << (64 - down);
      d0 = d0 >> down | top << (64 - down);
      top >>= down;
    }
  } else if (up) {
    top = top << up | d0 >> (64 - up);
    d0 = d0 << up | d1 >> (64 - up);
    d1 = d1 << up | d2 >> (64 - up);
  }
  u128 fraction = (u128)d0 << 64 | d1;
  quadrant = (int)(top & 3);
  if (d0 >> 63) ++quadrant;  // round to nearest: the fraction becomes negative
  return fraction;
}

FN Pair<double> half_pi(double) { return {1.5707963267948966, 6.123233995736766e-17}; }
FN Pair<float> half_pi(float) { return {1.57079637f, -4.37113883e-08f}; }

// fraction (signed, scaled by 2^128) times pi/2
template <typename T> FN Pair<T> from_fraction(u128 f) {
  bool negative = (u64)(f >> 64) >> 63;
  if (negative) f = ~f + 1;
  u64 hi = (u64)(f >> 64), lo = (u64)f;
  if (!(hi | lo)) return {T(0), T(0)};
  int zeros = hi ? __builtin_clzll(hi) : 64 + __builtin_clzll(lo);
  f <<= zeros;
  u64 top = (u64)(f >> 64);
  constexpr int keep = Real<T>::mantissa + 1;
  u64 first = top >> (64 - keep);
  u64 second = (u64)((f << keep) >> 64) >> (64 - keep);
  T a = ldexp_((T)first, -zeros - keep), b = ldexp_((T)second, -zeros - 2 * keep);
  Pair<T> r = fast_sum(a, b) * half_pi(T(0));
  return negative ? -r : r;
}

FN Pair<double> reduce_trig(double a, int& quadrant) {  // a = |x|
  if (a < 1.0e5) {  // three parts of pi/2, products exact by fma
    double n = rint_(a * 0.6366197723675814);
    quadrant = (int)n;
    double r = fma_(-n, 1.5707963267948966, a);
    Pair<double> p = product(n, 6.123233995736766e-17);
    Pair<double> s = sum(r, -p.hi);
    return fast_sum(s.hi, s.lo - p.lo + n * 1.4973849048591833e-33);
  }
  u64 b = bits<u64>(a);
  u64 mantissa = (b & 0xfffffffffffffull) | 0x10000000000000ull;
  return from_fraction<double>(reduce_bits(mantissa, (int)(b >> 52) - 1075, quadrant));
}
FN Pair<float> reduce_trig(float a, int& quadrant) {
  if (a < 4.0e4f) {
    float n = rint_(a * 0.636619747f);
    quadrant = (int)n;
    float r = fma_(-n, 1.57079637f, a);
    Pair<float> p = product(n, -4.37113883e-08f);
    Pair<float> s = sum(r, -p.hi);
    return fast_sum(s.hi, s.lo - p.lo + n * 1.71512489e-15f);
  }
  u32 b = bits<u32>(a);
  u64 mantissa = (b & 0x7fffffu) | 0x800000u;
  return from_fraction<float>(reduce_bits(mantissa, (int)(b >> 23) - 150, quadrant));
}

FN double sin_tail(double z) { return polynomial(z, 
      -7.585486485235938e-13, 1.6058510875319195e-10, -2.505210610025599e-08,
      2.7557319218954762e-06, -0.00019841269841264567, 0.008333333333333331, -0.16666666666666666); }
FN float sin_tail(float z) { return polynomial(z, 
      2.72437819e-06f, -0.00019840039f, 0.00833333191f, -0.166666672f); }
FN double cos_tail(double z) { return polynomial(z, 
      4.745198807202876e-14, -1.1470449354466773e-11, 2.0876755717584403e-09,
      -2.75573192211891e-07, 2.4801587301584367e-05, -0.0013888888888888887, 0.041666666666666664); }
FN float cos_tail(float z) { return polynomial(z, 
      -2.72958317e-07f, 2.48005599e-05f, -0.00138888881f, 0.0416666679f); }

template <typename T> FN Pair<T> sin_kernel(Pair<T> r) {
  T z = r.hi * r.hi;
  T tail = fma_(r.hi * z, sin_tail(z), r.lo * fma_(T(-0.5), z, T(1)));
  return fast_sum(r.hi, tail);
}
template <typename T> FN Pair<T> cos_kernel(Pair<T> r) {
  Pair<T> z = product(r.hi, r.hi);
  T h = T(0.5) * z.hi;
  Pair<T> s = fast_sum(T(1), -h);
  T tail = fma_(z.hi * z.hi, cos_tail(z.hi), -fma_(r.hi, r.lo, T(0.5) * z.lo));
  return fast_sum(s.hi, s.lo + tail);
}
template <typename T> FN T sincos_(T x, T& cosine) {
  T a = abs_(x);
  if (!(a < inf_<T>())) {
    cosine = nan_<T>();
    return nan_<T>();
  }
  if (a < (T)1e-10) {
    cosine = 1;
    return x;
  }
  int q;
  Pair<T> r = reduce_trig(a, q);
  T s = value(sin_kernel(r)), c = value(cos_kernel(r));
  T sine = q & 1 ? c : s;
  cosine = q & 1 ? s : c;
  if (q & 2) sine = -sine;
  if ((q + 1) & 2) cosine = -cosine;
  return signbit_(x) ? -sine : sine;
}
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
  T a = abs_(x);
  if (!(a < inf_<T>())) return nan_<T>();
  if (a < (T)1e-10) return x;
  int q;
  Pair<T> r = reduce_trig(a, q);
  Pair<T> s = sin_kernel(r), c = cos_kernel(r);
  T t = value(q & 1 ? -c / s : s / c);
  return signbit_(x) ? -t : t;
}
// sin(pi x), cos(pi x): the reduction is exact.
template <typename T> FN T sincospi_(T x, T& cosine) {
  T a = abs_(x);
  if (!(a < inf_<T>())) {
    cosine = nan_<T>();
    return nan_<T>();
  }
  T n = rint_(a + a);
  int q = (int)(i64)(n - T(4) * floor_(n * T(0.25)));
  T f = fma_(T(-0.5), n, a);
  Pair<T> r = product(f, Constants<T>::pi);
  r = fast_sum(r.hi, fma_(f, Constants<T>::pi_lo, r.lo));
  T s = value(sin_kernel(r)), c = value(cos_kernel(r));
  T sine = q & 1 ? c : s;
  cosine = q & 1 ? s : c;
  if (q & 2) sine = -sine;
  if ((q + 1) & 2) cosine = -cosine;
  if (cosine == T(0)) cosine = 0;  // never -0
  if (f == T(0) && !(q & 1)) sine = 0;
  return signbit_(x) ? -sine : sine;
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
