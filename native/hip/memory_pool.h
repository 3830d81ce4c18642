// Stream-ordered allocation: memory that is freed when a stream gets there.
#pragma once

#include <deque>

#include "completion.h"
#include "runtime.h"

namespace hip {

struct MemoryPool {
  Device* device = nullptr;
  hipMemPoolProps properties{};
  uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1};
  uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;

  struct Freed {
    CompletionRef after;
    void* address;
    size_t size;
  };
  std::deque<Freed> freed;   // waiting for their stream
  std::deque<Freed> cached;  // ready to be given out again, up to release_threshold
  std::recursive_mutex mutex;

  hipError_t allocate(size_t size, void** address);
  hipError_t release(void* address, CompletionRef after);
  bool left_alone() const;
  // Moves what is free by now to the cache, and gives back what is above `keep` bytes.
  void collect(uint64_t keep);
};

// After a wait: what its streams have freed goes back, as far as the pools do not keep it.
void collect_pools(Device& device);

}  // namespace hip
