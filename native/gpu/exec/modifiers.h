// What encodings do to one lane's sources and result: signs, selects, clamp, parts of a register.
#pragma once

#include "floats.h"

namespace gpu::GPU_EXEC_NS {

inline u32 with_sign(u32 x, u32 sign, bool neg, bool abs) { return (x & ~(abs ? sign : 0u)) ^ (neg ? sign : 0u); }

// SDWA: up so that the field ends at the top, then down again with or without its sign.
inline u32 sdwa_field(u32 x, u32 sel, bool keeps_sign) {
  const u32 down = sel < 4 ? 24 : 16, up = sel < 4 ? 24 - 8u * sel : 16 * (5u - sel);
  return keeps_sign ? u32(i32(x << up) >> down) : (x << up) >> down;
}
// VOP3P: which half becomes the low one (bit 0 of `sel`) and which the high one.
inline u32 packed_halves(u32 x, u32 sel, u32 flip) {
  return (((x >> (sel & 1 ? 16 : 0)) & 0xffffu) | ((x >> (sel & 2 ? 16 : 0)) << 16)) ^ flip;
}
// Of v_mad_mix and its kin: bit 1 of `sel`: this source is f16, bit 0: its high half.
inline u32 mixed(u32 x, u32 sel, bool neg, bool abs) {
  float v = sel & 2 ? f16_to_f32((x >> (sel & 1 ? 16 : 0)) & 0xffff) : as_f32(x);
  if (abs) v = __builtin_fabsf(v);
  return as_u32(neg ? -v : v);
}

inline float clamp_f32(float v, bool dx10) {
  return v != v ? (dx10 ? 0.0f : v) : v < 0.0f ? 0.0f : v > 1.0f ? 1.0f : v == 0.0f ? 0.0f : v;
}
inline double clamp_f64(double v, bool dx10) { return v != v ? (dx10 ? 0.0 : v) : v <= 0.0 ? 0.0 : v > 1.0 ? 1.0 : v; }

template <Mod kMod>
inline u32 clamped(u32 x, bool dx10) {
  if constexpr (kMod == Mod::F32) return as_u32(clamp_f32(as_f32(x), dx10));
  const u32 low = f32_to_f16(clamp_f32(f16_to_f32(x & 0xffff), dx10));
  if constexpr (kMod == Mod::PackedF16) return low | f32_to_f16(clamp_f32(f16_to_f32(x >> 16), dx10)) << 16;
  return low;
}
template <Mod kMod>
inline u64 clamped(u64 x, bool dx10) {
  if constexpr (kMod == Mod::F64) return as_u64(clamp_f64(as_f64(x), dx10));
  return clamped<Mod::F32>(u32(x), dx10) | u64(clamped<Mod::F32>(u32(x >> 32), dx10)) << 32;
}

// SDWA: the result in a part of its register. The rest becomes 0 (`unused` 0), the result's sign (1), or
// stays (2).
inline u32 sdwa_placed(u32 x, u32 old, u32 sel, u32 unused) {
  const u32 bits = sel < 4 ? 8 : 16, shift = sel < 4 ? 8 * sel : 16 * (sel - 4u), field = ((1u << bits) - 1) << shift;
  const u32 v = (x << shift) & field, up = 32 - bits - shift;
  return unused == 2 ? v | (old & ~field) : unused == 1 ? u32(i32(v << up) >> up) : v;
}
inline u32 low_half(u32 x, u32 old) { return (old & 0xffff0000u) | (x & 0xffffu); }
inline u32 high_half(u32 x, u32 old) { return (old & 0xffffu) | (x << 16); }
inline u32 one_byte(u32 x, u32 old, u32 shift) { return (old & ~(255u << shift)) | ((x & 255u) << shift); }

}  // namespace gpu::GPU_EXEC_NS
