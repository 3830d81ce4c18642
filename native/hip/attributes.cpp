// Device attributes: a row for each, most of them a field of the properties.
#include <algorithm>
#include <climits>

#include "runtime.h"

namespace hip {

namespace {

int to_int(int value) { return value; }
int to_int(size_t value) { return int(std::min<size_t>(value, INT_MAX)); }
int to_int(uint32_t value) { return int(value); }

struct Row {
  int attribute;
  int (*value)(const Device& d);
};

#define ROW(name, value) {hipDeviceAttribute##name, []([[maybe_unused]] const Device& d) { return to_int(value); }}
#define FIELD(name, field) ROW(name, d.properties.field)
constexpr Row kRows[] = {
    FIELD(EccEnabled, ECCEnabled),
    ROW(AccessPolicyMaxWindowSize, 0),
    FIELD(AsyncEngineCount, asyncEngineCount),
    FIELD(CanMapHostMemory, canMapHostMemory),
    ROW(CanUseHostPointerForRegisteredMem, 1),
    FIELD(ClockRate, clockRate),
    FIELD(ComputeMode, computeMode),
    ROW(ComputePreemptionSupported, 0),
    FIELD(ConcurrentKernels, concurrentKernels),
    FIELD(ConcurrentManagedAccess, concurrentManagedAccess),
    FIELD(CooperativeLaunch, cooperativeLaunch),
    FIELD(CooperativeMultiDeviceLaunch, cooperativeMultiDeviceLaunch),
    FIELD(DeviceOverlap, deviceOverlap),
    FIELD(DirectManagedMemAccessFromHost, directManagedMemAccessFromHost),
    FIELD(GlobalL1CacheSupported, globalL1CacheSupported),
    FIELD(HostNativeAtomicSupported, hostNativeAtomicSupported),
    FIELD(Integrated, integrated),
    FIELD(IsMultiGpuBoard, isMultiGpuBoard),
    FIELD(KernelExecTimeout, kernelExecTimeoutEnabled),
    FIELD(L2CacheSize, l2CacheSize),
    FIELD(LocalL1CacheSupported, localL1CacheSupported),
    FIELD(ComputeCapabilityMajor, major),
    FIELD(ComputeCapabilityMinor, minor),
    FIELD(ManagedMemory, managedMemory),
    FIELD(MaxBlocksPerMultiProcessor, maxBlocksPerMultiProcessor),
    FIELD(MaxBlockDimX, maxThreadsDim[0]),
    FIELD(MaxBlockDimY, maxThreadsDim[1]),
    FIELD(MaxBlockDimZ, maxThreadsDim[2]),
    FIELD(MaxGridDimX, maxGridSize[0]),
    FIELD(MaxGridDimY, maxGridSize[1]),
    FIELD(MaxGridDimZ, maxGridSize[2]),
    FIELD(MaxSurface1D, maxSurface1D),
    FIELD(MaxSurface2D, maxSurface2D[0]),
    FIELD(MaxSurface3D, maxSurface3D[0]),
    FIELD(MaxTexture1DWidth, maxTexture1D),
    FIELD(MaxTexture1DLinear, maxTexture1DLinear),
    FIELD(MaxTexture2DWidth, maxTexture2D[0]),
    FIELD(MaxTexture2DHeight, maxTexture2D[1]),
    FIELD(MaxTexture3DWidth, maxTexture3D[0]),
    FIELD(MaxTexture3DHeight, maxTexture3D[1]),
    FIELD(MaxTexture3DDepth, maxTexture3D[2]),
    FIELD(MaxThreadsDim, maxThreadsDim[0]),
    FIELD(MaxThreadsPerBlock, maxThreadsPerBlock),
    FIELD(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor),
    FIELD(MaxPitch, memPitch),
    FIELD(MemoryBusWidth, memoryBusWidth),
    FIELD(MemoryClockRate, memoryClockRate),
    FIELD(MultiGpuBoardGroupID, multiGpuBoardGroupID),
    FIELD(MultiprocessorCount, multiProcessorCount),
    FIELD(PageableMemoryAccess, pageableMemoryAccess),
    FIELD(PageableMemoryAccessUsesHostPageTables, pageableMemoryAccessUsesHostPageTables),
    FIELD(PciBusId, pciBusID),
    FIELD(PciDeviceId, pciDeviceID),
    FIELD(PciDomainID, pciDomainID),
    FIELD(PersistingL2CacheMaxSize, persistingL2CacheMaxSize),
    FIELD(MaxRegistersPerBlock, regsPerBlock),
    FIELD(MaxRegistersPerMultiprocessor, regsPerMultiprocessor),
    ROW(ReservedSharedMemPerBlock, 0),
    FIELD(MaxSharedMemoryPerBlock, sharedMemPerBlock),
    FIELD(SharedMemPerBlockOptin, sharedMemPerBlockOptin),
    FIELD(SharedMemPerMultiprocessor, sharedMemPerMultiprocessor),
    ROW(SingleToDoublePrecisionPerfRatio, 0),
    FIELD(StreamPrioritiesSupported, streamPrioritiesSupported),
    FIELD(SurfaceAlignment, surfaceAlignment),
    FIELD(TccDriver, tccDriver),
    FIELD(TextureAlignment, textureAlignment),
    FIELD(TexturePitchAlignment, texturePitchAlignment),
    FIELD(TotalConstantMemory, totalConstMem),
    FIELD(TotalGlobalMem, totalGlobalMem),
    FIELD(UnifiedAddressing, unifiedAddressing),
    FIELD(WarpSize, warpSize),
    FIELD(MemoryPoolsSupported, memoryPoolsSupported),
    ROW(VirtualMemoryManagementSupported, 1),
    FIELD(HostRegisterSupported, hostRegisterSupported),
    ROW(MemoryPoolSupportedHandleTypes, 0),
    FIELD(ClockInstructionRate, clockInstructionRate),
    FIELD(MaxSharedMemoryPerMultiprocessor, maxSharedMemoryPerMultiProcessor),
    ROW(CooperativeMultiDeviceUnmatchedFunc, 1),
    ROW(CooperativeMultiDeviceUnmatchedGridDim, 1),
    ROW(CooperativeMultiDeviceUnmatchedBlockDim, 1),
    ROW(CooperativeMultiDeviceUnmatchedSharedMem, 1),
    FIELD(IsLargeBar, isLargeBar),
    FIELD(AsicRevision, asicRevision),
    ROW(CanUseStreamWaitValue, 1),
    ROW(ImageSupport, 0),
    FIELD(PhysicalMultiProcessorCount, multiProcessorCount),
    ROW(FineGrainSupport, 1),
    FIELD(WallClockRate, clockInstructionRate),
    ROW(NumberOfXccs, d.xccs),
    ROW(MaxAvailableVgprsPerThread, d.wave_limits ? d.wave_limits->vgprs : 0),
};
#undef FIELD
#undef ROW

}  // namespace

int device_attribute(const Device& device, hipDeviceAttribute_t attribute, bool& known) {
  const auto* row = std::ranges::find(kRows, int(attribute), &Row::attribute);
  known = row != std::end(kRows);
  return known ? row->value(device) : 0;
}

}  // namespace hip
