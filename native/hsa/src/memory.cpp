// Memory: given out, locked, filled, copied, and what is known of a pointer.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "allocations.h"
#include "arena.h"
#include "check/allocations.h"
#include "check/findings.h"
#include "check/ledger.h"
#include "check/settings.h"
#include "check/written.h"
#include "hsa_impl.h"
#include "out_of_bounds.h"
#include "outside_writes.h"

Allocations& allocations() {
  static Allocations* instance = new Allocations;
  return *instance;
}

void forget_allocations() {
  std::lock_guard lock(allocations().mutex);
  for (auto& [base, allocation] : allocations().by_base) {
    Runtime::memory().remove(base);
    if (allocation.type == HSA_EXT_POINTER_TYPE_HSA) gpu::arena().free(reinterpret_cast<void*>(base));
  }
  allocations().by_base.clear();
}

// A pointer into memory we gave out must stay inside one live piece of it; any other is the host's.
bool copy_allowed(const void* address, size_t size) {
  const uint64_t at = reinterpret_cast<uint64_t>(address);
  if (!gpu::arena().contains(at)) return true;
  const gpu::NearestRange found = Runtime::memory().nearest(at);
  return found.found && !found.freed && found.distance == 0 && found.range.end - at >= size;
}

gpu::Range visible(uint64_t base, uint64_t end, uint64_t limit, gpu::RangeKind kind) {
  const gpu::check::Settings* checks = gpu::check::settings();
  // Where every access is judged, what compilers read ahead is told apart access by access.
  const uint64_t ahead = checks && checks->memory ? 1 : 16;
  const uint64_t seen = std::max(end, std::min(gpu::round_up(end, ahead), limit));
  return {base, seen, kind, true, true, uint8_t(seen - end)};
}

