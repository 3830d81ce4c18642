// Memory pools and stream-ordered allocation.
#include <algorithm>
#include <unordered_set>

#include "api_impl.h"
#include "graph.h"
#include "memory.h"
#include "memory_pool.h"

namespace hip {

namespace {

std::mutex& pools_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}
std::unordered_set<MemoryPool*>& created_pools() {
  static auto* pools = new std::unordered_set<MemoryPool*>;
  return *pools;
}

MemoryPool* resolve(hipMemPool_t handle) {
  auto* pool = reinterpret_cast<MemoryPool*>(handle);
  for (auto& device : runtime().devices)
    if (device->default_pool.get() == pool) return pool;
  std::lock_guard lock(pools_mutex());
  return created_pools().count(pool) ? pool : nullptr;
}

hipMemPool_t handle_of(MemoryPool* pool) { return reinterpret_cast<hipMemPool_t>(pool); }

// A piece of work that does nothing: the place in the stream where memory comes or goes.
hipError_t stand_for(Stream& stream) {
  std::lock_guard lock(stream.device.mutex);
  return stream.host([](hipError_t) {});
}

hipError_t allocate_in(MemoryPool& pool, void** dev_ptr, size_t size, hipStream_t handle) {
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  if (!dev_ptr) return hipErrorInvalidValue;
  *dev_ptr = nullptr;
  if (size == 0) return hipSuccess;
  if (stream->capture) return capture_alloc(*stream, size, dev_ptr);
  const hipError_t status = pool.allocate(size, dev_ptr);
  if (status == hipSuccess && order_is_checked()) {
    if (hipError_t stood = stand_for(*stream)) return stood;
    hsa_rocm_perf_stream_gave(*dev_ptr, size);
  }
  return status;
}

}  // namespace

hipError_t MemoryPool::allocate(size_t size, void** address) {
  std::lock_guard lock(mutex);
  if (!left_alone()) collect(UINT64_MAX);
  auto fit = std::find_if(cached.begin(), cached.end(),
                          [&](const Freed& block) { return block.size >= size && block.size <= size + size / 4; });
  if (fit != cached.end()) {
    *address = fit->address;
    Allocation allocation;
    allocation.base = reinterpret_cast<uintptr_t>(fit->address);
    allocation.size = fit->size;
    allocation.device = device->index;
    allocation.pool = this;
    size = fit->size;
    memory_map().add(allocation);
    cached.erase(fit);
    if (hsa_rocm_perf_given_again) hsa_rocm_perf_given_again(*address, size);
  } else {
    hipError_t status = allocate_device(*device, size, 0, address);
    if (status == hipErrorOutOfMemory && !cached.empty()) {
      collect(0);
      status = allocate_device(*device, size, 0, address);
    }
    if (status != hipSuccess) return status;
    memory_map().update(*address, [&](Allocation& allocation) { allocation.pool = this; });
    reserved += size;
    reserved_high = std::max(reserved_high, reserved);
  }
  used += size;
  used_high = std::max(used_high, used);
  return hipSuccess;
}

hipError_t MemoryPool::release(void* address, CompletionRef after) {
  std::lock_guard lock(mutex);
  auto found = memory_map().remove(reinterpret_cast<uintptr_t>(address));
  if (!found) return hipErrorInvalidValue;
  used -= std::min<uint64_t>(used, found->size);
  freed.push_back({std::move(after), address, found->size});
  if (!left_alone()) collect(release_threshold);
  return hipSuccess;
}

// Where order is checked, what is freed lies there until the host waits, so that it does not depend on what has
// ended by now who gets it again, and whoever uses it is found; unless that becomes too much.
bool MemoryPool::left_alone() const {
  constexpr uint64_t kMost = uint64_t{256} << 20;
  if (!order_is_checked()) return false;
  uint64_t bytes = 0;
  for (const Freed& block : freed) bytes += block.size;
  return bytes <= kMost;
}

void MemoryPool::collect(uint64_t keep) {
  for (auto block = freed.begin(); block != freed.end();) {
    if (block->after.pending()) {
      ++block;
      continue;
    }
    block->after = {};
    cached.push_back(std::move(*block));
    block = freed.erase(block);
  }
  while (!cached.empty() && reserved > keep) {
    reserved -= std::min<uint64_t>(reserved, cached.front().size);
    hsa_amd_memory_pool_free(cached.front().address);
    cached.pop_front();
  }
}

