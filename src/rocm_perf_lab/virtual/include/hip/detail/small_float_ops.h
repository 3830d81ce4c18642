// The functions that __half and __hip_bfloat16 share, written once. Included with
//   H, H2          the scalar and the pair type
//   H_TO(x)        float of a scalar
//   H_FROM(f)      scalar of a float, to nearest even
//   H_OP(a, op, b) arithmetic of two scalars, rounded once
//   H_FMA(a, b, c)
//   H_INFINITE     what __hisinf gives: AMD has bool for one type, the sign in an int for the other
//   H_FN           attributes
// No include guard: it is meant to be included twice.

#define H_BINARY(NAME, OP)                                                                     \
  H_FN H __h##NAME(H a, H b) { return H_OP(a, OP, b); }                                        \
  H_FN H2 __h##NAME##2(H2 a, H2 b) { return H2(H_OP(a.x, OP, b.x), H_OP(a.y, OP, b.y)); }
H_BINARY(add, +)
H_BINARY(sub, -)
H_BINARY(mul, *)
H_FN H __hdiv(H a, H b) { return H_OP(a, /, b); }
H_FN H2 __h2div(H2 a, H2 b) { return H2(H_OP(a.x, /, b.x), H_OP(a.y, /, b.y)); }
#undef H_BINARY
H_FN H __hadd_rn(H a, H b) { return __hadd(a, b); }
H_FN H __hsub_rn(H a, H b) { return __hsub(a, b); }
H_FN H __hmul_rn(H a, H b) { return __hmul(a, b); }
H_FN H2 __hadd2_rn(H2 a, H2 b) { return __hadd2(a, b); }
H_FN H2 __hsub2_rn(H2 a, H2 b) { return __hsub2(a, b); }
H_FN H2 __hmul2_rn(H2 a, H2 b) { return __hmul2(a, b); }
H_FN H __hfma(H a, H b, H c) { return H_FMA(a, b, c); }
H_FN H2 __hfma2(H2 a, H2 b, H2 c) { return H2(H_FMA(a.x, b.x, c.x), H_FMA(a.y, b.y, c.y)); }
H_FN H __hneg(H a) { return H_FROM(-H_TO(a)); }
H_FN H2 __hneg2(H2 a) { return H2(__hneg(a.x), __hneg(a.y)); }
H_FN H __habs(H a) { return H_FROM(__builtin_fabsf(H_TO(a))); }
H_FN H2 __habs2(H2 a) { return H2(__habs(a.x), __habs(a.y)); }
H_FN H __hip_saturate(H a) { return H_FROM(__builtin_fminf(__builtin_fmaxf(H_TO(a), 0.0f), 1.0f)); }
H_FN H2 __hip_saturate(H2 a) { return H2(__hip_saturate(a.x), __hip_saturate(a.y)); }
H_FN H __hadd_sat(H a, H b) { return __hip_saturate(__hadd(a, b)); }
H_FN H __hsub_sat(H a, H b) { return __hip_saturate(__hsub(a, b)); }
H_FN H __hmul_sat(H a, H b) { return __hip_saturate(__hmul(a, b)); }
H_FN H __hfma_sat(H a, H b, H c) { return __hip_saturate(__hfma(a, b, c)); }
H_FN H2 __hadd2_sat(H2 a, H2 b) { return __hip_saturate(__hadd2(a, b)); }
H_FN H2 __hsub2_sat(H2 a, H2 b) { return __hip_saturate(__hsub2(a, b)); }
H_FN H2 __hmul2_sat(H2 a, H2 b) { return __hip_saturate(__hmul2(a, b)); }
H_FN H2 __hfma2_sat(H2 a, H2 b, H2 c) { return __hip_saturate(__hfma2(a, b, c)); }
H_FN H2 __hcmadd(H2 a, H2 b, H2 c) {
  H re = __hfma(a.x, b.x, __hfma(__hneg(a.y), b.y, c.x));
  H im = __hfma(a.x, b.y, __hfma(a.y, b.x, c.y));
  return H2(re, im);
}
H_FN bool __hisnan(H a) { float f = H_TO(a); return f != f; }
H_FN H_INFINITE __hisinf(H a) { float f = H_TO(a); return f == __builtin_inff() ? 1 : f == -__builtin_inff() ? -1 : 0; }
H_FN H2 __hisinf2(H2 a) { return H2(H_FROM(__hisinf(a.x) ? 1.0f : 0.0f), H_FROM(__hisinf(a.y) ? 1.0f : 0.0f)); }
H_FN H2 __hisnan2(H2 a) { return H2(H_FROM(__hisnan(a.x) ? 1.0f : 0.0f), H_FROM(__hisnan(a.y) ? 1.0f : 0.0f)); }

