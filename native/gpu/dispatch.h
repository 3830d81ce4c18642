// Dispatches over the cores: every workgroup of a grid, a bounded number of them at once.
#pragma once

#include <condition_variable>
#include <deque>
#include <thread>

#include "workgroup.h"

namespace gpu {

class Dispatcher {
 public:
  Dispatcher(const DeviceModel& model, AddressSpace& memory);
  ~Dispatcher();

  DispatchResult run(Launch launch);

 private:
  struct Active;
  void work();
  bool step(Active& active, std::unique_lock<std::mutex>& lock);
  std::unique_ptr<WorkgroupContext> context();

  const DeviceModel& model_;
  AddressSpace& memory_;
  Limits limits_;
  ScratchPool scratch_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Active*> active_;
  std::vector<std::unique_ptr<WorkgroupContext>> spare_;
  std::vector<std::thread> threads_;
  unsigned wanted_threads_ = 1;
  bool stopping_ = false;
};

}  // namespace gpu
