// What the lanes of a wave say to each other: votes, shuffles, matches, reductions.
#pragma once
#pragma clang system_header

#include <hip/detail/integer.h>

#define __F__ __HIP_DEVICE_FN__

__F__ unsigned __lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
__F__ unsigned __mbcnt_lo(unsigned mask, unsigned base) { return __builtin_amdgcn_mbcnt_lo(mask, base); }
__F__ unsigned __mbcnt_hi(unsigned mask, unsigned base) { return __builtin_amdgcn_mbcnt_hi(mask, base); }
__F__ unsigned long long __lanemask_eq() { return 1ull << __lane_id(); }
__F__ unsigned long long __lanemask_lt() { return __lanemask_eq() - 1; }
__F__ unsigned long long __lanemask_gt() { return ~(__lanemask_lt() | __lanemask_eq()); }

__F__ unsigned long long __ballot64(int predicate) { return __builtin_amdgcn_ballot_w64(predicate != 0); }
__F__ unsigned long long __ballot(int predicate) { return __ballot64(predicate); }
__F__ unsigned long long __activemask() { return __ballot64(1); }
__F__ int __any(int predicate) { return __ballot64(predicate) != 0; }
__F__ int __all(int predicate) { return __ballot64(predicate) == __activemask(); }

// Lanes of the wave run together; only the compiler has to be told.
__F__ void __syncwarp() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
template <typename M> __F__ void __syncwarp(M) { __syncwarp(); }

__F__ int __hip_move_to_lane(int dst, int x) { return __builtin_amdgcn_ds_permute(dst << 2, x); }

namespace hip_detail {
// A value of any trivially copyable type moves as 32-bit words.
template <typename T> __F__ T from_lane(T value, int lane) {
  constexpr int words = (int)((sizeof(T) + 3) / 4);
  int w[words] = {};
  __builtin_memcpy(w, &value, sizeof(T));
  for (int i = 0; i < words; ++i) w[i] = __builtin_amdgcn_ds_bpermute(lane << 2, w[i]);
  __builtin_memcpy(&value, w, sizeof(T));
  return value;
}
}  // namespace hip_detail

template <typename T> __F__ T __shfl(T value, int source, int width = warpSize) {
  int self = (int)__lane_id();
  return hip_detail::from_lane(value, (source & (width - 1)) + (self & ~(width - 1)));
}
template <typename T> __F__ T __shfl_up(T value, unsigned delta, int width = warpSize) {
  int self = (int)__lane_id(), lane = self - (int)delta;
  return hip_detail::from_lane(value, lane < (self & ~(width - 1)) ? self : lane);
}
template <typename T> __F__ T __shfl_down(T value, unsigned delta, int width = warpSize) {
  int self = (int)__lane_id();
  return hip_detail::from_lane(value, (int)((self & (width - 1)) + delta) >= width ? self : self + (int)delta);
}
template <typename T> __F__ T __shfl_xor(T value, int mask, int width = warpSize) {
  int self = (int)__lane_id(), lane = self ^ mask;
  return hip_detail::from_lane(value, lane >= ((self + width) & ~(width - 1)) ? self : lane);
}

