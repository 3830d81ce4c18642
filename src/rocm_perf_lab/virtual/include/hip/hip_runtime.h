// Everything a HIP source needs: the host API and the device side of the language.
#ifndef HIP_INCLUDE_HIP_HIP_RUNTIME_H
#define HIP_INCLUDE_HIP_HIP_RUNTIME_H
#if defined(__clang__)
#pragma clang system_header
#endif

#include <hip/hip_common.h>
#include <hip/hip_version.h>

// Programs rely on what AMD's header brings in: assert, and through <thread> the clocks and threads.
#if !defined(__HIPCC_RTC__)
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__cplusplus)
#include <cmath>
#if __cplusplus >= 201103L
#include <array>
#include <chrono>
#include <thread>
#endif
#endif
#endif

#include <hip/hip_vector_types.h>
#include <hip/hip_runtime_api.h>

#if defined(__cplusplus) && !defined(__HIPCC_RTC__)
#include <hip/detail/texture_reference.h>
#endif

#if defined(__HIP__) && defined(__cplusplus)
#include <__rocm_perf_prelude.h>
#include <hip/detail/coordinates.h>
#include <hip/detail/integer.h>
#include <hip/detail/convert.h>
#include <hip/detail/warp.h>
#include <hip/detail/sync.h>
#include <hip/detail/atomic.h>
#include <hip/detail/launch.h>
#if !defined(__HIPCC_RTC__)
#include <hip/detail/texture_fetch.h>
#endif
#endif

#endif
