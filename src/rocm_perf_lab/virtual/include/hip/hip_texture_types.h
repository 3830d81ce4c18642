#ifndef ROCM_PERF_HIP_HIP_TEXTURE_TYPES_H
#define ROCM_PERF_HIP_HIP_TEXTURE_TYPES_H
#include <hip/texture_types.h>
#endif
