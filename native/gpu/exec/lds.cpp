#include "lds.h"

namespace gpu::GPU_EXEC_NS {

void lds_tell(Wave& w, const Inst* i, const u32* first, const u32* second, u32 size, bool write, bool atomic) {
  MemAccess& m = *w.access;
  m.space = Space::Lds;
  m.write = write;
  m.atomic = atomic;
  m.two = second != nullptr;
  m.size = u16(size);
  m.mask = w.exec;
  m.lds_mask = m.scratch_mask = 0;
  for (int l = 0; l < 64; ++l) {
    m.address[l] = first[l];
    if (second) m.address2[l] = second[l];
  }
  if (m.watcher) m.watcher->touching(w, *i, m);
}

// Where kernels of rocBLAS read to clear a register: hardware gives 0 past the end of the LDS.
constexpr u32 kNowhere = 0xf00000;

bool lds_check(Wave& w, const Inst* i, u32 offset, u32 size, bool write, u32* address, u32 second) {
  const u32* v = row(w, i->src[0].code);
  u32 high = 0;
  if (GPU_LIKELY(w.exec == ~u64(0))) {
    GPU_LANES {
      address[l] = v[l] + offset;
      high = address[l] > high ? address[l] : high;
    }
  } else {
    const u32* m = mask_row(w, w.exec);
    GPU_LANES {
      address[l] = (v[l] + offset) & m[l];
      high = address[l] > high ? address[l] : high;
    }
  }
  if (GPU_UNLIKELY(w.access != nullptr)) lds_tell(w, i, address, nullptr, size, write, false);
  if (GPU_LIKELY(u64(high) + size <= w.lds_bytes)) return true;
  for (u64 m = w.exec; m; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    if (u64(address[l]) + size <= w.lds_bytes) continue;
    if (!write) {
      if (address[l] - kNowhere < 0x10000) {
        address[l] = w.lds_taken;
        continue;
      }
      if (u64(address[l]) + size <= u64(w.lds_bytes) + w.lds_zeros) continue;
    }
    if (passes(w, i, FaultKind::LdsOutOfRange, address[l], size, l, write)) {
      if (u64(address[l]) + size <= w.lds_taken) continue;
      address[l] = w.lds_taken + w.lds_zeros + 32u * unsigned(l) + second;
      memset(w.lds + address[l], 0, 16);
      continue;
    }
    fault(w, i, FaultKind::LdsOutOfRange, address[l], size, l, write);
    return false;
  }
  return true;
}

namespace {

int swizzle_source(u32 offset, int l) {
  const int group = l & 32, n = l & 31;
  if (offset >= 0xc000) {  // rotate
    const int amount = int((offset >> 5) & 31), mask = int(offset & 31);
    const int moved = (offset >> 10) & 1 ? n - amount : n + amount;
    return group | (n & mask) | (moved & 31 & ~mask);
  }
  if (offset & 0x8000) return (l & ~3) | int((offset >> (2 * (l & 3))) & 3);
  return group | (((n & int(offset & 31)) | int((offset >> 5) & 31)) ^ int((offset >> 10) & 31));
}

}  // namespace

const Inst* ds_swizzle(Wave& w, const Inst* i) {
  const u32 offset = u32(i->imm) & 0xffff;
  if (offset >= 0xe000) return unmodelled(w, i);  // FFT patterns
  const u32 *v = row(w, i->src[0].code), *m = mask_row(w, w.exec);
  alignas(64) u32 from[64], active[64], out[64];
  for (int l = 0; l < 64; ++l) from[l] = u32(swizzle_source(offset, l));
  GPU_LANES active[l] = v[l] & m[l];
  pick_lanes(active, from, out);
  blend(w, row(w, i->dst), out, w.exec);
  return next(i);
}

const Inst* ds_permute(Wave& w, const Inst* i) {
  const u32 *v = row(w, i->src[0].code), *data = row(w, i->src[1].code);
  alignas(64) u32 out[64] = {};
  for (u64 m = w.exec; m; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    out[((v[l] + u32(i->imm)) >> 2) & 63] = data[l];
  }
  blend(w, row(w, i->dst), out, w.exec);
  return next(i);
}

const Inst* ds_bpermute(Wave& w, const Inst* i) {
  const u32 *v = row(w, i->src[0].code), *data = row(w, i->src[1].code);
  alignas(64) u32 from[64], active[64], out[64];
  GPU_LANES from[l] = (v[l] + u32(i->imm)) >> 2 & 63;
  if (w.exec != ~u64(0)) {  // a lane that is switched off gives 0
    const u32* m = mask_row(w, w.exec);
    GPU_LANES active[l] = data[l] & m[l];
    data = active;
  }
  pick_lanes(data, from, out);
  blend(w, row(w, i->dst), out, w.exec);
  return next(i);
}

const Inst* ds_addtid(Wave& w, const Inst* i, bool write) {
  const u32 base = u32(i->imm) + (w.m0 & 0xffff);
  for (u64 m = w.exec; m; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    const u32 at_ = base + 4u * unsigned(l);
    if (at_ + 4 > w.lds_bytes) {
      if (!passes(w, i, FaultKind::LdsOutOfRange, at_, 4, l, write))
        return fault(w, i, FaultKind::LdsOutOfRange, at_, 4, l, write);
      if (at_ + 4 > w.lds_taken) {
        if (!write) row(w, i->dst)[l] = 0;
        continue;
      }
    }
    if (write) memcpy(w.lds + at_, &row(w, i->src[1].code)[l], 4);
    else memcpy(&row(w, i->dst)[l], w.lds + at_, 4);
  }
  return next(i);
}

const Inst* ds_append_by(Wave& w, const Inst* i, bool up) {
  const u32 at_ = u32(i->imm) + (w.m0 >> 16), count = u32(__builtin_popcountll(w.exec));
  u32 old = 0;
  if (at_ + 4 > w.lds_bytes && !passes(w, i, FaultKind::LdsOutOfRange, at_, 4, 0, true))
    return fault(w, i, FaultKind::LdsOutOfRange, at_, 4, 0, true);
  if (at_ + 4 <= w.lds_taken) {
    memcpy(&old, w.lds + at_, 4);
    const u32 neu = up ? old + count : old - count;
    memcpy(w.lds + at_, &neu, 4);
  }
  alignas(64) u32 out[64];
  splat(out, old);
  blend(w, row(w, i->dst), out, w.exec);
  return next(i);
}

}  // namespace gpu::GPU_EXEC_NS
