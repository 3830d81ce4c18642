// Device properties: HSA's answers under HIP's names.
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
int number(hsa_agent_t agent, int attribute) { return int(info<uint32_t>(agent, attribute)); }

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

using Properties = hipDeviceProp_tR0600;

// What every device here has.
constexpr int Properties::* kPresent[] = {
    &Properties::deviceOverlap,
    &Properties::concurrentKernels,
    &Properties::canMapHostMemory,
    &Properties::ECCEnabled,
    &Properties::unifiedAddressing,
    &Properties::streamPrioritiesSupported,
    &Properties::globalL1CacheSupported,
    &Properties::localL1CacheSupported,
    &Properties::managedMemory,
    &Properties::concurrentManagedAccess,
    &Properties::hostNativeAtomicSupported,  // PCIe atomics on MI200 and MI300; here the host's own
    &Properties::canUseHostPointerForRegisteredMem,
    &Properties::hostRegisterSupported,
    &Properties::cooperativeLaunch,
    &Properties::cooperativeMultiDeviceLaunch,
    &Properties::cooperativeMultiDeviceUnmatchedFunc,
    &Properties::cooperativeMultiDeviceUnmatchedGridDim,
    &Properties::cooperativeMultiDeviceUnmatchedBlockDim,
    &Properties::cooperativeMultiDeviceUnmatchedSharedMem,
    &Properties::memoryPoolsSupported,
    &Properties::isLargeBar,
};

void fill_identity(const Device& device, Properties& p) {
  std::snprintf(p.name, sizeof p.name, "%s", device.product.empty() ? device.target.c_str() : device.product.c_str());
  std::snprintf(p.gcnArchName, sizeof p.gcnArchName, "%s", device.target.c_str());
  compute_capability(device.target, p.major, p.minor);
  char uuid[64] = {};
  hsa_agent_get_info(device.agent, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_UUID), uuid);
  const char* digits = std::strncmp(uuid, "GPU-", 4) == 0 ? uuid + 4 : uuid;
  std::memcpy(p.uuid.bytes, digits, std::min(std::strlen(digits), sizeof p.uuid.bytes));
  const auto location = info<uint32_t>(device.agent, HSA_AMD_AGENT_INFO_BDFID);
  p.pciBusID = int((location >> 8) & 0xff);
  p.pciDeviceID = int((location >> 3) & 0x1f);
  p.pciDomainID = number(device.agent, HSA_AMD_AGENT_INFO_DOMAIN);
  p.asicRevision = number(device.agent, HSA_AMD_AGENT_INFO_ASIC_REVISION);
}

void fill_memory(const Device& device, Properties& p) {
  size_t lds = 0;
  hsa_amd_agent_iterate_memory_pools(device.agent, group_bytes, &lds);
  p.sharedMemPerBlock = p.sharedMemPerBlockOptin = lds;
  p.sharedMemPerMultiprocessor = p.maxSharedMemoryPerMultiProcessor = lds;
  p.totalGlobalMem = pool_bytes(device.coarse);
  p.totalConstMem = p.memPitch = 0x7fffffff;
  p.memoryClockRate = number(device.agent, HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY) * 1000;
  p.memoryBusWidth = number(device.agent, HSA_AMD_AGENT_INFO_MEMORY_WIDTH);
  p.asyncEngineCount = std::max(1, number(device.agent, HSA_AMD_AGENT_INFO_NUM_SDMA_ENG));
  uint32_t caches[4] = {};
  hsa_agent_get_info(device.agent, HSA_AGENT_INFO_CACHE_SIZE, caches);
  p.l2CacheSize = int(caches[1]);
  uint8_t memory_bits[8] = {};
  hsa_agent_get_info(device.agent, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES), memory_bits);
  p.integrated = memory_bits[0] & HSA_AMD_MEMORY_PROPERTY_AGENT_IS_APU ? 1 : 0;
}

void fill_compute(const Device& device, Properties& p) {
  const int wave = number(device.agent, HSA_AGENT_INFO_WAVEFRONT_SIZE);
  const int threads = number(device.agent, HSA_AGENT_INFO_WORKGROUP_MAX_SIZE);
  const auto waves_per_cu = int(device.simds_per_cu * device.waves_per_simd);
  p.warpSize = wave ? wave : 64;
  p.multiProcessorCount = number(device.agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
  p.clockRate = number(device.agent, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY) * 1000;
  p.clockInstructionRate = 100000;  // the 100 MHz counter behind wall_clock64
  // Accumulation registers count too, as AMD's runtime has it since it knows that they are in the same file.
  const uint32_t registers = device.wave_limits ? device.wave_limits->vgprs * device.wave_limits->simds : 0;
  p.regsPerBlock = p.regsPerMultiprocessor = int(registers) * p.warpSize;
  p.maxThreadsPerBlock = threads ? threads : 1024;
  p.maxThreadsPerMultiProcessor = waves_per_cu * p.warpSize;
  p.maxBlocksPerMultiProcessor = waves_per_cu;
  uint16_t dims[3] = {};
  hsa_agent_get_info(device.agent, HSA_AGENT_INFO_WORKGROUP_MAX_DIM, dims);
  for (int i = 0; i < 3; ++i) p.maxThreadsDim[i] = dims[i] ? dims[i] : 1024;
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  hipDeviceArch_t& arch = p.arch;
  arch.hasGlobalInt32Atomics = arch.hasGlobalFloatAtomicExch = arch.hasSharedInt32Atomics = 1;
  arch.hasSharedFloatAtomicExch = arch.hasFloatAtomicAdd = arch.hasGlobalInt64Atomics = 1;
  arch.hasSharedInt64Atomics = arch.hasDoubles = arch.hasWarpVote = arch.hasWarpBallot = 1;
  arch.hasWarpShuffle = arch.hasThreadFenceSystem = arch.has3dGrid = 1;
}

// Limits of the family; there is no image hardware.
void fill_textures(Properties& p) {
  constexpr int kLarge = 16384;
  p.textureAlignment = p.texturePitchAlignment = p.surfaceAlignment = 256;
  p.maxTexture1D = p.maxTexture1DLinear = kLarge;
  for (int i = 0; i < 2; ++i) p.maxTexture2D[i] = kLarge;
  for (int& extent : p.maxTexture3D) extent = kLarge;
}

}  // namespace

void fill_properties(Device& device) {
  Properties& p = device.properties;
  for (const auto feature : kPresent) p.*feature = 1;
  fill_identity(device, p);
  fill_memory(device, p);
  fill_compute(device, p);
  fill_textures(p);
}

hipDeviceProp_tR0000 older_properties(const Properties& from) {
  hipDeviceProp_tR0000 to{};
#define ARRAY(name) std::memcpy(to.name, from.name, sizeof to.name)
#define FIELD(name) to.name = from.name
  ARRAY(name);
  ARRAY(gcnArchName);
  ARRAY(maxThreadsDim);
  ARRAY(maxGridSize);
  ARRAY(maxTexture2D);
  ARRAY(maxTexture3D);
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
#undef ARRAY
#undef FIELD
  to.gcnArch = from.major * 100 + from.minor * 10;
  return to;
}

}  // namespace hip
