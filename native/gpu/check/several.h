// Several that watch the same launch.
#pragma once

#include <unordered_map>
#include <vector>

#include "workgroup.h"

namespace gpu::check {

class Several final : public GroupWatcher {
 public:
  void add(GroupWatcher& watcher) { watchers_.push_back(&watcher); }
  bool empty() const { return watchers_.empty(); }

  Observer* begin(WorkgroupContext& group) override {
    Observers& all = open_[&group];
    all.begin();
    for (GroupWatcher* watcher : watchers_)
      if (Observer* observer = watcher->begin(group)) all.add(*observer);
    return &all;
  }
  void finished(const WorkgroupContext& group) override {
    for (GroupWatcher* watcher : watchers_) watcher->finished(group);
    open_.erase(&group);
  }

 private:
  class Observers final : public Observer, public AccessWatcher {
   public:
    void begin() { observers_.clear(), touched_.clear(); }
    void add(Observer& observer) {
      observers_.push_back(&observer);
      if (AccessWatcher* watcher = observer.watcher()) touched_.push_back(watcher);
    }
    void executed(const Wave& wave, const Inst& inst, uint64_t exec, const MemAccess& access) override {
      for (Observer* observer : observers_) observer->executed(wave, inst, exec, access);
    }
    AccessWatcher* watcher() override { return touched_.empty() ? nullptr : this; }
    void touching(const Wave& wave, const Inst& inst, const MemAccess& access) override {
      for (AccessWatcher* watcher : touched_) watcher->touching(wave, inst, access);
    }

   private:
    std::vector<Observer*> observers_;
    std::vector<AccessWatcher*> touched_;
  };
  std::vector<GroupWatcher*> watchers_;
  std::unordered_map<const WorkgroupContext*, Observers> open_;
};

}  // namespace gpu::check
