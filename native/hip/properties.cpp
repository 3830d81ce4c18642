// Device properties and attributes: HSA's answers under HIP's names.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtime.h"

namespace hip {

namespace {

template <class T>
T info(hsa_agent_t agent, int attribute) {
  T value{};
  hsa_agent_get_info(agent, static_cast<hsa_agent_info_t>(attribute), &value);
  return value;
}

size_t pool_bytes(hsa_amd_memory_pool_t pool) {
  size_t bytes = 0;
  hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &bytes);
  return bytes;
}

hsa_status_t group_bytes(hsa_amd_memory_pool_t pool, void* data) {
  hsa_amd_segment_t segment{};
  hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
  if (segment == HSA_AMD_SEGMENT_GROUP) *static_cast<size_t*>(data) = pool_bytes(pool);
  return HSA_STATUS_SUCCESS;
}

// "gfx942" -> 9 and 4; "gfx90a" -> 9 and 0; "gfx1100" -> 11 and 0.
void compute_capability(const std::string& target, int& major, int& minor) {
  std::string digits = target.substr(std::min<size_t>(3, target.size()));
  digits = digits.substr(0, digits.find(':'));
  if (digits.size() < 3) return;
  major = std::atoi(digits.substr(0, digits.size() - 2).c_str());
  minor = std::atoi(digits.substr(digits.size() - 2, 1).c_str());
}

}  // namespace

