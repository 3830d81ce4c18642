#include "hazards.h"

#include <bit>
#include <string_view>

#include "dpp.h"
#include "hazards_group.h"

namespace gpu::check {
namespace {

uint8_t passes_of(int16_t matrix, Arch arch) {
  // Cycles that the matrix core is busy, and those that the vector unit is; a pass takes four.
  static constexpr struct {
    uint16_t busy, alone;
  } kCycles[][kMatrixCount] = {
#include "matrix_cycles.inc"
  };
  return matrix < 0 ? 0 : uint8_t(kCycles[size_t(arch)][matrix].busy / 4);
}

uint64_t dpp_lanes(uint32_t control, uint64_t exec) {
  uint64_t out = 0;
  for (int l = 0; l < kLanes; ++l) {
    const int from = dpp_source(control, l);
    if (from >= 0 && exec >> l & 1) out |= exec & uint64_t(1) << from;
  }
  return out;
}

uint64_t selected_lane(const Wave& wave, const Inst& inst) {
  const Source& lane = inst.src[1];
  // Where the instruction has just overwritten what chose the lane, any may have been.
  if (lane.kind == Source::Scalar) {
    const bool own = op_table[inst.op].dst == OpType::SGPR && inst.sdst == lane.code;
    return own ? ~uint64_t(0) : uint64_t(1) << (wave.sgpr[lane.code] & 63);
  }
  return lane.code >= 128 && lane.code <= 192 ? uint64_t(1) << ((lane.code - 128) & 63) : ~uint64_t(0);
}

}  // namespace

HazardInst hazard_inst(const Inst& inst, Arch arch) {
  const OpInfo& op = op_table[inst.op];
  const hazard::OpHazard& what = hazard::op_hazards[inst.op];
  return {registers_of(inst), what.did, what.traits, passes_of(op.matrix, arch)};
}

uint64_t Step::lanes_of(const Registers& registers) const {
  switch (registers.lanes) {
    case Registers::Lanes::On: return exec;
    case Registers::Lanes::Every: return ~uint64_t(0);
    case Registers::Lanes::Dpp: return dpp_lanes(inst.dpp_ctrl, exec);
    case Registers::Lanes::First: return exec ? exec & -exec : 1;
    case Registers::Lanes::Selected: return selected_lane(wave, inst);
  }
  return exec;
}

LaunchHazards::LaunchHazards(const Launch& launch) : launch_(launch), arch_(launch.program->arch()) {}

LaunchHazards::~LaunchHazards() = default;

const HazardInst& LaunchHazards::known(const Inst& inst) {
  auto& known = known_[size_t(inst.pc - launch_.program->base()) / 4];
  if (!known) known = std::make_unique<HazardInst>(hazard_inst(inst, arch_));
  return *known;
}

Observer* LaunchHazards::begin(WorkgroupContext& group) {
  if (known_.empty()) known_.resize(size_t(launch_.program->end() - launch_.program->base()) / 4 + 1);
  std::unique_ptr<GroupHazards> next;
  if (spare_.empty()) {
    next = std::make_unique<GroupHazards>(*this);
  } else {
    next = std::move(spare_.back());
    spare_.pop_back();
  }
  next->begin(group);
  open_.emplace_back(&group, std::move(next));
  return open_.back().second.get();
}

void LaunchHazards::finished(const WorkgroupContext& group) {
  for (auto it = open_.begin(); it != open_.end(); ++it) {
    if (it->first != &group) continue;
    spare_.push_back(std::move(it->second));
    open_.erase(it);
    return;
  }
}

void LaunchHazards::tell(const WorkgroupContext& group, const HazardFound& found) {
  const uint64_t base = launch_.program->base();
  const std::string key = std::string("hazard ") + found.kind + " " + std::to_string(launch_.program->serial()) + " " +
                          std::to_string(found.first.inst->pc - base) + " " +
                          std::to_string(found.then.inst->pc - base);
  Counter* const counter = findings().place(key, [&](record::Line& line) {
    line.string("tool", "hazards").string("kind", found.kind).string("why", found.why);
    line.number("bytes", found.first.bytes).string("text", found.text);
    if (found.space == Space::Lds) {
      line.number("address", found.address).string("memory", "LDS").number("size", launch_.group_bytes);
    } else if (found.space == Space::Scratch) {
      line.number("address", found.address).string("memory", "private memory").number("size", launch_.private_bytes);
    } else if (found.space != Space::None) {
      describe_memory(line, launch_, found.address);
    }
    line.open("sides", '[');
    for (const HazardSide* side : {&found.first, &found.then})
      describe(line, launch_, {side->access.c_str(), side->inst->pc, side->bytes, group.index, side->wave, side->lane});
    line.close(']');
  });
  ++*counter;
}

}  // namespace gpu::check
