// Instructions as text, in the syntax of LLVM's disassembler, put together from their operands.
#include <array>
#include <cstring>

#include "operand_text.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wrestrict"  // false alarm on string concatenation, GCC bug 105329
#endif

namespace gpu {

namespace {

// The text needs no constants: it is written from operand codes.
class Values final : public ConstantRows {
 public:
  uintptr_t vector(uint64_t) override { return 0; }
  uintptr_t scalar(uint64_t) override { return 0; }
};

class Writer {
 public:
  Writer(const Inst& i, Arch arch) : i_(i), op_(op_table[i.op]), arch_(arch) {}

  std::string text() {
    out_ = op_.name;
    const Format f = Format(i_.format);
    if (f == Format::SDWA) out_ += "_sdwa";
    else if (f == Format::DPP) out_ += "_dpp";
    else if (promoted()) out_ += f == Format::VOP3 ? "_e64" : "_e32";
    switch (f) {
      case Format::SOP1:
      case Format::SOP2:
      case Format::SOPC: scalar_alu(); break;
      case Format::SOPK: sopk(); break;
      case Format::SOPP: sopp(); break;
      case Format::SMEM: smem(); break;
      case Format::DS: ds(); break;
      case Format::FLAT:
      case Format::GLOBAL:
      case Format::SCRATCH: flat(); break;
      case Format::MUBUF:
      case Format::MTBUF: buffer(); break;
      case Format::VOP3P: op_.flags& kOpMatrix ? matrix() : packed(); break;
      default: vector(); break;
    }
    return out_;
  }

 private:
  bool promoted() const {
    const bool shortable = op_.encoding == Format::VOP1 || op_.encoding == Format::VOP2 || op_.encoding == Format::VOPC;
    const bool plain = (op_.flags & kOpNovop3) && op_.dst != OpType::F16DX2;
    if (!shortable || plain) return false;
    const bool bare = op_.encoding == Format::VOP1 && op_.dst == OpType::None;  // v_nop, v_clrexcp
    return !bare || i_.format == uint8_t(Format::VOP3);
  }
  void add(const std::string& operand) {
    out_ += first_ ? " " : ", ";
    out_ += operand;
    first_ = false;
  }
  uint32_t literal() const { return i_.word[i_.words - 1]; }

  std::string source(const Source& s, OpType t, unsigned width) const {
    if (s.kind == Source::Vector) return vector_text(s.code, width);
    if (s.kind == Source::Scalar) return scalar_text(s.code, width);
    const bool wide = op_.matrix >= 0 && matrix_table[op_.matrix].d == MatrixType::F64;
    return constant_text(s.code, t, literal(), wide || t == OpType::B64 || t == OpType::I64 || t == OpType::U64);
  }
  std::string source(int k) const { return source(i_.src[k], op_.src[k], width_of[int(op_.src[k])]); }

  std::string modified(int k) const {
    const Source& s = i_.src[k];
    std::string text = source(k);
    const bool immediate = s.kind == Source::Constant;
    if (i_.format == uint8_t(Format::SDWA) && s.neg_hi) return "sext(" + text + ")";
    if (s.abs) text = "|" + text + "|";
    if (s.neg) text = immediate && !s.abs ? "neg(" + text + ")" : "-" + text;
    return text;
  }

  void scalar_alu() {
    if (op_.dst != OpType::None) add(scalar_text(i_.dst, op_.dst_width));
    for (int k = 0; k < op_.sources; ++k) {
      if (op_.src[k] == OpType::IMM4) add(gpr_index_text(uint32_t(i_.imm)));
      else add(source(k));
    }
  }
  void sopk() {
    const uint32_t k = uint32_t(i_.imm) & 0xffff;
    if (op_.flags & kOpHwreg) {
      const bool reads = op_.dst != OpType::None;
      add(reads ? scalar_text(i_.dst, 1) : hwreg_text(k, arch_));
      add(reads ? hwreg_text(k, arch_) : source(i_.src[0], OpType::B32, 1));
    } else {
      const bool wide = op_.dst == OpType::B64 || op_.src[0] == OpType::B64;
      add(scalar_text(i_.dst, wide ? 2 : 1));
      add(wide ? format("%u", k) : format("0x%x", k));
    }
  }
  void sopp() {
    const uint32_t k = uint32_t(i_.imm) & 0xffff;
    switch (op_.src[0]) {
      case OpType::TARGET: add(format("%u", k)); break;
      case OpType::UIMM: add(k <= 64 ? format("%u", k) : format("0x%x", k)); break;
      case OpType::GPRIDX: add(gpr_index_text(k)); break;
      case OpType::WAITCNT: out_ += waitcnt_text(k); break;
      case OpType::SENDMSG: add(sendmsg_text(k)); break;
      case OpType::OPTIMM:
        if (k) add(format("%u", k));
        break;
      default: break;
    }
  }
  void smem() {
    const bool discard = op_.flags & kOpDiscard;
    if (op_.dst != OpType::None && !discard) add(scalar_text(i_.dst, op_.dst_width));
    if (op_.flags & kOpBare) return;
    add(scalar_text(i_.src[0].code, op_.flags & kOpBuffer ? 4 : 2));
    const bool imm = (i_.word[0] >> 17) & 1;
    const std::string offset = i_.imm < 0 ? format("-0x%x", unsigned(-i_.imm)) : format("0x%x", unsigned(i_.imm));
    if (i_.src[1].kind == Source::Scalar) {
      add(scalar_text(i_.src[1].code, 1));
      if (imm) out_ += " offset:" + offset;
    } else {
      add(offset);
    }
    if (i_.glc) out_ += " glc";
  }

