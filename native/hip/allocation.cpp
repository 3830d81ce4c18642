// hipMalloc and its family: device, pinned host, registered host and managed memory.
#include <cstring>

#include "api_impl.h"
#include "memory.h"
#include "memory_pool.h"

namespace hip {

namespace {

constexpr size_t kPitchAlignment = 256;

hipError_t check_flags(unsigned flags, unsigned allowed) {
  return flags & ~allowed ? hipErrorInvalidValue : hipSuccess;
}

hipError_t host_malloc(void** ptr, size_t size, unsigned flags) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!ptr) return hipErrorInvalidValue;
  constexpr unsigned kAllowed = hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined |
                                hipHostMallocUncached | hipHostMallocNumaUser | hipHostMallocCoherent |
                                hipHostMallocNonCoherent;
  if (hipError_t status = check_flags(flags, kAllowed)) return status;
  if ((flags & hipHostMallocCoherent) && (flags & hipHostMallocNonCoherent)) return hipErrorInvalidValue;
  *ptr = nullptr;
  if (size == 0) return hipSuccess;
  return allocate_host(size, flags, MemoryKind::Host, ptr);
}

// Frees after everything that may still use it: hipFree waits for the device.
hipError_t free_pointer(void* ptr, bool host) {
  if (!ptr) return hipSuccess;
  Device* device = current_device();
  if (!device) return runtime().status;
  auto found = memory_map().find(ptr);
  if (!found || found->base != reinterpret_cast<uintptr_t>(ptr) || found->kind == MemoryKind::Registered ||
      found->kind == MemoryKind::Variable || found->virtual_memory)
    return hipErrorInvalidValue;
  if (host && found->kind != MemoryKind::Host) return hipErrorInvalidValue;
  Device* owner = device_at(found->device);
  hipError_t status = synchronize(owner ? *owner : *device);
  if (status != hipSuccess) return status;
  if (found->pool && order_is_checked()) {
    hsa_rocm_perf_work_begins(hsa_rocm_perf_work_submitted());
    hsa_rocm_perf_work_is_over();
    hsa_rocm_perf_host_learns();
    hsa_rocm_perf_work_begins(0);
    hsa_rocm_perf_stream_freed(ptr);
  }
  if (found->pool) return static_cast<MemoryPool*>(found->pool)->release(ptr, {});
  memory_map().remove(found->base);
  return free_allocation(*found);
}

}  // namespace

hipError_t allocate_device(Device& device, size_t size, unsigned flags, void** address) {
  if (size > device.properties.totalGlobalMem) return hipErrorOutOfMemory;
  const bool fine =
      flags == hipDeviceMallocFinegrained || flags == hipMallocSignalMemory || flags == hipDeviceMallocUncached;
  void* block = nullptr;
  hsa_status_t status = hsa_amd_memory_pool_allocate(fine ? device.fine : device.coarse, size, 0, &block);
  if (status != HSA_STATUS_SUCCESS) return hipErrorOutOfMemory;
  for (auto& peer : runtime().devices)
    if (peer.get() != &device && peer->peers[size_t(device.index)])
      hsa_amd_agents_allow_access(1, &peer->agent, nullptr, block);
  *address = block;
  Allocation allocation;
  allocation.base = reinterpret_cast<uintptr_t>(block);
  allocation.size = size;
  allocation.device = device.index;
  allocation.flags = flags;
  memory_map().add(allocation);
  return hipSuccess;
}

hipError_t allocate_host(size_t size, unsigned flags, MemoryKind kind, void** address) {
  Runtime& rt = runtime();
  void* block = nullptr;
  auto pool = flags & hipHostMallocNonCoherent ? rt.host_coarse : rt.host_fine;
  if (hsa_amd_memory_pool_allocate(pool, size, 0, &block) != HSA_STATUS_SUCCESS) return hipErrorOutOfMemory;
  hsa_amd_agents_allow_access(uint32_t(rt.agents.size()), rt.agents.data(), nullptr, block);
  if (kind == MemoryKind::Managed && hsa_rocm_perf_is_managed) hsa_rocm_perf_is_managed(block);
  *address = block;
  Allocation allocation;
  allocation.base = reinterpret_cast<uintptr_t>(block);
  allocation.size = size;
  allocation.kind = kind;
  allocation.device = current_device() ? current_device()->index : 0;
  allocation.flags = flags;
  memory_map().add(allocation);
  return hipSuccess;
}

