#include "hazards_group.h"

#include <algorithm>
#include <string_view>

#include "run_one.h"

namespace gpu::check {

void GroupHazards::begin(const WorkgroupContext& group) {
  group_ = &group;
  last_ = 0;
  unsettled_.clear();
  for (uint32_t i = 0; i < group.shape.waves(); ++i) {
    if (waves_.size() <= i) waves_.push_back(std::make_unique<WaveState>());
    waves_[i]->outstanding.begin();
    waves_[i]->states.begin();
    waves_[i]->barriers = 0;
  }
}

uint32_t GroupHazards::number_of(const Wave& wave) {
  if (last_ >= group_->shape.waves() || group_->waves[last_] != &wave)
    last_ = uint32_t(std::find(group_->waves.begin(), group_->waves.end(), &wave) - group_->waves.begin());
  return last_;
}

// What was not waited for at the barrier before is settled, or is listed anew. Waves that are not that far yet
// look at what they have passed.
void GroupHazards::at_barrier(uint32_t number) {
  WaveState& state = *waves_[number];
  ++state.barriers;
  if (group_->shape.waves() == 1) return;
  std::erase_if(unsettled_,
                [&](const Unsettled& one) { return one.wave == number && one.barriers + 1 < state.barriers; });
  state.outstanding.each_write_of_lds([&](const Outstanding& op) {
    unsettled_.push_back({number, state.barriers, op.inst, op.to_lds, op.writes, false});
  });
}

void GroupHazards::look_at_lds(const Step& step, uint32_t number) {
  const OpInfo& op = op_table[step.inst.op];
  WaveState& state = *waves_[number];
  const bool atomic = op.cls == InstClass::LDS_ATOMIC;
  if (unsettled_.empty() && !state.outstanding.loads_to_lds()) return;
  LdsBytes bytes;
  if (!lds_bytes(step, bytes)) {
    if (op.unit == Unit::Lds && op.flags & kOpNoaddr)
      findings().not_covered(
          "whether ds_append, ds_consume and accesses without addresses meet LDS that is still "
          "to be written");
    return;
  }
  state.outstanding.look_at_lds(step, bytes, found_);
  for (Unsettled& one : unsettled_) {
    int lane = -1, writer = -1;
    uint32_t byte = 0;
    if (one.told || one.wave == number || one.barriers != state.barriers) continue;
    if (!bytes.meets(one.bytes, lane, writer, byte)) continue;
    one.told = true;
    HazardFound out;
    out.kind = "early-lds";
    out.why = "barrier";
    out.text = one.to_lds ? "the first was not waited for before the barrier: s_waitcnt vmcnt(0) does"
                          : "the first was not waited for before the barrier: s_waitcnt lgkmcnt(0) does";
    out.other_wave = true;
    out.first = {one.inst, one.wave, one.bytes.size, writer, "write"};
    out.then = {&step.inst, number, bytes.size, lane, atomic ? "atomic update" : step.access.write ? "write" : "read"};
    out.space = Space::Lds;
    out.address = byte;
    found_.push_back(std::move(out));
  }
}

void GroupHazards::executed(const Wave& wave, const Inst& inst, uint64_t exec, const MemAccess& access) {
  const uint32_t number = number_of(wave);
  WaveState& state = *waves_[number];
  Inst moved;
  HazardInst own;
  const bool indexed = moved_registers(wave, inst, moved);
  if (indexed) own = hazard_inst(moved, launch_.arch());
  const Step step{wave, inst, indexed ? own : launch_.known(inst), exec, access};
  state.outstanding.look(step, found_);
  state.states.look(step, launch_.arch(), found_);
  if (access.space != Space::None || op_table[inst.op].unit == Unit::Lds) look_at_lds(step, number);
  state.outstanding.account(step);
  if (InstClass(inst.cls) == InstClass::BARRIER) at_barrier(number);
  if (std::string_view(op_table[inst.op].name).starts_with("s_movrel"))
    findings().not_covered("which scalar registers s_movrels and s_movreld choose by M0");
  if (found_.empty()) return;
  for (HazardFound& found : found_) {
    found.then.wave = number;
    if (!found.other_wave) found.first.wave = number;
    launch_.tell(*group_, found);
  }
  found_.clear();
}

}  // namespace gpu::check
