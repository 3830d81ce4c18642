// Devices, contexts, limits, peers and versions.
#include <cstdio>
#include <cstring>

#include "api_impl.h"
#include "entry.h"
#include "memory_map.h"
#include "runtime.h"
#include "stream.h"
#include "thread_state.h"

struct ihipCtx_t {
  int device;
  unsigned flags;
  bool primary;
};

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

// One primary context per device; created ones are the device under another handle.
ihipCtx_t* primary_context(int device) {
  static auto* contexts = [] {
    auto* list = new std::vector<ihipCtx_t>;
    for (size_t i = 0; i < runtime().devices.size(); ++i) list->push_back({static_cast<int>(i), 0, true});
    return list;
  }();
  return &(*contexts)[static_cast<size_t>(device)];
}

template <class From, class To>
void copy_shared_fields(const From& from, To& to) {
  std::memcpy(to.name, from.name, sizeof to.name);
  std::memcpy(to.gcnArchName, from.gcnArchName, sizeof to.gcnArchName);
  std::memcpy(to.maxThreadsDim, from.maxThreadsDim, sizeof to.maxThreadsDim);
  std::memcpy(to.maxGridSize, from.maxGridSize, sizeof to.maxGridSize);
  std::memcpy(to.maxTexture2D, from.maxTexture2D, sizeof to.maxTexture2D);
  std::memcpy(to.maxTexture3D, from.maxTexture3D, sizeof to.maxTexture3D);
#define FIELD(name) to.name = from.name
  FIELD(totalGlobalMem);
  FIELD(sharedMemPerBlock);
  FIELD(regsPerBlock);
  FIELD(warpSize);
  FIELD(maxThreadsPerBlock);
  FIELD(clockRate);
  FIELD(memoryClockRate);
  FIELD(memoryBusWidth);
  FIELD(totalConstMem);
  FIELD(major);
  FIELD(minor);
  FIELD(multiProcessorCount);
  FIELD(l2CacheSize);
  FIELD(maxThreadsPerMultiProcessor);
  FIELD(computeMode);
  FIELD(clockInstructionRate);
  FIELD(arch);
  FIELD(concurrentKernels);
  FIELD(pciDomainID);
  FIELD(pciBusID);
  FIELD(pciDeviceID);
  FIELD(maxSharedMemoryPerMultiProcessor);
  FIELD(isMultiGpuBoard);
  FIELD(canMapHostMemory);
  FIELD(integrated);
  FIELD(cooperativeLaunch);
  FIELD(cooperativeMultiDeviceLaunch);
  FIELD(maxTexture1DLinear);
  FIELD(maxTexture1D);
  FIELD(memPitch);
  FIELD(textureAlignment);
  FIELD(texturePitchAlignment);
  FIELD(kernelExecTimeoutEnabled);
  FIELD(ECCEnabled);
  FIELD(tccDriver);
  FIELD(cooperativeMultiDeviceUnmatchedFunc);
  FIELD(cooperativeMultiDeviceUnmatchedGridDim);
  FIELD(cooperativeMultiDeviceUnmatchedBlockDim);
  FIELD(cooperativeMultiDeviceUnmatchedSharedMem);
  FIELD(isLargeBar);
  FIELD(asicRevision);
  FIELD(managedMemory);
  FIELD(directManagedMemAccessFromHost);
  FIELD(concurrentManagedAccess);
  FIELD(pageableMemoryAccess);
  FIELD(pageableMemoryAccessUsesHostPageTables);
#undef FIELD
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
  *count = static_cast<int>(runtime().devices.size());
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
  std::snprintf(name, static_cast<size_t>(len), "%s", device->properties.name);
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
  std::snprintf(pciBusId, static_cast<size_t>(len), "%04x:%02x:%02x.0", p.pciDomainID, p.pciBusID, p.pciDeviceID);
  return hipSuccess;
}
hipError_t hipDeviceGetByPCIBusId(int* index, const char* pciBusId) {
  if (!index || !pciBusId) return hipErrorInvalidValue;
  unsigned domain = 0, bus = 0, slot = 0;
  if (std::sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &slot) != 3) return hipErrorInvalidValue;
  for (auto& device : runtime().devices) {
    const auto& p = device->properties;
    if (p.pciDomainID == static_cast<int>(domain) && p.pciBusID == static_cast<int>(bus) &&
        p.pciDeviceID == static_cast<int>(slot))
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
  *prop = {};
  copy_shared_fields(device->properties, *prop);
  prop->gcnArch = device->properties.major * 100 + device->properties.minor * 10;
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
  *max_width = static_cast<size_t>(device->properties.maxTexture1DLinear);
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
  auto index = static_cast<size_t>(peerDeviceId);
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
  auto index = static_cast<size_t>(peerDeviceId);
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

// ---- contexts -----------------------------------------------------------------------------------------------

hipError_t hipCtxCreate(hipCtx_t* ctx, unsigned int flags, hipDevice_t device) {
  if (!ctx) return hipErrorInvalidValue;
  if (hipError_t status = set_device(device)) return status;
  *ctx = new ihipCtx_t{device, flags, false};
  thread_state().contexts.push_back(*ctx);
  return hipSuccess;
}
hipError_t hipCtxDestroy(hipCtx_t ctx) {
  if (!ctx) return hipErrorInvalidValue;
  auto& stack = thread_state().contexts;
  if (!stack.empty() && stack.back() == ctx) stack.pop_back();
  if (!ctx->primary) delete ctx;
  return hipSuccess;
}
hipError_t hipCtxPushCurrent(hipCtx_t ctx) {
  if (!ctx) return hipErrorInvalidContext;
  thread_state().contexts.push_back(ctx);
  return set_device(ctx->device);
}
hipError_t hipCtxPopCurrent(hipCtx_t* ctx) {
  auto& stack = thread_state().contexts;
  if (stack.empty()) return hipErrorInvalidContext;
  if (ctx) *ctx = stack.back();
  stack.pop_back();
  return stack.empty() ? hipSuccess : set_device(stack.back()->device);
}
hipError_t hipCtxSetCurrent(hipCtx_t ctx) {
  auto& stack = thread_state().contexts;
  if (!stack.empty()) stack.pop_back();
  if (!ctx) return hipSuccess;
  stack.push_back(ctx);
  return set_device(ctx->device);
}
hipError_t hipCtxGetCurrent(hipCtx_t* ctx) {
  if (!ctx) return hipErrorInvalidValue;
  if (!current_device()) return runtime().status;
  auto& stack = thread_state().contexts;
  *ctx = stack.empty() ? primary_context(thread_state().device) : stack.back();
  return hipSuccess;
}
hipError_t hipCtxGetDevice(hipDevice_t* device) { return hip::hipGetDevice(device); }
hipError_t hipCtxGetApiVersion(hipCtx_t, unsigned int* apiVersion) { return give(apiVersion, 4u); }
hipError_t hipCtxGetCacheConfig(hipFuncCache_t* cacheConfig) { return hip::hipDeviceGetCacheConfig(cacheConfig); }
hipError_t hipCtxSetCacheConfig(hipFuncCache_t config) { return hip::hipDeviceSetCacheConfig(config); }
hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig* config) { return hip::hipDeviceGetSharedMemConfig(config); }
hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config) { return hip::hipDeviceSetSharedMemConfig(config); }
hipError_t hipCtxGetFlags(unsigned int* flags) { return hip::hipGetDeviceFlags(flags); }
hipError_t hipCtxEnablePeerAccess(hipCtx_t peerCtx, unsigned int flags) {
  return peerCtx ? hip::hipDeviceEnablePeerAccess(peerCtx->device, flags) : hipErrorInvalidContext;
}
hipError_t hipCtxDisablePeerAccess(hipCtx_t peerCtx) {
  return peerCtx ? hip::hipDeviceDisablePeerAccess(peerCtx->device) : hipErrorInvalidContext;
}
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* pctx, hipDevice_t device) {
  if (!device_at(device)) return hipErrorInvalidDevice;
  return give(pctx, static_cast<hipCtx_t>(primary_context(device)));
}
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  return device_at(device) ? hipSuccess : hipErrorInvalidDevice;
}
hipError_t hipDevicePrimaryCtxReset(hipDevice_t device) {
  return device_at(device) ? hipSuccess : hipErrorInvalidDevice;
}
hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned int) {
  return device_at(device) ? hipErrorContextAlreadyInUse : hipErrorInvalidDevice;
}
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t index, unsigned int* flags, int* active) {
  Device* device = device_at(index);
  if (!device) return hipErrorInvalidDevice;
  if (flags) *flags = device->flags;
  if (active) *active = index == thread_state().device;
  return hipSuccess;
}

