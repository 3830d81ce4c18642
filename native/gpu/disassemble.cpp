// Instructions as text, in the syntax of LLVM's disassembler.
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <deque>

#include "exec.h"

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

std::string format(const char* text, auto... values) {
  char out[160];
  std::snprintf(out, sizeof out, text, values...);
  return out;
}

std::string vector_name(uint32_t row, unsigned width) {
  const char letter = row >= kAccRow ? 'a' : 'v';
  const uint32_t n = row % kAccRow;
  return width == 1 ? format("%c%u", letter, n) : format("%c[%u:%u]", letter, n, n + width - 1);
}

std::string scalar_name(uint32_t code, unsigned width) {
  struct Named {
    uint32_t code;
    const char *pair, *lo, *hi;
  };
  static constexpr Named named[] = {{102, "flat_scratch", "flat_scratch_lo", "flat_scratch_hi"},
                                    {104, "xnack_mask", "xnack_mask_lo", "xnack_mask_hi"},
                                    {106, "vcc", "vcc_lo", "vcc_hi"},
                                    {126, "exec", "exec_lo", "exec_hi"}};
  for (const Named& n : named) {
    if (code == n.code) return width == 2 ? n.pair : n.lo;
    if (code == n.code + 1 && width == 1) return n.hi;
  }
  if (code == 124) return "m0";
  const char* prefix = code >= 108 && code < 124 ? "ttmp" : "s";
  const uint32_t n = code >= 108 && code < 124 ? code - 108 : code;
  return width == 1 ? format("%s%u", prefix, n) : format("%s[%u:%u]", prefix, n, n + width - 1);
}

bool is_float64(OpType t) { return t == OpType::F64 || t == OpType::F64R; }

