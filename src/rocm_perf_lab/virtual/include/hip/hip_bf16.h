// __hip_bfloat16 and its pair. Arithmetic is float's, rounded once to nearest even.
#pragma once
#if defined(__clang__)
#pragma clang system_header
#endif

#include <hip/hip_fp16.h>

#if defined(__cplusplus)
struct __hip_bfloat16_raw { unsigned short x; };
struct __hip_bfloat162_raw { unsigned short x, y; };
#define H_FN __HIP_SMALL_FN__

#define HIPRT_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define HIPRT_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define HIPRT_ONE_BF16 __ushort_as_bfloat16(0x3f80)
#define HIPRT_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define HIPRT_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define HIPRT_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define HIPRT_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)

struct __attribute__((aligned(2))) __hip_bfloat16 {
  unsigned short __x;
  __hip_bfloat16() = default;
  __HIP_HALF_FN__ __hip_bfloat16(const __hip_bfloat16_raw& r) : __x(r.x) {}
  template <typename T, typename hip_detail::enable_if<hip_detail::is_number<T>::value, int>::type = 0>
  __HIP_HALF_FN__ __hip_bfloat16(T v) : __x(__hip_float_to_bf16_bits(hip_detail::to_odd(v))) {}
  __HIP_HALF_FN__ __hip_bfloat16(const __half& h) : __x(__hip_float_to_bf16_bits(__hip_half_value(h))) {}
#if defined(__HIP__)
  __HIP_HALF_FN__ __hip_bfloat16(__bf16 v) { __builtin_memcpy(&__x, &v, 2); }
  __HIP_HALF_FN__ explicit operator __bf16() const { __bf16 v; __builtin_memcpy(&v, &__x, 2); return v; }
#endif
  __HIP_HALF_FN__ __hip_bfloat16& operator=(const __hip_bfloat16_raw& r) { __x = r.x; return *this; }
  __HIP_HALF_FN__ operator __hip_bfloat16_raw() const { __hip_bfloat16_raw r; r.x = __x; return r; }
  __HIP_HALF_FN__ operator __hip_bfloat16_raw() const volatile { __hip_bfloat16_raw r; r.x = __x; return r; }
  __HIP_HALF_FN__ volatile __hip_bfloat16& operator=(const __hip_bfloat16_raw& r) volatile { __x = r.x; return *this; }
  __HIP_HALF_FN__ volatile __hip_bfloat16& operator=(const volatile __hip_bfloat16_raw& r) volatile { __x = r.x; return *this; }
  __HIP_HALF_FN__ operator float() const { return __hip_bf16_bits_to_float(__x); }
#define __HIP_BF16_TO__(T) __HIP_HALF_FN__ explicit operator T() const { return (T)__hip_bf16_bits_to_float(__x); }
  __HIP_BF16_TO__(double) __HIP_BF16_TO__(bool) __HIP_BF16_TO__(char) __HIP_BF16_TO__(signed char)
  __HIP_BF16_TO__(unsigned char) __HIP_BF16_TO__(short) __HIP_BF16_TO__(unsigned short) __HIP_BF16_TO__(int)
  __HIP_BF16_TO__(unsigned) __HIP_BF16_TO__(long) __HIP_BF16_TO__(unsigned long) __HIP_BF16_TO__(long long)
  __HIP_BF16_TO__(unsigned long long)
#undef __HIP_BF16_TO__
};
H_FN float __hip_bf16_value(__hip_bfloat16 a) { return __hip_bf16_bits_to_float(a.__x); }
H_FN __hip_bfloat16 __hip_bf16_from_bits(unsigned short b) { __hip_bfloat16_raw r; r.x = b; return __hip_bfloat16(r); }
H_FN __hip_bfloat16 __hip_bf16_from(float f) { return __hip_bf16_from_bits(__hip_float_to_bf16_bits(f)); }

#if defined(__HIP__)
typedef __bf16 __bf16_2 __attribute__((ext_vector_type(2)));
#endif
struct __attribute__((aligned(4))) __hip_bfloat162 {
  __hip_bfloat16 x, y;
  __hip_bfloat162() = default;
  __HIP_HALF_FN__ __hip_bfloat162(const __hip_bfloat16& a, const __hip_bfloat16& b) : x(a), y(b) {}
  __HIP_HALF_FN__ __hip_bfloat162(const __hip_bfloat162_raw& r) : x(__hip_bf16_from_bits(r.x)), y(__hip_bf16_from_bits(r.y)) {}
  __HIP_HALF_FN__ __hip_bfloat162& operator=(const __hip_bfloat162_raw& r) { return *this = __hip_bfloat162(r); }
  __HIP_HALF_FN__ operator __hip_bfloat162_raw() const { __hip_bfloat162_raw r; r.x = x.__x; r.y = y.__x; return r; }
  __HIP_HALF_FN__ operator float2() const { return float2((float)x, (float)y); }
#if defined(__HIP__)
  __HIP_HALF_FN__ __hip_bfloat162(__bf16_2 v) { __builtin_memcpy(this, &v, 4); }
  __HIP_HALF_FN__ __hip_bfloat162& operator=(__bf16_2 v) { __builtin_memcpy(this, &v, 4); return *this; }
  __HIP_HALF_FN__ operator __bf16_2() const { __bf16_2 v; __builtin_memcpy(&v, this, 4); return v; }
#endif
};

