// What a program can ask about a pointer.
#ifndef ROCM_PERF_HIP_DETAIL_POINTER_TYPES_H
#define ROCM_PERF_HIP_DETAIL_POINTER_TYPES_H

#include <hip/driver_types.h>

typedef struct hipPointerAttribute_t {
  enum hipMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
  int isManaged;
  unsigned int allocationFlags;
} hipPointerAttribute_t;

#endif
