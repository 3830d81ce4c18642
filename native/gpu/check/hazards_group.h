// One workgroup as the check of hazards sees it.
#pragma once

#include "outstanding.h"
#include "wait_states.h"

namespace gpu::check {

class GroupHazards final : public Observer {
 public:
  explicit GroupHazards(LaunchHazards& launch) : launch_(launch) {}
  void begin(const WorkgroupContext& group);
  void executed(const Wave& wave, const Inst& inst, uint64_t exec, const MemAccess& access) override;

 private:
  struct WaveState {
    OutstandingOps outstanding;
    WaitStates states;
    uint32_t barriers = 0;  // that it has passed
  };
  // Written to LDS, and not waited for at a barrier: other waves behind it may be there first.
  struct Unsettled {
    uint32_t wave = 0, barriers = 0;
    const Inst* inst = nullptr;
    bool to_lds = false;
    LdsBytes bytes;
    bool told = false;
  };

  uint32_t number_of(const Wave& wave);
  void at_barrier(uint32_t number);
  void look_at_lds(const Step& step, uint32_t number);

  LaunchHazards& launch_;
  const WorkgroupContext* group_ = nullptr;
  std::vector<std::unique_ptr<WaveState>> waves_;
  std::vector<Unsettled> unsettled_;
  std::vector<HazardFound> found_;
  uint32_t last_ = 0;
};

}  // namespace gpu::check