// Ordered comparisons; the u forms are true where an operand is no number.
#define H_COMPARE(NAME, OP)                                                                    \
  H_FN bool __h##NAME(H a, H b) { return H_TO(a) OP H_TO(b); }                                 \
  H_FN bool __h##NAME##u(H a, H b) { return __hisnan(a) || __hisnan(b) || H_TO(a) OP H_TO(b); } \
  H_FN H2 __h##NAME##2(H2 a, H2 b) {                                                           \
    return H2(H_FROM(__h##NAME(a.x, b.x) ? 1.0f : 0.0f), H_FROM(__h##NAME(a.y, b.y) ? 1.0f : 0.0f)); \
  }                                                                                            \
  H_FN H2 __h##NAME##u2(H2 a, H2 b) {                                                          \
    return H2(H_FROM(__h##NAME##u(a.x, b.x) ? 1.0f : 0.0f), H_FROM(__h##NAME##u(a.y, b.y) ? 1.0f : 0.0f)); \
  }                                                                                            \
  H_FN bool __hb##NAME##2(H2 a, H2 b) { return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y); }   \
  H_FN bool __hb##NAME##u2(H2 a, H2 b) { return __h##NAME##u(a.x, b.x) && __h##NAME##u(a.y, b.y); }
H_COMPARE(eq, ==)
H_COMPARE(ne, !=)
H_COMPARE(lt, <)
H_COMPARE(le, <=)
H_COMPARE(gt, >)
H_COMPARE(ge, >=)
#undef H_COMPARE

H_FN H __hmax(H a, H b) { return H_FROM(__builtin_fmaxf(H_TO(a), H_TO(b))); }
H_FN H __hmin(H a, H b) { return H_FROM(__builtin_fminf(H_TO(a), H_TO(b))); }
H_FN H __hmax_nan(H a, H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }
H_FN H __hmin_nan(H a, H b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }
H_FN H2 __hmax2(H2 a, H2 b) { return H2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
H_FN H2 __hmin2(H2 a, H2 b) { return H2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }

// Mathematics: the float's function, rounded. In HIP sources device side only, as on CUDA.
#if !defined(__HIP__)
#define __ocml_rsqrt_f32(x) (1.0f / __builtin_sqrtf(x))
#define __ocml_sin_f32 __builtin_sinf
#define __ocml_cos_f32 __builtin_cosf
#define __ocml_tanh_f32 __builtin_tanhf
#define __HIP_EXP10F__(x) __builtin_powf(10.0f, x)
#else
#define __HIP_EXP10F__(x) __builtin_exp10f(x)
#endif
#define H_MATH(NAME, EXPRESSION)                                                               \
  __HIP_DEVICE_FN__ H h##NAME(H a) { float x = H_TO(a); return H_FROM(EXPRESSION); }           \
  __HIP_DEVICE_FN__ H2 h2##NAME(H2 a) { return H2(h##NAME(a.x), h##NAME(a.y)); }
H_MATH(sqrt, __builtin_sqrtf(x))
H_MATH(rsqrt, __ocml_rsqrt_f32(x))
H_MATH(rcp, 1.0f / x)
H_MATH(exp, __builtin_expf(x))
H_MATH(exp2, __builtin_exp2f(x))
H_MATH(exp10, __HIP_EXP10F__(x))
H_MATH(log, __builtin_logf(x))
H_MATH(log2, __builtin_log2f(x))
H_MATH(log10, __builtin_log10f(x))
H_MATH(sin, __ocml_sin_f32(x))
H_MATH(cos, __ocml_cos_f32(x))
H_MATH(tanh, __ocml_tanh_f32(x))
H_MATH(ceil, __builtin_ceilf(x))
H_MATH(floor, __builtin_floorf(x))
H_MATH(trunc, __builtin_truncf(x))
H_MATH(rint, __builtin_rintf(x))
#undef H_MATH
#undef __HIP_EXP10F__
#if !defined(__HIP__)
#undef __ocml_rsqrt_f32
#undef __ocml_sin_f32
#undef __ocml_cos_f32
#undef __ocml_tanh_f32
#endif

#define H_OPERATOR(OP)                                                                         \
  H_FN H operator OP(H a, H b) { return H_OP(a, OP, b); }                                      \
  H_FN H& operator OP##=(H& a, H b) { return a = a OP b; }                                     \
  H_FN H2 operator OP(H2 a, H2 b) { return H2(a.x OP b.x, a.y OP b.y); }                       \
  H_FN H2& operator OP##=(H2& a, H2 b) { return a = a OP b; }
H_OPERATOR(+)
H_OPERATOR(-)
H_OPERATOR(*)
H_OPERATOR(/)
#undef H_OPERATOR
H_FN H operator-(H a) { return __hneg(a); }
H_FN H operator+(H a) { return a; }
H_FN H2 operator-(H2 a) { return __hneg2(a); }
H_FN H& operator++(H& a) { return a = H_OP(a, +, H_FROM(1.0f)); }
H_FN H& operator--(H& a) { return a = H_OP(a, -, H_FROM(1.0f)); }
H_FN H2 operator+(H2 a) { return a; }
H_FN H2& operator++(H2& a) { ++a.x; ++a.y; return a; }
H_FN H2& operator--(H2& a) { --a.x; --a.y; return a; }
H_FN H2 operator++(H2& a, int) { H2 old = a; ++a; return old; }
H_FN H2 operator--(H2& a, int) { H2 old = a; --a; return old; }
H_FN H operator++(H& a, int) { H old = a; ++a; return old; }
H_FN H operator--(H& a, int) { H old = a; --a; return old; }
#define H_OPERATOR(OP)                                                                         \
  H_FN bool operator OP(H a, H b) { return H_TO(a) OP H_TO(b); }                               \
  H_FN bool operator OP(H2 a, H2 b) { return a.x OP b.x && a.y OP b.y; }
H_OPERATOR(==)
H_OPERATOR(<)
H_OPERATOR(<=)
H_OPERATOR(>)
H_OPERATOR(>=)
#undef H_OPERATOR
H_FN bool operator!=(H a, H b) { return H_TO(a) != H_TO(b); }
H_FN bool operator!=(H2 a, H2 b) { return a.x != b.x || a.y != b.y; }

// Beside a number of another type: a float's precision with float and double, H's with integers.
#define H_MIXED(OP, RESULT)                                                                    \
  template <typename N> H_FN typename hip_detail::enable_if<hip_detail::is_number<N>::value, RESULT>::type  \
  operator OP(H a, N b) { return H_TO(a) OP (float)b; }                                        \
  template <typename N> H_FN typename hip_detail::enable_if<hip_detail::is_number<N>::value, RESULT>::type  \
  operator OP(N a, H b) { return (float)a OP H_TO(b); }
#define H_RESULT hip_detail::small_float_result<H, N>
H_MIXED(+, typename H_RESULT::type)
H_MIXED(-, typename H_RESULT::type)
H_MIXED(*, typename H_RESULT::type)
H_MIXED(/, typename H_RESULT::type)
H_MIXED(==, bool)
H_MIXED(!=, bool)
H_MIXED(<, bool)
H_MIXED(<=, bool)
H_MIXED(>, bool)
H_MIXED(>=, bool)
#undef H_MIXED
#undef H_RESULT
#define H_ASSIGN(OP)                                                                           \
  template <typename N> H_FN typename hip_detail::enable_if<hip_detail::is_number<N>::value, H&>::type      \
  operator OP##=(H& a, N b) { return a = H_OP(a, OP, H_FROM((float)b)); }
H_ASSIGN(+)
H_ASSIGN(-)
H_ASSIGN(*)
H_ASSIGN(/)
#undef H_ASSIGN
