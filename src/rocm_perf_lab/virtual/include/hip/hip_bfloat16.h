// hip_bfloat16: the older class of the same format.
#pragma once
#if defined(__clang__)
#pragma clang system_header
#endif

#include <hip/hip_bf16.h>

#if defined(__cplusplus)
struct hip_bfloat16 {
  unsigned short data;
  enum truncate_t { truncate };
  hip_bfloat16() = default;
  __HIP_HALF_FN__ explicit hip_bfloat16(float f) : data(__hip_float_to_bf16_bits(f)) {}
  __HIP_HALF_FN__ explicit hip_bfloat16(float f, truncate_t) : data(__hip_float_to_bf16_bits(f, 3)) {}
  __HIP_HALF_FN__ operator float() const { return __hip_bf16_bits_to_float(data); }
  __HIP_HALF_FN__ hip_bfloat16& operator=(const float& f) { data = __hip_float_to_bf16_bits(f); return *this; }
  static __HIP_HALF_FN__ hip_bfloat16 round_to_bfloat16(float f) { return hip_bfloat16(f); }
  static __HIP_HALF_FN__ hip_bfloat16 round_to_bfloat16(float f, truncate_t t) { return hip_bfloat16(f, t); }
};
#define __HIP_OLD_BF16__(OP)                                                                                   \
  __HIP_SMALL_FN__ hip_bfloat16 operator OP(hip_bfloat16 a, hip_bfloat16 b) { return hip_bfloat16((float)a OP (float)b); } \
  __HIP_SMALL_FN__ hip_bfloat16& operator OP##=(hip_bfloat16& a, hip_bfloat16 b) { return a = a OP b; }
__HIP_OLD_BF16__(+)
__HIP_OLD_BF16__(-)
__HIP_OLD_BF16__(*)
__HIP_OLD_BF16__(/)
#undef __HIP_OLD_BF16__
__HIP_SMALL_FN__ hip_bfloat16 operator-(hip_bfloat16 a) { a.data ^= 0x8000; return a; }
__HIP_SMALL_FN__ hip_bfloat16 operator+(hip_bfloat16 a) { return a; }
__HIP_SMALL_FN__ hip_bfloat16& operator++(hip_bfloat16& a) { return a += hip_bfloat16(1.0f); }
__HIP_SMALL_FN__ hip_bfloat16& operator--(hip_bfloat16& a) { return a -= hip_bfloat16(1.0f); }
__HIP_SMALL_FN__ hip_bfloat16 operator++(hip_bfloat16& a, int) { hip_bfloat16 old = a; ++a; return old; }
__HIP_SMALL_FN__ hip_bfloat16 operator--(hip_bfloat16& a, int) { hip_bfloat16 old = a; --a; return old; }
namespace std {
__HIP_SMALL_FN__ bool iszero(hip_bfloat16 a) { return !(a.data & 0x7fff); }
}  // namespace std
#else
typedef struct { unsigned short data; } hip_bfloat16;
#endif