namespace {

// What a device's own memory holds comes from kernels, copies and fills alone, but where the host shares it.
void note_unwritten(const Agent& owner, uint64_t base, uint64_t size) {
  const gpu::check::Settings* checks = gpu::check::settings();
  if (!checks || !checks->init) return;
  if (owner.gpu && owner.gpu->device().apu)
    gpu::check::findings().not_covered("init: global memory, which the host of this device writes by itself");
  else gpu::check::not_yet_written(base, size);
}

hsa_status_t allocate(Pool& pool, size_t size, void** address) {
  Runtime* runtime = Runtime::get();
  if (!pool.allocatable()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (!size || !address) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const uint64_t charged = gpu::round_up(size, gpu::kPage);
  if (charged < size || !runtime->charge(*pool.agent, charged)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  const bool padded =
      pool.range_kind() == gpu::RangeKind::Vram && gpu::bounds_from_environment() != gpu::Bounds::Strict;
  void* at = gpu::arena().allocate(size, gpu::kPage, padded ? gpu::padding_of(size) : gpu::Padding{});
  if (!at) {
    runtime->discharge(*pool.agent, charged);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  const uint64_t base = reinterpret_cast<uint64_t>(at);
  {
    std::lock_guard lock(allocations().mutex);
    Allocation& entry = allocations().by_base[base];
    entry = {HSA_EXT_POINTER_TYPE_HSA, base, size, charged, pool.agent, &pool, nullptr, 0, {}};
  }
  Runtime::memory().add(visible(base, base + size, UINT64_MAX, pool.range_kind()));
  gpu::check::allocated(base, size);
  if (pool.range_kind() == gpu::RangeKind::Vram) note_unwritten(*pool.agent, base, size);
  *address = at;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t release(void* address) {
  if (!address) return HSA_STATUS_SUCCESS;
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Allocation entry;
  {
    std::lock_guard lock(allocations().mutex);
    auto it = allocations().by_base.find(reinterpret_cast<uint64_t>(address));
    if (it == allocations().by_base.end() || it->second.type != HSA_EXT_POINTER_TYPE_HSA)
      return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    entry = std::move(it->second);
    allocations().by_base.erase(it);
  }
  for (auto [callback, data] : entry.on_free) callback(address, data);
  Runtime::memory().remove(entry.base);
  gpu::check::freed(entry.base);
  gpu::check::no_longer_there(entry.base);
  if (gpu::check::work_is_ordered()) gpu::check::ledger().forget(entry.base, entry.size);
  gpu::arena().free(address);
  runtime->discharge(*entry.owner, entry.charged);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t lock_host(void* host, size_t size, void** device) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!host || !size || !device) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const uint64_t base = reinterpret_cast<uint64_t>(host);
  std::lock_guard lock(allocations().mutex);
  Allocation* known = allocations().holding(base);
  if (known && known->type == HSA_EXT_POINTER_TYPE_LOCKED && base + size <= known->base + known->size) {
    ++known->locks;
  } else if (!known || known->type == HSA_EXT_POINTER_TYPE_LOCKED) {
    Allocation& entry = allocations().by_base[base];
    entry = {HSA_EXT_POINTER_TYPE_LOCKED,
             base,
             size,
             0,
             &runtime->cpu(),
             runtime->cpu().pools.front().get(),
             nullptr,
             entry.locks + 1,
             {}};
    // The device sees as far as it does of its own memory, but not into what is registered next.
    const auto next = allocations().by_base.upper_bound(base);
    const uint64_t limit = next == allocations().by_base.end() ? UINT64_MAX : next->first;
    Runtime::memory().add(visible(base, base + size, limit, gpu::RangeKind::HostPinned));
  }
  *device = host;
  return HSA_STATUS_SUCCESS;
}

// A page given back reads as zeros: a large clear costs neither time nor memory.
void fill(char* address, uint32_t word, size_t size) {
  constexpr size_t kWorthwhile = 1 << 20;
  char *begin = address, *end = address + size;
  if (word == 0 && size >= kWorthwhile) {
    char* first = reinterpret_cast<char*>(gpu::round_up(reinterpret_cast<uint64_t>(begin), gpu::kPage));
    char* last = reinterpret_cast<char*>(reinterpret_cast<uint64_t>(end) / gpu::kPage * gpu::kPage);
    int advice = 0;
    {
      std::lock_guard lock(allocations().mutex);
      const Allocation* known = allocations().holding(reinterpret_cast<uint64_t>(address));
      if (known && known->type == HSA_EXT_POINTER_TYPE_HSA) advice = MADV_DONTNEED;
      if (known && known->type == HSA_EXT_POINTER_TYPE_HSA_VMEM) advice = MADV_REMOVE;
    }
    if (advice && madvise(first, size_t(last - first), advice) == 0) {
      std::memset(begin, 0, size_t(first - begin));
      begin = last;
    }
  }
  std::fill(reinterpret_cast<uint32_t*>(begin), reinterpret_cast<uint32_t*>(end), word);
}

// Writing more than the modelled caches hold leaves nothing else in them.
void push_out_of_caches(size_t size) {
  for (const auto& agent : Runtime::get()->agents())
    if (agent->is_gpu() &&
        size >= agent->gpu->device().l3_bytes + uint64_t{agent->gpu->device().l2_bytes} * agent->gpu->device().xccs)
      agent->gpu->flush_caches();
}

}  // namespace

// For libamdhip64: memory of the host that the driver may move to a device.
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_is_managed(const void* base) {
  Runtime::memory().set_kind(reinterpret_cast<uint64_t>(base), gpu::RangeKind::Managed);
  gpu::check::no_longer_there(reinterpret_cast<uint64_t>(base));
}

// The same: what it filled by itself, and what it gives out a second time.
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_was_written(const void* to, uint64_t bytes) {
  gpu::check::was_written(to, bytes);
}
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_given_again(const void* base, uint64_t bytes) {
  gpu::check::given_again(base, bytes);
  if (gpu::check::work_is_ordered()) gpu::check::ledger().forget(reinterpret_cast<uint64_t>(base), bytes);
}

// The same: whether the address lies in memory of ours that has been freed. What the host registered and
// took back is its own again.
extern "C" __attribute__((visibility("default"))) int hsa_rocm_perf_is_freed(const void* address) {
  if (!gpu::arena().contains(reinterpret_cast<uint64_t>(address))) return 0;
  const gpu::NearestRange near = Runtime::memory().nearest(reinterpret_cast<uint64_t>(address));
  return near.found && near.freed;
}

namespace impl {

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t handle, size_t size, uint32_t, void** address) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Pool* pool = runtime->pool(handle);
  return pool ? allocate(*pool, size, address) : hsa_status_t(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
}
hsa_status_t hsa_amd_memory_pool_free(void* address) { return release(address); }

// Every agent of the process can reach all of its memory: one address space stands behind them.
hsa_status_t hsa_amd_agents_allow_access(uint32_t agent_count, const hsa_agent_t* agents, const uint32_t*,
                                         const void* address) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!agent_count || !agents || !address) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < agent_count; ++i)
    if (!runtime->agent(agents[i])) return HSA_STATUS_ERROR_INVALID_AGENT;
  std::lock_guard lock(allocations().mutex);
  return allocations().holding(reinterpret_cast<uint64_t>(address)) ? HSA_STATUS_SUCCESS
                                                                    : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}
