#include "registers.h"

#include <algorithm>
#include <string_view>

namespace gpu {
namespace {

using Role = Registers::Role;
using Lanes = Registers::Lanes;

bool is_scalar(Format format) {
  switch (format) {
    case Format::SOP1:
    case Format::SOP2:
    case Format::SOPK:
    case Format::SOPC:
    case Format::SOPP: return true;
    default: return false;
  }
}

bool is_memory(Format format) {
  switch (format) {
    case Format::DS:
    case Format::FLAT:
    case Format::GLOBAL:
    case Format::SCRATCH:
    case Format::MUBUF:
    case Format::MTBUF: return true;
    default: return false;
  }
}

bool is_half(OpType type) {
  switch (type) {
    case OpType::B16:
    case OpType::U16:
    case OpType::I16:
    case OpType::F16:
    case OpType::F16D:
    case OpType::F16R: return true;
    default: return false;
  }
}

// Of SDWA: a byte, a half, or all.
uint8_t selected_bytes(unsigned select) {
  if (select < 4) return uint8_t(1u << select);
  return select == 4 ? 3 : select == 5 ? 12 : 15;
}

uint8_t half(bool high) { return high ? 12 : 3; }

uint8_t bytes_read(const Inst& inst, int k) {
  const OpInfo& op = op_table[inst.op];
  if (k >= op.sources) return 15;
  const Source& source = inst.src[k];
  if (Format(inst.format) == Format::SDWA && k < 2) return selected_bytes(source.sel);
  if (is_half(op.src[k])) return half(source.sel & 1);
  return op.src[k] == OpType::MIX && source.sel & 2 ? half(source.sel & 1) : 15;
}

uint8_t bytes_written(const Inst& inst) {
  constexpr uint8_t kPreserve = 2;
  if (Format(inst.format) == Format::SDWA && inst.dst_unused == kPreserve) return selected_bytes(inst.dst_sel);
  switch (op_table[inst.op].dst_half) {
    case DstHalf::Opsel:
    case DstHalf::Word: return half(inst.op_sel & 8);
    case DstHalf::Byte: return uint8_t(1u << (inst.op_sel >> 2 & 3));
    case DstHalf::Low: return 3;
    case DstHalf::High: return 12;
    default: return 15;
  }
}

class Finder {
 public:
  explicit Finder(const Inst& inst) : inst_(inst), op_(op_table[inst.op]), name_(op_.name) {}

  InstRegisters run() {
    const Format format = Format(inst_.format);
    if (is_scalar(format)) scalar();
    else if (format == Format::SMEM) scalar_memory();
    else if (is_memory(format)) memory();
    else vector();
    return std::move(out_);
  }

 private:
  void reads_scalar(uint32_t code, uint32_t count, Role role) {
    if (code < kMaxSgprs) out_.reads.push_back({false, role, Lanes::On, 15, uint16_t(code), uint8_t(count)});
  }
  void writes_scalar(uint32_t code, uint32_t count, Role role = Role::Result) {
    out_.writes.push_back({false, role, Lanes::On, 15, uint16_t(code), uint8_t(count)});
  }
  void reads_row(const Source& source, uint32_t count, Role role, Lanes lanes = Lanes::On, uint8_t bytes = 15) {
    const uint32_t row = uint32_t(source.at / (kLanes * 4));
    if (count) out_.reads.push_back({true, role, lanes, bytes, uint16_t(row), uint8_t(count)});
  }
  void result(Lanes lanes = Lanes::On) {
    out_.writes.push_back({true, Role::Result, lanes, bytes_written(inst_), inst_.dst, op_.dst_width});
  }

  void scalar() {
    for (int k = 0; k < op_.sources; ++k)
      if (inst_.src[k].kind == Source::Scalar) reads_scalar(inst_.src[k].code, source_width(inst_, k), Role::Source);
    if (op_.dst_width) {
      if (op_.flags & kOpOld) reads_scalar(inst_.dst, op_.dst_width, Role::Source);
      writes_scalar(inst_.dst, op_.dst_width);
    }
    if (name_.starts_with("s_cbranch_vcc")) reads_scalar(kVccCode, 2, Role::Source);
  }

  void scalar_memory() {
    if (!(op_.flags & kOpBare)) {
      reads_scalar(inst_.src[0].code, op_.flags & kOpBuffer ? 4 : 2, Role::Resource);
      if (inst_.src[1].kind == Source::Scalar) reads_scalar(inst_.src[1].code, 1, Role::Resource);
    }
    if (!op_.dst_width) return;
    if (op_.flags & kOpStore) reads_scalar(inst_.dst, op_.dst_width, Role::Data);
    else writes_scalar(inst_.dst, op_.dst_width);
  }

