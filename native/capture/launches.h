// How kernels are launched: what a sample of the launches is chosen from.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_set>

#include "hsa/hsa_ext_amd.h"

namespace capture {

struct Kernel;

class Launches {
 public:
  // Writes down shape, arguments and the allocations they point into, each combination once. From a
  // queue's handler.
  void record(const hsa_kernel_dispatch_packet_t& packet, const Kernel& kernel, uint64_t index);

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> seen_;
  bool told_more_ = false;
};

}  // namespace capture
