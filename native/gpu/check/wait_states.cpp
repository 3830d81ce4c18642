#include "wait_states.h"

#include <algorithm>
#include <bit>

#include "operand_text.h"

namespace gpu::check {
namespace {

using hazard::Did;
using hazard::Needs;
using Role = Registers::Role;

bool is_valu(const OpInfo& op) { return op.unit == Unit::Valu || op.unit == Unit::Matrix; }
bool is_memory(const OpInfo& op) { return op.unit == Unit::Vmem || op.unit == Unit::Lds; }
bool is_dgemm(Did did) { return did == Did::Dgemm4 || did == Did::Dgemm16; }
bool uses_m0(const Step& step) { return step.known.traits & hazard::kUsesM0 || step.inst.gds || step.inst.lds; }

// The result is not where the instruction would put it without SDWA or op_sel.
Did did_of(const Step& step) {
  const Inst& inst = step.inst;
  const OpInfo& op = op_table[inst.op];
  if (step.known.did != Did::Valu && step.known.did != Did::Trans) return step.known.did;
  if (Format(inst.format) == Format::SDWA && op.dst != OpType::MASK && inst.dst_sel != 6) return Did::Moved;
  switch (op.dst_half) {
    case DstHalf::Opsel:
    case DstHalf::Word: return inst.op_sel & 8 ? Did::Moved : step.known.did;
    case DstHalf::Byte: return inst.op_sel & 12 ? Did::Moved : step.known.did;
    default: return step.known.did;
  }
}

Needs accumulator(Did did, bool same) {
  if (is_dgemm(did)) return same ? Needs::DgemmCSame : Needs::DgemmC;
  if (did == Did::Sgemm) return same ? Needs::SgemmCSame : Needs::SgemmC;
  return same ? Needs::XdlCSame : Needs::XdlC;
}

// A store whose data the hardware takes later than it issues it.
bool takes_data_late(const Inst& inst, const Registers& data) {
  const Format format = Format(inst.format);
  if (format == Format::DS || data.count <= 2) return false;
  const bool buffer = format == Format::MUBUF || format == Format::MTBUF;
  return !buffer || inst.sbase.kind != Source::Scalar;
}

}  // namespace

// Another wave: what the one before it did is long ago.
void WaitStates::begin() {
  number_ += kRemembered;
  time_ = 0;
  states_ = 1;
  matrix_free_ = 0;
  matrix_ = Did::None;
}

void WaitStates::check(uint32_t number, Did did, const Use& use, uint32_t at) {
  const Event& event = events_[number % kRemembered];
  if (!remembered(number) || event.number != number || !(event.lanes & use.lanes)) return;
  hazard::Waits waits = hazard::waits_table[size_t(arch_)][size_t(did)][size_t(use.needs)];
  if (did == Did::Xdl && event.passes == hazard::kShortPasses) {
    const hazard::Waits& longer = hazard::short_table[size_t(arch_)][size_t(use.needs)];
    if (longer.count) waits = longer;
  }
  const int needed = waits.count + (waits.passes ? event.passes : 0), between = int(time_ - event.time) - 1;
  if (between >= needed) return;
  for (const HazardFound& known : *found_)
    if (known.first.inst == event.inst) return;  // one thing about two instructions
  const bool named = use.registers != nullptr;
  std::string name;
  if (named) {
    name.push_back(' ');
    name.append(use.registers->vector ? vector_text(at, 1) : scalar_text(at, 1));
  }
  HazardFound out;
  out.kind = "wait-states";
  out.why = "wait-states";
  out.text = hazard::did_text[size_t(did)];
  out.text.append(name).append(", then ").append(hazard::needs_text[size_t(use.needs)]).append(name);
  out.text += format(": %d wait state%s needed between them, there %s %d", needed, needed == 1 ? " is" : "s are",
                     between == 1 ? "is" : "are", between);
  const bool vector = named && use.registers->vector;
  const int lane = vector ? std::countr_zero(event.lanes & use.lanes) : -1;
  out.first = {event.inst, 0, 0, lane, ""};
  out.then = {&step_->inst, 0, 0, lane, ""};
  found_->push_back(std::move(out));
}

void WaitStates::check_written(uint32_t row, const Use& use) {
  const uint32_t number = written_[row];
  if (remembered(number)) check(number, events_[number % kRemembered].did, use, row);
}

void WaitStates::check_scalar(uint32_t code, Needs needs, const Registers* registers) {
  check(valu_scalar_[code], Did::ValuScalar, {needs, registers}, code);
}

void WaitStates::vector_read(const Step& step, const Registers& read) {
  const OpInfo& op = op_table[step.inst.op];
  const uint64_t lanes = step.lanes_of(read);
  const bool dpp = Format(step.inst.format) == Format::DPP;
  for (uint32_t row = read.first; row < std::min<uint32_t>(read.first + read.count, kMaxVgprs); ++row) {
    const uint32_t number = written_[row];
    if (!remembered(number)) continue;
    const Event& event = events_[number % kRemembered];
    const auto see = [&](Needs needs) { check_written(row, {needs, &read, lanes}); };
    if (is_memory(op)) {
      see(Needs::MemoryReads);
      if (dgemm_ > number) see(Needs::MemoryAfterDgemm);
    } else if (op.unit == Unit::Matrix) {
      const bool same = event.result.first == read.first && event.result.count == read.count;
      see(read.role == Role::Accumulator ? accumulator(step.known.did, same) : Needs::MatrixAb);
    } else {
      // The same dot product forwards what it accumulates.
      const bool forwarded = event.did == Did::Dot && event.inst->op == step.inst.op && read.role == Role::Accumulator;
      if (!forwarded) see(Needs::Reads);
      if (step.known.traits & hazard::kPlain) see(Needs::PlainReads);
      if (step.known.traits & hazard::kReadlane) see(Needs::ReadlaneReads);
      if (dpp) see(Needs::DppReads);
    }
  }
}

void WaitStates::scalar_read(const Step& step, const Registers& read) {
  const OpInfo& op = op_table[step.inst.op];
  for (uint32_t code = read.first; code < std::min<uint32_t>(read.first + read.count, kMaxSgprs); ++code) {
    if (op.unit == Unit::Vmem) check_scalar(code, Needs::MemoryScalar, &read);
    if (!is_valu(op)) continue;
    if (read.role == Role::Lane) check_scalar(code, Needs::LaneSelect, &read);
    if (read.role == Role::Source) check_scalar(code, Needs::Constant, &read);
    if (read.role == Role::Mask && step.known.traits & hazard::kDivFmas) check_scalar(code, Needs::DivFmas, &read);
  }
}

// What is read without being an operand.
void WaitStates::specials(const Step& step) {
  constexpr uint16_t kVccz = 251, kExecz = 252;
  static constexpr Registers kVcc{.role = Role::Mask, .first = kVccCode, .count = 2};
  static constexpr Registers kExec{.role = Role::Mask, .first = kExecCode, .count = 2};
  static constexpr Registers kM0{.first = kM0Code, .count = 1};
  const Inst& inst = step.inst;
  const OpInfo& op = op_table[inst.op];
  const auto both = [&](uint32_t code, Needs needs, const Registers* registers) {
    check_scalar(code, needs, registers);
    check_scalar(code + 1, needs, registers);
  };
  if (is_valu(op)) {
    for (int k = 0; k < op.sources; ++k) {
      if (inst.src[k].kind != Source::Special) continue;
      if (inst.src[k].code == kVccz) both(kVccCode, Needs::ZeroFlag, &kVcc);
      if (inst.src[k].code == kExecz) both(kExecCode, Needs::ZeroFlag, &kExec);
    }
    if (Format(inst.format) == Format::DPP) both(kExecCode, Needs::DppExec, &kExec);
    if (step.known.traits & hazard::kLaneOp) both(kExecCode, Needs::LaneExec, &kExec);
    if (op.unit == Unit::Matrix) both(kExecCode, Needs::MatrixExec, &kExec);
    if (step.known.traits & hazard::kFmaF64) check(dgemm_, Did::Dgemm, {Needs::FmaF64}, 0);
  }
  if (uses_m0(step)) {
    check(salu_m0_, Did::SaluM0, {Needs::M0, &kM0}, kM0Code);
    if (op.unit == Unit::Vmem) check_scalar(kM0Code, Needs::MemoryScalar, &kM0);
  }
  if (op.flags & kOpHwreg) check(setreg_[inst.imm & 63], Did::Setreg, {Needs::Hwreg}, 0);
}

void WaitStates::remember(const Step& step, const Registers* result) {
  const Inst& inst = step.inst;
  const OpInfo& op = op_table[inst.op];
  const bool valu = is_valu(op), memory = is_memory(op);
  Event& event = events_[number_ % kRemembered];
  event.number = number_;
  event.time = time_;
  event.inst = &inst;
  event.lanes = op.unit == Unit::Matrix || !(valu || memory) ? ~uint64_t(0) : step.exec;
  event.did = did_of(step);
  event.passes = step.known.passes;
  event.result = result ? *result : Registers{};
  for (const Registers& write : step.known.registers.writes) {
    if (write.vector && write.lanes == Registers::Lanes::Selected) event.lanes = step.lanes_of(write);
    for (uint32_t n = write.first; n < uint32_t(write.first + write.count); ++n) {
      // A memory instruction's result comes later, and has its own ways to be waited for.
      if (write.vector && n < kMaxVgprs) written_[n] = valu && event.lanes ? number_ : valu ? written_[n] : 0;
      if (!write.vector && n < kMaxSgprs) valu_scalar_[n] = valu ? number_ : 0;
      if (!write.vector && n == kM0Code) salu_m0_ = op.unit == Unit::Salu ? number_ : 0;
    }
  }
  for (const Registers& read : step.known.registers.reads) {
    if (!read.vector) continue;
    const bool as_c =
        event.did == Did::Xdl && read.role == Role::Accumulator && !(op.matrix >= 0 && matrix_table[op.matrix].sparse);
    const bool late = op.unit == Unit::Vmem && read.role == Role::Data && takes_data_late(inst, read);
    if (!as_c && !late) continue;
    uint32_t* const at = as_c ? read_as_c_ : stored_;
    for (uint32_t n = read.first; n < std::min<uint32_t>(read.first + read.count, kMaxVgprs); ++n) at[n] = number_;
  }
  if (is_dgemm(event.did)) dgemm_ = number_;
  if (op.flags & kOpHwreg && !op.dst_width) setreg_[inst.imm & 63] = number_;
}

void WaitStates::look(const Step& step, Arch arch, std::vector<HazardFound>& found) {
  const OpInfo& op = op_table[step.inst.op];
  ++number_;
  time_ += states_;
  states_ = op.flags & kOpNop ? uint32_t(step.inst.imm & 15) + 1 : 1;
  if (op.flags & kOpNop) return;
  // The matrix core takes a second instruction when it has the passes of the first behind it.
  if (op.unit == Unit::Matrix) {
    const bool same_core = is_dgemm(step.known.did) == is_dgemm(matrix_);
    if (same_core && matrix_ != Did::None) time_ = std::max(time_, matrix_free_);
    matrix_free_ = time_ + step.known.passes;
    matrix_ = step.known.did;
  }
  step_ = &step;
  arch_ = arch;
  found_ = &found;
  for (const Registers& read : step.known.registers.reads) {
    if (read.vector) vector_read(step, read);
    else scalar_read(step, read);
  }
  specials(step);
  const Registers* result = nullptr;
  for (const Registers& write : step.known.registers.writes) {
    if (!write.vector) continue;
    if (!result) result = &write;
    const uint64_t lanes = step.lanes_of(write);
    for (uint32_t row = write.first; row < std::min<uint32_t>(write.first + write.count, kMaxVgprs); ++row) {
      const uint32_t number = written_[row];
      if (remembered(number) && op.unit != Unit::Matrix) {
        const Event& event = events_[number % kRemembered];
        const bool forwarded = event.did == Did::Dot && event.inst->op == step.inst.op;
        if (!forwarded) check_written(row, {is_valu(op) ? Needs::Writes : Needs::MemoryWrites, &write, lanes});
      }
      if (op.unit != Unit::Valu) continue;
      check(read_as_c_[row], Did::ReadAsC, {Needs::Writes, &write, lanes}, row);
      check(stored_[row], Did::Stored, {Needs::Writes, &write, lanes}, row);
    }
  }
  remember(step, result);
}

}  // namespace gpu::check
