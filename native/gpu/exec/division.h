// What compilers divide with: v_div_scale, v_div_fmas, v_div_fixup.
#pragma once

#include "floats.h"

namespace gpu::GPU_EXEC_NS {

// Which way v_div_scale moves its operand. The quotient and the inverse that decide are compared, not
// computed, and all cases are weighed at once: a loop over lanes has no branches.
template <class M>
struct DivScale {
  M up, down, carry;
  DivScale(M far, M small_b, M inverse, M quotient, M tiny, M is_b, M is_c) {
    const M late = ~far & ~small_b;
    up = (far & is_b) | (~far & small_b) | (late & ~inverse & ((quotient & is_c) | (~quotient & tiny)));
    down = late & inverse & (~quotient | is_b);
    carry = far | (late & quotient);
  }
};
// a: the operand to scale, b: denominator, c: numerator. The flag asks div_fmas to undo it.
inline float div_scale_f32(float a, float b, float c, bool& carry) {
  const auto when = [](bool x) { return ones<u32>(x); };
  const float ab = __builtin_fabsf(b), ac = __builtin_fabsf(c);
  const u32 finite = when(ab < __builtin_inff()), some = ~when(b == 0.0f) & ~when(c == 0.0f);
  // |c / b| < 2^-126 takes a b that can be scaled down without loss.
  const u32 quotient = finite & when(ab >= 0x1p-63f) & when(ac * 0x1p64f < ab * 0x1p-62f);
  const DivScale<u32> s(when(exponent(c) - exponent(b) >= 96), when(ab < 0x1p-126f), finite & when(ab > 0x1p126f),
                        quotient, when(exponent(c) <= 23), when(as_u32(a) == as_u32(b)), when(as_u32(a) == as_u32(c)));
  carry = (s.carry & some) != 0;
  const u32 r = choose(s.up, as_u32(a * 0x1p64f), choose(s.down, as_u32(a * 0x1p-64f), as_u32(a)));
  return as_f32(choose(some, r, 0x7fc00000u));
}
inline double div_scale_f64(double a, double b, double c, bool& carry) {
  const auto when = [](bool x) { return ones<u64>(x); };
  const double ab = __builtin_fabs(b), ac = __builtin_fabs(c);
  const u64 finite = when(ab < __builtin_inf()), some = ~when(b == 0.0) & ~when(c == 0.0);
  // 2^-1075 < |c / b| < 2^-1022: what rounds to 0 is none.
  const u64 quotient =
      finite & when(ab >= 0x1p-512) & when(ac * 0x1p512 < ab * 0x1p-510) & when(ac * 0x1p600 > ab * 0x1p-475);
  const i64 eb = i64((as_u64(b) >> 52) & 2047), ec = i64((as_u64(c) >> 52) & 2047);
  const DivScale<u64> s(when(ec - eb >= 768), when(ab < 0x1p-1022), finite & when(ab > 0x1p1022), quotient,
                        when(ec <= 53), when(as_u64(a) == as_u64(b)), when(as_u64(a) == as_u64(c)));
  carry = (s.carry & some) != 0;
  const u64 r = choose(s.up, as_u64(a * 0x1p128), choose(s.down, as_u64(a * 0x1p-128), as_u64(a)));
  return as_f64(choose(some, r, u64(0x7ff8000000000000)));
}
inline float div_fmas_f32(float a, float b, float c, bool scaled) {
  if (!scaled) return __builtin_fmaf(a, b, c);
  const double p = double(a) * double(b), s = p + double(c), t = s - p;
  const double lost = (p - (s - t)) + (double(c) - t);
  return float(__builtin_ldexp(to_odd(s, lost), exponent(c) > 127 ? 64 : -64));
}
inline double div_fmas_f64(double a, double b, double c, bool scaled) {
  const double r = __builtin_fma(a, b, c);
  if (!scaled) return r;
  const bool up = exponent(c) > 1023;
  if (up || !(__builtin_fabs(r) < 0x1p-894)) return ldexp_f64(r, up ? 128 : -128);
  // What a denormal keeps are multiples of `unit`. Where r, itself rounded, lies half-way between two
  // of them, the part it lost decides.
  constexpr double unit = 0x1p-946;
  const double p = a * b, pe = __builtin_fma(a, b, -p), s = p + c, t = s - p;
  const double se = (p - (s - t)) + (c - t), lost = (s - r) + (se + pe);
  const double large = __builtin_copysign(0x1p-894, r), kept = (r + large) - large;
  const bool half = __builtin_fabs(r - kept) == unit / 2 && lost != 0.0;
  return ldexp_f64(half ? r + __builtin_copysign(unit / 2, lost) : kept, -128);
}
inline float div_fixup_f32(float q, float d, float n) {
  const u32 sign = (as_u32(d) ^ as_u32(n)) & 0x80000000u, quiet = 0x400000u;
  const float inf = __builtin_inff(), ad = __builtin_fabsf(d), an = __builtin_fabsf(n);
  u32 r = sign | (as_u32(q) & 0x7fffffffu);
  r = __builtin_fabsf(q) < inf ? r : as_u32(n / d);  // the quotient overflowed on the way
  r = ((ad == inf) | (an == 0.0f) | (exponent(n) - exponent(d) < -150)) ? sign : r;
  r = ((ad == 0.0f) | (an == inf)) ? sign | 0x7f800000u : r;
  r = ((ad == 0.0f) & (an == 0.0f)) | ((ad == inf) & (an == inf)) ? 0xffc00000u : r;
  r = d != d ? as_u32(d) | quiet : r;
  return as_f32(n != n ? as_u32(n) | quiet : r);
}
inline double div_fixup_f64(double q, double d, double n) {
  const u64 top = u64(1) << 63, sign = (as_u64(d) ^ as_u64(n)) & top, quiet = u64(1) << 51;
  const double inf = __builtin_inf(), ad = __builtin_fabs(d), an = __builtin_fabs(n);
  u64 r = sign | (as_u64(q) & ~top);
  r = __builtin_fabs(q) < inf ? r : as_u64(n / d);  // the quotient overflowed on the way
  r = ((ad == inf) | (an == 0.0) | (exponent(n) - exponent(d) < -1075)) ? sign : r;
  r = ((ad == 0.0) | (an == inf)) ? sign | 0x7ff0000000000000ull : r;
  r = ((ad == 0.0) & (an == 0.0)) | ((ad == inf) & (an == inf)) ? 0xfff8000000000000ull : r;
  r = d != d ? as_u64(d) | quiet : r;
  return as_f64(n != n ? as_u64(n) | quiet : r);
}
inline float div_fixup_f16(float q, float d, float n) {
  const u32 sign = (as_u32(d) ^ as_u32(n)) & 0x80000000u;
  const float inf = __builtin_inff(), ad = __builtin_fabsf(d), an = __builtin_fabsf(n);
  if (n != n) return n;
  if (d != d) return d;
  if ((ad == 0.0f && an == 0.0f) || (ad == inf && an == inf)) return as_f32(0xffc00000u);
  if (ad == 0.0f || an == inf) return as_f32(sign | 0x7f800000u);
  if (ad == inf || an == 0.0f) return as_f32(sign);
  return as_f32(sign | (as_u32(q) & 0x7fffffffu));
}

}  // namespace gpu::GPU_EXEC_NS