hipError_t free_allocation(const Allocation& allocation) {
  void* block = reinterpret_cast<void*>(allocation.block ? allocation.block : allocation.base);
  return error_from_hsa(hsa_amd_memory_pool_free(block));
}

// ---- exported ------------------------------------------------------------------------------------

hipError_t hipMalloc(void** ptr, size_t size) { return hip::hipExtMallocWithFlags(ptr, size, hipDeviceMallocDefault); }

hipError_t hipExtMallocWithFlags(void** ptr, size_t sizeBytes, unsigned int flags) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!ptr || flags > hipDeviceMallocContiguous) return hipErrorInvalidValue;
  *ptr = nullptr;
  if (sizeBytes == 0) return hipSuccess;
  return allocate_device(*device, sizeBytes, flags, ptr);
}

hipError_t hipMallocManaged(void** dev_ptr, size_t size, unsigned int flags) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!dev_ptr || size == 0 || (flags != hipMemAttachGlobal && flags != hipMemAttachHost)) return hipErrorInvalidValue;
  return allocate_host(size, flags, MemoryKind::Managed, dev_ptr);
}

hipError_t hipHostMalloc(void** ptr, size_t size, unsigned int flags) { return host_malloc(ptr, size, flags); }
hipError_t hipMallocHost(void** ptr, size_t size) { return host_malloc(ptr, size, 0); }

hipError_t hipFree(void* ptr) { return free_pointer(ptr, false); }
hipError_t hipHostFree(void* ptr) { return free_pointer(ptr, true); }

hipError_t hipMallocPitch(void** ptr, size_t* pitch, size_t width, size_t height) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!ptr || !pitch) return hipErrorInvalidValue;
  *ptr = nullptr;
  *pitch = 0;
  if (width == 0 || height == 0) return hipSuccess;
  if (width > SIZE_MAX - kPitchAlignment) return hipErrorInvalidValue;
  *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  if (height > SIZE_MAX / *pitch) return hipErrorOutOfMemory;
  return allocate_device(*device, *pitch * height, 0, ptr);
}

hipError_t hipMemAllocPitch(hipDeviceptr_t* dptr, size_t* pitch, size_t widthInBytes, size_t height,
                            unsigned int elementSizeBytes) {
  if (elementSizeBytes != 4 && elementSizeBytes != 8 && elementSizeBytes != 16) return hipErrorInvalidValue;
  return hip::hipMallocPitch(dptr, pitch, widthInBytes, height);
}

hipError_t hipMalloc3D(hipPitchedPtr* pitchedDevPtr, hipExtent extent) {
  if (!pitchedDevPtr) return hipErrorInvalidValue;
  size_t pitch = 0;
  void* memory = nullptr;
  if (extent.depth && extent.height > SIZE_MAX / extent.depth) return hipErrorOutOfMemory;
  hipError_t status = hip::hipMallocPitch(&memory, &pitch, extent.width, extent.height * extent.depth);
  if (status == hipSuccess) *pitchedDevPtr = {memory, pitch, extent.width, extent.height};
  return status;
}

hipError_t hipHostRegister(void* hostPtr, size_t sizeBytes, unsigned int flags) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!hostPtr || sizeBytes == 0) return hipErrorInvalidValue;
  constexpr unsigned kAllowed = hipHostRegisterPortable | hipHostRegisterMapped | hipHostRegisterIoMemory |
                                hipHostRegisterReadOnly | hipExtHostRegisterUncached;
  if (hipError_t status = check_flags(flags, kAllowed)) return status;
  if (memory_map().find(hostPtr)) return hipErrorHostMemoryAlreadyRegistered;
  Runtime& rt = runtime();
  void* mapped = nullptr;
  hsa_status_t locked = hsa_amd_memory_lock_to_pool(hostPtr, sizeBytes, rt.agents.data(), int(rt.agents.size()),
                                                    rt.host_fine, 0, &mapped);
  if (locked != HSA_STATUS_SUCCESS) return error_from_hsa(locked);
  Allocation allocation;
  allocation.base = reinterpret_cast<uintptr_t>(hostPtr);
  allocation.size = sizeBytes;
  allocation.kind = MemoryKind::Registered;
  allocation.device = device->index;
  allocation.flags = flags;
  memory_map().add(allocation);
  return hipSuccess;
}

