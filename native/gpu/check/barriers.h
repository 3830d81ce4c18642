// Barriers that only some work-items of a wave reach: the others are alive and go on later without it. The
// hardware's barrier counts waves and does not notice; the language forbids it, and another compiler or
// another size of a wave makes it a hang.
#pragma once

#include <unordered_map>

#include "findings.h"
#include "workgroup.h"

namespace gpu::check {

class GroupBarriers final : public Observer {
 public:
  void begin(const WorkgroupContext& group);
  void executed(const Wave& wave, const Inst& inst, uint64_t exec, const MemAccess& access) override;

 private:
  struct Missed {
    uint64_t lanes = 0, present = 0;  // alive and not there; there
    uint64_t pc = 0;                  // of the barrier
  };
  const WorkgroupContext* group_ = nullptr;
  std::unordered_map<const Wave*, Missed> missed_;
};

class LaunchBarriers final : public GroupWatcher {
 public:
  Observer* begin(WorkgroupContext& group) override;
  void finished(const WorkgroupContext& group) override;

 private:
  std::unordered_map<const WorkgroupContext*, GroupBarriers> open_;
};

}  // namespace gpu::check
