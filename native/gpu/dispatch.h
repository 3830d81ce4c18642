// Dispatches over the cores: every workgroup of a grid, a bounded number of them at once.
#pragma once

#include <condition_variable>
#include <deque>
#include <thread>

#include "check/accesses.h"
#include "durations.h"
#include "model/dispatch_recorder.h"
#include "repeats.h"
#include "translate/tiers.h"
#include "workgroup.h"

namespace gpu {

class Dispatcher {
 public:
  Dispatcher(const DeviceSpec& device, AddressSpace& memory);
  ~Dispatcher();

  DispatchResult run(Launch launch);  // or nothing, when that would change nothing (repeats.h)
  // The same with the models watching: every workgroup on this thread, in order, so that the
  // profile is the same whatever the host.
  DispatchResult run_profiled(Launch launch, const ProfileRequest& request, DispatchProfile& profile);
  // The same, or what is remembered of a launch that came before (durations.h) and would change nothing.
  DispatchResult run_timed(Launch launch, const ProfileRequest& request, DispatchProfile& profile);
  // With every access of every lane checked (check/).
  DispatchResult run_checked(Launch launch, bool wanted);
  void flush_caches();
  void streamed(uint64_t at, uint64_t bytes);
  void move(uint64_t at, uint64_t bytes, bool here);

 private:
  struct Active;
  DispatchResult run_all(const Launch& launch, GroupWatcher* watcher);
  static std::vector<uint64_t> blocks_of(const Launch& launch);
  static void tell_of(const Launch& launch, check::Accesses accesses);
  void remember(const Launch& launch, const check::Accesses& accesses);
  std::shared_ptr<const check::Accesses> remembered(const Launch& launch);
  void hear_of_streamed();
  void enter_mall(uint64_t at, uint64_t bytes);
  void work();
  bool step(Active& active, std::unique_lock<std::mutex>& lock);
  std::unique_ptr<WorkgroupContext> context(Active& active);
  std::vector<std::unique_ptr<WorkgroupContext>>& spare(Active& active);
  OutOfBounds* outside() { return limits_.bounds == Bounds::Strict ? nullptr : &outside_; }

  const DeviceSpec& device_;
  AddressSpace& memory_;
  Limits limits_;
  Lenient outside_;
  ScratchPool scratch_;
  DeviceState state_;
  Repeats repeats_;
  std::map<std::string, std::shared_ptr<const check::Accesses>> touched_;  // by launches, as Repeats has them
  Durations durations_;
  translate::Tiers tiers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Active*> active_;
  std::vector<std::pair<uint64_t, uint64_t>> streamed_;  // address and bytes of copies not heard of yet
  std::vector<std::unique_ptr<WorkgroupContext>> spare_;
  std::vector<std::thread> threads_;
  unsigned wanted_threads_ = 1;
  bool stopping_ = false;
};

}  // namespace gpu
