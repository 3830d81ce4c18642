// Several that watch the same launch.
#pragma once

#include <unordered_map>
#include <vector>

#include "exec.h"
#include "record/log.h"
#include "workgroup.h"

namespace gpu::check {

class Several final : public GroupWatcher {
 public:
  void add(GroupWatcher& watcher) { watchers_.push_back(&watcher); }
  bool empty() const { return watchers_.empty(); }

  Observer* begin(WorkgroupContext& group) override {
    Observers& all = open_[&group];
    all.begin(executed_);
    for (GroupWatcher* watcher : watchers_)
      if (Observer* observer = watcher->begin(group)) all.add(*observer);
    return &all;
  }
  // Instructions whose results may be rounded otherwise on hardware: how often each was executed.
  void tell_of_approximations(const Launch& launch) const {
    for (size_t op = 0; op < executed_.size(); ++op)
      if (executed_[op])
        record::Line("approximate")
            .string("kernel", demangle(launch.kernel->name))
            .string("instruction", op_table[op].name)
            .number("executed", executed_[op])
            .write();
  }
  void finished(const WorkgroupContext& group) override {
    for (GroupWatcher* watcher : watchers_) watcher->finished(group);
    open_.erase(&group);
  }

 private:
  class Observers final : public Observer, public AccessWatcher {
   public:
    void begin(std::vector<uint64_t>& executed) { observers_.clear(), touched_.clear(), executed_ = &executed; }
    void add(Observer& observer) {
      observers_.push_back(&observer);
      if (AccessWatcher* watcher = observer.watcher()) touched_.push_back(watcher);
    }
    void executed(const Wave& wave, const Inst& inst, uint64_t exec, const MemAccess& access) override {
      const InstClass cls = InstClass(inst.cls);
      if (cls == InstClass::VALU_TRANS_F16 || cls == InstClass::VALU_TRANS_F32 || cls == InstClass::VALU_TRANS_F64)
        ++(*executed_)[inst.op];
      for (Observer* observer : observers_) observer->executed(wave, inst, exec, access);
    }
    AccessWatcher* watcher() override { return touched_.empty() ? nullptr : this; }
    void touching(const Wave& wave, const Inst& inst, const MemAccess& access) override {
      for (AccessWatcher* watcher : touched_) watcher->touching(wave, inst, access);
    }

   private:
    std::vector<Observer*> observers_;
    std::vector<AccessWatcher*> touched_;
    std::vector<uint64_t>* executed_ = nullptr;
  };
  std::vector<uint64_t> executed_ = std::vector<uint64_t>(kOpCount);  // of those that are approximate here
  std::vector<GroupWatcher*> watchers_;
  std::unordered_map<const WorkgroupContext*, Observers> open_;
};

}  // namespace gpu::check
