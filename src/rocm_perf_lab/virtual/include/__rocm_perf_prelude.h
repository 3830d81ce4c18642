// Included before every HIP source, as the ROCm compiler includes its own wrapper: the words
// __global__ and friends, device mathematics and the device side of a few C functions exist
// before any standard header is read.
#pragma once
#pragma clang system_header

#include <hip/hip_common.h>
#include <hip/detail/attributes.h>

#if defined(__HIP__) && defined(__cplusplus)
#if !defined(__HIPCC_RTC__) && __has_include(<__config>)
#include <__config>
#endif
#include <hip/detail/math.h>
#include <hip/detail/libc.h>
// AMD's wrapper brings these in for every source, and programs have come to lean on it.
#if !defined(__HIPCC_RTC__) && __cplusplus >= 201103L
#include <algorithm>
#include <complex>
#include <limits>
#include <new>
#include <string>
#endif
#endif
