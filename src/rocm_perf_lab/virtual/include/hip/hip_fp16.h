// __half and __half2 with AMD's and CUDA's function names.
#pragma once
#if defined(__clang__)
#pragma clang system_header
#endif

#include <hip/hip_common.h>
#include <hip/hip_vector_types.h>
#include <hip/detail/small_float_bits.h>
#if defined(__HIP__)
#include <hip/detail/math.h>
#endif

#if defined(__cplusplus)

struct __half_raw { union { unsigned short x; };
#if defined(__HIP__)
  __attribute__((host, device)) operator _Float16() const { _Float16 v; __builtin_memcpy(&v, &x, 2); return v; }
#endif
};
struct __half2_raw { unsigned short x, y; };

#define H_FN __HIP_SMALL_FN__
#if defined(__HIP__)
#define __HIP_HALF_FN__ __attribute__((host, device)) inline
#else
#define __HIP_HALF_FN__ inline
#endif

struct __half;
H_FN float __hip_half_value(const __half& a);

struct __attribute__((aligned(2))) __half {
  union {
    unsigned short __x;
#if defined(__HIP__)
    _Float16 data;
#endif
  };
  __half() = default;
  __HIP_HALF_FN__ __half(const __half_raw& r) : __x(r.x) {}
  __HIP_HALF_FN__ __half& operator=(const __half_raw& r) { __x = r.x; return *this; }
  __HIP_HALF_FN__ operator __half_raw() const { __half_raw r; r.x = __x; return r; }
  __HIP_HALF_FN__ operator __half_raw() const volatile { __half_raw r; r.x = __x; return r; }
  __HIP_HALF_FN__ volatile __half& operator=(const __half_raw& r) volatile { __x = r.x; return *this; }
  __HIP_HALF_FN__ volatile __half& operator=(const volatile __half_raw& r) volatile { __x = r.x; return *this; }
  template <typename T, typename hip_detail::enable_if<hip_detail::is_number<T>::value, int>::type = 0>
#if defined(__HIP_DEVICE_COMPILE__)
  __HIP_HALF_FN__ __half(T v) { data = (_Float16)v; }
#else
  __HIP_HALF_FN__ __half(T v) : __x(__hip_float_to_half_bits(hip_detail::to_odd(v))) {}
#endif
#if defined(__HIP__)
  // Not a template, so that what converts to a number (a bfloat16) converts to this too.
  __HIP_HALF_FN__ __half(_Float16 v) { data = v; }
#endif
  __HIP_HALF_FN__ operator float() const { return __hip_half_value(*this); }
#if defined(__HIP__)
  __HIP_HALF_FN__ explicit operator _Float16() const { return data; }
#endif
#define __HIP_HALF_TO__(T) __HIP_HALF_FN__ explicit operator T() const { return (T)__hip_half_value(*this); }
  __HIP_HALF_TO__(double) __HIP_HALF_TO__(bool) __HIP_HALF_TO__(char) __HIP_HALF_TO__(signed char)
  __HIP_HALF_TO__(unsigned char) __HIP_HALF_TO__(short) __HIP_HALF_TO__(unsigned short) __HIP_HALF_TO__(int)
  __HIP_HALF_TO__(unsigned) __HIP_HALF_TO__(long) __HIP_HALF_TO__(unsigned long) __HIP_HALF_TO__(long long)
  __HIP_HALF_TO__(unsigned long long)
#undef __HIP_HALF_TO__
};
H_FN float __hip_half_value(const __half& a) {
#if defined(__HIP_DEVICE_COMPILE__)
  return (float)a.data;
#else
  return __hip_half_bits_to_float(a.__x);
#endif
}
H_FN __half __hip_half_from_bits(unsigned short b) { __half_raw r; r.x = b; return __half(r); }
H_FN __half __hip_half_from(float f) {
#if defined(__HIP_DEVICE_COMPILE__)
  __half h; h.data = (_Float16)f; return h;
#else
  return __hip_half_from_bits(__hip_float_to_half_bits(f));
#endif
}