  void memory() {
    if (op_.flags & kOpBare) return;
    for (int k = 0; k < 3; ++k) {
      const Source& source = inst_.src[k];
      const uint32_t width = source_width(inst_, k);
      if (source.kind == Source::Vector) reads_row(source, width, k ? Role::Data : Role::Address);
      else if (source.kind == Source::Scalar) reads_scalar(source.code, width, Role::Resource);
    }
    if (inst_.sbase.kind == Source::Scalar) reads_scalar(inst_.sbase.code, 1, Role::Resource);
    if (vector_result(inst_)) result();
  }

  Lanes lanes_of(int k) const {
    if (op_.flags & kOpMatrix) return Lanes::Every;
    if (Format(inst_.format) == Format::DPP && k == 0) return Lanes::Dpp;
    if (k == 0 && name_.starts_with("v_readfirstlane")) return Lanes::First;
    if (k == 0 && name_.starts_with("v_readlane")) return Lanes::Selected;
    return Lanes::On;
  }

  void vector() {
    const bool matrix = op_.flags & kOpMatrix, old = op_.flags & kOpOld, dot = name_.starts_with("v_dot");
    const bool sparse = matrix && matrix_table[op_.matrix].sparse;
    for (int k = 0; k < op_.sources + (old ? 1 : 0); ++k) {
      const Source& source = inst_.src[k];
      const OpType type = k < op_.sources ? op_.src[k] : op_.dst;
      const bool accumulates = k == 2 && !sparse && (matrix || dot);
      const uint32_t width = source_width(inst_, k);
      if (source.kind == Source::Vector) {
        reads_row(source, width, accumulates ? Role::Accumulator : Role::Source, lanes_of(k), bytes_read(inst_, k));
      } else if (source.kind == Source::Scalar) {
        const Role role = type == OpType::MASK ? Role::Mask : type == OpType::SLANE ? Role::Lane : Role::Source;
        reads_scalar(source.code, width, role);
      }
    }
    if (name_.starts_with("v_div_fmas")) reads_scalar(kVccCode, 2, Role::Mask);
    const Lanes lanes = matrix ? Lanes::Every : name_.starts_with("v_writelane") ? Lanes::Selected : Lanes::On;
    if (vector_result(inst_)) result(lanes);
    if (sparse) out_.reads.push_back({true, Role::Accumulator, lanes, 15, inst_.dst, op_.dst_width});
    if (name_.starts_with("v_swap")) {
      out_.reads.push_back({true, Role::Source, lanes, 15, inst_.dst, 1});
      out_.writes.push_back({true, Role::Result, lanes, 15, uint16_t(inst_.src[0].at / (kLanes * 4)), 1});
    }
    if (op_.dst == OpType::SGPR) writes_scalar(inst_.sdst, 1);
    else if (op_.dst == OpType::MASK || op_.flags & kOpSdst) writes_scalar(inst_.sdst, 2);
    if (name_.starts_with("v_cmpx")) writes_scalar(kExecCode, 2, Role::Exec);
  }

  const Inst& inst_;
  const OpInfo& op_;
  const std::string_view name_;
  InstRegisters out_;
};

uint32_t memory_width(const Inst& inst, int k) {
  const OpInfo& op = op_table[inst.op];
  const auto data = [&](int n) { return n < op.sources ? std::max<uint32_t>(1, width_of[size_t(op.src[n])]) : 0; };
  switch (Format(inst.format)) {
    case Format::DS: return k ? data(k - 1) : op.flags & kOpNoaddr ? 0 : 1;
    case Format::FLAT: return k ? data(k - 1) : 2;
    case Format::GLOBAL: return k == 1 ? data(0) : k == 2 || inst.src[2].kind != Source::Scalar ? 2 : 1;
    case Format::SCRATCH: return k == 1 ? data(0) : 1;
    default: return k == 1 ? data(0) : k == 2 ? 4 : uint32_t(inst.offen) + inst.idxen;
  }
}

}  // namespace

uint32_t source_width(const Inst& inst, int k) {
  const OpInfo& op = op_table[inst.op];
  if (is_memory(Format(inst.format))) return memory_width(inst, k);
  if (k >= op.sources) return std::max<uint32_t>(1, op.dst_width);  // the destination, read too
  if (op.src[k] == OpType::MASK) return 2;
  if (op.matrix >= 0 && k == 2 && !matrix_table[op.matrix].sparse) return op.dst_width;
  return std::max<uint32_t>(1, width_of[size_t(op.src[k])]);
}

bool vector_result(const Inst& inst) {
  const OpInfo& op = op_table[inst.op];
  if (!op.dst_width || op.dst == OpType::MASK || op.dst == OpType::SGPR) return false;
  const Format format = Format(inst.format);
  if (is_scalar(format) || format == Format::SMEM || inst.lds) return false;
  return format == Format::DS || !(op.flags & kOpAtomic) || inst.glc;
}

InstRegisters registers_of(const Inst& inst) { return Finder(inst).run(); }

}  // namespace gpu
