// Whole numbers and bits: what C++ has no operator for. Branch-free where it is cheap, so that loops over
// lanes vectorise; so are the neighbours that include this.
#pragma once

#include "lane.h"

namespace gpu::GPU_EXEC_NS {

inline u32 umin(u32 a, u32 b) { return a < b ? a : b; }
inline u32 umax(u32 a, u32 b) { return a > b ? a : b; }
inline i32 imin(i32 a, i32 b) { return a < b ? a : b; }
inline i32 imax(i32 a, i32 b) { return a > b ? a : b; }
inline i32 sat_i32(i64 x) { return x > kMostI32 ? kMostI32 : x < kLeastI32 ? kLeastI32 : i32(x); }
inline u32 sat_u32(u64 x) { return x > kMostU32 ? kMostU32 : u32(x); }
inline i32 sat_i16(i64 x) { return x > 32767 ? 32767 : x < -32768 ? -32768 : i32(x); }
inline u32 clamp_i16(i32 x) { return u32(x > 32767 ? 32767 : x < -32768 ? -32768 : x) & 0xffffu; }
inline i32 sext24(i32 a) { return i32(u32(a) << 8) >> 8; }
inline u32 pack16(u32 lo, u32 hi) { return (lo & 0xffffu) | (hi << 16); }
inline u64 pair(float lo, float hi) { return as_u32(lo) | (u64(as_u32(hi)) << 32); }

inline u64 bfe_u64(u64 a, u32 offset, u32 width, u32 bits) {
  if (width == 0) return 0;
  a >>= offset;
  return width >= bits ? a : a & ((u64(1) << width) - 1);
}
inline i64 bfe_i64(i64 a, u32 offset, u32 width, u32 bits) {
  if (width == 0) return 0;
  a >>= offset;
  if (width + offset >= bits || width >= 64) return a;
  return i64(u64(a) << (64 - width)) >> (64 - width);
}
inline i32 bfe_i32(i32 a, u32 offset, u32 width) {
  const i32 x = a >> offset;
  const u32 up = offset + width >= 32 ? 0 : (32 - width) & 31;
  return width == 0 ? 0 : i32(u32(x) << up) >> up;
}

inline u32 reverse32(u32 x) {
  x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
  x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
  x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
  x = ((x >> 8) & 0x00ff00ffu) | ((x & 0x00ff00ffu) << 8);
  return (x >> 16) | (x << 16);
}
inline u32 popcount32(u32 x) {
  x -= (x >> 1) & 0x55555555u;
  x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
  x = (x + (x >> 4)) & 0x0f0f0f0fu;
  return (x * 0x01010101u) >> 24;
}
inline u32 first_high(u32 x) { return x ? u32(__builtin_clz(x)) : ~0u; }
inline u32 first_low(u32 x) { return x ? u32(__builtin_ctz(x)) : ~0u; }
inline u64 quads_any(u64 a) { return (a | (a >> 1) | (a >> 2) | (a >> 3)) & 0x1111111111111111ull; }
inline u64 whole_quads(u64 a) { return quads_any(a) * 15; }
inline u64 quad_mask(u64 a) {
  u64 q = quads_any(a), r = 0;
  for (int n = 0; n < 16; ++n) r |= ((q >> (4 * n)) & 1) << n;
  return r;
}
inline u64 spread_bits(u32 a) {
  u64 r = 0;
  for (int n = 0; n < 32; ++n) r |= u64((a >> n) & 1) << (2 * n);
  return r;
}

inline u64 mad_u64(u32 a, u32 b, u64 c, bool& carry) {
  const u64 r = u64(a) * b + c;
  carry = r < c;
  return r;
}
inline i64 mad_i64(i32 a, i32 b, i64 c, bool& carry) {
  i64 r = 0;
  carry = __builtin_add_overflow(i64(a) * b, c, &r);
  return r;
}

// Conditions as words of ones: what is chosen with them stays free of branches.
template <class M>
inline M ones(bool when) {
  return when ? ~M(0) : M(0);
}
template <class M>
inline M choose(M when, M x, M y) {
  return (x & when) | (y & ~when);
}

// A sum with its carry, a difference with its borrow (a word of ones). Op::f has both in 33 bits; which of the
// three it is, is all there is to know: in words they are quicker.
struct Sum {
  u32 value, carry;
};
template <class Op>
inline constexpr bool kAdds = Op::f(1, 1, 0) == 2;
template <class Op>
inline Sum sum_of(u32 a, u32 b, u32 k) {
  constexpr bool swapped = !kAdds<Op> && Op::f(0, 1, 0) == 1;
  const u32 x = swapped ? b : a, y = swapped ? a : b;
  const u32 s = kAdds<Op> ? x + y : x - y, r = kAdds<Op> ? s + k : s - k;
  const u32 first = kAdds<Op> ? s < x : x < y, second = kAdds<Op> ? r < s : s < k;
  return {r, u32(0) - (first | second)};
}

}  // namespace gpu::GPU_EXEC_NS
