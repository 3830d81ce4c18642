#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <string_view>

#include "tool.h"

namespace capture {

namespace {

uint64_t number(const void* at) { return reinterpret_cast<uint64_t>(at); }

MemoryBooks& books() { return tool().memory; }

using Pools = std::map<uint64_t, Pool>;
struct PoolsOfAgent {
  Pools& all;
  uint64_t agent;
};

hsa_status_t on_pool(hsa_amd_memory_pool_t pool, void* data) {
  auto& [all, agent] = *static_cast<PoolsOfAgent*>(data);
  uint32_t flags = 0;
  amd().hsa_amd_memory_pool_get_info_fn(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  all[pool.handle] = {agent, flags};
  return HSA_STATUS_SUCCESS;
}

hsa_status_t on_agent(hsa_agent_t agent, void* data) {
  PoolsOfAgent of{*static_cast<Pools*>(data), agent.handle};
  return amd().hsa_amd_agent_iterate_memory_pools_fn(agent, on_pool, &of);
}

bool is_cpu(uint64_t agent) {
  hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
  return agent && core().hsa_agent_get_info_fn({agent}, HSA_AGENT_INFO_DEVICE, &type) == HSA_STATUS_SUCCESS &&
         type == HSA_DEVICE_TYPE_CPU;
}

// Nobody tells when a program unmaps shared virtual memory.
bool still_mapped(const Piece& piece) {
  const uint64_t page = 4096, first = piece.read_at / page * page,
                 end = (piece.read_at + piece.size + page - 1) / page * page;
  std::vector<unsigned char> state((end - first) / page);
  return mincore(reinterpret_cast<void*>(first), end - first, state.data()) == 0;
}

hsa_status_t pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void** out) {
  const hsa_status_t status = amd().hsa_amd_memory_pool_allocate_fn(pool, size, flags, out);
  if (status == HSA_STATUS_SUCCESS) books().allocated(*out, size, pool.handle);
  return status;
}

hsa_status_t memory_allocate(hsa_region_t region, size_t size, void** out) {
  const hsa_status_t status = core().hsa_memory_allocate_fn(region, size, out);
  if (status == HSA_STATUS_SUCCESS) books().allocated(*out, size, region.handle);  // its pool's handle, too
  return status;
}

hsa_status_t free_memory(void* at, MemoryBooks::Free next) {
  return at && books().defer(at, next) ? HSA_STATUS_SUCCESS : next(at);
}
hsa_status_t pool_free(void* at) { return free_memory(at, amd().hsa_amd_memory_pool_free_fn); }
hsa_status_t memory_free(void* at) { return free_memory(at, core().hsa_memory_free_fn); }

hsa_status_t memory_lock(void* host, size_t size, hsa_agent_t* agents, int count, void** device) {
  const hsa_status_t status = amd().hsa_amd_memory_lock_fn(host, size, agents, count, device);
  if (status == HSA_STATUS_SUCCESS) books().lock(host, size, *device);
  return status;
}

hsa_status_t memory_lock_to_pool(void* host, size_t size, hsa_agent_t* agents, int count, hsa_amd_memory_pool_t pool,
                                 uint32_t flags, void** device) {
  const hsa_status_t status = amd().hsa_amd_memory_lock_to_pool_fn(host, size, agents, count, pool, flags, device);
  if (status == HSA_STATUS_SUCCESS) books().lock(host, size, *device);
  return status;
}

hsa_status_t memory_unlock(void* host) {
  const Gate::Inside inside(tool().gate);
  books().unlock(host);
  return amd().hsa_amd_memory_unlock_fn(host);
}

hsa_status_t handle_create(hsa_amd_memory_pool_t pool, size_t size, hsa_amd_memory_type_t type, uint64_t flags,
                           hsa_amd_vmem_alloc_handle_t* handle) {
  const hsa_status_t status = amd().hsa_amd_vmem_handle_create_fn(pool, size, type, flags, handle);
  if (status == HSA_STATUS_SUCCESS) books().keep_handle(handle->handle, pool.handle);
  return status;
}

hsa_status_t handle_release(hsa_amd_vmem_alloc_handle_t handle) {
  const Gate::Inside inside(tool().gate);
  return amd().hsa_amd_vmem_handle_release_fn(handle);
}

hsa_status_t vmem_map(void* at, size_t size, size_t offset, hsa_amd_vmem_alloc_handle_t handle, uint64_t flags) {
  const Gate::Inside inside(tool().gate);
  const hsa_status_t status = amd().hsa_amd_vmem_map_fn(at, size, offset, handle, flags);
  if (status == HSA_STATUS_SUCCESS) books().map(at, size, handle.handle);
  return status;
}

hsa_status_t vmem_unmap(void* at, size_t size) {
  const Gate::Inside inside(tool().gate);
  const hsa_status_t status = amd().hsa_amd_vmem_unmap_fn(at, size);
  if (status == HSA_STATUS_SUCCESS) books().remove(at);
  return status;
}

hsa_status_t vmem_set_access(void* at, size_t size, const hsa_amd_memory_access_desc_t* entries, size_t count) {
  const hsa_status_t status = amd().hsa_amd_vmem_set_access_fn(at, size, entries, count);
  if (status != HSA_STATUS_SUCCESS) return status;
  const bool any = std::any_of(entries, entries + count,
                               [](const auto& entry) { return entry.permissions != HSA_ACCESS_PERMISSION_NONE; });
  books().set_reachable(at, size, any);
  return status;
}

hsa_status_t ipc_attach(const hsa_amd_ipc_memory_t* handle, size_t size, uint32_t count, const hsa_agent_t* agents,
                        void** out) {
  const hsa_status_t status = amd().hsa_amd_ipc_memory_attach_fn(handle, size, count, agents, out);
  if (status == HSA_STATUS_SUCCESS) books().add(*out, size, "ipc", count ? agents[0].handle : 0);
  return status;
}

hsa_status_t ipc_detach(void* at) {
  const Gate::Inside inside(tool().gate);
  books().remove(at);
  return amd().hsa_amd_ipc_memory_detach_fn(at);
}

hsa_status_t interop_map(uint32_t count, hsa_agent_t* agents, int handle, uint32_t flags, size_t* size, void** out,
                         size_t* metadata_size, const void** metadata) {
  const hsa_status_t status =
      amd().hsa_amd_interop_map_buffer_fn(count, agents, handle, flags, size, out, metadata_size, metadata);
  if (status == HSA_STATUS_SUCCESS) books().add(*out, *size, "interop", count ? agents[0].handle : 0);
  return status;
}

hsa_status_t interop_unmap(void* at) {
  const Gate::Inside inside(tool().gate);
  books().remove(at);
  return amd().hsa_amd_interop_unmap_buffer_fn(at);
}

hsa_status_t svm_set(void* at, size_t size, hsa_amd_svm_attribute_pair_t* attributes, size_t count) {
  const hsa_status_t status = amd().hsa_amd_svm_attributes_set_fn(at, size, attributes, count);
  if (status != HSA_STATUS_SUCCESS) return status;
  const bool shared = std::any_of(attributes, attributes + count, [](const auto& entry) {
    const uint64_t what = entry.attribute;
    return (what == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE || what == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE) &&
           !is_cpu(entry.value);
  });
  if (shared) books().add(at, size, "svm", 0, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
  return status;
}

}  // namespace

// Agents cannot be asked while the tool is being loaded, so they are asked when first needed.
Pool MemoryBooks::pool_of(uint64_t handle) {
  if (pools_.empty()) core().hsa_iterate_agents_fn(on_agent, &pools_);
  const auto found = pools_.find(handle);
  return found == pools_.end() ? Pool{} : found->second;
}

void MemoryBooks::allocated(void* at, size_t size, uint64_t pool) {
  Pool known;
  {
    std::lock_guard lock(mutex_);
    known = pool_of(pool);
  }
  add(at, size, is_cpu(known.agent) ? "host" : "pool", known.agent, known.flags);
}

void MemoryBooks::add(const void* at, uint64_t size, const char* kind, uint64_t agent, uint32_t flags, bool reachable) {
  std::lock_guard lock(mutex_);
  books_[number(at)] = {number(at), size, number(at), kind, agent, flags, reachable};
}

void MemoryBooks::remove(const void* at) {
  std::lock_guard lock(mutex_);
  books_.erase(number(at));
}

void MemoryBooks::lock(void* host, size_t size, void* device) {
  uint64_t agent = 0;
  hsa_amd_pointer_info_t info{};
  info.size = sizeof info;
  if (amd().hsa_amd_pointer_info_fn(host, &info, nullptr, nullptr, nullptr) == HSA_STATUS_SUCCESS)
    agent = info.agentOwner.handle;
  std::lock_guard lock(mutex_);
  Lock& entry = locks_[number(host)];
  entry = {number(device), entry.count + 1};
  Piece& piece = books_[entry.base];
  // Locked again with another length: the longer one stands.
  piece = {entry.base, std::max<uint64_t>(size, piece.size),         number(host), "registered",
           agent,      HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED, true};
}

void MemoryBooks::unlock(void* host) {
  std::lock_guard lock(mutex_);
  const auto found = locks_.find(number(host));
  if (found == locks_.end() || --found->second.count) return;
  books_.erase(found->second.base);
  locks_.erase(found);
}

void MemoryBooks::keep_handle(uint64_t handle, uint64_t pool) {
  std::lock_guard lock(mutex_);
  handles_[handle] = pool_of(pool);
}

void MemoryBooks::map(void* at, size_t size, uint64_t handle) {
  Pool known;
  {
    std::lock_guard lock(mutex_);
    if (const auto found = handles_.find(handle); found != handles_.end()) known = found->second;
  }
  add(at, size, "vmem", known.agent, known.flags, false);
}

void MemoryBooks::set_reachable(const void* at, size_t size, bool now) {
  std::lock_guard lock(mutex_);
  for (auto it = books_.lower_bound(number(at)); it != books_.end() && it->first < number(at) + size; ++it)
    it->second.reachable = now;
}

// A kernel may be waiting for the host that frees: it must not wait for the capture's end.
bool MemoryBooks::defer(void* at, Free free) {
  std::lock_guard lock(mutex_);
  if (tool().gate.closed()) return deferred_.emplace_back(at, free), true;
  books_.erase(number(at));
  return false;
}

void MemoryBooks::release_deferred() {
  std::vector<std::pair<void*, Free>> list;
  {
    std::lock_guard lock(mutex_);
    list.swap(deferred_);
    for (const auto& [at, free] : list) books_.erase(number(at));
  }
  for (const auto& [at, free] : list) free(at);
}

std::vector<Piece> MemoryBooks::pieces() {
  std::vector<Piece> found;
  std::lock_guard lock(mutex_);
  uint64_t end = 0;
  for (auto& [base, piece] : books_) {
    if (!piece.reachable || !piece.size || base + piece.size <= end) continue;
    if ((piece.kind == std::string_view("svm") || piece.kind == std::string_view("registered")) && !still_mapped(piece))
      continue;
    Piece part = piece;
    if (base < end) {
      part.base = end;
      part.size = base + piece.size - end;
      part.read_at += end - base;
    }
    end = part.base + part.size;
    found.push_back(part);
  }
  return found;
}

Piece MemoryBooks::allocation_at(uint64_t address) {
  std::lock_guard lock(mutex_);
  auto it = books_.upper_bound(address);
  if (it == books_.begin()) return {};
  const Piece& piece = (--it)->second;
  const std::string_view kind = piece.kind;
  const bool only =
      (kind == "pool" || kind == "host" || kind == "svm" || kind == "registered") && piece.read_at == piece.base;
  return address - piece.base < piece.size && piece.reachable && only ? piece : Piece{};
}

void MemoryBooks::hook() {
  Tables& tables = tool().tables;
  tables.hook(&CoreApiTable::hsa_memory_allocate_fn, memory_allocate);
  tables.hook(&CoreApiTable::hsa_memory_free_fn, memory_free);
  tables.hook(&AmdExtTable::hsa_amd_memory_pool_allocate_fn, pool_allocate);
  tables.hook(&AmdExtTable::hsa_amd_memory_pool_free_fn, pool_free);
  tables.hook(&AmdExtTable::hsa_amd_memory_lock_fn, memory_lock);
  tables.hook(&AmdExtTable::hsa_amd_memory_lock_to_pool_fn, memory_lock_to_pool);
  tables.hook(&AmdExtTable::hsa_amd_memory_unlock_fn, memory_unlock);
  tables.hook(&AmdExtTable::hsa_amd_ipc_memory_attach_fn, ipc_attach);
  tables.hook(&AmdExtTable::hsa_amd_ipc_memory_detach_fn, ipc_detach);
  tables.hook(&AmdExtTable::hsa_amd_interop_map_buffer_fn, interop_map);
  tables.hook(&AmdExtTable::hsa_amd_interop_unmap_buffer_fn, interop_unmap);
  tables.hook(&AmdExtTable::hsa_amd_svm_attributes_set_fn, svm_set);
  if (!amd().hsa_amd_vmem_map_fn) return;
  tables.hook(&AmdExtTable::hsa_amd_vmem_handle_create_fn, handle_create);
  tables.hook(&AmdExtTable::hsa_amd_vmem_handle_release_fn, handle_release);
  tables.hook(&AmdExtTable::hsa_amd_vmem_map_fn, vmem_map);
  tables.hook(&AmdExtTable::hsa_amd_vmem_unmap_fn, vmem_unmap);
  tables.hook(&AmdExtTable::hsa_amd_vmem_set_access_fn, vmem_set_access);
}

}  // namespace capture