// ---- tools and look-up -----------------------------------------------------------------------------------------

hipError_t hipProfilerStart() { return hipSuccess; }
hipError_t hipProfilerStop() { return hipSuccess; }

const char* hipApiName(uint32_t id) { return id < static_cast<uint32_t>(ApiId::count) ? kApiNames[id] : "unknown"; }

namespace {
void* find_api(const std::string& name) {
  for (unsigned i = 0; i < kApiAddressCount; ++i)
    if (name == kApiAddresses[i].name) return kApiAddresses[i].address;
  return nullptr;
}
// The name as a program says it: the newest layout of a versioned one, the thread's stream if asked.
void* look_up(const char* symbol, int version, uint64_t flags) {
  std::string name = symbol;
  if ((name == "hipGetDeviceProperties" || name == "hipChooseDevice") && version >= 600) name += "R0600";
  if (flags == hipEnablePerThreadDefaultStream)
    if (void* found = find_api(name + "_spt")) return found;
  return find_api(name);
}
}  // namespace

hipError_t hipGetProcAddress(const char* symbol, void** pfn, int hipVersion, uint64_t flags,
                             hipDriverProcAddressQueryResult* symbolStatus) {
  if (!symbol || !pfn || !*symbol) return hipErrorInvalidValue;
  // Versions come as 600 or, like HIP_VERSION, as 60043482.
  *pfn = look_up(symbol, hipVersion >= 100000 ? hipVersion / 100000 : hipVersion, flags);
  if (symbolStatus) *symbolStatus = *pfn ? HIP_GET_PROC_ADDRESS_SUCCESS : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *pfn ? hipSuccess : hipErrorInvalidValue;
}
hipError_t hipGetDriverEntryPoint(const char* symbol, void** funcPtr, unsigned long long flags,
                                  hipDriverEntryPointQueryResult* status) {
  if (!symbol || !funcPtr || !*symbol) return hipErrorInvalidValue;
  *funcPtr = look_up(symbol, 600, flags);
  if (status) *status = *funcPtr ? hipDriverEntryPointSuccess : hipDriverEntryPointSymbolNotFound;
  return *funcPtr ? hipSuccess : hipErrorInvalidValue;
}
hipError_t hipGetDriverEntryPoint_spt(const char* symbol, void** funcPtr, unsigned long long flags,
                                      hipDriverEntryPointQueryResult* status) {
  return hip::hipGetDriverEntryPoint(symbol, funcPtr,
                                     flags == hipEnableDefault ? hipEnablePerThreadDefaultStream : flags, status);
}

}  // namespace hip
