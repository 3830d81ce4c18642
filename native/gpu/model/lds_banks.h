// Bank conflicts of one LDS instruction: 32 banks of four bytes, lanes served in the groups
// measured on an MI300X.
#pragma once

#include <cstdint>

namespace gpu {

struct LdsCost {
  uint32_t passes = 0, conflicts = 0;
};  // cycles without conflicts, and added by them

LdsCost lds_cost(const uint64_t* address, uint64_t mask, uint32_t bytes, bool write);

}  // namespace gpu
