// The books: every piece of memory the device knows, by base address.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "runtime.h"

struct Allocation {
  hsa_amd_pointer_type_t type = HSA_EXT_POINTER_TYPE_UNKNOWN;
  uint64_t base = 0, size = 0;  // as asked for
  uint64_t charged = 0;
  Agent* owner = nullptr;
  Pool* pool = nullptr;
  void* user_data = nullptr;
  unsigned locks = 0;           // of host memory that is not ours
  std::vector<std::pair<hsa_amd_deallocation_callback_t, void*>> on_free;
};

class Allocations {
 public:
  std::mutex mutex;
  std::map<uint64_t, Allocation> by_base;

  Allocation* holding(uint64_t address) {  // under the mutex
    auto after = by_base.upper_bound(address);
    if (after == by_base.begin()) return nullptr;
    Allocation& candidate = std::prev(after)->second;
    return address < candidate.base + std::max<uint64_t>(candidate.size, 1) ? &candidate : nullptr;
  }
};
Allocations& allocations();

// What the device sees of memory from `base` to `end`: as far as one instruction of the compiler may read
// beyond it, but not past `limit`.
gpu::Range visible(uint64_t base, uint64_t end, uint64_t limit, gpu::RangeKind kind);

// Copy from memory mapped by handle; false: it is not, and nothing was copied.
bool read_vmem(void* to, const void* from, size_t size);
