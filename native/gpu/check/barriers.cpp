#include "barriers.h"

#include <algorithm>
#include <bit>

namespace gpu::check {

void GroupBarriers::begin(const WorkgroupContext& group) {
  group_ = &group;
  missed_.clear();
}

// Lanes that were missing may have returned: only one that touches memory again is known to live.
void GroupBarriers::executed(const Wave& wave, const Inst& inst, uint64_t exec, const MemAccess& access) {
  const bool barrier = InstClass(inst.cls) == InstClass::BARRIER;
  if (!barrier && (access.space == Space::None || missed_.empty())) return;
  const auto number = uint32_t(std::find(group_->waves.begin(), group_->waves.end(), &wave) - group_->waves.begin());
  if (barrier) {
    const uint32_t lanes = std::min<uint32_t>(kLanes, group_->shape.items() - number * kLanes);
    const uint64_t all = lanes == kLanes ? ~uint64_t(0) : (uint64_t{1} << lanes) - 1;
    if (const uint64_t lacking = all & ~exec) missed_[&wave] = {lacking, exec, inst.pc};
    else missed_.erase(&wave);
    return;
  }
  const auto found = missed_.find(&wave);
  if (found == missed_.end() || access.space == Space::Scalar || !(exec & found->second.lanes)) return;
  const Missed missed = found->second;
  missed_.erase(found);
  const Launch& launch = *group_->launched;
  const std::string key = "divergent " + std::to_string(launch.program->serial()) + " " +
                          std::to_string(missed.pc - launch.program->base());
  Counter* const counter = findings().place(key, [&](record::Line& line) {
    line.string("tool", "sync").string("kind", "divergent-barrier").string("why", "went-on").number("bytes", 0);
    line.open("sides", '[');
    const int there = missed.present ? std::countr_zero(missed.present) : -1;
    describe(line, launch, {"barrier", missed.pc, 0, group_->index, number, there});
    const int without = std::countr_zero(exec & missed.lanes);
    describe(line, launch, {"goes on without it", inst.pc, 0, group_->index, number, without});
    line.close(']');
  });
  ++*counter;
}

Observer* LaunchBarriers::begin(WorkgroupContext& group) {
  GroupBarriers& barriers = open_[&group];
  barriers.begin(group);
  return &barriers;
}

void LaunchBarriers::finished(const WorkgroupContext& group) { open_.erase(&group); }

}  // namespace gpu::check
