// Loads and stores of words where every lane lies in the allocation that was found last, or in the LDS; false
// for every other case, in which nothing has happened: it is the interpreter's.

namespace {

// Once in a translation, not at each instruction: compilers take long for what is long.
#define ONCE __attribute__((noinline)) inline

typedef u64 Doubles __attribute__((ext_vector_type(16), aligned(8)));
typedef u32 Quad __attribute__((vector_size(16), aligned(1), may_alias));
typedef u64 AnyDouble __attribute__((aligned(1), may_alias));
typedef u32 AnyWord __attribute__((aligned(1), may_alias));
constexpr Words kCount = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

inline Words words(const u32* at) { return *reinterpret_cast<const Words*>(at); }
inline void put(u32* at, Words value) { *reinterpret_cast<Words*>(at) = value; }
inline bool none(Words x) {
  return __builtin_bit_cast(unsigned short, __builtin_convertvector(x != Words(0), Flags)) == 0;
}

// What the offsets of lanes must satisfy: offset - low <= room, and all high words `same`.
struct Limits {
  u32 low, room;
  const u32* high;
  u32 same;
};
template <bool kAllOn>
inline Words outside(const u32* offset, const Limits& limits, const u32* on, int s) {
  Words wrong = __builtin_convertvector((words(offset + s) - limits.low) > limits.room, Words);
  if (limits.high) wrong |= words(limits.high + s) ^ limits.same;
  return kAllOn ? wrong : wrong & words(on + s);
}
inline bool within(Wave& w, const u32* offset, const Limits& limits) {
  Words bad = 0;
  if (w.exec == kAll) {
    for (int s = 0; s < 64; s += kStrip) bad |= outside<true>(offset, limits, nullptr, s);
  } else {
    const u32* on = mask_row(w);
    for (int s = 0; s < 64; s += kStrip) bad |= outside<false>(offset, limits, on, s);
  }
  return none(bad);
}

// ---- sixteen lanes

template <int kRegs>
inline void load_lane(u32* to, const u8* at, int l) {
  if constexpr (kRegs == 1) {
    to[l] = *reinterpret_cast<const AnyWord*>(at);
  } else if constexpr (kRegs == 4) {
    const Quad v = *reinterpret_cast<const volatile Quad*>(at);
    for (int r = 0; r < 4; ++r) to[64 * r + l] = v[r];
  } else {
    const u64 v = *reinterpret_cast<const volatile AnyDouble*>(at);
    to[l] = u32(v), to[64 + l] = u32(v >> 32);
    if constexpr (kRegs == 3) to[128 + l] = *reinterpret_cast<const AnyWord*>(at + 8);
  }
}
template <int kRegs>
inline void store_lane(const u32* from, u8* at, int l) {
  if constexpr (kRegs == 1) {
    *reinterpret_cast<AnyWord*>(at) = from[l];
  } else if constexpr (kRegs == 4) {
    *reinterpret_cast<volatile Quad*>(at) = Quad{from[l], from[64 + l], from[128 + l], from[192 + l]};
  } else {
    *reinterpret_cast<volatile AnyDouble*>(at) = join(from[l], from[64 + l]);
    if constexpr (kRegs == 3) *reinterpret_cast<AnyWord*>(at + 8) = from[128 + l];
  }
}

// Where they lie: one after the other, all in one place, or anywhere. Offsets are read before anything is
// written: they may be in a register that is.
template <int kRegs>
inline void load_strip(u32* to, const u8* base, const u32* offset) {
  const Words at = words(offset);
  const u32 first = at[0];
  const Words step = at - first;
  if (kRegs < 3 && none(step ^ kCount * u32(4 * kRegs))) {
    if constexpr (kRegs == 1) {
      put(to, *reinterpret_cast<const Words*>(base + first));
    } else {
      const Doubles v = *reinterpret_cast<const Doubles*>(base + first);
      put(to, __builtin_convertvector(v, Words));
      put(to + 64, __builtin_convertvector(v >> 32, Words));
    }
  } else if (none(step)) {
    u32 one[64 * kRegs];
    load_lane<kRegs>(one, base + first, 0);
    for (int r = 0; r < kRegs; ++r) put(to + 64 * r, Words(one[64 * r]));
  } else if constexpr (kRegs == 1) {
    Words v;
#pragma clang loop unroll(full)
    for (int l = 0; l < kStrip; ++l) v[l] = *reinterpret_cast<const AnyWord*>(base + at[l]);
    put(to, v);
  } else {
#pragma clang loop unroll(full)
    for (int l = 0; l < kStrip; ++l) load_lane<kRegs>(to, base + at[l], l);
  }
}
// Lanes store in order: where two name one place, the last one stays.
template <int kRegs>
inline void store_strip(const u32* from, u8* base, const u32* offset) {
  const Words at = words(offset);
  const u32 first = at[0];
  if (kRegs < 3 && none((at - first) ^ kCount * u32(4 * kRegs))) {
    if constexpr (kRegs == 1) {
      *reinterpret_cast<Words*>(base + first) = words(from);
    } else {
      const Doubles low = __builtin_convertvector(words(from), Doubles);
      *reinterpret_cast<Doubles*>(base + first) = low | __builtin_convertvector(words(from + 64), Doubles) << 32;
    }
  } else {
#pragma clang loop unroll(full)
    for (int l = 0; l < kStrip; ++l) store_lane<kRegs>(from, base + at[l], l);
  }
}

template <class Strip, class Lane>
inline void each(u64 exec, Strip strip, Lane lane) {
  STRIPS {
    const u32 part = u16(exec >> s);
    if (__builtin_expect(part == 0xffff, 1)) {
      strip(s);
    } else {
      for (u32 m = part; m; m &= m - 1) lane(s + __builtin_ctz(m));
    }
  }
}
template <int kRegs>
ONCE void load_all(Wave& w, u32 dst, u32 row, const u8* base) {
  u32* to = w.vgpr[dst];
  const u32* offset = w.vgpr[row];
  each(
      w.exec, [&](int s) { load_strip<kRegs>(to + s, base, offset + s); },
      [&](int l) { load_lane<kRegs>(to, base + offset[l], l); });
}
template <int kRegs>
ONCE void store_all(Wave& w, u32 src, u32 row, u8* base) {
  const u32 *from = w.vgpr[src], *offset = w.vgpr[row];
  each(
      w.exec, [&](int s) { store_strip<kRegs>(from + s, base, offset + s); },
      [&](int l) { store_lane<kRegs>(from, base + offset[l], l); });
}

// ---- global memory

// What accesses of one kind share that have the same lanes' offsets: they are checked together, from the
// lowest byte to the end of the highest. Where that fails, they are the interpreter's, one by one.
struct Place {
  u64 base;
  explicit operator bool() const { return base != 0; }
};
// `base`: of all lanes, with 32 bits of offset each; or nothing but the instruction's, with whole addresses.
// 0 where that is in no allocation, whatever the offsets.
inline u64 limited(Wave& w, const Inst* i, u32 row, u64 base, bool whole, u32 size, bool write, Limits& limits) {
  if (!w.exec) return 0;
  const u32* v = w.vgpr[row];
  u32 same = 0;
  if (whole) {
    same = v[64 + __builtin_ctzll(w.exec)];
    base += u64(same) << 32;
  }
  const Range& r = w.ranges[(i->pc >> 3) % 16];
  const u64 end = write ? r.end - r.slack + r.slack % 4 : r.end, low = r.base > base ? r.base - base : 0;
  if (low > kMostU32 || end < size || end - size < base + low || base + low < base ||
      !(write ? r.writable : r.readable))
    return 0;
  const u64 room = end - size - base - low, most = kMostU32 - low;
  limits = {u32(low), u32(room < most ? room : most), whole ? v + 64 : nullptr, same};
  return base;
}
ONCE Place placed(Wave& w, const Inst* i, u32 row, u64 base, bool whole, u32 size, bool write) {
  Limits limits;
  base = limited(w, i, row, base, whole, size, write, limits);
  return {base && within(w, w.vgpr[row], limits) ? base : 0};
}
// A load that shares its check with none, into rows that hold no address of it: what was loaded before a
// strip fails is loaded again.
template <int kRegs>
ONCE bool load_once(Wave& w, const Inst* i, u32 dst, u32 row, u64 base, bool whole) {
  Limits limits;
  if (w.stored || w.exec != kAll) return false;
  base = limited(w, i, row, base, whole, 4 * kRegs, false, limits);
  if (!base) return false;
  const u32* offset = w.vgpr[row];
  STRIPS {
    if (!none(outside<true>(offset, limits, nullptr, s))) return false;
    load_strip<kRegs>(w.vgpr[dst] + s, reinterpret_cast<const u8*>(base), offset + s);
  }
  return true;
}
ONCE Place in_lds(Wave& w, u32 row, u32 low, u32 end) {
  const bool good = end <= w.lds_bytes && within(w, w.vgpr[row], {0, w.lds_bytes - end, nullptr, 0});
  return {good ? reinterpret_cast<u64>(w.lds) + low : 0};
}

// `from`: bytes after the place; `row`: the lanes' offsets.
template <int kRegs>
inline bool load(Wave& w, Place p, u32 dst, u32 row, u32 from) {
  if (!p) return false;
  load_all<kRegs>(w, dst, row, reinterpret_cast<const u8*>(p.base + from));
  return true;
}
template <int kRegs>
inline bool store(Wave& w, Place p, u32 src, u32 row, u32 from) {
  if (!p) return false;
  store_all<kRegs>(w, src, row, reinterpret_cast<u8*>(p.base + from));
  return true;
}
template <int kRegs>
inline bool global_load(Wave& w, Place p, u32 dst, u32 row, u32 from) {
  return !w.stored && load<kRegs>(w, p, dst, row, from);
}
template <int kRegs>
inline bool global_store(Wave& w, Place p, u32 src, u32 row, u32 from) {
  if (!store<kRegs>(w, p, src, row, from)) return false;
  w.stored = w.gives_way;
  return true;
}

// Every lane takes what another has in `data`; a lane that is switched off has 0.
ONCE bool permute(Wave& w, u32 dst, u32 row, u32 data, u32 imm) {
  if (w.exec != kAll) return false;
  u32 from[64];
  STRIPS put(from + s, words(w.vgpr[row] + s) + imm >> 2 & 63);
  Words out[4];
#if defined(__AVX512F__)
  typedef int Ints __attribute__((vector_size(64)));
  const auto part = [&](int n) { return __builtin_bit_cast(Ints, words(w.vgpr[data] + 16 * n)); };
  const Ints a = part(0), b = part(1), c = part(2), d = part(3);
  for (int n = 0; n < 4; ++n) {
    const Words index = words(from + 16 * n);
    const auto at = __builtin_bit_cast(Ints, index);
    const auto low = __builtin_bit_cast(Words, __builtin_ia32_vpermi2vard512(a, at, b));
    const auto high = __builtin_bit_cast(Words, __builtin_ia32_vpermi2vard512(c, at, d));
    out[n] = (index & 32) != 0 ? high : low;
  }
#else
  for (int n = 0; n < 4; ++n)
    for (int l = 0; l < 16; ++l) out[n][l] = w.vgpr[data][from[16 * n + l]];
#endif
  for (int n = 0; n < 4; ++n) put(w.vgpr[dst] + 16 * n, out[n]);
  return true;
}

}  // namespace
