// Rows of registers to and from memory, eight lanes at a time: whole vectors where the lanes'
// addresses follow each other or are one, assembled in registers otherwise, so that what reads the
// row next finds it in one piece.
#pragma once

#include "salu.h"

namespace gpu::GPU_EXEC_NS {

// Lane l of `mask` goes to base + offset[l].
struct Place {
  u8* base;
  const u32* offset;
  u64 mask;
  bool row = false;  // all 64 lanes, one element after the other
};

// Element types of loads and stores: size in memory, what a lane's register becomes, and what of it is
// stored.
struct e_u32 {
  static constexpr u32 size = 4;
  static u32 value(const u8* p) {
    u32 v;
    memcpy(&v, p, 4);
    return v;
  }
  static void store(u8* p, u32 v) { memcpy(p, &v, 4); }
#if defined(__AVX2__)
  static __m256i eight(const u8* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static void store_eight(u8* p, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
#endif
};
template <class T>
struct e_small {
  static constexpr u32 size = sizeof(T);
  static u32 value(const u8* p) {
    T v;
    memcpy(&v, p, sizeof v);
    return u32(i32(v));
  }
  static void store(u8* p, u32 v) {
    const T t = T(v);
    memcpy(p, &t, sizeof t);
  }
#if defined(__AVX2__)
  static __m256i eight(const u8* p) {
    const auto* from = reinterpret_cast<const __m128i*>(p);
    if constexpr (sizeof(T) == 1) {
      const __m128i v = _mm_loadl_epi64(from);
      return std::is_signed_v<T> ? _mm256_cvtepi8_epi32(v) : _mm256_cvtepu8_epi32(v);
    } else {
      const __m128i v = _mm_loadu_si128(from);
      return std::is_signed_v<T> ? _mm256_cvtepi16_epi32(v) : _mm256_cvtepu16_epi32(v);
    }
  }
  static void store_eight(u8* p, __m256i v) {
    const __m256i low = _mm256_and_si256(v, _mm256_set1_epi32(sizeof(T) == 1 ? 0xff : 0xffff));
    const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    auto* to = reinterpret_cast<__m128i*>(p);
    if constexpr (sizeof(T) == 1) _mm_storel_epi64(to, _mm_packus_epi16(words, words));
    else _mm_storeu_si128(to, words);
  }
#endif
};
using e_u8 = e_small<u8>;
using e_i8 = e_small<i8>;
using e_u16 = e_small<u16>;
using e_i16 = e_small<i16>;
// d16: one half of the register. The other becomes 0, since registers with ECC, which these GPUs have,
// are written whole (the ISA manual describes those without; LLVM calls it d16PreservesUnusedBits).
template <class E>
struct e_low {
  static constexpr u32 size = E::size;
  static u32 value(const u8* p) { return E::value(p) & 0xffffu; }
  static void store(u8* p, u32 v) { E::store(p, v); }
#if defined(__AVX2__)
  static __m256i eight(const u8* p) { return _mm256_and_si256(E::eight(p), _mm256_set1_epi32(0xffff)); }
  static void store_eight(u8* p, __m256i v) { E::store_eight(p, v); }
#endif
};
template <class E>
struct e_high {
  static constexpr u32 size = E::size;
  static u32 value(const u8* p) { return E::value(p) << 16; }
  static void store(u8* p, u32 v) { E::store(p, v >> 16); }
#if defined(__AVX2__)
  static __m256i eight(const u8* p) { return _mm256_slli_epi32(E::eight(p), 16); }
  static void store_eight(u8* p, __m256i v) { E::store_eight(p, _mm256_srli_epi32(v, 16)); }
#endif
};
using e_u8_lo = e_low<e_u8>;
using e_i8_lo = e_low<e_i8>;
using e_u16_lo = e_low<e_u16>;
using e_u8_hi = e_high<e_u8>;
using e_i8_hi = e_high<e_i8>;
using e_u16_hi = e_high<e_u16>;

// Two or four aligned words of a lane are one access, as on hardware: what another workgroup writes
// with one instruction (a flag beside its value) is seen whole or not at all. Volatile, since a
// compiler may otherwise read the halves apart.
typedef u64 two_words __attribute__((aligned(1), may_alias));
typedef u32 four_words __attribute__((vector_size(16), aligned(1), may_alias));

template <class E, int kRegs>
inline void load_lane(u32* d, const u8* p, int l) {
  if constexpr (kRegs == 1) {
    d[l] = E::value(p);
  } else if constexpr (kRegs == 4) {
    const four_words v = *reinterpret_cast<const volatile four_words*>(p);
    for (int r = 0; r < 4; ++r) d[64 * r + l] = v[r];
  } else {
    const u64 v = *reinterpret_cast<const volatile two_words*>(p);
    d[l] = u32(v);
    d[64 + l] = u32(v >> 32);
    if constexpr (kRegs == 3) d[128 + l] = e_u32::value(p + 8);
  }
}
template <class E, int kRegs>
inline void store_lane(const u32* s, u8* p, int l) {
  if constexpr (kRegs == 1) {
    E::store(p, s[l]);
  } else if constexpr (kRegs == 4) {
    *reinterpret_cast<volatile four_words*>(p) = four_words{s[l], s[64 + l], s[128 + l], s[192 + l]};
  } else {
    *reinterpret_cast<volatile two_words*>(p) = s[l] | u64(s[64 + l]) << 32;
    if constexpr (kRegs == 3) e_u32::store(p + 8, s[128 + l]);
  }
}

#if defined(__AVX2__)
inline __m256i row_part(const u32* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
inline void row_part(u32* p, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
inline bool none(__m256i v) { return _mm256_testz_si256(v, v); }

// How the addresses of eight lanes lie: one after the other, all the same, or anyhow.
enum class Pattern { Row, One, Any };
template <u32 kSize>
inline Pattern pattern(const u32* o) {
  const __m256i step = _mm256_sub_epi32(row_part(o), _mm256_set1_epi32(int(o[0])));
  const __m256i row = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(kSize));
  if (none(_mm256_xor_si256(step, row))) return Pattern::Row;
  return none(step) ? Pattern::One : Pattern::Any;
}

// Eight lanes of up to four words each; the lanes' words become rows.
template <int kRegs>
inline void load_eight(u32* d, const u8* base, const u32* o) {
  const auto at = [&](int n) { return reinterpret_cast<const __m128i*>(base + o[n]); };
  if constexpr (kRegs == 2) {
    const auto two = [&](int n) {
      const __m128d low = _mm_load_sd(reinterpret_cast<const double*>(at(n)));
      return _mm_castpd_ps(_mm_loadh_pd(low, reinterpret_cast<const double*>(at(n + 1))));
    };
    const __m256 x = _mm256_set_m128(two(4), two(0)), y = _mm256_set_m128(two(6), two(2));
    row_part(d, _mm256_castps_si256(_mm256_shuffle_ps(x, y, 0x88)));
    row_part(d + 64, _mm256_castps_si256(_mm256_shuffle_ps(x, y, 0xdd)));
  } else {
    const auto four = [&](int n) {
      if constexpr (kRegs == 4) return _mm_loadu_si128(at(n));
      else return _mm_insert_epi32(_mm_loadl_epi64(at(n)), int(e_u32::value(base + o[n] + 8)), 2);
    };
    const auto pair = [&](int n) { return _mm256_inserti128_si256(_mm256_castsi128_si256(four(n)), four(n + 4), 1); };
    const __m256i x = pair(0), y = pair(1), z = pair(2), w = pair(3);
    const __m256i xy = _mm256_unpacklo_epi32(x, y), zw = _mm256_unpacklo_epi32(z, w);
    const __m256i XY = _mm256_unpackhi_epi32(x, y), ZW = _mm256_unpackhi_epi32(z, w);
    row_part(d, _mm256_unpacklo_epi64(xy, zw));
    row_part(d + 64, _mm256_unpackhi_epi64(xy, zw));
    row_part(d + 128, _mm256_unpacklo_epi64(XY, ZW));
    if constexpr (kRegs == 4) row_part(d + 192, _mm256_unpackhi_epi64(XY, ZW));
  }
}
template <int kRegs>
inline void store_eight(const u32* s, u8* base, const u32* o) {
  const auto at = [&](int n) { return reinterpret_cast<__m128i*>(base + o[n]); };
  if constexpr (kRegs == 2) {
    const __m256i lo = row_part(s), hi = row_part(s + 64);
    const __m256i x = _mm256_unpacklo_epi32(lo, hi), y = _mm256_unpackhi_epi32(lo, hi);
    const auto two = [&](int n, __m128i v) {
      _mm_storel_epi64(at(n), v);
      _mm_storeh_pd(reinterpret_cast<double*>(at(n + 1)), _mm_castsi128_pd(v));
    };
    two(0, _mm256_castsi256_si128(x)), two(2, _mm256_castsi256_si128(y));
    two(4, _mm256_extracti128_si256(x, 1)), two(6, _mm256_extracti128_si256(y, 1));
  } else {
    const __m256i a = row_part(s), b = row_part(s + 64), c = row_part(s + 128);
    const __m256i d = kRegs == 4 ? row_part(s + 192) : c;
    const __m256i ab = _mm256_unpacklo_epi32(a, b), cd = _mm256_unpacklo_epi32(c, d);
    const __m256i AB = _mm256_unpackhi_epi32(a, b), CD = _mm256_unpackhi_epi32(c, d);
    const __m256i lanes[4] = {_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd),
                              _mm256_unpacklo_epi64(AB, CD), _mm256_unpackhi_epi64(AB, CD)};
    for (int n = 0; n < 8; ++n) {
      const __m128i v = n < 4 ? _mm256_castsi256_si128(lanes[n]) : _mm256_extracti128_si256(lanes[n & 3], 1);
      if constexpr (kRegs == 4) {
        _mm_storeu_si128(at(n), v);
      } else {
        _mm_storel_epi64(at(n), v);
        e_u32::store(base + o[n] + 8, u32(_mm_extract_epi32(v, 2)));
      }
    }
  }
}

template <class E, int kRegs>
inline void load_part(u32* d, const u8* base, const u32* o) {
  if constexpr (kRegs > 1) {
    load_eight<kRegs>(d, base, o);
  } else {
    const auto one = [&](int n) { return int(E::value(base + o[n])); };
    __m256i v;
    switch (pattern<E::size>(o)) {
      case Pattern::Row: v = E::eight(base + o[0]); break;
      case Pattern::One: v = _mm256_set1_epi32(one(0)); break;
      default: v = _mm256_setr_epi32(one(0), one(1), one(2), one(3), one(4), one(5), one(6), one(7)); break;
    }
    row_part(d, v);
  }
}
template <class E, int kRegs>
inline void store_part(const u32* s, u8* base, const u32* o) {
  if constexpr (kRegs > 1) {
    store_eight<kRegs>(s, base, o);
  } else if (pattern<E::size>(o) == Pattern::Row) {
    E::store_eight(base + o[0], row_part(s));
  } else {
    for (int n = 0; n < 8; ++n) E::store(base + o[n], s[n]);
  }
}
#else
template <class E, int kRegs>
inline void load_part(u32* d, const u8* base, const u32* o) {
  for (int n = 0; n < 8; ++n) load_lane<E, kRegs>(d, base + o[n], n);
}
template <class E, int kRegs>
inline void store_part(const u32* s, u8* base, const u32* o) {
  for (int n = 0; n < 8; ++n) store_lane<E, kRegs>(s, base + o[n], n);
}
#endif

// The destination may be the row of offsets: eight lanes' offsets are read before their results
// are written.
template <class E, int kRegs>
GPU_NOINLINE void load_rows(u32* d, Place p) {
#if defined(__AVX2__)
  if constexpr (kRegs == 1) {
    if (p.row) {
      const u8* from = p.base + p.offset[0];
      for (u32 n = 0; n < 64; n += 8) row_part(d + n, E::eight(from + n * E::size));
      return;
    }
  }
#endif
  for (int n = 0; n < 64; n += 8) {
    const u32 part = u32(p.mask >> n) & 255;
    if (GPU_LIKELY(part == 255)) {
      load_part<E, kRegs>(d + n, p.base, p.offset + n);
    } else {
      for (u32 m = part; m; m &= m - 1) {
        const int l = n + __builtin_ctz(m);
        load_lane<E, kRegs>(d, p.base + p.offset[l], l);
      }
    }
  }
}
// Lanes store in order: where two name one address, the last one stays.
template <class E, int kRegs>
GPU_NOINLINE void store_rows(const u32* s, Place p) {
#if defined(__AVX2__)
  if constexpr (kRegs == 1) {
    if (p.row) {
      u8* to = p.base + p.offset[0];
      for (u32 n = 0; n < 64; n += 8) E::store_eight(to + n * E::size, row_part(s + n));
      return;
    }
  }
#endif
  for (int n = 0; n < 64; n += 8) {
    const u32 part = u32(p.mask >> n) & 255;
    if (GPU_LIKELY(part == 255)) {
      store_part<E, kRegs>(s + n, p.base, p.offset + n);
    } else {
      for (u32 m = part; m; m &= m - 1) {
        const int l = n + __builtin_ctz(m);
        store_lane<E, kRegs>(s, p.base + p.offset[l], l);
      }
    }
  }
}

// What the lanes of an access must satisfy for it to be a Place.
struct Bounds {
  u32 low, room;               // offset - low <= room
  u32 odd = 0;                 // no offset has one of these bits
  const u32* high = nullptr;   // a row of high words, all equal to `same`
  u32 same = 0;
};
// Sets p.row for elements of `size` bytes.
inline bool rows_within(Wave& w, Place& p, u32 size, const Bounds& b) {
  const bool all = p.mask == ~u64(0);
  const u32* on = all ? nullptr : mask_row(w, p.mask);
#if defined(__AVX2__)
  const __m256i low = _mm256_set1_epi32(int(b.low)), room = _mm256_set1_epi32(int(b.room)),
                odd = _mm256_set1_epi32(int(b.odd));
  const __m256i same = _mm256_set1_epi32(int(b.same)), step = _mm256_set1_epi32(int(8 * size));
  const __m256i count = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(int(size)));
  __m256i expected = _mm256_add_epi32(_mm256_set1_epi32(int(p.offset[0])), count);
  __m256i bad = _mm256_setzero_si256(), astray = bad;
  for (int n = 0; n < 64; n += 8, expected = _mm256_add_epi32(expected, step)) {
    const __m256i o = row_part(p.offset + n);
    __m256i wrong = _mm256_xor_si256(_mm256_max_epu32(_mm256_sub_epi32(o, low), room), room);
    if (b.high) wrong = _mm256_or_si256(wrong, _mm256_xor_si256(row_part(b.high + n), same));
    wrong = _mm256_or_si256(wrong, _mm256_and_si256(o, odd));
    if (!all) wrong = _mm256_and_si256(wrong, row_part(on + n));
    bad = _mm256_or_si256(bad, wrong);
    astray = _mm256_or_si256(astray, _mm256_xor_si256(o, expected));
  }
  p.row = all && none(astray);
  return none(bad);
#else
  (void)size;
  u32 bad = 0;
  for (int l = 0; l < 64; ++l) {
    const u32 wrong = u32(p.offset[l] - b.low > b.room) | (b.high ? b.high[l] ^ b.same : 0) | (p.offset[l] & b.odd);
    bad |= all ? wrong : wrong & on[l];
  }
  return bad == 0;
#endif
}

}  // namespace gpu::GPU_EXEC_NS