hipError_t hipHostUnregister(void* hostPtr) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!hostPtr) return hipErrorInvalidValue;
  auto found = memory_map().find(hostPtr);
  if (!found || found->kind != MemoryKind::Registered || found->base != reinterpret_cast<uintptr_t>(hostPtr))
    return hipErrorHostMemoryNotRegistered;
  if (hipError_t status = synchronize(*device)) return status;
  memory_map().remove(found->base);
  return error_from_hsa(hsa_amd_memory_unlock(hostPtr));
}

hipError_t hipHostGetDevicePointer(void** devPtr, void* hstPtr, unsigned int flags) {
  if (!devPtr || !hstPtr || flags != 0) return hipErrorInvalidValue;
  auto found = memory_map().find(hstPtr);
  if (!found || found->on_device()) return hipErrorInvalidValue;
  *devPtr = hstPtr;  // one address space
  return hipSuccess;
}

hipError_t hipHostGetFlags(unsigned int* flagsPtr, void* hostPtr) {
  if (!flagsPtr || !hostPtr) return hipErrorInvalidValue;
  auto found = memory_map().find(hostPtr);
  if (!found || (found->kind != MemoryKind::Host && found->kind != MemoryKind::Registered)) return hipErrorInvalidValue;
  *flagsPtr = found->flags;
  return hipSuccess;
}

hipError_t hipMemGetInfo(size_t* free, size_t* total) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  const size_t all = device->properties.totalGlobalMem;
  uint64_t available = 0;
  if (hsa_agent_get_info(device->agent, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_MEMORY_AVAIL), &available) !=
      HSA_STATUS_SUCCESS) {
    size_t used = memory_map().device_bytes(device->index);
    available = used < all ? all - used : 0;
  }
  if (free) *free = available;
  if (total) *total = all;
  return hipSuccess;
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* pbase, size_t* psize, hipDeviceptr_t dptr) {
  if (!pbase || !psize || !dptr) return hipErrorInvalidValue;
  auto found = memory_map().find(dptr);
  if (!found) return hipErrorNotFound;
  *pbase = reinterpret_cast<void*>(found->base);
  *psize = found->size;
  return hipSuccess;
}

hipError_t hipMemPtrGetInfo(void* ptr, size_t* size) {
  if (!ptr || !size) return hipErrorInvalidValue;
  auto found = memory_map().find(ptr);
  if (!found) return hipErrorInvalidValue;
  *size = found->size;
  return hipSuccess;
}