void fill_properties(Device& device) {
  hipDeviceProp_tR0600& p = device.properties;
  hsa_agent_t agent = device.agent;
  std::snprintf(p.name, sizeof p.name, "%s", device.product.empty() ? device.target.c_str() : device.product.c_str());
  std::snprintf(p.gcnArchName, sizeof p.gcnArchName, "%s", device.target.c_str());
  char uuid[64] = {};
  hsa_agent_get_info(agent, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_UUID), uuid);
  const char* digits = std::strncmp(uuid, "GPU-", 4) == 0 ? uuid + 4 : uuid;
  std::memcpy(p.uuid.bytes, digits, std::min(std::strlen(digits), sizeof p.uuid.bytes));

  const auto units = static_cast<int>(info<uint32_t>(agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT));
  const auto wave = static_cast<int>(info<uint32_t>(agent, HSA_AGENT_INFO_WAVEFRONT_SIZE));
  const auto threads = static_cast<int>(info<uint32_t>(agent, HSA_AGENT_INFO_WORKGROUP_MAX_SIZE));
  const auto waves_per_cu = static_cast<int>(device.simds_per_cu * device.waves_per_simd);
  size_t lds = 64 << 10;
  hsa_amd_agent_iterate_memory_pools(agent, group_bytes, &lds);
  uint32_t caches[4] = {};
  hsa_agent_get_info(agent, HSA_AGENT_INFO_CACHE_SIZE, caches);
  constexpr int kLarge = 16384;  // image limits of the family; there is no image hardware

  p.totalGlobalMem = pool_bytes(device.coarse);
  p.sharedMemPerBlock = lds;
  p.sharedMemPerBlockOptin = lds;
  p.sharedMemPerMultiprocessor = lds;
  p.maxSharedMemoryPerMultiProcessor = lds;
  p.regsPerBlock = 65536;
  p.regsPerMultiprocessor = 512 * wave * static_cast<int>(device.simds_per_cu);
  p.warpSize = wave ? wave : 64;
  p.memPitch = 0x7fffffff;
  p.maxThreadsPerBlock = threads ? threads : 1024;
  uint16_t dims[3] = {};
  hsa_agent_get_info(agent, HSA_AGENT_INFO_WORKGROUP_MAX_DIM, dims);
  for (int i = 0; i < 3; ++i) p.maxThreadsDim[i] = dims[i] ? dims[i] : 1024;
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.clockRate = static_cast<int>(info<uint32_t>(agent, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY)) * 1000;
  p.memoryClockRate = static_cast<int>(info<uint32_t>(agent, HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY)) * 1000;
  p.memoryBusWidth = static_cast<int>(info<uint32_t>(agent, HSA_AMD_AGENT_INFO_MEMORY_WIDTH));
  p.totalConstMem = 2147483647;
  compute_capability(device.target, p.major, p.minor);
  p.textureAlignment = 256;
  p.texturePitchAlignment = 256;
  p.surfaceAlignment = 256;
  p.deviceOverlap = 1;
  p.asyncEngineCount = std::max(1, static_cast<int>(info<uint32_t>(agent, HSA_AMD_AGENT_INFO_NUM_SDMA_ENG)));
  p.multiProcessorCount = units;
  p.maxThreadsPerMultiProcessor = waves_per_cu * p.warpSize;
  p.maxBlocksPerMultiProcessor = waves_per_cu;
  p.l2CacheSize = static_cast<int>(caches[1]);
  p.maxTexture1D = p.maxTexture1DLinear = kLarge;
  for (int i = 0; i < 2; ++i) p.maxTexture2D[i] = kLarge;
  for (int& extent : p.maxTexture3D) extent = kLarge;
  p.concurrentKernels = 1;
  p.canMapHostMemory = 1;
  p.ECCEnabled = 1;
  const auto location = info<uint32_t>(agent, HSA_AMD_AGENT_INFO_BDFID);
  p.pciBusID = static_cast<int>((location >> 8) & 0xff);
  p.pciDeviceID = static_cast<int>((location >> 3) & 0x1f);
  p.pciDomainID = static_cast<int>(info<uint32_t>(agent, HSA_AMD_AGENT_INFO_DOMAIN));
  uint8_t memory_bits[8] = {};
  hsa_agent_get_info(agent, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES), memory_bits);
  p.integrated = memory_bits[0] & HSA_AMD_MEMORY_PROPERTY_AGENT_IS_APU ? 1 : 0;
  p.unifiedAddressing = 1;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.managedMemory = 1;
  p.concurrentManagedAccess = 1;
  p.hostNativeAtomicSupported = 1;  // PCIe atomics on MI200 and MI300; here the host's own
  p.canUseHostPointerForRegisteredMem = 1;
  p.hostRegisterSupported = 1;
  p.cooperativeLaunch = 1;
  p.cooperativeMultiDeviceLaunch = 1;
  p.cooperativeMultiDeviceUnmatchedFunc = p.cooperativeMultiDeviceUnmatchedGridDim = 1;
  p.cooperativeMultiDeviceUnmatchedBlockDim = p.cooperativeMultiDeviceUnmatchedSharedMem = 1;
  p.memoryPoolsSupported = 1;
  p.unifiedFunctionPointers = 0;
  p.clockInstructionRate = 100000;  // the 100 MHz counter behind wall_clock64
  p.isLargeBar = 1;
  p.asicRevision = static_cast<int>(info<uint32_t>(agent, HSA_AMD_AGENT_INFO_ASIC_REVISION));
  hipDeviceArch_t& arch = p.arch;
  arch.hasGlobalInt32Atomics = arch.hasGlobalFloatAtomicExch = arch.hasSharedInt32Atomics = 1;
  arch.hasSharedFloatAtomicExch = arch.hasFloatAtomicAdd = arch.hasGlobalInt64Atomics = 1;
  arch.hasSharedInt64Atomics = arch.hasDoubles = arch.hasWarpVote = arch.hasWarpBallot = 1;
  arch.hasWarpShuffle = arch.hasThreadFenceSystem = arch.has3dGrid = 1;
}

