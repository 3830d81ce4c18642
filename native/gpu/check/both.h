// Two that watch the same launch.
#pragma once

#include <unordered_map>

#include "workgroup.h"

namespace gpu::check {

class Both final : public GroupWatcher {
 public:
  Both(GroupWatcher& first, GroupWatcher& second) : first_(first), second_(second) {}

  Observer* begin(WorkgroupContext& group) override {
    Pair& pair = open_[&group];
    pair.first = first_.begin(group);
    pair.second = second_.begin(group);
    return &pair;
  }
  void finished(const WorkgroupContext& group) override {
    first_.finished(group);
    second_.finished(group);
    open_.erase(&group);
  }

 private:
  struct Pair final : Observer {  // either may be nullptr
    void executed(const Wave& wave, const Inst& inst, uint64_t exec, const MemAccess& access) override {
      if (first) first->executed(wave, inst, exec, access);
      if (second) second->executed(wave, inst, exec, access);
    }
    AccessWatcher* watcher() override { return first ? first->watcher() : nullptr; }  // the first one's only
    Observer *first = nullptr, *second = nullptr;
  };
  GroupWatcher &first_, &second_;
  std::unordered_map<const WorkgroupContext*, Pair> open_;
};

}  // namespace gpu::check