// Managed memory lives in one place that host and device both reach: advice and prefetches are checked and
// remembered, and have nothing to move but, where time is modelled, the place that accesses go to.
hipError_t hipMemPrefetchAsync(const void* dev_ptr, size_t count, int device, hipStream_t stream) {
  if (!dev_ptr || count == 0) return hipErrorInvalidValue;
  if (device != hipCpuDeviceId && !device_at(device)) return hipErrorInvalidDevice;
  if (!memory_map().contains(dev_ptr, count)) return hipErrorInvalidValue;
  Stream* resolved;
  hipError_t status = stream_for_work(stream, resolved);
  if (status != hipSuccess) return status;
  memory_map().update(dev_ptr, [&](Allocation& found) { found.prefetched_to = device; });
  const auto found = memory_map().find(dev_ptr);
  if (!time_is_modelled() || resolved->capture || !found || found->kind != MemoryKind::Managed) return hipSuccess;
  std::lock_guard lock(resolved->device.mutex);
  const Device* target = device == hipCpuDeviceId ? nullptr : device_at(device);
  return resolved->prefetch(dev_ptr, count, target ? target->agent : runtime().cpu);
}
hipError_t hipMemPrefetchAsync_v2(const void* dev_ptr, size_t count, hipMemLocation location, unsigned int flags,
                                  hipStream_t stream) {
  if (flags != 0) return hipErrorInvalidValue;
  int device = location.type == hipMemLocationTypeDevice ? location.id : hipCpuDeviceId;
  return hip::hipMemPrefetchAsync(dev_ptr, count, device, stream);
}
hipError_t hipMemAdvise(const void* dev_ptr, size_t count, hipMemoryAdvise advice, int device) {
  if (!dev_ptr || count == 0) return hipErrorInvalidValue;
  if (device != hipCpuDeviceId && !device_at(device)) return hipErrorInvalidDevice;
  const bool known = (advice >= hipMemAdviseSetReadMostly && advice <= hipMemAdviseUnsetAccessedBy) ||
                     advice == hipMemAdviseSetCoarseGrain || advice == hipMemAdviseUnsetCoarseGrain;
  if (!known || !memory_map().contains(dev_ptr, count)) return hipErrorInvalidValue;
  memory_map().update(dev_ptr, [&](Allocation& found) {
    switch (advice) {
      case hipMemAdviseSetReadMostly: found.read_mostly = true; break;
      case hipMemAdviseUnsetReadMostly: found.read_mostly = false; break;
      case hipMemAdviseSetPreferredLocation: found.preferred_location = device; break;
      case hipMemAdviseUnsetPreferredLocation: found.preferred_location = hipInvalidDeviceId; break;
      case hipMemAdviseSetAccessedBy: found.accessed_by = device; break;
      case hipMemAdviseUnsetAccessedBy: found.accessed_by = hipInvalidDeviceId; break;
      default: break;  // grain: all memory here is coherent
    }
  });
  return hipSuccess;
}
hipError_t hipMemAdvise_v2(const void* dev_ptr, size_t count, hipMemoryAdvise advice, hipMemLocation location) {
  int device = location.type == hipMemLocationTypeDevice ? location.id : hipCpuDeviceId;
  return hip::hipMemAdvise(dev_ptr, count, advice, device);
}
hipError_t hipMemRangeGetAttribute(void* data, size_t data_size, hipMemRangeAttribute attribute, const void* dev_ptr,
                                   size_t count) {
  if (!data || data_size < 4 || !dev_ptr || !memory_map().contains(dev_ptr, count)) return hipErrorInvalidValue;
  const auto found = memory_map().find(dev_ptr);
  if (!found) return hipErrorInvalidValue;
  int value = hipInvalidDeviceId;
  switch (attribute) {
    case hipMemRangeAttributeReadMostly: value = found->read_mostly; break;
    case hipMemRangeAttributePreferredLocation: value = found->preferred_location; break;
    case hipMemRangeAttributeAccessedBy: value = found->accessed_by; break;
    case hipMemRangeAttributeLastPrefetchLocation: value = found->prefetched_to; break;
    case hipMemRangeAttributeCoherencyMode: value = hipMemRangeCoherencyModeFineGrain; break;
    default: break;
  }
  // "Accessed by" is a list of devices, the rest one number.
  for (size_t at = 0; at + 4 <= data_size; at += 4) {
    std::memcpy(static_cast<char*>(data) + at, &value, 4);
    if (attribute == hipMemRangeAttributeAccessedBy) value = hipInvalidDeviceId;
  }
  return hipSuccess;
}
hipError_t hipMemRangeGetAttributes(void** data, size_t* data_sizes, hipMemRangeAttribute* attributes,
                                    size_t num_attributes, const void* dev_ptr, size_t count) {
  if (!data || !data_sizes || !attributes || num_attributes == 0) return hipErrorInvalidValue;
  for (size_t i = 0; i < num_attributes; ++i) {
    hipError_t status = hip::hipMemRangeGetAttribute(data[i], data_sizes[i], attributes[i], dev_ptr, count);
    if (status != hipSuccess) return status;
  }
  return hipSuccess;
}
hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* dev_ptr, size_t, unsigned int flags) {
  if (!dev_ptr || (flags != hipMemAttachGlobal && flags != hipMemAttachHost && flags != hipMemAttachSingle))
    return hipErrorInvalidValue;
  auto found = memory_map().find(dev_ptr);
  if (!found || found->kind != MemoryKind::Managed) return hipErrorInvalidValue;
  Stream* resolved;
  return stream_for_work(stream, resolved);
}

}  // namespace hip
