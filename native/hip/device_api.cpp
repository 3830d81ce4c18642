// Devices, contexts, limits, peers and versions.
#include <cstdio>
#include <cstring>

#include "api_impl.h"
#include "entry.h"
#include "memory_map.h"
#include "runtime.h"
#include "stream.h"
#include "thread_state.h"

namespace hip {

namespace {

template <class T>
hipError_t give(T* to, const T& value) {
  if (!to) return hipErrorInvalidValue;
  *to = value;
  return hipSuccess;
}

hipError_t set_device(int index) {
  if (!device_at(index)) { return runtime().devices.empty() ? hipErrorNoDevice : hipErrorInvalidDevice; }
  thread_state().device = index;
  return hipSuccess;
}

hipError_t peer_pair(int peer_index, Device*& device, Device*& peer) {
  if (hipError_t status = check_device(device)) return status;
  peer = device_at(peer_index);
  return peer && peer != device ? hipSuccess : hipErrorInvalidDevice;
}

}  // namespace

hipError_t hipInit(unsigned int flags) {
  if (flags != 0) return hipErrorInvalidValue;
  return runtime().status;
}
hipError_t hipDriverGetVersion(int* driverVersion) { return give(driverVersion, HIP_VERSION); }
hipError_t hipRuntimeGetVersion(int* runtimeVersion) { return give(runtimeVersion, HIP_VERSION); }

hipError_t hipGetDeviceCount(int* count) {
  if (!count) return hipErrorInvalidValue;
  *count = int(runtime().devices.size());
  return *count ? hipSuccess : hipErrorNoDevice;
}
hipError_t hipGetDevice(int* deviceId) {
  if (runtime().devices.empty()) return hipErrorNoDevice;
  return give(deviceId, thread_state().device);
}
hipError_t hipSetDevice(int deviceId) { return set_device(deviceId); }
hipError_t hipSetValidDevices(int* device_arr, int len) {
  if (len < 0 || (len > 0 && !device_arr)) return hipErrorInvalidValue;
  for (int i = 0; i < len; ++i)
    if (!device_at(device_arr[i])) return hipErrorInvalidDevice;
  return len > 0 ? set_device(device_arr[0]) : hipSuccess;
}
hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  if (!device_at(ordinal)) return hipErrorInvalidDevice;
  return give(device, ordinal);
}
hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t index) {
  Device* device = device_at(index);
  if (!device) return hipErrorInvalidDevice;
  if (!major || !minor) return hipErrorInvalidValue;
  *major = device->properties.major;
  *minor = device->properties.minor;
  return hipSuccess;
}
hipError_t hipDeviceGetName(char* name, int len, hipDevice_t index) {
  Device* device = device_at(index);
  if (!device) return hipErrorInvalidDevice;
  if (!name || len <= 0) return hipErrorInvalidValue;
  std::snprintf(name, size_t(len), "%s", device->properties.name);
  return hipSuccess;
}
hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t index) {
  Device* device = device_at(index);
  if (!device) return hipErrorInvalidDevice;
  return give(uuid, device->properties.uuid);
}
hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t index) {
  Device* device = device_at(index);
  if (!device) return hipErrorInvalidDevice;
  return give(bytes, device->properties.totalGlobalMem);
}
hipError_t hipDeviceGetPCIBusId(char* pciBusId, int len, int index) {
  Device* device = device_at(index);
  if (!device) return hipErrorInvalidDevice;
  if (!pciBusId || len < 13) return hipErrorInvalidValue;
  const auto& p = device->properties;
  std::snprintf(pciBusId, size_t(len), "%04x:%02x:%02x.0", p.pciDomainID, p.pciBusID, p.pciDeviceID);
  return hipSuccess;
}
hipError_t hipDeviceGetByPCIBusId(int* index, const char* pciBusId) {
  if (!index || !pciBusId) return hipErrorInvalidValue;
  unsigned domain = 0, bus = 0, slot = 0;
  if (std::sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &slot) != 3) return hipErrorInvalidValue;
  for (auto& device : runtime().devices) {
    const auto& p = device->properties;
    if (p.pciDomainID == int(domain) && p.pciBusID == int(bus) && p.pciDeviceID == int(slot))
      return give(index, device->index);
  }
  return hipErrorInvalidDevice;
}

hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* prop, int deviceId) {
  Device* device = device_at(deviceId);
  if (!prop) return hipErrorInvalidValue;
  if (!device) return hipErrorInvalidDevice;
  *prop = device->properties;
  return hipSuccess;
}
hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000* prop, int deviceId) {
  Device* device = device_at(deviceId);
  if (!prop) return hipErrorInvalidValue;
  if (!device) return hipErrorInvalidDevice;
  *prop = older_properties(device->properties);
  return hipSuccess;
}
hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000* prop, int deviceId) {
  return hip::hipGetDevicePropertiesR0000(prop, deviceId);
}
hipError_t hipChooseDeviceR0600(int* device, const hipDeviceProp_tR0600* prop) {
  if (!prop) return hipErrorInvalidValue;
  if (runtime().devices.empty()) return hipErrorNoDevice;
  return give(device, 0);
}
hipError_t hipChooseDeviceR0000(int* device, const hipDeviceProp_tR0000* prop) {
  if (!prop) return hipErrorInvalidValue;
  if (runtime().devices.empty()) return hipErrorNoDevice;
  return give(device, 0);
}
hipError_t hipChooseDevice(int* device, const hipDeviceProp_tR0000* prop) {
  return hip::hipChooseDeviceR0000(device, prop);
}
hipError_t hipDeviceGetAttribute(int* pi, hipDeviceAttribute_t attr, int deviceId) {
  if (!pi) return hipErrorInvalidValue;
  Device* device = device_at(deviceId);
  if (!device) return hipErrorInvalidDevice;
  bool known = false;
  *pi = device_attribute(*device, attr, known);
  return known ? hipSuccess : hipErrorInvalidValue;
}
hipError_t hipDeviceGetTexture1DLinearMaxWidth(size_t* max_width, const hipChannelFormatDesc* desc, int index) {
  Device* device = device_at(index);
  if (!device) return hipErrorInvalidDevice;
  if (!max_width || !desc) return hipErrorInvalidValue;
  *max_width = size_t(device->properties.maxTexture1DLinear);
  return hipSuccess;
}

hipError_t hipDeviceReset() {
  Device* device = current_device();
  if (!device) return runtime().status;
  return synchronize(*device);
}
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) { return current_device() ? hipSuccess : runtime().status; }
hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* cacheConfig) { return give(cacheConfig, hipFuncCachePreferNone); }
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig) { return current_device() ? hipSuccess : runtime().status; }
hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* pConfig) {
  return give(pConfig, hipSharedMemBankSizeFourByte);
}
hipError_t hipDeviceGetLimit(size_t* pValue, hipLimit_t limit) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!pValue) return hipErrorInvalidValue;
  if (limit > hipLimitMallocHeapSize) return hipErrorUnsupportedLimit;
  *pValue = device->limits[limit];
  return hipSuccess;
}
hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (limit > hipLimitMallocHeapSize) return hipErrorUnsupportedLimit;
  constexpr size_t kMaxStack = 128 << 10;  // of a work-item
  if (value == 0 || (limit == hipLimitStackSize && value > kMaxStack)) return hipErrorInvalidValue;
  device->limits[limit] = value;
  return hipSuccess;
}
hipError_t hipSetDeviceFlags(unsigned int flags) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (flags & ~unsigned{hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax})
    return hipErrorInvalidValue;
  device->flags = flags;
  return hipSuccess;
}
hipError_t hipGetDeviceFlags(unsigned int* flags) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  return give(flags, device->flags);
}

// ---- peers ------------------------------------------------------------------------------------------------

hipError_t hipDeviceCanAccessPeer(int* canAccessPeer, int deviceId, int peerDeviceId) {
  if (!device_at(deviceId) || !device_at(peerDeviceId)) return hipErrorInvalidDevice;
  return give(canAccessPeer, deviceId != peerDeviceId ? 1 : 0);
}
hipError_t hipDeviceEnablePeerAccess(int peerDeviceId, unsigned int flags) {
  if (flags != 0) return hipErrorInvalidValue;
  Device *device, *peer;
  if (hipError_t status = peer_pair(peerDeviceId, device, peer)) return status;
  auto index = size_t(peerDeviceId);
  if (device->peers[index]) return hipErrorPeerAccessAlreadyEnabled;
  device->peers[index] = true;
  memory_map().each([&](const Allocation& allocation) {
    if (allocation.kind == MemoryKind::Device && allocation.device == peerDeviceId)
      hsa_amd_agents_allow_access(1, &device->agent, nullptr, reinterpret_cast<void*>(allocation.base));
  });
  return hipSuccess;
}
hipError_t hipDeviceDisablePeerAccess(int peerDeviceId) {
  Device *device, *peer;
  if (hipError_t status = peer_pair(peerDeviceId, device, peer)) return status;
  auto index = size_t(peerDeviceId);
  if (!device->peers[index]) return hipErrorPeerAccessNotEnabled;
  device->peers[index] = false;
  return hipSuccess;
}
hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attr, int srcDevice, int dstDevice) {
  if (!value) return hipErrorInvalidValue;
  if (!device_at(srcDevice) || !device_at(dstDevice) || srcDevice == dstDevice) return hipErrorInvalidDevice;
  switch (attr) {
    case hipDevP2PAttrPerformanceRank: *value = 0; return hipSuccess;
    case hipDevP2PAttrAccessSupported:
    case hipDevP2PAttrNativeAtomicSupported: *value = 1; return hipSuccess;
    case hipDevP2PAttrHipArrayAccessSupported: *value = 0; return hipSuccess;
    default: return hipErrorInvalidValue;
  }
}
hipError_t hipExtGetLinkTypeAndHopCount(int device1, int device2, uint32_t* linktype, uint32_t* hopcount) {
  if (!device_at(device1) || !device_at(device2) || device1 == device2) return hipErrorInvalidDevice;
  if (!linktype || !hopcount) return hipErrorInvalidValue;
  *linktype = HSA_AMD_LINK_INFO_TYPE_XGMI;
  *hopcount = 1;
  return hipSuccess;
}

}  // namespace hip
