// Machine code to pre-decoded instructions. What an instruction is comes from the generated
// table; this file knows only the bit fields of the encodings.
#include <cstring>

#include "exec.h"

namespace gpu {

namespace {

constexpr uint32_t bits(uint32_t word, int low, int count) { return (word >> low) & ((1u << count) - 1); }
constexpr int32_t sign(uint32_t value, int count) { return int32_t(value << (32 - count)) >> (32 - count); }

// Where an inline float constant is the half-precision value. 16-bit integer sources get the single
// one, of which they read the low half or, packed, the half op_sel names (as LLVM encodes them).
constexpr bool is_f16(OpType t) {
  switch (t) {
    case OpType::F16:
    case OpType::F16D:
    case OpType::F16X2:
    case OpType::F16DX2:
    case OpType::F16R:
    case OpType::B16X2:
    case OpType::B16P: return true;
    default: return false;
  }
}
// Negation and absolute value exist on floating-point sources, and on what v_cndmask moves.
constexpr bool has_sign(OpType t) {
  switch (t) {
    case OpType::F16:
    case OpType::F16D:
    case OpType::F32:
    case OpType::F64:
    case OpType::F16R:
    case OpType::F32R:
    case OpType::F64R:
    case OpType::F16DX2: return true;
    default: return false;
  }
}
constexpr bool is_packed(OpType t) {
  return t == OpType::F16X2 || t == OpType::F16DX2 || t == OpType::U16X2 || t == OpType::I16X2 || t == OpType::B16X2 ||
         t == OpType::W16X2 || t == OpType::F32X2 || t == OpType::B32X2;
}
constexpr bool is_f64(OpType t) { return t == OpType::F64 || t == OpType::F64R; }
constexpr bool is_wide(OpType t) { return width_of[int(t)] >= 2; }

// Values of operand codes 240..248 in half, single and double precision.
constexpr uint16_t kHalf[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
constexpr uint32_t kSingle[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
constexpr uint64_t kDouble[] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
                                0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
                                0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};

class Decoder {
 public:
  Decoder(const uint32_t* code, unsigned words, Arch arch, ConstantRows& rows, Inst& out)
      : code_(code), words_(words), arch_(arch), rows_(rows), i_(out) {}

  bool run() {
    if (words_ == 0) return false;
    i_.word[0] = w0_ = code_[0];
    i_.word[1] = w1_ = words_ > 1 ? code_[1] : 0;
    if (!dispatch() || i_.words > words_) return false;
    i_.word[2] = 0;
    if (i_.words == 1) i_.word[1] = 0;
    i_.cls = uint8_t(op_->cls);
    if (op_->dst_half != DstHalf::None) i_.simple = false;
    for (int k = 0; k < 3; ++k) i_.src[k].plain = plain(k);
    i_.plain_dst = !i_.clamp && !i_.omod && op_->dst_half == DstHalf::None && i_.dst_sel == 6;
    return true;
  }

 private:
  bool plain(int k) const {
    const Source& s = i_.src[k];
    if ((s.kind != Source::Vector && s.kind != Source::Constant) || s.neg || s.abs) return false;
    const OpType t = k < op_->sources ? op_->src[k] : op_->dst;
    if (i_.format == uint8_t(Format::DPP) && k == 0) return false;
    if (i_.format == uint8_t(Format::SDWA) && k < 2) return s.sel == 6 && !is_packed(t);
    if (is_packed(t)) return s.sel == 2 && !s.neg_hi;
    return t == OpType::MIX ? s.sel == 0 && !s.neg_hi : !(s.sel & 1);
  }

  bool dispatch() {
    if (!(w0_ >> 31)) {
      const uint32_t top = w0_ >> 25;
      return top == 0x3f ? vop1() : top == 0x3e ? vopc() : vop2();
    }
    switch (w0_ >> 23) {
      case 0x17d: return sop1();
      case 0x17e: return sopc();
      case 0x17f: return sopp();
      case 0x1a7: return vop3p();
      default: break;
    }
    if ((w0_ >> 28) == 0xb) return sopk();
    if ((w0_ >> 30) == 2) return sop2();
    switch (w0_ >> 26) {
      case 0x30: return smem();
      case 0x34: return vop3();
      case 0x36: return ds();
      case 0x37: return flat();
      case 0x38: return mubuf();
      case 0x3a: return mtbuf();
      default: return false;
    }
  }

  template <size_t N>
  bool find(const int16_t (&index)[2][N], uint32_t code, Format format, unsigned words) {
    if (code >= N || index[int(arch_)][code] < 0) return false;
    i_.op = uint16_t(index[int(arch_)][code]);
    op_ = &op_table[i_.op];
    i_.format = uint8_t(format);
    i_.words = uint8_t(words);
    return true;
  }

  void uses(uint32_t row, uint32_t width) {
    uint32_t v = i_.need & 0xffff, a = i_.need >> 16;
    if (row >= kAccRow) a = row - kAccRow + width > a ? row - kAccRow + width : a;
    else v = row + width > v ? row + width : v;
    i_.need = v | (a << 16);
  }
  void vector_source(int k, uint32_t n, bool acc, OpType type) { vector_source(k, n, acc, width_of[int(type)]); }
  void vector_source(int k, uint32_t n, bool acc, unsigned width) {
    const uint32_t row = n + (acc ? kAccRow : 0);
    Source& s = i_.src[k];
    s.kind = Source::Vector;
    s.code = uint16_t(row);
    s.at = offsetof(Wave, vgpr) + size_t(row) * 256;
    uses(row, width);
  }
  void vector_dst(uint32_t n, bool acc, unsigned width) {
    i_.dst = uint16_t(n + (acc ? kAccRow : 0));
    uses(i_.dst, width);
  }

  // A 9-bit source; a literal takes one more word.
  bool source(Source& s, uint32_t code, OpType type, bool vector) {
    s.code = uint16_t(code);
    if (code >= 256) {
      s.kind = Source::Vector;
      s.code = uint16_t(code - 256);
      s.at = offsetof(Wave, vgpr) + size_t(code - 256) * 256;
      uses(code - 256, width_of[int(type)]);
      return vector;
    }
    if (code < 128) {
      if (code == 125) return false;
      s.kind = Source::Scalar;
      s.at = offsetof(Wave, sgpr) + size_t(code) * 4;
      return true;
    }
    uint64_t value = 0;
    if (code <= 192) value = code - 128;
    else if (code <= 208) value = uint64_t(int64_t(192) - int64_t(code));
    else if (code >= 240 && code <= 248) {
      const int n = int(code - 240);
      value = is_f16(type) ? kHalf[n]
              : is_f64(type) || (is_wide(type) && type != OpType::F32X2 && type != OpType::B32X2 && !matrix())
                  ? kDouble[n]
                  : kSingle[n];
      if (matrix() && op_->matrix >= 0 && matrix_table[op_->matrix].d == MatrixType::F64) value = kDouble[n];
    } else if (code == 255) {
      if (!literal_) {  // both sources may name the one literal
        if (i_.words >= words_) return false;
        literal_ = &code_[i_.words++];
        i_.word[i_.words - 1] = *literal_;
      }
      const uint32_t literal = *literal_;
      value = is_f64(type)          ? uint64_t(literal) << 32
              : type == OpType::I64 ? uint64_t(int64_t(int32_t(literal)))
                                    : literal;
    } else if ((code >= 235 && code <= 238) || (code >= 251 && code <= 253)) {
      s.kind = Source::Special;
      i_.simple = false;
      return true;
    } else {
      return false;
    }
    s.kind = Source::Constant;
    s.at = vector ? rows_.vector(value) : rows_.scalar(value);
    return true;
  }
  bool signed_source(int k) const {
    return has_sign(op_->src[k]) || (op_->sources == 3 && op_->src[2] == OpType::MASK && !(op_->flags & kOpSdst));
  }
  bool matrix() const { return op_->flags & kOpMatrix; }

  void scalar_pair(Source& s, uint32_t code) {
    s.kind = Source::Scalar;
    s.code = uint16_t(code);
    s.at = offsetof(Wave, sgpr) + size_t(code) * 4;
  }

  bool sop2() {
    if (!find(sop2_index, bits(w0_, 23, 7), Format::SOP2, 1)) return false;
    i_.dst = uint16_t(bits(w0_, 16, 7));
    return source(i_.src[0], bits(w0_, 0, 8), op_->src[0], false) &&
           source(i_.src[1], bits(w0_, 8, 8), op_->src[1], false);
  }
  bool sop1() {
    if (!find(sop1_index, bits(w0_, 8, 8), Format::SOP1, 1)) return false;
    i_.dst = uint16_t(bits(w0_, 16, 7));
    return op_->sources == 0 || source(i_.src[0], bits(w0_, 0, 8), op_->src[0], false);
  }
  bool sopc() {
    if (!find(sopc_index, bits(w0_, 16, 7), Format::SOPC, 1)) return false;
    if (!source(i_.src[0], bits(w0_, 0, 8), op_->src[0], false)) return false;
    if (op_->src[1] == OpType::IMM4) {
      i_.imm = int32_t(bits(w0_, 8, 8));
      return true;
    }
    return source(i_.src[1], bits(w0_, 8, 8), op_->src[1], false);
  }
  bool sopk() {
    if (!find(sopk_index, bits(w0_, 23, 5), Format::SOPK, 1)) return false;
    i_.imm = sign(w0_ & 0xffff, 16);
    i_.dst = uint16_t(bits(w0_, 16, 7));
    if (op_->src[0] == OpType::LIT) return source(i_.src[0], 255, OpType::B32, false);
    if (op_->sources) return source(i_.src[0], i_.dst, op_->src[0], false);
    return true;
  }
  bool sopp() {
    i_.imm = sign(w0_ & 0xffff, 16);
    return find(sopp_index, bits(w0_, 16, 7), Format::SOPP, 1);
  }

  bool smem() {
    if (!find(smem_index, bits(w0_, 18, 8), Format::SMEM, 2)) return false;
    i_.dst = uint16_t(bits(w0_, 6, 7));
    i_.glc = bits(w0_, 16, 1);
    if (op_->flags & kOpBare) return true;
    i_.src[0].kind = Source::Scalar;
    i_.src[0].code = uint16_t(2 * bits(w0_, 0, 6));
    const bool imm = bits(w0_, 17, 1), soffset = bits(w0_, 14, 1);
    if (imm) i_.imm = sign(bits(w1_, 0, 21), 21);
    if (soffset) scalar_pair(i_.src[1], bits(w1_, 25, 7));
    else if (!imm) scalar_pair(i_.src[1], bits(w1_, 0, 7));
    if (i_.dst + op_->dst_width > 128) return false;
    return true;
  }

  // Sources common to VOP1, VOP2 and VOPC, which may be extended by SDWA or DPP.
  bool short_sources(uint32_t src0, uint32_t vsrc1, int count) {
    if (src0 == 249) return !(op_->flags & kOpNosdwa) && sdwa(vsrc1, count);
    if (src0 == 250) return !(op_->flags & kOpNodpp) && dpp(vsrc1, count);
    if (!one(0, src0)) return false;
    if (count > 1) {
      if (op_->src[1] == OpType::LIT) return literal_at(1) && vsrc(2, vsrc1);
      if (!vsrc(1, vsrc1)) return false;
      if (op_->sources > 2 && op_->src[2] == OpType::LIT) return literal_at(2);
    }
    return true;
  }
  bool literal_at(int k) { return source(i_.src[k], 255, OpType::B32, true); }
  bool vsrc(int k, uint32_t n) {
    vector_source(k, n, false, op_->src[k]);
    return true;
  }
  bool one(int k, uint32_t code) {
    if (op_->src[k] == OpType::ACC) {
      if (code < 256) return false;
      vector_source(k, code - 256, true, 1u);
      return true;
    }
    return source(i_.src[k], code, op_->src[k], true);
  }

  bool sdwa(uint32_t vsrc1, int count) {
    if (words_ < 2) return false;
    i_.format = uint8_t(Format::SDWA);
    i_.words = 2;
    i_.simple = false;
    const bool compare = op_->encoding == Format::VOPC;
    if (!sdwa_source(0, bits(w1_, 0, 8), bits(w1_, 23, 1))) return false;
    Source& a = i_.src[0];
    a.sel = uint8_t(bits(w1_, 16, 3)), a.neg_hi = bits(w1_, 19, 1), a.neg = bits(w1_, 20, 1), a.abs = bits(w1_, 21, 1);
    if (count > 1) {
      if (!sdwa_source(1, vsrc1, bits(w1_, 31, 1))) return false;
      Source& b = i_.src[1];
      b.sel = uint8_t(bits(w1_, 24, 3)), b.neg_hi = bits(w1_, 27, 1), b.neg = bits(w1_, 28, 1),
      b.abs = bits(w1_, 29, 1);
    }
    if (compare) {
      i_.sdst = uint16_t(bits(w1_, 15, 1) ? bits(w1_, 8, 7) : 106);
    } else {
      i_.dst_sel = uint8_t(bits(w1_, 8, 3));
      i_.dst_unused = uint8_t(bits(w1_, 11, 2));
      i_.clamp = uint8_t(bits(w1_, 13, 1));
      i_.omod = uint8_t(bits(w1_, 14, 2));
    }
    return true;
  }
  bool sdwa_source(int k, uint32_t n, bool scalar) {
    if (scalar) return source(i_.src[k], n, op_->src[k], true);
    vector_source(k, n, false, op_->src[k]);
    return true;
  }
  bool dpp(uint32_t vsrc1, int count) {
    if (words_ < 2) return false;
    i_.format = uint8_t(Format::DPP);
    i_.words = 2;
    i_.simple = false;
    vector_source(0, bits(w1_, 0, 8), false, op_->src[0]);
    if (signed_source(0)) i_.src[0].neg = bits(w1_, 20, 1), i_.src[0].abs = bits(w1_, 21, 1);
    if (count > 1) {
      vector_source(1, vsrc1, false, op_->src[1]);
      if (signed_source(1)) i_.src[1].neg = bits(w1_, 22, 1), i_.src[1].abs = bits(w1_, 23, 1);
    }
    i_.dpp_ctrl = uint16_t(bits(w1_, 8, 9));
    i_.bound_ctrl = bits(w1_, 19, 1);
    i_.dpp_masks = uint8_t(bits(w1_, 24, 8));
    // Double precision has only row_newbcast.
    const bool wide = op_->dst_width == 2 || is_wide(op_->src[0]);
    return !wide || (i_.dpp_ctrl >= 0x150 && i_.dpp_ctrl < 0x160);
  }

  void tie_old() {
    if (!(op_->flags & kOpOld)) return;
    const int k = op_->sources;
    i_.src[k] = Source{};
    i_.src[k].kind = Source::Vector;
    i_.src[k].code = i_.dst;
    i_.src[k].at = offsetof(Wave, vgpr) + size_t(i_.dst) * 256;
    i_.src[k].sel = 2;
  }

  bool vop1() {
    if (!find(vop1_index, bits(w0_, 9, 8), Format::VOP1, 1)) return false;
    if (op_->sources && !short_sources(bits(w0_, 0, 9), 0, 1)) return false;
    const uint32_t d = bits(w0_, 17, 8);
    if (op_->dst == OpType::SGPR) {
      if (d > 127) return false;
      i_.sdst = uint16_t(d);
    } else if (op_->dst != OpType::None) vector_dst(d, op_->dst == OpType::ACC, op_->dst_width);
    return true;
  }
  bool vop2() {
    if (!find(vop2_index, bits(w0_, 25, 6), Format::VOP2, 1)) return false;
    vector_dst(bits(w0_, 17, 8), false, op_->dst_width);
    if (!short_sources(bits(w0_, 0, 9), bits(w0_, 9, 8), 2)) return false;
    i_.sdst = 106;
    if (op_->sources == 3 && op_->src[2] == OpType::MASK) scalar_pair(i_.src[2], 106);
    tie_old();
    if (op_->dst == OpType::F16DX2 && i_.format == uint8_t(Format::VOP2)) i_.src[0].sel = i_.src[1].sel = 2;
    return true;
  }
  bool vopc() {
    if (!find(vopc_index, bits(w0_, 17, 8), Format::VOPC, 1)) return false;
    i_.sdst = 106;
    return short_sources(bits(w0_, 0, 9), bits(w0_, 9, 8), 2);
  }

  bool vop3() {
    if (!find(vop3_index, bits(w0_, 16, 10), Format::VOP3, 2)) return false;
    const bool has_sdst = op_->flags & kOpSdst;
    const uint32_t abs = has_sdst ? 0 : bits(w0_, 8, 3), neg = bits(w1_, 29, 3), sel = has_sdst ? 0 : bits(w0_, 11, 4);
    i_.clamp = uint8_t(bits(w0_, 15, 1));
    i_.omod = uint8_t(bits(w1_, 27, 2));
    i_.op_sel = uint8_t(sel);
    const uint32_t code[3] = {bits(w1_, 0, 9), bits(w1_, 9, 9), bits(w1_, 18, 9)};
    for (int k = 0; k < op_->sources; ++k) {
      if (op_->src[k] == OpType::MASK) {
        if (code[k] > 127) return false;
        scalar_pair(i_.src[k], code[k]);
        continue;
      }
      if (code[k] == 255 || code[k] == 249 || code[k] == 250) return false;
      if (!source(i_.src[k], code[k], op_->src[k], true)) return false;
      i_.src[k].abs = ((abs >> k) & 1) && signed_source(k);
      i_.src[k].neg = ((neg >> k) & 1) && signed_source(k);
      if (op_->flags & kOpOpsel) i_.src[k].sel = (sel >> k) & 1;
      if (i_.src[k].abs || i_.src[k].neg || i_.src[k].sel) i_.simple = false;
    }
    if (i_.clamp || i_.omod) i_.simple = false;
    const uint32_t d = bits(w0_, 0, 8);
    if (op_->dst == OpType::MASK || op_->dst == OpType::SGPR) {
      if (d > 127) return false;
      i_.sdst = uint16_t(d);
    } else if (op_->dst != OpType::None) vector_dst(d, false, op_->dst_width);
    if (has_sdst) i_.sdst = uint16_t(bits(w0_, 8, 7));
    tie_old();
    return true;
  }

  bool vop3p() {
    if (!find(vop3p_index, bits(w0_, 16, 7), Format::VOP3P, 2)) return false;
    const uint32_t code[3] = {bits(w1_, 0, 9), bits(w1_, 9, 9), bits(w1_, 18, 9)};
    if (matrix()) return mai(code);
    const uint32_t neg_hi = bits(w0_, 8, 3), sel = bits(w0_, 11, 3), neg = bits(w1_, 29, 3);
    const uint32_t sel_hi = bits(w1_, 27, 2) | (bits(w0_, 14, 1) << 2);
    i_.clamp = uint8_t(bits(w0_, 15, 1));
    i_.op_sel = uint8_t(sel);
    for (int k = 0; k < op_->sources; ++k) {
      if (code[k] == 255 || code[k] == 249 || code[k] == 250 || !one(k, code[k])) return false;
      const OpType t = op_->src[k];
      if (t == OpType::ACC || op_->dst == OpType::ACC) continue;
      Source& s = i_.src[k];
      s.neg = (neg >> k) & 1;
      s.neg_hi = (neg_hi >> k) & 1;
      s.sel = uint8_t(((sel >> k) & 1) | (((sel_hi >> k) & 1) << 1));
      const bool packed = is_packed(t);
      if (packed ? s.sel != 2 || s.neg || s.neg_hi : s.neg || s.neg_hi || (t == OpType::MIX && s.sel))
        i_.simple = false;
      if (!packed && t != OpType::MIX) s.sel = 0, s.neg_hi = 0;
      // A float constant of a mixed source has the precision that source is read in.
      if (t == OpType::MIX && (s.sel & 2) && code[k] >= 240 && code[k] <= 248)
        s.at = rows_.vector(kHalf[code[k] - 240]);
    }
    if (i_.clamp) i_.simple = false;
    vector_dst(bits(w0_, 0, 8), op_->dst == OpType::ACC, op_->dst_width);
    return true;
  }
  bool mai(const uint32_t* code) {
    i_.cbsz = uint8_t(bits(w0_, 8, 3));
    i_.abid = uint8_t(bits(w0_, 11, 4));
    i_.blgp = uint8_t(bits(w1_, 29, 3));
    const bool acc_cd = bits(w0_, 15, 1), sparse = matrix_table[op_->matrix].sparse;
    for (int k = 0; k < 2; ++k) {
      if (code[k] < 256) return false;
      vector_source(k, code[k] - 256, bits(w1_, 27 + k, 1), op_->src[k]);
    }
    if (sparse) {
      if (code[2] < 256) return false;
      vector_source(2, code[2] - 256, false, 1u);
    } else if (code[2] >= 256) {
      vector_source(2, code[2] - 256, acc_cd, op_->src[2]);
    } else if (code[2] < 128 || !source(i_.src[2], code[2], op_->src[2], true)) {
      return false;
    }
    vector_dst(bits(w0_, 0, 8), acc_cd, op_->dst_width);
    return true;
  }

  bool ds() {
    if (!find(ds_index, bits(w0_, 17, 8), Format::DS, 2)) return false;
    i_.imm = int32_t(bits(w0_, 0, 16));
    i_.gds = bits(w0_, 16, 1);
    const bool acc = bits(w0_, 25, 1);
    if (!(op_->flags & kOpNoaddr)) vector_source(0, bits(w1_, 0, 8), false, 1u);
    if (op_->flags & kOpGwsdata) vector_source(1, bits(w1_, 0, 8), acc, 1u);
    else if (op_->sources > 0) vector_source(1, bits(w1_, 8, 8), acc, op_->src[0]);
    if (op_->sources > 1) vector_source(2, bits(w1_, 16, 8), acc, op_->src[1]);
    if (op_->dst != OpType::None) vector_dst(bits(w1_, 24, 8), acc, op_->dst_width);
    return true;
  }

  bool flat() {
    const uint32_t segment = bits(w0_, 14, 2), code = bits(w0_, 18, 7);
    if (segment == 3) return false;
    if (!(segment == 0   ? find(flat_index, code, Format::FLAT, 2)
          : segment == 1 ? find(scratch_index, code, Format::SCRATCH, 2)
                         : find(global_index, code, Format::GLOBAL, 2)))
      return false;
    i_.imm = segment == 0 ? int32_t(bits(w0_, 0, 12)) : sign(bits(w0_, 0, 13), 13);
    i_.glc = bits(w0_, 16, 1);
    i_.slc = bits(w0_, 17, 1);
    i_.scc = bits(w0_, 25, 1);
    const bool acc = bits(w1_, 23, 1);
    const uint32_t saddr = bits(w1_, 16, 7);
    const bool scalar = segment != 0 && saddr != 0x7f;
    if (scalar) scalar_pair(i_.src[2], saddr);
    const bool vaddr = segment != 1 || (arch_ == Arch::Gfx942 ? bits(w0_, 13, 1) : !scalar);
    if (segment != 1) i_.lds = bits(w0_, 13, 1);
    if (vaddr) vector_source(0, bits(w1_, 0, 8), false, segment == 1 || scalar ? 1u : 2u);
    if (op_->sources) vector_source(1, bits(w1_, 8, 8), acc, op_->src[0]);
    const bool returns = op_->flags & kOpAtomic ? i_.glc : op_->dst != OpType::None;
    if (returns) vector_dst(bits(w1_, 24, 8), acc, op_->dst_width);
    return true;
  }

  bool mubuf() {
    if (!find(mubuf_index, bits(w0_, 18, 7), Format::MUBUF, 2)) return false;
    i_.lds = bits(w0_, 16, 1);
    i_.slc = bits(w0_, 17, 1);
    return buffer();
  }
  bool mtbuf() {
    if (!find(mtbuf_index, bits(w0_, 15, 4), Format::MTBUF, 2)) return false;
    i_.slc = bits(w1_, 22, 1);
    return buffer();
  }
  bool buffer() {
    i_.imm = int32_t(bits(w0_, 0, 12));
    i_.offen = bits(w0_, 12, 1);
    i_.idxen = bits(w0_, 13, 1);
    i_.glc = bits(w0_, 14, 1);
    i_.scc = bits(w0_, 15, 1) && i_.format == uint8_t(Format::MUBUF);
    if (op_->flags & kOpBare) return true;
    const bool acc = bits(w1_, 23, 1);
    vector_source(0, bits(w1_, 0, 8), false, unsigned(i_.offen) + unsigned(i_.idxen));
    i_.src[2].kind = Source::Scalar;
    i_.src[2].code = uint16_t(4 * bits(w1_, 16, 5));
    if (i_.src[2].code > 124) return false;
    if (!source(i_.sbase, bits(w1_, 24, 8), OpType::B32, false)) return false;
    const uint32_t data = bits(w1_, 8, 8);
    if (op_->sources) vector_source(1, data, acc, op_->src[0]);
    const bool returns = op_->flags & kOpAtomic ? i_.glc : op_->dst != OpType::None;
    if (returns && !i_.lds) vector_dst(data, acc, op_->dst_width);
    return true;
  }

  const uint32_t* code_;
  unsigned words_;
  Arch arch_;
  ConstantRows& rows_;
  Inst& i_;
  const OpInfo* op_ = nullptr;
  const uint32_t* literal_ = nullptr;
  uint32_t w0_ = 0, w1_ = 0;
};

}  // namespace

bool decode(const uint32_t* code, unsigned words, Arch arch, ConstantRows& rows, Inst& out) {
  out = Inst{};
  return Decoder(code, words, arch, rows, out).run();
}

bool arch_of(std::string_view isa, Arch& arch) {
  if (isa.starts_with("gfx90a")) arch = Arch::Gfx90a;
  else if (isa.starts_with("gfx942")) arch = Arch::Gfx942;
  else return false;
  return true;
}

}  // namespace gpu
