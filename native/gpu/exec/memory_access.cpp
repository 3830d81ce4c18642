#include "memory_access.h"

namespace gpu::GPU_EXEC_NS {

u8* global_byte(Wave& w, const Inst* i, u64 address, u32 size, bool write, int lane) {
  Range& known = range_of(w, i);
  if (GPU_LIKELY(known.holds(address, size, write) && (write ? known.writable : known.readable)))
    return reinterpret_cast<u8*>(address);
  const Range* r = w.memory ? w.memory->find(address) : nullptr;
  if (!r || !r->holds(address, size, write)) {
    if (passes(w, i, FaultKind::Unmapped, address, size, lane, write)) return reinterpret_cast<u8*>(address);
    fault(w, i, FaultKind::Unmapped, address, size, lane, write);
    return nullptr;
  }
  if (write ? !r->writable : !r->readable) {
    fault(w, i, FaultKind::ReadOnly, address, size, lane, write);
    return nullptr;
  }
  // Never remembered, so that every access to a hostcall buffer comes by here: a wave does not see that
  // the host is still busy, it stops until the host is not.
  if (GPU_UNLIKELY(r->kind == RangeKind::Hostcall)) {
    if (is_hostcall_ready_stack(*r, address)) w.calls_host = true;
    if (!write && is_hostcall_control(*r, address)) {
      if (awaits_host(address)) {
        fault(w, i, FaultKind::HostBusy, address, size, lane, write);
        return nullptr;
      }
      w.calls_host = false;
    }
    return reinterpret_cast<u8*>(address);
  }
  known = *r;
  return reinterpret_cast<u8*>(address);
}

namespace {

void tell(Wave& w, const Inst* i, const Access& a, u32 size, bool write, Space space, bool atomic) {
  MemAccess& m = *w.access;
  m.space = space;
  m.write = write;
  m.atomic = atomic;
  m.two = false;
  m.size = u16(size);
  m.mask = a.mask & ~a.lds & ~a.scratch;
  m.lds_mask = a.lds & a.mask;
  m.scratch_mask = a.scratch & a.mask;
  if (space == Space::Scratch) m.mask = a.mask;
  memcpy(m.address, a.address, sizeof a.address);
  if (m.watcher) m.watcher->touching(w, *i, m);
}

}  // namespace

bool check(Wave& w, const Inst* i, Access& a, u32 size, bool write, u32 align) {
  if (GPU_UNLIKELY(w.access != nullptr)) {
    const bool scratch = i->format == u8(Format::SCRATCH);
    tell(w, i, a, size, write, scratch ? Space::Scratch : Space::Global, align != 0);
  }
  if (align) {
    for (u64 m = a.mask; m; m &= m - 1) {
      const int l = __builtin_ctzll(m);
      if (a.address[l] & (align - 1)) {
        fault(w, i, FaultKind::Misaligned, a.address[l], size, l, write);
        return false;
      }
    }
  }
  const u64 plain = a.mask & ~a.lds & ~a.scratch;
  if (GPU_LIKELY(plain == ~u64(0))) {
    u64 low = a.address[0], high = a.address[0];
    for (int l = 1; l < 64; ++l) {
      low = a.address[l] < low ? a.address[l] : low;
      high = a.address[l] > high ? a.address[l] : high;
    }
    const Range& r = range_of(w, i);
    if (const u64 end = r.end_for(write);
        low >= r.base && high < end && size <= end - high && (write ? r.writable : r.readable))
      return true;
  }
  for (u64 m = plain; m; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    if (GPU_UNLIKELY(!global_byte(w, i, a.address[l], size, write, l))) return false;
  }
  // Beyond what the kernel asked for, but within what it was given, there is memory.
  const auto inside = [&](u64 lanes, FaultKind kind, u64 asked, u64 given) {
    for (u64 m = a.mask & lanes; m; m &= m - 1) {
      const int l = __builtin_ctzll(m);
      const u64 end = a.address[l] + size;
      if (end <= asked) continue;
      if (!passes(w, i, kind, a.address[l], size, l, write)) {
        fault(w, i, kind, a.address[l], size, l, write);
        return false;
      }
      if (end > given) a.drop(l);
    }
    return true;
  };
  return inside(a.lds, FaultKind::LdsOutOfRange, w.lds_bytes, w.lds_taken) &&
         inside(a.scratch, FaultKind::ScratchOutOfRange, w.scratch_bytes_per_lane, w.scratch_bytes_per_lane);
}

namespace {

// Whether base + offset of every lane lies in the range this instruction found last, or one that
// holds its first lane.
bool in_one_range(Wave& w, const Inst* i, u64 base, const u32* offset, const u32* high, u32 same, u32 size, bool write,
                  u32 align, Place& p) {
  p = {reinterpret_cast<u8*>(base), offset, w.exec};
  Range& known = range_of(w, i);
  const auto holds = [&](const Range& r) {
    const u64 low = r.base > base ? r.base - base : 0, end = r.end_for(write) - size;
    if (low > UINT32_MAX || r.end_for(write) < size || end < base + low || base + low < base ||
        !(write ? r.writable : r.readable))
      return false;
    const u64 room = end - base - low, most = UINT32_MAX - low;
    return rows_within(w, p, size, {u32(low), u32(room < most ? room : most), align ? align - 1 : 0, high, same});
  };
  if (GPU_UNLIKELY(align && (base & (align - 1)))) return false;
  if (GPU_LIKELY(holds(known))) return true;
  const Range* r = w.memory ? w.memory->find(base + offset[__builtin_ctzll(w.exec)]) : nullptr;
  if (!r || r->kind == RangeKind::Hostcall || !holds(*r)) return false;
  known = *r;
  return true;
}

}  // namespace

bool GlobalAddress::place(Wave& w, const Inst* i, u32 size, bool write, u32 align, Place& p) {
  if (GPU_UNLIKELY(w.access || !w.exec)) return false;
  const u32* v = row(w, i->src[0].code);
  const u64 offset = u64(i64(i->imm));
  if (i->src[2].kind == Source::Scalar)  // a 64-bit scalar base and a 32-bit lane offset
    return in_one_range(w, i, read_scalar<u64>(w, i->src[2]) + offset, v, nullptr, 0, size, write, align, p);
  const u32 high = v[64 + __builtin_ctzll(w.exec)];
  return in_one_range(w, i, (u64(high) << 32) + offset, v, v + 64, high, size, write, align, p);
}

bool FlatAddress::place(Wave& w, const Inst* i, u32 size, bool write, u32 align, Place& p) {
  if (GPU_UNLIKELY(w.access || !w.exec)) return false;
  const u32* v = row(w, i->src[0].code);
  const u32 high = v[64 + __builtin_ctzll(w.exec)], offset = u32(i->imm);
  if (high == u32(w.private_aperture >> 32)) return false;
  if (high == u32(w.shared_aperture >> 32)) {
    if (offset + size > w.lds_bytes || (align && (offset & (align - 1)))) return false;
    p = {w.lds + offset, v, w.exec};
    return rows_within(w, p, size, {0, w.lds_bytes - size - offset, align ? align - 1 : 0, v + 64, high});
  }
  return in_one_range(w, i, (u64(high) << 32) + offset, v, v + 64, high, size, write, align, p);
}

bool scratch_place(Wave& w, const Inst* i, u32 size, u32* offset, Place& p) {
  // Rows of words: offsets are 64 times those of one lane, and fit 32 bits.
  if (GPU_UNLIKELY(w.access || !w.exec || size > w.scratch_bytes_per_lane || w.scratch_bytes_per_lane >= 1u << 25))
    return false;
  u32 base = u32(i->imm);
  if (i->src[2].kind == Source::Scalar) base += read_scalar<u32>(w, i->src[2]);
  const u32 room = w.scratch_bytes_per_lane - size, odd = size >= 4 ? 3 : size - 1;
  if (i->src[0].kind == Source::Vector) {
    const u32* v = row(w, i->src[0].code);
    alignas(64) u32 at_[64];
    GPU_LANES at_[l] = base + v[l];
    p = {w.scratch, at_, w.exec};
    if (!rows_within(w, p, size, {0, room, odd})) return false;
    GPU_LANES offset[l] = (at_[l] & ~3u) * 64 + u32(l) * 4 + (at_[l] & 3);
    p = {w.scratch, offset, w.exec};
  } else {
    if (base > room || (base & odd)) return false;
    GPU_LANES offset[l] = u32(l) * 4;
    p = {w.scratch + u64(base & ~3u) * 64 + (base & 3), offset, w.exec, size >= 4 && w.exec == ~u64(0)};
  }
  return true;
}

// The usual buffer: bytes counted, lanes at their offsets.
bool BufferAddress::place(Wave& w, const Inst* i, u32 size, bool write, u32 align, Place& p) {
  if (GPU_UNLIKELY(w.access || !w.exec)) return false;
  const u32* r = &w.sgpr[i->src[2].code];
  const u32 soffset = read_scalar<u32>(w, i->sbase), records = r[2];
  const bool swizzle = r[1] >> 31, add_tid = (r[3] >> 23) & 1;
  const u64 fixed = u64(soffset) + u32(i->imm);
  if (swizzle || add_tid || i->idxen || !i->offen || fixed + size > records) return false;
  const u64 base = (r[0] | (u64(r[1] & 0xffff) << 32)) + fixed;
  const u32* v = row(w, i->src[0].code);
  p = {nullptr, v, w.exec};
  return rows_within(w, p, size, {0, u32(records - size - fixed)}) &&
         in_one_range(w, i, base, v, nullptr, 0, size, write, align, p);
}

bool GlobalAddress::form(Wave& w, const Inst* i, Access& a) {
  const u32* v = row(w, i->src[0].code);
  const u64 offset = u64(i64(i->imm));
  a.mask = w.exec;
  if (i->src[2].kind == Source::Scalar) {  // a 64-bit scalar base and a 32-bit lane offset
    const u64 base = read_scalar<u64>(w, i->src[2]) + offset;
    GPU_LANES a.address[l] = base + v[l];
  } else {
    GPU_LANES a.address[l] = (v[l] | (u64(v[64 + l]) << 32)) + offset;
  }
  return true;
}

bool FlatAddress::form(Wave& w, const Inst* i, Access& a) {
  const u32* v = row(w, i->src[0].code);
  const u64 offset = u64(i64(i->imm));
  const u32 shared = u32(w.shared_aperture >> 32), priv = u32(w.private_aperture >> 32);
  a.mask = w.exec;
  u32 odd = 0;
  GPU_LANES {
    a.address[l] = (v[l] | (u64(v[64 + l]) << 32)) + offset;
    odd |= u32(v[64 + l] == shared) | u32(v[64 + l] == priv);
  }
  if (GPU_UNLIKELY(odd)) {
    for (u64 m = a.mask; m; m &= m - 1) {
      const int l = __builtin_ctzll(m);
      if (v[64 + l] == shared) a.lds |= u64(1) << l;
      else if (v[64 + l] == priv) a.scratch |= u64(1) << l;
      else continue;
      a.address[l] = u32(a.address[l]);
    }
  }
  return true;
}

bool ScratchAddress::form(Wave& w, const Inst* i, Access& a) {
  a.mask = a.scratch = w.exec;
  u32 base = u32(i->imm);
  if (i->src[2].kind == Source::Scalar) base += read_scalar<u32>(w, i->src[2]);
  if (i->src[0].kind == Source::Vector) {
    const u32* v = row(w, i->src[0].code);
    GPU_LANES a.address[l] = base + v[l];
  } else {
    GPU_LANES a.address[l] = base;
  }
  // On gfx942 the low half of flat_scratch is not part of the lane's offset: scratch is ours.
  GPU_LANES a.address[l] = u32(a.address[l]);
  return true;
}

// Buffer resource: base [47:0], stride [61:48], swizzle [63]; num_records; add_tid [119].
bool BufferAddress::form(Wave& w, const Inst* i, Access& a) {
  const u32* r = &w.sgpr[i->src[2].code];
  const u64 base = r[0] | (u64(r[1] & 0xffff) << 32);
  const u32 stride = (r[1] >> 16) & 0x3fff, records = r[2];
  const bool swizzle = r[1] >> 31, add_tid = (r[3] >> 23) & 1;
  const u32 index_stride = 8u << ((r[3] >> 21) & 3), element = 2u << ((r[3] >> 19) & 3);
  const u32* v = row(w, i->src[0].code);
  const u32 soffset = read_scalar<u32>(w, i->sbase);
  const OpInfo& op = op_table[i->op];
  const u32 bytes = op.memory_bytes;
  a.mask = w.exec;
  // The private segment before gfx942: words interleaved over lanes. An access that is not aligned
  // stays in its lane.
  const u64 start = base + soffset - reinterpret_cast<u64>(w.scratch);
  if (swizzle && add_tid && !i->idxen && element == 4 && index_stride == 64 && w.scratch && start % 256 == 0 &&
      start / 64 < w.scratch_bytes_per_lane) {
    a.scratch = w.exec;
    GPU_LANES a.address[l] = start / 64 + u32(i->imm) + (i->offen ? v[l] : 0);
    return true;
  }
  for (u64 m = w.exec; m; m &= m - 1) {
    const int l = __builtin_ctzll(m);
    u64 index = i->idxen ? v[l] : 0;
    const u64 offset = u64(u32(i->imm)) + (i->offen ? v[(i->idxen ? 64 : 0) + l] : 0);
    if (add_tid) index += u64(l);
    bool out;
    u64 at_;
    if (swizzle) {
      at_ = (index / index_stride) * index_stride * stride + (offset / element) * element * index_stride +
            (index % index_stride) * element + offset % element;
      out = !add_tid && index >= records;
    } else {
      at_ = index * stride + offset;
      // Raw buffers count bytes, structured ones records.
      out = stride == 0 || !i->idxen ? offset + soffset + bytes > records : index >= records || offset + bytes > stride;
    }
    a.address[l] = base + at_ + soffset;
    if (out) a.drop(l);
  }
  return true;
}

void copy_from_scratch(Wave& w, int lane, u64 offset, u8* to, u32 size) {
  if ((offset & 3) == 0 && size >= 4) {
    for (u32 n = 0; n < size; n += 4) memcpy(to + n, scratch_byte(w, lane, offset + n), 4);
    return;
  }
  for (u32 n = 0; n < size; ++n) to[n] = *scratch_byte(w, lane, offset + n);
}
void copy_to_scratch(Wave& w, int lane, u64 offset, const u8* from, u32 size) {
  if ((offset & 3) == 0 && size >= 4) {
    for (u32 n = 0; n < size; n += 4) memcpy(scratch_byte(w, lane, offset + n), from + n, 4);
    return;
  }
  for (u32 n = 0; n < size; ++n) *scratch_byte(w, lane, offset + n) = from[n];
}

namespace {

struct ScalarAddress {
  u64 address;
  bool zero;
};

ScalarAddress scalar_address(Wave& w, const Inst* i, u32 bytes) {
  const OpInfo& op = op_table[i->op];
  u64 offset = u64(i64(i->imm));
  if (i->src[1].kind == Source::Scalar) offset += read_scalar<u32>(w, i->src[1]);
  const u32* s = &w.sgpr[i->src[0].code];
  if (op.flags & kOpBuffer) {
    const u64 base = s[0] | (u64(s[1] & 0xffff) << 32);
    const u32 stride = (s[1] >> 16) & 0x3fff;
    const u64 limit = stride ? u64(s[2]) * stride : s[2];
    return {(base + (offset & ~u64(3))), offset + bytes > limit};
  }
  const u64 base = s[0] | (u64(s[1]) << 32);
  return {(base + offset) & ~u64(3), false};
}

void tell_scalar(Wave& w, const Inst* i, u64 address, u32 bytes, bool write) {
  MemAccess& m = *w.access;
  m.space = Space::Scalar;
  m.write = write;
  m.atomic = m.two = false;
  m.size = u16(bytes);
  m.mask = 1;
  m.lds_mask = m.scratch_mask = 0;
  m.address[0] = address;
  if (m.watcher) m.watcher->touching(w, *i, m);
}

}  // namespace

const Inst* scalar_load(Wave& w, const Inst* i) {
  const u32 count = op_table[i->op].dst_width, bytes = 4 * count;
  const ScalarAddress a = scalar_address(w, i, bytes);
  if (GPU_UNLIKELY(w.stored)) return give_way(w, i);
  if (GPU_UNLIKELY(w.together == 1)) w.together = 2;
  if (GPU_UNLIKELY(w.access != nullptr)) tell_scalar(w, i, a.address, bytes, false);
  if (GPU_UNLIKELY(a.zero)) {
    for (u32 n = 0; n < count; ++n) w.sgpr[i->dst + n] = 0;
    return next(i);
  }
  const u8* p = global_byte(w, i, a.address, bytes, false, 0);
  if (!p) return nullptr;
  u32* d = &w.sgpr[i->dst];
  switch (count) {
    case 1: memcpy(d, p, 4); break;
    case 2: memcpy(d, p, 8); break;
    case 4: memcpy(d, p, 16); break;
    case 8: memmove(d, p, 32); break;
    default: memmove(d, p, bytes); break;
  }
  return next(i);
}

const Inst* scalar_store(Wave& w, const Inst* i) {
  const u32 count = op_table[i->op].dst_width, bytes = 4 * count;
  const ScalarAddress a = scalar_address(w, i, bytes);
  if (GPU_UNLIKELY(w.access != nullptr)) tell_scalar(w, i, a.address, bytes, true);
  if (a.zero) return next(i);
  u8* p = global_byte(w, i, a.address, bytes, true, 0);
  if (!p) return nullptr;
  memcpy(p, &w.sgpr[i->dst], bytes);
  return next(i);
}

}  // namespace gpu::GPU_EXEC_NS