  void result_modifiers() {
    if (i_.clamp) out_ += " clamp";
    if (i_.omod) out_ += i_.omod == 1 ? " mul:2" : i_.omod == 2 ? " mul:4" : " div:2";
  }

  void vector() {
    const Format f = Format(i_.format);
    const bool vop3 = f == Format::VOP3;
    if (op_.dst == OpType::MASK) add(scalar_text(i_.sdst, 2));
    else if (op_.dst == OpType::SGPR) add(scalar_text(i_.sdst, 1));
    else if (op_.dst != OpType::None) add(vector_text(i_.dst, op_.dst_width));
    if (op_.flags & kOpSdst) add(vop3 ? scalar_text(i_.sdst, 2) : "vcc");
    for (int k = 0; k < op_.sources; ++k) {
      if (op_.src[k] == OpType::MASK) add(vop3 ? scalar_text(i_.src[k].code, 2) : "vcc");
      else add(modified(k));
    }
    if (f == Format::SDWA) sdwa();
    else if (f == Format::DPP) dpp();
    else {
      const bool sel = op_.flags & kOpOpsel || op_.dst_half == DstHalf::Word || op_.dst_half == DstHalf::Byte;
      if (sel && i_.op_sel) {
        std::string list;
        for (int k = 0; k < op_.sources; ++k) list += format("%u,", (i_.op_sel >> k) & 1);
        if (op_.dst_half == DstHalf::Byte) list += format("%u,", (i_.op_sel >> 2) & 1);
        out_ += " op_sel:[" + list + format("%u]", i_.op_sel >> 3);
      }
      result_modifiers();
    }
  }
  void sdwa() {
    result_modifiers();
    static constexpr const char* unused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "?"};
    if (op_.dst != OpType::MASK && op_.dst != OpType::None)
      out_ += format(" dst_sel:%s dst_unused:%s", selection_text(i_.dst_sel), unused[i_.dst_unused & 3]);
    if (op_.sources > 0) out_ += format(" src0_sel:%s", selection_text(i_.src[0].sel));
    if (op_.encoding != Format::VOP1) out_ += format(" src1_sel:%s", selection_text(i_.src[1].sel));
  }
  void dpp() {
    out_ += " " + dpp_text(i_.dpp_ctrl);
    out_ += format(" row_mask:0x%x bank_mask:0x%x", i_.dpp_masks >> 4u, i_.dpp_masks & 15u);
    if (i_.bound_ctrl) out_ += " bound_ctrl:1";
  }

  void list(const char* name, int count, auto bit, uint32_t usual) {
    uint32_t value = 0;
    std::string text;
    for (int k = 0; k < count; ++k) {
      value |= uint32_t(bit(k)) << k;
      text += format(k ? ",%u" : "%u", uint32_t(bit(k)));
    }
    if (value != usual) out_ += format(" %s:[%s]", name, text.c_str());
  }
  void packed() {
    add(vector_text(i_.dst, op_.dst_width));
    for (int k = 0; k < op_.sources; ++k) {
      const bool mix = op_.src[k] == OpType::MIX;
      std::string text = source(k);
      if (mix && i_.src[k].neg_hi) text = "|" + text + "|";
      if (mix && i_.src[k].neg)
        text = i_.src[k].kind == Source::Constant && !i_.src[k].neg_hi ? "neg(" + text + ")" : "-" + text;
      add(text);
    }
    if (op_.dst == OpType::ACC || op_.src[0] == OpType::ACC) return;
    const int n = op_.sources;
    const uint32_t w0 = i_.word[0], w1 = i_.word[1];
    const uint32_t sel = (w0 >> 11) & 7, hi = ((w1 >> 27) & 3) | (((w0 >> 14) & 1) << 2), neg_hi = (w0 >> 8) & 7,
                   neg = w1 >> 29;
    const bool mix = op_.src[0] == OpType::MIX;
    list("op_sel", n, [&](int k) { return (sel >> k) & 1; }, 0);
    list("op_sel_hi", n, [&](int k) { return (hi >> k) & 1; }, mix ? 0 : (1u << n) - 1);
    if (!mix) {
      list("neg_lo", n, [&](int k) { return (neg >> k) & 1; }, 0);
      list("neg_hi", n, [&](int k) { return (neg_hi >> k) & 1; }, 0);
    }
    if (i_.clamp) out_ += " clamp";
  }
  void matrix() {
    add(vector_text(i_.dst, op_.dst_width));
    for (int k = 0; k < 3; ++k) add(source(k));
    if (i_.cbsz) out_ += format(" cbsz:%u", i_.cbsz);
    if (i_.abid) out_ += format(" abid:%u", i_.abid);
    if (!i_.blgp) return;
    const bool f64 = matrix_table[op_.matrix].d == MatrixType::F64;
    if (f64 && arch_ == Arch::Gfx942) out_ += format(" neg:[%u,%u,%u]", i_.blgp & 1, (i_.blgp >> 1) & 1, i_.blgp >> 2);
    else out_ += format(" blgp:%u", i_.blgp);
  }

