// The host side of the HIP runtime API, for C and C++ and any compiler: types here, one file per
// area of functions in detail/api_*.h. Names, values and layouts are those of ROCm 6 and 7.
#ifndef ROCM_PERF_HIP_RUNTIME_API_H
#define ROCM_PERF_HIP_RUNTIME_API_H
// Programs and libraries test for this one.
#define HIP_INCLUDE_HIP_HIP_RUNTIME_API_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <hip/hip_common.h>
#include <hip/hip_version.h>
#include <hip/host_defines.h>

#define HIP_PUBLIC_API __attribute__((visibility("default")))
#ifdef __cplusplus
#define HIP_DEFAULT(value) = value
#else
#define HIP_DEFAULT(value)
#endif
#if defined(__cplusplus) && __cplusplus >= 201703L
#define HIP_NODISCARD [[nodiscard]]
#else
#define HIP_NODISCARD
#endif

#include <hip/detail/device_types.h>
#include <hip/detail/errors.h>
#include <hip/driver_types.h>
#include <hip/linker_types.h>
#include <hip/surface_types.h>
#include <hip/texture_types.h>

#include <hip/detail/flags.h>
#include <hip/detail/pointer_types.h>
#include <hip/detail/runtime_types.h>
#include <hip/detail/interop_types.h>
#include <hip/detail/graph_types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HIP_API HIP_PUBLIC_API
#include <hip/detail/api_device.h>
#include <hip/detail/api_memory.h>
#include <hip/detail/api_pool.h>
#include <hip/detail/api_stream.h>
#include <hip/detail/api_module.h>
#include <hip/detail/api_graph.h>
#include <hip/detail/api_texture.h>
#include <hip/detail/api_interop.h>
#include <hip/detail/api_spt.h>
#undef HIP_API

#ifdef __cplusplus
}
#endif

// hipcc -fgpu-default-stream=per-thread
#if defined(__HIP_API_PER_THREAD_DEFAULT_STREAM) || defined(HIP_API_PER_THREAD_DEFAULT_STREAM)
#include <hip/detail/per_thread_names.h>
#endif

#ifdef __cplusplus
#include <hip/detail/templates.h>
#endif

#endif
