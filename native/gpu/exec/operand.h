// Operands of vector instructions: fetching sources as rows, masks, and writing results back.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <cstring>
#include <type_traits>

#include "../exec.h"
#include "division.h"
#include "modifiers.h"
#include "packed.h"
#include "scalars.h"
#include "transcendentals.h"

namespace gpu::GPU_EXEC_NS {

inline u32* row(Wave& w, u32 n) { return w.vgpr[n]; }
inline const u32* at(const Wave& w, const Source& s) {
  const uintptr_t base = s.kind == Source::Constant ? 0 : reinterpret_cast<uintptr_t>(&w);
  return reinterpret_cast<const u32*>(base + s.at);
}

// memcpy of this size would be a call.
inline void copy_row(u32* to, const u32* from) {
#if defined(__AVX2__)
  __m256i part[8];
  for (int n = 0; n < 8; ++n) part[n] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 8 * n));
  for (int n = 0; n < 8; ++n) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 8 * n), part[n]);
#else
  memcpy(to, from, 256);
#endif
}
inline void splat(u32* row, u32 value) { GPU_LANES row[l] = value; }

// A mask as a row of all-ones / zero words, and back.
inline void expand(u64 mask, u32* out) {
#if defined(__AVX2__)
  __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  const __m256i low = _mm256_set1_epi32(int(mask)), high = _mm256_set1_epi32(int(mask >> 32));
  for (int n = 0; n < 4; ++n, bit = _mm256_slli_epi32(bit, 8)) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8 * n), _mm256_cmpeq_epi32(_mm256_and_si256(low, bit), bit));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 32 + 8 * n),
                        _mm256_cmpeq_epi32(_mm256_and_si256(high, bit), bit));
  }
#else
  for (int l = 0; l < 64; ++l) out[l] = u32(0) - u32((mask >> l) & 1);
#endif
}
inline u64 collect(const u32* in) {
  u64 mask = 0;
#if defined(__AVX2__)
  for (int n = 0; n < 8; ++n) {
    const __m256 v = _mm256_loadu_ps(reinterpret_cast<const float*>(in + 8 * n));
    mask |= u64(u32(_mm256_movemask_ps(v))) << (8 * n);
  }
#else
  for (int l = 0; l < 64; ++l) mask |= u64(in[l] >> 31) << l;
#endif
  return mask;
}
inline const u32* mask_row(Wave& w, u64 mask) {
  if (GPU_UNLIKELY(!w.mask_valid || w.mask_exec != mask)) {
    expand(mask, w.mask_row);
    w.mask_exec = mask;
    w.mask_valid = true;
  }
  return w.mask_row;
}
inline void blend(Wave& w, u32* dst, const u32* src, u64 mask) {
  if (mask == ~u64(0)) {
    copy_row(dst, src);
    return;
  }
  const u32* m = mask_row(w, mask);
  GPU_LANES dst[l] = (src[l] & m[l]) | (dst[l] & ~m[l]);
}

// out[l] = data[from[l]], from below 64 and out apart from both.
inline void pick_lanes(const u32* data, const u32* from, u32* out) {
#if defined(__AVX2__)
  const auto part = [](const u32* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); };
  for (int n = 0; n < 64; n += 8) {
    const u32* f = from + n;
    const __m256i index = part(f), apart = _mm256_xor_si256(index, _mm256_set1_epi32(int(f[0])));
    const bool together = _mm256_testz_si256(apart, _mm256_set1_epi32(~7));  // within one eight of the source
    const __m256i v = together ? _mm256_permutevar8x32_epi32(part(data + (f[0] & ~7u)), index)
                               : _mm256_setr_epi32(int(data[f[0]]), int(data[f[1]]), int(data[f[2]]), int(data[f[3]]),
                                                   int(data[f[4]]), int(data[f[5]]), int(data[f[6]]), int(data[f[7]]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + n), v);
  }
#else
  for (int l = 0; l < 64; ++l) out[l] = data[from[l]];
#endif
}

inline u64 scalar_pair(const Wave& w, const Source& s) {
  const u32* p = at(w, s);
  return s.kind == Source::Constant ? p[0] | (u64(p[64]) << 32) : p[0] | (u64(p[1]) << 32);
}

// Room for the sources of one instruction once they must be computed.
struct Buffers {
  alignas(64) u32 src[3][128];
};

template <class T>
inline const u32* fetch(Wave& w, const Inst* i, int k, u32* room) {
  if constexpr (T::rows == 0) {
    return nullptr;
  } else {
    const Source& s = i->src[k];
    const u32* p = at(w, s);
    if (GPU_UNLIKELY(s.kind == Source::Scalar)) {
      splat(room, p[0]);
      if constexpr (T::rows == 2) splat(room + 64, p[1]);
      return room;
    }
    return p;
  }
}

// Results under EXEC.
void blend_rows(Wave& w, u32* dst, const u32* src, int rows);
// The general case: DPP, SDWA, op_sel, modifiers, special values. May clear lanes of `mask`.
const u32* prepare(Wave& w, const Inst* i, int k, Mod mod, int rows, u32* room, u64& mask);
inline const u32* source(Wave& w, const Inst* i, int k, Mod mod, int rows, u32* room, u64& mask) {
  if (rows == 0) return nullptr;
  return GPU_LIKELY(i->src[k].plain) ? at(w, i->src[k]) : prepare(w, i, k, mod, rows, room, mask);
}
// Modifiers of the result, then the write under `mask`. `out` is scratch.
void finish(Wave& w, const Inst* i, u32* out, Mod mod, int rows, u64 mask);

}  // namespace gpu::GPU_EXEC_NS
