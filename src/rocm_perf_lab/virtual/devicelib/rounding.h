// Arithmetic in a stated direction: the wave's MODE register is changed for one instruction.
// Division and square root, which take several, correct the nearest result by its exact remainder.
#pragma once

#include "base.h"

#if defined(__HIP_DEVICE_COMPILE__)

// Field of MODE: bits 0..1 single, 2..3 double and half. 0 nearest even, 1 up, 2 down, 3 to zero.
#define ROUNDED_ASM(OP, FIELD, DIRECTION)                                              \
  "s_setreg_imm32_b32 hwreg(HW_REG_MODE, " FIELD ", 2), " DIRECTION "\n\t" OP "\n\t"     \
  "s_setreg_imm32_b32 hwreg(HW_REG_MODE, " FIELD ", 2), 0"

#define DIRECTED(NAME, DIRECTION)                                                                 \
  EXPORT float __ocml_add_##NAME##_f32(float a, float b) {                                        \
    float r; __asm__ volatile(ROUNDED_ASM("v_add_f32 %0, %1, %2", "0", DIRECTION) : "=&v"(r) : "v"(a), "v"(b)); return r; }   \
  EXPORT float __ocml_sub_##NAME##_f32(float a, float b) {                                        \
    float r; __asm__ volatile(ROUNDED_ASM("v_sub_f32 %0, %1, %2", "0", DIRECTION) : "=&v"(r) : "v"(a), "v"(b)); return r; }   \
  EXPORT float __ocml_mul_##NAME##_f32(float a, float b) {                                        \
    float r; __asm__ volatile(ROUNDED_ASM("v_mul_f32 %0, %1, %2", "0", DIRECTION) : "=&v"(r) : "v"(a), "v"(b)); return r; }   \
  EXPORT float __ocml_fma_##NAME##_f32(float a, float b, float c) {                               \
    float r; __asm__ volatile(ROUNDED_ASM("v_fma_f32 %0, %1, %2, %3", "0", DIRECTION) : "=&v"(r) : "v"(a), "v"(b), "v"(c)); return r; } \
  EXPORT double __ocml_add_##NAME##_f64(double a, double b) {                                     \
    double r; __asm__ volatile(ROUNDED_ASM("v_add_f64 %0, %1, %2", "2", DIRECTION) : "=&v"(r) : "v"(a), "v"(b)); return r; }  \
  EXPORT double __ocml_sub_##NAME##_f64(double a, double b) {                                     \
    double r; __asm__ volatile(ROUNDED_ASM("v_add_f64 %0, %1, -%2", "2", DIRECTION) : "=&v"(r) : "v"(a), "v"(b)); return r; } \
  EXPORT double __ocml_mul_##NAME##_f64(double a, double b) {                                     \
    double r; __asm__ volatile(ROUNDED_ASM("v_mul_f64 %0, %1, %2", "2", DIRECTION) : "=&v"(r) : "v"(a), "v"(b)); return r; }  \
  EXPORT double __ocml_fma_##NAME##_f64(double a, double b, double c) {                           \
    double r; __asm__ volatile(ROUNDED_ASM("v_fma_f64 %0, %1, %2, %3", "2", DIRECTION) : "=&v"(r) : "v"(a), "v"(b), "v"(c)); return r; }
DIRECTED(rtp, "1")
DIRECTED(rtn, "2")
DIRECTED(rtz, "3")

#endif

enum Direction { UP, DOWN, ZERO };

template <typename T> FN T next_(T x, bool up) {
  typedef typename Real<T>::U U;
  if (x == (T)0) return bits<T>((U)(up ? (U)1 : (U)1 | Real<T>::sign));
  U b = bits<U>(x);
  return bits<T>((U)((x > (T)0) == up ? b + 1 : b - 1));
}
// `nearest` is the rounded quotient or root, `remainder` has the sign of exact - nearest.
template <typename T> FN T directed(T nearest, T remainder, Direction direction) {
  if (remainder == (T)0 || isnan_(nearest)) return nearest;
  bool up = direction == UP || (direction == ZERO && nearest < (T)0);
  if (isinf_(nearest)) return nearest;  // overflow: |exact| is below infinity in any direction
  if (up && remainder > (T)0) return next_(nearest, true);
  if (!up && remainder < (T)0) return next_(nearest, false);
  return nearest;
}
template <typename T> FN T divide(T a, T b, Direction direction) {
  T q = a / b;
  if (!finite_(a) || !finite_(b) || b == (T)0 || a == (T)0) return q;
  if (isinf_(q)) {  // the largest finite number, unless the direction points away from zero
    bool away = direction == (q > (T)0 ? UP : DOWN);
    return away ? q : next_(q, q < (T)0);
  }
  // Scaled so that the remainder neither underflows nor overflows.
  int ea = exponent_(a), eb = exponent_(b);
  T ma = ldexp_(a, -ea), mb = ldexp_(b, -eb), mq = ldexp_(q, eb - ea);
  T r = fma_(-mq, mb, ma);
  return directed(q, mb > (T)0 ? r : -r, direction);
}
template <typename T> FN T root(T a, Direction direction) {
  T s = sqrt_(a);
  if (!(a > (T)0) || isinf_(a)) return s;
  int e = exponent_(a) & ~1;
  T m = ldexp_(a, -e), ms = ldexp_(s, -e / 2);
  return directed(s, fma_(-ms, ms, m), direction);
}
EXPORT float __ocml_div_rtp_f32(float a, float b) { return divide(a, b, UP); }
EXPORT float __ocml_div_rtn_f32(float a, float b) { return divide(a, b, DOWN); }
EXPORT float __ocml_div_rtz_f32(float a, float b) { return divide(a, b, ZERO); }
EXPORT double __ocml_div_rtp_f64(double a, double b) { return divide(a, b, UP); }
EXPORT double __ocml_div_rtn_f64(double a, double b) { return divide(a, b, DOWN); }
EXPORT double __ocml_div_rtz_f64(double a, double b) { return divide(a, b, ZERO); }
EXPORT float __ocml_sqrt_rtp_f32(float a) { return root(a, UP); }
EXPORT float __ocml_sqrt_rtn_f32(float a) { return root(a, DOWN); }
EXPORT float __ocml_sqrt_rtz_f32(float a) { return root(a, ZERO); }
EXPORT double __ocml_sqrt_rtp_f64(double a) { return root(a, UP); }
EXPORT double __ocml_sqrt_rtn_f64(double a) { return root(a, DOWN); }
EXPORT double __ocml_sqrt_rtz_f64(double a) { return root(a, ZERO); }
