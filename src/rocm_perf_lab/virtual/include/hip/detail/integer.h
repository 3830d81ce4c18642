// Integer intrinsics and bit casts.
#pragma once
#pragma clang system_header

#include <hip/hip_vector_types.h>

#define __F__ __HIP_DEVICE_FN__

__F__ unsigned __popc(unsigned x) { return __builtin_popcount(x); }
__F__ unsigned __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__F__ int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
__F__ int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
#define __HIP_FFS__(NAME, T, F) __F__ int NAME(T x) { return F(x); }
__HIP_FFS__(__ffs, int, __builtin_ffs)
__HIP_FFS__(__ffs, unsigned, __builtin_ffs)
__HIP_FFS__(__ffsll, long long, __builtin_ffsll)
__HIP_FFS__(__ffsll, unsigned long long, __builtin_ffsll)
__HIP_FFS__(__ffsll, unsigned long, __builtin_ffsll)
#undef __HIP_FFS__
__F__ unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
__F__ unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
// The position of the n-th set bit counted from `base`, upwards for n > 0, downwards for n < 0.
__F__ int __fns64(unsigned long long mask, unsigned base, int offset) {
  unsigned long long m = mask;
  if (offset == 0) return (m >> base) & 1 ? (int)base : -1;
  if (offset < 0) {
    m = __builtin_bitreverse64(m);
    base = 63 - base;
  }
  m &= ~0ull << base;
  int n = offset < 0 ? -offset : offset;
  for (int i = 1; i < n; ++i) m &= m - 1;
  if (!m) return -1;
  int at = __builtin_ctzll(m);
  return offset < 0 ? 63 - at : at;
}
__F__ int __fns32(unsigned long long mask, unsigned base, int offset) { return __fns64(mask, base, offset); }
__F__ int __fns(unsigned mask, unsigned base, int offset) { return __fns64(mask, base, offset); }

__F__ int __mulhi(int x, int y) { return (int)(((long long)x * y) >> 32); }
__F__ unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x * y) >> 32); }
__F__ long long __mul64hi(long long x, long long y) { return (long long)(((__int128)x * y) >> 64); }
__F__ unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)(((unsigned __int128)x * y) >> 64);
}
__F__ int __mul24(int x, int y) { return ((x << 8) >> 8) * ((y << 8) >> 8); }
__F__ int __umul24(unsigned x, unsigned y) { return (int)((x & 0xffffffu) * (y & 0xffffffu)); }
__F__ unsigned __sad(int x, int y, unsigned z) {
  return z + (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x);
}
__F__ unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }
__F__ int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
__F__ int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
__F__ unsigned __uhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y) >> 1); }
__F__ unsigned __urhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y + 1) >> 1); }

__F__ unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  return (unsigned)((((unsigned long long)hi << 32 | lo) << (shift & 31)) >> 32);
}
__F__ unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
  return (unsigned)((((unsigned long long)hi << 32 | lo) << (shift > 32 ? 32 : shift)) >> 32);
}
__F__ unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) >> (shift & 31));
}
__F__ unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) >> (shift > 32 ? 32 : shift));
}
__F__ unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  unsigned long long bytes = (unsigned long long)y << 32 | x;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned s = (selector >> (4 * i)) & 7u;
    r |= (unsigned)((bytes >> (8 * s)) & 0xffu) << (8 * i);
  }
  return r;
}
__F__ unsigned __bitextract_u32(unsigned x, unsigned offset, unsigned width) {
  return __builtin_amdgcn_ubfe(x, offset, width);
}
__F__ unsigned long long __bitextract_u64(unsigned long long x, unsigned offset, unsigned width) {
  offset &= 63; width &= 63;
  return width ? (x << (64 - offset - width)) >> (64 - width) : 0;
}
__F__ unsigned __bitinsert_u32(unsigned to, unsigned from, unsigned offset, unsigned width) {
  unsigned mask = (1u << (width & 31)) - 1;
  offset &= 31;
  return (to & ~(mask << offset)) | ((from & mask) << offset);
}
__F__ unsigned long long __bitinsert_u64(unsigned long long to, unsigned long long from, unsigned offset, unsigned width) {
  unsigned long long mask = (1ull << (width & 63)) - 1;
  offset &= 63;
  return (to & ~(mask << offset)) | ((from & mask) << offset);
}
__F__ unsigned __lastbit_u32_u32(unsigned x) { return x ? __builtin_ctz(x) : -1; }
__F__ unsigned __lastbit_u32_u64(unsigned long long x) { return x ? __builtin_ctzll(x) : -1; }
__F__ unsigned __firstbit_u32_u32(unsigned x) { return x ? __builtin_clz(x) : -1; }
__F__ unsigned __firstbit_u32_u64(unsigned long long x) { return x ? __builtin_clzll(x) : -1; }