// The _sync forms: the mask names the lanes that take part. All lanes named are active in a
// correct program, so the mask only matters where it selects.
template <typename M> __F__ unsigned long long __ballot_sync(M mask, int predicate) {
  return __ballot64(predicate) & (unsigned long long)mask;
}
template <typename M> __F__ int __any_sync(M mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
template <typename M> __F__ int __all_sync(M mask, int predicate) {
  return __ballot_sync(mask, predicate) == (unsigned long long)mask;
}
template <typename M, typename T> __F__ T __shfl_sync(M, T value, int source, int width = warpSize) { return __shfl(value, source, width); }
template <typename M, typename T> __F__ T __shfl_up_sync(M, T value, unsigned delta, int width = warpSize) { return __shfl_up(value, delta, width); }
template <typename M, typename T> __F__ T __shfl_down_sync(M, T value, unsigned delta, int width = warpSize) { return __shfl_down(value, delta, width); }
template <typename M, typename T> __F__ T __shfl_xor_sync(M, T value, int lanes, int width = warpSize) { return __shfl_xor(value, lanes, width); }

namespace hip_detail {
template <typename T> __F__ bool same_bits(T a, T b) {
  constexpr int words = (int)((sizeof(T) + 3) / 4);
  unsigned x[words] = {}, y[words] = {};
  __builtin_memcpy(x, &a, sizeof(T));
  __builtin_memcpy(y, &b, sizeof(T));
  bool same = true;
  for (int i = 0; i < words; ++i) same = same && x[i] == y[i];
  return same;
}
template <typename T> __F__ T first_lane(T value) {
  constexpr int words = (int)((sizeof(T) + 3) / 4);
  int w[words] = {};
  __builtin_memcpy(w, &value, sizeof(T));
  for (int i = 0; i < words; ++i) w[i] = __builtin_amdgcn_readfirstlane(w[i]);
  __builtin_memcpy(&value, w, sizeof(T));
  return value;
}
}  // namespace hip_detail

template <typename T> __F__ T __hip_readfirstlane(T value) { return hip_detail::first_lane(value); }
template <typename T> __F__ unsigned long long __match_any(T value) {
  unsigned long long result = 0;
  bool open = true;
  while (open) {  // one turn per distinct value
    T first = hip_detail::first_lane(value);
    if (hip_detail::same_bits(first, value)) {
      result = __activemask();
      open = false;
    }
  }
  return result;
}
template <typename T> __F__ unsigned long long __match_all(T value, int* predicate) {
  bool same = __all(hip_detail::same_bits(hip_detail::first_lane(value), value));
  *predicate = same;
  return same ? __activemask() : 0;
}
template <typename M, typename T> __F__ unsigned long long __match_any_sync(M mask, T value) {
  return __match_any(value) & (unsigned long long)mask;
}
template <typename M, typename T> __F__ unsigned long long __match_all_sync(M mask, T value, int* predicate) {
  bool same = ((unsigned long long)mask & ~__ballot64(hip_detail::same_bits(hip_detail::first_lane(value), value))) == 0;
  *predicate = same;
  return same ? (unsigned long long)mask : 0;
}

// Reductions over the lanes of a mask; different masks may be in use in one wave.
namespace hip_detail {
template <typename T, typename Op> __F__ T reduce_mask(unsigned long long mask, T value, Op op) {
  unsigned long long rest = mask;
  T total = from_lane(value, __builtin_ctzll(rest));
  for (rest &= rest - 1; rest; rest &= rest - 1) total = op(total, from_lane(value, __builtin_ctzll(rest)));
  return total;
}
}  // namespace hip_detail
#define __HIP_REDUCE__(NAME, EXPRESSION)                                     \
  template <typename M, typename T> __F__ T __reduce_##NAME##_sync(M mask, T value) { \
    return hip_detail::reduce_mask((unsigned long long)mask, value, [](T a, T b) { return (T)(EXPRESSION); }); \
  }
__HIP_REDUCE__(add, a + b)
__HIP_REDUCE__(min, b < a ? b : a)
__HIP_REDUCE__(max, a < b ? b : a)
__HIP_REDUCE__(and, a & b)
__HIP_REDUCE__(or, a | b)
__HIP_REDUCE__(xor, a ^ b)
#undef __HIP_REDUCE__

#define __hip_ds_bpermute(index, x) __builtin_amdgcn_ds_bpermute((int)(index), (int)(x))
#define __hip_ds_permute(index, x) __builtin_amdgcn_ds_permute((int)(index), (int)(x))
#define __hip_ds_bpermutef(index, x) __int_as_float(__builtin_amdgcn_ds_bpermute((int)(index), __float_as_int(x)))
#define __hip_ds_permutef(index, x) __int_as_float(__builtin_amdgcn_ds_permute((int)(index), __float_as_int(x)))
#define __hip_ds_swizzle(x, pattern) __builtin_amdgcn_ds_swizzle((int)(x), pattern)
#define __hip_ds_swizzlef(x, pattern) __int_as_float(__builtin_amdgcn_ds_swizzle(__float_as_int(x), pattern))
#define __hip_move_dpp(x, ctrl, row_mask, bank_mask, bound) \
  __builtin_amdgcn_mov_dpp((int)(x), ctrl, row_mask, bank_mask, bound)

template <int Pattern> __F__ int __hip_ds_swizzle_N(int x) { return __builtin_amdgcn_ds_swizzle(x, Pattern); }
template <int Pattern> __F__ float __hip_ds_swizzlef_N(float x) {
  return __int_as_float(__builtin_amdgcn_ds_swizzle(__float_as_int(x), Pattern));
}
template <int Control, int Rows, int Banks, bool Bound> __F__ int __hip_move_dpp_N(int x) {
  return __builtin_amdgcn_mov_dpp(x, Control, Rows, Banks, Bound);
}

#undef __F__