std::string constant(uint32_t code, OpType type, uint32_t literal, bool wide) {
  if (code <= 192) return format("%u", code - 128);
  if (code <= 208) return format("%d", 192 - int(code));
  static constexpr const char* floats[] = {"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"};
  if (code >= 240 && code < 248) return floats[code - 240];
  if (code == 248) return is_float64(type) || wide ? "0.15915494309189532" : "0.15915494";
  switch (code) {
    case 235: return "src_shared_base";
    case 236: return "src_shared_limit";
    case 237: return "src_private_base";
    case 238: return "src_private_limit";
    case 251: return "src_vccz";
    case 252: return "src_execz";
    case 253: return "src_scc";
    default: break;
  }
  const bool half = width_of[int(type)] == 1 && (type == OpType::F16 || type == OpType::F16D || type == OpType::U16 ||
                                                 type == OpType::I16 || type == OpType::B16 || type == OpType::F16R);
  return format("0x%x", half ? literal & 0xffff : literal);
}

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
    if (s.kind == Source::Vector) return vector_name(s.code, width);
    if (s.kind == Source::Scalar) return scalar_name(s.code, width);
    const bool wide = op_.matrix >= 0 && matrix_table[op_.matrix].d == MatrixType::F64;
    return constant(s.code, t, literal(), wide || t == OpType::B64 || t == OpType::I64 || t == OpType::U64);
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
    if (op_.dst != OpType::None) add(scalar_name(i_.dst, op_.dst_width));
    for (int k = 0; k < op_.sources; ++k) {
      if (op_.src[k] == OpType::IMM4) add(gpr_index(uint32_t(i_.imm)));
      else add(source(k));
    }
  }
  static std::string gpr_index(uint32_t v) {
    if (v & ~15u) return format("0x%x", v);
    static constexpr const char* names[] = {"SRC0", "SRC1", "SRC2", "DST"};
    std::string list;
    for (int n = 0; n < 4; ++n)
      if ((v >> n) & 1) list += (list.empty() ? "" : ",") + std::string(names[n]);
    return "gpr_idx(" + list + ")";
  }
  std::string hwreg() const {
    const uint32_t k = uint32_t(i_.imm) & 0xffff, id = k & 63, offset = (k >> 6) & 31, width = ((k >> 11) & 31) + 1;
    static constexpr const char* names[] = {nullptr,
                                            "HW_REG_MODE",
                                            "HW_REG_STATUS",
                                            "HW_REG_TRAPSTS",
                                            "HW_REG_HW_ID",
                                            "HW_REG_GPR_ALLOC",
                                            "HW_REG_LDS_ALLOC",
                                            "HW_REG_IB_STS",
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            "HW_REG_SH_MEM_BASES",
                                            "HW_REG_TBA_LO",
                                            "HW_REG_TBA_HI",
                                            "HW_REG_TMA_LO",
                                            "HW_REG_TMA_HI",
                                            "HW_REG_XCC_ID",
                                            "HW_REG_SQ_PERF_SNAPSHOT_DATA",
                                            "HW_REG_SQ_PERF_SNAPSHOT_DATA1",
                                            "HW_REG_SQ_PERF_SNAPSHOT_PC_LO",
                                            "HW_REG_SQ_PERF_SNAPSHOT_PC_HI"};
    const bool known = id < std::size(names) && names[id] && (id < 20 || arch_ == Arch::Gfx942);
    std::string text = "hwreg(" + (known ? std::string(names[id]) : format("%u", id));
    if (offset != 0 || width != 32) text += format(", %u, %u", offset, width);
    return text + ")";
  }
  void sopk() {
    const uint32_t k = uint32_t(i_.imm) & 0xffff;
    if (op_.flags & kOpHwreg) {
      const bool reads = op_.dst != OpType::None;
      add(reads ? scalar_name(i_.dst, 1) : hwreg());
      add(reads ? hwreg() : source(i_.src[0], OpType::B32, 1));
    } else {
      const bool wide = op_.dst == OpType::B64 || op_.src[0] == OpType::B64;
      add(scalar_name(i_.dst, wide ? 2 : 1));
      add(wide ? format("%u", k) : format("0x%x", k));
    }
  }
  void sopp() {
    const uint32_t k = uint32_t(i_.imm) & 0xffff;
    switch (op_.src[0]) {
      case OpType::TARGET: add(format("%u", k)); break;
      case OpType::UIMM: add(k <= 64 ? format("%u", k) : format("0x%x", k)); break;
      case OpType::GPRIDX: add(gpr_index(k)); break;
      case OpType::WAITCNT: waitcnt(k); break;
      case OpType::SENDMSG: sendmsg(k); break;
      case OpType::OPTIMM:
        if (k) add(format("%u", k));
        break;
      default: break;
    }
  }
  void waitcnt(uint32_t k) {
    const uint32_t vm = (k & 15) | ((k >> 10) & 48), exp = (k >> 4) & 7, lgkm = (k >> 8) & 15;
    const bool all = vm == 63 && exp == 7 && lgkm == 15;
    std::string text;
    if (vm != 63 || all) text += format(" vmcnt(%u)", vm);
    if (exp != 7 || all) text += format(" expcnt(%u)", exp);
    if (lgkm != 15 || all) text += format(" lgkmcnt(%u)", lgkm);
    out_ += text;
  }
  void sendmsg(uint32_t k) {
    const uint32_t id = k & 15, op = (k >> 4) & 7, stream = (k >> 8) & 3;
    const bool gs = (id == 2 || id == 3) && op < 4;
    if ((k & ~0x37fu) && !gs) return add(format("%u", k));
    const char* name = id == 1    ? "MSG_INTERRUPT"
                       : id == 4  ? "MSG_SAVEWAVE"
                       : id == 5  ? "MSG_STALL_WAVE_GEN"
                       : id == 6  ? "MSG_HALT_WAVES"
                       : id == 7  ? "MSG_ORDERED_PS_DONE"
                       : id == 8  ? "MSG_EARLY_PRIM_DEALLOC"
                       : id == 9  ? "MSG_GS_ALLOC_REQ"
                       : id == 10 ? "MSG_GET_DOORBELL"
                                  : nullptr;
    if (name && !op && !stream) add(format("sendmsg(%s)", name));
    else if (id == 2 || id == 3) {
      static constexpr const char* ops[] = {"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"};
      const char* which = id == 2 ? "MSG_GS" : "MSG_GS_DONE";
      if (op == 0) add(format("sendmsg(%s, %s)", which, ops[0]));
      else if (op < 4) add(format("sendmsg(%s, %s, %u)", which, ops[op], stream));
      else add(format("sendmsg(%u, %u, %u)", id, op, stream));
    } else add(format("sendmsg(%u, %u, %u)", id, op, stream));
  }

  void smem() {
    const bool discard = op_.flags & kOpDiscard;
    if (op_.dst != OpType::None && !discard) add(scalar_name(i_.dst, op_.dst_width));
    if (op_.flags & kOpBare) return;
    add(scalar_name(i_.src[0].code, op_.flags & kOpBuffer ? 4 : 2));
    const bool imm = (i_.word[0] >> 17) & 1;
    const std::string offset = i_.imm < 0 ? format("-0x%x", unsigned(-i_.imm)) : format("0x%x", unsigned(i_.imm));
    if (i_.src[1].kind == Source::Scalar) {
      add(scalar_name(i_.src[1].code, 1));
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
    if (op_.dst == OpType::MASK) add(scalar_name(i_.sdst, 2));
    else if (op_.dst == OpType::SGPR) add(scalar_name(i_.sdst, 1));
    else if (op_.dst != OpType::None) add(vector_name(i_.dst, op_.dst_width));
    if (op_.flags & kOpSdst) add(vop3 ? scalar_name(i_.sdst, 2) : "vcc");
    for (int k = 0; k < op_.sources; ++k) {
      if (op_.src[k] == OpType::MASK) add(vop3 ? scalar_name(i_.src[k].code, 2) : "vcc");
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
  static const char* selection(unsigned s) {
    static constexpr const char* names[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", "?"};
    return names[s & 7];
  }
  void sdwa() {
    result_modifiers();
    static constexpr const char* unused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "?"};
    if (op_.dst != OpType::MASK && op_.dst != OpType::None)
      out_ += format(" dst_sel:%s dst_unused:%s", selection(i_.dst_sel), unused[i_.dst_unused & 3]);
    if (op_.sources > 0) out_ += format(" src0_sel:%s", selection(i_.src[0].sel));
    if (op_.encoding != Format::VOP1) out_ += format(" src1_sel:%s", selection(i_.src[1].sel));
  }
  void dpp() {
    const uint32_t c = i_.dpp_ctrl, n = c & 15;
    if (c < 0x100) out_ += format(" quad_perm:[%u,%u,%u,%u]", c & 3, (c >> 2) & 3, (c >> 4) & 3, c >> 6);
    else if (c > 0x100 && c < 0x110) out_ += format(" row_shl:%u", n);
    else if (c > 0x110 && c < 0x120) out_ += format(" row_shr:%u", n);
    else if (c > 0x120 && c < 0x130) out_ += format(" row_ror:%u", n);
    else if (c >= 0x150 && c < 0x160) out_ += format(" row_newbcast:%u", n);
    else {
      const char* name = c == 0x130   ? "wave_shl:1"
                         : c == 0x134 ? "wave_rol:1"
                         : c == 0x138 ? "wave_shr:1"
                         : c == 0x13c ? "wave_ror:1"
                         : c == 0x140 ? "row_mirror"
                         : c == 0x141 ? "row_half_mirror"
                         : c == 0x142 ? "row_bcast:15"
                         : c == 0x143 ? "row_bcast:31"
                                      : "/* unknown dpp_ctrl */";
      out_ += std::string(" ") + name;
    }
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
    add(vector_name(i_.dst, op_.dst_width));
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
    add(vector_name(i_.dst, op_.dst_width));
    for (int k = 0; k < 3; ++k) add(source(k));
    if (i_.cbsz) out_ += format(" cbsz:%u", i_.cbsz);
    if (i_.abid) out_ += format(" abid:%u", i_.abid);
    if (!i_.blgp) return;
    const bool f64 = matrix_table[op_.matrix].d == MatrixType::F64;
    if (f64 && arch_ == Arch::Gfx942) out_ += format(" neg:[%u,%u,%u]", i_.blgp & 1, (i_.blgp >> 1) & 1, i_.blgp >> 2);
    else out_ += format(" blgp:%u", i_.blgp);
  }

  void ds() {
    if (op_.dst != OpType::None) add(vector_name(i_.dst, op_.dst_width));
    if (!(op_.flags & kOpNoaddr)) add(vector_name(i_.src[0].code, 1));
    if (op_.sources > 0) add(vector_name(i_.src[1].code, width_of[int(op_.src[0])]));
    if (op_.sources > 1) add(vector_name(i_.src[2].code, width_of[int(op_.src[1])]));
    const uint32_t offset = uint32_t(i_.imm);
    if (op_.flags & kOpTwo) {
      if (offset & 255) out_ += format(" offset0:%u", offset & 255);
      if (offset >> 8) out_ += format(" offset1:%u", offset >> 8);
    } else if (offset) {
      out_ += op_.flags & kOpSwizzle ? " offset:" + swizzle(offset) : format(" offset:%u", offset);
    }
    if (i_.gds) out_ += " gds";
  }
  static std::string swizzle(uint32_t v) {
    if ((v & 0xff00) == 0x8000)
      return format("swizzle(QUAD_PERM,%u,%u,%u,%u)", v & 3, (v >> 2) & 3, (v >> 4) & 3, (v >> 6) & 3);
    if (v & 0x8000) return format("%u", v);
    const uint32_t a = v & 31, o = (v >> 5) & 31, x = (v >> 10) & 31, group = 32 - a;
    if (a == 31 && o == 0 && std::has_single_bit(x)) return format("swizzle(SWAP,%u)", x);
    if (a == 31 && o == 0 && x > 0 && std::has_single_bit(x + 1)) return format("swizzle(REVERSE,%u)", x + 1);
    if (group > 1 && std::has_single_bit(group) && o < group && x == 0)
      return format("swizzle(BROADCAST,%u,%u)", group, o);
    std::string mask;
    const uint32_t zero = o ^ x, one = (a | o) ^ x;
    for (uint32_t bit = 16; bit; bit >>= 1)
      mask += (zero & bit) == (one & bit) ? ((zero & bit) ? '1' : '0') : ((zero & bit) ? 'i' : 'p');
    return "swizzle(BITMASK_PERM,\"" + mask + "\")";
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
    if (returns) add(vector_name(i_.dst, op_.dst_width));
    if (i_.src[0].kind != Source::Vector) add("off");
    else add(vector_name(i_.src[0].code, f == Format::SCRATCH || scalar ? 1 : 2));
    if (op_.sources) add(vector_name(i_.src[1].code, width_of[int(op_.src[0])]));
    if (f != Format::FLAT) add(scalar ? scalar_name(i_.src[2].code, f == Format::SCRATCH ? 1 : 2) : "off");
    if (i_.imm) out_ += format(" offset:%d", i_.imm);
    cache_policy();
    if (i_.lds) out_ += " lds";
  }
  void buffer() {
    if (!(op_.flags & kOpBare)) {
      const unsigned width = op_.sources ? width_of[int(op_.src[0])] : op_.dst_width;
      if (!i_.lds) add(vector_name(op_.sources ? i_.src[1].code : i_.dst, width));
      const unsigned address = unsigned(i_.offen) + unsigned(i_.idxen);
      add(address ? vector_name(i_.src[0].code, address) : "off");
      add(scalar_name(i_.src[2].code, 4));
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
    static constexpr const char* data[] = {"INVALID",     "8",        "16",          "8_8",        "32",      "16_16",
                                           "10_11_11",    "11_11_10", "10_10_10_2",  "2_10_10_10", "8_8_8_8", "32_32",
                                           "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15"};
    static constexpr const char* number[] = {"UNORM", "SNORM", "USCALED",    "SSCALED",
                                             "UINT",  "SINT",  "RESERVED_6", "FLOAT"};
    const uint32_t d = (i_.word[0] >> 19) & 15, n = (i_.word[0] >> 23) & 7;
    if (d == 1 && n == 0) return;
    std::string text;
    if (d != 1) text += format("BUF_DATA_FORMAT_%s", data[d]);
    if (n != 0) text += (text.empty() ? "" : ",") + format("BUF_NUM_FORMAT_%s", number[n]);
    out_ += " format:[" + text + "]";
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
