// The words that mark host and device code, and dim3. Compiles as C and C++, with any compiler.
#ifndef ROCM_PERF_HIP_HOST_DEFINES_H
#define ROCM_PERF_HIP_HOST_DEFINES_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HOST_DEFINES_H  // by which rocThrust knows that these words are there

#include <hip/detail/attributes.h>
#include <stdint.h>

// Without a HIP compiler these mark nothing.
#ifndef __global__
#define __global__
#endif
#ifndef __shared__
#define __shared__
#endif
#ifndef __constant__
#define __constant__
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