void collect_pools(Device& device) {
  const auto collect = [&](MemoryPool& pool) {
    if (pool.device != &device) return;
    std::lock_guard lock(pool.mutex);
    if (!pool.freed.empty()) pool.collect(pool.release_threshold);
  };
  collect(*device.default_pool);
  std::lock_guard lock(pools_mutex());
  for (MemoryPool* pool : created_pools()) collect(*pool);
}

hipError_t hipMallocAsync(void** dev_ptr, size_t size, hipStream_t stream) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  Stream* resolved = resolve_stream(stream);
  if (!resolved) return hipErrorContextIsDestroyed;
  return allocate_in(*resolved->device.current_pool, dev_ptr, size, stream);
}
hipError_t hipMallocFromPoolAsync(void** dev_ptr, size_t size, hipMemPool_t mem_pool, hipStream_t stream) {
  MemoryPool* pool = resolve(mem_pool);
  if (!pool) return hipErrorInvalidValue;
  return allocate_in(*pool, dev_ptr, size, stream);
}
hipError_t hipFreeAsync(void* dev_ptr, hipStream_t handle) {
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  if (!dev_ptr) return hipErrorInvalidValue;
  if (stream->capture) return capture_free(*stream, dev_ptr);
  auto found = memory_map().find(dev_ptr);
  if (!found || found->base != reinterpret_cast<uintptr_t>(dev_ptr)) return hipErrorInvalidValue;
  // Memory that no pool gave is freed like that of the device's default pool.
  if (!found->pool && (found->kind != MemoryKind::Device || found->virtual_memory)) return hipErrorInvalidValue;
  MemoryPool* pool = found->pool ? static_cast<MemoryPool*>(found->pool) : device_at(found->device)->default_pool.get();
  CompletionRef after;
  {
    std::lock_guard lock(stream->device.mutex);
    // On the null stream that is the work of all blocking streams, too.
    if (!stream->idle() && stream->legacy) {
      if (hipError_t status = stream->marker(&after)) return status;
    } else {
      after = stream->last;
    }
  }
  if (order_is_checked()) {
    if (hipError_t status = stand_for(*stream)) return status;
    hsa_rocm_perf_stream_freed(dev_ptr);
  }
  if (!found->pool) pool->reserved += found->size;
  return pool->release(dev_ptr, after);
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* mem_pool, int index) {
  Device* device = device_at(index);
  if (!device) return hipErrorInvalidDevice;
  if (!mem_pool) return hipErrorInvalidValue;
  *mem_pool = handle_of(device->default_pool.get());
  return hipSuccess;
}
hipError_t hipDeviceSetMemPool(int index, hipMemPool_t mem_pool) {
  Device* device = device_at(index);
  if (!device) return hipErrorInvalidDevice;
  MemoryPool* pool = resolve(mem_pool);
  if (!pool || pool->device != device) return hipErrorInvalidValue;
  device->current_pool = pool;
  return hipSuccess;
}
hipError_t hipDeviceGetMemPool(hipMemPool_t* mem_pool, int index) {
  Device* device = device_at(index);
  if (!device) return hipErrorInvalidDevice;
  if (!mem_pool) return hipErrorInvalidValue;
  *mem_pool = handle_of(device->current_pool);
  return hipSuccess;
}

