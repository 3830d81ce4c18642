// The words that mark host and device code. Guarded one by one: other headers define them, too.
#pragma once
#if defined(__clang__)
#pragma clang system_header
#endif

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
#endif

#ifndef __align__
#define __align__(n) __attribute__((aligned(n)))
#endif
#ifndef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#endif

// Everything here is static: kernels of one program may be compiled by several compilers.
#if defined(__HIP__)
#define __HIP_DEVICE_FN__ static inline __attribute__((device, always_inline, unused))
#define __HIP_BOTH_FN__ static inline __attribute__((host, device, always_inline, unused))
#else
#define __HIP_DEVICE_FN__ static inline __attribute__((unused))
#define __HIP_BOTH_FN__ static inline __attribute__((unused))
#endif