hsa_status_t hsa_amd_memory_pool_can_migrate(hsa_amd_memory_pool_t, hsa_amd_memory_pool_t, bool* result) {
  if (!result) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = false;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_memory_migrate(const void*, hsa_amd_memory_pool_t, uint32_t) {
  return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_amd_memory_lock(void* host, size_t size, hsa_agent_t*, int, void** device) {
  return lock_host(host, size, device);
}
hsa_status_t hsa_amd_memory_lock_to_pool(void* host, size_t size, hsa_agent_t*, int, hsa_amd_memory_pool_t, uint32_t,
                                         void** device) {
  return lock_host(host, size, device);
}
hsa_status_t hsa_amd_memory_unlock(void* host) {
  if (!host) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::lock_guard lock(allocations().mutex);
  Allocation* known = allocations().holding(reinterpret_cast<uint64_t>(host));
  if (!known || known->type != HSA_EXT_POINTER_TYPE_LOCKED)
    return known ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (--known->locks == 0) {
    Runtime::memory().remove(known->base);
    if (gpu::check::work_is_ordered()) gpu::check::ledger().forget(known->base, known->size);
    allocations().by_base.erase(known->base);
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_fill(void* address, uint32_t word, size_t count) {
  if (!address || reinterpret_cast<uint64_t>(address) % 4) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!copy_allowed(address, count * 4)) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  const gpu::OutsideWrite writing;
  fill(static_cast<char*>(address), word, count * 4);
  gpu::check::was_written(address, count * 4);
  push_out_of_caches(count * 4);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_memory_copy(void* to, const void* from, size_t size) {
  if (!to || !from) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!copy_allowed(to, size) || !copy_allowed(from, size)) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  const gpu::OutsideWrite writing;
  std::memmove(to, from, size);
  gpu::check::was_copied(to, from, size);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info(const void* address, hsa_amd_pointer_info_t* info, void* (*make)(size_t),
                                  uint32_t* agent_count, hsa_agent_t** agents) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!address || !info || !info->size) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_amd_pointer_info_t answer{};
  answer.size = std::min<uint32_t>(info->size, sizeof answer);
  {
    std::lock_guard lock(allocations().mutex);
    if (const Allocation* known = allocations().holding(reinterpret_cast<uint64_t>(address))) {
      answer.type = known->type;
      answer.agentBaseAddress = reinterpret_cast<void*>(known->base);
      answer.hostBaseAddress = answer.agentBaseAddress;
      answer.sizeInBytes = known->size;
      answer.userData = known->user_data;
      if (known->owner) answer.agentOwner = known->owner->handle();
      if (known->pool) answer.global_flags = known->pool->flags();
      answer.registered = known->type == HSA_EXT_POINTER_TYPE_LOCKED;
    }
  }
  std::memcpy(info, &answer, answer.size);
  if (agent_count && agents && make) {
    *agent_count = 0;
    if (answer.type != HSA_EXT_POINTER_TYPE_UNKNOWN) {
      const auto& all = runtime->agents();
      *agents = static_cast<hsa_agent_t*>(make(all.size() * sizeof(hsa_agent_t)));
      if (!*agents) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
      for (const auto& agent : all) (*agents)[(*agent_count)++] = agent->handle();
    }
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info_set_userdata(const void* address, void* data) {
  std::lock_guard lock(allocations().mutex);
  Allocation* known = allocations().holding(reinterpret_cast<uint64_t>(address));
  if (!known) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  known->user_data = data;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_register_deallocation_callback(void* address, hsa_amd_deallocation_callback_t callback,
                                                    void* data) {
  if (!address || !callback) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::lock_guard lock(allocations().mutex);
  Allocation* known = allocations().holding(reinterpret_cast<uint64_t>(address));
  if (!known) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  known->on_free.emplace_back(callback, data);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_deregister_deallocation_callback(void* address, hsa_amd_deallocation_callback_t callback) {
  std::lock_guard lock(allocations().mutex);
  Allocation* known = allocations().holding(reinterpret_cast<uint64_t>(address));
  if (!known || !std::erase_if(known->on_free, [&](auto& entry) { return entry.first == callback; }))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return HSA_STATUS_SUCCESS;
}

// Regions are HSA 1.0's name for pools.
hsa_status_t hsa_memory_allocate(hsa_region_t region, size_t size, void** address) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Pool* pool = runtime->pool({region.handle});
  return pool ? allocate(*pool, size, address) : HSA_STATUS_ERROR_INVALID_REGION;
}
hsa_status_t hsa_memory_free(void* address) { return release(address); }
hsa_status_t hsa_memory_assign_agent(void*, hsa_agent_t, hsa_access_permission_t) { return HSA_STATUS_SUCCESS; }
hsa_status_t hsa_memory_register(void* address, size_t size) {
  void* device = nullptr;
  return address && size ? lock_host(address, size, &device) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
hsa_status_t hsa_memory_deregister(void* address, size_t) { return impl::hsa_amd_memory_unlock(address); }

}  // namespace impl