#if defined(__HIP__)
typedef _Float16 __hip_half_vector __attribute__((ext_vector_type(2)));
#endif
struct __attribute__((aligned(4))) __half2 {
#if defined(__HIP__)
  union {
    struct { __half x, y; };
    __hip_half_vector data;
  };
#else
  __half x, y;
#endif
  __half2() = default;
  __HIP_HALF_FN__ __half2(const __half& a, const __half& b) : x(a), y(b) {}
  __HIP_HALF_FN__ __half2(const __half2&) = default;
  __HIP_HALF_FN__ __half2& operator=(const __half2&) = default;
  __HIP_HALF_FN__ explicit __half2(const __half& a) : x(a), y(a) {}
  __HIP_HALF_FN__ __half2(const __half2_raw& r) : x(__hip_half_from_bits(r.x)), y(__hip_half_from_bits(r.y)) {}
  __HIP_HALF_FN__ operator __half2_raw() const { __half2_raw r; r.x = x.__x; r.y = y.__x; return r; }
  __HIP_HALF_FN__ explicit operator float2() const { return float2(__hip_half_value(x), __hip_half_value(y)); }
#if defined(__HIP__)
  __HIP_HALF_FN__ __half2(__hip_half_vector v) { data = v; }
#endif
};

#define H __half
#define H2 __half2
#define H_TO(v) __hip_half_value(v)
#define H_FROM(f) __hip_half_from(f)
#if defined(__HIP_DEVICE_COMPILE__)
H_FN __half __hip_half_wrap(_Float16 v) { __half h; h.data = v; return h; }
#define H_OP(a, op, b) __hip_half_wrap((a).data op (b).data)
#define H_FMA(a, b, c) __hip_half_wrap(__builtin_fmaf16((a).data, (b).data, (c).data))
#else
#define H_OP(a, op, b) H_FROM(H_TO(a) op H_TO(b))
// A double holds the exact sum of a product and a half in all but the most lopsided cases.
#define H_FMA(a, b, c) H_FROM((float)((double)H_TO(a) * (double)H_TO(b) + (double)H_TO(c)))
#endif
#define H_INFINITE bool
#include <hip/detail/small_float_ops.h>
#undef H
#undef H2
#undef H_TO
#undef H_FROM
#undef H_OP
#undef H_FMA
#undef H_INFINITE

H_FN float __half2float(__half a) { return __hip_half_value(a); }
H_FN __half __float2half(float f) { return __hip_half_from(f); }
H_FN __half __float2half_rn(float f) { return __hip_half_from(f); }
H_FN __half __float2half_rz(float f) { return __hip_half_from_bits(__hip_float_to_half_bits(f, 3)); }
H_FN __half __float2half_ru(float f) { return __hip_half_from_bits(__hip_float_to_half_bits(f, 1)); }
H_FN __half __float2half_rd(float f) { return __hip_half_from_bits(__hip_float_to_half_bits(f, 2)); }
H_FN __half __double2half(double d) { return __hip_half_from_bits(__hip_float_to_half_bits(__hip_double_to_odd(d))); }
H_FN __half2 make_half2(__half a, __half b) { return __half2(a, b); }
H_FN __half2 __half2half2(__half a) { return __half2(a, a); }
H_FN __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
H_FN __half2 __float2half2_rn(float f) { return __half2(__float2half(f), __float2half(f)); }
H_FN __half2 __floats2half2_rn(float a, float b) { return __half2(__float2half(a), __float2half(b)); }
H_FN __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
H_FN float2 __half22float2(__half2 v) { return float2(__half2float(v.x), __half2float(v.y)); }
H_FN float __low2float(__half2 v) { return __half2float(v.x); }
H_FN float __high2float(__half2 v) { return __half2float(v.y); }
H_FN __half __low2half(__half2 v) { return v.x; }
H_FN __half __high2half(__half2 v) { return v.y; }
H_FN __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
H_FN __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
H_FN __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
H_FN __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
H_FN __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }
H_FN short __half_as_short(__half a) { return (short)a.__x; }
H_FN unsigned short __half_as_ushort(__half a) { return a.__x; }
H_FN __half __short_as_half(short s) { return __hip_half_from_bits((unsigned short)s); }
H_FN __half __ushort_as_half(unsigned short s) { return __hip_half_from_bits(s); }

