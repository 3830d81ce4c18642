// Every allocation that HIP made or was told about, by address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "internal_api.h"

namespace hip {

enum class MemoryKind : uint8_t { Device, Host, Registered, Managed, Variable };

struct Allocation {
  uintptr_t base = 0;
  size_t size = 0;
  MemoryKind kind = MemoryKind::Device;
  int device = 0;
  unsigned flags = 0;
  uintptr_t block = 0;     // what HSA returned, where that is not the base (aligned allocations)
  void* pool = nullptr;    // the memory pool it came from
  bool virtual_memory = false;  // mapped by hipMemMap: not for hipFree

  // What hipMemAdvise and prefetches said last; kept for the allocation as a whole.
  bool read_mostly = false;
  int preferred_location = hipInvalidDeviceId;
  int accessed_by = hipInvalidDeviceId;
  int prefetched_to = hipInvalidDeviceId;

  bool on_device() const { return kind == MemoryKind::Device || kind == MemoryKind::Variable; }
  uintptr_t end() const { return base + size; }
};

class MemoryMap {
 public:
  void add(const Allocation& allocation);
  std::optional<Allocation> remove(uintptr_t base);
  std::optional<Allocation> find(const void* address) const;  // any address inside
  bool contains(const void* address, size_t size) const;
  // A change of the stored copy, under the lock.
  template <class F>
  bool update(const void* address, F&& change) {
    std::unique_lock lock(mutex_);
    Allocation* found = locate(reinterpret_cast<uintptr_t>(address));
    if (found) change(*found);
    return found != nullptr;
  }
  template <class F>
  void each(F&& visit) const {
    std::shared_lock lock(mutex_);
    for (const auto& [base, allocation] : by_base_) visit(allocation);
  }
  void move_pool(void* from, void* to);
  size_t device_bytes(int device) const;

 private:
  Allocation* locate(uintptr_t address);
  mutable std::shared_mutex mutex_;
  std::map<uintptr_t, Allocation> by_base_;
};

MemoryMap& memory_map();

}  // namespace hip
