// Addresses, bounds and the lane loops of memory instructions.
#pragma once

#include "rows.h"

namespace gpu::GPU_EXEC_NS {

// Where each lane of an access goes. An address is a host address; LDS and scratch lanes
// have offsets. Lanes outside `mask` touch nothing.
struct Access {
  alignas(64) u64 address[64];
  u64 mask = 0;          // lanes that access memory
  u64 lds = 0;           // FLAT: lanes in the shared aperture; address is then the LDS offset
  u64 scratch = 0;       // lanes in scratch; address is then the lane's offset
  u64 zero = 0;          // out of range: the lane reads 0
  void drop(int l) {
    mask &= ~(u64(1) << l);
    zero |= u64(1) << l;
  }
};

// How an encoding forms addresses. `place` serves the usual case, all lanes within one range that
// allows the access, and says false for every other: those go lane by lane, from `form` (false after
// raising a fault) and `check`, which also tell observers and find out what is wrong.
struct FlatAddress {
  static bool place(Wave& w, const Inst* i, u32 size, bool write, u32 align, Place& p);
  static bool form(Wave& w, const Inst* i, Access& a);
};
struct GlobalAddress {
  static bool place(Wave& w, const Inst* i, u32 size, bool write, u32 align, Place& p);
  static bool form(Wave& w, const Inst* i, Access& a);
};
struct BufferAddress {
  static bool place(Wave& w, const Inst* i, u32 size, bool write, u32 align, Place& p);
  static bool form(Wave& w, const Inst* i, Access& a);
};
struct ScratchAddress {
  static bool form(Wave& w, const Inst* i, Access& a);
};

// Checks every lane for `size` bytes (and alignment where align != 0); tells observers.
bool check(Wave& w, const Inst* i, Access& a, u32 size, bool write, u32 align = 0);

inline u8* scratch_byte(Wave& w, int lane, u64 offset) {
  return w.scratch + (offset & ~u64(3)) * 64 + unsigned(lane) * 4 + (offset & 3);
}
// The range an instruction found its memory in is where it will find it next time.
inline Range& range_of(Wave& w, const Inst* i) { return w.ranges.entry[(i->pc >> 3) % RangeCache::kEntries]; }
u8* global_byte(Wave& w, const Inst* i, u64 address, u32 size, bool write, int lane);  // nullptr after a fault

void copy_from_scratch(Wave& w, int lane, u64 offset, u8* to, u32 size);
void copy_to_scratch(Wave& w, int lane, u64 offset, const u8* from, u32 size);

// Scratch is interleaved by words: a word of all lanes is a row. Fills `offset` for a place whose
// register r is 256 * r bytes on; false where a lane is out of range, unaligned, or observed.
bool scratch_place(Wave& w, const Inst* i, u32 size, u32* offset, Place& p);

template <class Address, class E, int kRegs>
GPU_NOINLINE const Inst* load_any(Wave& w, const Inst* i) {
  constexpr u32 size = kRegs == 1 ? E::size : 4 * kRegs;
  Access a;
  if (!Address::form(w, i, a) || !check(w, i, a, size, false)) return nullptr;
  u32* d = row(w, i->dst);
  for (u64 z = a.zero; z; z &= z - 1) {
    const u8 none[16] = {};
    load_lane<E, kRegs>(d, none, __builtin_ctzll(z));
  }
  for (u64 m = a.mask; m; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    const u64 bit = u64(1) << l;
    if (GPU_UNLIKELY(a.scratch & bit)) {
      u8 bytes[16];
      copy_from_scratch(w, l, a.address[l], bytes, size);
      load_lane<E, kRegs>(d, bytes, l);
    } else {
      const u8* p = a.lds & bit ? w.lds + a.address[l] : reinterpret_cast<const u8*>(a.address[l]);
      load_lane<E, kRegs>(d, p, l);
    }
  }
  return next(i);
}
template <class Address, class E, int kRegs>
GPU_INLINE const Inst* load(Wave& w, const Inst* i) {
  constexpr u32 size = kRegs == 1 ? E::size : 4 * kRegs;
  Place p;
  if constexpr (std::is_same_v<Address, ScratchAddress>) {
    alignas(64) u32 offset[64];
    if (GPU_UNLIKELY(!scratch_place(w, i, size, offset, p))) return load_any<Address, E, kRegs>(w, i);
    for (u32 r = 0; r < kRegs; ++r, p.base += 256) load_rows<E, 1>(row(w, i->dst + r), p);
  } else {
    if (GPU_UNLIKELY(w.stored)) return give_way(w, i);
    if (GPU_UNLIKELY(!Address::place(w, i, size, false, 0, p))) return load_any<Address, E, kRegs>(w, i);
    load_rows<E, kRegs>(row(w, i->dst), p);
  }
  return next(i);
}

template <class Address, class E, int kRegs>
GPU_NOINLINE const Inst* store_any(Wave& w, const Inst* i) {
  constexpr u32 size = kRegs == 1 ? E::size : 4 * kRegs;
  Access a;
  if (!Address::form(w, i, a) || !check(w, i, a, size, true)) return nullptr;
  const u32* s = row(w, i->src[1].code);
  for (u64 m = a.mask; m; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    const u64 bit = u64(1) << l;
    if (GPU_UNLIKELY(a.scratch & bit)) {
      u8 bytes[16];
      store_lane<E, kRegs>(s, bytes, l);
      copy_to_scratch(w, l, a.address[l], bytes, size);
    } else {
      u8* p = a.lds & bit ? w.lds + a.address[l] : reinterpret_cast<u8*>(a.address[l]);
      store_lane<E, kRegs>(s, p, l);
    }
  }
  return next(i);
}
template <class Address, class E, int kRegs>
GPU_INLINE const Inst* store(Wave& w, const Inst* i) {
  constexpr u32 size = kRegs == 1 ? E::size : 4 * kRegs;
  Place p;
  if constexpr (std::is_same_v<Address, ScratchAddress>) {
    alignas(64) u32 offset[64];
    if (GPU_UNLIKELY(!scratch_place(w, i, size, offset, p))) return store_any<Address, E, kRegs>(w, i);
    for (u32 r = 0; r < kRegs; ++r, p.base += 256) store_rows<E, 1>(row(w, i->src[1].code + r), p);
  } else {
    w.stored = w.gives_way;
    if (GPU_UNLIKELY(!Address::place(w, i, size, true, 0, p))) return store_any<Address, E, kRegs>(w, i);
    store_rows<E, kRegs>(row(w, i->src[1].code), p);
  }
  return next(i);
}

// M0 holds the LDS base; lane l writes dword l after it.
template <class Address, class E, int kRegs>
GPU_INLINE const Inst* load_lds(Wave& w, const Inst* i) {
  if (GPU_UNLIKELY(w.stored)) return give_way(w, i);
  Access a;
  if (!Address::form(w, i, a) || !check(w, i, a, E::size, false)) return nullptr;
  const u64 base = (w.m0 & 0xffff) + u64(i64(i->imm));
  for (u64 m = a.mask; m; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    const u64 to = base + 4u * unsigned(l);
    if (to + 4 > w.lds_bytes) {
      if (!passes(w, i, FaultKind::LdsOutOfRange, to, 4, l, true))
        return fault(w, i, FaultKind::LdsOutOfRange, to, 4, l, true);
      if (to + 4 > w.lds_taken) continue;
    }
    u8 bytes[16];
    if ((a.scratch >> l) & 1) copy_from_scratch(w, l, a.address[l], bytes, E::size);
    else memcpy(bytes, reinterpret_cast<const u8*>(a.address[l]), E::size);
    const u32 v = E::value(bytes);
    memcpy(w.lds + to, &v, 4);
  }
  return next(i);
}

template <class T>
struct bits_of {
  using U = T;
};
template <>
struct bits_of<float> {
  using U = u32;
};
template <>
struct bits_of<double> {
  using U = u64;
};

// One lane's data of an atomic.
template <class Op>
inline typename Op::T atomic_data(const u32* s, int l) {
  using U = typename bits_of<typename Op::T>::U;
  if constexpr (sizeof(U) == 8) return __builtin_bit_cast(typename Op::T, U(t_u64::get(s, l)));
  else return __builtin_bit_cast(typename Op::T, U(s[l]));
}
// Op::f(m, x, y): the new value. Lanes go in order, so float sums are the same on every run.
template <class Address, class Op>
GPU_NOINLINE const Inst* atomic_any(Wave& w, const Inst* i) {
  using T = typename Op::T;
  using U = typename bits_of<T>::U;
  constexpr int regs = sizeof(T) / 4;
  Access a;
  if (!Address::form(w, i, a) || !check(w, i, a, sizeof(T), true, sizeof(T))) return nullptr;
  const u32* s = row(w, i->src[1].code);
  u32* d = i->glc ? row(w, i->dst) : nullptr;
  for (u64 z = d ? a.zero : 0; z; z &= z - 1)
    for (int r = 0; r < regs; ++r) d[64 * r + __builtin_ctzll(z)] = 0;
  for (u64 m = a.mask; m; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    const u64 bit = u64(1) << l;
    const T x = atomic_data<Op>(s, l), y = Op::two ? atomic_data<Op>(s + 64 * regs, l) : x;
    U old = 0;
    if (GPU_UNLIKELY((a.lds | a.scratch) & bit)) {
      U* p = reinterpret_cast<U*>(a.lds & bit ? w.lds + a.address[l] : nullptr);
      u8 bytes[8];
      if (!p) copy_from_scratch(w, l, a.address[l], bytes, sizeof(U)), memcpy(&old, bytes, sizeof(U));
      else old = *p;
      const U neu = __builtin_bit_cast(U, T(Op::f(__builtin_bit_cast(T, old), x, y)));
      if (p) *p = neu;
      else memcpy(bytes, &neu, sizeof(U)), copy_to_scratch(w, l, a.address[l], bytes, sizeof(U));
    } else {
      U* p = reinterpret_cast<U*>(a.address[l]);
      old = __atomic_load_n(p, __ATOMIC_RELAXED);
      U neu;
      do neu = __builtin_bit_cast(U, T(Op::f(__builtin_bit_cast(T, old), x, y)));
      while (!__atomic_compare_exchange_n(p, &old, neu, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    }
    if (d) {
      d[l] = u32(old);
      if constexpr (regs == 2) d[64 + l] = u32(u64(old) >> 32);
    }
  }
  return next(i);
}
// Lanes that follow each other at one address are one read and one write of it.
template <class Address, class Op>
GPU_INLINE const Inst* atomic(Wave& w, const Inst* i) {
  using T = typename Op::T;
  using U = typename bits_of<T>::U;
  constexpr int regs = sizeof(T) / 4;
  Place at_;
  if (GPU_UNLIKELY(!Address::place(w, i, sizeof(T), true, sizeof(T), at_))) return atomic_any<Address, Op>(w, i);
  const u32* s = row(w, i->src[1].code);
  alignas(64) u32 out[regs * 64];
  for (u64 left = at_.mask; left;) {
    const u32 offset = at_.offset[__builtin_ctzll(left)];
    U* p = reinterpret_cast<U*>(at_.base + offset);
    U old = __atomic_load_n(p, __ATOMIC_RELAXED), neu;
    u64 m;
    do {
      neu = old;
      m = left;
      do {
        const int l = __builtin_ctzll(m);
        const T x = atomic_data<Op>(s, l), y = Op::two ? atomic_data<Op>(s + 64 * regs, l) : x;
        out[l] = u32(neu);
        if constexpr (regs == 2) out[64 + l] = u32(u64(neu) >> 32);
        neu = __builtin_bit_cast(U, T(Op::f(__builtin_bit_cast(T, neu), x, y)));
        m &= m - 1;
      } while (m && at_.offset[__builtin_ctzll(m)] == offset);
    } while (!__atomic_compare_exchange_n(p, &old, neu, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    left = m;
  }
  if (i->glc)
    for (int r = 0; r < regs; ++r) blend(w, row(w, i->dst + unsigned(r)), out + 64 * r, at_.mask);
  return next(i);
}

const Inst* scalar_load(Wave& w, const Inst* i);
const Inst* scalar_store(Wave& w, const Inst* i);

}  // namespace gpu::GPU_EXEC_NS
