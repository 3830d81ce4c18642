// A HIP call that fails ends the program and says which it was.
#pragma once
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                       \
  do {                                                                    \
    hipError_t status = (call);                                           \
    if (status != hipSuccess) {                                           \
      std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(status)); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (0)