// Packed arithmetic of bytes and half words, sums of absolute differences, byte dot products.
// The sum is exact; asked to saturate it stops at the ends of its type, else it wraps.
namespace hip_detail {
__F__ int dot_result(long long sum, bool saturate) {
  return saturate ? sum > 2147483647 ? 2147483647 : sum < -2147483648ll ? -2147483647 - 1 : (int)sum : (int)sum;
}
__F__ unsigned dot_result_u(unsigned long long sum, bool saturate) {
  return saturate && sum > 0xffffffffu ? 0xffffffffu : (unsigned)sum;
}
}  // namespace hip_detail
__F__ int amd_mixed_dot(short2 a, short2 b, int c, bool saturate) {
  return hip_detail::dot_result((long long)c + (long long)a.x * b.x + (long long)a.y * b.y, saturate);
}
__F__ unsigned amd_mixed_dot(ushort2 a, ushort2 b, unsigned c, bool saturate) {
  return hip_detail::dot_result_u((unsigned long long)c + (unsigned long long)a.x * b.x + (unsigned long long)a.y * b.y, saturate);
}
__F__ int amd_mixed_dot(char4 a, char4 b, int c, bool saturate) {
  return hip_detail::dot_result((long long)c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w, saturate);
}
__F__ unsigned amd_mixed_dot(uchar4 a, uchar4 b, unsigned c, bool saturate) {
  return hip_detail::dot_result_u((unsigned long long)c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w, saturate);
}
// Eight numbers of four bits.
__F__ int amd_mixed_dot(int a, int b, int c, bool saturate) {
  long long sum = c;
  for (int i = 28; i >= 0; i -= 4) sum += ((int)((unsigned)a << i) >> 28) * ((int)((unsigned)b << i) >> 28);
  return hip_detail::dot_result(sum, saturate);
}
__F__ unsigned amd_mixed_dot(unsigned a, unsigned b, unsigned c, bool saturate) {
  unsigned long long sum = c;
  for (int i = 0; i < 32; i += 4) sum += (a >> i & 15u) * (b >> i & 15u);
  return hip_detail::dot_result_u(sum, saturate);
}
__F__ int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += (int)(signed char)(a >> i) * (int)(signed char)(b >> i);
  return c;
}
__F__ unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += ((a >> i) & 255u) * ((b >> i) & 255u);
  return c;
}

template <typename To, typename From> __HIP_BOTH_FN__ To __hip_bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
__F__ int __float_as_int(float x) { return __hip_bit_cast<int>(x); }
__F__ unsigned __float_as_uint(float x) { return __hip_bit_cast<unsigned>(x); }
__F__ float __int_as_float(int x) { return __hip_bit_cast<float>(x); }
__F__ float __uint_as_float(unsigned x) { return __hip_bit_cast<float>(x); }
__F__ long long __double_as_longlong(double x) { return __hip_bit_cast<long long>(x); }
__F__ double __longlong_as_double(long long x) { return __hip_bit_cast<double>(x); }
__F__ int __double2hiint(double x) { return (int)(__hip_bit_cast<unsigned long long>(x) >> 32); }
__F__ int __double2loint(double x) { return (int)__hip_bit_cast<unsigned long long>(x); }
__F__ double __hiloint2double(int hi, int lo) {
  return __hip_bit_cast<double>((unsigned long long)(unsigned)hi << 32 | (unsigned)lo);
}

#undef __F__
