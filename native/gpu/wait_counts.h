// The counters of memory operations that have not ended, as s_waitcnt names them.
#pragma once

#include <cstdint>

namespace gpu {

// How many may stay open; the largest value waits for nothing.
struct WaitCounts {
  uint32_t vm, exp, lgkm;
};
inline constexpr WaitCounts kMostCounts{63, 7, 15};

inline WaitCounts wait_counts(uint32_t imm) {
  return {(imm & 15) | ((imm >> 10) & 48), (imm >> 4) & 7, (imm >> 8) & 15};
}

}  // namespace gpu
