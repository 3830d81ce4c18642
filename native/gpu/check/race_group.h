// One workgroup as the race check sees it: its waves' clocks and the shadow of its LDS.
#pragma once

#include "race.h"

namespace gpu::check {

class GroupRaces final : public Observer, public AccessWatcher, private Judge {
 public:
  explicit GroupRaces(LaunchRaces& launch);
  void begin(const WorkgroupContext& group);

  void executed(const Wave& wave, const Inst& inst, uint64_t exec, const MemAccess& access) override;
  AccessWatcher* watcher() override { return this; }
  void touching(const Wave& wave, const Inst& inst, const MemAccess& access) override;

 private:
  struct Held {  // a race unless the write changes nothing
    Race race;
    const uint8_t* at;
    uint64_t bytes;
    uint8_t before[Shadow::kLine];
  };
  struct Gathered {  // as in Touch
    uint64_t line, mask;
    uint8_t lane, base;
    bool back;
  };
  bool ordered(const Touch& earlier) const override;
  void conflict(const Touch& earlier, uint64_t line, uint64_t bytes) override;

  uint8_t number(const Wave& wave);
  Touch touch_of(const Wave& wave, const Inst& inst);
  void enter(const MemAccess& access, const uint64_t* addresses, uint64_t mask, bool lds);
  void gather(uint64_t line, uint32_t base, uint32_t part, int lane);
  void atomics(const MemAccess& access, uint64_t mask, bool lds, bool returns);
  void meet(const LaunchRaces::Site& seen, bool returns);
  void to_lds(const Wave& wave, const Inst& inst, uint64_t exec);
  void of_lanes(const Wave& wave, const Inst& inst, uint64_t exec, uint32_t base, uint32_t step, Kind kind);
  void synchronise(uint8_t wave, const Inst& inst);
  bool shared(const Wave& wave, uint64_t address);
  Why why(const Touch& earlier) const;

  LaunchRaces& launch_;
  const WorkgroupContext* group_ = nullptr;
  GroupClocks clocks_;
  Shadow lds_;
  std::vector<LaunchRaces::Site> lds_sites_;  // by eight bytes
  // Waves of other workgroups whose atomics were read here, in order or not: tells a scope that is too
  // narrow from no order at all.
  std::map<uint64_t, uint32_t> heard_of_;
  std::vector<Held> held_;
  std::vector<Gathered> lines_;
  Range last_range_{};
  bool last_shared_ = false;
  uint8_t last_wave_ = 0;

  // Of the access being entered.
  const Wave* wave_ = nullptr;
  Touch now_;
  bool in_lds_ = false;
};

}  // namespace gpu::check
