#include "lds_banks.h"

#include <algorithm>

namespace gpu {
namespace {

#include "lds_banks.inc"

// Distinct words per bank, the fullest bank: lanes reading the same word share it.
uint32_t fullest_bank(const uint64_t* words, uint32_t count) {
  uint32_t in_bank[kBanks] = {};
  uint64_t held[kBanks][8];
  uint32_t most = 1;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t bank = uint32_t(words[i] % kBanks);
    const uint32_t n = in_bank[bank];
    bool known = false;
    for (uint32_t k = 0; k < std::min(n, 8u); ++k) known |= held[bank][k] == words[i];
    if (known) continue;
    if (n < 8) held[bank][n] = words[i];
    else
      for (uint32_t k = 0; k < i && !known; ++k) known = words[k] == words[i];
    if (known) continue;
    most = std::max(most, ++in_bank[bank]);
  }
  return most;
}

}  // namespace

LdsCost lds_cost(const uint64_t* address, uint64_t mask, uint32_t bytes, bool write) {
  LdsCost cost;
  const uint32_t words_per_lane = std::max(1u, (bytes + 3) / 4);
  const uint32_t lanes_at_once = words_per_lane == 1 ? 32 : words_per_lane == 2 ? 16 : 8;
  uint64_t words[64];
  for (uint32_t group = 0; group < 64 / lanes_at_once; ++group) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < lanes_at_once; ++k) {
      const uint32_t lane = words_per_lane > 2 && !write ? kRead128[group][k / 4] + k % 4 : group * lanes_at_once + k;
      if (!((mask >> lane) & 1)) continue;
      for (uint32_t w = 0; w < words_per_lane; ++w) words[count++] = address[lane] / 4 + w;
    }
    if (!count) continue;
    cost.passes += 1;
    cost.conflicts += fullest_bank(words, count) - 1;
  }
  return cost;
}

}  // namespace gpu
