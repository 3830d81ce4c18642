// What a pointer is.
#include <cstring>

#include "api_impl.h"
#include "memory_map.h"
#include "memory_pool.h"
#include "runtime.h"

namespace hip {

namespace {

hipMemoryType type_of(const Allocation& allocation) {
  switch (allocation.kind) {
    case MemoryKind::Managed: return hipMemoryTypeManaged;
    case MemoryKind::Host:
    case MemoryKind::Registered: return hipMemoryTypeHost;
    default: return hipMemoryTypeDevice;
  }
}

template <class T>
hipError_t give(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
  return hipSuccess;
}

hipError_t attribute_of(void* data, hipPointer_attribute attribute, const void* ptr) {
  auto found = memory_map().find(ptr);
  if (!found) return hipErrorInvalidValue;
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give(data, found->kind == MemoryKind::Managed ? hipMemoryTypeManaged : type_of(*found));
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER: return give(data, ptr);
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      if (found->on_device()) {
        (void)give(data, static_cast<void*>(nullptr));
        return hipErrorInvalidValue;
      }
      return give(data, ptr);
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID: return give(data, static_cast<unsigned long long>(found->base));
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED: return give(data, found->kind == MemoryKind::Managed);
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return give(data, found->device);
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR: return give(data, found->base);
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE: return give(data, found->size);
    case HIP_POINTER_ATTRIBUTE_MAPPED: return give(data, true);
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
    case HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: return give(data, false);
    case HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return give(data, hipMemHandleTypeNone);
    case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS: return give(data, hipMemAccessFlagsProtReadWrite);
    case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return give(data, found->pool);
    case HIP_POINTER_ATTRIBUTE_CONTEXT:
    case HIP_POINTER_ATTRIBUTE_P2P_TOKENS: return hipErrorNotSupported;
    default: return hipErrorInvalidValue;
  }
}

}  // namespace

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* ptr) {
  if (!attributes || !ptr) return hipErrorInvalidValue;
  *attributes = {};
  auto found = memory_map().find(ptr);
  if (!found) {
    // Memory of the host that HIP knows nothing about.
    attributes->type = hipMemoryTypeUnregistered;
    attributes->device = hipInvalidDeviceId;
    attributes->hostPointer = const_cast<void*>(ptr);
    return hipSuccess;
  }
  attributes->type = type_of(*found);
  attributes->device = found->device;
  attributes->devicePointer = const_cast<void*>(ptr);
  attributes->hostPointer = found->on_device() ? nullptr : const_cast<void*>(ptr);
  attributes->isManaged = found->kind == MemoryKind::Managed;
  attributes->allocationFlags = found->flags;
  return hipSuccess;
}
hipError_t hipPointerGetAttribute(void* data, hipPointer_attribute attribute, hipDeviceptr_t ptr) {
  if (!data || !ptr) return hipErrorInvalidValue;
  return attribute_of(data, attribute, ptr);
}
hipError_t hipDrvPointerGetAttributes(unsigned int numAttributes, hipPointer_attribute* attributes, void** data,
                                      hipDeviceptr_t ptr) {
  if (!attributes || !data || numAttributes == 0) return hipErrorInvalidValue;
  // An attribute that does not apply reads as zero; the call does not fail for it.
  for (unsigned i = 0; i < numAttributes; ++i)
    if (attribute_of(data[i], attributes[i], ptr) != hipSuccess) std::memset(data[i], 0, 4);
  return hipSuccess;
}
hipError_t hipPointerSetAttribute(const void* value, hipPointer_attribute attribute, hipDeviceptr_t ptr) {
  if (!value || !memory_map().find(ptr)) return hipErrorInvalidValue;
  return attribute == HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS ? hipSuccess : hipErrorInvalidValue;
}

}  // namespace hip
