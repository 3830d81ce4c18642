// Memory that streams give out and take back (hipMallocAsync, hipFreeAsync): it may be used by work that
// comes after the one and before the other.
#pragma once

#include <map>
#include <vector>

#include "work.h"

namespace gpu::check {

class StreamMemory {
 public:
  void given(uint64_t base, uint64_t size, WorkId at);
  void freed(uint64_t base, WorkId at);
  void used(uint64_t base, WorkId by);
  bool names(WorkId work) const;  // it may have to be told of

 private:
  struct Block {
    uint64_t size = 0;
    WorkId given = 0, freed = 0;
    std::vector<WorkId> users;  // those that no later one comes after
  };
  std::map<uint64_t, Block> blocks_;
};

// Whether there is any, so that what kernels use has to be known.
bool stream_memory_in_use();

// From the runtime, just after it has submitted the piece of work that stands for the place in the stream.
void stream_gave(uint64_t base, uint64_t size);
void stream_freed(uint64_t base);

}  // namespace gpu::check