#define H __hip_bfloat16
#define H2 __hip_bfloat162
#define H_TO(v) __hip_bf16_value(v)
#define H_FROM(f) __hip_bf16_from(f)
#define H_OP(a, op, b) H_FROM(H_TO(a) op H_TO(b))
#define H_FMA(a, b, c) H_FROM(__builtin_fmaf(H_TO(a), H_TO(b), H_TO(c)))
#define H_INFINITE int
#include <hip/detail/small_float_ops.h>
#undef H
#undef H2
#undef H_TO
#undef H_FROM
#undef H_OP
#undef H_FMA
#undef H_INFINITE

H_FN float __bfloat162float(__hip_bfloat16 a) { return __hip_bf16_value(a); }
H_FN __hip_bfloat16 __float2bfloat16(float f) { return __hip_bf16_from(f); }
H_FN __hip_bfloat16 __float2bfloat16_rn(float f) { return __hip_bf16_from(f); }
H_FN __hip_bfloat16 __float2bfloat16_rz(float f) { return __hip_bf16_from_bits(__hip_float_to_bf16_bits(f, 3)); }
H_FN __hip_bfloat16 __float2bfloat16_ru(float f) { return __hip_bf16_from_bits(__hip_float_to_bf16_bits(f, 1)); }
H_FN __hip_bfloat16 __float2bfloat16_rd(float f) { return __hip_bf16_from_bits(__hip_float_to_bf16_bits(f, 2)); }
H_FN __hip_bfloat16 __double2bfloat16(double d) { return __hip_bfloat16(d); }
H_FN __hip_bfloat162 make_bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat162(a, b); }
H_FN __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 a) { return __hip_bfloat162(a, a); }
H_FN __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat162(a, b); }
H_FN __hip_bfloat162 __float2bfloat162_rn(float f) { return __hip_bfloat162(__hip_bf16_from(f), __hip_bf16_from(f)); }
H_FN __hip_bfloat162 __floats2bfloat162_rn(float a, float b) { return __hip_bfloat162(__hip_bf16_from(a), __hip_bf16_from(b)); }
H_FN __hip_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
H_FN float2 __bfloat1622float2(__hip_bfloat162 v) { return float2((float)v.x, (float)v.y); }
H_FN float __low2float(__hip_bfloat162 v) { return (float)v.x; }
H_FN float __high2float(__hip_bfloat162 v) { return (float)v.y; }
H_FN __hip_bfloat16 __low2bfloat16(__hip_bfloat162 v) { return v.x; }
H_FN __hip_bfloat16 __high2bfloat16(__hip_bfloat162 v) { return v.y; }
H_FN __hip_bfloat162 __low2bfloat162(__hip_bfloat162 v) { return __hip_bfloat162(v.x, v.x); }
H_FN __hip_bfloat162 __high2bfloat162(__hip_bfloat162 v) { return __hip_bfloat162(v.y, v.y); }
H_FN __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return __hip_bfloat162(a.x, b.x); }
H_FN __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return __hip_bfloat162(a.y, b.y); }
H_FN __hip_bfloat162 __lowhigh2highlow(__hip_bfloat162 v) { return __hip_bfloat162(v.y, v.x); }
H_FN short __bfloat16_as_short(__hip_bfloat16 a) { return (short)a.__x; }
H_FN unsigned short __bfloat16_as_ushort(__hip_bfloat16 a) { return a.__x; }
H_FN __hip_bfloat16 __short_as_bfloat16(short s) { return __hip_bf16_from_bits((unsigned short)s); }
H_FN __hip_bfloat16 __ushort_as_bfloat16(unsigned short s) { return __hip_bf16_from_bits(s); }
#define __HIP_BF16_INTEGER__(NAME, T)                                                                  \
  H_FN T __bfloat162##NAME##_rn(__hip_bfloat16 a) { return (T)__builtin_rintf((float)a); }             \
  H_FN T __bfloat162##NAME##_rz(__hip_bfloat16 a) { return (T)(float)a; }                              \
  H_FN T __bfloat162##NAME##_rd(__hip_bfloat16 a) { return (T)__builtin_floorf((float)a); }            \
  H_FN T __bfloat162##NAME##_ru(__hip_bfloat16 a) { return (T)__builtin_ceilf((float)a); }             \
  H_FN __hip_bfloat16 __##NAME##2bfloat16_rn(T v) { return __hip_bfloat16(v); }
__HIP_BF16_INTEGER__(int, int)
__HIP_BF16_INTEGER__(uint, unsigned)
__HIP_BF16_INTEGER__(short, short)
__HIP_BF16_INTEGER__(ushort, unsigned short)
__HIP_BF16_INTEGER__(ll, long long)
__HIP_BF16_INTEGER__(ull, unsigned long long)
#undef __HIP_BF16_INTEGER__
H_FN signed char __bfloat162char_rz(__hip_bfloat16 a) { return (signed char)(float)a; }
H_FN unsigned char __bfloat162uchar_rz(__hip_bfloat16 a) { return (unsigned char)(float)a; }
#if defined(__HIP__)
__HIP_DEVICE_FN__ __hip_bfloat16 atomicAdd(__hip_bfloat16* p, __hip_bfloat16 v) { return hip_detail::add_small(p, v); }
__HIP_DEVICE_FN__ __hip_bfloat162 atomicAdd(__hip_bfloat162* p, __hip_bfloat162 v) { return hip_detail::add_small_pair(p, v); }
__HIP_DEVICE_FN__ __hip_bfloat16 unsafeAtomicAdd(__hip_bfloat16* p, __hip_bfloat16 v) { return hip_detail::add_small(p, v); }
__HIP_DEVICE_FN__ __hip_bfloat162 unsafeAtomicAdd(__hip_bfloat162* p, __hip_bfloat162 v) { return hip_detail::add_small_pair(p, v); }
#endif
#undef H_FN
#endif