hipError_t hipMemPoolCreate(hipMemPool_t* mem_pool, const hipMemPoolProps* pool_props) {
  if (!mem_pool || !pool_props || pool_props->allocType != hipMemAllocationTypePinned ||
      pool_props->location.type != hipMemLocationTypeDevice)
    return hipErrorInvalidValue;
  if (pool_props->handleTypes != hipMemHandleTypeNone) return hipErrorNotSupported;
  Device* device = device_at(pool_props->location.id);
  if (!device) return hipErrorInvalidValue;
  auto* pool = new MemoryPool;
  pool->device = device;
  pool->properties = *pool_props;
  std::lock_guard lock(pools_mutex());
  created_pools().insert(pool);
  *mem_pool = handle_of(pool);
  return hipSuccess;
}
hipError_t hipMemPoolDestroy(hipMemPool_t mem_pool) {
  MemoryPool* pool = resolve(mem_pool);
  if (!pool || pool->device->default_pool.get() == pool) return hipErrorInvalidValue;
  if (hipError_t status = synchronize(*pool->device)) return status;
  if (pool->device->current_pool == pool) pool->device->current_pool = pool->device->default_pool.get();
  {
    std::lock_guard lock(pool->mutex);
    pool->collect(0);
    // Blocks still in use go on under the default pool.
    if (pool->used) {
      memory_map().move_pool(pool, pool->device->default_pool.get());
      pool->device->default_pool->used += pool->used;
      pool->device->default_pool->reserved += pool->used;
    }
  }
  std::lock_guard lock(pools_mutex());
  created_pools().erase(pool);
  delete pool;
  return hipSuccess;
}
hipError_t hipMemPoolTrimTo(hipMemPool_t mem_pool, size_t min_bytes_to_hold) {
  MemoryPool* pool = resolve(mem_pool);
  if (!pool) return hipErrorInvalidValue;
  std::lock_guard lock(pool->mutex);
  pool->collect(min_bytes_to_hold);
  return hipSuccess;
}
hipError_t hipMemPoolSetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr, void* value) {
  MemoryPool* pool = resolve(mem_pool);
  if (!pool || !value) return hipErrorInvalidValue;
  std::lock_guard lock(pool->mutex);
  const auto number = [&] { return *static_cast<uint64_t*>(value); };
  switch (attr) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
      pool->reuse[attr - hipMemPoolReuseFollowEventDependencies] = *static_cast<int*>(value);
      return hipSuccess;
    case hipMemPoolAttrReleaseThreshold: pool->release_threshold = number(); return hipSuccess;
    case hipMemPoolAttrReservedMemHigh:
      if (number() != 0) return hipErrorInvalidValue;
      pool->reserved_high = pool->reserved;
      return hipSuccess;
    case hipMemPoolAttrUsedMemHigh:
      if (number() != 0) return hipErrorInvalidValue;
      pool->used_high = pool->used;
      return hipSuccess;
    default: return hipErrorInvalidValue;
  }
}
hipError_t hipMemPoolGetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr, void* value) {
  MemoryPool* pool = resolve(mem_pool);
  if (!pool || !value) return hipErrorInvalidValue;
  std::lock_guard lock(pool->mutex);
  uint64_t* number = static_cast<uint64_t*>(value);
  switch (attr) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
      *static_cast<int*>(value) = pool->reuse[attr - hipMemPoolReuseFollowEventDependencies];
      return hipSuccess;
    case hipMemPoolAttrReleaseThreshold: *number = pool->release_threshold; return hipSuccess;
    case hipMemPoolAttrReservedMemCurrent: *number = pool->reserved; return hipSuccess;
    case hipMemPoolAttrReservedMemHigh: *number = pool->reserved_high; return hipSuccess;
    case hipMemPoolAttrUsedMemCurrent: *number = pool->used; return hipSuccess;
    case hipMemPoolAttrUsedMemHigh: *number = pool->used_high; return hipSuccess;
    default: return hipErrorInvalidValue;
  }
}
hipError_t hipMemPoolSetAccess(hipMemPool_t mem_pool, const hipMemAccessDesc* desc_list, size_t count) {
  MemoryPool* pool = resolve(mem_pool);
  if (!pool || (count && !desc_list)) return hipErrorInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    if (desc_list[i].location.type != hipMemLocationTypeDevice || !device_at(desc_list[i].location.id))
      return hipErrorInvalidValue;
    if (desc_list[i].location.id == pool->device->index && desc_list[i].flags != hipMemAccessFlagsProtReadWrite)
      return hipErrorInvalidValue;
  }
  return hipSuccess;
}
hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t mem_pool, hipMemLocation* location) {
  MemoryPool* pool = resolve(mem_pool);
  if (!pool || !flags || !location || location->type != hipMemLocationTypeDevice || !device_at(location->id))
    return hipErrorInvalidValue;
  *flags = location->id == pool->device->index ? hipMemAccessFlagsProtReadWrite : hipMemAccessFlagsProtNone;
  return hipSuccess;
}

}  // namespace hip
