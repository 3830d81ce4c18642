// Included by optimize_target.cpp, so that proposals can try to include something else.
#pragma once

#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr float kScale = 3.0f;

#define CHECK(call)                                                                        \
  do {                                                                                     \
    if (hipError_t status = (call); status != hipSuccess) {                                \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, hipGetErrorString(status));          \
      std::exit(2);                                                                        \
    }                                                                                      \
  } while (0)
