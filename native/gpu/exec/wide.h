// 64-bit operands as 64-bit elements. A register pair is two rows of words; pairing them up is cheap
// where lanes may come in another order, and the order does not matter as long as every operand of
// an instruction has the same one.
#pragma once

#include "operand.h"

namespace gpu::GPU_EXEC_NS {

#if defined(__AVX2__)
inline constexpr bool kWide = true;

// In each eight: lanes 0, 1, 4, 5, 2, 3, 6, 7.
inline void pair_up(const u32* p, u32* out) {
  for (int n = 0; n < 64; n += 8) {
    const __m256i lo = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + n));
    const __m256i hi = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 64 + n));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 2 * n), _mm256_unpacklo_epi32(lo, hi));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 2 * n + 8), _mm256_unpackhi_epi32(lo, hi));
  }
}
inline void take_apart(const u32* in, u32* p) {
  for (int n = 0; n < 64; n += 8) {
    const __m256 x = _mm256_loadu_ps(reinterpret_cast<const float*>(in + 2 * n));
    const __m256 y = _mm256_loadu_ps(reinterpret_cast<const float*>(in + 2 * n + 8));
    _mm256_storeu_ps(reinterpret_cast<float*>(p + n), _mm256_shuffle_ps(x, y, 0x88));
    _mm256_storeu_ps(reinterpret_cast<float*>(p + 64 + n), _mm256_shuffle_ps(x, y, 0xdd));
  }
}
// A row of words into that order; the same again brings it back.
inline void reorder(const u32* p, u32* out) {
  for (int n = 0; n < 64; n += 8) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + n));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + n), _mm256_permute4x64_epi64(v, 0xd8));
  }
}
#else
inline constexpr bool kWide = false;
inline void pair_up(const u32*, u32*) {}
inline void take_apart(const u32*, u32*) {}
inline void reorder(const u32*, u32*) {}
#endif

template <class... T>
inline constexpr bool any_wide = kWide && ((T::rows == 2) || ...);

// An operand in that order, its lanes, and a result back from it.
template <class T>
inline const u32* wide_in(const u32* p, u32* room) {
  if constexpr (T::rows == 2) pair_up(p, room);
  else if constexpr (T::rows == 1) reorder(p, room);
  return room;
}
template <class T>
inline typename T::V wide_get(const u32* p, int l) {
  typedef u64 __attribute__((may_alias)) A;
  if constexpr (T::rows == 2) return __builtin_bit_cast(typename T::V, reinterpret_cast<const A*>(p)[l]);
  else return T::get(p, l);
}
template <class T>
inline void wide_put(u32* p, int l, typename T::V v) {
  typedef u64 __attribute__((may_alias)) A;
  if constexpr (T::rows == 2) reinterpret_cast<A*>(p)[l] = __builtin_bit_cast(u64, v);
  else T::put(p, l, v);
}
template <class T>
inline void wide_out(const u32* in, u32* p) {
  if constexpr (T::rows == 2) take_apart(in, p);
  else reorder(in, p);
}

}  // namespace gpu::GPU_EXEC_NS
