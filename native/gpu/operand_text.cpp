#include "operand_text.h"

#include <bit>

#include "wait_counts.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wrestrict"  // false alarm on string concatenation, GCC bug 105329
#endif

namespace gpu {

namespace {

bool is_float64(OpType t) { return t == OpType::F64 || t == OpType::F64R; }

}  // namespace

std::string vector_text(uint32_t row, unsigned width) {
  const char letter = row >= kAccRow ? 'a' : 'v';
  const uint32_t n = row % kAccRow;
  return width == 1 ? format("%c%u", letter, n) : format("%c[%u:%u]", letter, n, n + width - 1);
}

std::string scalar_text(uint32_t code, unsigned width) {
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

std::string constant_text(uint32_t code, OpType type, uint32_t literal, bool wide) {
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

std::string gpr_index_text(uint32_t v) {
  if (v & ~15u) return format("0x%x", v);
  static constexpr const char* names[] = {"SRC0", "SRC1", "SRC2", "DST"};
  std::string list;
  for (int n = 0; n < 4; ++n)
    if ((v >> n) & 1) list += (list.empty() ? "" : ",") + std::string(names[n]);
  return "gpr_idx(" + list + ")";
}

std::string hwreg_text(uint32_t k, Arch arch) {
  const uint32_t id = k & 63, offset = (k >> 6) & 31, width = ((k >> 11) & 31) + 1;
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
  const bool known = id < std::size(names) && names[id] && (id < 20 || arch == Arch::Gfx942);
  std::string text = "hwreg(" + (known ? std::string(names[id]) : format("%u", id));
  if (offset != 0 || width != 32) text += format(", %u, %u", offset, width);
  return text + ")";
}

std::string waitcnt_text(uint32_t k) {
  const auto [vm, exp, lgkm] = wait_counts(k);
  const bool all = vm == 63 && exp == 7 && lgkm == 15;
  std::string text;
  if (vm != 63 || all) text += format(" vmcnt(%u)", vm);
  if (exp != 7 || all) text += format(" expcnt(%u)", exp);
  if (lgkm != 15 || all) text += format(" lgkmcnt(%u)", lgkm);
  return text;
}

std::string sendmsg_text(uint32_t k) {
  const uint32_t id = k & 15, op = (k >> 4) & 7, stream = (k >> 8) & 3;
  const bool gs = (id == 2 || id == 3) && op < 4;
  if ((k & ~0x37fu) && !gs) return format("%u", k);
  const char* name = id == 1    ? "MSG_INTERRUPT"
                     : id == 4  ? "MSG_SAVEWAVE"
                     : id == 5  ? "MSG_STALL_WAVE_GEN"
                     : id == 6  ? "MSG_HALT_WAVES"
                     : id == 7  ? "MSG_ORDERED_PS_DONE"
                     : id == 8  ? "MSG_EARLY_PRIM_DEALLOC"
                     : id == 9  ? "MSG_GS_ALLOC_REQ"
                     : id == 10 ? "MSG_GET_DOORBELL"
                                : nullptr;
  if (name && !op && !stream) return format("sendmsg(%s)", name);
  if (!gs) return format("sendmsg(%u, %u, %u)", id, op, stream);
  static constexpr const char* ops[] = {"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"};
  const char* which = id == 2 ? "MSG_GS" : "MSG_GS_DONE";
  return op == 0 ? format("sendmsg(%s, %s)", which, ops[0]) : format("sendmsg(%s, %s, %u)", which, ops[op], stream);
}

const char* selection_text(unsigned s) {
  static constexpr const char* names[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", "?"};
  return names[s & 7];
}

std::string dpp_text(uint32_t c) {
  const uint32_t n = c & 15;
  if (c < 0x100) return format("quad_perm:[%u,%u,%u,%u]", c & 3, (c >> 2) & 3, (c >> 4) & 3, c >> 6);
  if (c > 0x100 && c < 0x110) return format("row_shl:%u", n);
  if (c > 0x110 && c < 0x120) return format("row_shr:%u", n);
  if (c > 0x120 && c < 0x130) return format("row_ror:%u", n);
  if (c >= 0x150 && c < 0x160) return format("row_newbcast:%u", n);
  switch (c) {
    case 0x130: return "wave_shl:1";
    case 0x134: return "wave_rol:1";
    case 0x138: return "wave_shr:1";
    case 0x13c: return "wave_ror:1";
    case 0x140: return "row_mirror";
    case 0x141: return "row_half_mirror";
    case 0x142: return "row_bcast:15";
    case 0x143: return "row_bcast:31";
    default: return "/* unknown dpp_ctrl */";
  }
}

std::string swizzle_text(uint32_t v) {
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

std::string buffer_format_text(uint32_t d, uint32_t n) {
  static constexpr const char* data[] = {"INVALID",     "8",        "16",          "8_8",        "32",      "16_16",
                                         "10_11_11",    "11_11_10", "10_10_10_2",  "2_10_10_10", "8_8_8_8", "32_32",
                                         "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15"};
  static constexpr const char* number[] = {"UNORM", "SNORM", "USCALED",    "SSCALED",
                                           "UINT",  "SINT",  "RESERVED_6", "FLOAT"};
  std::string text;
  if (d != 1) text += format("BUF_DATA_FORMAT_%s", data[d & 15]);
  if (n != 0) text += (text.empty() ? "" : ",") + format("BUF_NUM_FORMAT_%s", number[n & 7]);
  return text;
}

}  // namespace gpu
