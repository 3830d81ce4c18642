// Virtual memory: address ranges, memory and mappings apart.
#include <map>
#include <mutex>

#include "api_impl.h"
#include "memory.h"

struct ihipMemGenericAllocationHandle {
  hsa_amd_vmem_alloc_handle_t handle;
  size_t size;
  hipMemAllocationProp properties;
  int references;
};

namespace hip {

namespace {

struct Mapping {
  size_t size;
  ihipMemGenericAllocationHandle* memory;
};
struct State {
  std::mutex mutex;
  std::map<uintptr_t, Mapping> mappings;
};
State& state() {
  static auto* instance = new State;
  return *instance;
}

hipError_t check_properties(const hipMemAllocationProp* prop, Device*& device) {
  if (!prop || prop->type != hipMemAllocationTypePinned || prop->location.type != hipMemLocationTypeDevice)
    return hipErrorInvalidValue;
  device = device_at(prop->location.id);
  return device ? hipSuccess : hipErrorInvalidValue;
}

void drop(ihipMemGenericAllocationHandle* memory) {
  if (--memory->references > 0) return;
  hsa_amd_vmem_handle_release(memory->handle);
  delete memory;
}

}  // namespace

hipError_t hipMemGetAllocationGranularity(size_t* granularity, const hipMemAllocationProp* prop,
                                          hipMemAllocationGranularity_flags option) {
  Device* device;
  if (hipError_t status = check_properties(prop, device)) return status;
  if (!granularity || option > hipMemAllocationGranularityRecommended) return hipErrorInvalidValue;
  size_t granule = device->memory_granule;
  if (option == hipMemAllocationGranularityRecommended)
    hsa_amd_memory_pool_get_info(device->coarse, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE, &granule);
  *granularity = granule ? granule : device->memory_granule;
  return hipSuccess;
}
hipError_t hipMemAddressReserve(void** ptr, size_t size, size_t alignment, void* addr, unsigned long long flags) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!ptr || size == 0 || size % device->memory_granule || flags != 0 || (alignment & (alignment - 1)))
    return hipErrorInvalidValue;
  const auto wanted = reinterpret_cast<uint64_t>(addr);
  return error_from_hsa(alignment ? hsa_amd_vmem_address_reserve_align(ptr, size, wanted, alignment, 0)
                                  : hsa_amd_vmem_address_reserve(ptr, size, wanted, 0));
}
hipError_t hipMemAddressFree(void* devPtr, size_t size) {
  if (!devPtr || size == 0) return hipErrorInvalidValue;
  return hsa_amd_vmem_address_free(devPtr, size) == HSA_STATUS_SUCCESS ? hipSuccess : hipErrorInvalidValue;
}
hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* handle, size_t size, const hipMemAllocationProp* prop,
                        unsigned long long flags) {
  Device* device;
  if (hipError_t status = check_properties(prop, device)) return status;
  if (!handle || size == 0 || flags != 0 || size % device->memory_granule) return hipErrorInvalidValue;
  hsa_amd_vmem_alloc_handle_t created{};
  hsa_status_t status = hsa_amd_vmem_handle_create(device->coarse, size, MEMORY_TYPE_PINNED, 0, &created);
  if (status != HSA_STATUS_SUCCESS) return error_from_hsa(status);
  *handle = new ihipMemGenericAllocationHandle{created, size, *prop, 1};
  return hipSuccess;
}
hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle) {
  if (!handle) return hipErrorInvalidValue;
  std::lock_guard lock(state().mutex);
  drop(handle);
  return hipSuccess;
}
hipError_t hipMemMap(void* ptr, size_t size, size_t offset, hipMemGenericAllocationHandle_t handle,
                     unsigned long long flags) {
  if (!ptr || !handle || offset != 0 || flags != 0 || size == 0 || size > handle->size) return hipErrorInvalidValue;
  hsa_status_t status = hsa_amd_vmem_map(ptr, size, offset, handle->handle, 0);
  if (status != HSA_STATUS_SUCCESS) return error_from_hsa(status);
  std::lock_guard lock(state().mutex);
  ++handle->references;
  state().mappings[reinterpret_cast<uintptr_t>(ptr)] = {size, handle};
  Allocation allocation;
  allocation.base = reinterpret_cast<uintptr_t>(ptr);
  allocation.size = size;
  allocation.device = handle->properties.location.id;
  allocation.virtual_memory = true;
  memory_map().add(allocation);
  return hipSuccess;
}
hipError_t hipMemUnmap(void* ptr, size_t size) {
  if (!ptr || size == 0) return hipErrorInvalidValue;
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (hipError_t status = synchronize(*device)) return status;
  // A range may cover several mappings, none of them in part.
  std::lock_guard lock(state().mutex);
  auto& mappings = state().mappings;
  uintptr_t at = reinterpret_cast<uintptr_t>(ptr);
  const uintptr_t end = at + size;
  for (uintptr_t check = at; check < end;) {
    auto found = mappings.find(check);
    if (found == mappings.end() || check + found->second.size > end) return hipErrorInvalidValue;
    check += found->second.size;
  }
  while (at < end) {
    auto found = mappings.find(at);
    Mapping mapping = found->second;
    hsa_status_t status = hsa_amd_vmem_unmap(reinterpret_cast<void*>(at), mapping.size);
    if (status != HSA_STATUS_SUCCESS) return error_from_hsa(status);
    memory_map().remove(at);
    mappings.erase(found);
    drop(mapping.memory);
    at += mapping.size;
  }
  return hipSuccess;
}
hipError_t hipMemSetAccess(void* ptr, size_t size, const hipMemAccessDesc* desc, size_t count) {
  if (!ptr || size == 0 || !desc || count == 0) return hipErrorInvalidValue;
  std::vector<hsa_amd_memory_access_desc_t> list;
  for (size_t i = 0; i < count; ++i) {
    Device* device = desc[i].location.type == hipMemLocationTypeDevice ? device_at(desc[i].location.id) : nullptr;
    if (!device) return hipErrorInvalidValue;
    hsa_access_permission_t permission = desc[i].flags == hipMemAccessFlagsProtReadWrite ? HSA_ACCESS_PERMISSION_RW
                                         : desc[i].flags == hipMemAccessFlagsProtRead    ? HSA_ACCESS_PERMISSION_RO
                                                                                         : HSA_ACCESS_PERMISSION_NONE;
    list.push_back({permission, device->agent});
  }
  return error_from_hsa(hsa_amd_vmem_set_access(ptr, size, list.data(), list.size()));
}
hipError_t hipMemGetAccess(unsigned long long* flags, const hipMemLocation* location, void* ptr) {
  if (!flags || !location || !ptr || location->type != hipMemLocationTypeDevice) return hipErrorInvalidValue;
  Device* device = device_at(location->id);
  if (!device) return hipErrorInvalidValue;
  hsa_access_permission_t permission{};
  hsa_status_t status = hsa_amd_vmem_get_access(ptr, &permission, device->agent);
  if (status != HSA_STATUS_SUCCESS) return hipErrorInvalidValue;
  *flags = permission == HSA_ACCESS_PERMISSION_RW   ? hipMemAccessFlagsProtReadWrite
           : permission == HSA_ACCESS_PERMISSION_RO ? hipMemAccessFlagsProtRead
                                                    : hipMemAccessFlagsProtNone;
  return hipSuccess;
}
hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp* prop, hipMemGenericAllocationHandle_t handle) {
  if (!prop || !handle) return hipErrorInvalidValue;
  *prop = handle->properties;
  return hipSuccess;
}
hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t* handle, void* addr) {
  if (!handle || !addr) return hipErrorInvalidValue;
  auto address = reinterpret_cast<uintptr_t>(addr);
  std::lock_guard lock(state().mutex);
  for (auto& [base, mapping] : state().mappings) {
    if (address < base || address >= base + mapping.size) continue;
    ++mapping.memory->references;
    *handle = mapping.memory;
    return hipSuccess;
  }
  return hipErrorInvalidValue;
}

}  // namespace hip
