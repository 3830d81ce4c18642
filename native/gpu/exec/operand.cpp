#include "operand.h"

#include "dpp.h"

namespace gpu::GPU_EXEC_NS {

namespace {

// The lanes a control reads, for all controls at once.
struct DppSources {
  alignas(64) u32 from[64];
  u64 none = 0;  // lanes that read nothing
};
const DppSources& dpp_sources(u32 ctrl) {
  static const DppSources* table = [] {
    auto* all = new DppSources[512];
    for (u32 c = 0; c < 512; ++c)
      for (int l = 0; l < 64; ++l) {
        const int from = dpp_source(c, l);
        all[c].from[l] = u32(from < 0 ? 0 : from);
        all[c].none |= u64(from < 0) << l;
      }
    return all;
  }();
  return table[ctrl & 511];
}

void dpp(Wave& w, const Inst* i, const u32* p, int rows, u32* room, u64& mask) {
  const DppSources& s = dpp_sources(i->dpp_ctrl);
  // A source lane that is switched off counts as out of bounds.
  u64 reads = ~s.none;
  if (w.exec != ~u64(0)) {
    reads = 0;
    for (int l = 0; l < 64; ++l) reads |= ((w.exec >> s.from[l]) & 1) << l;
    reads &= ~s.none;
  }
  for (int r = 0; r < rows; ++r) {
    pick_lanes(p + 64 * r, s.from, room + 64 * r);
    if (reads != ~u64(0)) {
      alignas(64) u32 m[64];
      expand(reads, m);
      GPU_LANES room[64 * r + l] &= m[l];
    }
  }
  u64 enabled = 0;  // row_mask by sixteens, bank_mask by fours
  for (int n = 0; n < 4; ++n)
    if ((i->dpp_masks >> (4 + n)) & 1) enabled |= u64(0xffff) << (16 * n);
  for (int n = 0; n < 4; ++n)
    if (!((i->dpp_masks >> n) & 1)) enabled &= ~(u64(0x000f000f000f000f) << (4 * n));
  mask &= enabled & (i->bound_ctrl ? ~u64(0) : reads);
}

constexpr bool is_sdwa(u8 format) { return format == u8(Format::SDWA); }
constexpr bool is_dpp(u8 format) { return format == u8(Format::DPP); }

}  // namespace

void blend_rows(Wave& w, u32* dst, const u32* src, int rows) {
  for (int r = 0; r < rows; ++r) blend(w, dst + 64 * r, src + 64 * r, w.exec);
}

const u32* prepare(Wave& w, const Inst* i, int k, Mod mod, int rows, u32* room, u64& mask) {
  if (rows == 0) return nullptr;
  const Source& s = i->src[k];
  const u32* p = at(w, s);
  if ((s.neg | s.abs) && (mod == Mod::F32 || mod == Mod::F64) &&
      (s.kind == Source::Vector || s.kind == Source::Constant) && !is_dpp(i->format) && !is_sdwa(i->format)) {
    const int top = mod == Mod::F64 ? 64 : 0;
    if (top) copy_row(room, p);
    GPU_LANES room[top + l] = with_sign(p[top + l], 0x80000000u, s.neg, s.abs);
    return room;
  }
  if (s.kind == Source::Scalar) {
    splat(room, p[0]);
    if (rows == 2) splat(room + 64, p[1]);
    p = room;
  } else if (s.kind == Source::Special) {
    const u64 v = special(w, s.code);
    splat(room, u32(v));
    if (rows == 2) splat(room + 64, u32(v >> 32));
    p = room;
  }
  if (i->simple) return p;
  if (is_dpp(i->format) && k == 0) {
    alignas(64) u32 moved[128];
    dpp(w, i, p, rows, moved, mask);
    memcpy(room, moved, size_t(rows) * 256);
    p = room;
  }
  if (is_sdwa(i->format) && k < 2 && s.sel < 6) {
    if (s.neg_hi) GPU_LANES room[l] = sdwa_field(p[l], s.sel, true);
    else GPU_LANES room[l] = sdwa_field(p[l], s.sel, false);
    p = room;
  }
  // The selects of VOP3P; v_pk_fmac_f16 has those of SDWA, or none, and its signs are a half's.
  const bool packed = !is_sdwa(i->format) && !is_dpp(i->format);
  if (packed && (mod == Mod::Packed16 || mod == Mod::PackedF16)) {
    if (s.sel == 2 && !s.neg && !s.neg_hi) return p;
    const u32 flip = mod == Mod::PackedF16 ? (s.neg ? 0x8000u : 0u) | (s.neg_hi ? 0x80000000u : 0u) : 0u;
    GPU_LANES room[l] = packed_halves(p[l], s.sel, flip);
    return room;
  }
  if (mod == Mod::PackedF32) {
    if (s.sel == 2 && !s.neg && !s.neg_hi) return p;
    const u32* lo = s.sel & 1 ? p + 64 : p;
    const u32* hi = s.sel & 2 ? p + 64 : p;
    const u32 flip_lo = s.neg ? 0x80000000u : 0u, flip_hi = s.neg_hi ? 0x80000000u : 0u;
    for (int l = 0; l < 64; ++l) {
      const u32 x = lo[l] ^ flip_lo, y = hi[l] ^ flip_hi;
      room[l] = x, room[64 + l] = y;
    }
    return room;
  }
  if (mod == Mod::Mix) {  // neg_hi means abs
    for (int l = 0; l < 64; ++l) room[l] = mixed(p[l], s.sel, s.neg, s.neg_hi);
    return room;
  }
  if (!is_sdwa(i->format) && (s.sel & 1)) {
    GPU_LANES room[l] = p[l] >> 16;
    p = room;
  }
  if (s.neg || s.abs) {
    const u32 sign = mod == Mod::F16 || mod == Mod::PackedF16 ? 0x8000u : 0x80000000u;
    const int top = mod == Mod::F64 ? 64 : 0;
    if (rows == 2 && p != room) memcpy(room, p, 512);
    const u32* q = p == room || rows == 2 ? room : p;
    GPU_LANES room[top + l] = with_sign(q[top + l], sign, s.neg, s.abs);
    p = room;
  }
  return p;
}

namespace {

float omod_f32(float v, u32 omod) { return omod == 1 ? v * 2.0f : omod == 2 ? v * 4.0f : omod == 3 ? v * 0.5f : v; }

void modify(const Wave& w, const Inst* i, u32* out, Mod mod) {
  const bool dx10 = (w.mode >> 8) & 1;
  // omod is defined only where the type's denormals are flushed; hardware ignores it otherwise.
  const u32 denorm = mod == Mod::F32 || mod == Mod::PackedF32 ? (w.mode >> 4) & 3 : (w.mode >> 6) & 3;
  const u32 omod = denorm & 2 ? 0 : i->omod;
  for (int l = 0; l < 64; ++l) {
    switch (mod) {
      case Mod::F32: {
        float v = omod_f32(as_f32(out[l]), omod);
        out[l] = as_u32(i->clamp ? clamp_f32(v, dx10) : v);
        break;
      }
      case Mod::PackedF32:
        for (int r = 0; r < 128; r += 64)
          if (i->clamp) out[r + l] = clamped<Mod::F32>(out[r + l], dx10);
        break;
      case Mod::F16: {
        float v = omod_f32(f16_to_f32(out[l] & 0xffff), omod);
        out[l] = f32_to_f16(i->clamp ? clamp_f32(v, dx10) : v);
        break;
      }
      case Mod::PackedF16:
        if (i->clamp) out[l] = clamped<Mod::PackedF16>(out[l], dx10);
        break;
      case Mod::F64: {
        double v = t_f64::get(out, l);
        v = omod == 1 ? v * 2.0 : omod == 2 ? v * 4.0 : omod == 3 ? v * 0.5 : v;
        if (i->clamp) v = clamp_f64(v, dx10);
        t_f64::put(out, l, v);
        break;
      }
      default: break;
    }
  }
}

}  // namespace

void finish(Wave& w, const Inst* i, u32* out, Mod mod, int rows, u64 mask) {
  u32* dst = row(w, i->dst);
  if (GPU_UNLIKELY(!i->simple)) {
    if (i->clamp || i->omod) modify(w, i, out, mod);
    const OpInfo& op = op_table[i->op];
    if (is_sdwa(i->format) && i->dst_sel != 6) {
      for (int l = 0; l < 64; ++l) out[l] = sdwa_placed(out[l], dst[l], i->dst_sel, i->dst_unused);
    } else if (op.dst_half == DstHalf::Opsel || op.dst_half == DstHalf::Word) {
      const bool high = i->op_sel & 8;
      for (int l = 0; l < 64; ++l) out[l] = high ? high_half(out[l], dst[l]) : low_half(out[l], dst[l]);
    } else if (op.dst_half == DstHalf::Byte) {
      const u32 shift = 8 * ((i->op_sel >> 2) & 3);
      for (int l = 0; l < 64; ++l) out[l] = one_byte(out[l], dst[l], shift);
    } else if (op.dst_half == DstHalf::Low) {
      for (int l = 0; l < 64; ++l) out[l] = low_half(out[l], dst[l]);
    } else if (op.dst_half == DstHalf::High) {
      for (int l = 0; l < 64; ++l) out[l] = high_half(out[l], dst[l]);
    }
  }
  for (int r = 0; r < rows; ++r) blend(w, dst + 64 * r, out + 64 * r, mask);
}

}  // namespace gpu::GPU_EXEC_NS
