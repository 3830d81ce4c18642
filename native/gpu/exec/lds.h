// LDS (data share) instructions. A workgroup runs on one thread, so its atomics are plain.
#pragma once

#include "memory_access.h"

namespace gpu::GPU_EXEC_NS {

// Lane addresses v + offset, checked for `size` bytes; false after a fault.
bool lds_check(Wave& w, const Inst* i, u32 offset, u32 size, bool write, u32* address);
void lds_tell(Wave& w, const u32* first, const u32* second, u32 size, bool write, bool atomic);

// Whether the lanes address one row of consecutive words.
inline bool lds_row(const u32* a) {
  u32 off = 0;
  GPU_LANES off |= a[l] ^ (a[0] + 4u * u32(l));
  return off == 0;
}

template <class E, int kRegs>
GPU_INLINE const Inst* ds_read(Wave& w, const Inst* i) {
  constexpr u32 size = kRegs == 1 ? E::size : 4 * kRegs;
  alignas(64) u32 a[64];
  if (!lds_check(w, i, u32(i->imm), size, false, a)) return nullptr;
  u32* d = row(w, i->dst);
  const u8* lds = w.lds;
  if (GPU_LIKELY(w.exec == ~u64(0))) {
    if constexpr (kRegs == 1 && E::size == 4) {
      if (lds_row(a)) {
        memcpy(d, lds + a[0], 256);
        return next(i);
      }
    }
    for (int l = 0; l < 64; ++l) load_lane<E, kRegs>(d, lds + a[l], l);
  } else {
    for (u64 m = w.exec; m; m &= m - 1) load_lane<E, kRegs>(d, lds + a[__builtin_ctzll(m)], __builtin_ctzll(m));
  }
  return next(i);
}

template <class E, int kRegs>
GPU_INLINE const Inst* ds_write(Wave& w, const Inst* i) {
  constexpr u32 size = kRegs == 1 ? E::size : 4 * kRegs;
  alignas(64) u32 a[64];
  if (!lds_check(w, i, u32(i->imm), size, true, a)) return nullptr;
  const u32* s = row(w, i->src[1].code);
  if constexpr (kRegs == 1 && E::size == 4) {
    if (w.exec == ~u64(0) && lds_row(a)) {
      memcpy(w.lds + a[0], s, 256);
      return next(i);
    }
  }
  for (u64 m = w.exec; m; m &= m - 1) store_lane<E, kRegs>(s, w.lds + a[__builtin_ctzll(m)], __builtin_ctzll(m));
  return next(i);
}

// Two accesses at offset0 and offset1, in units of kStride bytes.
template <int kRegs, int kStride>
inline bool lds_check2(Wave& w, const Inst* i, bool write, u32* a, u32* b) {
  MemAccess* told = w.access;
  w.access = nullptr;
  const bool ok = lds_check(w, i, (u32(i->imm) & 255) * kStride, 4 * kRegs, write, a) &&
                  lds_check(w, i, ((u32(i->imm) >> 8) & 255) * kStride, 4 * kRegs, write, b);
  w.access = told;
  if (GPU_UNLIKELY(told != nullptr)) lds_tell(w, a, b, 4 * kRegs, write, false);
  return ok;
}
template <int kRegs, int kStride>
GPU_INLINE const Inst* ds_read2(Wave& w, const Inst* i) {
  alignas(64) u32 a[64], b[64];
  if (!lds_check2<kRegs, kStride>(w, i, false, a, b)) return nullptr;
  u32* d = row(w, i->dst);
  for (u64 m = w.exec; m; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    load_lane<e_u32, kRegs>(d, w.lds + a[l], l);
    load_lane<e_u32, kRegs>(d + 64 * kRegs, w.lds + b[l], l);
  }
  return next(i);
}
template <int kRegs, int kStride>
GPU_INLINE const Inst* ds_write2(Wave& w, const Inst* i) {
  alignas(64) u32 a[64], b[64];
  if (!lds_check2<kRegs, kStride>(w, i, true, a, b)) return nullptr;
  const u32 *x = row(w, i->src[1].code), *y = row(w, i->src[2].code);
  for (u64 m = w.exec; m; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    store_lane<e_u32, kRegs>(x, w.lds + a[l], l);
    store_lane<e_u32, kRegs>(y, w.lds + b[l], l);
  }
  return next(i);
}
template <int kRegs, int kStride>
GPU_INLINE const Inst* ds_xchg2(Wave& w, const Inst* i) {
  alignas(64) u32 a[64], b[64];
  if (!lds_check2<kRegs, kStride>(w, i, true, a, b)) return nullptr;
  const u32 *x = row(w, i->src[1].code), *y = row(w, i->src[2].code);
  alignas(64) u32 out[4][64];
  for (u64 m = w.exec; m; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    load_lane<e_u32, kRegs>(out[0], w.lds + a[l], l);
    store_lane<e_u32, kRegs>(x, w.lds + a[l], l);
    load_lane<e_u32, kRegs>(out[kRegs], w.lds + b[l], l);
    store_lane<e_u32, kRegs>(y, w.lds + b[l], l);
  }
  for (int r = 0; r < 2 * kRegs; ++r) blend(w, row(w, i->dst) + 64 * r, out[r], w.exec);
  return next(i);
}

// Op::f(m, x, y): the new value of the LDS word m; kReturn writes the old one back.
template <class Op, bool kReturn>
GPU_INLINE const Inst* ds_rmw(Wave& w, const Inst* i) {
  using T = typename Op::T;
  using U = typename bits_of<T>::U;
  constexpr int regs = sizeof(T) / 4;
  alignas(64) u32 a[64];
  if (!lds_check(w, i, u32(i->imm), sizeof(T), true, a)) return nullptr;
  if (w.access) w.access->atomic = true;
  const u32 *x = row(w, i->src[1].code), *y = Op::two ? row(w, i->src[2].code) : x;
  u32* d = kReturn ? row(w, i->dst) : nullptr;
  for (u64 m = w.exec; m; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    if (GPU_UNLIKELY(a[l] & (sizeof(T) - 1))) return fault(w, i, FaultKind::Misaligned, a[l], sizeof(T), l, true);
    U old;
    memcpy(&old, w.lds + a[l], sizeof old);
    const T vx = regs == 2 ? __builtin_bit_cast(T, U(t_u64::get(x, l))) : __builtin_bit_cast(T, U(x[l]));
    const T vy = regs == 2 ? __builtin_bit_cast(T, U(t_u64::get(y, l))) : __builtin_bit_cast(T, U(y[l]));
    const U neu = __builtin_bit_cast(U, T(Op::f(__builtin_bit_cast(T, old), vx, vy)));
    memcpy(w.lds + a[l], &neu, sizeof neu);
    if constexpr (kReturn) {
      d[l] = u32(old);
      if constexpr (regs == 2) d[64 + l] = u32(u64(old) >> 32);
    }
  }
  return next(i);
}

const Inst* ds_swizzle(Wave& w, const Inst* i);
const Inst* ds_permute(Wave& w, const Inst* i);
const Inst* ds_bpermute(Wave& w, const Inst* i);
const Inst* ds_addtid(Wave& w, const Inst* i, bool write);
inline const Inst* ds_read_addtid(Wave& w, const Inst* i) { return ds_addtid(w, i, false); }
inline const Inst* ds_write_addtid(Wave& w, const Inst* i) { return ds_addtid(w, i, true); }
const Inst* ds_append_by(Wave& w, const Inst* i, bool up);

// Matrix instructions (matrix.cpp).
const Inst* mfma(Wave& w, const Inst* i);

}  // namespace gpu::GPU_EXEC_NS
