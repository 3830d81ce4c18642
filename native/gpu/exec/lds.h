// LDS (data share) instructions. A workgroup runs on one thread, so its atomics are plain.
#pragma once

#include "memory_access.h"

namespace gpu::GPU_EXEC_NS {

// Lane addresses v + offset, checked for `size` bytes; false after a fault. `second`: 16 for the other
// address of an instruction with two.
bool lds_check(Wave& w, const Inst* i, u32 offset, u32 size, bool write, u32* address, u32 second = 0);
void lds_tell(Wave& w, const Inst* i, const u32* first, const u32* second, u32 size, bool write, bool atomic);

// The usual case: every lane in range, nobody watching.
inline bool lds_place(Wave& w, const Inst* i, u32 offset, u32 size, u32 align, Place& p) {
  if (GPU_UNLIKELY(w.access || offset + size > w.lds_bytes || (align && (offset & (align - 1))))) return false;
  p = {w.lds + offset, row(w, i->src[0].code), w.exec};
  return rows_within(w, p, size, {0, w.lds_bytes - size - offset, align ? align - 1 : 0});
}

template <class E, int kRegs>
GPU_INLINE const Inst* ds_read(Wave& w, const Inst* i) {
  constexpr u32 size = kRegs == 1 ? E::size : 4 * kRegs;
  u32* d = row(w, i->dst);
  Place p;
  if (GPU_LIKELY(lds_place(w, i, u32(i->imm), size, 0, p))) {
    load_rows<E, kRegs>(d, p);
    return next(i);
  }
  alignas(64) u32 a[64];
  if (!lds_check(w, i, u32(i->imm), size, false, a)) return nullptr;
  load_rows<E, kRegs>(d, {w.lds, a, w.exec});
  return next(i);
}

template <class E, int kRegs>
GPU_INLINE const Inst* ds_write(Wave& w, const Inst* i) {
  constexpr u32 size = kRegs == 1 ? E::size : 4 * kRegs;
  const u32* s = row(w, i->src[1].code);
  Place p;
  if (GPU_LIKELY(lds_place(w, i, u32(i->imm), size, 0, p))) {
    store_rows<E, kRegs>(s, p);
    return next(i);
  }
  alignas(64) u32 a[64];
  if (!lds_check(w, i, u32(i->imm), size, true, a)) return nullptr;
  store_rows<E, kRegs>(s, {w.lds, a, w.exec});
  return next(i);
}

// Two accesses at offset0 and offset1, in units of kStride bytes.
template <int kRegs, int kStride>
inline bool lds_check2(Wave& w, const Inst* i, bool write, u32* a, u32* b) {
  MemAccess* told = w.access;
  w.access = nullptr;
  const bool ok = lds_check(w, i, (u32(i->imm) & 255) * kStride, 4 * kRegs, write, a) &&
                  lds_check(w, i, ((u32(i->imm) >> 8) & 255) * kStride, 4 * kRegs, write, b, 16);
  w.access = told;
  if (GPU_UNLIKELY(told != nullptr)) lds_tell(w, i, a, b, 4 * kRegs, write, false);
  return ok;
}
template <int kRegs, int kStride>
inline bool lds_place2(Wave& w, const Inst* i, Place& p, Place& q) {
  const u32 first = (u32(i->imm) & 255) * kStride, second = ((u32(i->imm) >> 8) & 255) * kStride;
  if (!lds_place(w, i, first > second ? first : second, 4 * kRegs, 0, p)) return false;
  p.base = w.lds + first;
  q = p;
  q.base = w.lds + second;
  return true;
}
template <int kRegs, int kStride>
GPU_INLINE const Inst* ds_read2(Wave& w, const Inst* i) {
  alignas(64) u32 a[64], b[64];
  Place p, q;
  if (GPU_LIKELY((lds_place2<kRegs, kStride>(w, i, p, q)))) {
    // The first result may overwrite the addresses of the second.
    if (i->src[0].code >= i->dst && i->src[0].code < i->dst + kRegs)
      q.offset = static_cast<u32*>(memcpy(a, q.offset, sizeof a));
  } else {
    if (!lds_check2<kRegs, kStride>(w, i, false, a, b)) return nullptr;
    p = {w.lds, a, w.exec}, q = {w.lds, b, w.exec};
  }
  load_rows<e_u32, kRegs>(row(w, i->dst), p);
  load_rows<e_u32, kRegs>(row(w, i->dst + kRegs), q);
  return next(i);
}
template <int kRegs, int kStride>
GPU_INLINE const Inst* ds_write2(Wave& w, const Inst* i) {
  alignas(64) u32 a[64], b[64];
  Place p, q;
  if (GPU_UNLIKELY((!lds_place2<kRegs, kStride>(w, i, p, q)))) {
    if (!lds_check2<kRegs, kStride>(w, i, true, a, b)) return nullptr;
    p = {w.lds, a, w.exec}, q = {w.lds, b, w.exec};
  }
  store_rows<e_u32, kRegs>(row(w, i->src[1].code), p);
  store_rows<e_u32, kRegs>(row(w, i->src[2].code), q);
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
  const u32 *x = row(w, i->src[1].code), *y = Op::two ? row(w, i->src[2].code) : x;
  alignas(64) u32 a[64];
  [[maybe_unused]] alignas(64) u32 out[64 * regs];
  Place p;
  if (GPU_UNLIKELY(!lds_place(w, i, u32(i->imm), sizeof(T), sizeof(T), p))) {
    if (!lds_check(w, i, u32(i->imm), sizeof(T), true, a)) return nullptr;
    if (w.access) w.access->atomic = true;
    for (u64 m = w.exec; m; m &= m - 1) {
      const int l = __builtin_ctzll(m);
      if (a[l] & (sizeof(T) - 1)) return fault(w, i, FaultKind::Misaligned, a[l], sizeof(T), l, true);
    }
    p = {w.lds, a, w.exec};
  }
  const auto one = [&](int l) {
    u8* const to = p.base + p.offset[l];
    U old;
    memcpy(&old, to, sizeof old);
    const U neu =
        __builtin_bit_cast(U, T(Op::f(__builtin_bit_cast(T, old), atomic_data<Op>(x, l), atomic_data<Op>(y, l))));
    memcpy(to, &neu, sizeof neu);
    if constexpr (kReturn) {
      out[l] = u32(old);
      if constexpr (regs == 2) out[64 + l] = u32(u64(old) >> 32);
    }
  };
  if (p.mask == ~u64(0)) {
    for (int l = 0; l < 64; ++l) one(l);
  } else {
    for (u64 m = p.mask; m; m &= m - 1) one(__builtin_ctzll(m));
  }
  if constexpr (kReturn)
    for (u32 r = 0; r < regs; ++r) blend(w, row(w, i->dst + r), out + 64 * r, p.mask);
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
