// Several small numbers in a word: their sums, dot products, differences, bytes.
#pragma once

#include "integers.h"
#include "small_floats.h"

namespace gpu::GPU_EXEC_NS {

inline u32 sat_pk_u8(u32 a) {
  const i32 lo = i16(a), hi = i16(a >> 16);
  return u32(lo < 0 ? 0 : lo > 255 ? 255 : lo) | (u32(hi < 0 ? 0 : hi > 255 ? 255 : hi) << 8);
}
inline u32 pk_add_f16(u32 m, u32 x) {
  return pack16(f32_to_f16(f16_to_f32(m & 0xffff) + f16_to_f32(x & 0xffff)),
                f32_to_f16(f16_to_f32(m >> 16) + f16_to_f32(x >> 16)));
}
inline u32 pk_add_bf16(u32 m, u32 x) {
  return pack16(f32_to_bf16(bf16_to_f32(m & 0xffff) + bf16_to_f32(x & 0xffff)),
                f32_to_bf16(bf16_to_f32(m >> 16) + bf16_to_f32(x >> 16)));
}

inline float dot2_f16(u32 a, u32 b, float c) {
  const float lo = __builtin_fmaf(f16_to_f32(a & 0xffff), f16_to_f32(b & 0xffff), c);
  return __builtin_fmaf(f16_to_f32(a >> 16), f16_to_f32(b >> 16), lo);
}
inline i64 dot2_i16(u32 a, u32 b, i32 c) { return i64(i16(a)) * i16(b) + i64(i16(a >> 16)) * i16(b >> 16) + c; }
inline u64 dot2_u16(u32 a, u32 b, u32 c) { return u64(a & 0xffff) * (b & 0xffff) + u64(a >> 16) * (b >> 16) + c; }
inline i64 dot4_i8(u32 a, u32 b, i32 c) {
  i64 r = c;
  for (int n = 0; n < 32; n += 8) r += i32(i8(a >> n)) * i32(i8(b >> n));
  return r;
}
inline u64 dot4_u8(u32 a, u32 b, u32 c) {
  u64 r = c;
  for (int n = 0; n < 32; n += 8) r += ((a >> n) & 255) * ((b >> n) & 255);
  return r;
}
inline i64 dot8_i4(u32 a, u32 b, i32 c) {
  i64 r = c;
  for (int n = 0; n < 32; n += 4) r += (i32((a >> n) << 28) >> 28) * (i32((b >> n) << 28) >> 28);
  return r;
}
inline u64 dot8_u4(u32 a, u32 b, u32 c) {
  u64 r = c;
  for (int n = 0; n < 32; n += 4) r += ((a >> n) & 15) * ((b >> n) & 15);
  return r;
}

inline u32 sad_u8(u32 a, u32 b) {
  u32 r = 0;
  for (int n = 0; n < 32; n += 8) {
    const i32 d = i32((a >> n) & 255) - i32((b >> n) & 255);
    r += u32(d < 0 ? -d : d);
  }
  return r;
}
inline u32 msad_u8(u32 a, u32 b) {
  u32 r = 0;
  for (int n = 0; n < 32; n += 8) {
    const i32 y = i32((b >> n) & 255), d = i32((a >> n) & 255) - y;
    r += y ? u32(d < 0 ? -d : d) : 0;
  }
  return r;
}
inline u32 sad_u16(u32 a, u32 b) {
  const i32 lo = i32(a & 0xffff) - i32(b & 0xffff), hi = i32(a >> 16) - i32(b >> 16);
  return u32(lo < 0 ? -lo : lo) + u32(hi < 0 ? -hi : hi);
}
inline u64 qsad(u64 a, u32 b, u64 c, bool masked) {
  u64 r = 0;
  for (int n = 0; n < 4; ++n) {
    const u32 window = u32(a >> (8 * n));
    const u32 sum = (masked ? msad_u8(window, b) : sad_u8(window, b)) + u32((c >> (16 * n)) & 0xffff);
    r |= u64(sum & 0xffff) << (16 * n);
  }
  return r;
}
inline u32 lerp_u8(u32 a, u32 b, u32 c) {
  u32 r = 0;
  for (int n = 0; n < 32; n += 8) r |= ((((a >> n) & 255) + ((b >> n) & 255) + ((c >> n) & 1)) >> 1) << n;
  return r;
}
inline u32 perm_b32(u32 a, u32 b, u32 sel) {
  u32 r = 0;
  for (int n = 0; n < 32; n += 8) {
    const u32 s = (sel >> n) & 255;
    const u32 plain = ((s & 4 ? a : b) >> (8 * (s & 3))) & 255,
              sign = ((s & 2 ? a : b) >> (s & 1 ? 31 : 15)) & 1 ? 255 : 0;
    r |= (s < 8 ? plain : s < 12 ? sign : s == 12 ? 0 : 255) << n;
  }
  return r;
}

}  // namespace gpu::GPU_EXEC_NS
