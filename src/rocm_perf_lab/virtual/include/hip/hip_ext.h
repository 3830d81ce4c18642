// Launches with start and stop events, and several devices in one call.
#ifndef ROCM_PERF_HIP_EXT_H
#define ROCM_PERF_HIP_EXT_H

#include <hip/hip_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif
// Sizes are in work-items, as OpenCL counts, not in blocks.
HIP_PUBLIC_API hipError_t hipExtModuleLaunchKernel(
    hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
    uint32_t localWorkSizeX, uint32_t localWorkSizeY, uint32_t localWorkSizeZ,
    size_t sharedMemBytes, hipStream_t hStream, void** kernelParams, void** extra,
    hipEvent_t startEvent HIP_DEFAULT(nullptr), hipEvent_t stopEvent HIP_DEFAULT(nullptr),
    uint32_t flags HIP_DEFAULT(0));
// The same under its name of before.
HIP_PUBLIC_API hipError_t hipHccModuleLaunchKernel(
    hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
    uint32_t localWorkSizeX, uint32_t localWorkSizeY, uint32_t localWorkSizeZ,
    size_t sharedMemBytes, hipStream_t hStream, void** kernelParams, void** extra,
    hipEvent_t startEvent HIP_DEFAULT(nullptr), hipEvent_t stopEvent HIP_DEFAULT(nullptr));
#ifdef __cplusplus
}

template <class... Parameters, class... Arguments>
static inline void hipExtLaunchKernelGGL(void (*kernel)(Parameters...), const dim3& grid,
                                         const dim3& block, uint32_t dynamic_shared,
                                         hipStream_t stream, hipEvent_t start, hipEvent_t stop,
                                         uint32_t flags, Arguments&&... arguments) {
  [&](Parameters... values) {
    void* pointers[sizeof...(Parameters) + 1] = {(void*)&values..., nullptr};
    (void)hipExtLaunchKernel((const void*)kernel, grid, block, pointers, dynamic_shared, stream,
                             start, stop, (int)flags);
  }(static_cast<Parameters>(arguments)...);
}
#endif

#endif
