// Kernel launches: arguments, hidden arguments and the packet's numbers.
#pragma once

#include "event.h"
#include "module.h"
#include "stream.h"

namespace hip {

// Kernel arguments as the caller has them: one pointer per argument, or an image of the segment.
struct Arguments {
  void** pointers = nullptr;
  const void* packed = nullptr;
  size_t packed_bytes = 0;
};

// Reads the `extra` list of hipModuleLaunchKernel; false if it is not one.
bool read_extra(void** extra, Arguments& arguments);

// A place in a multi-device cooperative launch, or alone in a single-device one.
struct GridGroup {
  void* shared_words = nullptr;
  uint32_t index = 0, count = 1;
  uint64_t items_before = 0, items_all = 0;
};

struct LaunchRequest {
  Function* function = nullptr;
  uint64_t grid[3] = {1, 1, 1};  // work-items
  uint32_t block[3] = {1, 1, 1};
  size_t dynamic_shared = 0;
  Arguments arguments;
  bool cooperative = false;
  GridGroup group;
  Event *start = nullptr, *stop = nullptr;
};

// hipSuccess, or why the device cannot run this.
hipError_t check_launch(const LaunchRequest& request);

// The explicit arguments as they lie in the kernarg segment.
std::vector<char> pack_arguments(const Function& function, const Arguments& arguments);

// Into the stream, or into the graph that the stream is being captured to.
hipError_t launch(Stream& stream, const LaunchRequest& request);
// Into the stream.
hipError_t submit_launch(Stream& stream, const LaunchRequest& request);

// Blocks of `threads` work-items that fit on a compute unit at once.
int blocks_per_cu(const Function& function, int threads, size_t dynamic_shared);

}  // namespace hip
