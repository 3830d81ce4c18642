// Addresses, bounds and the lane loops of memory instructions.
#pragma once

#include "salu.h"

namespace gpu::GPU_EXEC_NS {

// Element types of loads and stores: size in memory, and how a lane's register takes it.
struct e_u32 {
  static constexpr u32 size = 4;
  static u32 load(const u8* p, u32) { u32 v; memcpy(&v, p, 4); return v; }
  static void store(u8* p, u32 v) { memcpy(p, &v, 4); }
};
template <class T>
struct e_small {
  static constexpr u32 size = sizeof(T);
  static u32 load(const u8* p, u32) { T v; memcpy(&v, p, sizeof v); return u32(i32(v)); }
  static void store(u8* p, u32 v) { const T t = T(v); memcpy(p, &t, sizeof t); }
};
using e_u8 = e_small<u8>;
using e_i8 = e_small<i8>;
using e_u16 = e_small<u16>;
using e_i16 = e_small<i16>;
template <class E>
struct e_low {  // d16: the low half, the rest of the register stays
  static constexpr u32 size = E::size;
  static u32 load(const u8* p, u32 old) { return (old & 0xffff0000u) | (E::load(p, 0) & 0xffffu); }
  static void store(u8* p, u32 v) { E::store(p, v); }
};
template <class E>
struct e_high {
  static constexpr u32 size = E::size;
  static u32 load(const u8* p, u32 old) { return (old & 0xffffu) | (E::load(p, 0) << 16); }
  static void store(u8* p, u32 v) { E::store(p, v >> 16); }
};
using e_u8_lo = e_low<e_u8>;
using e_i8_lo = e_low<e_i8>;
using e_u16_lo = e_low<e_u16>;
using e_u8_hi = e_high<e_u8>;
using e_i8_hi = e_high<e_i8>;
using e_u16_hi = e_high<e_u16>;

// Where each lane of an access goes. `pointer` is a host address; scratch and LDS lanes have
// theirs too. Lanes outside `mask` touch nothing.
struct Access {
  alignas(64) u64 address[64];
  u64 mask = 0;          // lanes that access memory
  u64 lds = 0;           // FLAT: lanes in the shared aperture; address is then the LDS offset
  u64 scratch = 0;       // lanes in scratch; address is then the lane's offset
  u64 zero = 0;          // buffer loads out of range: the lane reads 0
};

// How an encoding forms addresses. Returns false after raising a fault.
struct FlatAddress { static bool form(Wave& w, const Inst* i, Access& a); };
struct GlobalAddress { static bool form(Wave& w, const Inst* i, Access& a); };
struct ScratchAddress { static bool form(Wave& w, const Inst* i, Access& a); };
struct BufferAddress { static bool form(Wave& w, const Inst* i, Access& a); };

// Checks every lane for `size` bytes (and alignment where align != 0); tells observers.
bool check(Wave& w, const Inst* i, Access& a, u32 size, bool write, u32 align = 0);

inline u8* scratch_byte(Wave& w, int lane, u64 offset) {
  return w.scratch + (offset & ~u64(3)) * 64 + unsigned(lane) * 4 + (offset & 3);
}
// Spills: all lanes at one aligned offset, which the interleaving makes whole rows.
inline bool scratch_rows(const Access& a) {
  if (a.scratch != ~u64(0) || (a.address[0] & 3)) return false;
  u64 off = 0;
  GPU_LANES off |= a.address[l] ^ a.address[0];
  return off == 0;
}
inline bool within(Wave& w, u64 address, u32 size, bool write) {
  const Range& r = w.last_range;
  return GPU_LIKELY(address >= r.base && address + size <= r.end && (write ? r.writable : r.readable));
}
u8* global_byte(Wave& w, const Inst* i, u64 address, u32 size, bool write, int lane);  // nullptr after a fault

void copy_from_scratch(Wave& w, int lane, u64 offset, u8* to, u32 size);
void copy_to_scratch(Wave& w, int lane, u64 offset, const u8* from, u32 size);

template <class E, int kRegs>
inline void load_lane(u32* d, const u8* p, int l) {
  if constexpr (kRegs == 1) {
    d[l] = E::load(p, d[l]);
  } else {
    for (int r = 0; r < kRegs; ++r) {
      u32 v;
      memcpy(&v, p + 4 * r, 4);
      d[64 * r + l] = v;
    }
  }
}

template <class Address, class E, int kRegs>
GPU_INLINE const Inst* load(Wave& w, const Inst* i) {
  constexpr u32 size = kRegs == 1 ? E::size : 4 * kRegs;
  Access a;
  if (!Address::form(w, i, a) || !check(w, i, a, size, false)) return nullptr;
  u32* d = row(w, i->dst);
  for (u64 z = a.zero; z; z &= z - 1) {
    const u8 none[16] = {};
    load_lane<E, kRegs>(d, none, __builtin_ctzll(z));
  }
  const u64 plain = a.mask & ~a.lds & ~a.scratch;
  if (GPU_LIKELY(plain == ~u64(0))) {
    if constexpr (kRegs == 1 && E::size == 4) {
      u64 off = 0;
      GPU_LANES off |= a.address[l] ^ (a.address[0] + 4 * u64(l));
      if (off == 0) {
        memcpy(d, reinterpret_cast<const u8*>(a.address[0]), 256);
        return next(i);
      }
    }
    for (int l = 0; l < 64; ++l) load_lane<E, kRegs>(d, reinterpret_cast<const u8*>(a.address[l]), l);
    return next(i);
  }
  if constexpr (size % 4 == 0) {
    if (scratch_rows(a)) {
      for (int r = 0; r < kRegs; ++r) memcpy(d + 64 * r, scratch_byte(w, 0, a.address[0] + 4 * unsigned(r)), 256);
      return next(i);
    }
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

template <class E, int kRegs>
inline void store_lane(const u32* s, u8* p, int l) {
  if constexpr (kRegs == 1) {
    E::store(p, s[l]);
  } else {
    for (int r = 0; r < kRegs; ++r) memcpy(p + 4 * r, &s[64 * r + l], 4);
  }
}

template <class Address, class E, int kRegs>
GPU_INLINE const Inst* store(Wave& w, const Inst* i) {
  constexpr u32 size = kRegs == 1 ? E::size : 4 * kRegs;
  Access a;
  if (!Address::form(w, i, a) || !check(w, i, a, size, true)) return nullptr;
  const u32* s = row(w, i->src[1].code);
  const u64 plain = a.mask & ~a.lds & ~a.scratch;
  if (GPU_LIKELY(plain == ~u64(0))) {
    if constexpr (kRegs == 1 && E::size == 4) {
      u64 off = 0;
      GPU_LANES off |= a.address[l] ^ (a.address[0] + 4 * u64(l));
      if (off == 0) {
        memcpy(reinterpret_cast<u8*>(a.address[0]), s, 256);
        return next(i);
      }
    }
    for (int l = 0; l < 64; ++l) store_lane<E, kRegs>(s, reinterpret_cast<u8*>(a.address[l]), l);
    return next(i);
  }
  if constexpr (size % 4 == 0) {
    if (scratch_rows(a)) {
      for (int r = 0; r < kRegs; ++r) memcpy(scratch_byte(w, 0, a.address[0] + 4 * unsigned(r)), s + 64 * r, 256);
      return next(i);
    }
  }
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

// M0 holds the LDS base; lane l writes dword l after it.
template <class Address, class E, int kRegs>
GPU_INLINE const Inst* load_lds(Wave& w, const Inst* i) {
  Access a;
  if (!Address::form(w, i, a) || !check(w, i, a, E::size, false)) return nullptr;
  const u64 base = (w.m0 & 0xffff) + u64(i64(i->imm));
  for (u64 m = a.mask; m; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    const u64 to = base + 4u * unsigned(l);
    if (to + 4 > w.lds_bytes) return fault(w, i, FaultKind::LdsOutOfRange, to, 4, l, true);
    u8 bytes[16];
    if ((a.scratch >> l) & 1) copy_from_scratch(w, l, a.address[l], bytes, E::size);
    else memcpy(bytes, reinterpret_cast<const u8*>(a.address[l]), E::size);
    const u32 v = E::load(bytes, 0);
    memcpy(w.lds + to, &v, 4);
  }
  return next(i);
}

template <class T> struct bits_of { using U = T; };
template <> struct bits_of<float> { using U = u32; };
template <> struct bits_of<double> { using U = u64; };

// Op::f(m, x, y): the new value. Lanes go in order, so float sums are the same on every run.
template <class Address, class Op>
GPU_INLINE const Inst* atomic(Wave& w, const Inst* i) {
  using T = typename Op::T;
  using U = typename bits_of<T>::U;
  constexpr int regs = sizeof(T) / 4;
  Access a;
  if (!Address::form(w, i, a) || !check(w, i, a, sizeof(T), true, sizeof(T))) return nullptr;
  const u32* s = row(w, i->src[1].code);
  u32* d = i->glc ? row(w, i->dst) : nullptr;
  for (u64 m = a.mask; m; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    const u64 bit = u64(1) << l;
    const T x = regs == 2 ? __builtin_bit_cast(T, U(t_u64::get(s, l))) : __builtin_bit_cast(T, U(s[l]));
    const T y = !Op::two ? x
                : regs == 2 ? __builtin_bit_cast(T, U(t_u64::get(s + 128, l)))
                            : __builtin_bit_cast(T, U(s[64 + l]));
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

const Inst* scalar_load(Wave& w, const Inst* i);
const Inst* scalar_store(Wave& w, const Inst* i);

}  // namespace gpu::GPU_EXEC_NS