int device_attribute(const Device& device, hipDeviceAttribute_t attribute, bool& known) {
  const hipDeviceProp_tR0600& p = device.properties;
  known = true;
  switch (static_cast<int>(attribute)) {
    case hipDeviceAttributeEccEnabled: return p.ECCEnabled;
    case hipDeviceAttributeAccessPolicyMaxWindowSize: return 0;
    case hipDeviceAttributeAsyncEngineCount: return p.asyncEngineCount;
    case hipDeviceAttributeCanMapHostMemory: return p.canMapHostMemory;
    case hipDeviceAttributeCanUseHostPointerForRegisteredMem: return 1;
    case hipDeviceAttributeClockRate: return p.clockRate;
    case hipDeviceAttributeComputeMode: return p.computeMode;
    case hipDeviceAttributeComputePreemptionSupported: return 0;
    case hipDeviceAttributeConcurrentKernels: return p.concurrentKernels;
    case hipDeviceAttributeConcurrentManagedAccess: return p.concurrentManagedAccess;
    case hipDeviceAttributeCooperativeLaunch: return p.cooperativeLaunch;
    case hipDeviceAttributeCooperativeMultiDeviceLaunch: return p.cooperativeMultiDeviceLaunch;
    case hipDeviceAttributeDeviceOverlap: return p.deviceOverlap;
    case hipDeviceAttributeDirectManagedMemAccessFromHost: return p.directManagedMemAccessFromHost;
    case hipDeviceAttributeGlobalL1CacheSupported: return p.globalL1CacheSupported;
    case hipDeviceAttributeHostNativeAtomicSupported: return p.hostNativeAtomicSupported;
    case hipDeviceAttributeIntegrated: return p.integrated;
    case hipDeviceAttributeIsMultiGpuBoard: return p.isMultiGpuBoard;
    case hipDeviceAttributeKernelExecTimeout: return p.kernelExecTimeoutEnabled;
    case hipDeviceAttributeL2CacheSize: return p.l2CacheSize;
    case hipDeviceAttributeLocalL1CacheSupported: return p.localL1CacheSupported;
    case hipDeviceAttributeComputeCapabilityMajor: return p.major;
    case hipDeviceAttributeComputeCapabilityMinor: return p.minor;
    case hipDeviceAttributeManagedMemory: return p.managedMemory;
    case hipDeviceAttributeMaxBlocksPerMultiProcessor: return p.maxBlocksPerMultiProcessor;
    case hipDeviceAttributeMaxBlockDimX: return p.maxThreadsDim[0];
    case hipDeviceAttributeMaxBlockDimY: return p.maxThreadsDim[1];
    case hipDeviceAttributeMaxBlockDimZ: return p.maxThreadsDim[2];
    case hipDeviceAttributeMaxGridDimX: return p.maxGridSize[0];
    case hipDeviceAttributeMaxGridDimY: return p.maxGridSize[1];
    case hipDeviceAttributeMaxGridDimZ: return p.maxGridSize[2];
    case hipDeviceAttributeMaxSurface1D: return p.maxSurface1D;
    case hipDeviceAttributeMaxSurface2D: return p.maxSurface2D[0];
    case hipDeviceAttributeMaxSurface3D: return p.maxSurface3D[0];
    case hipDeviceAttributeMaxTexture1DWidth: return p.maxTexture1D;
    case hipDeviceAttributeMaxTexture1DLinear: return p.maxTexture1DLinear;
    case hipDeviceAttributeMaxTexture2DWidth: return p.maxTexture2D[0];
    case hipDeviceAttributeMaxTexture2DHeight: return p.maxTexture2D[1];
    case hipDeviceAttributeMaxTexture3DWidth: return p.maxTexture3D[0];
    case hipDeviceAttributeMaxTexture3DHeight: return p.maxTexture3D[1];
    case hipDeviceAttributeMaxTexture3DDepth: return p.maxTexture3D[2];
    case hipDeviceAttributeMaxThreadsDim: return p.maxThreadsDim[0];
    case hipDeviceAttributeMaxThreadsPerBlock: return p.maxThreadsPerBlock;
    case hipDeviceAttributeMaxThreadsPerMultiProcessor: return p.maxThreadsPerMultiProcessor;
    case hipDeviceAttributeMaxPitch: return static_cast<int>(p.memPitch);
    case hipDeviceAttributeMemoryBusWidth: return p.memoryBusWidth;
    case hipDeviceAttributeMemoryClockRate: return p.memoryClockRate;
    case hipDeviceAttributeMultiGpuBoardGroupID: return p.multiGpuBoardGroupID;
    case hipDeviceAttributeMultiprocessorCount: return p.multiProcessorCount;
    case hipDeviceAttributePageableMemoryAccess: return p.pageableMemoryAccess;
    case hipDeviceAttributePageableMemoryAccessUsesHostPageTables: return p.pageableMemoryAccessUsesHostPageTables;
    case hipDeviceAttributePciBusId: return p.pciBusID;
    case hipDeviceAttributePciDeviceId: return p.pciDeviceID;
    case hipDeviceAttributePciDomainID: return p.pciDomainID;
    case hipDeviceAttributePersistingL2CacheMaxSize: return p.persistingL2CacheMaxSize;
    case hipDeviceAttributeMaxRegistersPerBlock: return p.regsPerBlock;
    case hipDeviceAttributeMaxRegistersPerMultiprocessor: return p.regsPerMultiprocessor;
    case hipDeviceAttributeReservedSharedMemPerBlock: return 0;
    case hipDeviceAttributeMaxSharedMemoryPerBlock: return static_cast<int>(p.sharedMemPerBlock);
    case hipDeviceAttributeSharedMemPerBlockOptin: return static_cast<int>(p.sharedMemPerBlockOptin);
    case hipDeviceAttributeSharedMemPerMultiprocessor: return static_cast<int>(p.sharedMemPerMultiprocessor);
    case hipDeviceAttributeSingleToDoublePrecisionPerfRatio: return 0;
    case hipDeviceAttributeStreamPrioritiesSupported: return p.streamPrioritiesSupported;
    case hipDeviceAttributeSurfaceAlignment: return static_cast<int>(p.surfaceAlignment);
    case hipDeviceAttributeTccDriver: return p.tccDriver;
    case hipDeviceAttributeTextureAlignment: return static_cast<int>(p.textureAlignment);
    case hipDeviceAttributeTexturePitchAlignment: return static_cast<int>(p.texturePitchAlignment);
    case hipDeviceAttributeTotalConstantMemory: return static_cast<int>(p.totalConstMem);
    case hipDeviceAttributeTotalGlobalMem: return static_cast<int>(std::min<size_t>(p.totalGlobalMem, 0x7fffffff));
    case hipDeviceAttributeUnifiedAddressing: return p.unifiedAddressing;
    case hipDeviceAttributeWarpSize: return p.warpSize;
    case hipDeviceAttributeMemoryPoolsSupported: return p.memoryPoolsSupported;
    case hipDeviceAttributeVirtualMemoryManagementSupported: return 1;
    case hipDeviceAttributeHostRegisterSupported: return p.hostRegisterSupported;
    case hipDeviceAttributeMemoryPoolSupportedHandleTypes: return 0;
    case hipDeviceAttributeClockInstructionRate: return p.clockInstructionRate;
    case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(p.maxSharedMemoryPerMultiProcessor);
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem: return 1;
    case hipDeviceAttributeIsLargeBar: return p.isLargeBar;
    case hipDeviceAttributeAsicRevision: return p.asicRevision;
    case hipDeviceAttributeCanUseStreamWaitValue: return 1;
    case hipDeviceAttributeImageSupport: return 0;
    case hipDeviceAttributePhysicalMultiProcessorCount: return p.multiProcessorCount;
    case hipDeviceAttributeFineGrainSupport: return 1;
    case hipDeviceAttributeWallClockRate: return p.clockInstructionRate;
    case hipDeviceAttributeNumberOfXccs: return static_cast<int>(device.xccs);
    case hipDeviceAttributeMaxAvailableVgprsPerThread:
      return 512;  // gfx90a and later: vector and accumulation registers in one file
    default: known = false; return 0;
  }
}

}  // namespace hip
