#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>

#include "gate.h"
#include "tables.h"

namespace capture {

namespace {

std::mutex mutex;
std::map<uint64_t, Piece>& books = *new std::map<uint64_t, Piece>;  // by the device's address
struct Lock {
  uint64_t base;
  unsigned count;
};
std::map<uint64_t, Lock>& locks = *new std::map<uint64_t, Lock>;  // host address -> the piece
struct Handle {
  uint64_t agent;
  uint32_t flags;
};
std::map<uint64_t, Handle>& handles = *new std::map<uint64_t, Handle>;  // of vmem
std::vector<void*>& deferred_pool = *new std::vector<void*>;
std::vector<void*>& deferred_memory = *new std::vector<void*>;

struct Pool {
  uint64_t agent;
  uint32_t flags;
};
std::map<uint64_t, Pool>& pools = *new std::map<uint64_t, Pool>;
bool pools_known = false;

uint64_t number(const void* at) { return reinterpret_cast<uint64_t>(at); }

hsa_status_t on_pool(hsa_amd_memory_pool_t pool, void* data) {
  uint32_t flags = 0;
  amd.hsa_amd_memory_pool_get_info_fn(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  pools[pool.handle] = {*static_cast<uint64_t*>(data), flags};
  return HSA_STATUS_SUCCESS;
}

hsa_status_t on_agent(hsa_agent_t agent, void*) {
  return amd.hsa_amd_agent_iterate_memory_pools_fn(agent, on_pool, &agent.handle);
}

// Agents cannot be asked while the tool is being loaded, so they are asked when first needed.
Pool pool_of(uint64_t handle) {  // under the mutex
  if (!pools_known) {
    pools_known = true;
    core.hsa_iterate_agents_fn(on_agent, nullptr);
  }
  const auto found = pools.find(handle);
  return found == pools.end() ? Pool{} : found->second;
}

bool is_cpu(uint64_t agent) {
  hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
  return agent && core.hsa_agent_get_info_fn({agent}, HSA_AGENT_INFO_DEVICE, &type) == HSA_STATUS_SUCCESS &&
         type == HSA_DEVICE_TYPE_CPU;
}

void add(uint64_t base, uint64_t size, const char* kind, uint64_t agent, uint32_t flags, uint64_t read_at,
         bool reachable = true) {
  std::lock_guard lock(mutex);
  books[base] = {base, size, read_at, kind, agent, flags, reachable};
}

void remove(uint64_t base) {
  std::lock_guard lock(mutex);
  books.erase(base);
}

hsa_status_t pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void** out) {
  const hsa_status_t status = amd.hsa_amd_memory_pool_allocate_fn(pool, size, flags, out);
  if (status != HSA_STATUS_SUCCESS) return status;
  Pool known;
  {
    std::lock_guard lock(mutex);
    known = pool_of(pool.handle);
  }
  add(number(*out), size, is_cpu(known.agent) ? "host" : "pool", known.agent, known.flags, number(*out));
  return status;
}

// A kernel may be waiting for the host that calls this: it must not wait for the capture's end.
template <class Free>
hsa_status_t free_memory(void* at, Free* next, std::vector<void*>& deferred) {
  if (!at) return next(at);
  {
    std::lock_guard lock(mutex);
    if (gate().closed()) {
      deferred.push_back(at);
      return HSA_STATUS_SUCCESS;
    }
    books.erase(number(at));
  }
  return next(at);
}

hsa_status_t pool_free(void* at) { return free_memory(at, amd.hsa_amd_memory_pool_free_fn, deferred_pool); }

hsa_status_t memory_allocate(hsa_region_t region, size_t size, void** out) {
  const hsa_status_t status = core.hsa_memory_allocate_fn(region, size, out);
  if (status != HSA_STATUS_SUCCESS) return status;
  Pool known;
  {
    std::lock_guard lock(mutex);
    known = pool_of(region.handle);  // a region and its pool have one handle
  }
  add(number(*out), size, is_cpu(known.agent) ? "host" : "pool", known.agent, known.flags, number(*out));
  return status;
}

hsa_status_t memory_free(void* at) { return free_memory(at, core.hsa_memory_free_fn, deferred_memory); }

void locked(void* host, size_t size, void* device) {
  uint64_t agent = 0;
  hsa_amd_pointer_info_t info{};
  info.size = sizeof info;
  if (amd.hsa_amd_pointer_info_fn(host, &info, nullptr, nullptr, nullptr) == HSA_STATUS_SUCCESS)
    agent = info.agentOwner.handle;
  std::lock_guard lock(mutex);
  Lock& entry = locks[number(host)];
  entry = {number(device), entry.count + 1};
  Piece& piece = books[entry.base];
  // Locked again with another length: the longer one stands.
  piece = {entry.base, std::max<uint64_t>(size, piece.size),         number(host), "registered",
           agent,      HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED, true};
}

hsa_status_t memory_lock(void* host, size_t size, hsa_agent_t* agents, int count, void** device) {
  const hsa_status_t status = amd.hsa_amd_memory_lock_fn(host, size, agents, count, device);
  if (status == HSA_STATUS_SUCCESS) locked(host, size, *device);
  return status;
}

hsa_status_t memory_lock_to_pool(void* host, size_t size, hsa_agent_t* agents, int count, hsa_amd_memory_pool_t pool,
                                 uint32_t flags, void** device) {
  const hsa_status_t status = amd.hsa_amd_memory_lock_to_pool_fn(host, size, agents, count, pool, flags, device);
  if (status == HSA_STATUS_SUCCESS) locked(host, size, *device);
  return status;
}

hsa_status_t memory_unlock(void* host) {
  const Gate::Inside inside(gate());
  {
    std::lock_guard lock(mutex);
    const auto found = locks.find(number(host));
    if (found != locks.end() && --found->second.count == 0) {
      books.erase(found->second.base);
      locks.erase(found);
    }
  }
  return amd.hsa_amd_memory_unlock_fn(host);
}

hsa_status_t handle_create(hsa_amd_memory_pool_t pool, size_t size, hsa_amd_memory_type_t type, uint64_t flags,
                           hsa_amd_vmem_alloc_handle_t* handle) {
  const hsa_status_t status = amd.hsa_amd_vmem_handle_create_fn(pool, size, type, flags, handle);
  if (status == HSA_STATUS_SUCCESS) {
    std::lock_guard lock(mutex);
    const Pool known = pool_of(pool.handle);
    handles[handle->handle] = {known.agent, known.flags};
  }
  return status;
}

hsa_status_t handle_release(hsa_amd_vmem_alloc_handle_t handle) {
  const Gate::Inside inside(gate());
  return amd.hsa_amd_vmem_handle_release_fn(handle);
}

hsa_status_t vmem_map(void* at, size_t size, size_t offset, hsa_amd_vmem_alloc_handle_t handle, uint64_t flags) {
  const Gate::Inside inside(gate());
  const hsa_status_t status = amd.hsa_amd_vmem_map_fn(at, size, offset, handle, flags);
  if (status == HSA_STATUS_SUCCESS) {
    Handle known{};
    {
      std::lock_guard lock(mutex);
      if (const auto found = handles.find(handle.handle); found != handles.end()) known = found->second;
    }
    add(number(at), size, "vmem", known.agent, known.flags, number(at), false);
  }
  return status;
}

hsa_status_t vmem_unmap(void* at, size_t size) {
  const Gate::Inside inside(gate());
  const hsa_status_t status = amd.hsa_amd_vmem_unmap_fn(at, size);
  if (status == HSA_STATUS_SUCCESS) remove(number(at));
  return status;
}

hsa_status_t vmem_set_access(void* at, size_t size, const hsa_amd_memory_access_desc_t* entries, size_t count) {
  const hsa_status_t status = amd.hsa_amd_vmem_set_access_fn(at, size, entries, count);
  if (status != HSA_STATUS_SUCCESS) return status;
  const bool any = std::any_of(entries, entries + count,
                               [](const auto& entry) { return entry.permissions != HSA_ACCESS_PERMISSION_NONE; });
  std::lock_guard lock(mutex);
  for (auto it = books.lower_bound(number(at)); it != books.end() && it->first < number(at) + size; ++it)
    it->second.reachable = any;
  return status;
}

hsa_status_t ipc_attach(const hsa_amd_ipc_memory_t* handle, size_t size, uint32_t count, const hsa_agent_t* agents,
                        void** out) {
  const hsa_status_t status = amd.hsa_amd_ipc_memory_attach_fn(handle, size, count, agents, out);
  if (status == HSA_STATUS_SUCCESS) add(number(*out), size, "ipc", count ? agents[0].handle : 0, 0, number(*out));
  return status;
}

hsa_status_t ipc_detach(void* at) {
  const Gate::Inside inside(gate());
  remove(number(at));
  return amd.hsa_amd_ipc_memory_detach_fn(at);
}

hsa_status_t interop_map(uint32_t count, hsa_agent_t* agents, int handle, uint32_t flags, size_t* size, void** out,
                         size_t* metadata_size, const void** metadata) {
  const hsa_status_t status =
      amd.hsa_amd_interop_map_buffer_fn(count, agents, handle, flags, size, out, metadata_size, metadata);
  if (status == HSA_STATUS_SUCCESS) add(number(*out), *size, "interop", count ? agents[0].handle : 0, 0, number(*out));
  return status;
}

hsa_status_t interop_unmap(void* at) {
  const Gate::Inside inside(gate());
  remove(number(at));
  return amd.hsa_amd_interop_unmap_buffer_fn(at);
}

hsa_status_t svm_set(void* at, size_t size, hsa_amd_svm_attribute_pair_t* attributes, size_t count) {
  const hsa_status_t status = amd.hsa_amd_svm_attributes_set_fn(at, size, attributes, count);
  if (status != HSA_STATUS_SUCCESS) return status;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t what = attributes[i].attribute;
    if (what != HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE && what != HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE) continue;
    if (!is_cpu(attributes[i].value)) {
      add(number(at), size, "svm", 0, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED, number(at));
      break;
    }
  }
  return status;
}

// Nobody tells when a program unmaps shared virtual memory.
bool still_mapped(const Piece& piece) {
  const uint64_t page = 4096, first = piece.read_at / page * page,
                 end = (piece.read_at + piece.size + page - 1) / page * page;
  std::vector<unsigned char> state((end - first) / page);
  return mincore(reinterpret_cast<void*>(first), end - first, state.data()) == 0;
}

}  // namespace

