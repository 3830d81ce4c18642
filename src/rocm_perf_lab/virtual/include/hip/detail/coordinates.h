// threadIdx, blockIdx, blockDim, gridDim and the warp's width.
#pragma once
#pragma clang system_header

#include <hip/hip_vector_types.h>

typedef unsigned int __hip_u32;

#define __HIP_COORDINATES__(NAME, X, Y, Z)                                   \
  struct __hip_##NAME##_t {                                                  \
    __declspec(property(get = __get_x)) unsigned int x;                      \
    __declspec(property(get = __get_y)) unsigned int y;                      \
    __declspec(property(get = __get_z)) unsigned int z;                      \
    static inline __attribute__((device, always_inline)) unsigned int __get_x() { return (X); } \
    static inline __attribute__((device, always_inline)) unsigned int __get_y() { return (Y); } \
    static inline __attribute__((device, always_inline)) unsigned int __get_z() { return (Z); } \
    __attribute__((device)) inline operator dim3() const { return dim3(__get_x(), __get_y(), __get_z()); } \
    __attribute__((device)) inline operator uint3() const {                  \
      uint3 v; v.x = __get_x(); v.y = __get_y(); v.z = __get_z(); return v;  \
    }                                                                        \
  };                                                                         \
  extern const __attribute__((device, weak)) __hip_##NAME##_t NAME;

#if defined(__HIP_DEVICE_COMPILE__)
typedef const __attribute__((address_space(4))) unsigned int* __hip_implicit_args_t;
#define __HIP_BLOCK_COUNT__(I) (((__hip_implicit_args_t)__builtin_amdgcn_implicitarg_ptr())[I])
__HIP_COORDINATES__(threadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
                    __builtin_amdgcn_workitem_id_z())
__HIP_COORDINATES__(blockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
                    __builtin_amdgcn_workgroup_id_z())
__HIP_COORDINATES__(blockDim, __builtin_amdgcn_workgroup_size_x(),
                    __builtin_amdgcn_workgroup_size_y(), __builtin_amdgcn_workgroup_size_z())
__HIP_COORDINATES__(gridDim, __HIP_BLOCK_COUNT__(0), __HIP_BLOCK_COUNT__(1), __HIP_BLOCK_COUNT__(2))
#else
__HIP_COORDINATES__(threadIdx, 0, 0, 0)
__HIP_COORDINATES__(blockIdx, 0, 0, 0)
__HIP_COORDINATES__(blockDim, 1, 1, 1)
__HIP_COORDINATES__(gridDim, 1, 1, 1)
#endif

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

static constexpr int warpSize = 64;
