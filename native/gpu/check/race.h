// Data races of a launch: two accesses to the same bytes, at least one of them a write, that nothing
// orders. Order comes from a wave's own course, barriers of its workgroup, and atomics with a release and
// an acquire at a scope that covers both; the end of a launch orders everything after it in its stream.
#pragma once

#include <map>
#include <unordered_map>

#include "accesses.h"
#include "clocks.h"
#include "findings.h"
#include "workgroup.h"

namespace gpu::check {

class GroupRaces;

// A race as it is told: both sides, and why nothing orders them.
enum class Why : uint8_t { NoBarrier, NoOrder, NarrowScope };
struct Race {
  Touch first, second;
  uint64_t address = 0;  // of the first byte both touched; an offset in LDS
  uint32_t bytes = 0;
  bool lds = false;
  Why why = Why::NoBarrier;
};

class LaunchRaces final : public GroupWatcher {
 public:
  explicit LaunchRaces(const Launch& launch);
  ~LaunchRaces() override;

  Observer* begin(WorkgroupContext& group) override;
  void finished(const WorkgroupContext& group) override;
  // Nothing of the launch is left to come. It is told what was looked at.
  void end();
  Accesses accesses() const;  // for what else is under way

 private:
  friend class GroupRaces;
  // The atomic that wrote last, and what was released with it or before it.
  struct Site {
    uint32_t group = 0, clock = 0;  // 0: none yet
    uint8_t wave = 0;
  };
  void found(const Race& race);
  void tell(const Race& race);

  const Launch& launch_;
  const bool between_groups_;
  Shadow global_;
  std::unordered_map<uint64_t, Site> sites_;
  std::unordered_map<uint64_t, Knowledge> published_;
  // Plain reads of what others compare and swap: none, if the reader does the same next.
  std::map<std::pair<uint64_t, uint64_t>, Race> perhaps_;  // by reader and address
  std::map<std::pair<uint64_t, uint64_t>, Counter*> counters_;
  std::vector<std::unique_ptr<GroupRaces>> spare_;
  std::vector<std::pair<const WorkgroupContext*, std::unique_ptr<GroupRaces>>> open_;
  uint64_t accesses_ = 0, same_value_ = 0, lds_accesses_ = 0;
  size_t lds_lost_ = 0;
  bool uncovered_ = false;
  bool released_ = false, acquired_ = false;               // by fences at the device's scope or wider
  bool atomics_on_host_ = false, writes_to_host_ = false;  // memory that the host reaches
};

}  // namespace gpu::check
