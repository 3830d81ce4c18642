// The C interface that src/rocm_perf_lab/loops.py declares. Callers own every array.
#pragma once

#include <cstddef>
#include <cstdint>

#define RPL_LOOP extern "C" __attribute__((visibility("default")))

namespace loops {

// Stands for "no value" in a column of integers; columns.py has the same.
constexpr int64_t kMissing = INT64_MIN;

}  // namespace loops
