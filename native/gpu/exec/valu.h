// Wrappers that run the one-lane bodies of the ISA table over a wave.
#pragma once

#include "wide.h"

namespace gpu::GPU_EXEC_NS {

inline const Inst* next(const Inst* i) { return i->next; }

// An Op says: types D, A, B, C; mods; f(a, b, c); optionally sat(a, b, c) for the clamp bit.
template <class Op>
inline void each(u32* d, const u32* a, const u32* b, const u32* c) {
  if constexpr (Op::halves) {
    // Packed 16-bit: the body applies to both halves.
    GPU_LANES {
      u32 x[1], y[1], z[1], lo[1], hi[1];
      x[0] = a[l] & 0xffffu, y[0] = Op::n > 1 ? b[l] & 0xffffu : 0, z[0] = Op::n > 2 ? c[l] & 0xffffu : 0;
      Op::D::put(lo, 0, Op::f(Op::A::get(x, 0), Op::B::get(y, 0), Op::C::get(z, 0)));
      x[0] = a[l] >> 16, y[0] = Op::n > 1 ? b[l] >> 16 : 0, z[0] = Op::n > 2 ? c[l] >> 16 : 0;
      Op::D::put(hi, 0, Op::f(Op::A::get(x, 0), Op::B::get(y, 0), Op::C::get(z, 0)));
      d[l] = lo[0] | (hi[0] << 16);
    }
  } else if constexpr (Op::pairs) {
    // Both rows are read before either is written: d may overlap a source by one register.
    alignas(64) u32 low[64];
    GPU_LANES Op::D::put(low, l, Op::f(Op::A::get(a, l), Op::B::get(b, l), Op::C::get(c, l)));
    const u32 *a1 = a + 64, *b1 = Op::n > 1 ? b + 64 : b, *c1 = Op::n > 2 ? c + 64 : c;
    GPU_LANES Op::D::put(d + 64, l, Op::f(Op::A::get(a1, l), Op::B::get(b1, l), Op::C::get(c1, l)));
    copy_row(d, low);
  } else if constexpr (any_wide<typename Op::D, typename Op::A, typename Op::B, typename Op::C>) {
    Buffers room;
    alignas(64) u32 out[128];
    a = wide_in<typename Op::A>(a, room.src[0]), b = wide_in<typename Op::B>(b, room.src[1]),
    c = wide_in<typename Op::C>(c, room.src[2]);
    GPU_LANES wide_put<typename Op::D>(
        out, l, Op::f(wide_get<typename Op::A>(a, l), wide_get<typename Op::B>(b, l), wide_get<typename Op::C>(c, l)));
    wide_out<typename Op::D>(out, d);
  } else {
    GPU_LANES Op::D::put(d, l, Op::f(Op::A::get(a, l), Op::B::get(b, l), Op::C::get(c, l)));
  }
}

template <class Op>
inline void each_sat(u32* d, const u32* a, const u32* b, const u32* c) {
  for (int l = 0; l < 64; ++l) {
    if constexpr (Op::halves) {
      u32 r = 0;
      for (int s = 0; s < 32; s += 16) {
        u32 x[1] = {a[l] >> s}, y[1] = {Op::n > 1 ? b[l] >> s : 0}, z[1] = {Op::n > 2 ? c[l] >> s : 0}, o[1];
        Op::D::put(o, 0, Op::sat(Op::A::get(x, 0), Op::B::get(y, 0), Op::C::get(z, 0)));
        r |= o[0] << s;
      }
      d[l] = r;
    } else {
      Op::D::put(d, l, Op::sat(Op::A::get(a, l), Op::B::get(b, l), Op::C::get(c, l)));
    }
  }
}

template <class Op>
GPU_NOINLINE void valu_general(Wave& w, const Inst* i) {
  constexpr int times = Op::pairs ? 2 : 1;
  Buffers room;
  u64 mask = w.exec;
  const u32* a = source(w, i, 0, Op::mod_a, Op::A::rows * times, room.src[0], mask);
  const u32* b = source(w, i, 1, Op::mod_b, Op::B::rows * times, room.src[1], mask);
  const u32* c = source(w, i, 2, Op::mod_c, Op::C::rows * times, room.src[2], mask);
  alignas(64) u32 out[128];
  if (i->plain_dst && mask == ~u64(0)) {
    each<Op>(row(w, i->dst), a, b, c);
    return;
  }
  if constexpr (Op::has_sat) {
    if (i->clamp) each_sat<Op>(out, a, b, c);
    else each<Op>(out, a, b, c);
  } else {
    each<Op>(out, a, b, c);
  }
  finish(w, i, out, Op::mod_d, Op::D::rows * times, mask);
}

template <class Op>
GPU_INLINE const Inst* valu(Wave& w, const Inst* i) {
  if (GPU_LIKELY(i->simple)) {
    using A2 = std::conditional_t<Op::pairs, t_u64, typename Op::A>;
    using B2 = std::conditional_t<Op::pairs && Op::n >= 2, t_u64, typename Op::B>;
    using C2 = std::conditional_t<Op::pairs && Op::n >= 3, t_u64, typename Op::C>;
    Buffers room;
    alignas(64) u32 out[128];
    const bool all = w.exec == ~u64(0);
    each<Op>(all ? row(w, i->dst) : out, fetch<A2>(w, i, 0, room.src[0]), fetch<B2>(w, i, 1, room.src[1]),
             fetch<C2>(w, i, 2, room.src[2]));
    if (GPU_UNLIKELY(!all)) blend_rows(w, row(w, i->dst), out, Op::D::rows * (Op::pairs ? 2 : 1));
  } else {
    valu_general<Op>(w, i);
  }
  return next(i);
}

template <class Op>
inline void compare_rows(u32* d, const u32* a, const u32* b) {
  if constexpr (any_wide<typename Op::A, typename Op::B>) {
    alignas(64) u32 x[128], y[128], out[64];
    a = wide_in<typename Op::A>(a, x), b = wide_in<typename Op::B>(b, y);
    GPU_LANES out[l] = Op::f(wide_get<typename Op::A>(a, l), wide_get<typename Op::B>(b, l), 0) ? ~0u : 0u;
    reorder(out, d);
  } else {
    GPU_LANES d[l] = Op::f(Op::A::get(a, l), Op::B::get(b, l), 0) ? ~0u : 0u;
  }
}

template <class Op>
inline u64 compare(Wave& w, const Inst* i) {
  Buffers room;
  alignas(64) u32 out[64];
  u64 mask = w.exec;
  if (GPU_LIKELY(i->simple)) {
    compare_rows<Op>(out, fetch<typename Op::A>(w, i, 0, room.src[0]), fetch<typename Op::B>(w, i, 1, room.src[1]));
  } else {
    const u32* a = source(w, i, 0, Op::mod_a, Op::A::rows, room.src[0], mask);
    const u32* b = source(w, i, 1, Op::mod_b, Op::B::rows, room.src[1], mask);
    compare_rows<Op>(out, a, b);
  }
  return collect(out) & mask;
}
template <class Op>
GPU_INLINE const Inst* cmp(Wave& w, const Inst* i) {
  write_pair(w, i->sdst, compare<Op>(w, i));
  return next(i);
}
template <class Op>
GPU_INLINE const Inst* cmpx(Wave& w, const Inst* i) {
  const u64 r = compare<Op>(w, i);
  write_pair(w, i->sdst, r);
  w.exec = r;
  return next(i);
}

inline void write_carry(Wave& w, const Inst* i, const u32* carry, u64 mask) {
  write_pair(w, i->sdst, collect(carry) & mask);
}

template <class Op, bool kIn>
GPU_INLINE const Inst* carry(Wave& w, const Inst* i) {
  Buffers room;
  u64 mask = w.exec;
  const u32* a = source(w, i, 0, Mod::Int, 1, room.src[0], mask);
  const u32* b = source(w, i, 1, Mod::Int, 1, room.src[1], mask);
  alignas(64) u32 in[64], out[64], flag[64];
  if constexpr (kIn) expand(scalar_pair(w, i->src[2]), in);
  GPU_LANES {
    const Sum s = sum_of<Op>(a[l], b[l], kIn ? in[l] & 1u : 0u);
    out[l] = s.value;
    flag[l] = s.carry;
  }
  if (i->clamp) {
    for (int l = 0; l < 64; ++l)
      if (flag[l]) out[l] = kAdds<Op> ? ~0u : 0u;
  }
  write_carry(w, i, flag, mask);
  if (i->simple) blend(w, row(w, i->dst), out, mask);
  else {
    Inst plain = *i;
    plain.clamp = 0;
    finish(w, &plain, out, Mod::Int, 1, mask);
  }
  return next(i);
}

inline const Inst* cndmask(Wave& w, const Inst* i) {
  Buffers room;
  u64 mask = w.exec;
  const u32* a = source(w, i, 0, Mod::F32, 1, room.src[0], mask);
  const u32* b = source(w, i, 1, Mod::F32, 1, room.src[1], mask);
  alignas(64) u32 pick[64], out[64];
  expand(scalar_pair(w, i->src[2]), pick);
  const bool all = mask == ~u64(0) && i->plain_dst;
  u32* d = all ? row(w, i->dst) : out;
  GPU_LANES d[l] = (b[l] & pick[l]) | (a[l] & ~pick[l]);
  if (!all) finish(w, i, out, Mod::F32, 1, mask);
  return next(i);
}

// Bodies with a per-lane flag that goes to sdst.
template <class Op>
GPU_INLINE const Inst* div_scale(Wave& w, const Inst* i) {
  using D = typename Op::D;
  using A = typename Op::A;
  using B = typename Op::B;
  using C = typename Op::C;
  Buffers room;
  u64 mask = w.exec;
  const u32* a = source(w, i, 0, Op::mod_a, A::rows, room.src[0], mask);
  const u32* b = source(w, i, 1, Op::mod_b, B::rows, room.src[1], mask);
  const u32* c = source(w, i, 2, Op::mod_c, C::rows, room.src[2], mask);
  alignas(64) u32 out[128], flag[64];
  if constexpr (any_wide<D, A, B, C>) {
    alignas(64) u32 x[128], y[128], z[128], o[128], f[64];
    a = wide_in<A>(a, x), b = wide_in<B>(b, y), c = wide_in<C>(c, z);
    GPU_LANES {
      bool carry = false;
      wide_put<D>(o, l, Op::f(wide_get<A>(a, l), wide_get<B>(b, l), wide_get<C>(c, l), carry));
      f[l] = carry ? ~0u : 0u;
    }
    wide_out<D>(o, out);
    reorder(f, flag);
  } else {
    GPU_LANES {
      bool carry = false;
      D::put(out, l, Op::f(A::get(a, l), B::get(b, l), C::get(c, l), carry));
      flag[l] = carry ? ~0u : 0u;
    }
  }
  write_carry(w, i, flag, mask);
  finish(w, i, out, Op::mod_d, D::rows, mask);
  return next(i);
}
// Bodies with a per-lane flag read from VCC.
template <class Op>
GPU_INLINE const Inst* div_fmas(Wave& w, const Inst* i) {
  struct Plain : Op {
    static typename Op::D::V f(typename Op::A::V a, typename Op::B::V b, typename Op::C::V c) {
      return Op::f(a, b, c, false);
    }
  };
  Buffers room;
  u64 mask = w.exec;
  const u32* a = source(w, i, 0, Op::mod_a, Op::A::rows, room.src[0], mask);
  const u32* b = source(w, i, 1, Op::mod_b, Op::B::rows, room.src[1], mask);
  const u32* c = source(w, i, 2, Op::mod_c, Op::C::rows, room.src[2], mask);
  alignas(64) u32 out[128];
  each<Plain>(out, a, b, c);
  for (u64 m = w.vcc & mask; m; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    Op::D::put(out, l, Op::f(Op::A::get(a, l), Op::B::get(b, l), Op::C::get(c, l), true));
  }
  finish(w, i, out, Op::mod_d, Op::D::rows, mask);
  return next(i);
}

inline const Inst* readfirstlane(Wave& w, const Inst* i) {
  Buffers room;
  const u32* a = fetch<t_u32>(w, i, 0, room.src[0]);
  w.sgpr[i->sdst] = a[w.exec ? __builtin_ctzll(w.exec) : 0];
  return next(i);
}
inline u32 scalar_value(const Wave& w, const Source& s) {
  return s.kind == Source::Special ? u32(special(w, s.code)) : at(w, s)[0];
}
inline const Inst* readlane(Wave& w, const Inst* i) {
  Buffers room;
  const u32* a = fetch<t_u32>(w, i, 0, room.src[0]);
  w.sgpr[i->sdst] = a[scalar_value(w, i->src[1]) & 63];
  return next(i);
}
inline const Inst* writelane(Wave& w, const Inst* i) {
  row(w, i->dst)[scalar_value(w, i->src[1]) & 63] = scalar_value(w, i->src[0]);
  return next(i);
}
// For each lane the mask of those below it, by words.
struct LanesBelow {
  alignas(64) u32 word[2][64];
  constexpr LanesBelow() : word{} {
    for (int l = 0; l < 64; ++l) {
      const u64 below = (u64(1) << l) - 1;
      word[0][l] = u32(below), word[1][l] = u32(below >> 32);
    }
  }
};
inline constexpr LanesBelow kLanesBelow;
inline const Inst* mbcnt(Wave& w, const Inst* i, bool high) {
  Buffers room;
  u64 mask = w.exec;
  const u32* a = source(w, i, 0, Mod::Int, 1, room.src[0], mask);
  const u32* b = source(w, i, 1, Mod::Int, 1, room.src[1], mask);
  alignas(64) u32 out[64];
  const u32* below = kLanesBelow.word[high];
  GPU_LANES out[l] = popcount32(a[l] & below[l]) + b[l];
  finish(w, i, out, Mod::Int, 1, mask);
  return next(i);
}
inline const Inst* mbcnt_lo(Wave& w, const Inst* i) { return mbcnt(w, i, false); }
inline const Inst* mbcnt_hi(Wave& w, const Inst* i) { return mbcnt(w, i, true); }
inline const Inst* swap(Wave& w, const Inst* i) {
  u32 *d = row(w, i->dst), *s = const_cast<u32*>(at(w, i->src[0]));
  const u32* m = mask_row(w, w.exec);
  GPU_LANES {
    const u32 x = d[l], y = s[l];
    d[l] = (y & m[l]) | (x & ~m[l]);
    s[l] = (x & m[l]) | (y & ~m[l]);
  }
  return next(i);
}
inline const Inst* mqsad(Wave& w, const Inst* i) {
  for (int l = 0; l < 64; ++l) {
    if (!((w.exec >> l) & 1)) continue;
    const u64 a = t_u64::get(at(w, i->src[0]), l);
    const Source& s1 = i->src[1];
    const u32 b = s1.kind == Source::Vector ? at(w, s1)[l] : scalar_value(w, s1);
    u32 r[4];
    for (int n = 0; n < 4; ++n) r[n] = msad_u8(u32(a >> (8 * n)), b) + at(w, i->src[2])[64 * n + l];
    for (int n = 0; n < 4; ++n) row(w, i->dst)[64 * n + l] = r[n];
  }
  return next(i);
}
// Each result dword is one dword of one source, chosen by op_sel.
inline const Inst* pk_mov(Wave& w, const Inst* i) {
  Buffers room;
  const u32* a = fetch<t_u64>(w, i, 0, room.src[0]);
  const u32* b = fetch<t_u64>(w, i, 1, room.src[1]);
  alignas(64) u32 out[128];
  copy_row(out, i->src[0].sel & 1 ? a + 64 : a);
  copy_row(out + 64, i->src[1].sel & 1 ? b + 64 : b);
  for (int r = 0; r < 2; ++r) blend(w, row(w, i->dst) + 64 * r, out + 64 * r, w.exec);
  return next(i);
}

}  // namespace gpu::GPU_EXEC_NS