#define __HIP_HALF_INTEGER__(NAME, T)                                                              \
  H_FN T __half2##NAME##_rn(__half a) { return (T)__builtin_rintf(__half2float(a)); }              \
  H_FN T __half2##NAME##_rz(__half a) { return (T)__half2float(a); }                               \
  H_FN T __half2##NAME##_rd(__half a) { return (T)__builtin_floorf(__half2float(a)); }             \
  H_FN T __half2##NAME##_ru(__half a) { return (T)__builtin_ceilf(__half2float(a)); }              \
  H_FN __half __##NAME##2half_rn(T v) { return __float2half_rn((float)v); }                        \
  H_FN __half __##NAME##2half_rz(T v) { return __float2half_rz((float)v); }                        \
  H_FN __half __##NAME##2half_rd(T v) { return __float2half_rd((float)v); }                        \
  H_FN __half __##NAME##2half_ru(T v) { return __float2half_ru((float)v); }
__HIP_HALF_INTEGER__(int, int)
__HIP_HALF_INTEGER__(uint, unsigned)
__HIP_HALF_INTEGER__(short, short)
__HIP_HALF_INTEGER__(ushort, unsigned short)
__HIP_HALF_INTEGER__(ll, long long)
__HIP_HALF_INTEGER__(ull, unsigned long long)
#undef __HIP_HALF_INTEGER__
H_FN signed char __half2char_rz(__half a) { return (signed char)__half2float(a); }
H_FN unsigned char __half2uchar_rz(__half a) { return (unsigned char)__half2float(a); }

typedef __half half;
typedef __half2 half2;

#if defined(__HIP__)
__HIP_DEVICE_FN__ float amd_mixed_dot(__half2 a, __half2 b, float c, bool saturate) {
  float sum = __builtin_fmaf((float)a.y, (float)b.y, __builtin_fmaf((float)a.x, (float)b.x, c));
  return saturate ? __builtin_fminf(__builtin_fmaxf(sum, 0.0f), 1.0f) : sum;
}

namespace hip_detail {
// Atomic changes of 16 bits or a pair by compare and swap of the word around them.
template <typename F> static inline __attribute__((device)) unsigned update_word(unsigned* word, F change, int scope) {
  unsigned old = __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  while (!__hip_atomic_compare_exchange_strong(word, &old, change(old), __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                               __HIP_MEMORY_SCOPE_AGENT)) {
  }
  (void)scope;
  return old;
}
template <typename T> static inline __attribute__((device)) T add_small(T* address, T value) {
  unsigned long at = (unsigned long)address;
  int shift = (int)(at & 2) * 8;
  unsigned old = update_word((unsigned*)(at & ~3ul), [=](unsigned w) {
    unsigned short b = (unsigned short)(w >> shift);
    T t;
    __builtin_memcpy(&t, &b, 2);
    t = t + value;
    __builtin_memcpy(&b, &t, 2);
    return (w & ~(0xffffu << shift)) | (unsigned)b << shift;
  }, 0);
  unsigned short b = (unsigned short)(old >> shift);
  T t;
  __builtin_memcpy(&t, &b, 2);
  return t;
}
template <typename T2> static inline __attribute__((device)) T2 add_small_pair(T2* address, T2 value) {
  unsigned old = update_word((unsigned*)address, [=](unsigned w) {
    T2 t;
    __builtin_memcpy(&t, &w, 4);
    t = t + value;
    __builtin_memcpy(&w, &t, 4);
    return w;
  }, 0);
  T2 t;
  __builtin_memcpy(&t, &old, 4);
  return t;
}
}  // namespace hip_detail
__HIP_DEVICE_FN__ __half atomicAdd(__half* address, __half value) { return hip_detail::add_small(address, value); }
__HIP_DEVICE_FN__ __half2 atomicAdd(__half2* address, __half2 value) { return hip_detail::add_small_pair(address, value); }
__HIP_DEVICE_FN__ __half unsafeAtomicAdd(__half* p, __half v) { return hip_detail::add_small(p, v); }
__HIP_DEVICE_FN__ __half2 unsafeAtomicAdd(__half2* address, __half2 value) {
#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
  return __half2(__builtin_amdgcn_flat_atomic_fadd_v2f16(
      (__attribute__((address_space(0))) __hip_half_vector*)address, value.data));
#else
  return hip_detail::add_small_pair(address, value);
#endif
}
#endif
#undef H_FN
#endif
