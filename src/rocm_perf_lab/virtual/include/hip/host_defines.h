// The words that mark host and device code, and dim3. Compiles as C and C++, with any compiler.
#ifndef ROCM_PERF_HIP_HOST_DEFINES_H
#define ROCM_PERF_HIP_HOST_DEFINES_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HOST_DEFINES_H  // by which rocThrust knows that these words are there

#include <stdint.h>

#if defined(__HIP__)
#ifndef __host__
#define __host__ __attribute__((host))
#endif
#ifndef __device__
#define __device__ __attribute__((device))
#endif
#ifndef __global__
#define __global__ __attribute__((global))
#endif
#ifndef __shared__
#define __shared__ __attribute__((shared))
#endif
#ifndef __constant__
#define __constant__ __attribute__((constant))
#endif
#ifndef __managed__
#define __managed__ __attribute__((managed))
#endif
#else
#ifndef __host__
#define __host__
#endif
#ifndef __device__
#define __device__
#endif
#ifndef __global__
#define __global__
#endif
#ifndef __shared__
#define __shared__
#endif
#ifndef __constant__
#define __constant__
#endif
#endif

#ifndef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#endif

#ifndef ROCM_PERF_HIP_DIM3
#define ROCM_PERF_HIP_DIM3
typedef struct dim3 {
  uint32_t x, y, z;
#ifdef __cplusplus
  constexpr __host__ __device__ dim3(uint32_t x_ = 1, uint32_t y_ = 1, uint32_t z_ = 1)
      : x(x_), y(y_), z(z_) {}
#endif
} dim3;
#endif

#endif
