// __launch_bounds__, dynamic shared memory, <<<...>>> and hipLaunchKernelGGL.
#pragma once
#pragma clang system_header

#include <hip/host_defines.h>

// __launch_bounds__(threads) or (threads, waves per SIMD at least). The compiler heeds only its
// own attributes.
#define __HIP_SELECT_BOUNDS__(_1, _2, NAME, ...) NAME
#define __HIP_BOUNDS_1__(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define __HIP_BOUNDS_2__(threads, waves) \
  __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(waves)))
#undef __launch_bounds__
#define __launch_bounds__(...) \
  __HIP_SELECT_BOUNDS__(__VA_ARGS__, __HIP_BOUNDS_2__, __HIP_BOUNDS_1__, )(__VA_ARGS__)

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(X) X
#define HIP_DYNAMIC_SHARED(type, var) extern __shared__ type var[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
typedef int hipLaunchParm;  // the first parameter of kernels in programs of HIP's first years

#if !defined(__HIPCC_RTC__)
#include <hip/hip_runtime_api.h>

#if defined(__HIP__)
extern "C" hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                                 hipStream_t stream = nullptr);
extern "C" hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes,
                                                hipStream_t* stream);

#define hipLaunchKernelGGLInternal(kernel, grid, block, shared_bytes, stream, ...)               \
  do {                                                                                           \
    kernel<<<dim3(grid), dim3(block), (shared_bytes), (stream)>>>(__VA_ARGS__);                  \
  } while (0)
#define hipLaunchKernelGGL(kernel, ...) hipLaunchKernelGGLInternal((kernel), __VA_ARGS__)
#endif
#endif
