#include "memory_map.h"

namespace hip {

MemoryMap& memory_map() {
  static MemoryMap* instance = new MemoryMap;
  return *instance;
}

void MemoryMap::add(const Allocation& allocation) {
  std::unique_lock lock(mutex_);
  by_base_[allocation.base] = allocation;
}

std::optional<Allocation> MemoryMap::remove(uintptr_t base) {
  std::unique_lock lock(mutex_);
  auto found = by_base_.find(base);
  if (found == by_base_.end()) return std::nullopt;
  Allocation allocation = found->second;
  by_base_.erase(found);
  return allocation;
}

Allocation* MemoryMap::locate(uintptr_t address) {
  auto next = by_base_.upper_bound(address);
  if (next == by_base_.begin()) return nullptr;
  Allocation& candidate = std::prev(next)->second;
  return address < candidate.end() ? &candidate : nullptr;
}

std::optional<Allocation> MemoryMap::find(const void* address) const {
  std::shared_lock lock(mutex_);
  const Allocation* found = const_cast<MemoryMap*>(this)->locate(reinterpret_cast<uintptr_t>(address));
  return found ? std::optional(*found) : std::nullopt;
}

bool MemoryMap::contains(const void* address, size_t size) const {
  auto found = find(address);
  return found && reinterpret_cast<uintptr_t>(address) + size <= found->end();
}

void MemoryMap::move_pool(void* from, void* to) {
  std::unique_lock lock(mutex_);
  for (auto& [base, allocation] : by_base_)
    if (allocation.pool == from) allocation.pool = to;
}

size_t MemoryMap::device_bytes(int device) const {
  std::shared_lock lock(mutex_);
  size_t bytes = 0;
  for (const auto& [base, allocation] : by_base_)
    if (allocation.kind == MemoryKind::Device && allocation.device == device) bytes += allocation.size;
  return bytes;
}

}  // namespace hip
