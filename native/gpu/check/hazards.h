// Registers and LDS that are used before they are ready: results of memory instructions before the s_waitcnt
// that makes them valid, and instructions that need wait states between them, as the hardware does not wait.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "findings.h"
#include "hazard_table.h"
#include "registers.h"
#include "workgroup.h"

namespace gpu::check {

class GroupHazards;

// An instruction as the check sees it, worked out once.
struct HazardInst {
  InstRegisters registers;
  hazard::Did did = hazard::Did::None;
  uint8_t traits = 0;
  uint8_t passes = 0;  // of a matrix instruction
};
HazardInst hazard_inst(const Inst& inst, Arch arch);

// An instruction that a wave has run.
struct Step {
  const Wave& wave;
  const Inst& inst;
  const HazardInst& known;
  uint64_t exec;
  const MemAccess& access;

  uint64_t lanes_of(const Registers& registers) const;
};

struct HazardSide {
  const Inst* inst = nullptr;
  uint32_t wave = 0, bytes = 0;
  int lane = -1;  // -1: the whole wave's
  std::string access;
};
struct HazardFound {
  const char* kind = "";
  const char* why = "";
  std::string text;
  HazardSide first, then;
  bool other_wave = false;    // they are of two waves
  Space space = Space::None;  // of the memory that the first reads or writes
  uint64_t address = 0;
};

class LaunchHazards final : public GroupWatcher {
 public:
  explicit LaunchHazards(const Launch& launch);
  ~LaunchHazards() override;

  Observer* begin(WorkgroupContext& group) override;
  void finished(const WorkgroupContext& group) override;

  void tell(const WorkgroupContext& group, const HazardFound& found);
  const HazardInst& known(const Inst& inst);
  Arch arch() const { return arch_; }

 private:
  const Launch& launch_;
  const Arch arch_;
  std::vector<std::unique_ptr<HazardInst>> known_;  // per word of code
  std::vector<std::unique_ptr<GroupHazards>> spare_;
  std::vector<std::pair<const WorkgroupContext*, std::unique_ptr<GroupHazards>>> open_;
};

}  // namespace gpu::check