std::vector<Piece> pieces() {
  std::vector<Piece> found;
  std::lock_guard lock(mutex);
  uint64_t end = 0;
  for (auto& [base, piece] : books) {
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

Piece allocation_at(uint64_t address) {
  std::lock_guard lock(mutex);
  auto it = books.upper_bound(address);
  if (it == books.begin()) return {};
  const Piece& piece = (--it)->second;
  const std::string_view kind = piece.kind;
  const bool only =
      (kind == "pool" || kind == "host" || kind == "svm" || kind == "registered") && piece.read_at == piece.base;
  return address - piece.base < piece.size && piece.reachable && only ? piece : Piece{};
}

void release_deferred() {
  std::vector<void*> pool, memory;
  {
    std::lock_guard lock(mutex);
    pool.swap(deferred_pool);
    memory.swap(deferred_memory);
    for (const auto* list : {&pool, &memory})
      for (void* at : *list) books.erase(number(at));
  }
  for (void* at : pool) amd.hsa_amd_memory_pool_free_fn(at);
  for (void* at : memory) core.hsa_memory_free_fn(at);
}

void hook_memory() {
  hook(&CoreApiTable::hsa_memory_allocate_fn, memory_allocate);
  hook(&CoreApiTable::hsa_memory_free_fn, memory_free);
  hook(&AmdExtTable::hsa_amd_memory_pool_allocate_fn, pool_allocate);
  hook(&AmdExtTable::hsa_amd_memory_pool_free_fn, pool_free);
  hook(&AmdExtTable::hsa_amd_memory_lock_fn, memory_lock);
  hook(&AmdExtTable::hsa_amd_memory_lock_to_pool_fn, memory_lock_to_pool);
  hook(&AmdExtTable::hsa_amd_memory_unlock_fn, memory_unlock);
  hook(&AmdExtTable::hsa_amd_ipc_memory_attach_fn, ipc_attach);
  hook(&AmdExtTable::hsa_amd_ipc_memory_detach_fn, ipc_detach);
  hook(&AmdExtTable::hsa_amd_interop_map_buffer_fn, interop_map);
  hook(&AmdExtTable::hsa_amd_interop_unmap_buffer_fn, interop_unmap);
  hook(&AmdExtTable::hsa_amd_svm_attributes_set_fn, svm_set);
  if (!amd.hsa_amd_vmem_map_fn) return;
  hook(&AmdExtTable::hsa_amd_vmem_handle_create_fn, handle_create);
  hook(&AmdExtTable::hsa_amd_vmem_handle_release_fn, handle_release);
  hook(&AmdExtTable::hsa_amd_vmem_map_fn, vmem_map);
  hook(&AmdExtTable::hsa_amd_vmem_unmap_fn, vmem_unmap);
  hook(&AmdExtTable::hsa_amd_vmem_set_access_fn, vmem_set_access);
}

}  // namespace capture
