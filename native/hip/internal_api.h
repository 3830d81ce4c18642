// Entry points that compilers and old binaries call and no public header declares. Parsed by
// gen_api.py like the public prototypes.
#pragma once

#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

// Device properties as ROCm 5 laid them out, under the name that ROCm 5 programs call.
struct hipDeviceProp_tR0000 {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  int clockRate, memoryClockRate, memoryBusWidth;
  size_t totalConstMem;
  int major, minor, multiProcessorCount, l2CacheSize, maxThreadsPerMultiProcessor, computeMode;
  int clockInstructionRate;
  hipDeviceArch_t arch;
  int concurrentKernels, pciDomainID, pciBusID, pciDeviceID;
  size_t maxSharedMemoryPerMultiProcessor;
  int isMultiGpuBoard, canMapHostMemory, gcnArch;
  char gcnArchName[256];
  int integrated, cooperativeLaunch, cooperativeMultiDeviceLaunch, maxTexture1DLinear, maxTexture1D;
  int maxTexture2D[2], maxTexture3D[3];
  unsigned int *hdpMemFlushCntl, *hdpRegFlushCntl;
  size_t memPitch, textureAlignment, texturePitchAlignment;
  int kernelExecTimeoutEnabled, ECCEnabled, tccDriver;
  int cooperativeMultiDeviceUnmatchedFunc, cooperativeMultiDeviceUnmatchedGridDim;
  int cooperativeMultiDeviceUnmatchedBlockDim, cooperativeMultiDeviceUnmatchedSharedMem;
  int isLargeBar, asicRevision, managedMemory, directManagedMemAccessFromHost;
  int concurrentManagedAccess, pageableMemoryAccess, pageableMemoryAccessUsesHostPageTables;
};

#undef hipGetDeviceProperties
#undef hipChooseDevice

#define HIP_API __attribute__((visibility("default")))
extern "C" {
// What clang emits for a translation unit with device code.
HIP_API void** __hipRegisterFatBinary(const void* data);
HIP_API void __hipUnregisterFatBinary(void** modules);
HIP_API void __hipRegisterFunction(void** modules, const void* hostFunction, char* deviceFunction,
                                   const char* deviceName, unsigned int threadLimit, void* tid, void* bid,
                                   dim3* blockDim, dim3* gridDim, int* wSize);
HIP_API void __hipRegisterVar(void** modules, void* var, char* hostVar, char* deviceVar, int ext, size_t size,
                              int constant, int global);
HIP_API void __hipRegisterManagedVar(void* hipModule, void** pointer, void* init_value, const char* name, size_t size,
                                     unsigned align);
HIP_API void __hipRegisterSurface(void** modules, void* var, char* hostVar, char* deviceVar, int type, int ext);
HIP_API void __hipRegisterTexture(void** modules, void* var, char* hostVar, char* deviceVar, int type, int norm,
                                  int ext);
HIP_API hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000* prop, int deviceId);
HIP_API hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000* prop, int deviceId);
HIP_API hipError_t hipChooseDeviceR0000(int* device, const hipDeviceProp_tR0000* prop);
HIP_API hipError_t hipChooseDevice(int* device, const hipDeviceProp_tR0000* prop);
HIP_API hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
                                            uint32_t globalWorkSizeZ, uint32_t localWorkSizeX, uint32_t localWorkSizeY,
                                            uint32_t localWorkSizeZ, size_t sharedMemBytes, hipStream_t hStream,
                                            void** kernelParams, void** extra, hipEvent_t startEvent,
                                            hipEvent_t stopEvent, uint32_t flags);
HIP_API hipError_t hipHccModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
                                            uint32_t globalWorkSizeZ, uint32_t localWorkSizeX, uint32_t localWorkSizeY,
                                            uint32_t localWorkSizeZ, size_t sharedMemBytes, hipStream_t hStream,
                                            void** kernelParams, void** extra, hipEvent_t startEvent,
                                            hipEvent_t stopEvent);
HIP_API hipError_t hipGLGetDevices(unsigned int* pHipDeviceCount, int* pHipDevices, unsigned int hipDeviceCount,
                                   int deviceList);
HIP_API hipError_t hipGraphicsGLRegisterBuffer(void** resource, unsigned int buffer, unsigned int flags);
HIP_API hipError_t hipGraphicsGLRegisterImage(void** resource, unsigned int image, unsigned int target,
                                              unsigned int flags);
HIP_API void hipRegisterTracerCallback(void* function);
}
#undef HIP_API
