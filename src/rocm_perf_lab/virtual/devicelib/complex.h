// Multiplication and division of C and C++ complex numbers (C99 annex G), which the compiler calls.
#pragma once

#include "math_misc.h"

template <typename T> FN T boxed(T x) { return copysign_(isinf_(x) ? T(1) : T(0), x); }

template <typename T, typename C> FN C complex_multiply(T a, T b, T c, T d) {
  T ac = a * c, bd = b * d, ad = a * d, bc = b * c;
  T re = ac - bd, im = ad + bc;
  if (isnan_(re) && isnan_(im)) {  // recover infinities
    bool again = false;
    if (isinf_(a) || isinf_(b)) {
      a = boxed(a); b = boxed(b);
      if (isnan_(c)) c = copysign_(T(0), c);
      if (isnan_(d)) d = copysign_(T(0), d);
      again = true;
    }
    if (isinf_(c) || isinf_(d)) {
      c = boxed(c); d = boxed(d);
      if (isnan_(a)) a = copysign_(T(0), a);
      if (isnan_(b)) b = copysign_(T(0), b);
      again = true;
    }
    if (!again && (isinf_(ac) || isinf_(bd) || isinf_(ad) || isinf_(bc))) {
      if (isnan_(a)) a = copysign_(T(0), a);
      if (isnan_(b)) b = copysign_(T(0), b);
      if (isnan_(c)) c = copysign_(T(0), c);
      if (isnan_(d)) d = copysign_(T(0), d);
      again = true;
    }
    if (again) {
      re = inf_<T>() * (a * c - b * d);
      im = inf_<T>() * (a * d + b * c);
    }
  }
  C z;
  __real__ z = re;
  __imag__ z = im;
  return z;
}
template <typename T, typename C> FN C complex_divide(T a, T b, T c, T d) {
  int scale = 0;
  T top = abs_(c) > abs_(d) ? abs_(c) : abs_(d);
  if (finite_(top) && top != T(0)) {
    scale = exponent_(top) - 1;
    c = ldexp_(c, -scale);
    d = ldexp_(d, -scale);
  }
  T below = c * c + d * d;
  T re = ldexp_((a * c + b * d) / below, -scale), im = ldexp_((b * c - a * d) / below, -scale);
  if (isnan_(re) && isnan_(im)) {
    if (below == T(0) && (!isnan_(a) || !isnan_(b))) {
      re = copysign_(inf_<T>(), c) * a;
      im = copysign_(inf_<T>(), c) * b;
    } else if ((isinf_(a) || isinf_(b)) && finite_(c) && finite_(d)) {
      a = boxed(a); b = boxed(b);
      re = inf_<T>() * (a * c + b * d);
      im = inf_<T>() * (b * c - a * d);
    } else if (isinf_(top) && finite_(a) && finite_(b)) {
      c = boxed(c); d = boxed(d);
      re = T(0) * (a * c + b * d);
      im = T(0) * (b * c - a * d);
    }
  }
  C z;
  __real__ z = re;
  __imag__ z = im;
  return z;
}
EXPORT float _Complex __mulsc3(float a, float b, float c, float d) { return complex_multiply<float, float _Complex>(a, b, c, d); }
EXPORT double _Complex __muldc3(double a, double b, double c, double d) { return complex_multiply<double, double _Complex>(a, b, c, d); }
EXPORT float _Complex __divsc3(float a, float b, float c, float d) { return complex_divide<float, float _Complex>(a, b, c, d); }
EXPORT double _Complex __divdc3(double a, double b, double c, double d) { return complex_divide<double, double _Complex>(a, b, c, d); }
