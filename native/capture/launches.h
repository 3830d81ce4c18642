// How kernels are launched: what a sample of the launches is chosen from.
#pragma once

#include <cstdint>

#include "hsa/hsa_ext_amd.h"

namespace capture {

struct Kernel;

// Writes down shape, arguments and the allocations they point into, each combination once. From a
// queue's handler.
void record_launch(const hsa_kernel_dispatch_packet_t& packet, const Kernel& kernel, uint64_t index);

}  // namespace capture
