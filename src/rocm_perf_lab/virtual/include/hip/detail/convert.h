// Conversions between numbers with a stated rounding. Out-of-range values saturate, NaN gives 0,
// as the hardware's own conversion instructions do.
#pragma once
#pragma clang system_header

#include <hip/detail/integer.h>
#include <hip/detail/math.h>

#define __F__ __HIP_DEVICE_FN__

namespace hip_detail {
// A plain C++ cast of a value out of range is undefined; these are not.
template <typename To, typename From> __F__ To saturate(From x) {
  constexpr bool is_signed = (To)-1 < (To)0;
  constexpr int bits = (int)sizeof(To) * 8;
  const From limit = is_signed ? (From)(1ull << (bits - 2)) * 2 : (From)(1ull << (bits - 1)) * 2;
  if (x != x) return 0;
  if (x >= limit) return is_signed ? (To)(~(To)0 ^ ((To)1 << (bits - 1))) : (To)~(To)0;
  if (is_signed ? x < -limit : x <= (From)-1) return is_signed ? (To)((To)1 << (bits - 1)) : (To)0;
  return (To)x;
}
// Round an exact wider value to float in a direction.
__F__ float step(float x, bool up) {
  if (x == 0.0f) return __hip_bit_cast<float>(up ? 1u : 0x80000001u);
  unsigned b = __hip_bit_cast<unsigned>(x);
  return __hip_bit_cast<float>((x > 0.0f) == up ? b + 1 : b - 1);
}
__F__ double step(double x, bool up) {
  if (x == 0.0) return __hip_bit_cast<double>(up ? 1ull : 0x8000000000000001ull);
  unsigned long long b = __hip_bit_cast<unsigned long long>(x);
  return __hip_bit_cast<double>((x > 0.0) == up ? b + 1 : b - 1);
}
__F__ float round_down(double x) { float r = (float)x; return (double)r > x ? step(r, false) : r; }
__F__ float round_up(double x) { float r = (float)x; return (double)r < x ? step(r, true) : r; }
__F__ float round_zero(double x) { return x < 0.0 ? round_up(x) : round_down(x); }
template <typename F, typename I> __F__ int compare(F r, I x) {  // sign of r - x, exactly
  constexpr bool is_signed = (I)-1 < (I)0;
  const F limit = is_signed ? (F)9223372036854775808.0 : (F)18446744073709551616.0;
  if (r >= limit) return 1;
  I back = (I)r;
  return back < x ? -1 : back > x ? 1 : 0;
}
template <typename F, typename I> __F__ F integer_down(I x) { F r = (F)x; return compare(r, x) > 0 ? step(r, false) : r; }
template <typename F, typename I> __F__ F integer_up(I x) { F r = (F)x; return compare(r, x) < 0 ? step(r, true) : r; }
template <typename F, typename I> __F__ F integer_zero(I x) { return x < (I)0 ? integer_up<F>(x) : integer_down<F>(x); }
}  // namespace hip_detail

#define __HIP_TO_INTEGER__(FROM, F, TO, T, SUFFIX)                                                             \
  __F__ T __##FROM##2##TO##_rn(F x) { return hip_detail::saturate<T>(__builtin_rint##SUFFIX(x)); }             \
  __F__ T __##FROM##2##TO##_rz(F x) { return hip_detail::saturate<T>(__builtin_trunc##SUFFIX(x)); }            \
  __F__ T __##FROM##2##TO##_rd(F x) { return hip_detail::saturate<T>(__builtin_floor##SUFFIX(x)); }            \
  __F__ T __##FROM##2##TO##_ru(F x) { return hip_detail::saturate<T>(__builtin_ceil##SUFFIX(x)); }
__HIP_TO_INTEGER__(float, float, int, int, f)
__HIP_TO_INTEGER__(float, float, uint, unsigned, f)
__HIP_TO_INTEGER__(float, float, ll, long long, f)
__HIP_TO_INTEGER__(float, float, ull, unsigned long long, f)
__HIP_TO_INTEGER__(double, double, int, int, )
__HIP_TO_INTEGER__(double, double, uint, unsigned, )
__HIP_TO_INTEGER__(double, double, ll, long long, )
__HIP_TO_INTEGER__(double, double, ull, unsigned long long, )
#undef __HIP_TO_INTEGER__

#define __HIP_FROM_INTEGER__(FROM, T, TO, F)                                 \
  __F__ F __##FROM##2##TO##_rn(T x) { return (F)x; }                         \
  __F__ F __##FROM##2##TO##_rz(T x) { return hip_detail::integer_zero<F>((long long)x); } \
  __F__ F __##FROM##2##TO##_rd(T x) { return hip_detail::integer_down<F>((long long)x); } \
  __F__ F __##FROM##2##TO##_ru(T x) { return hip_detail::integer_up<F>((long long)x); }
__HIP_FROM_INTEGER__(int, int, float, float)
__HIP_FROM_INTEGER__(uint, unsigned, float, float)
__HIP_FROM_INTEGER__(ll, long long, float, float)
__HIP_FROM_INTEGER__(ll, long long, double, double)
#undef __HIP_FROM_INTEGER__
__F__ double __int2double_rn(int x) { return x; }
__F__ double __uint2double_rn(unsigned x) { return x; }
#define __HIP_FROM_ULL__(TO, F)                                              \
  __F__ F __ull2##TO##_rn(unsigned long long x) { return (F)x; }             \
  __F__ F __ull2##TO##_rz(unsigned long long x) { return hip_detail::integer_down<F>(x); } \
  __F__ F __ull2##TO##_rd(unsigned long long x) { return hip_detail::integer_down<F>(x); } \
  __F__ F __ull2##TO##_ru(unsigned long long x) { return hip_detail::integer_up<F>(x); }
__HIP_FROM_ULL__(float, float)
__HIP_FROM_ULL__(double, double)
#undef __HIP_FROM_ULL__
__F__ float __double2float_rn(double x) { return (float)x; }
__F__ float __double2float_rz(double x) { return hip_detail::round_zero(x); }
__F__ float __double2float_rd(double x) { return hip_detail::round_down(x); }
__F__ float __double2float_ru(double x) { return hip_detail::round_up(x); }

// CUDA's reinterpretations under their older names.
__F__ unsigned int float_as_uint(float x) { return __float_as_uint(x); }

#undef __F__
