// What was found in this process: each place once, with how often, as records of the process's log
// (rocm_perf_lab.check.log reads them).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "host_stack.h"
#include "launch.h"
#include "record/log.h"

namespace gpu::check {

using Counter = std::atomic<uint64_t>;  // kernels of several queues may find the same

class Findings {
 public:
  // The counter of a place, written down when it is first seen; `key` tells places apart.
  Counter* place(const std::string& key, const std::function<void(record::Line&)>& describe);
  // A launch that was not run, since it would have done what one before it did.
  void repeated(const std::string& kernel);
  // What could not be looked at, in words; each once.
  void not_covered(const std::string& what);

 private:
  friend Findings& findings();
  Findings();
  void sum_up();

  std::mutex mutex_;
  struct Place {
    uint64_t id = 0;
    Counter count = 0;
  };
  std::map<std::string, Place> places_;
  std::set<std::string> not_covered_;
  std::map<std::string, uint64_t> repeated_;
  Counter elsewhere_ = 0;
  int process_;
};
Findings& findings();

// One side of a finding: an access of a work-item.
struct Side {
  const char* access = "";  // "read", "write", "atomic read", ...
  uint64_t pc = 0;
  uint32_t bytes = 0;
  uint64_t group = 0;
  uint32_t wave = 0;
  int lane = -1;  // -1: not known which
  bool known = true;  // it is known who it was
  const HostStack* stack = nullptr;  // of the launch, where that is told
};
void describe(record::Line& line, const Launch& launch, const Side& side);  // as a list's element
// The allocation that holds an address, and by which of the kernel's arguments it may have been reached.
void describe_memory(record::Line& line, const Launch& launch, uint64_t address);
// The same, of memory as it is now.
void describe_memory(record::Line& line, uint64_t address);

// The process's memory, once there is a device.
void memory_is(const AddressSpace& memory);
const AddressSpace* memory_in_use();

}  // namespace gpu::check