  void ds() {
    if (op_.dst != OpType::None) add(vector_text(i_.dst, op_.dst_width));
    if (!(op_.flags & kOpNoaddr)) add(vector_text(i_.src[0].code, 1));
    if (op_.sources > 0) add(vector_text(i_.src[1].code, width_of[int(op_.src[0])]));
    if (op_.sources > 1) add(vector_text(i_.src[2].code, width_of[int(op_.src[1])]));
    const uint32_t offset = uint32_t(i_.imm);
    if (op_.flags & kOpTwo) {
      if (offset & 255) out_ += format(" offset0:%u", offset & 255);
      if (offset >> 8) out_ += format(" offset1:%u", offset >> 8);
    } else if (offset) {
      out_ += op_.flags & kOpSwizzle ? " offset:" + swizzle_text(offset) : format(" offset:%u", offset);
    }
    if (i_.gds) out_ += " gds";
  }
  void cache_policy() {
    const bool gfx942 = arch_ == Arch::Gfx942;
    if (i_.glc) out_ += gfx942 ? " sc0" : " glc";
    if (i_.slc) out_ += gfx942 ? " nt" : " slc";
    if (i_.scc) out_ += gfx942 ? " sc1" : " scc";
  }
  void flat() {
    const Format f = Format(i_.format);
    const bool returns = op_.flags & kOpAtomic ? i_.glc : op_.dst != OpType::None;
    const bool scalar = i_.src[2].kind == Source::Scalar;
    if (returns) add(vector_text(i_.dst, op_.dst_width));
    if (i_.src[0].kind != Source::Vector) add("off");
    else add(vector_text(i_.src[0].code, f == Format::SCRATCH || scalar ? 1 : 2));
    if (op_.sources) add(vector_text(i_.src[1].code, width_of[int(op_.src[0])]));
    if (f != Format::FLAT) add(scalar ? scalar_text(i_.src[2].code, f == Format::SCRATCH ? 1 : 2) : "off");
    if (i_.imm) out_ += format(" offset:%d", i_.imm);
    cache_policy();
    if (i_.lds) out_ += " lds";
  }
  void buffer() {
    if (!(op_.flags & kOpBare)) {
      const unsigned width = op_.sources ? width_of[int(op_.src[0])] : op_.dst_width;
      if (!i_.lds) add(vector_text(op_.sources ? i_.src[1].code : i_.dst, width));
      const unsigned address = unsigned(i_.offen) + unsigned(i_.idxen);
      add(address ? vector_text(i_.src[0].code, address) : "off");
      add(scalar_text(i_.src[2].code, 4));
      add(source(i_.sbase, OpType::B32, 1));
      if (i_.format == uint8_t(Format::MTBUF)) typed();
      if (i_.idxen) out_ += " idxen";
      if (i_.offen) out_ += " offen";
      if (i_.imm) out_ += format(" offset:%d", i_.imm);
    }
    cache_policy();
    if (i_.lds) out_ += " lds";
  }
  void typed() {
    const uint32_t data = (i_.word[0] >> 19) & 15, number = (i_.word[0] >> 23) & 7;
    if (data != 1 || number != 0) out_ += " format:[" + buffer_format_text(data, number) + "]";
  }

  const Inst& i_;
  const OpInfo& op_;
  Arch arch_;
  std::string out_;
  bool first_ = true;
};

}  // namespace

std::string disassemble(const void* code, size_t bytes, uint64_t pc, Arch arch, unsigned* words) {
  std::array<uint32_t, 3> word{};
  const size_t count = bytes / 4 < 3 ? bytes / 4 : 3;
  std::memcpy(word.data(), code, 4 * count);
  Values values;
  Inst inst;
  if (!decode(word.data(), unsigned(count), arch, values, inst)) {
    if (words) *words = 0;
    return {};
  }
  inst.pc = pc;
  if (words) *words = inst.words;
  return Writer(inst, arch).text();
}

}  // namespace gpu

extern "C" __attribute__((visibility("default"))) unsigned rpl_disassemble(const char* isa, const void* code,
                                                                           size_t bytes, uint64_t pc, char* out,
                                                                           size_t out_size) {
  gpu::Arch arch;
  if (!isa || !gpu::arch_of(isa, arch) || !out_size) return 0;
  unsigned words = 0;
  const std::string text = gpu::disassemble(code, bytes, pc, arch, &words);
  std::snprintf(out, out_size, "%s", text.c_str());
  return 4 * words;
}
