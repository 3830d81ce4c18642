// One lane's view of a register row: the operand types of the ISA table, and loops over lanes
// that compilers turn into vector code. This and what it takes need no other headers: a machine that
// translates kernels may have none.
#pragma once

#ifndef GPU_EXEC_NS
#error "compile with -DGPU_EXEC_NS=base or -DGPU_EXEC_NS=avx2"
#endif

// Rows overlap only lane by lane (a destination may be a source), so no iteration depends on
// another.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"  // some loops call libm and stay scalar
#define GPU_LANES _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < 64; ++l)
#else
#define GPU_LANES _Pragma("GCC ivdep") for (int l = 0; l < 64; ++l)
#endif
#define GPU_LIKELY(x) __builtin_expect(!!(x), 1)
#define GPU_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define GPU_NOINLINE __attribute__((noinline))
#define GPU_INLINE inline __attribute__((always_inline))

namespace gpu::GPU_EXEC_NS {

using u8 = __UINT8_TYPE__;
using u16 = __UINT16_TYPE__;
using u32 = __UINT32_TYPE__;
using u64 = __UINT64_TYPE__;
using i8 = __INT8_TYPE__;
using i16 = __INT16_TYPE__;
using i32 = __INT32_TYPE__;
using i64 = __INT64_TYPE__;

inline constexpr u32 kMostU32 = ~u32(0);
inline constexpr i32 kMostI32 = i32(kMostU32 >> 1), kLeastI32 = -kMostI32 - 1;

inline float as_f32(u32 x) { return __builtin_bit_cast(float, x); }
inline u32 as_u32(float x) { return __builtin_bit_cast(u32, x); }
inline double as_f64(u64 x) { return __builtin_bit_cast(double, x); }
inline u64 as_u64(double x) { return __builtin_bit_cast(u64, x); }

inline float f16_to_f32(u32 h) {
  const u32 sign = (h & 0x8000u) << 16, em = h & 0x7fffu;
  const u32 normal = (em << 13) + (em >= 0x7c00u ? 224u << 23 : 112u << 23);
  const u32 small = as_u32(float(i32(em)) * 0x1p-24f);
  return as_f32(sign | (em < 0x400u ? small : normal));
}

// Round to nearest even.
inline u32 f32_to_f16(float f) {
  const u32 x = as_u32(f), sign = (x >> 16) & 0x8000u, a = x & 0x7fffffffu;
  const u32 normal = (a - (112u << 23) + 0xfffu + ((a >> 13) & 1)) >> 13;
  const u32 small = as_u32(as_f32(a) + 0.5f) - as_u32(0.5f);
  const u32 big = a > 0x7f800000u ? 0x7e00u | ((a >> 13) & 0x3ffu) : 0x7c00u;
  return sign | (a >= 0x47800000u ? big : a < 0x38800000u ? small : normal);
}

// To f32 with the discarded bits or-ed into the last one, so that rounding again is exact.
inline float f64_to_f32_odd(double x) {
  const float f = float(x);
  const double back = double(f);
  u32 b = as_u32(f);
  b = back != x && __builtin_fabs(back) > __builtin_fabs(x) ? b - 1 : b;
  b = back != x && x == x ? b | 1 : b;
  return as_f32(b);
}
inline u32 f64_to_f16(double x) { return f32_to_f16(f64_to_f32_odd(x)); }

struct t_none {
  using V = int;
  static constexpr int rows = 0;
  static V get(const u32*, int) { return 0; }
};
struct t_u32 {
  using V = u32;
  static constexpr int rows = 1;
  static V get(const u32* p, int l) { return p[l]; }
  static void put(u32* p, int l, V v) { p[l] = v; }
};
struct t_i32 {
  using V = i32;
  static constexpr int rows = 1;
  static V get(const u32* p, int l) { return i32(p[l]); }
  static void put(u32* p, int l, V v) { p[l] = u32(v); }
};
struct t_f32 {
  using V = float;
  typedef float __attribute__((may_alias)) A;
  static constexpr int rows = 1;
  static V get(const u32* p, int l) { return reinterpret_cast<const A*>(p)[l]; }
  static void put(u32* p, int l, V v) { reinterpret_cast<A*>(p)[l] = v; }
};
struct t_u16 {
  using V = u32;
  static constexpr int rows = 1;
  static V get(const u32* p, int l) { return p[l] & 0xffffu; }
  static void put(u32* p, int l, V v) { p[l] = v & 0xffffu; }
};
struct t_i16 {
  using V = i32;
  static constexpr int rows = 1;
  static V get(const u32* p, int l) { return i32(p[l] << 16) >> 16; }
  static void put(u32* p, int l, V v) { p[l] = u32(v) & 0xffffu; }
};
struct t_f16 {
  using V = float;
  static constexpr int rows = 1;
  static V get(const u32* p, int l) { return f16_to_f32(p[l]); }
  static void put(u32* p, int l, V v) { p[l] = f32_to_f16(v); }
};
struct t_f16d {  // computed in double, rounded once
  using V = double;
  static constexpr int rows = 1;
  static V get(const u32* p, int l) { return double(f16_to_f32(p[l])); }
  static void put(u32* p, int l, V v) { p[l] = f64_to_f16(v); }
};
struct t_u64 {
  using V = u64;
  static constexpr int rows = 2;
  static V get(const u32* p, int l) { return p[l] | (u64(p[64 + l]) << 32); }
  static void put(u32* p, int l, V v) { p[l] = u32(v), p[64 + l] = u32(v >> 32); }
};
struct t_i64 {
  using V = i64;
  static constexpr int rows = 2;
  static V get(const u32* p, int l) { return i64(t_u64::get(p, l)); }
  static void put(u32* p, int l, V v) { t_u64::put(p, l, u64(v)); }
};
struct t_f64 {
  using V = double;
  static constexpr int rows = 2;
  static V get(const u32* p, int l) { return as_f64(t_u64::get(p, l)); }
  static void put(u32* p, int l, V v) { t_u64::put(p, l, as_u64(v)); }
};

// How modifiers, clamp and op_sel treat an operand.
enum class Mod : u8 { Int, F16, F32, F64, Mix, Packed16, PackedF16, PackedF32 };

}  // namespace gpu::GPU_EXEC_NS
